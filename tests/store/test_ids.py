import os
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.errors import UsageError
from sidecar.store import ids

ALPHABET = set("0123456789ABCDEFGHJKMNPQRSTVWXYZ")


def test_a_run_id_is_local_and_a_ulid_of_its_time() -> None:
    assert ids.new_run_id(1469918176.385, bytes(10)) == "local/01ARYZ6S410000000000000000"
    assert ids.new_run_id(0.0, b"\xff" * 10) == "local/0000000000ZZZZZZZZZZZZZZZZ"


def test_a_later_run_has_a_greater_id() -> None:
    assert ids.new_run_id(1.000, b"\xff" * 10) < ids.new_run_id(1.001, bytes(10))


@given(st.floats(0, 4e9), st.binary(min_size=10, max_size=10))
def test_every_run_id_is_one_that_is_accepted(now: float, randomness: bytes) -> None:
    run_id = ids.new_run_id(now, randomness)

    assert ids.checked(run_id) == run_id
    assert len(ids.ulid_of(run_id)) == ids.ULID_LENGTH
    assert set(ids.ulid_of(run_id)) <= ALPHABET


def test_the_sidecars_of_one_agent_derive_the_same_run() -> None:
    start = ids.process_start(os.getpid())
    derived = ids.run_id_of_process(os.getpid(), start)
    script = (
        "import os; from sidecar.store import ids; pid = os.getppid();"
        "print(ids.run_id_of_process(pid, ids.process_start(pid)))"
    )

    told = [
        subprocess.run(
            [sys.executable, "-c", script], capture_output=True, text=True, timeout=30, check=True
        ).stdout.strip()
        for _ in range(2)
    ]

    assert start
    assert told == [derived, derived]
    assert ids.checked(derived) == derived


def test_a_reused_pid_is_another_run() -> None:
    assert ids.run_id_of_process(7, "boot 1") != ids.run_id_of_process(7, "boot 2")
    assert ids.run_id_of_process(7, "boot 1") != ids.run_id_of_process(8, "boot 1")
    assert ids.run_id_of_process(7, "boot 1") == ids.run_id_of_process(7, "boot 1")


def test_a_process_that_is_gone_has_no_start() -> None:
    child = subprocess.Popen([sys.executable, "-c", ""])
    child.wait(timeout=30)

    assert not ids.process_start(child.pid)


def test_where_there_is_no_proc_the_start_is_told_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    monkeypatch.setattr("os.path.isdir", lambda _: False)

    starts = [ids.process_start(pid) for pid in (child.pid, child.pid, os.getpid())]
    child.communicate(timeout=30)

    assert starts[0] == starts[1] != starts[2]
    assert float(starts[0]) > float(starts[2])
    assert not ids.process_start(child.pid)


@pytest.mark.parametrize(
    "run_id",
    [
        pytest.param("", id="empty"),
        pytest.param("01ARZ3NDEKTSV4RRFFQ69G5FAV", id="no tenant"),
        pytest.param("/01ARZ3NDEKTSV4RRFFQ69G5FAV", id="an empty tenant"),
        pytest.param("local/short", id="too short"),
        pytest.param("local/" + "a" * 111, id="too long for an event id"),
        pytest.param("local/../../01ARZ3NDEKTSV4RR", id="a path"),
        pytest.param("local/01ARZ3NDEKTSV4RRFFQ69G5FA\n", id="a line end"),
        pytest.param("local/01ARZ3NDEKTSV4RRFFQ69G5FÄ", id="a letter beyond ASCII"),
    ],
)
def test_what_is_no_run_id_is_refused_with_the_next_step(run_id: str) -> None:
    with pytest.raises(UsageError, match="is no run id; a run id is"):
        ids.checked(run_id)
