import pytest

from bench import http_client
from bench.client import ContestantError
from bench.workload import WrongAnswerError


async def _raise(error: Exception) -> None:
    raise error


def test_what_is_found_is_given_back() -> None:
    async def found() -> int:
        return 3

    assert http_client.run(found()) == 3


def test_a_wrong_answer_is_found_in_groups_of_groups() -> None:
    wrong = WrongAnswerError("another's")
    group = ExceptionGroup("outer", [ExceptionGroup("inner", [wrong]), ValueError()])

    with pytest.raises(WrongAnswerError, match="another's"):
        http_client.run(_raise(group))


def test_any_other_error_says_what_it_was() -> None:
    with pytest.raises(ContestantError, match="ConnectionResetError: gone"):
        http_client.run(_raise(ExceptionGroup("outer", [ConnectionResetError("gone")])))
