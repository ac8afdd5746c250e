"""JSON with comments and trailing commas, read into places."""

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sidecar.agents.configs.jsonc import Jsonc, as_plain_json
from sidecar.agents.configs.nodes import BrokenTextError, raw
from tests.agents.configs.reading import value_of

_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=10,
)


@settings(max_examples=60)
@given(value=_VALUES, indent=st.sampled_from([None, 2, "\t"]), plain=st.booleans())
def test_plain_json_is_read_as_it_is_meant(
    *, value: Any, indent: int | str | None, plain: bool
) -> None:
    text = json.dumps(value, indent=indent, ensure_ascii=plain)

    assert value_of(Jsonc().parse(text), json.loads) == value


def test_w02_comments_and_trailing_commas_are_read_wherever_they_stand() -> None:
    text = """// one
    { /* two */ "a" /* three */ : // four
      [1, /* , */ -2.5e3, // five
      ], "b": "http://x//y", "c": "\\" // no", "d": { "e": null, }, // six
    } // seven"""

    assert value_of(Jsonc().parse(text), json.loads) == {
        "a": [1, -2500.0],
        "b": "http://x//y",
        "c": '" // no',
        "d": {"e": None},
    }


def test_every_place_is_where_the_text_stands() -> None:
    text = '{"a\\u0062": [ "x", {"y": true} ]}'
    root = Jsonc().parse(text)

    (member,) = root.members
    assert (member.name, raw(text, member.key)) == ("ab", '"a\\u0062"')
    assert [raw(text, item.span) for item in member.value.items] == ['"x"', '{"y": true}']
    assert raw(text, root.span) == text


def test_what_no_path_leads_to_is_passed_over_unless_it_has_comments() -> None:
    text = """{"a": {"x": {"y": [1]}, "z": {"no": 1}}, "b": {"deep": [{}]}, "c": [ /* c */ 1],
      "d": {"p": {"k": [2], "l": [3]}, "q": 4}}"""

    root = Jsonc().parse(text, [("a", "x"), ("d", "*", "k")])

    assert value_of(root, json.loads) == {
        "a": {"x": {"y": [1]}, "z": {}},
        "b": {},
        "c": [1],
        "d": {"p": {"k": [2], "l": []}, "q": 4},
    }
    assert [raw(text, member.value.span)[-2:] for member in root.members] == [
        "}}",
        "]}",
        "1]",
        "4}",
    ]


@pytest.mark.parametrize("inner", ['{"a": NaN}', '{"a": 01}'])
def test_what_is_passed_over_is_json_all_the_same(inner: str) -> None:
    with pytest.raises(BrokenTextError):
        Jsonc().parse(f'{{"x": {inner}, "a": 1}}', [("a",)])


def test_comments_and_trailing_commas_are_blanked_and_the_rest_stays_where_it_is() -> None:
    text = '{"a": [1, /* , */ 2, // x\n ], "b": ", ] // }",\n}'

    plain = as_plain_json(text)

    assert len(plain) == len(text)
    assert plain.index("\n") == text.index("\n")
    assert json.loads(plain) == {"a": [1, 2], "b": ", ] // }"}


@pytest.mark.parametrize(
    ("between", "left"),
    [(" " * 60, " " * 60), ("/" * 60 + "\n", " " * 60 + "\n"), ("/**/ " * 20, " " * 100)],
    ids=["blanks", "slashes", "comments"],
)
def test_a_comma_before_much_that_is_no_value_is_read_once(between: str, left: str) -> None:
    # Tried in every way that blanks can be parted, this would take longer than any time limit.
    assert as_plain_json(f',{between}"a"') == f',{left}"a"'
