import pytest

from bench import http_figures, table
from bench.http_figures import AtOnce, Found, OneByOne, Size
from bench.measures import Line

MS = 1_000_000
SIZE = Size(clients=5, series=2, sessions=3, session_calls=4, events=1000)
FOUND = Found(
    OneByOne(
        {"direct": [4 * MS, 2 * MS, 4 * MS], "record": [5 * MS] * 3, "replay": [1 * MS] * 3},
        {"direct": [10 * MS], "record": [25 * MS], "replay": [5 * MS]},
        {"record": 3 * MS, "replay": 6 * MS},
    ),
    {
        "direct": [AtOnce(20 * MS, 0)],
        "record": [AtOnce(40 * MS, 0)],
        "replay": [AtOnce(10 * MS, 0)],
    },
    {
        "direct": [AtOnce(20 * MS, 0), AtOnce(40 * MS, 0)],
        "record": [AtOnce(30 * MS, 1), AtOnce(60 * MS, 2)],
        "replay": [AtOnce(10 * MS, 0), AtOnce(20 * MS, 0)],
    },
    1.05,
)


def _lines() -> dict[str, Line]:
    return {line.name: line for line in http_figures.lines("HTTP", SIZE, FOUND)}


@pytest.mark.parametrize(
    ("name", "value", "is_right"),
    [
        pytest.param("record, a call, p50 / direct", 1.25, True, id="at the limit"),
        pytest.param("replay, a call, p50 / direct", 0.25, True, id="faster"),
        pytest.param("record, 5 MB result / direct", 2.5, False, id="over the limit"),
        pytest.param("replay, 5 MB result / direct", 0.5, None, id="without a limit"),
        pytest.param("record, 5 calls at once / direct", 2.0, None, id="calls at once"),
        pytest.param("replay, 3 sessions at once / direct", 0.5, None, id="the middle round"),
        pytest.param("record, wrong of 10 such calls", 0, True, id="none wrong"),
        pytest.param("record, wrong of 12 calls in them", 3, False, id="those of all rounds"),
        pytest.param("record, CPU of the proxy, a call", 1000, None, id="processor time"),
        pytest.param("1,000 events: memory, last / first", 1.05, True, id="growth"),
    ],
)
def test_a_figure_is_judged_by_its_limit(
    name: str,
    value: float,
    is_right: bool | None,  # noqa: FBT001
) -> None:
    line = _lines()[name]

    assert line.values == {"ours": pytest.approx(value)}
    assert table.verdict(line).at_or_below is is_right


def test_times_stand_beside_those_of_the_bare_server_and_of_peers_elsewhere() -> None:
    lines = _lines()

    assert lines["record, a call, p50"].values == {"direct": 4.0, "ours": 5.0}
    # So many calls of each client: what one round of them took.
    assert lines["record, 5 calls at once"].values == {"direct": 10.0, "ours": 20.0}
    assert [name for name, line in lines.items() if line.elsewhere] == [
        *("record, a call, p50", "replay, a call, p50"),
        *("record, 5 MB result", "record, 5 calls at once"),
    ]


def test_the_last_quarter_is_compared_with_the_first() -> None:
    assert http_figures.last_over_first([10, 10, 99, 99, 99, 1, 20, 20]) == 2.0


def test_one_value_has_not_grown() -> None:
    assert http_figures.last_over_first([10]) == 1.0
