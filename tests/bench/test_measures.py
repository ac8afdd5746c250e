import pytest
from hypothesis import given
from hypothesis import strategies as st

from bench.measures import added, median, percentile, rotated


@pytest.mark.parametrize(
    ("percent", "expected"),
    [
        pytest.param(50, 2.0, id="half of them"),
        pytest.param(75, 3.0, id="three of four"),
        pytest.param(95, 4.0, id="all but less than one"),
        pytest.param(100, 4.0, id="all"),
        pytest.param(0, 1.0, id="none is still the least"),
    ],
)
def test_a_percentile_is_one_of_the_values(percent: float, expected: float) -> None:
    assert percentile([4.0, 1.0, 3.0, 2.0], percent) == expected


@given(st.lists(st.floats(0, 1e9), min_size=1), st.integers(1, 100))
def test_at_least_so_many_percent_are_not_above_the_percentile(
    values: list[float], percent: int
) -> None:
    limit = percentile(values, percent)

    assert sum(value <= limit for value in values) >= len(values) * percent / 100


def test_no_values_have_no_percentile() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)


def test_the_median_of_an_even_number_is_between_the_middle_two() -> None:
    assert median([4, 1, 2, 9]) == 3.0


def test_what_is_added_leaves_out_what_it_is_added_to() -> None:
    assert added({"direct": 10.0, "relay": 25.0, "ours": 18.0}, "direct") == {
        "relay": 15.0,
        "ours": 8.0,
    }


def test_in_as_many_rounds_as_there_are_names_each_has_each_place_once() -> None:
    rounds = [rotated(["a", "b", "c"], turn) for turn in range(3)]

    assert rounds == [["a", "b", "c"], ["b", "c", "a"], ["c", "a", "b"]]
    assert rotated(["a", "b", "c"], 3) == rounds[0]
