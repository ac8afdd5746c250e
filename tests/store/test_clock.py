import pytest

from sidecar.store.clock import SYSTEM_CLOCK, Clock


@pytest.mark.parametrize(
    ("now", "text"),
    [
        pytest.param(0.0, "1970-01-01T00:00:00.000Z", id="the epoch"),
        pytest.param(1_796_000_000.25, "2026-11-30T00:53:20.250Z", id="milliseconds"),
        pytest.param(1_796_000_000.9996, "2026-11-30T00:53:20.999Z", id="never a second ahead"),
    ],
)
def test_a_timestamp_is_iso_8601_in_utc(now: float, text: str) -> None:
    assert Clock(now=lambda: now, monotonic=lambda: 0.0).timestamp() == text


def test_the_system_clock_goes_on() -> None:
    before = SYSTEM_CLOCK.monotonic()

    assert SYSTEM_CLOCK.monotonic() >= before
    assert SYSTEM_CLOCK.timestamp()[:2] == "20"
