"""Arguments that a recording holds masked, while a call has them in clear."""

from __future__ import annotations

from typing import Any

import pytest

from sidecar.cassette.arguments import ABSENT, leaves
from sidecar.cassette.masked_arguments import ANYWHERE, fits, in_clear

M = "[REDACTED]"


@pytest.mark.parametrize(
    ("recorded", "asked", "does"),
    [
        pytest.param(M, "x", True, id="whole"),
        pytest.param(M, "", False, id="nothing in its place"),
        pytest.param(M, M, True, id="masked as well"),
        pytest.param(M, 1, False, id="no text"),
        pytest.param(M, None, False, id="null"),
        pytest.param(f"a {M}", "a b", True, id="behind a text"),
        pytest.param(f"a {M}", "a ", False, id="nothing behind a text"),
        pytest.param(f"a {M}", "b b", False, id="another text before"),
        pytest.param(f"{M} z", "y z", True, id="before a text"),
        pytest.param(f"{M} z", "y x", False, id="another text behind"),
        pytest.param(f"{M} z", " z", False, id="nothing before a text"),
        pytest.param(f"a{M}a", "a", False, id="the texts around overlap"),
        pytest.param(f"a{M}a", "aa", False, id="nothing within"),
        pytest.param(f"a{M}a", "a\na", True, id="a line end within"),
        pytest.param(f"{M}{M}", "x", False, id="two for one"),
        pytest.param(f"{M}{M}", "xy", True, id="two for two"),
        pytest.param(f"{M}-{M}", "--", False, id="no place for the first"),
        pytest.param(f"{M}-{M}", "---", True, id="a place for both"),
        pytest.param(f"u:{M}@{M}/x", "u:p@h/x", True, id="several"),
        pytest.param(f"u:{M}@{M}/x", "u:ph/x", False, id="several, not all"),
        pytest.param("a", "a", True, id="nothing masked"),
        pytest.param({"a": [1, {"b": M}]}, {"a": [1, {"b": "x"}]}, True, id="within"),
        pytest.param({"a": [1, {"b": M}]}, {"a": [2, {"b": "x"}]}, False, id="within, not all"),
        pytest.param({"a": [M]}, {"a": ["x", "y"]}, False, id="a longer list"),
        pytest.param({"a": M}, {"a": "x", "b": 1}, False, id="one more"),
        pytest.param({"a": M}, {"b": "x"}, False, id="another name"),
        pytest.param({"a": M, "n": True}, {"a": "x", "n": 1}, False, id="J17 true is no number"),
        pytest.param({"a": M}, [], False, id="another kind"),
        pytest.param(ABSENT, {}, False, id="unread"),
        pytest.param({}, ABSENT, False, id="unread call"),
    ],
)
def test_a_placeholder_is_like_any_text_in_its_place(
    recorded: Any, asked: Any, *, does: bool
) -> None:
    assert fits("exact", recorded, asked) is does


@pytest.mark.parametrize(
    ("asked", "does"),
    [
        ({"a": {"b": "x", "c": 1}, "d": 2}, True),
        ({"a": {"b": ""}}, False),
        ({"a": {"c": "x"}}, False),
    ],
)
def test_a_subset_may_have_more_beside_what_is_masked(asked: Any, *, does: bool) -> None:
    assert fits("subset", {"a": {"b": M}}, asked) is does


def test_a_subsets_lists_compare_whole() -> None:
    assert not fits("subset", {"a": [{"b": M}]}, {"a": [{"b": "x", "c": 1}]})


def test_entries_are_filed_under_what_is_in_clear() -> None:
    assert in_clear(leaves({"a": M, "b": 1, "c": [M, 2]})) == ["/b=1"]
    assert in_clear(leaves({"a": M})) == [ANYWHERE]


def test_a_long_text_with_many_placeholders_is_compared_at_once() -> None:
    text = "a" * 20_000

    assert not fits("exact", f"{M}a" * 2_000 + "b", text)
