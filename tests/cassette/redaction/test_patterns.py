import pytest

from sidecar.cassette.redaction.masking import Span
from sidecar.cassette.redaction.patterns import Patterns
from sidecar.errors import UsageError


def test_the_first_group_is_the_secret_or_else_the_whole_match() -> None:
    patterns = Patterns([r"ACME-\d+", r"ref:(\w+);(x?)"])

    assert list(patterns.spans(b"ACME-1 ref:ab; ref:;")) == [Span(0, 6), Span(11, 13)]
    assert list(patterns.spans("é ACME-1 ü ref:é;".encode())) == [Span(3, 9), Span(17, 19)]
    assert list(Patterns(["x*"]).spans(b"axxb")) == [Span(1, 3)]


def test_there_may_be_none() -> None:
    assert not Patterns([])
    assert Patterns(["x"])


def test_what_is_no_pattern_is_refused_with_its_text() -> None:
    with pytest.raises(UsageError, match=r"'\(' is no regular expression: .*; correct it"):
        Patterns(["("])
