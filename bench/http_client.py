"""The SDK's client over HTTP, as agents use it.

The SDK is imported where it is used: the other sections need not bear its weight.
"""

import asyncio
import time
from collections.abc import AsyncIterator, Callable, Coroutine, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar

from bench import http_workload
from bench.client import ContestantError
from bench.http_figures import AtOnce
from bench.http_workload import Call
from bench.workload import WrongAnswerError

if TYPE_CHECKING:
    from mcp import Client

_BOUND_SECONDS = 300.0  # for a part: far more than any takes, so that none hangs
_Found = TypeVar("_Found")


class Era(NamedTuple):
    """A way that the protocol is spoken.

    Attributes:
        revision: Its revision.
        mode: What makes the client speak it.
    """

    revision: str
    mode: Literal["legacy", "auto"]


ERAS = (Era("2025-11-25", "legacy"), Era("2026-07-28", "auto"))


class Caller:
    """A client that is connected."""

    def __init__(self, client: "Client") -> None:
        self._client = client

    async def timed(self, call: Call) -> int:
        """Make a call; tell how long it took, nanoseconds.

        Raises:
            WrongAnswerError: If the answer is not the right one.
        """
        begun = time.perf_counter_ns()
        text = await self._text(call)
        took = time.perf_counter_ns() - begun
        http_workload.check(call, text)
        return took

    async def wrong(self, calls: Sequence[Call]) -> int:
        """Make calls one after the other; count the wrong answers."""
        return sum([await self._text(call) != call.text for call in calls])

    async def steps(self, count: int, told: Callable[[int], None]) -> None:
        """Have the server count, and tell of each step as it comes.

        Raises:
            WrongAnswerError: If a step is missing or not in its place, or the end is.
        """
        steps: list[float] = []

        async def note(
            progress: float,
            total: float | None,  # noqa: ARG001  # the name is part of the protocol
            message: str | None,  # noqa: ARG001  # the name is part of the protocol
        ) -> None:
            steps.append(progress)
            told(len(steps))

        ends = Call("count", {"steps": count}, f"counted to {count}")
        answer = await self._client.call_tool(ends.tool, ends.arguments, progress_callback=note)
        http_workload.check(ends, _only_text(answer))
        http_workload.check_steps(steps, count)

    async def _text(self, call: Call) -> str | None:
        from mcp import MCPError  # noqa: PLC0415

        try:
            return _only_text(await self._client.call_tool(call.tool, call.arguments))
        except MCPError:
            return None


@asynccontextmanager
async def connected(url: str, era: Era) -> AsyncIterator[Caller]:
    """Connect a client, for as long as a block lasts.

    Raises:
        WrongAnswerError: If the server does not speak that era.
    """
    import httpx2  # noqa: PLC0415
    from mcp import Client  # noqa: PLC0415
    from mcp.client.streamable_http import streamable_http_client  # noqa: PLC0415

    # Reading the certificates for each client, which need none, would be most of its time.
    async with httpx2.AsyncClient(
        verify=False,
        trust_env=False,
        timeout=_BOUND_SECONDS,
    ) as http:
        transport = streamable_http_client(url, http_client=http, max_sse_event_size=None)
        async with Client(transport, mode=era.mode) as client:
            if client.protocol_version != era.revision:
                raise WrongAnswerError(f"{client.protocol_version} was spoken, not {era.revision}")
            yield Caller(client)


async def calls_at_once(url: str, era: Era, series: Sequence[Sequence[Call]]) -> AtOnce:
    """Let clients that are connected call at the same time, each its own series."""
    async with AsyncExitStack() as clients:
        callers = [await clients.enter_async_context(connected(url, era)) for _ in series]
        begun = time.perf_counter_ns()
        parts = zip(callers, series, strict=True)
        wrong = await _all([caller.wrong(calls) for caller, calls in parts])
        return AtOnce(time.perf_counter_ns() - begun, sum(wrong))


async def sessions_at_once(url: str, era: Era, series: Sequence[Sequence[Call]]) -> AtOnce:
    """Let clients connect, call and leave at the same time, each its own series."""

    async def session(calls: Sequence[Call]) -> int:
        async with connected(url, era) as caller:
            return await caller.wrong(calls)

    begun = time.perf_counter_ns()
    wrong = await _all([session(calls) for calls in series])
    return AtOnce(time.perf_counter_ns() - begun, sum(wrong))


def run(work: Coroutine[Any, Any, _Found]) -> _Found:
    """Run one part of what is measured.

    Raises:
        WrongAnswerError: If an answer was not the right one.
        ContestantError: If one did not come.
    """
    try:
        return asyncio.run(_bounded(work))
    except Exception as error:  # whatever a client meets, in groups of groups
        first = first_of(error)
        if isinstance(first, WrongAnswerError):
            raise first from None
        raise ContestantError(f"{type(first).__name__}: {first}") from error


def first_of(error: BaseException) -> BaseException:
    """The first error that is no group of errors: in task groups all become groups."""
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return error


async def _bounded(work: Coroutine[Any, Any, _Found]) -> _Found:
    async with asyncio.timeout(_BOUND_SECONDS):
        return await work


async def _all(parts: Sequence[Coroutine[Any, Any, _Found]]) -> list[_Found]:
    async with asyncio.TaskGroup() as group:
        tasks = [group.create_task(part) for part in parts]
    return [task.result() for task in tasks]


def _only_text(answer: Any) -> str | None:  # noqa: ANN401  # one of the SDK's
    blocks = answer.content
    return None if answer.is_error or len(blocks) != 1 else getattr(blocks[0], "text", None)
