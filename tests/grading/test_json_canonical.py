"""RFC 8785: the examples of the RFC, and numbers as ECMAScript writes them."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.grading.json_canonical import jcs
from sidecar.suite.json_reading import decode
from tests.eval_data import Json


@pytest.mark.parametrize(
    ("number", "text"),
    [
        ("0", "0"),
        ("-0", "0"),
        ("-0.0", "0"),
        ("1.0", "1"),
        ("1e2", "100"),
        ("1.50", "1.5"),
        ("5e-324", "5e-324"),
        ("1.7976931348623157e308", "1.7976931348623157e+308"),
        ("9007199254740992", "9007199254740992"),
        ("9007199254740992.0", "9007199254740992"),
        ("295147905179352830000.0", "295147905179352830000"),
        ("1e21", "1e+21"),
        ("999999999999999900000.0", "999999999999999900000"),
        ("1e-6", "0.000001"),
        ("1e-7", "1e-7"),
        ("1.5e-5", "0.000015"),
        ("-1.5e-5", "-0.000015"),
        ("333333333.33333329", "333333333.3333333"),
        ("1E30", "1e+30"),
        ("4.50", "4.5"),
        ("2e-3", "0.002"),
        ("0.000000000000000000000000001", "1e-27"),
        ("1e16", "10000000000000000"),
        ("-1.25e17", "-125000000000000000"),
        ("123456789012345678901", "123456789012345678901"),
    ],
)
def test_r13_a_number_is_written_as_ecmascript_writes_it(number: str, text: str) -> None:
    assert jcs(decode(number)) == text


@pytest.mark.parametrize(
    ("value", "text"),
    [
        pytest.param({"b": 1, "a": [True, None, "x"]}, '{"a":[true,null,"x"],"b":1}', id="sorted"),
        pytest.param({"\ufb33": 1, "\U0001f600": 2}, '{"😀":2,"\ufb33":1}', id="by UTF-16 units"),
        pytest.param("€$\u000f\nA'\"/", '"€$\\u000f\\nA\'\\"/"', id="the RFC's string"),
        pytest.param({}, "{}", id="empty"),
        pytest.param({"b": 1, "\ud800": 2}, '{"b":1,"\ud800":2}', id="a lone surrogate"),
    ],
)
def test_r13_a_value_is_written_in_canonical_form(value: Json, text: str) -> None:
    assert jcs(value) == text


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_reads_back_the_same(number: float) -> None:
    assert float(jcs(number)) == number
    assert "+" not in jcs(number) or abs(number) >= 1e21


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.text(),
        lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
        max_leaves=6,
    )
)
def test_a_value_reads_back_equal(value: Json) -> None:
    assert json.loads(jcs(value)) == value
