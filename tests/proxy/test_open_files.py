"""How many files may be open, for the sidecar and for what it starts."""

from __future__ import annotations

import resource
from collections.abc import Iterator

import pytest

from sidecar.proxy import open_files
from sidecar.proxy.child import Child

# The guard is a fork; where tests run in several processes, these have threads of their own.
pytestmark = pytest.mark.filterwarnings("ignore:.*multi-threaded.*:DeprecationWarning")


@pytest.fixture
def given(monkeypatch: pytest.MonkeyPatch) -> Iterator[tuple[int, int]]:
    """A limit of this process that can be raised by one."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = (before[1] - 1, before[1])
    resource.setrlimit(resource.RLIMIT_NOFILE, limit)
    monkeypatch.setattr(open_files, "_limit", open_files._Limit())
    yield limit
    resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_server_gets_the_limit_that_the_sidecar_was_given(given: tuple[int, int]) -> None:
    open_files.allow_many()
    child = Child(["cat"])

    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (given[1], given[1])
    assert resource.prlimit(child._pid, resource.RLIMIT_NOFILE) == given
    child.stop(5.0)


def test_a_process_that_has_ended_is_no_error(given: tuple[int, int]) -> None:
    open_files.allow_many()
    open_files.give_back(2**22 + 1)  # over all that Linux numbers

    assert resource.getrlimit(resource.RLIMIT_NOFILE) == (given[1], given[1])
