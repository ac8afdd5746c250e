"""Fixtures as the cassette that a replay serves."""

import json
from typing import Any

import pytest

from sidecar.cassette.interaction import Cassette, Interaction, Response, Server
from sidecar.cassette.matcher import Hit, Matcher, Miss
from sidecar.suite.documents import suite_from_json
from sidecar.suite.fixtures import compiled, served_result, tools_by_server
from sidecar.suite.model import AgentEvalSuite, FixtureEntry
from sidecar.wire.json_text import Number, parse_plain
from tests.suite.recordings import NoMasks, request, text_result


def suite_with(*entries: dict[str, Any], trajectory: Any = None) -> AgentEvalSuite:
    path = trajectory or {"match": "in-order", "calls": []}
    return suite_from_json(
        {
            "suiteId": "tests.evals.fixtures",
            "version": "1.0.0",
            "modes": ["golden"],
            "tasks": [
                {
                    "taskId": "one",
                    "input": None,
                    "expected": {"kind": "trajectory", "trajectory": path},
                    "fixtures": {"toolResponses": list(entries), "onMiss": "fail"},
                }
            ],
        }
    )


def cassette_of(*entries: dict[str, Any], surface: Cassette | None = None) -> Cassette:
    suite = suite_with(*entries)
    return compiled(suite, suite.tasks[0], surface)


def served(cassette: Cassette, *calls: tuple[str, Any]) -> list[int | None]:
    """Call tools in turn; tell which fixture entry served each, None for a miss."""
    matcher = Matcher(cassette.interactions, NoMasks())
    found: list[int | None] = []
    for tool, arguments in calls:
        server, _, name = tool.partition(":")
        params = json.dumps({"name": name, "arguments": arguments})
        hit = matcher.take(server, "tools/call", params)
        found.append(hit.entry if isinstance(hit, Hit) else None)
    return found


def entry(**more: Any) -> dict[str, Any]:
    return {"tool": "s:A", **more}


A = "s:A"


@pytest.mark.parametrize(
    ("entries", "calls", "expected"),
    [
        pytest.param(
            [entry(), entry(args={"x": 1}, argsMatch="exact")],
            [(A, {"x": 1}), (A, {"x": 1}), (A, {"x": 1})],
            [0, 1, None],
            id="R36-F1 the first that matches, in list order",
        ),
        pytest.param(
            [entry(args={"x": 2}, argsMatch="exact"), entry()],
            [(A, {"x": 1}), (A, {"x": 2})],
            [1, 0],
            id="R36-F2 an earlier entry that does not match stays",
        ),
        pytest.param(
            [entry(isError=True), entry()],
            [(A, {}), (A, {})],
            [0, 1],
            id="R36-F3 an error, then a success",
        ),
        pytest.param([entry()], [(A, {}), ("s:B", {})], [0, None], id="R36-F4 another tool misses"),
        pytest.param(
            [entry(args={"x": 1})],
            [(A, {"x": 2})],
            [0],
            id="args without argsMatch are not compared",
        ),
        pytest.param(
            [entry(args={"x": 1}, argsMatch="subset")],
            [(A, {"y": 1}), (A, {"x": 1, "y": 1})],
            [None, 0],
            id="R05 a subset of the arguments",
        ),
        pytest.param([entry()], [("t:A", {})], [None], id="R15 another server's tool misses"),
        pytest.param(
            [entry(), entry()], [(A, {}), (A, {}), (A, {})], [0, 1, None], id="R08 used up"
        ),
    ],
)
def test_an_entry_answers_the_calls_that_the_rfc_says(
    entries: list[dict[str, Any]], calls: list[tuple[str, Any]], expected: list[int | None]
) -> None:
    assert served(cassette_of(*entries), *calls) == expected


def test_r36_f5_each_compilation_starts_afresh() -> None:
    cassette = cassette_of(entry())

    assert served(cassette, (A, {})) == served(cassette, (A, {})) == [0]


def test_r36_f6_a_task_without_entries_serves_no_call() -> None:
    cassette = cassette_of()

    miss = Matcher(cassette.interactions, NoMasks()).take("s", "tools/call", '{"name":"A"}')

    assert miss == Miss("unknown-tool")


