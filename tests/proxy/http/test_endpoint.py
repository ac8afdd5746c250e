"""What `serve` does where it is told nothing else."""

from __future__ import annotations

from sidecar.proxy.http.endpoint import Limits, ServedServer, ServeOptions


def test_h20_only_this_machine_can_reach_it_unless_it_is_told_otherwise() -> None:
    options = ServeOptions((), "record", "/journal.db", "local/x")

    assert (options.host, options.token, options.allowed_hosts) == ("127.0.0.1", None, ())


def test_a_miss_fails_unless_it_is_told_otherwise() -> None:
    assert ServeOptions((), "replay", "/journal.db", "local/x").on_miss == "fail"


def test_h15_every_wait_has_a_bound() -> None:
    seconds = [value for name, value in Limits()._asdict().items() if name.endswith("_seconds")]

    assert len(seconds) == 7
    assert all(value > 0 for value in seconds)


def test_a_server_is_neither_started_nor_called_unless_its_entry_says_how() -> None:
    assert ServedServer("up") == ("up", (), (), None, (), None, None)
