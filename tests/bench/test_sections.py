"""Every section runs, and measures whom it should. No test here looks at a time."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from bench import (
    at_once,
    big,
    grading,
    growth,
    imports,
    memory,
    over_http,
    record,
    replay,
    size,
    startup,
)
from bench.frame import Bench, Scale, Section

_FEW = Scale(
    calls=6,
    round_calls=3,
    warm_up_calls=2,
    starts=1,
    bigs=1,
    bursts=1,
    burst_calls=5,
    growth_calls=12,
    growth_edge=4,
    kept_calls=4,
    imports=1,
    graded_tasks=2,
    http_calls=3,
    http_bigs=1,
    http_rounds=1,
    http_series=2,
    http_sessions=3,
    http_events=4,
)
_ALL = ("direct", "relay", "mcp-rec", "ours")
_PROXIES = ("relay", "mcp-rec", "ours")
_REPLAYING = ("direct", "mcp-rec", "ours")
_KEEPING = ("mcp-rec", "ours")


@pytest.fixture(scope="module")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    with Bench(_FEW, tmp_path_factory.mktemp("bench")) as bench:
        yield bench


@pytest.mark.parametrize(
    ("section", "measured"),
    [
        pytest.param(
            record.measure,
            {
                "a call, p50": _ALL,
                "a call, p95": _ALL,
                "added p50": _PROXIES,
                "added p95": _PROXIES,
                "CPU of the proxy, a call": _PROXIES,
            },
            id="record",
        ),
        pytest.param(
            replay.measure,
            {
                "a call, p50": _REPLAYING,
                "a call, p95": _REPLAYING,
                "CPU of the proxy, a call": _KEEPING,
            },
            id="replay",
        ),
        pytest.param(
            startup.measure,
            {
                "record": _ALL,
                "record, added": _PROXIES,
                "record, CPU of the proxy": _PROXIES,
                "replay": _REPLAYING,
                "replay, CPU of the proxy": _KEEPING,
                "record, first ever": ("ours",),
            },
            id="start-up",
        ),
        pytest.param(
            big.measure,
            {
                "record": _ALL,
                "record, CPU of the proxy": _PROXIES,
                "replay": _REPLAYING,
                "replay, CPU of the proxy": _KEEPING,
            },
            id="5 MB result",
        ),
        pytest.param(at_once.measure, {"record": _ALL, "replay": _REPLAYING}, id="at once"),
        pytest.param(
            memory.measure,
            {
                "record, 4 calls": _PROXIES,
                "record, and a 5 MB result": _PROXIES,
                "replay, 4 calls": _KEEPING,
                "replay, and a 5 MB result": _KEEPING,
            },
            id="memory",
        ),
        pytest.param(
            growth.measure,
            {
                "p50, last / first calls": _REPLAYING,
                "CPU, last / first calls": _KEEPING,
                "peak memory": _KEEPING,
            },
            id="growth",
        ),
        pytest.param(size.measure, {"size of 4 calls": _KEEPING}, id="size"),
        pytest.param(
            imports.measure,
            {
                "record, time": _PROXIES,
                "record, modules": _PROXIES,
                "replay, time": _KEEPING,
                "replay, modules": _KEEPING,
            },
            id="imports",
        ),
        pytest.param(
            grading.measure,
            {
                "a log of 500 calls": ("ours",),
                "peak memory": ("ours",),
                "CPU a call, all / a quarter": ("ours",),
                "1,000 calls against 1,000": ("ours",),
            },
            id="grading",
        ),
    ],
)
def test_a_section_measures_every_contestant(
    bench: Bench, section: Section, measured: dict[str, tuple[str, ...]]
) -> None:
    lines = section(bench)

    assert {line.name: tuple(line.values) for line in lines} == measured


@pytest.mark.timeout(300)
def test_http_is_measured_in_both_eras(bench: Bench) -> None:
    lines = over_http.measure(bench)

    for revision in ("2025-11-25", "2026-07-28"):
        found = {line.name: line for line in lines if line.section == f"HTTP, {revision}"}
        assert tuple(found["record, a call, p50"].values) == ("direct", "ours")
        assert [line.values["ours"] for name, line in found.items() if "wrong" in name] == [0] * 4
        assert len(found) == 23


def test_nothing_is_left_behind(tmp_path: Path) -> None:
    with Bench(_FEW, tmp_path) as bench:
        size.measure(bench)

    assert list(tmp_path.iterdir()) == []
