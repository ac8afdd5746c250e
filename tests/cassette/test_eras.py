"""A recording of one era, replayed to a client of the other."""

from __future__ import annotations

import json
from typing import Any

import pytest

from sidecar.cassette.interaction import Interaction, Response
from sidecar.wire.mcp import META_LOG_LEVEL, META_SERVER, META_SUBSCRIPTION, META_VERSION
from tests.cassette.sessions import Playing, asks, call, calls, notice, question, surface, tells

META = {META_VERSION: "2026-07-28"}
HELLO = {
    "protocolVersion": "2025-11-25",
    "capabilities": {"tools": {}},
    "serverInfo": {"name": "git", "version": "1"},
    "instructions": "Be brief",
}
DISCOVERED = {
    "resultType": "complete",
    "supportedVersions": ["2026-07-28"],
    "capabilities": {"tools": {}},
    "instructions": "Be brief",
    "ttlMs": 0,
    "cacheScope": "private",
    "_meta": {META_SERVER: {"name": "git", "version": "1"}},
}
CHANGED = notice("notifications/tools/list_changed")


def modern(interaction: Interaction) -> Interaction:
    """The same, recorded with a request of 2026-07-28."""
    params = {**json.loads(interaction.params or "{}"), "_meta": META}
    return interaction._replace(params=json.dumps(params))


def result(playing: Playing, said: dict[str, Any]) -> Any:
    (message,) = playing.says(said)
    return message["result"]


# --- a handshake recording, a client of 2026-07-28


def test_n01_a_client_that_begins_with_a_discovery_may_fall_back() -> None:
    playing = Playing([surface("initialize", HELLO), call("echo")])

    (refused,) = playing.says(asks(1, "server/discover", _meta=META))
    assert refused["error"]["code"] == -32601
    assert result(playing, asks(2, "initialize", protocolVersion="2025-11-25")) == HELLO


def test_n01_a_client_that_knows_no_handshake_is_told_the_same_facts() -> None:
    playing = Playing([surface("initialize", HELLO), call("echo")])

    playing.says(calls(1, "echo", _meta=META))

    assert result(playing, asks(2, "server/discover", _meta=META)) == DISCOVERED
    assert playing.missed == []


def test_a_discovery_that_was_refused_when_it_was_recorded_is_too() -> None:
    refused = Interaction("srv", "server/discover", "{}", Response("error", '{"code":-32601}'))
    playing = Playing([refused, surface("initialize", HELLO), call("echo")])

    (first,) = playing.says(asks(1, "server/discover", _meta=META))
    playing.says(calls(2, "echo", _meta=META))

    assert first["error"]["code"] == -32601
    assert result(playing, asks(3, "server/discover", _meta=META)) == DISCOVERED


@pytest.mark.parametrize(
    ("method", "recorded", "expected"),
    [
        pytest.param(
            "tools/list",
            {"tools": []},
            {"ttlMs": 0, "cacheScope": "private", "resultType": "complete", "tools": []},
            id="a list",
        ),
        pytest.param(
            "resources/read",
            {"ttlMs": 5, "contents": []},
            {"cacheScope": "private", "resultType": "complete", "ttlMs": 5, "contents": []},
            id="what it says itself stays",
        ),
        pytest.param("prompts/get", {}, {"resultType": "complete"}, id="not cached"),
        pytest.param(
            "prompts/get", {"resultType": "later"}, {"resultType": "later"}, id="N05 a type"
        ),
    ],
)
def test_surface_gets_what_the_modern_era_requires(
    method: str, recorded: dict[str, Any], expected: dict[str, Any]
) -> None:
    playing = Playing([surface(method, recorded, {})])

    assert result(playing, asks(1, method, _meta=META)) == expected


def test_a_result_that_is_no_object_stays_as_it_is() -> None:
    playing = Playing([Interaction("srv", "odd", "{}", Response("result", "[1, 2]"))])

    assert b'"result":[1, 2]' in playing.lines(asks(1, "odd", _meta=META))[0]


def test_an_error_stays_as_it_is() -> None:
    playing = Playing([Interaction("srv", "odd", "{}", Response("error", '{"code": 5}'))])

    assert b'"error":{"code": 5}' in playing.lines(asks(1, "odd", _meta=META))[0]


