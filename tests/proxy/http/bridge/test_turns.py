"""Which recorded session each session of a replay is served first."""

from sidecar.proxy.http.bridge.turns import Turns


def test_h17_recorded_sessions_are_given_out_in_order_and_then_again() -> None:
    turns = Turns()

    assert [turns.choose([0, 1, 3]) for _ in range(5)] == [0, 1, 3, 0, 1]


def test_h17_a_session_is_passed_over_where_it_has_not_the_call() -> None:
    turns = Turns()

    assert [turns.choose(sessions) for sessions in ([1], [0, 1, 2], [0, 1, 2])] == [1, 0, 2]
