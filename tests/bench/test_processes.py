import os
import subprocess
import sys

from bench import processes

# The child is told of when it works: for a moment, a program that begins has no command line.
_PARENT = """
import subprocess, sys
code = "import sys; print(flush=True); sys.stdin.read()  # the-server"
child = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
child.stdout.readline()
print(child.pid, flush=True)
sys.stdin.read()
"""


def test_the_tree_holds_all_but_the_server() -> None:
    with subprocess.Popen(
        [sys.executable, "-c", _PARENT], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as parent:
        assert parent.stdin is not None
        assert parent.stdout is not None
        child = int(parent.stdout.readline())

        assert processes.tree(parent.pid, without="nobody") == [parent.pid, child]
        # The root has the word too, in the program that it was given.
        assert processes.tree(parent.pid, without="the-server") == [parent.pid]

        parent.stdin.close()


def test_processor_time_is_that_of_the_process_in_nanoseconds() -> None:
    before = processes.cpu_ns([os.getpid()])

    sum(range(200_000))

    assert 0 < before < processes.cpu_ns([os.getpid()])


def test_peak_memory_is_in_bytes_and_adds_up() -> None:
    one = processes.peak_bytes([os.getpid()])

    assert one > 1 << 20
    assert processes.peak_bytes([os.getpid(), os.getpid()]) >= 2 * one


def test_memory_that_is_held_now_is_no_more_than_the_peak() -> None:
    held = processes.held_bytes(os.getpid())

    assert 1 << 20 < held <= processes.peak_bytes([os.getpid()])
