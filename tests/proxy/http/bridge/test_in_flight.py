"""Which POST a message belongs to, and ids that are in flight twice (J05)."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sidecar.proxy.http.bridge import in_flight
from sidecar.proxy.http.bridge.in_flight import Asked, InFlight, Post, restored
from sidecar.wire.mcp import META_SUBSCRIPTION
from tests.cassette.sessions import answers, asks, calls, cancels, message, tells

pytestmark = pytest.mark.anyio


class Flight:
    """Requests in flight, and the lines that the server got."""

    def __init__(self) -> None:
        self.requests = InFlight()

    def ask(self, said: dict[str, Any], post: Post) -> dict[str, Any]:
        """Make a request; returns what the server gets."""
        found = message(said)
        line = found.text.encode() + b"\n"
        post.open += 1
        sent = self.requests.ask(found, line, post)
        assert sent.endswith(b"\n")
        value = json.loads(sent)
        assert isinstance(value, dict)
        return value

    def answered(self, ident: Any, result: Any = "ok") -> tuple[Post, Any]:
        """Answer a request of the server's; returns whose it was, and what that one gets."""
        found = message(answers(ident, result))
        asked = self.requests.answered(found)
        assert asked is not None
        return asked.post, back(found, asked)

    def told(self, said: dict[str, Any]) -> tuple[Post, Any] | None:
        """Tell something; returns whom it names, and what that one gets."""
        found = message(said)
        asked = self.requests.addressee(found)
        return None if asked is None else (asked.post, back(found, asked))


def back(found: Any, asked: Asked) -> Any:
    return json.loads(restored(found, found.text.encode(), asked))


def with_token(ident: Any, token: Any) -> dict[str, Any]:
    return calls(ident, "t", {"a": 1}, _meta={"progressToken": token, "x": 1})


async def test_an_id_that_is_free_passes_byte_for_byte() -> None:
    flight, post = InFlight(), Post()
    line = b'{ "id" :1.0, "method":"tools/call", "params":{"_meta":{"progressToken":7}} }\n'
    asked = message(line.decode())

    assert flight.ask(asked, line, post) == line
    answer = message('{"id": 1, "result": {} }')
    found = flight.answered(answer)
    assert found is not None
    assert restored(answer, b"as it came", found) == b"as it came"


async def test_j05_an_id_in_flight_twice_is_another_one_for_the_server() -> None:
    flight, one, other = Flight(), Post(), Post()
    first = flight.ask(with_token(1, 1), one)
    second = flight.ask(with_token(1, 1), other)

    assert first["id"] == 1
    assert second["id"] != 1
    assert second["params"]["_meta"]["progressToken"] not in (1, second["id"])
    assert second["params"]["_meta"]["x"] == 1
    assert second["params"]["arguments"] == {"a": 1}
    token = second["params"]["_meta"]["progressToken"]
    progress = "notifications/progress"
    told = flight.told(tells(progress, progressToken=token, progress=1))
    assert told is not None
    assert (told[0], told[1]["params"]) == (other, {"progressToken": 1, "progress": 1})
    assert flight.told(tells(progress, progressToken=1))[0] is one  # type: ignore[index]
    assert flight.answered(second["id"])[0] is other
    assert flight.answered(1)[0] is one


async def test_an_id_is_free_again_once_it_is_answered() -> None:
    flight = Flight()
    flight.ask(with_token(1, 1), Post())
    flight.answered(1)

    again = flight.ask(with_token(1, 1), Post())

    assert again["id"] == 1
    assert again["params"]["_meta"]["progressToken"] == 1
    assert flight.requests.answered(message(answers(2, "stray"))) is None


async def test_an_id_is_another_one_than_its_text() -> None:
    flight = Flight()

    assert [flight.ask(asks(ident, "ping"), Post())["id"] for ident in (1, "1", 0)] == [
        1, "1", 0,
    ]  # fmt: skip


async def test_a_listen_hears_its_own_id() -> None:
    flight, one, other = Flight(), Post(), Post()
    flight.ask(asks("l", "subscriptions/listen"), one)
    sent = flight.ask(asks("l", "subscriptions/listen"), other)["id"]
    meta = {META_SUBSCRIPTION: sent, "x": 1}

    changed = flight.told(tells("notifications/tools/list_changed", _meta=meta))
    dropped = flight.told(tells("notifications/cancelled", requestId=sent, reason="r"))
    ended = flight.answered(sent, {"_meta": meta})

    assert changed is not None
    assert changed[0] is other
    assert changed[1]["params"]["_meta"] == {META_SUBSCRIPTION: "l", "x": 1}
    assert dropped is not None
    assert dropped[1]["params"] == {"requestId": "l", "reason": "r"}
    assert ended == (
        other, {"jsonrpc": "2.0", "id": "l", "result": {"_meta": {META_SUBSCRIPTION: "l", "x": 1}}},
    )  # fmt: skip


async def test_what_names_nobody_belongs_to_nobody() -> None:
    flight = Flight()
    flight.ask(with_token(1, 1), Post())

    assert flight.told(tells("notifications/message", data=1)) is None
    assert flight.told(tells("notifications/progress", progressToken=2)) is None
    assert flight.told(tells("notifications/cancelled", requestId=5)) is None


async def test_j09_a_client_takes_back_its_own_request_under_the_servers_id() -> None:
    flight, one, other = Flight(), Post(), Post()
    flight.ask(asks(1, "ping"), one)
    sent = flight.ask(asks(1, "ping"), other)["id"]

    first, as_it_is = flight.requests.cancelled(message(cancels(1)))
    one.end()
    second, respelt = flight.requests.cancelled(message(cancels(1)))

    assert first is not None
    assert (first.post, as_it_is) == (one, None)
    assert second is not None
    assert second.post is other
    assert respelt is not None
    assert json.loads(respelt)["params"] == {"requestId": sent}
    assert flight.requests.cancelled(message(cancels(9))) == (None, None)


async def test_a_late_answer_is_known_and_too_many_are_forgotten(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(in_flight, "_FORSAKEN", 1)
    flight, gone = Flight(), Post()
    for ident in (1, 2):
        flight.ask(asks(ident, "ping"), gone)
    gone.end()
    for asked in flight.requests.of(gone):
        flight.requests.forsake(asked)

    assert flight.ask(asks(2, "ping"), Post())["id"] != 2  # its answer may still come
    assert flight.ask(asks(1, "ping"), Post())["id"] == 1


async def test_listens_and_what_has_ended_wait_for_nothing() -> None:
    flight, one, other, ended = Flight(), Post(), Post(), Post()
    flight.ask(asks(1, "ping"), one)
    flight.ask(asks(2, "ping"), other)
    flight.ask(asks(3, "ping"), other)
    flight.ask(asks(4, "subscriptions/listen"), Post())
    flight.ask(asks(5, "ping"), ended)
    ended.end()

    assert flight.requests.open_posts() == [other, one]