def served_as(**fields: Any) -> dict[str, Any]:
    return served_result(FixtureEntry.model_validate({"tool": A, **fields}))


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        pytest.param(
            {"response": text_result("hi", structuredContent={"a": 1}, _meta={"m": 1})},
            text_result("hi", structuredContent={"a": 1}, _meta={"m": 1}),
            id="R42 an object with a list `content` is the body",
        ),
        pytest.param(
            {"response": {"content": "not a list"}},
            text_result('{"content":"not a list"}', structuredContent={"content": "not a list"}),
            id="R42 another object is a text and the structured content",
        ),
        pytest.param(
            {"response": "plain"}, text_result("plain"), id="R42 a string is a text as it is"
        ),
        pytest.param(
            {"response": [1, Number("1.50")]},
            text_result("[1,1.50]"),
            id="R42 other JSON is a text, numbers as they were spelt",
        ),
        pytest.param({"response": None}, text_result("null"), id="R42 null is not absent"),
        pytest.param({}, {"content": []}, id="R42 absent is no content"),
        pytest.param(
            {"response": text_result("no"), "isError": True},
            text_result("no", isError=True),
            id="R41 an error is served as a tool error",
        ),
        pytest.param(
            {"isError": True}, {"content": [], "isError": True}, id="R41 an error without payload"
        ),
        pytest.param(
            {"response": text_result("no", isError=True)},
            text_result("no", isError=False),
            id="R42 isError inside the response decides nothing",
        ),
        pytest.param(
            {"response": text_result("no", isError=False), "isError": True},
            text_result("no", isError=True),
            id="R42 not even when it says false",
        ),
    ],
)
def test_an_entry_is_served_in_the_form_of_a_tool_result(
    fields: dict[str, Any], expected: dict[str, Any]
) -> None:
    assert served_as(**fields) == expected


def test_a_suite_without_a_surface_offers_the_tools_that_it_names() -> None:
    cassette = cassette_of(entry(response="hi"))

    assert cassette == Cassette(
        (
            Interaction(
                "s",
                "tools/call",
                '{"name":"A"}',
                Response("result", '{"content":[{"type":"text","text":"hi"}]}'),
                "ignore",
            ),
            Interaction(
                "s",
                "initialize",
                None,
                Response(
                    "result",
                    '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},'
                    '"serverInfo":{"name":"s","version":"0"}}',
                ),
            ),
            Interaction(
                "s",
                "tools/list",
                None,
                Response("result", '{"tools":[{"name":"A","inputSchema":{"type":"object"}}]}'),
            ),
        ),
        {"s": Server()},
    )


def test_expected_and_forbidden_tools_are_offered_too() -> None:
    suite = suite_with(
        entry(),
        entry(),
        trajectory={
            "match": "in-order",
            "calls": [{"tool": "s:B"}, {"tool": "t:C"}],
            "forbidden": ["s:drop", "a:b:c", "nobody", ":x"],
        },
    )

    assert tools_by_server(suite) == {"s": ("A", "B", "drop"), "t": ("C",), "a": ("b:c",)}


def test_the_recorded_surface_follows_the_entries_as_it_is() -> None:
    shown = (
        request("s", "initialize", {"serverInfo": {}}),
        request("s", "tools/list", {"tools": [{"name": "A"}]}),
    )

    cassette = cassette_of(entry(), surface=Cassette(shown, {"s": Server("2025-06-18")}))

    assert cassette.interactions[1:] == shown
    assert cassette.interactions[0].method == "tools/call"
    assert cassette.servers == {"s": Server("2025-06-18")}


def test_a_server_that_is_not_in_the_surface_is_offered_beside_the_recorded_ones() -> None:
    shown = (
        request("t", "initialize", {}),
        request("t", "tools/list", {"tools": []}),
    )

    cassette = cassette_of(entry(), surface=Cassette(shown, {"t": Server()}))

    assert [(one.server, one.method) for one in cassette.interactions] == [
        ("s", "tools/call"),
        ("t", "initialize"),
        ("t", "tools/list"),
        ("s", "initialize"),
        ("s", "tools/list"),
    ]
    assert list(cassette.servers) == ["t", "s"]


def test_a_refused_discovery_is_no_opening() -> None:
    refused = Interaction("s", "server/discover", "{}", Response("error", '{"code":-32601}'))

    cassette = cassette_of(entry(), surface=Cassette((refused,), {"s": Server()}))

    assert [one.method for one in cassette.interactions] == [
        "tools/call",
        "server/discover",
        "initialize",
        "tools/list",
    ]


@pytest.mark.parametrize(
    "surface",
    [
        pytest.param(
            Cassette((request("s", "server/discover", {"capabilities": {}}),), {"s": Server()}),
            id="it was discovered",
        ),
        pytest.param(Cassette((), {"s": Server("2026-07-28")}), id="its header says so"),
    ],
)
def test_what_a_modern_server_serves_says_that_it_is_complete(surface: Cassette) -> None:
    cassette = cassette_of(entry(response="hi"), surface=surface)

    results = {
        one.method: parse_plain(one.response.text)
        for one in cassette.interactions
        if one.response is not None
    }
    assert results["tools/list"] == {
        "resultType": "complete",
        "tools": [{"name": "A", "inputSchema": {"type": "object"}}],
        "ttlMs": 0,
        "cacheScope": "private",
    }
    assert results["tools/call"] == {"resultType": "complete", **text_result("hi")}
