"""The words in which a session is told."""

import pytest

from sidecar.cassette.facts import Fact, Finished, Noted, Opened, Passed
from sidecar.cassette.interaction import Passage
from tests.cassette.sessions import call


def test_a_plain_request_is_told_by_its_number_and_itself() -> None:
    assert Opened(0, call("a")) == Opened(0, call("a"), call=None, entry=None)
    assert Finished(0, call("a")) == Finished(
        0, call("a"), more_rounds=False, error_code=None, missed=None
    )


@pytest.mark.parametrize(
    "fact",
    [
        Opened(0, call("a")),
        Finished(0, call("a")),
        Noted(0, call("a")),
        Passed(0, "after", 0, Passage("x")),
    ],
)
def test_c13_a_fact_cannot_be_changed(fact: Fact) -> None:
    with pytest.raises(AttributeError):
        fact.number = 1  # type: ignore[misc]
