"""Secrets that are left in what is about to be kept."""

from typing import Any

import pytest

from sidecar.suite.leaks import first_leak, unmasked_by
from sidecar.wire.json_text import Number
from tests.suite.recordings import recording, request, unanswered

VALUE = "it would be masked in a recording"
NAME = "a name would be masked in a recording"


class Masking:
    """A redactor that masks one word, and the number 1.5."""

    def json_text(self, text: str) -> str:
        return text.replace("hunter2", "[REDACTED:1]").replace("1.5", '"[REDACTED:2]"')


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        pytest.param({"a": [1, "b", None, True]}, [], id="no secret"),
        pytest.param({"key": "[REDACTED:1]"}, [], id="one that was masked already"),
        pytest.param("hunter2", [("", VALUE)], id="the whole value"),
        pytest.param({"a/b": ["x", "hunter2"]}, [("/a~1b/1", VALUE)], id="an item"),
        pytest.param({"a": "the password is hunter2"}, [("/a", VALUE)], id="a part of a text"),
        pytest.param({"n": Number("1.5")}, [("/n", VALUE)], id="a number"),
        pytest.param({"hunter2": 1}, [("/[REDACTED:1]", NAME)], id="a name"),
        pytest.param(
            {"a": "hunter2", "b": {"c": "hunter2"}},
            [("/a", VALUE), ("/b/c", VALUE)],
            id="several",
        ),
    ],
)
def test_v11_what_would_still_be_masked_is_found_by_its_place(
    value: Any, expected: list[tuple[str, str]]
) -> None:
    found = list(unmasked_by(Masking())(value))

    assert found == expected


def test_v11_the_first_interaction_with_a_secret_is_found() -> None:
    clean = request("git", "tools/list", {"tools": []})
    asked = request("git", "prompts/get", {}, {"name": "hunter2"})
    told = request("git", "resources/read", {"text": "hunter2"})

    assert first_leak(recording(clean, unanswered(clean)), Masking()) is None
    assert first_leak(recording(clean, told, asked), Masking()) == told
    assert first_leak(recording(asked, told), Masking()) == asked
