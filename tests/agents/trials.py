"""What tests of trials share: a journal, a task, and agents in a line of Python."""

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from sidecar.agents.config import config_of_names
from sidecar.agents.trial import Setting
from sidecar.store import ids
from sidecar.store.journal import Journal
from sidecar.store.masking import masks_for
from sidecar.store.settings import NO_RULES
from sidecar.suite.documents import suite_from_json
from sidecar.suite.model import AgentEvalSuite
from tests import paths

AGENT = str(paths.ROOT / "tests" / "cli" / "scripted_agent.py")
ECHO = {"tool": "raw:echo", "args": {"text": "hi"}, "argsMatch": "exact", "response": "hi"}


def script(code: str) -> list[str]:
    """An agent in a line of Python."""
    return [sys.executable, "-c", code]


def telling_late(secret: str) -> list[str]:
    """An agent that is given a value, says it, and shows only then that it is a secret."""
    code = f"""
import json, runpy, sys
secret = sys.argv[1]
texts = ["user ann, " + secret, "x " * 24 + secret]
calls = [["raw", "echo", {{"text": text}}] for text in texts]
calls.append(["raw", "echo", {{"pass" + "word": secret}}])
sys.argv = ["agent", json.dumps(calls)]
print(secret)
print(secret, file=sys.stderr)
sys.path.insert(0, {str(paths.ROOT)!r})
runpy.run_path({AGENT!r}, run_name="__main__")
"""
    return [*script(code), secret]


def setting(tmp_path: Path, agent: Sequence[str], **more: Any) -> Setting:
    home = tmp_path / "home"
    facts: dict[str, Any] = {
        "eval_run": ids.new_run_id(0.0, bytes(ids.RANDOMNESS_BYTES)),
        "suite_id": "tests.evals.trials",
        "agent": tuple(agent),
        "agent_id": "agent",
        "config": config_of_names(["raw"]),
        "project": tmp_path,
        "home": str(home),
        "journal": Journal.open(str(home / "journal.db")),
        "masks": masks_for(str(home), {}, NO_RULES, ["hunter2"]),
        "timeout_seconds": 30.0,
    }
    return Setting(**{**facts, **more})


def suite(*tasks: dict[str, Any], **more: Any) -> AgentEvalSuite:
    return suite_from_json(
        {
            "suiteId": "tests.evals.trials",
            "version": "1.0.0",
            "modes": ["golden"],
            "thresholds": {"passScore": 1},
            "tasks": list(tasks),
            **more,
        }
    )


def task(task_id: str = "one", **more: Any) -> dict[str, Any]:
    expected = {"kind": "golden", "match": {"strategy": "contains", "value": "hi"}}
    fixtures = {"toolResponses": [ECHO], "onMiss": "fail"}
    return {
        "taskId": task_id,
        "input": "say hi",
        "expected": expected,
        "fixtures": fixtures,
        **more,
    }
