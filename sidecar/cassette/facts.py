"""What became known of a session: the words in which recorder and replayer tell it."""

from __future__ import annotations

from sidecar.cassette.interaction import Interaction, Passage
from sidecar.wire.typed import Literal, NamedTuple, TypeAlias

Phase: TypeAlias = Literal["during", "after"]
"""Which of an interaction's passages one is among."""


class Opened(NamedTuple):
    """A request came.

    Attributes:
        number: Names it in the facts that follow.
        interaction: The request.
        call: The number of the call that it goes on with, if it is a later round of one.
        entry: The recording that it uses up, if one answers it.
    """

    number: int
    interaction: Interaction
    call: int | None = None
    entry: int | None = None


class Finished(NamedTuple):
    """A request was answered, or never will be.

    Attributes:
        number: As in its `Opened`.
        interaction: The whole of it.
        more_rounds: Whether the answer asks for another round of the call.
        error_code: Of the event, where the answer itself does not tell it.
        missed: Why no recording answered it, in words.
    """

    number: int
    interaction: Interaction
    more_rounds: bool = False
    error_code: str | None = None
    missed: str | None = None


class Noted(NamedTuple):
    """The request was taken back."""

    number: int
    interaction: Interaction


class Passed(NamedTuple):
    """Something more came after the answer; alone, for there may be much of it.

    Attributes:
        number: As in its `Opened`.
        phase: Which passages it is among.
        position: Its place among them; one that is there already got its reply.
        passage: What came.
    """

    number: int
    phase: Phase
    position: int
    passage: Passage


Fact: TypeAlias = Opened | Finished | Noted | Passed
