"""The surface of a recording, and of a suite."""

from sidecar.cassette.interaction import Cassette, Interaction, Response, Server
from sidecar.suite.surface import Merged, listed_tools, merged, surface_of
from tests.suite.recordings import call, recording, request

INITIALIZE = request("git", "initialize", {"serverInfo": {}}, {"clientInfo": {"name": "a"}})
TOOLS = request("git", "tools/list", {"tools": [{"name": "log"}, {"name": "show"}]})
MORE_TOOLS = request("git", "tools/list", {"tools": [{"name": "log"}, {"name": "blame"}]})
LISTEN = Interaction("git", "subscriptions/listen", "{}", None)
UNANSWERED = Interaction("git", "prompts/list", None, None)


def surface(*interactions: Interaction) -> Cassette:
    servers = {one.server: Server("2025-11-25") for one in interactions}
    return Cassette(interactions, servers)


def test_a_surface_holds_all_but_tool_calls_pings_and_what_was_not_answered() -> None:
    recorded = recording(
        INITIALIZE, TOOLS, call("git:log"), request("git", "ping", {}), UNANSWERED, LISTEN
    )

    assert surface_of(recorded) == surface(INITIALIZE, TOOLS, LISTEN)


def test_a_surface_is_of_no_session() -> None:
    recorded = recording(INITIALIZE, TOOLS._replace(session=1))

    assert surface_of(recorded) == surface(INITIALIZE, TOOLS)


def test_an_incomplete_run_leaves_no_trace_in_the_surface() -> None:
    found = surface_of(recording(TOOLS, complete=False))

    assert (found.complete, found.run) == (True, None)


def test_what_was_asked_again_and_answered_alike_is_kept_once() -> None:
    asked_with_meta = TOOLS._replace(params='{"_meta":{"a":1}}')

    assert surface_of(recording(TOOLS, asked_with_meta, TOOLS)).interactions == (TOOLS,)


def test_answers_that_changed_during_the_run_are_kept_in_order() -> None:
    found = surface_of(recording(TOOLS, MORE_TOOLS, INITIALIZE, TOOLS))

    assert found.interactions == (TOOLS, MORE_TOOLS, TOOLS, INITIALIZE)


def test_servers_do_not_share_a_surface() -> None:
    other = TOOLS._replace(server="time")

    assert surface_of(recording(TOOLS, other)).interactions == (TOOLS, other)


def test_the_first_surface_of_a_suite_is_the_recordings() -> None:
    assert merged(None, surface(TOOLS), replaces=False) == Merged(surface(TOOLS), ())


def test_merging_the_same_surface_again_changes_nothing() -> None:
    both = surface(INITIALIZE, TOOLS)

    assert merged(both, both, replaces=True) == Merged(both, ())
    assert merged(both, surface(TOOLS), replaces=True) == Merged(both, ())


def test_what_the_suite_has_not_is_added_behind() -> None:
    other = request("time", "tools/list", {"tools": []})

    assert merged(surface(TOOLS), surface(INITIALIZE, other), replaces=False) == Merged(
        surface(TOOLS, INITIALIZE, other), ()
    )


def test_where_they_differ_one_of_the_two_answers_and_never_both_in_turn() -> None:
    old, new = surface(TOOLS), surface(MORE_TOOLS)

    assert merged(old, new, replaces=False) == Merged(old, ("git: tools/list",))
    assert merged(old, new, replaces=True) == Merged(new, ("git: tools/list",))


def test_who_asked_is_no_difference_in_a_negotiation() -> None:
    other = INITIALIZE._replace(params='{"clientInfo":{"name":"b"}}')

    assert merged(surface(INITIALIZE), surface(other), replaces=True).differing == ()


def test_a_servers_protocol_is_taken_over_where_it_was_not_known() -> None:
    old = Cassette((), {"git": Server(), "time": Server("2025-11-25")})
    new = Cassette((), {"git": Server("2026-07-28"), "time": Server("2026-07-28")})

    kept = merged(old, new, replaces=False).surface.servers

    assert kept == {"git": Server("2026-07-28"), "time": Server("2025-11-25")}
    assert merged(old, new, replaces=True).surface.servers == new.servers


def test_params_too_deep_to_read_are_told_apart_by_their_text() -> None:
    deep = Interaction(
        "git", "completion/complete", "[" * 100_000 + "]" * 100_000, Response("result", "{}")
    )

    assert surface_of(recording(deep, deep)).interactions == (deep,)


def test_listed_tools_are_those_of_all_pages() -> None:
    page = request("git", "tools/list", {"tools": [{"name": "blame"}]}, {"cursor": "2"})

    assert listed_tools(surface(TOOLS, page), "git") == frozenset({"log", "show", "blame"})
    assert listed_tools(surface(INITIALIZE), "git") is None
    assert listed_tools(surface(TOOLS), "time") is None


def test_a_list_that_is_none_lists_no_tools() -> None:
    broken = request("git", "tools/list", {"tools": "many"})
    nameless = request("git", "tools/list", {"tools": ["log", {"name": 1}]})
    listed = Interaction("git", "tools/list", "[]", Response("result", '{"tools":[]}'))
    refused = Interaction("git", "tools/list", None, Response("error", "{}"))

    assert listed_tools(surface(broken), "git") == frozenset()
    assert listed_tools(surface(nameless), "git") == frozenset()
    assert listed_tools(surface_of(recording(listed)), "git") == frozenset()
    assert listed_tools(surface(refused), "git") is None
