import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from sidecar.errors import UsageError
from sidecar.store.settings import NO_RULES, Rules, Settings, load_settings, project_of
from tests import paths

WHOLE = """\
mode = "auto"
on-miss = "live"

[redaction]
keys = ["patient_id"]
patterns = ['MRN-\\d+']
environment = ["MY_PAT"]

[ignore-arguments]
"git:git_log" = ["/max_count", "/a/b"]
"""
FOUND = Settings(
    Rules(("patient_id",), ("MRN-\\d+",), ("MY_PAT",)),
    ("git:git_log:/max_count", "git:git_log:/a/b"),
    "auto",
    "live",
)


def test_a_project_without_settings_has_the_defaults(tmp_path: Path) -> None:
    assert load_settings(str(tmp_path)) == Settings()

    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert load_settings(str(tmp_path)) == Settings()


def test_the_example_of_the_documentation_has_every_setting(tmp_path: Path) -> None:
    text = (paths.ROOT / "docs" / "files.md").read_text(encoding="utf-8")
    example = text.partition("```toml\n")[2].partition("```")[0]
    (tmp_path / "sidecar.toml").write_text(example, encoding="utf-8")

    found = load_settings(str(tmp_path))

    unset = Settings(place=found.place)
    assert [
        name for name in Settings._fields[:-1] if getattr(found, name) == getattr(unset, name)
    ] == []
    assert all(found.redaction)
    assert all(f"| `{key}` |" in text for key in tomllib.loads(example))


def test_settings_are_read_from_a_file_of_their_own(tmp_path: Path) -> None:
    (tmp_path / "sidecar.toml").write_text(WHOLE, encoding="utf-8")

    assert load_settings(str(tmp_path)) == FOUND._replace(place=str(tmp_path / "sidecar.toml"))


def test_or_from_pyproject(tmp_path: Path) -> None:
    text = (
        '[tool.mcp-sidecar]\nmode = "auto"\non-miss = "live"\n'
        + "[tool.mcp-sidecar.redaction]\nkeys = ['patient_id']\npatterns = ['MRN-\\d+']\n"
        + "environment = ['MY_PAT']\n[tool.mcp-sidecar.ignore-arguments]\n"
        + "'git:git_log' = ['/max_count', '/a/b']\n"
    )
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")

    assert load_settings(str(tmp_path)) == FOUND._replace(place=str(tmp_path / "pyproject.toml"))


def test_a_file_of_their_own_wins(tmp_path: Path) -> None:
    (tmp_path / "sidecar.toml").write_text("", encoding="utf-8")
    (tmp_path / "pyproject.toml").write_text("[tool.mcp-sidecar]\nbad = 1\n", encoding="utf-8")

    assert load_settings(str(tmp_path)) == Settings(place=str(tmp_path / "sidecar.toml"))


def test_what_is_no_text_is_refused(tmp_path: Path) -> None:
    (tmp_path / "sidecar.toml").write_bytes(b"a = '\xff'\n")
    with pytest.raises(UsageError, match="not UTF-8"):
        load_settings(str(tmp_path))

    (tmp_path / "sidecar.toml").unlink()
    (tmp_path / "sidecar.toml").mkdir()
    with pytest.raises(UsageError, match="cannot be read"):
        load_settings(str(tmp_path))


def test_rules_of_two_places_come_together() -> None:
    assert Rules(("a",), ("p",)) + Rules(("a", "b"), (), ("E",)) == Rules(
        ("a", "b"), ("p",), ("E",)
    )
    assert NO_RULES + NO_RULES == NO_RULES


def test_a_proxy_takes_the_settings_of_the_project_that_its_journal_is_in() -> None:
    assert project_of("/p/.sidecar", "/elsewhere") == "/p"
    assert project_of("/var/journals", "/elsewhere") == "/elsewhere"


def test_no_toml_is_read_where_there_are_no_settings(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    code = (
        "import sys; from sidecar.store.settings import load_settings; load_settings(sys.argv[1]);"
        "print(*{'tomllib', 'difflib', 'sidecar.store.settings_file'} & {*sys.modules})"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert done.stdout == "\n"
