"""Maximum matching: right on every small graph, fast on large ones."""

import itertools
import time
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.grading.matching import NONE, bits, maximum_matching

GRAPHS = st.integers(0, 6).flatmap(
    lambda columns: st.tuples(
        st.lists(st.integers(0, (1 << columns) - 1), max_size=6), st.just(columns)
    )
)


def brute_force(rows: list[int]) -> int:
    """Try every assignment."""
    choices = [[NONE, *bits(row)] for row in rows]
    return max(
        sum(column != NONE for column in chosen)
        for chosen in itertools.product(*choices)
        if len(set(chosen) - {NONE}) == sum(column != NONE for column in chosen)
    )


@given(GRAPHS)
def test_r11_as_many_are_matched_as_brute_force_finds(graph: tuple[list[int], int]) -> None:
    rows, columns = graph

    matched = maximum_matching(rows, columns)

    taken = [column for column in matched if column != NONE]
    assert len(taken) == len(set(taken)) == brute_force(rows)
    assert all(row >> at & 1 for row, at in zip(rows, matched, strict=True) if at != NONE)


@given(GRAPHS, st.randoms(use_true_random=False))
def test_r8_the_order_of_the_rows_makes_no_difference(
    graph: tuple[list[int], int], random: Any
) -> None:
    rows, columns = graph
    shuffled = list(rows)
    random.shuffle(shuffled)

    assert _size(shuffled, columns) == _size(rows, columns)


def _size(rows: list[int], columns: int) -> int:
    return sum(column != NONE for column in maximum_matching(rows, columns))


@pytest.mark.parametrize(
    ("rows", "columns", "size"),
    [
        pytest.param([], 0, 0, id="nothing"),
        pytest.param([0b1, 0b0], 1, 1, id="a row without a column"),
        pytest.param([0b11, 0b01], 2, 2, id="T8 first-fit takes the wrong one"),
        pytest.param([0b011, 0b110, 0b010], 3, 3, id="a chain of swaps"),
        pytest.param([0b1, 0b1, 0b1], 1, 1, id="rows that share a column"),
        pytest.param([0b011, 0b011, 0b011, 0b100], 3, 3, id="a dead end is not walked again"),
    ],
)
def test_rows_are_matched(rows: list[int], columns: int, size: int) -> None:
    assert _size(rows, columns) == size


@pytest.mark.parametrize("shape", ["stairs", "all", "half", "chain"])
def test_a_thousand_by_a_thousand_is_matched_without_trying_all_pairs(shape: str) -> None:
    n = 1000
    rows, size = {
        "stairs": ([((1 << n) - 1) >> at for at in range(n)], n),
        "all": ([(1 << n) - 1] * n, n),
        "half": ([(1 << n // 2) - 1] * n, n // 2),
        "chain": ([*(0b11 << at for at in range(n - 1)), 1], n),
    }[shape]

    began = time.process_time()
    found = _size(rows, n)

    assert found == size
    assert time.process_time() - began < 5  # seconds; 0.3 without other load


def test_bits_are_listed_lowest_first() -> None:
    assert list(bits(0b101001)) == [0, 3, 5]
    assert list(bits(0)) == []


def test_of_the_columns_that_are_free_the_first_is_taken() -> None:
    assert maximum_matching([0b110, 0b111], 3) == [1, 0]
