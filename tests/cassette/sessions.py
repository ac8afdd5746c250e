"""Sessions in small: what client and server say, recorded and replayed without a process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any, TypeAlias

from sidecar.cassette.facts import Fact, Passed
from sidecar.cassette.file_format import lines, read
from sidecar.cassette.interaction import Cassette, Interaction, Passage, Response, Server
from sidecar.cassette.matcher import Matcher
from sidecar.cassette.recorder import Masks, Recorder
from sidecar.cassette.replayer import Replayer, Step
from sidecar.wire.jsonrpc import Message, read_line

Said: TypeAlias = dict[str, Any] | str


class NoMasks:
    """A redactor that masks nothing."""

    def json_text(self, text: str) -> str:
        return text


class Masked:
    """A redactor that masks one word."""

    def __init__(self, secret: str, placeholder: str = "[REDACTED:0123456789abcdef]") -> None:
        self._secret = secret
        self._placeholder = placeholder

    def json_text(self, text: str) -> str:
        return text.replace(self._secret, self._placeholder)


def written(cassette: Cassette) -> str:
    """A cassette's text."""
    return "".join(lines(cassette))


def compact(value: Any) -> str:
    return json.dumps(value, separators=(",", ":"))


def message(said: Said) -> Message:
    """One message: an object, or its JSON text."""
    text = said if isinstance(said, str) else compact({"jsonrpc": "2.0", **said})
    messages = read_line(text.encode())
    assert messages is not None
    (found,) = messages
    return found


def asks(ident: Any, method: str, params: Any = None, /, **more: Any) -> dict[str, Any]:
    given = {} if params is None and not more else {"params": {**(params or {}), **more}}
    return {"id": ident, "method": method, **given}


def calls(ident: Any, tool: str, arguments: Any = None, **more: Any) -> dict[str, Any]:
    given = {} if arguments is None else {"arguments": arguments}
    return {"id": ident, "method": "tools/call", "params": {"name": tool, **given, **more}}


def tells(method: str, **params: Any) -> dict[str, Any]:
    return {"method": method, **({"params": params} if params else {})}


def text_result(text: str, **more: Any) -> dict[str, Any]:
    return {"content": [{"type": "text", "text": text}], **more}


def answers(ident: Any, result: Any) -> dict[str, Any]:
    return {"id": ident, "result": result if isinstance(result, dict) else text_result(result)}


def cancels(ident: Any) -> dict[str, Any]:
    return tells("notifications/cancelled", requestId=ident)


class Recording:
    """A recorder, and what became of each request by its facts, as a journal keeps it."""

    def __init__(self, server: str = "srv", masks: Masks | None = None) -> None:
        self.recorder = Recorder(server, masks or NoMasks())
        self.facts: list[Fact] = []
        self._kept: dict[int, Interaction] = {}

    def client(self, *said: Said, exchange: object = None) -> Recording:
        for one in said:
            self._keep(self.recorder.from_client(message(one), exchange))
        return self

    def server(
        self, *said: Said, exchange: object = None, http_status: int | None = None
    ) -> Recording:
        for one in said:
            facts = self.recorder.from_server(message(one), exchange, http_status=http_status)
            self._keep(facts)
        return self

    def gave_up(self, exchange: object, http_status: int | None = None) -> Recording:
        self._keep(self.recorder.gave_up(exchange, http_status=http_status))
        return self

    def ended(self) -> Recording:
        self._keep(self.recorder.ended())
        return self

    @property
    def interactions(self) -> tuple[Interaction, ...]:
        return tuple(self._kept[number] for number in sorted(self._kept))

    def _keep(self, facts: Iterable[Fact]) -> None:
        for fact in facts:
            self.facts.append(fact)
            if isinstance(fact, Passed):
                kept = self._kept[fact.number]
                passages = list(kept.during if fact.phase == "during" else kept.after)
                passages[fact.position : fact.position + 1] = [fact.passage]
                now = tuple(passages)
                is_early = fact.phase == "during"
                kept = kept._replace(during=now) if is_early else kept._replace(after=now)
                self._kept[fact.number] = kept
            else:
                self._kept[fact.number] = fact.interaction


class Playing:
    """A replayer, and what it says."""

    def __init__(
        self,
        interactions: Sequence[Interaction],
        server: str = "srv",
        masks: Masks | None = None,
    ) -> None:
        self.matcher = Matcher(interactions, masks or NoMasks())
        self.replayer = Replayer(server, self.matcher)
        self.facts: list[Fact] = []
        self.missed: list[str] = []

    def step(self, said: Said) -> Step:
        """Take a message; a miss is refused, as without a live server."""
        step = self.replayer.from_client(message(said))
        if step.missed is not None:
            self.missed.append(step.missed.explanation)
            step = self.replayer.refuse(step.missed)
        self.facts += step.facts
        return step

    def lines(self, said: Said) -> list[bytes]:
        return list(self.step(said).lines)

    def says(self, said: Said) -> list[dict[str, Any]]:
        """Take a message; return what is said to the client, without the version."""
        found = [json.loads(line) for line in self.step(said).lines]
        return [{name: item for name, item in one.items() if name != "jsonrpc"} for one in found]


def kept(interactions: Sequence[Interaction]) -> tuple[Interaction, ...]:
    """Write the interactions to a cassette's text, and read it again."""
    servers = {one.server: Server() for one in interactions}
    loaded = read(written(Cassette(tuple(interactions), servers)).encode(), "c.jsonl")
    assert loaded.warnings == ()
    return loaded.cassette.interactions


def call(
    tool: str,
    arguments: Any = None,
    result: Any = "ok",
    *,
    server: str = "srv",
    **more: Any,
) -> Interaction:
    """A `tools/call` and its result; `more` are fields of the interaction."""
    params = {"name": tool, **({} if arguments is None else {"arguments": arguments})}
    body = result if isinstance(result, dict) else text_result(result)
    return Interaction(
        server, "tools/call", compact(params), Response("result", compact(body)), **more
    )


def surface(method: str, result: Any, params: Any = None, **more: Any) -> Interaction:
    text = None if params is None else compact(params)
    return Interaction("srv", method, text, Response("result", compact(result)), **more)


def notice(method: str, **params: Any) -> Passage:
    return Passage(method, compact(params) if params else None)


def question(method: str, reply: Any = None, **params: Any) -> Passage:
    """A request of the server, and what the client replied, if it did."""
    replied = None if reply is None else Response("result", compact(reply))
    return Passage(method, compact(params) if params else None, asked=True, reply=replied)
