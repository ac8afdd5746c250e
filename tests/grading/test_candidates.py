"""Which observed calls answer an expected one: the args table, and the index against `matches`."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.arguments import ABSENT, Absent, ArgsMatch, matches
from sidecar.cassette.redaction.placeholders import unify
from sidecar.grading.candidates import (
    CallIndex,
    Candidates,
    ObservedCall,
    canonical_text,
    compile_call,
)
from sidecar.grading.matching import bits
from sidecar.suite.json_reading import decode, decode_event
from sidecar.suite.model import ExpectedCall
from tests.eval_data import Json

SCALARS = st.sampled_from([0, 1, 1.0, True, False, None, "1", "a", "[REDACTED:1]", "[REDACTED:2]"])
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=2) | st.dictionaries(st.sampled_from("abc"), inner, max_size=3)
    ),
    max_leaves=6,
)


def expected(args: Json, how: ArgsMatch, tool: str = "t:x") -> ExpectedCall:
    return ExpectedCall(tool=tool, args=args, args_match=how)


def sure(call: ExpectedCall, *inputs: Json) -> list[int]:
    index = CallIndex([ObservedCall("t:x", one) for one in inputs])
    return list(bits(index.candidates(compile_call(call)).sure))


ARGS_TABLE = [
    ('{"a":1}', '{"a":1.0}', True, True, "R7 1 is 1.0"),
    ('{"a":1}', '{"a":true}', False, False, "R7 G10 true is no 1"),
    ('{"a":"1"}', '{"a":1}', False, False, "R7 G09 text is no number"),
    ('{"a":1,"b":2}', '{"b":2,"a":1}', True, True, "R7 order of members"),
    ('{"a":1}', '{"a":1,"b":2}', False, True, "R5 an extra member"),
    ('{"a":null}', "{}", False, False, "R7 null is not missing"),
    ('{"a":[1,2]}', '{"a":[2,1]}', False, False, "R7 order of items"),
    ('{"a":[1]}', '{"a":[1,2]}', False, False, "R5b arrays compare whole"),
    ('{"a":{"b":1}}', '{"a":{"b":1,"c":2}}', False, True, "R5a nested objects are entered"),
    ('{"a":{}}', '{"a":{"b":1}}', False, True, "R5c a nested {}"),
    ("{}", '{"a":1}', False, True, "R5c {} at the top"),
    ("{}", "{}", True, True, "R5c {} and {}"),
    ("[1]", "[1,2]", False, False, "R5d no object"),
    ('{"a":1e0}', '{"a":1}', True, True, "R7 G09 1e0"),
    ('{"a":0}', '{"a":-0.0}', True, True, "R7 G09 minus zero"),
    ('{"a":0.3}', '{"a":0.30000000000000004}', False, False, "R7 G09 0.1 + 0.2"),
    ('{"a":9007199254740993}', '{"a":9007199254740992.0}', False, False, "R7 every digit"),
    ('{"a":9007199254740993}', '{"a":9007199254740993.0}', True, True, "R7 no digit lost"),
    ('{"a":{"b":{}}}', '{"a":{"b":[]}}', False, False, "R5c {} asks for an object"),
    ('{"a":{"b":1}}', '{"a":[1]}', False, False, "R5a an array has no key path"),
    ('{"a":"é"}', '{"a":"e\u0301"}', False, False, "R7 no normalisation"),
    ('{"x":1,"y":2}', '{"x":1}', False, False, "R5 a missing member"),
]


@pytest.mark.parametrize(
    ("args", "inputs", "exact", "subset"), [pytest.param(*row[:4], id=row[4]) for row in ARGS_TABLE]
)
def test_arguments_are_compared_as_the_table_says(
    args: str, inputs: str, *, exact: bool, subset: bool
) -> None:
    wanted, seen = decode(args), decode_event(inputs)

    assert (sure(expected(wanted, "exact"), seen) == [0]) is exact
    assert (sure(expected(wanted, "subset"), seen) == [0]) is subset
    assert sure(expected(wanted, "ignore"), seen) == [0]


@given(VALUES, st.lists(VALUES, max_size=6), st.sampled_from(["exact", "subset"]))
def test_r5_the_index_finds_what_matches_says(args: Json, seen: list[Json], how: ArgsMatch) -> None:
    wanted = unify(args)

    assert sure(expected(args, how), *seen) == [
        place for place, inputs in enumerate(seen) if matches(how, wanted, unify(inputs))
    ]


@given(VALUES)
def test_r5_what_was_called_matches_itself(args: Json) -> None:
    assert sure(expected(args, "exact"), args) == [0]
    assert sure(expected(args, "subset"), args) == [0]


def test_r4_a_tool_matches_by_its_exact_name() -> None:
    names = ("mcp:fs.read", "mcp:fs.Read", "mcp:fs.read ", "mcp:fs", "mcp:fs*")
    index = CallIndex([ObservedCall(name, {}) for name in names])

    for place, name in enumerate(names):
        found = index.candidates(compile_call(ExpectedCall(tool=name)))
        assert found == Candidates(1 << place, 0)


def test_secrets_that_were_masked_are_equal() -> None:
    call = expected({"key": "[REDACTED:1]", "q": "x"}, "exact")

    assert sure(call, {"key": "[REDACTED:00112233aabbccdd]", "q": "x"}) == [0]
    assert sure(call, {"key": "other", "q": "x"}) == []


deep: Json = 1
for _ in range(400):
    deep = [deep]


@pytest.mark.parametrize(
    "inputs",
    [pytest.param(ABSENT, id="R5f withheld"), pytest.param(deep, id="too deep to compare")],
)
def test_what_cannot_be_read_is_neither_a_match_nor_none(inputs: Json) -> None:
    index = CallIndex([ObservedCall("t:x", {"a": 1}), ObservedCall("t:x", inputs)])

    for how in ("exact", "subset"):
        assert index.candidates(compile_call(expected({"a": 1}, how))) == Candidates(0b01, 0b10)
    for certain in (ExpectedCall(tool="t:x"), expected({}, "subset"), expected({"a": 1}, "ignore")):
        assert index.candidates(compile_call(certain)) == Candidates(0b11, 0)
    assert index.text(1) is None


def test_only_the_same_tools_withheld_arguments_are_unknown() -> None:
    index = CallIndex([ObservedCall("t:other", ABSENT)])

    assert index.candidates(compile_call(expected({"a": 1}, "exact"))) == Candidates(0, 0)


def test_a_value_too_deep_has_no_canonical_text() -> None:
    assert canonical_text(deep) is None
    assert canonical_text([1.0]) == "[1]"
    assert isinstance(ABSENT, Absent)


@pytest.mark.parametrize("how", ["exact", "subset"])
def test_a_thousand_calls_meet_a_thousand_without_comparing_all_pairs(how: ArgsMatch) -> None:
    n = 1000
    calls = [expected({"x": at, "deep": {"k": at % 7}}, how) for at in range(n)]
    seen = [
        ObservedCall("t:x", {"deep": {"k": (n - 1 - at) % 7}, "x": n - 1 - at}) for at in range(n)
    ]

    began = time.process_time()
    index = CallIndex(seen)
    found = [index.candidates(compile_call(call)).sure for call in calls]

    assert found == [1 << (n - 1 - at) for at in range(n)]
    assert time.process_time() - began < 5  # seconds; 0.2 without other load


@pytest.mark.parametrize("how", ["exact", "subset", "ignore"])
def test_a_compiled_call_keeps_how_it_is_compared(how: ArgsMatch) -> None:
    made = compile_call(expected({"a": 1}, how))

    assert (made.tool, made.matching) == (expected({"a": 1}, how).tool, how)
