"""An agent command: its words, files and environment, and what comes of running it.

The words may hold `{mcp_config}`, `{input}`, `{input_file}` and `{output_file}`; the
environment tells the same in `MCP_SIDECAR_*` variables.
"""

from __future__ import annotations

import os
import re
import shlex
import signal
import stat
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType

from sidecar.agents.process import MAX_OUTPUT_BYTES, AgentProcess
from sidecar.errors import AgentError, UsageError
from sidecar.store import environment as variables
from sidecar.store.clock import SYSTEM_CLOCK, Clock
from sidecar.store.runs import State
from sidecar.wire.json_text import JsonValue, dump

SIGNALLED = 128
"""Added to a signal's number for the exit code of what it ended, as shells do."""

TEMPLATES = ("mcp_config", "input", "input_file", "output_file")
"""What an agent's command may hold in braces, to be filled in."""

_TEMPLATE = re.compile(rf"\{{({'|'.join(TEMPLATES)})\}}")
_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, slots=True)
class AgentFiles:
    """Where one execution of an agent finds and puts what; all in one private folder.

    Attributes:
        folder: The folder, which whoever made it removes.
        config: The wrapped MCP config.
        output: Where the agent may write its output; not there before it does.
        events: To which it may append `provider.usage` events, a JSON object a line.
        input: The input, as UTF-8 text; None where there is none.
        memory: The task's memory seed, as JSON; None where there is none.
    """

    folder: Path
    config: Path
    output: Path
    events: Path
    input: Path | None = None
    memory: Path | None = None


@dataclass(frozen=True, slots=True)
class AgentOrder:
    """One execution of an agent.

    Attributes:
        command: Program and arguments, templates not filled in.
        files: What it finds and where.
        run: The id of the run that its calls belong to.
        cwd: Its working directory.
        input: The text for `{input}`; None where there is none.
        timeout_seconds: When it is ended; None for never.
        attached: Whether it shares the user's standard streams. Otherwise its standard
            input is empty, and nothing of it is shown.
        environ: The environment that the agent's is made from.
    """

    command: tuple[str, ...]
    files: AgentFiles
    run: str
    cwd: Path
    input: str | None = None
    timeout_seconds: float | None = None
    attached: bool = False
    environ: Mapping[str, str] = field(default_factory=lambda: os.environ)


@dataclass(frozen=True, slots=True)
class AgentResult:
    """How an agent ended.

    Attributes:
        exit_code: Its own; 128 plus the number of the signal that ended it, if one did.
        output: What it wrote to the output file, else its standard output without the
            final newline. Bytes that are not UTF-8 are replaced.
        seconds: How long it took, by a clock that is never set back.
        timed_out: The time-out in seconds that ended it, or None.
        stopped: The signal by which the user ended it, or None.
        is_output_cut: Whether its output was longer than is kept.
        last_words: The end of its standard error; empty where it was attached.
    """

    exit_code: int
    output: str
    seconds: float
    timed_out: float | None = None
    stopped: int | None = None
    is_output_cut: bool = False
    last_words: str = ""

    @property
    def failure(self) -> str | None:
        """Why it did not do its work, in a few words; None if it did."""
        if self.timed_out is not None:
            return f"timed out after {self.timed_out:g} s"
        if self.stopped is not None:
            return f"stopped by {signal_name(self.stopped)}"
        if self.exit_code:
            return _exit_text(self.exit_code)
        if self.is_output_cut:
            return f"its output is over {MAX_OUTPUT_BYTES} bytes"
        return None

    @property
    def state(self) -> State:
        """How its run ended, for the journal."""
        if self.stopped is not None:
            return "interrupted"
        return "ended" if self.failure is None else "failed"


def signal_name(sign: int) -> str:
    """Name a signal as users know it: `Ctrl-C`, else `SIGTERM` and the like."""
    return "Ctrl-C" if sign == signal.SIGINT else signal.Signals(sign).name


class Stop:
    """An order to end agents early: by a signal, or by another thread.

    Given once, an agent has time to end; given twice, it is killed.
    """

    def __init__(self) -> None:
        self.sign: int | None = None
        self.is_urgent = False

    def order(self, sign: int = signal.SIGTERM) -> None:
        """Give the order; safe within a signal handler."""
        self.is_urgent = self.sign is not None
        self.sign = self.sign or sign


@contextmanager
def stop_on_signals() -> Iterator[Stop]:
    """Turn INT, TERM and HUP into orders to stop, for as long as the block lasts.

    Signals that this process ignores (`nohup`, a shell's background job) stay ignored.
    """
    stop = Stop()

    def take(sign: int, _frame: FrameType | None) -> None:
        stop.order(sign)

    heard = [sign for sign in _SIGNALS if signal.getsignal(sign) is not signal.SIG_IGN]
    before = {sign: signal.signal(sign, take) for sign in heard}
    try:
        yield stop
    finally:
        for sign, handler in before.items():
            signal.signal(sign, handler)


