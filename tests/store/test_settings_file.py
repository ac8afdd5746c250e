from pathlib import Path

import pytest

from sidecar.errors import UsageError
from sidecar.store.settings import Settings, load_settings


def refusal(folder: Path, text: str, name: str = "sidecar.toml") -> str:
    (folder / name).write_text(text, encoding="utf-8")
    with pytest.raises(UsageError) as caught:
        load_settings(str(folder))
    return str(caught.value).replace(str(folder), "P")


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
            '[redaction]\npatterns = [\n  "a+",\n  "(",\n]\n',
            "P/sidecar.toml:4: redaction.patterns: '(' is no regular expression: missing ), "
            "unterminated subpattern at position 0; correct it",
            id="no regular expression",
        ),
        pytest.param(
            '[redaction]\npatterns = ["\\u0028"]\n',
            "P/sidecar.toml:2: redaction.patterns: '(' is no regular expression: missing ), "
            "unterminated subpattern at position 0; correct it",
            id="no regular expression, written with an escape",
        ),
        pytest.param(
            '[redaction]\nkeys = ["a("]\npatterns = ["("]\n',
            "P/sidecar.toml:3: redaction.patterns: '(' is no regular expression: missing ), "
            "unterminated subpattern at position 0; correct it",
            id="no regular expression, and a text before that ends like it",
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


@pytest.mark.parametrize("text", ["tool = 1 # mcp-sidecar\n", "[tool]\nmcp-sidecars = 1\n"])
def test_a_pyproject_without_our_table_has_no_settings(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text, encoding="utf-8")

    assert load_settings(str(tmp_path)) == Settings()
