import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.redaction import json_layout
from sidecar.cassette.redaction.json_layout import COMPACT, Layout, Spelling, layout_of, read, write


@pytest.mark.parametrize(
    ("text", "layout"),
    [
        pytest.param('{"a":[1,2]}', COMPACT, id="compact"),
        pytest.param('{"a": [1, 2]}', Layout(None, (", ", ": ")), id="spaced"),
        pytest.param('[1, "x"]', Layout(None, (", ", ": ")), id="a spaced list"),
        pytest.param('{\n  "a": [\n    1\n  ]\n}', Layout("  ", (",", ": ")), id="indented"),
        pytest.param('[\n\t"a"\n]', Layout("\t", (",", ": ")), id="by tabs"),
        pytest.param('{"a":"\\u00e9"}', Layout(ascii_only=True), id="escaped"),
        pytest.param('{"a":"é"}', COMPACT, id="readable"),
    ],
)
def test_json_is_written_as_it_was(text: str, layout: Layout) -> None:
    assert layout_of(text) == layout
    assert write(*read(text), layout) == text


def test_a_very_long_text_loses_its_indentation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_layout, "_MAX_INDENTED_CHARS", 10)

    assert layout_of('{\n  "a": 1\n}') == Layout(None, (", ", ": "))


def test_numbers_stay_as_they_were_spelt() -> None:
    text = "[1,-0.0,1.50,1e400,1E5,0.1,123456789012345678901234567890,9007199254740993.0]"

    assert write(*read(text)) == text
    assert [type(item) for item in read("[0.1,1.50]").value] == [float, Spelling]


@pytest.mark.parametrize("text", ["{", "[" + "9" * 5000 + "]"], ids=["cut off", "too long"])
def test_what_is_no_json_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        read(text)


def test_a_lone_surrogate_is_written_with_escapes() -> None:
    text = write({"a": "\ud800é"}, "-")

    assert text == '{"a":"\\ud800\\u00e9"}'
    assert read(text).value == {"a": "\ud800é"}


@pytest.mark.parametrize("layout", [COMPACT, Layout(ascii_only=True), Layout("  ")])
def test_a_string_that_looks_like_a_kept_number_stays_a_string(layout: Layout) -> None:
    text = '["number 17 1.50",1.50]'

    assert json.loads(write(*read(text), layout)) == ["number 17 1.50", 1.5]


@given(
    st.recursive(
        st.one_of(
            st.text(), st.floats(allow_nan=False, allow_infinity=False), st.integers(), st.none()
        ),
        st.lists,
    )
)
def test_any_value_survives(value: object) -> None:
    text = json.dumps(value)

    assert json.loads(write(*read(text), layout_of(text))) == json.loads(text)
