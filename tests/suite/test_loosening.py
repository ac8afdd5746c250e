"""Members that leave a call's expected arguments."""

from typing import Any

import pytest

from sidecar.cassette.arguments import ABSENT
from sidecar.errors import UsageError
from sidecar.suite.loosening import (
    IgnoredArgument,
    Loosened,
    is_masked,
    loosened,
    points_into,
    read_ignored_argument,
)
from sidecar.wire.json_text import Number

SECRET = "[REDACTED:1]"


def ignoring(pointer: str) -> IgnoredArgument:
    return IgnoredArgument("git:log", pointer)


def test_arguments_without_masks_are_compared_exactly() -> None:
    assert loosened({"n": 1, "deep": {"a": [1]}}, []) == Loosened(
        {"n": 1, "deep": {"a": [1]}}, "exact"
    )


@pytest.mark.parametrize(
    ("arguments", "kept", "masked"),
    [
        pytest.param({"key": SECRET, "n": 1}, {"n": 1}, ("/key",), id="a member"),
        pytest.param(
            {"a": {"key": f"Bearer {SECRET}", "b": 2}},
            {"a": {"b": 2}},
            ("/a/key",),
            id="part of a nested string",
        ),
        pytest.param(
            {"list": [{"key": SECRET}], "n": 1},
            {"n": 1},
            ("/list",),
            id="an array leaves whole, for arrays are compared whole",
        ),
        pytest.param({SECRET: 1, "n": 1}, {"n": 1}, ("/[REDACTED:1]",), id="a name"),
        pytest.param({"a/b": SECRET, "n": 1}, {"n": 1}, ("/a~1b",), id="its pointer is escaped"),
        pytest.param(
            {"auth": {"by": {"key": SECRET}}, "none": {}},
            {"none": {}},
            ("/auth/by/key",),
            id="an object of which nothing is left, but not one that was empty",
        ),
    ],
)
def test_p02_a_masked_value_leaves_and_the_rest_is_compared_as_a_subset(
    arguments: Any, kept: Any, masked: tuple[str, ...]
) -> None:
    assert loosened(arguments, []) == Loosened(kept, "subset", masked)


@pytest.mark.parametrize(
    ("arguments", "masked"),
    [
        pytest.param([SECRET], ("",), id="no object"),
        pytest.param({"key": SECRET, "a": {"b": SECRET}}, ("/key", "/a/b"), id="all members"),
    ],
)
def test_p02_arguments_of_which_nothing_is_left_are_not_compared_at_all(
    arguments: Any, masked: tuple[str, ...]
) -> None:
    assert loosened(arguments, []) == Loosened(ABSENT, "ignore", masked)


def test_arguments_that_are_ignored_to_the_last_are_not_compared_at_all() -> None:
    assert loosened({"a": {"b": 1}}, [ignoring("/a/b")]) == Loosened(ABSENT, "ignore")
    assert loosened({}, [ignoring("/a/b")]) == Loosened({}, "exact")


def test_a_number_is_no_placeholder() -> None:
    assert not is_masked({"n": Number("1.0"), "list": [1, None, True, "[REDACTED BY LAW]"]})
    assert is_masked({"list": [{"a": SECRET}]})


def test_an_ignored_member_leaves_and_the_rest_is_compared_as_a_subset() -> None:
    arguments = {"n": 1, "a/b": {"c~d": 2, "e": 3}}

    assert loosened(arguments, [ignoring("/a~1b/c~0d")]) == Loosened(
        {"n": 1, "a/b": {"e": 3}}, "subset"
    )
    assert arguments == {"n": 1, "a/b": {"c~d": 2, "e": 3}}


def test_a_member_that_is_not_there_changes_nothing() -> None:
    assert loosened({"n": 1}, [ignoring("/other"), ignoring("/n/deeper")]) == Loosened(
        {"n": 1}, "exact"
    )


def test_a_member_that_a_mask_took_already_is_ignored_too() -> None:
    assert loosened({"key": SECRET, "n": 1}, [ignoring("/key")]) == Loosened(
        {"n": 1}, "subset", ("/key",)
    )


def test_a_pointer_into_an_array_is_refused() -> None:
    with pytest.raises(UsageError, match="arrays are compared whole; ignore the whole array"):
        points_into({"list": [1]}, ignoring("/list/0"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param("git:git_log:/n", IgnoredArgument("git:git_log", "/n"), id="a member"),
        pytest.param("a:b:/c:/d", IgnoredArgument("a:b", "/c:/d"), id="a pointer with a colon"),
        pytest.param("a:b:/", IgnoredArgument("a:b", "/"), id="a member without a name"),
    ],
)
def test_an_ignored_argument_is_a_tool_and_a_pointer(text: str, expected: IgnoredArgument) -> None:
    assert read_ignored_argument(text) == expected


@pytest.mark.parametrize("text", ["git:git_log", "git_log:/n", "/n", "git:git_log:", ""])
def test_another_form_is_refused_with_the_right_one(text: str) -> None:
    with pytest.raises(UsageError, match=r"write TOOL:/POINTER, such as git:git_log:/max_count"):
        read_ignored_argument(text)