def test_progress_comes_along_and_what_needs_a_listen_does_not() -> None:
    step, log = notice("notifications/progress", progress=1), notice("notifications/message", x=1)
    answered = call("echo", during=(CHANGED, step, log), after=(CHANGED,))
    playing = Playing([answered, answered])

    plain = playing.says(calls(1, "echo", _meta={**META, "progressToken": 9}))
    logged = playing.says(calls(2, "echo", _meta={**META, META_LOG_LEVEL: "info"}))

    assert [message.get("method") for message in plain] == ["notifications/progress", None]
    assert [message.get("method") for message in logged] == ["notifications/message", None]


def test_n01_a_call_in_which_the_server_asked_is_a_miss_that_names_both_eras() -> None:
    asked = question("elicitation/create", {"action": "accept"}, message="Sure?")
    playing = Playing([call("book", during=(asked,))])

    first = result(playing, calls(1, "book", _meta=META))
    again = result(playing, calls(2, "book", _meta=META))

    assert first["isError"] is True
    assert first["resultType"] == "complete"
    assert again == first
    assert len(playing.missed) == 2
    for explanation in playing.missed:
        assert explanation.startswith("other-era: no recording of srv:book can answer this client")
        assert "(interaction 1)" in explanation
        assert "elicitation/create" in explanation
        assert "2025-11-25" in explanation
        assert "2026-07-28" in explanation


def test_such_a_call_is_still_there_for_a_client_of_its_own_era() -> None:
    asked = question("elicitation/create", {"action": "accept"}, message="Sure?")
    playing = Playing([call("book", {}, "booked", during=(asked,))])

    playing.says(calls(1, "book", _meta=META))
    (put,) = playing.says(calls(2, "book"))

    assert put["method"] == "elicitation/create"
    assert playing.says({"id": put["id"], "result": {}})[0]["id"] == 2


@pytest.mark.parametrize(
    "passage",
    [
        pytest.param(question("ping", {}), id="a ping"),
        pytest.param(question("roots/list"), id="one that nobody answered"),
    ],
)
def test_a_question_that_matters_to_nobody_is_left_out(passage: Any) -> None:
    playing = Playing([call("echo", {}, "a", during=(passage,))])

    (answer,) = playing.says(calls(1, "echo", _meta=META))

    assert answer["result"]["content"][0]["text"] == "a"


def test_a_listen_names_both_eras() -> None:
    playing = Playing([surface("initialize", HELLO)])

    (refused,) = playing.says(asks(1, "subscriptions/listen", _meta=META))

    assert refused["error"]["code"] == -32010
    (explanation,) = playing.missed
    assert "2026-07-28 alone has it" in explanation
    assert "handshake" in explanation


# --- a recording of 2026-07-28, a handshake client


def test_what_the_modern_era_requires_is_taken_off() -> None:
    listed = {
        "resultType": "complete",
        "tools": [],
        "ttlMs": 9,
        "cacheScope": "public",
        "_meta": {META_SERVER: {"name": "x"}, "mine": 1},
    }
    called = {"resultType": "complete", "content": [], "ttlMs": 1, "_meta": {META_SERVER: {}}}
    playing = Playing([modern(surface("tools/list", listed)), modern(call("echo", {}, called))])

    assert result(playing, asks(1, "tools/list")) == {"tools": [], "_meta": {"mine": 1}}
    assert result(playing, calls(2, "echo")) == {"content": [], "ttlMs": 1}


def test_within_one_era_not_a_byte_changes() -> None:
    text = '{"ttlMs": 1, "tools": [ ]}'
    for params, meta in (("{}", {}), (json.dumps({"_meta": META}), {"_meta": META})):
        playing = Playing([Interaction("srv", "tools/list", params, Response("result", text))])

        assert f'"result":{text}'.encode() in playing.lines(asks(1, "tools/list", meta))[0]


@pytest.mark.parametrize("kind", ["input_required", "later"])
def test_n01_a_result_that_the_handshake_era_does_not_know_is_a_miss(kind: str) -> None:
    playing = Playing([modern(call("book", {}, {"resultType": kind, "requestState": "s"}))])

    refused = result(playing, calls(1, "book"))

    assert refused["isError"] is True
    (explanation,) = playing.missed
    assert explanation.startswith("other-era: ")
    assert f'"{kind}"' in explanation
    assert "2026-07-28" in explanation
    assert "2025-11-25" in explanation


