"""What a promotion is given, where the user chooses nothing."""

from sidecar.cassette.arguments import ABSENT
from sidecar.suite.wanted import Recording, Remark, Wanted
from tests.suite.recordings import recording


def test_by_default_the_path_must_be_there_in_order_and_the_run_whole() -> None:
    assert Wanted("a-task") == Wanted(
        "a-task",
        trajectory="in-order",
        forbidden=(),
        ignored=(),
        golden="auto",
        text=None,
        drops_retried=False,
        allows_incomplete=False,
    )


def test_of_a_cassette_alone_neither_input_nor_output_is_known() -> None:
    found = Recording(recording(), "checkout")

    assert (found.input, found.output, found.doubts) == (ABSENT, None, ())


def test_a_remark_is_a_kind_and_a_sentence() -> None:
    assert Remark("input", "it is null").text == "it is null"
