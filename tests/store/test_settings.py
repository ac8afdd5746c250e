import subprocess
import sys
from pathlib import Path

import pytest

from sidecar.errors import UsageError
from sidecar.store.settings import NO_RULES, Rules, Settings, load_settings, project_of

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


def refusal(folder: Path, text: str, name: str = "sidecar.toml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_settings(str(folder))
    return str(caught.value).replace(str(folder), "P")


def test_a_project_without_settings_has_the_defaults(tmp_path: Path) -> None:
    assert load_settings(str(tmp_path)) == Settings()

    (tmp_path / "pyproject.toml").write_text("[project]\nname = 'x'\n", encoding="utf-8")
    assert load_settings(str(tmp_path)) == Settings()


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


@pytest.mark.parametrize(
    ("text", "told"),
    [
        pytest.param(
            "\n[redaction]\nkey = ['x']\n",
            "P/sidecar.toml:3: unknown setting 'redaction.key'; did you mean keys? the settings in "
            "redaction are keys, patterns, environment",
            id="a misspelt key",
        ),
        pytest.param(
            "on_miss = 'live'\n",
            "P/sidecar.toml:1: unknown setting 'on_miss'; did you mean on-miss? the settings are "
            "redaction, ignore-arguments, mode, on-miss",
            id="an underscore",
        ),
        pytest.param(
            "[zzz]\na = 1\n",
            "P/sidecar.toml:1: unknown setting 'zzz'; the settings are redaction, "
            "ignore-arguments, mode, on-miss",
            id="nothing near",
        ),
        pytest.param(
            "mode = 'replay'\n",
            "P/sidecar.toml:1: mode is 'replay'; choose record or auto",
            id="a mode that is none",
        ),
        pytest.param(
            "[redaction]\nkeys = 'x'\n",
            'P/sidecar.toml:2: redaction.keys is no list of texts; write keys = ["…"]',
            id="no list",
        ),
        pytest.param(
            "redaction = 3\n",
            "P/sidecar.toml:1: redaction is no table; write [redaction]",
            id="no table",
        ),
        pytest.param(
            "[ignore-arguments]\n'git_log' = ['/a']\n",
            "P/sidecar.toml:2: ignore-arguments.git_log: 'git_log' names no server; write "
            "SERVER:TOOL",
            id="no server",
        ),
        pytest.param(
            "[ignore-arguments]\n'git:log' = ['a']\n",
            "P/sidecar.toml:2: ignore-arguments.git:log: 'a' is no JSON pointer; write /a",
            id="no pointer",
        ),
        pytest.param(
            "a = \n",
            "P/sidecar.toml: the settings are no TOML: Invalid value (at line 1, column 5); "
            "correct the file",
            id="no TOML",
        ),
    ],
)
def test_what_is_no_setting_is_refused_with_its_line(tmp_path: Path, text: str, told: str) -> None:
    assert refusal(tmp_path, text) == told


def test_of_pyproject_only_our_table_is_looked_at(tmp_path: Path) -> None:
    text = "[tool.other]\nmode = 'x'\n[tool.mcp-sidecar]\nmodes = 'auto'\n"

    assert refusal(tmp_path, text, "pyproject.toml") == (
        "P/pyproject.toml:4: unknown setting 'tool.mcp-sidecar.modes'; did you mean mode? the "
        "settings in tool.mcp-sidecar are redaction, ignore-arguments, mode, on-miss"
    )


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
        "print('tomllib' in sys.modules, 'difflib' in sys.modules)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code, tmp_path],
        capture_output=True,
        text=True,
        timeout=30,
        check=True,
    )

    assert done.stdout == "False False\n"
