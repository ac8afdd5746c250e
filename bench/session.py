"""Started contestants, and the calls that are made of them."""

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from bench import contestants, processes, workload
from bench.client import Client, Launch, bounded
from bench.measures import MEGA, rotated
from bench.workload import Request

_BOUND_SECONDS = 120.0  # for a batch of calls: far more than any takes, so that none hangs


class Timing(NamedTuple):
    """What one contestant's calls took.

    Attributes:
        took_ns: Each call, in order.
        cpu_ns: Processor time of the contestant for all of them, the server's left out.
    """

    took_ns: list[int]
    cpu_ns: int


class Session:
    """A started contestant that has answered the handshake.

    Attributes:
        client: Speaks to it.
        start_ns: From before its process was made until `initialize` was answered.
        start_cpu_ns: Its processor time until then, the server's left out.
    """

    def __init__(self, launch: Launch) -> None:
        begun = time.perf_counter_ns()
        self.client = Client(launch)
        try:
            with bounded(_BOUND_SECONDS):
                answer = self.client.exchange(workload.handshake())
            self.start_ns = time.perf_counter_ns() - begun
            self.start_cpu_ns = processes.cpu_ns(self.pids())
            workload.check_handshake(answer.data)
            self.client.say(workload.greeting())
        except BaseException:
            self.client.kill()
            raise

    def pids(self) -> list[int]:
        """The contestant's processes, the server's left out unless it is the contestant."""
        return processes.tree(self.client.process.pid, without=str(contestants.SERVER))

    def peak_bytes(self) -> int:
        """The most memory that the contestant's processes held so far."""
        return processes.peak_bytes(self.pids())

    def calls(self, requests: Sequence[Request]) -> Timing:
        """Make calls one after the other; each answer is looked at before the next call.

        Raises:
            WrongAnswerError: If an answer is not the right one.
            ContestantError: If one does not come.
        """
        took: list[int] = []
        pids = self.pids()
        before = processes.cpu_ns(pids)
        exchange = self.client.exchange
        with bounded(_BOUND_SECONDS):
            for request in requests:
                answer = exchange(request.line)
                took.append(answer.took_ns)
                workload.check(request, answer.data)
        return Timing(took, processes.cpu_ns(pids) - before)

    def burst(self, requests: Sequence[Request]) -> Timing:
        """Make calls all at once; the one time is that until the last answer.

        Raises:
            WrongAnswerError: If an answer is not the right one.
            ContestantError: If one does not come.
        """
        lines = b"".join(request.line for request in requests)
        pids = self.pids()
        before = processes.cpu_ns(pids)
        with bounded(_BOUND_SECONDS):
            answers = self.client.exchange_all(lines, len(requests))
        cpu = processes.cpu_ns(pids) - before
        workload.check_all(requests, answers.data.splitlines())
        return Timing([answers.took_ns], cpu)


@contextlib.contextmanager
def sessions(launches: Mapping[str, Launch]) -> Iterator[dict[str, Session]]:
    """Start contestants; at the end close their input, and wait until they have gone."""
    started: dict[str, Session] = {}
    try:
        for name, launch in launches.items():
            started[name] = Session(launch)
        yield started
        for session in started.values():
            session.client.close()
    finally:
        for session in started.values():
            session.client.kill()


def peaks(started: Mapping[str, Session]) -> dict[str, float]:
    """Look at the peak memory of all but the bare server, MB."""
    return {
        name: session.peak_bytes() * MEGA
        for name, session in started.items()
        if name != contestants.DIRECT
    }


def interleaved(
    started: Mapping[str, Session], requests: Sequence[Request], *, round_calls: int
) -> dict[str, Timing]:
    """Make the same calls of all contestants, in rounds, so that a busy machine is fair."""
    parts = {name: (session, requests) for name, session in started.items()}
    return in_turns(parts, round_calls=round_calls)


def in_turns(
    parts: Mapping[str, tuple[Session, Sequence[Request]]], *, round_calls: int
) -> dict[str, Timing]:
    """Make calls of several sessions, equally many of each, in rounds of so many."""
    timings = {name: Timing([], 0) for name in parts}
    count = max(len(requests) for _, requests in parts.values())
    for turn, begin in enumerate(range(0, count, round_calls)):
        for name in rotated(list(parts), turn):
            session, requests = parts[name]
            took, cpu = session.calls(requests[begin : begin + round_calls])
            timings[name].took_ns.extend(took)
            timings[name] = timings[name]._replace(cpu_ns=timings[name].cpu_ns + cpu)
    return timings
