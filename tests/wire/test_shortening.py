"""Long text, cut."""

import pytest

from sidecar.wire.shortening import shortened


@pytest.mark.parametrize(
    ("text", "expected"), [("", ""), ("abcd", "abcd"), ("abcde", "abc…"), ("x" * 99, "xxx…")]
)
def test_text_is_cut_to_the_limit_ellipsis_included(text: str, expected: str) -> None:
    assert shortened(text, 4) == expected
