"""What a proxy is told: values that do not change."""

import pytest

from sidecar.proxy.options import MODES, ProxyOptions


def options() -> ProxyOptions:
    return ProxyOptions("git", "record", ("cmd",), None, "journal.db", "local/x")


def test_what_is_not_said_is_as_users_are_told() -> None:
    assert options() == ProxyOptions(
        server="git",
        mode="record",
        command=("cmd",),
        cassette=None,
        journal="journal.db",
        run="local/x",
        agent_id=None,
        on_miss="fail",
        overwrite=False,
        max_message_bytes=268_435_456,
        drain_seconds=5.0,
        grace_seconds=2.0,
    )


def test_options_do_not_change() -> None:
    with pytest.raises(AttributeError):
        options().mode = "replay"  # type: ignore[misc]


def test_these_are_the_modes() -> None:
    assert MODES == ("record", "replay", "auto", "passthrough")
