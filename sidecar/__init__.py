"""Record-and-replay proxy for MCP tool servers, with a grader.

The public API. Names are imported when they are first used: `mcp-sidecar proxy` is started
once per server by every agent, and must not wait for what it does not need.
"""

from __future__ import annotations

TYPE_CHECKING = False  # that of `typing`, which is not imported for it
if TYPE_CHECKING:
    from sidecar.cassette.interaction import Cassette, Interaction, Passage, Response, Server
    from sidecar.errors import SidecarError
    from sidecar.grading.public import grade
    from sidecar.proxy.in_process import CassetteServer
    from sidecar.store.public import (
        load_cassette,
        load_events,
        load_suite,
        save_cassette,
        save_suite,
    )
    from sidecar.suite.model import AgentEvalSuite
    from sidecar.suite.summary import EvalSummary

_HOMES = {
    "AgentEvalSuite": "sidecar.suite.model",
    "Cassette": "sidecar.cassette.interaction",
    "CassetteServer": "sidecar.proxy.in_process",
    "EvalSummary": "sidecar.suite.summary",
    "Interaction": "sidecar.cassette.interaction",
    "Passage": "sidecar.cassette.interaction",
    "Response": "sidecar.cassette.interaction",
    "Server": "sidecar.cassette.interaction",
    "SidecarError": "sidecar.errors",
    "grade": "sidecar.grading.public",
    "load_cassette": "sidecar.store.public",
    "load_events": "sidecar.store.public",
    "load_suite": "sidecar.store.public",
    "save_cassette": "sidecar.store.public",
    "save_suite": "sidecar.store.public",
}

__all__ = [
    "AgentEvalSuite",
    "Cassette",
    "CassetteServer",
    "EvalSummary",
    "Interaction",
    "Passage",
    "Response",
    "Server",
    "SidecarError",
    "grade",
    "load_cassette",
    "load_events",
    "load_suite",
    "save_cassette",
    "save_suite",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'sidecar' has no attribute {name!r}")
    from importlib import import_module  # noqa: PLC0415  # a proxy needs none of this

    return getattr(import_module(_HOMES[name]), name)