def words_of(command: Sequence[str]) -> tuple[str, ...]:
    """Read an agent command; one given as a single word is split as a shell does.

    Raises:
        AgentError: If there is none, or its quotes do not match.
    """
    words = tuple(command)
    # Not by pathlib, to which what is too long for a path is an error.
    if len(words) == 1 and not os.path.isfile(words[0]):  # noqa: PTH113
        try:
            words = tuple(shlex.split(words[0]))
        except ValueError as error:
            raise AgentError(
                f"the agent command {command[0]!r} cannot be read: {error}",
                hint="close the quotes",
            ) from None
    if not words or not words[0]:
        raise AgentError(
            "there is no agent command",
            hint="give one, such as `-- python agent.py`, or to `run` --agent 'python agent.py'",
        )
    return words


def write_files(
    folder: Path,
    config: Mapping[str, JsonValue],
    *,
    input_text: str | None = None,
    memory: JsonValue = None,
) -> AgentFiles:
    """Write what an agent is to find; the files are for this user alone.

    Args:
        folder: A private folder that exists.
        config: The wrapped MCP config.
        input_text: The input, if there is one.
        memory: The task's memory seed, if it has one.
    """
    files = AgentFiles(
        folder=folder,
        config=folder / "mcp.json",
        output=folder / "output",
        events=folder / "events.jsonl",
        input=None if input_text is None else folder / "input",
        memory=None if memory is None else folder / "memory.json",
    )
    _write(files.config, dump(dict(config)) + "\n")
    _write(files.events, "")
    if files.input is not None and input_text is not None:
        _write(files.input, input_text)
    if files.memory is not None:
        _write(files.memory, dump(memory) + "\n")
    return files


def environment(order: AgentOrder) -> dict[str, str]:
    """Make the agent's environment."""
    files = order.files
    told = {
        variables.CONFIG_VARIABLE: files.config,
        variables.RUN_VARIABLE: order.run,
        variables.INPUT_VARIABLE: files.input,
        variables.OUTPUT_VARIABLE: files.output,
        variables.EVENTS_VARIABLE: files.events,
        variables.MEMORY_VARIABLE: files.memory,
    }
    # What an outer sidecar told is not for this agent.
    kept = {name: value for name, value in order.environ.items() if name not in told}
    return {**kept, **{name: str(value) for name, value in told.items() if value is not None}}


def filled(order: AgentOrder) -> tuple[str, ...]:
    """Fill in the templates; what is filled in is not looked at again.

    Raises:
        UsageError: If a template asks for an input, and there is none.
    """
    values = {
        "mcp_config": str(order.files.config),
        "input": order.input,
        "input_file": None if order.files.input is None else str(order.files.input),
        "output_file": str(order.files.output),
    }

    def value_of(match: re.Match[str]) -> str:
        value = values[match[1]]
        if value is None:
            raise UsageError(
                f"the agent command holds {match[0]}, but there is no input",
                hint="give one with --input",
            )
        return value

    return tuple(_TEMPLATE.sub(value_of, word) for word in order.command)


def run_agent(
    order: AgentOrder, *, stop: Stop | None = None, clock: Clock = SYSTEM_CLOCK
) -> AgentResult:
    """Run an agent to its end; nothing of it is left when this returns.

    Raises:
        AgentError: If it cannot be started.
        UsageError: If its command asks for an input, and there is none.
    """
    stop = stop or Stop()
    words = filled(order)
    since = clock.monotonic()
    process = AgentProcess(
        words,
        cwd=order.cwd,
        environ=environment(order),
        folder=order.files.folder,
        attached=order.attached,
    )

    def is_late() -> bool:
        limit = order.timeout_seconds
        return limit is not None and clock.monotonic() - since > limit

    try:
        process.wait(lambda: stop.sign is not None or is_late())
        was_running = process.exit_code() is None
        if was_running and stop.sign is not None:
            process.send(stop.sign, hurry=lambda: stop.is_urgent)
    finally:
        code = process.end(hurry=lambda: stop.is_urgent)
    written = _read_output(order.files.output)
    return AgentResult(
        exit_code=code,
        output=_text(process.output) if written is None else written,
        seconds=clock.monotonic() - since,
        timed_out=order.timeout_seconds if was_running and stop.sign is None else None,
        stopped=stop.sign if was_running else None,
        is_output_cut=process.is_output_cut and written is None,
        last_words=process.last_words,
    )


def _write(path: Path, text: str) -> None:
    path.touch(mode=0o600, exist_ok=False)
    # A lone surrogate may stand in an input; as an escape it can be written.
    path.write_bytes(text.encode(errors="backslashreplace"))


def _read_output(path: Path) -> str | None:
    """Read the output file; None if the agent wrote none. It may have made anything there."""
    try:
        if not stat.S_ISREG(path.stat().st_mode):
            return None
        with path.open("rb") as file:
            return file.read(MAX_OUTPUT_BYTES).decode(errors="replace")
    except OSError:
        return None


def _text(output: bytes) -> str:
    text = output.decode(errors="replace")
    return text.removesuffix("\n").removesuffix("\r")


def _exit_text(code: int) -> str:
    try:
        return f"ended by {signal.Signals(code - SIGNALLED).name}"
    except ValueError:
        return f"exit code {code}"