def test_what_a_listen_would_have_told_comes_without_its_id() -> None:
    changed = notice("notifications/tools/list_changed", _meta={META_SUBSCRIPTION: "0"})
    updated = notice("notifications/resources/updated", uri="x", _meta={META_SUBSCRIPTION: "0"})
    acknowledged = notice("notifications/subscriptions/acknowledged", _meta={})
    answered = modern(call("add", {}, "a", during=(acknowledged, changed, updated)))
    playing = Playing([answered])

    told = playing.says(calls(1, "add"))[:-1]

    assert told == [
        tells("notifications/tools/list_changed"),
        tells("notifications/resources/updated", uri="x"),
    ]


def test_a_subscription_names_both_eras() -> None:
    playing = Playing([modern(call("echo"))])

    (refused,) = playing.says(asks(1, "resources/subscribe", uri="x"))

    assert refused["error"]["code"] == -32010
    assert "2026-07-28" in playing.missed[0]
    assert "2025-11-25" in playing.missed[0]


# --- a recording with both


def test_n01_each_client_gets_what_was_recorded_from_one_of_its_era() -> None:
    asked = question("elicitation/create", {"action": "accept"}, message="Sure?")
    theirs = call("book", {}, "old", during=(asked,))
    rounds = modern(call("book", {}, {"resultType": "input_required", "requestState": "s"}))
    old, new = Playing([rounds, theirs]), Playing([theirs, rounds])

    (put,) = old.says(calls(1, "book"))
    (answer,) = new.says(calls(1, "book", _meta=META))

    assert put["method"] == "elicitation/create"
    assert answer["result"]["resultType"] == "input_required"
    assert old.missed == new.missed == []


def test_an_error_of_the_other_era_is_not_served_for_a_result_of_its_own() -> None:
    refused = Interaction("srv", "tools/call", '{"name":"add"}', Response("error", '{"code":5}'))
    playing = Playing([modern(refused), call("add", None, "3")])

    assert result(playing, calls(1, "add"))["content"][0]["text"] == "3"


def test_calls_of_the_other_era_come_when_those_of_its_own_are_used_up() -> None:
    recorded = [call("n", {}, "a"), modern(call("n", {}, "b")), call("n", {}, "c")]
    playing = Playing(recorded)

    said = [result(playing, calls(number, "n", {})) for number in range(4)]

    assert [one["content"][0]["text"] for one in said[:3]] == ["a", "c", "b"]
    assert said[3]["isError"] is True
    assert playing.missed[0].startswith("used-up")


def test_lists_of_its_own_era_come_again_before_those_of_the_other() -> None:
    theirs = modern(surface("tools/list", {"resultType": "complete", "tools": [1]}))
    playing = Playing([theirs, surface("tools/list", {"tools": [2]}, {})])

    said = [result(playing, asks(number, "tools/list", {})) for number in range(2)]

    assert said == [{"tools": [2]}, {"tools": [2]}]


# --- revisions


def test_h16_an_unknown_revision_is_refused_with_those_that_are_spoken() -> None:
    playing = Playing([modern(surface("tools/list", {}))])

    (refused,) = playing.says(asks(1, "tools/list", _meta={META_VERSION: "1999-01-01"}))

    assert refused["error"] == {
        "code": -32022,
        "message": "Unsupported protocol version",
        "data": {"supported": ["2026-07-28"], "requested": "1999-01-01"},
    }
    assert playing.missed == []


def test_a_later_revision_is_spoken_as_it_was_recorded() -> None:
    later = {"_meta": {META_VERSION: "2027-01-01"}}
    playing = Playing([surface("tools/list", {"tools": []}, later)])

    assert result(playing, asks(1, "tools/list", later)) == {"tools": []}


@pytest.mark.parametrize("code", [-32020, -32022])
def test_n02_an_answer_about_headers_or_revisions_answers_nothing_else(code: int) -> None:
    error = Response("error", f'{{"code":{code}}}')
    refused = modern(Interaction("srv", "tools/list", "{}", error))
    playing = Playing([refused, modern(surface("tools/list", {"tools": []}))])

    assert result(playing, asks(1, "tools/list", _meta=META)) == {"tools": []}
    assert playing.matcher.leftover() == ()
