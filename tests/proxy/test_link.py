"""Both kinds of live servers are what `LiveServer` speaks with."""

from __future__ import annotations

from sidecar.proxy.child import Child
from sidecar.proxy.http.remote.remote import Remote
from sidecar.proxy.link import Link
from tests import paths


def test_a_process_is_a_link_whose_lines_come_back_and_which_ends() -> None:
    link: Link = Child((paths.PYTHON, "-c", "print(input())"))

    assert link.stdin.begin(b'"hi"\n') == 5
    assert _read_all(link.stdout) == b'"hi"\n'
    assert link.wait(30) == 0
    assert link.stop(5) == 0


def test_a_server_at_a_url_is_a_link_too() -> None:
    made: type[Link] = Remote

    assert made is Remote


def _read_all(descriptor: int) -> bytes:
    with open(descriptor, "rb") as stream:
        return stream.read()
