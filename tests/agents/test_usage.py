"""Model usage that an agent reports."""

import json
import os
from pathlib import Path
from typing import Any

import pytest

from sidecar.agents import usage
from sidecar.agents.usage import Usage, read_usage
from sidecar.wire.json_text import dump

CALL = {"provider": "local", "model": "rules", "inputTokens": 12, "outputTokens": 3}
COSTLY = {**CALL, "costEstimateUsd": 0.25, "cacheHit": False}


def reported(tmp_path: Path, *lines: Any) -> Usage:
    file = tmp_path / "events.jsonl"
    texts = [line if isinstance(line, str) else json.dumps(line) for line in lines]
    file.write_text("\n".join(texts), encoding="utf-8")
    return read_usage(file)


def event(payload: Any, **more: Any) -> dict[str, Any]:
    return {"type": "provider.usage", "payload": payload, **more}


def test_each_line_reports_one_model_call_in_order(tmp_path: Path) -> None:
    found = reported(tmp_path, event(CALL), "", event(COSTLY), "")

    assert [json.loads(dump(payload)) for payload in found.payloads] == [CALL, COSTLY]
    assert found.problem is None


def test_ids_and_places_that_the_agent_gives_are_not_read(tmp_path: Path) -> None:
    assert reported(tmp_path, event(CALL, sequence=-1, runId="mine")) == Usage((CALL,))


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        pytest.param("{", "events file, line 2: no JSON: ", id="no JSON"),
        pytest.param([CALL], "this is no provider.usage event", id="no object"),
        pytest.param(
            {"type": "provider.usage"}, "this is no provider.usage event", id="no payload"
        ),
        pytest.param(
            {"type": "eval.scored", "payload": CALL},
            "this is no provider.usage event",
            id="an agent scores nothing itself",
        ),
        pytest.param(event({**CALL, "inputTokens": "12"}), "/inputTokens", id="a wrong type"),
        pytest.param(event({**CALL, "inputTokens": -1}), "/inputTokens", id="a wrong number"),
        pytest.param(event({**CALL, "tokens": 1}), "unknown key 'tokens'", id="an unknown key"),
    ],
)
def test_a_bad_line_is_told_and_the_usage_is_unknown(
    tmp_path: Path, line: Any, problem: str
) -> None:
    found = reported(tmp_path, event(CALL), line, event(CALL))

    assert found.payloads == ()
    assert found.problem is not None
    assert problem in found.problem


def test_a_file_that_is_not_there_reports_nothing(tmp_path: Path) -> None:
    assert read_usage(tmp_path / "events.jsonl") == Usage()


def test_a_file_that_is_none_is_not_read(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "events.jsonl")

    assert read_usage(tmp_path / "events.jsonl") == Usage(
        problem="the events file is no file any more"
    )


def test_a_file_that_is_too_large_is_not_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(usage, "MAX_BYTES", 10)

    assert reported(tmp_path, event(CALL)) == Usage(problem="the events file is over 10 bytes")


def test_a_path_that_cannot_be_read_is_told(tmp_path: Path) -> None:
    loop = tmp_path / "events.jsonl"
    loop.symlink_to(loop)

    found = read_usage(loop)

    assert found.payloads == ()
    assert found.problem is not None
    assert found.problem.startswith("the events file cannot be read (")
