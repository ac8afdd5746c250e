import re

from sidecar.cassette.redaction.lazy_patterns import compiled


def test_a_pattern_is_compiled_once() -> None:
    assert compiled(r"a+") is compiled(r"a+")
    assert compiled(r"a+", re.IGNORECASE).match("AA")
    assert compiled(rb"a+").match(b"aa")
