import sys
from pathlib import Path

import pytest

from bench.client import Client, ContestantError, Launch, bounded
from bench.contestants import environment

_ANSWERS_IN_PIECES = """
import sys
for line in sys.stdin.buffer:
    for piece in (line[:3], line[3:]):
        sys.stdout.buffer.write(piece)
        sys.stdout.buffer.flush()
"""
_READS_ONE_LINE = "import sys; sys.stdin.readline(); sys.exit('no more')"
_NEVER_ANSWERS = "import sys; sys.stdin.read()"


def _client(program: str, folder: Path) -> Client:
    return Client(Launch([sys.executable, "-c", program], environment(), folder))


def test_a_line_that_comes_in_pieces_is_waited_for(tmp_path: Path) -> None:
    client = _client(_ANSWERS_IN_PIECES, tmp_path)

    with bounded(30):
        answers = [client.exchange(b"one line\n"), client.exchange(b"another\n")]

    client.close()
    assert [answer.data for answer in answers] == [b"one line\n", b"another\n"]
    assert all(answer.took_ns > 0 for answer in answers)


def test_several_lines_are_waited_for(tmp_path: Path) -> None:
    client = _client(_ANSWERS_IN_PIECES, tmp_path)

    with bounded(30):
        answers = client.exchange_all(b"one\ntwo\nthree\n", 3)

    client.close()
    assert answers.data == b"one\ntwo\nthree\n"


def test_a_process_that_ends_is_an_error_with_its_last_words(tmp_path: Path) -> None:
    client = _client(_READS_ONE_LINE, tmp_path)

    with bounded(30), pytest.raises(ContestantError, match="no more"):
        client.exchange(b"hello\n")

    client.kill()


def test_a_process_that_never_answers_is_an_error(tmp_path: Path) -> None:
    client = _client(_NEVER_ANSWERS, tmp_path)

    with pytest.raises(ContestantError, match="no end after"), bounded(0.2):
        client.exchange(b"hello\n")

    client.kill()
    assert client.process.returncode is not None
