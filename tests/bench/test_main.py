import json
from pathlib import Path

import pytest

from bench.main import main


def test_one_section_can_be_measured_alone(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "results.json"

    assert main(["--quick", "--section", "size", "--json", str(file)]) == 0

    (line,) = json.loads(file.read_text(encoding="utf-8"))["lines"]
    assert (line["name"], sorted(line["values"])) == ("size of 500 calls", ["mcp-rec", "ours"])
    assert "size of 500 calls" in capsys.readouterr().out
    assert list(tmp_path.iterdir()) == [file]


def test_an_unknown_section_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as stopped:
        main(["--section", "nothing"])

    assert stopped.value.code == 2
    assert "nothing" in capsys.readouterr().err
