"""The order to stop: never an exception in the middle of something, always an end."""

import signal
import subprocess
from contextlib import suppress

import pytest

from tests.paths import PYTHON

SIGNALS = [signal.SIGTERM, signal.SIGINT, signal.SIGHUP]
WAIT_SECONDS = 20.0
START = """
import os, select, signal, sys
from sidecar.proxy import stopping
def ready(): os.write(1, b"ready\\n")
def polled(order, ms):
    poller = select.poll()
    poller.register(order.descriptor, select.POLLIN)
    return bool(poller.poll(ms))
for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP): signal.signal(sign, signal.SIG_DFL)
order = stopping.StopOrder()
"""
OBEYS = "order.listen(); ready(); polled(order, 20_000); print(order.sign); sys.stdout.flush()"


def ran(script: str, *signs: signal.Signals) -> tuple[int, str]:
    """Run a script, send it signals once it is ready; return its exit code and the rest.

    Its input ends after the signals.
    """
    with subprocess.Popen(
        [PYTHON, "-c", START + script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            assert process.stdout.readline() == "ready\n"
            for sign in signs:
                process.send_signal(sign)
            process.stdin.close()
            said = process.stdout.read()  # to its end; pytest bounds it
            code = process.wait(WAIT_SECONDS)
        finally:
            process.kill()
    return code, said


@pytest.mark.parametrize("sign", SIGNALS)
def test_a_signal_wakes_the_one_that_polls(sign: signal.Signals) -> None:
    assert ran(OBEYS, sign) == (0, f"{sign.value}\n")


def test_the_first_signal_counts_and_others_do_no_harm() -> None:
    script = "order.listen(); ready(); sys.stdin.read(); print(order.sign, polled(order, 0))"

    assert ran(script, signal.SIGINT, signal.SIGINT) == (0, "2 True\n")


def test_a_wake_is_no_order_and_any_number_of_them_never_waits() -> None:
    script = "for _ in range(100_000): order.wake()\nready(); print(order.sign, polled(order, 0))"

    assert ran(script) == (0, "None True\n")


def test_a_wake_that_was_seen_is_over_and_a_signal_wakes_again() -> None:
    script = (
        "order.listen(); order.wake(); order.wake(); order.woken(); before = polled(order, 0)\n"
        "ready(); print(before, polled(order, 20_000), order.sign)"
    )

    assert ran(script, signal.SIGTERM) == (0, "False True 15\n")


def test_there_is_nothing_to_see_at_first() -> None:
    assert ran("order.listen(); ready(); print(order.sign, polled(order, 0))") == (
        0,
        "None False\n",
    )


def test_a_proxy_that_is_stuck_is_ended_after_a_time() -> None:
    stuck = (
        "stopping._FORCED_SECONDS = 1\norder.listen()\n"
        "here, there = os.pipe(); ready()\n"
        "while True: os.write(there, b'x' * 65536)"
    )

    with subprocess.Popen(
        [PYTHON, "-c", START + stuck], stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        while process.poll() is None:  # the first may come before it is stuck
            process.send_signal(signal.SIGTERM)
            with suppress(subprocess.TimeoutExpired):
                process.wait(0.2)

    assert process.returncode == -signal.SIGALRM


def test_a_hangup_that_nohup_has_ignored_stays_ignored() -> None:
    script = (
        "signal.signal(signal.SIGHUP, signal.SIG_IGN); order.listen(); ready()\n"
        "print(sys.stdin.readline(), order.sign)"
    )
    with subprocess.Popen(
        [PYTHON, "-c", START + script], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        process.send_signal(signal.SIGHUP)
        said, _ = process.communicate("on", timeout=WAIT_SECONDS)

    assert (process.returncode, said) == (0, "on None\n")
