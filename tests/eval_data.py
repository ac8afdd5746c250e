"""Small suites and event logs, as JSON values, for tests of suite and grading."""

from __future__ import annotations

from typing import Any

RUN_ID = "local/01JABCDEFGHJKMNPQRSTVWXYZ0"
AGENT = "agent"

Json = Any


def call(tool: str, args: Json = None, args_match: str | None = None) -> dict[str, Json]:
    """An expected call, or a fixture entry."""
    made: dict[str, Json] = {"tool": tool}
    if args is not None:
        made["args"] = args
    if args_match is not None:
        made["argsMatch"] = args_match
    return made


def trajectory(mode: str, *calls: dict[str, Json], **more: Json) -> dict[str, Json]:
    return {"match": mode, "calls": list(calls), **more}


def golden(value: Json = "ok", strategy: str = "exact", **more: Json) -> dict[str, Json]:
    return {"kind": "golden", "match": {"strategy": strategy, "value": value}, **more}


def rubric(*weights: float, **more: Json) -> dict[str, Json]:
    criteria = [{"criterion": f"criterion {index}", "weight": w} for index, w in enumerate(weights)]
    return {"kind": "rubric", "rubric": criteria, **more}


def path_only(mode: str, *calls: dict[str, Json], **more: Json) -> dict[str, Json]:
    return {"kind": "trajectory", "trajectory": trajectory(mode, *calls, **more)}


def task(task_id: str = "task", expected: Json = None, **more: Json) -> dict[str, Json]:
    return {"taskId": task_id, "input": "do it", "expected": expected or golden(), **more}


def suite(*tasks: dict[str, Json], **more: Json) -> dict[str, Json]:
    return {
        "suiteId": "shop.evals.refunds",
        "version": "1.0.0",
        "modes": ["golden"],
        **more,
        "tasks": list(tasks) or [task()],
    }


def summary(*tasks: dict[str, Json], **more: Json) -> dict[str, Json]:
    """A summary; a task is its `{taskId, score, ...}`, passed where its score is 1."""
    entries = [{"passed": one["score"] == 1, **one} for one in tasks]
    scores = [one["score"] for one in entries]
    return {
        "suiteId": "shop.evals.refunds",
        "suiteVersion": "1.0.0",
        "aggregateScore": sum(scores) / len(scores) if scores else 0,
        "passed": True,
        "taskCount": len(entries),
        "passedCount": sum(one["passed"] for one in entries),
        "tasks": entries,
        **more,
    }


class Log:
    """Builds an event log, one event after the other, as JSON values."""

    def __init__(self, agent: str = AGENT) -> None:
        self.events: list[dict[str, Json]] = []
        self.agent = agent
        self._calls = 0
        self._brackets = 0

    def add(self, kind: str, payload: Json, **envelope: Json) -> dict[str, Json]:
        number = len(self.events)
        event = {
            "eventId": f"event-{number:016d}",
            "runId": RUN_ID,
            "sequence": number,
            "type": kind,
            "timestamp": "2026-11-30T10:00:00.000Z",
            "schemaVersion": 1,
            **envelope,
            "payload": payload,
        }
        self.events.append(event)
        return event

    def begin(self, of: dict[str, Json], **more: Json) -> Log:
        payload = {
            "suiteId": of["suiteId"],
            "suiteVersion": of["version"],
            "taskCount": len(of["tasks"]),
            "modes": of["modes"],
            **more,
        }
        count = of.get("trials", {}).get("count", 1)
        if count > 1:
            payload.setdefault("trialCount", count)
        self.add("eval.started", payload)
        return self

    def open(self, agent: str | None = None) -> str:
        self._brackets += 1
        name = f"invocation-{self._brackets}"
        self.add(
            "agent.invocation-started",
            {"invocationId": name, "agentId": agent or self.agent, "source": "run-api"},
        )
        return name

    def close(
        self,
        name: str | None = None,
        outcome: str = "completed",
        agent: str | None = None,
        **more: Json,
    ) -> Log:
        payload = {
            "invocationId": name or f"invocation-{self._brackets}",
            "agentId": agent or self.agent,
            "outcome": outcome,
            **{f"x-sidecar-{key}": value for key, value in more.items()},
        }
        self.add("agent.invocation-completed", payload)
        return self

    def called(
        self, tool: str, inputs: Json = None, agent: str | None = None, **more: Json
    ) -> Json:
        self._calls += 1
        payload = {
            "agentId": agent or self.agent,
            "toolName": tool,
            "callId": f"call-{self._calls}",
            "inputs": {} if inputs is None else inputs,
            "transport": "mcp",
            **more,
        }
        if payload["inputs"] == "withheld":
            del payload["inputs"]
        return self.add("agent.tool-called", payload)

    def returned(self, of: Json, error: str | None = None, **more: Json) -> Log:
        payload = {
            "agentId": of["payload"]["agentId"],
            "toolName": of["payload"]["toolName"],
            "callId": of["payload"]["callId"],
            "durationMs": 3,
            **more,
        }
        if error:
            payload["error"] = {"code": error, "message": "the call failed"}
        else:
            payload["outcome"] = {"content": []}
        self.add("agent.tool-returned", payload, causationId=of["eventId"])
        return self

    def call(
        self,
        tool: str,
        inputs: Json = None,
        agent: str | None = None,
        error: str | None = None,
        **more: Json,
    ) -> Log:
        """A call and its return; `x-sidecar-miss=True` and the like go on the return."""
        return self.returned(self.called(tool, inputs, agent), error, **more)

    def usage(self, **more: Json) -> Log:
        payload = {"provider": "p", "model": "m", "inputTokens": 10, "outputTokens": 5, **more}
        self.add("provider.usage", payload)
        return self

    def scored(
        self, task_id: str = "task", score: float = 1, *, passed: bool = True, **more: Json
    ) -> Log:
        self.add("eval.scored", {"taskId": task_id, "score": score, "passed": passed, **more})
        return self

    def trial(
        self,
        task_id: str,
        *tools: str | tuple[str, Json],
        score: float = 1,
        passed: bool = True,
        **more: Json,
    ) -> Log:
        """A whole trial: bracket, calls, score."""
        self.open()
        for tool in tools:
            name, inputs = tool if isinstance(tool, tuple) else (tool, None)
            self.call(name, inputs)
        output = {"output": more.pop("output")} if "output" in more else {}
        self.close(**output)
        return self.scored(task_id, score, passed=passed, **more)

    def end(self, aggregate: float, task_count: int, passed_count: int, *, passed: bool) -> Log:
        payload = {
            "aggregateScore": aggregate,
            "passed": passed,
            "taskCount": task_count,
            "passedCount": passed_count,
        }
        self.add("eval.completed", payload)
        return self
