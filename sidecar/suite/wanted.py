"""What a promotion is given, and what it has to say."""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeAlias

from sidecar.cassette.arguments import ABSENT, Absent
from sidecar.cassette.interaction import Cassette
from sidecar.suite.calls import Span
from sidecar.suite.loosening import IgnoredArgument
from sidecar.suite.model import Strategy, TrajectoryMode
from sidecar.wire.json_text import JsonValue

Golden: TypeAlias = Strategy | Literal["auto", "none"]
"""How the output is compared; `auto`: exactly where there is one, else not at all."""


class Wanted(NamedTuple):
    """What the task should be.

    Attributes:
        task_id: Its id.
        trajectory: How the path is compared; None where it is not.
        forbidden: Tools of which any call fails the task, `<server>:<tool>`.
        ignored: Members of arguments that are not compared.
        usually_ignored: The same, by the settings; calls need not have them.
        golden: How the output is compared.
        text: With golden `contains`: the text to look for, in place of the whole output.
        drops_retried: Whether a call that failed, and worked later, leaves the path.
        allows_incomplete: Whether a run that did not end in order is taken all the same.
    """

    task_id: str
    trajectory: TrajectoryMode | None = "in-order"
    forbidden: tuple[str, ...] = ()
    ignored: tuple[IgnoredArgument, ...] = ()
    usually_ignored: tuple[IgnoredArgument, ...] = ()
    golden: Golden = "auto"
    text: str | None = None
    drops_retried: bool = False
    allows_incomplete: bool = False


class Recording(NamedTuple):
    """A recorded run.

    Attributes:
        cassette: Its interactions, redacted.
        name: What the user calls it, for errors.
        input: What the agent was given; `ABSENT` where that is not known.
        output: What the agent said; None where that is not known.
        doubts: What else speaks against it, such as that the agent failed.
        spans: When each interaction began and ended; empty where that is not known.
    """

    cassette: Cassette
    name: str
    input: JsonValue | Absent = ABSENT
    output: str | None = None
    doubts: tuple[str, ...] = ()
    spans: tuple[Span | None, ...] = ()


class Remark(NamedTuple):
    """Something that the user should know of a promotion.

    Attributes:
        code: Its kind: `retried`, `masked`, `rpc-error`, `unfinished`, `asked`, `input`,
            `output`, `forbidden`, `parallel`.
        text: One sentence without a full stop.
    """

    code: str
    text: str
