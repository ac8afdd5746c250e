"""Which recorded interaction answers a request."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Sequence
from types import FrameType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.arguments import ABSENT, ArgsMatch, Difference, matches
from sidecar.cassette.interaction import Interaction, Response
from sidecar.cassette.matcher import Hit, Matcher, Miss
from sidecar.wire.mcp import META_CAPABILITIES, META_CLIENT, META_VERSION
from tests.cassette.sessions import Masked, NoMasks, call, compact, surface


def entry(
    args_match: ArgsMatch, arguments: Any = None, tool: str = "A", **more: Any
) -> Interaction:
    return call(tool, arguments, args_match=args_match, **more)


def params(tool: str = "A", arguments: Any = None, **more: Any) -> str:
    given = {} if arguments is None else {"arguments": arguments}
    return compact({"name": tool, **given, **more})


class Served:
    """A matcher that is asked for tool calls of one server."""

    def __init__(self, *entries: Interaction) -> None:
        self.matcher = Matcher(entries, NoMasks())

    def take(self, tool: str = "A", arguments: Any = None, server: str = "srv") -> Hit | Miss:
        return self.matcher.take(server, "tools/call", params(tool, arguments))

    def places(self, *arguments: Any, tool: str = "A") -> list[int | None]:
        """Ask for calls one after the other; None for a miss."""
        found = [self.take(tool, given) for given in arguments]
        return [one.entry if isinstance(one, Hit) else None for one in found]


def missed(served: Served, *asked: Any, **more: Any) -> Miss:
    found = served.take(*asked, **more)
    assert isinstance(found, Miss)
    return found


def test_a_hit_is_the_entry_and_its_place() -> None:
    other, wanted = entry("exact", {"x": 1}, "B"), entry("exact", {"x": 1})

    assert Served(other, wanted).take("A", {"x": 1}) == Hit(1, wanted, again=False)


# R36 as a table.
@pytest.mark.parametrize(
    ("entries", "asked", "served"),
    [
        pytest.param(
            [entry("ignore"), entry("exact", {"x": 1})],
            [{"x": 1}, {"x": 1}, {"x": 1}],
            [0, 1, None],
            id="R36-F1 the first that matches, loose or not",
        ),
        pytest.param(
            [entry("exact", {"x": 2}), entry("ignore")],
            [{"x": 1}, {"x": 2}],
            [1, 0],
            id="R36-F2 earlier ones that do not match stay",
        ),
        pytest.param(
            [entry("exact", result={"isError": True, "content": []}), entry("exact")],
            [None, None],
            [0, 1],
            id="R36-F3 R41 an error is served like any other",
        ),
        pytest.param([entry("exact")], [None, {"x": 1}], [0, None], id="R36-F4 then a miss"),
        pytest.param([], [None], [None], id="R36-F6 R08 an empty list"),
        pytest.param(
            [entry("subset", {"a": 1}), entry("exact", {"a": 1, "b": 2}), entry("ignore")],
            [{"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1, "b": 2}],
            [0, 1, 2, None],
            id="R36 across subset, exact and ignore",
        ),
        pytest.param(
            [
                entry("ignore"),
                entry("subset", {"b": 2}),
                entry("subset", {"a": 1, "b": 2}),
                entry("subset", {"a": 1}),
                entry("exact", {"a": 1, "b": 2}),
                entry("subset", {}),
            ],
            [{"a": 1}, {"a": 1, "b": 2}, {"a": 1, "b": 2}, {"a": 1}, {"a": 1, "b": 2}, {"c": 3}],
            [0, 1, 2, 3, 4, 5],
            id="R36 R05 the first in order, not the most exact",
        ),
        pytest.param(
            [entry("subset", {"f": {}}), entry("subset", {"f": {"g": {}}}), entry("subset", [1])],
            [{"f": 1}, {"f": {"g": {"h": 1}}}, {"f": {"g": {}, "i": 2}}, [1, 2], [1]],
            [None, 0, 1, None, 2],
            id="R5c R5d empty objects and arrays as subsets",
        ),
        pytest.param(
            [entry("subset"), entry("subset", {})],
            [None, {"x": 1}],
            [0, 1],
            id="R5c nothing asked for",
        ),
        pytest.param(
            [entry("exact", {"s": "pending"}), entry("exact", {"s": "pending"})],
            [{"s": "pending"}] * 3,
            [0, 1, None],
            id="R01 R02 equal calls, in recorded order, once each",
        ),
        pytest.param(
            [entry("exact", {"n": n}) for n in (1, 2, 3)],
            [{"n": 2}, {"n": 3}, {"n": 1}],
            [1, 2, 0],
            id="R03 each key for itself",
        ),
        pytest.param(
            [entry("exact", {"path": "a"}), entry("exact", {"path": "b"})],
            [{"path": "c"}, {"path": "b"}, {"path": "a"}],
            [None, 1, 0],
            id="R11 R13 no guess, and nothing used up by a miss",
        ),
        pytest.param(
            [entry("exact", {"id": 9007199254740993})],
            [{"id": 9007199254740992}, {"id": 9007199254740993}],
            [None, 0],
            id="J17 neighbours beyond 2^53",
        ),
        pytest.param([entry("exact", {"n": 1})], [{"n": 1.0}], [0], id="R7 1 and 1.0"),
        pytest.param(
            [entry("exact", {"n": [1]}), entry("subset", {"m": 1})],
            [{"n": [True]}, {"m": True}],
            [None, None],
            id="G10 true is no number",
        ),
        pytest.param(
            [entry("exact"), entry("exact", {}), entry("exact")],
            [{}, None, {}],
            [0, 1, 2],
            id="J19 absent and empty are the same",
        ),
        pytest.param(
            [entry("exact"), entry("exact", {"a": None})],
            [[], "x", 0, False, {"a": None}],
            [None, None, None, None, 1],
            id="J19 what is no object is not empty",
        ),
    ],
)
def test_the_first_unconsumed_entry_that_matches_is_served(
    entries: Sequence[Interaction], asked: list[Any], served: list[int | None]
) -> None:
    assert Served(*entries).places(*asked) == served


def test_r36_f5_each_trial_has_a_matcher_of_its_own() -> None:
    entries = [entry("exact")]

    assert [Served(*entries).places(None) for _ in range(3)] == [[0], [0], [0]]


@pytest.mark.parametrize("how", ["exact", "subset", "ignore"])
def test_h17_a_fresh_matcher_shares_nothing_but_the_entries(how: ArgsMatch) -> None:
    first = Matcher([call("t", {"a": 1}, args_match=how)], NoMasks())
    second, third = first.fresh(), first.fresh()
    params = compact({"name": "t", "arguments": {"a": 1}})

    for matcher in (second, third):
        assert isinstance(matcher.take("srv", "tools/call", params), Hit)
        assert matcher.take("srv", "tools/call", params) == Miss("used-up")
    assert first.leftover() == (0,)


class Chosen:
    """Chooses a recorded session, and remembers which it could choose from."""

    def __init__(self, session: int) -> None:
        self._session = session
        self.offered: list[list[int]] = []

    def __call__(self, sessions: Sequence[int]) -> int:
        self.offered.append(list(sessions))
        return self._session


def of_sessions(*sessions: int, how: ArgsMatch = "exact") -> Matcher:
    """One call again and again, recorded in these sessions."""
    return Matcher([entry(how, {"a": 1}, session=session) for session in sessions], NoMasks())


def all_served(matcher: Matcher, count: int) -> list[int]:
    """Ask for the call so many times, which all hit, and once more, which does not."""
    text = params(arguments={"a": 1})
    taken = [matcher.take("srv", "tools/call", text) for _ in range(count)]
    assert matcher.take("srv", "tools/call", text) == Miss("used-up")
    return [one.entry for one in taken if isinstance(one, Hit)]


@pytest.mark.parametrize("how", ["exact", "subset", "ignore"])
@pytest.mark.parametrize(
    ("sessions", "own", "served"),
    [
        pytest.param([0, 1, 0, 1], 0, [0, 2, 1, 3], id="the first of two at once"),
        pytest.param([0, 1, 0, 1], 1, [1, 3, 0, 2], id="the second of two at once"),
        pytest.param([0, 1, 2], 1, [1, 2, 0], id="later ones before earlier ones"),
        pytest.param([0, 0, 0], 0, [0, 1, 2], id="one session"),
    ],
)
def test_h17_a_session_is_served_its_own_calls_first(
    sessions: list[int], own: int, served: list[int], how: ArgsMatch
) -> None:
    whole = of_sessions(*sessions, how=how)

    assert all_served(whole.fresh(Chosen(own)), len(sessions)) == served
    assert all_served(whole.fresh(), len(sessions)) == list(range(len(sessions)))


def test_h17_a_loose_entry_of_ones_own_session_comes_before_an_equal_one_of_another() -> None:
    recorded = [
        entry("subset", {"a": 1}, session=0),
        entry("subset", {"b": 1}, session=1),
        entry("exact", {"a": 1, "b": 1}, session=0),
        entry("subset", {"a": 1, "b": 1}, session=1),
    ]
    matcher = Matcher(recorded, NoMasks()).fresh(Chosen(1))

    found = [matcher.take("srv", "tools/call", params("A", {"a": 1, "b": 1})) for _ in range(4)]

    assert [one.entry for one in found if isinstance(one, Hit)] == [1, 3, 0, 2]


def test_h17_a_session_that_none_begins_like_is_one_that_has_its_first_call() -> None:
    chosen = Chosen(1)
    recorded = [
        *(entry("exact", tool="B", session=session) for session in (0, 1, 2)),
        *(entry("exact", session=session) for session in (2, 1)),
    ]

    Matcher(recorded, NoMasks()).fresh(chosen).take("srv", "tools/call", params())

    assert chosen.offered == [[1, 2]]


def test_h17_a_session_begins_with_the_first_call_that_was_recorded() -> None:
    chosen = Chosen(2)
    recorded = [
        surface("tools/list", {}, session=3),
        entry("exact", tool="B", session=0),
        *(entry("exact", {"a": 1}, session=session) for session in (0, 2, 1, 2)),
        entry("ignore", session=4),
        entry("exact", {"a": 2}, session=5),
        entry("exact", {"a": 1}, session=5),
        entry("exact", {"a": 1}, session=6, server="other"),
    ]
    matcher = Matcher(recorded, NoMasks()).fresh(chosen)

    matcher.take("srv", "tools/list", None)
    matcher.take("srv", "tools/call", params("nobody"))
    assert chosen.offered == []
    for arguments in ({"a": 1}, {"a": 2}):
        matcher.take("srv", "tools/call", params("A", arguments))

    assert chosen.offered == [[1, 2, 4]]


@pytest.mark.parametrize("begun", [False, True], ids=["before it began", "after"])
def test_h17_only_earlier_sessions_calls_are_used_up_by_other_sessions(*, begun: bool) -> None:
    matcher = of_sessions(0, 1, 2, 0, 1).fresh(Chosen(1))
    text = params(arguments={"a": 1})
    first = [matcher.take("srv", "tools/call", text)] if begun else []

    for index in (0, 2, 4, 99):
        matcher.consume(index)

    rest = all_served(matcher, 4 - len(first))
    assert [*(one.entry for one in first if isinstance(one, Hit)), *rest] == [1, 4, 2, 3]


def test_h17_surface_is_of_no_session() -> None:
    lists = [surface("tools/list", {"n": number}, session=number) for number in (0, 1)]
    matcher = Matcher([*lists, entry("exact", session=1)], NoMasks()).fresh(Chosen(1))
    matcher.take("srv", "tools/call", params())
    for index in (0, 1):
        matcher.consume(index)

    found = [matcher.take("srv", "tools/list", None) for _ in range(3)]

    assert found == [Hit(0, lists[0]), Hit(1, lists[1]), Hit(1, lists[1], again=True)]


def test_an_entry_that_is_given_back_is_taken_again() -> None:
    matcher = Matcher([call("t", {"a": 1})], NoMasks())
    params = compact({"name": "t", "arguments": {"a": 1}})
    taken = matcher.take("srv", "tools/call", params)

    matcher.give_back(0)

    assert matcher.take("srv", "tools/call", params) == taken


def test_j19_null_arguments_match_only_null() -> None:
    null = '{"name":"A","arguments":null}'
    matcher = Matcher([entry("exact"), Interaction("srv", "tools/call", null, None)], NoMasks())

    found = matcher.take("srv", "tools/call", null)
    assert isinstance(found, Hit)
    assert found.entry == 1


def test_j17_numbers_match_by_value_in_any_spelling() -> None:
    def asked(number: str) -> str:
        return f'{{"name":"A","arguments":{{"id":{number}}}}}'

    recorded = ["9007199254740993", "1e400", "7" * 5000]
    matcher = Matcher(
        [Interaction("srv", "tools/call", asked(n), None) for n in recorded], NoMasks()
    )

    found = [
        matcher.take("srv", "tools/call", asked(number))
        for number in ("9007199254740992.0", "1e401", "9007199254740993.0", "10e399", "7" * 5000)
    ]
    assert [one.entry if isinstance(one, Hit) else None for one in found] == [None, None, 0, 1, 2]


def test_what_nests_too_deep_to_compare_matches_its_own_text() -> None:
    deep = "[" * 5000 + "]" * 5000

    def asked(value: str) -> str:
        return f'{{"name":"A","arguments":{{"x":{value}}}}}'

    matcher = Matcher(
        [
            Interaction("srv", "tools/call", asked(deep), None),
            Interaction("srv", "tools/call", asked(deep[1:-1]), None, args_match="subset"),
        ],
        NoMasks(),
    )

    assert matcher.take("srv", "tools/call", asked("1")) == Miss(
        "arguments-differ", 0, (Difference("", ABSENT, {"x": 1}),)
    )
    assert matcher.take("srv", "tools/call", asked(deep[2:-2])) == Miss("arguments-differ", 0)
    assert isinstance(matcher.take("srv", "tools/call", asked(deep)), Hit)
    assert isinstance(matcher.take("srv", "tools/call", asked(deep[1:-1])), Hit)
    assert matcher.take("srv", "tools/call", asked(deep)) == Miss("used-up")


def test_what_nests_too_deep_to_compare_is_still_ignored_where_all_is() -> None:
    deep = '{"name":"A","arguments":' + "[" * 5000 + "]" * 5000 + "}"
    loose = [entry("subset", {"a": 1}), entry("subset", {}), entry("ignore", {"a": 1})]
    matcher = Matcher(loose, NoMasks())

    found = [matcher.take("srv", "tools/call", deep) for _ in range(3)]
    assert [one.entry if isinstance(one, Hit) else one.reason for one in found] == [1, 2, "used-up"]


def test_r15_servers_do_not_share_entries() -> None:
    served = Served(
        entry("exact", tool="search", server="one"), entry("exact", tool="search", server="two")
    )

    assert missed(served, "search").reason == "unknown-tool"
    assert served.take("search", server="two") == Hit(
        1, entry("exact", tool="search", server="two")
    )
    assert missed(served, "search", server="two").reason == "used-up"


def test_r20_the_three_reasons_of_a_miss_are_told_apart() -> None:
    served = Served(entry("exact", {"a": 1, "b": {"c": 2}}), entry("exact", {"a": 9}, "B"))

    assert missed(served, "C") == Miss("unknown-tool")
    assert missed(served, "A", {"a": 1, "b": {"c": 3}}) == Miss(
        "arguments-differ", 0, (Difference("/b/c", 2, 3),)
    )
    served.take("A", {"a": 1, "b": {"c": 2}})
    assert missed(served, "A", {"a": 1, "b": {"c": 2}}) == Miss("used-up")


@pytest.mark.parametrize("loose", ["subset", "ignore"])
def test_r20_a_loose_entry_that_was_used_up_is_told_too(loose: ArgsMatch) -> None:
    served = Served(entry(loose, {"a": 1}))

    assert served.places({"a": 1, "b": 2}) == [0]
    assert missed(served, "A", {"a": 1, "b": 3}) == Miss("used-up")


@pytest.mark.parametrize(
    ("place", "nearest"),
    [
        pytest.param(199, 199, id="the last that is looked at"),
        pytest.param(200, 0, id="one too far: what a miss costs has a bound"),
    ],
)
def test_r20_the_nearest_is_sought_among_so_many_entries(place: int, nearest: int) -> None:
    asked = {"x": 0, "y": 0}
    entries = [entry("exact", {"x": 1 + n, "y": 1}) for n in range(300)]
    entries[place] = entry("exact", {"x": 0, "y": 1})

    assert missed(Served(*entries), "A", asked).nearest == nearest


def test_r20_the_nearest_entry_is_the_unused_one_that_differs_least() -> None:
    served = Served(
        entry("exact", {"a": 1, "b": 2, "c": 3}),
        entry("exact", {"a": 1, "b": 2, "c": 0}),
        entry("subset", {"a": 1, "b": 5}),
    )

    asked = {"a": 1, "b": 2, "c": 4}
    assert missed(served, "A", asked) == Miss("arguments-differ", 0, (Difference("/c", 3, 4),))
    served.take("A", {"a": 1, "b": 2, "c": 3})
    assert missed(served, "A", asked) == Miss("arguments-differ", 1, (Difference("/c", 0, 4),))
    served.take("A", {"a": 1, "b": 2, "c": 0})
    assert missed(served, "A", asked) == Miss("arguments-differ", 2, (Difference("/b", 5, 2),))
    served.take("A", {"a": 1, "b": 5})
    assert missed(served, "A", asked).nearest == 0  # all are used up: any may be named


def test_n03_meta_is_not_compared() -> None:
    matcher = Matcher([entry("exact", {"a": 1}), surface("tools/list", {"n": 1})], NoMasks())
    meta = {META_CLIENT: {"name": "other"}, "progressToken": 9, "traceparent": "00-1"}

    found = [
        matcher.take("srv", "tools/call", params("A", {"a": 1}, _meta=meta)),
        matcher.take("srv", "tools/list", compact({"_meta": meta})),
    ]
    assert [one.entry if isinstance(one, Hit) else None for one in found] == [0, 1]


def rounds_of_call() -> list[Interaction]:
    asks = {"resultType": "input_required", "requestState": "S"}

    def continued(state: str, reply: str) -> Interaction:
        return call("book", {"x": 1}, f"booked {state}")._replace(
            params=params("book", {"x": 1}, inputResponses={"q": reply}, requestState=state)
        )

    return [
        call("book", {"x": 1}, {**asks, "requestState": "S1"}),
        call("book", {"x": 1}, {**asks, "requestState": "S2"}),
        continued("S1", "yes"),
        continued("S2", "no"),
    ]


def test_n04_a_round_is_matched_only_by_its_like_twice_in_parallel() -> None:
    matcher = Matcher(rounds_of_call(), NoMasks())

    def take(**more: Any) -> int | None:
        found = matcher.take("srv", "tools/call", params("book", {"x": 1}, **more))
        return found.entry if isinstance(found, Hit) else None

    assert take() == 0
    assert take() == 1
    assert take() is None  # a third first round is not served a continuation
    assert take(requestState="S2", inputResponses={"q": "no"}) == 3
    assert take(requestState="S2", inputResponses={"q": "no"}) is None
    assert take(inputResponses={"q": "yes"}, requestState="S1") == 2


def test_n04_another_answer_of_the_user_is_a_miss_that_names_it() -> None:
    matcher = Matcher(rounds_of_call(), NoMasks())

    found = matcher.take(
        "srv",
        "tools/call",
        params("book", {"x": 1}, requestState="S1", inputResponses={"q": "perhaps"}),
    )
    assert found == Miss(
        "arguments-differ", 2, (Difference("/inputResponses/q", "yes", "perhaps"),)
    )


def test_n04_a_round_that_was_never_recorded_is_no_unknown_tool() -> None:
    matcher = Matcher(rounds_of_call()[:1], NoMasks())
    asked = params("book", {"x": 1}, inputResponses={})

    assert matcher.take("srv", "tools/call", asked) == Miss("arguments-differ", 0)


def test_surface_requests_walk_the_recorded_answers_and_repeat_the_last() -> None:
    first, other, second = (
        surface("tools/list", {"n": 1}),
        surface("resources/read", {"n": 0}, {"uri": "u"}),
        surface("tools/list", {"n": 2}, {}),
    )
    matcher = Matcher([first, other, second], NoMasks())

    found = [matcher.take("srv", "tools/list", given) for given in (None, "{}", "{}", None)]
    assert found == [
        Hit(0, first),
        Hit(2, second),
        Hit(2, second, again=True),
        Hit(2, second, again=True),
    ]
    assert matcher.take("srv", "resources/read", '{"uri":"v"}') == Miss("not-recorded")
    assert matcher.take("srv", "resources/list", None) == Miss("not-recorded")
    assert matcher.take("other", "tools/list", None) == Miss("not-recorded")


@pytest.mark.parametrize("method", ["initialize", "server/discover"])
def test_a_negotiation_is_matched_whatever_the_client_says_of_itself(method: str) -> None:
    recorded = surface(method, {}, {"clientInfo": {"name": "a"}})
    matcher = Matcher([recorded], NoMasks())

    assert matcher.take("srv", method, '{"clientInfo":{"name":"b"}}') == Hit(0, recorded)
    assert matcher.take("srv", method, None) == Hit(0, recorded, again=True)


@pytest.mark.parametrize(
    ("method", "meta", "code"),
    [
        pytest.param("server/discover", {}, -32602, id="no _meta"),
        pytest.param("server/discover", {META_VERSION: "2026-07-28"}, -32602, id="half of it"),
        pytest.param("tools/list", {META_CAPABILITIES: {}}, -32602, id="the other half"),
        pytest.param("tools/list", {META_VERSION: "2026-07-28"}, -32020, id="wrong headers"),
        pytest.param("tools/list", {META_VERSION: "2099-01-01"}, -32022, id="unknown revision"),
    ],
)
def test_h16_what_was_refused_for_its_headers_or_meta_answers_nobody_else(
    method: str, meta: dict[str, Any], code: int
) -> None:
    error = Response("error", compact({"code": code, "message": "no"}))
    refused = Interaction("srv", method, compact({"_meta": meta}), error)
    sound = {META_VERSION: "2026-07-28", META_CAPABILITIES: {}}
    taken = surface(method, {}, {"_meta": sound})
    matcher = Matcher([refused, taken], NoMasks())

    assert matcher.take("srv", method, compact({"_meta": {}})) == Hit(1, taken)
    assert matcher.protocols("srv") == {"2026-07-28"}


def test_h16_a_handshake_client_that_was_refused_is_refused_again() -> None:
    error = Response("error", '{"code":-32602,"message":"no"}')
    refused = Interaction("srv", "resources/read", '{"uri":"x:"}', error)

    taken = Matcher([refused], NoMasks()).take("srv", "resources/read", '{"uri":"x:"}')

    assert taken == Hit(0, refused)


def test_how_arguments_match_is_a_matter_of_tool_calls_only() -> None:
    matcher = Matcher([surface("x", {}, {"a": 1}, args_match="ignore")], NoMasks())

    assert matcher.take("srv", "x", '{"a":2}') == Miss("not-recorded")


def test_an_entry_that_another_process_served_is_not_served_again() -> None:
    listed, again = surface("tools/list", {"n": 1}), surface("tools/list", {"n": 2})
    matcher = Matcher(
        [entry("exact"), entry("exact"), entry("subset", {"a": 1}), listed, again], NoMasks()
    )
    for index in (0, 2, 3, 4, 5, 99):
        matcher.consume(index)

    asked = [params(), params("A", {"a": 1}), params()]
    found = [matcher.take("srv", "tools/call", given) for given in asked]
    assert found == [Hit(1, entry("exact")), Miss("used-up"), Miss("used-up")]
    assert matcher.take("srv", "tools/list", None) == Hit(3, listed, again=True)


def test_r16_calls_that_were_not_asked_for_are_left_over() -> None:
    matcher = Matcher(
        [entry("exact"), surface("tools/list", {}), entry("ignore"), entry("exact", {"a": 1})],
        NoMasks(),
    )
    matcher.take("srv", "tools/call", params())

    assert matcher.leftover() == (2, 3)


def test_x02_secrets_match_masked_though_they_changed() -> None:
    recorded = [
        call("A", {"key": "[REDACTED:1]", "q": 1}),
        call("A", {"key": "[REDACTED:2]", "q": 2}),
        call("A", {"key": "old", "q": 3}),
    ]
    matcher = Matcher(recorded, Masked("old"))

    found = [
        matcher.take("srv", "tools/call", matcher.kept(params("A", {"key": key, "q": q})))
        for key, q in [("old", 2), ("[REDACTED:7]", 1), ("old", 3), ("new", 4)]
    ]
    assert [one.entry if isinstance(one, Hit) else one.reason for one in found] == [
        1,
        0,
        2,
        "arguments-differ",
    ]


def test_x02_what_was_masked_later_answers_what_has_it_in_clear() -> None:
    served = Served(
        entry("exact", {"text": "for [REDACTED:1]", "q": 1}),
        entry("subset", {"text": "for [REDACTED:1]"}),
        entry("exact", {"text": "for [REDACTED:2]", "q": 1}),
        entry("exact", {"text": "for ann", "q": 1}),
    )

    asked = {"text": "for ann", "q": 1}

    assert served.places({**asked, "q": 2}) == [1]
    assert served.places(asked, asked, asked, asked) == [3, 0, 2, None]  # the clear one first
    assert missed(served, "A", asked).reason == "used-up"
    assert missed(served, "A", {"text": "of ann", "q": 1}).reason == "arguments-differ"
    assert missed(served, "B", asked).reason == "unknown-tool"


def test_h17_a_session_is_told_by_what_was_masked_later_too() -> None:
    entries = [entry("exact", {"k": "[REDACTED:1]", "n": n})._replace(session=n) for n in (0, 1)]
    other = Matcher(entries, NoMasks()).fresh(lambda found: found[-1])

    assert other.take("srv", "tools/call", params("A", {"k": "x", "n": 1})) == Hit(1, entries[1])
    assert isinstance(other.take("srv", "tools/call", params("A", {"k": "x", "n": 0})), Hit)


def test_c13_what_is_handed_out_cannot_be_changed() -> None:
    matcher = Matcher([surface("tools/list", {"n": 1})], NoMasks())
    first = matcher.take("srv", "tools/list", None)

    assert isinstance(first, Hit)
    with pytest.raises(AttributeError):
        first.interaction.method = "x"  # type: ignore[misc]


# A small alphabet, so that entries and calls often meet.
VALUES = st.recursive(
    st.sampled_from([0, 1, True, None, "a"]),
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2)
    ),
    max_leaves=4,
)
OBJECTS = st.dictionaries(st.sampled_from("ab"), VALUES, max_size=2)
ARGS = OBJECTS | OBJECTS | VALUES
HOWS: st.SearchStrategy[ArgsMatch] = st.sampled_from(["exact", "subset", "ignore"])


@given(st.lists(st.tuples(HOWS, ARGS), max_size=8), st.lists(ARGS, max_size=12))
def test_r36_the_index_serves_what_a_look_at_every_entry_would(
    recorded: list[tuple[ArgsMatch, Any]], asked: list[Any]
) -> None:
    served = Served(*(entry(how, value) for how, value in recorded))
    used: set[int] = set()

    for arguments in asked:
        given_ = {} if arguments is None else arguments  # absent and empty are the same (J19)
        fitting = [
            index
            for index, (how, value) in enumerate(recorded)
            if matches(how, {} if value is None else value, given_)
        ]
        free = [index for index in fitting if index not in used]
        found = served.take("A", arguments)

        if free:
            assert isinstance(found, Hit)
            assert found.entry == free[0]
            used.add(free[0])
        else:
            assert isinstance(found, Miss)
            expected = "used-up" if fitting else "arguments-differ" if recorded else "unknown-tool"
            assert found.reason == expected
    assert served.matcher.leftover() == tuple(n for n in range(len(recorded)) if n not in used)


@given(
    st.lists(st.tuples(st.sampled_from("AB"), OBJECTS), max_size=8),
    st.randoms(use_true_random=False),
)
def test_r03_a_recording_answers_its_own_calls_in_any_order_per_key(
    recorded: list[tuple[str, Any]], chance: Any
) -> None:
    entries = [entry("exact", value, tool) for tool, value in recorded]
    served = Served(*entries)
    order = list(range(len(entries)))
    chance.shuffle(order)

    found = {}
    for index in order:
        tool, value = recorded[index]
        hit = served.take(tool, value)
        assert isinstance(hit, Hit)
        found[hit.entry] = json.dumps([tool, value], sort_keys=True)

    assert found == {
        index: json.dumps([tool, value], sort_keys=True)
        for index, (tool, value) in enumerate(recorded)
    }
    assert served.matcher.leftover() == ()


def work(task: Callable[[], None]) -> int:
    """How many functions a task calls: a measure of time that no busy machine changes."""
    count = 0

    def counted(_frame: FrameType, event: str, _argument: Any) -> None:  # pragma: no cover
        nonlocal count  # (coverage cannot look into what Python itself calls)
        count += event in ("call", "c_call")

    before = sys.getprofile()
    sys.setprofile(counted)
    try:
        task()
    finally:
        sys.setprofile(before)
    return count


def replay(recorded: Sequence[tuple[ArgsMatch, Any]], asked: Sequence[Any]) -> Callable[[], None]:
    def task() -> None:
        served = Served(*(entry(how, value) for how, value in recorded))
        found = served.places(*asked)
        assert None not in found

    return task


@pytest.mark.parametrize(
    ("recorded", "asked"),
    [
        pytest.param(lambda n: ("exact", {"n": n}), lambda n: {"n": n}, id="exact, all different"),
        pytest.param(lambda _: ("exact", {"n": 1}), lambda _: {"n": 1}, id="exact, all equal"),
        pytest.param(lambda _: ("ignore", None), lambda n: {"n": n}, id="ignore"),
        pytest.param(lambda n: ("subset", {"n": n}), lambda n: {"n": n, "m": -n}, id="subset"),
        pytest.param(
            lambda _: ("subset", {"a": 1}), lambda n: {"a": 1, "n": n}, id="subset, equal"
        ),
        pytest.param(
            lambda n: ("subset", {"kind": "x", "at": {"n": n}}),
            lambda n: {"kind": "x", "at": {"n": n, "m": 1}},
            id="subset, a leaf in common",
        ),
        pytest.param(
            lambda n: ("subset", {"f": {}} if n % 2 else {"g": {}}),
            lambda n: {"f": {"n": n}} if n % 2 else {"g": {"n": n}},
            id="subset, empty objects",
        ),
        pytest.param(
            lambda n: ("subset", {"n": n // 2}) if n % 2 else ("exact", {"n": n // 2}),
            lambda n: {"n": n // 2},
            id="mixed",
        ),
        pytest.param(
            lambda n: ("exact", {"n": n, "key": "[REDACTED:1]"}),
            lambda n: {"n": n, "key": "x"},
            id="masked later",
        ),
    ],
)
@pytest.mark.parametrize("order", [1, -1], ids=["in order", "reversed"])
def test_c10_the_work_grows_in_line_with_the_interactions(
    recorded: Callable[[int], tuple[ArgsMatch, Any]], asked: Callable[[int], Any], order: int
) -> None:
    def of(size: int) -> int:
        numbers = range(size)
        return work(replay([recorded(n) for n in numbers], [asked(n) for n in numbers[::order]]))

    assert of(1000) < 11 * of(100)


@pytest.mark.parametrize(
    ("args_match", "comparisons"),
    [pytest.param("exact", 0, id="exact"), pytest.param("subset", 10_000, id="subset")],
)
def test_c10_ten_thousand_interactions_are_looked_up_and_not_compared(
    monkeypatch: pytest.MonkeyPatch, args_match: ArgsMatch, comparisons: int
) -> None:
    count = 0

    def counted(*given_: Any) -> bool:
        nonlocal count
        count += 1
        return matches(*given_)

    monkeypatch.setattr("sidecar.cassette.matcher.matches", counted)
    numbers = range(10_000)
    entries = [entry(args_match, {"n": n, "kind": "x"}) for n in numbers]

    found = Served(*entries).places(*({"n": n, "kind": "x"} for n in reversed(numbers)))

    assert found == list(reversed(numbers))
    assert count == comparisons
