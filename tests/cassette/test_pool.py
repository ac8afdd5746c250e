from collections import deque

from sidecar.cassette.pool import Pool


def filled() -> Pool:
    pool = Pool()
    pool.all, pool.inexact = [0, 1, 2, 3, 4], [3, 4]
    pool.exact = {"{}": deque([0, 2]), "[]": deque([1])}
    pool.loose = [(3, ["/a"]), (4, ["/b"])]
    pool.leaves = {"/a": [3], "/b": [4]}
    pool.plain = deque([5, 6])
    return pool


def test_what_is_taken_of_a_copy_stays_in_the_pool() -> None:
    pool = filled()
    other = pool.copy()

    other.exact["{}"].popleft()
    other.plain.popleft()
    other.leaves["/c"] = [9]

    assert pool.exact == {"{}": deque([0, 2]), "[]": deque([1])}
    assert pool.plain == deque([5, 6])
    assert pool.leaves == {"/a": [3], "/b": [4]}
    assert (other.all, other.inexact, other.loose) == (pool.all, pool.inexact, pool.loose)


def test_sorted_anew_every_kind_of_entry_has_another_order() -> None:
    pool = filled()

    pool.sort(lambda index: (False, 0, -index))

    assert pool.exact == {"{}": deque([2, 0]), "[]": deque([1])}
    assert pool.loose == [(4, ["/b"]), (3, ["/a"])]
    assert pool.plain == deque([6, 5])
    assert pool.leaves == {}  # in the old order: made again at the next look
