"""HTTP, in both eras: the SDK's client and server, with nothing or the sidecar between them."""

from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack

from bench import http_client, http_figures, http_places, http_workload, processes
from bench.contestants import DIRECT
from bench.frame import Bench, Scale
from bench.http_client import ERAS, Caller, Era
from bench.http_figures import RECORD, REPLAY, AtOnce, Found, OneByOne, Size
from bench.http_places import Place
from bench.http_workload import Call
from bench.measures import Line, rotated

_SESSION_CALLS = 3
_SAMPLES = 40  # of the memory, in the life of a stream


def measure(bench: Bench) -> list[Line]:
    """Measure both eras before one server."""
    scale = bench.scale
    size = Size(
        clients=scale.burst_calls,
        series=scale.http_series,
        sessions=scale.http_sessions,
        session_calls=_SESSION_CALLS,
        events=scale.http_events,
    )
    lines: list[Line] = []
    with http_places.server() as server:
        for era in ERAS:
            calling, coming = _crowds(bench, era, server)
            one_by_one, growth = _one_by_one(bench, era, server), _growth(bench, era, server)
            found = Found(one_by_one, calling, coming, growth)
            lines += http_figures.lines(f"HTTP, {era.revision}", size, found)
    return lines


def _one_by_one(bench: Bench, era: Era, server: Place) -> OneByOne:
    """Record all calls; then make them of the server, of a recorder and of that recording."""
    tape, other = bench.new_folder(), bench.new_folder()
    with http_places.recording(tape, server.url) as recorder:
        http_client.run(_in_turns({RECORD: recorder}, era, bench.scale))
    with (
        http_places.recording(other, server.url) as recorder,
        http_places.replaying(tape) as replayer,
    ):
        places = {DIRECT: server, RECORD: recorder, REPLAY: replayer}
        return http_client.run(_in_turns(places, era, bench.scale))


async def _in_turns(places: Mapping[str, Place], era: Era, scale: Scale) -> OneByOne:
    small = http_workload.small_calls(scale.warm_up_calls + scale.http_calls)
    warm, counted = small[: scale.warm_up_calls], small[scale.warm_up_calls :]
    big = [http_workload.big_call()] * (scale.http_bigs + 1)
    pids = {who: place.pid for who, place in places.items() if who != DIRECT}
    async with AsyncExitStack() as clients:
        callers = {
            who: await clients.enter_async_context(http_client.connected(place.url, era))
            for who, place in places.items()
        }
        await _called(callers, warm, scale.round_calls)
        before = {who: processes.cpu_ns([pid]) for who, pid in pids.items()}
        took = await _called(callers, counted, scale.round_calls)
        cpu = {who: processes.cpu_ns([pid]) - before[who] for who, pid in pids.items()}
        await _called(callers, big[:1], 1)
        return OneByOne(took, await _called(callers, big[1:], 1), cpu)


async def _called(
    callers: Mapping[str, Caller], calls: Sequence[Call], round_calls: int
) -> dict[str, list[int]]:
    took: dict[str, list[int]] = {who: [] for who in callers}
    for turn, begin in enumerate(range(0, len(calls), round_calls)):
        for who in rotated(list(callers), turn):
            for call in calls[begin : begin + round_calls]:
                took[who].append(await callers[who].timed(call))
    return took


def _crowds(
    bench: Bench, era: Era, server: Place
) -> tuple[dict[str, list[AtOnce]], dict[str, list[AtOnce]]]:
    """Let many clients call at once, and many come at once; then replay what they did."""
    calling: dict[str, list[AtOnce]] = {who: [] for who in (DIRECT, RECORD, REPLAY)}
    coming: dict[str, list[AtOnce]] = {who: [] for who in (DIRECT, RECORD, REPLAY)}

    def crowd(who: str, place: Place, title: str) -> None:
        here = http_workload.many_series(
            f"{title}, calling", bench.scale.burst_calls, bench.scale.http_series
        )
        new = http_workload.many_series(
            f"{title}, coming", bench.scale.http_sessions, _SESSION_CALLS
        )
        calling[who].append(http_client.run(http_client.calls_at_once(place.url, era, here)))
        coming[who].append(http_client.run(http_client.sessions_at_once(place.url, era, new)))

    for turn in range(bench.scale.http_rounds):
        folder = bench.new_folder()
        title = f"{era.revision}, round {turn}"
        with http_places.recording(folder, server.url) as recorder:
            places = {DIRECT: server, RECORD: recorder}
            for who in rotated(list(places), turn):
                crowd(who, places[who], f"{title}, {who}")  # the server counts for each anew
        with http_places.replaying(folder) as replayer:
            crowd(REPLAY, replayer, f"{title}, {RECORD}")
    return calling, coming


def _growth(bench: Bench, era: Era, server: Place) -> float:
    """Look at the sidecar's memory during a long stream."""
    with http_places.recording(bench.new_folder(), server.url) as recorder:
        held = http_client.run(_streamed(recorder, era, bench.scale.http_events))
    return http_figures.last_over_first(held)


async def _streamed(place: Place, era: Era, events: int) -> list[int]:
    held: list[int] = []

    def look(number: int) -> None:
        if number % max(events // _SAMPLES, 1) == 0:
            held.append(processes.held_bytes(place.pid))

    async with http_client.connected(place.url, era) as caller:
        await caller.steps(events, look)
    return held
