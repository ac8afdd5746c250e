"""Why nothing answered, in words."""

import pytest

from sidecar.cassette.arguments import ABSENT, Difference
from sidecar.cassette.interaction import Interaction
from sidecar.cassette.matcher import Miss
from sidecar.cassette.misses import difference_text, explain
from sidecar.wire.json_text import Number
from tests.cassette.sessions import call, surface

ASKED = call("log", {"n": 1}, server="git")
DIFFERENCES = tuple(Difference(f"/{name}", 1, 2) for name in "abcde")


@pytest.mark.parametrize(
    ("asked", "miss", "text"),
    [
        pytest.param(
            ASKED,
            Miss("unknown-tool"),
            "unknown-tool: no recording has a call of git:log",
            id="R20 unknown tool",
        ),
        pytest.param(
            ASKED,
            Miss("used-up"),
            "used-up: every recording of this call of git:log was served already",
            id="R20 used up",
        ),
        pytest.param(
            ASKED,
            Miss("arguments-differ", 2, DIFFERENCES[:1]),
            "arguments-differ: no recording of git:log has these arguments; "
            "the nearest (interaction 3) differs at /a: recorded 1, asked for 2",
            id="R20 arguments differ",
        ),
        pytest.param(
            ASKED,
            Miss("arguments-differ", 0, DIFFERENCES[:3]),
            "arguments-differ: no recording of git:log has these arguments; "
            "the nearest (interaction 1) differs at /a: recorded 1, asked for 2; "
            "/b: recorded 1, asked for 2; /c: recorded 1, asked for 2",
            id="R20 three places",
        ),
        pytest.param(
            ASKED,
            Miss("arguments-differ", 0, DIFFERENCES),
            "arguments-differ: no recording of git:log has these arguments; "
            "the nearest (interaction 1) differs at /a: recorded 1, asked for 2; "
            "/b: recorded 1, asked for 2; /c: recorded 1, asked for 2; and 2 more",
            id="R20 more places than are shown",
        ),
        pytest.param(
            ASKED,
            Miss("arguments-differ", 4),
            "arguments-differ: no recording of git:log has these arguments; "
            "the nearest (interaction 5) is another round of the call, "
            "or nests too deep to compare",
            id="N04 another round",
        ),
        pytest.param(
            surface("resources/read", {}),
            Miss("not-recorded"),
            "not-recorded: no recording has this srv:resources/read",
            id="no tool call",
        ),
    ],
)
def test_a_miss_says_which_of_its_reasons_it_was(asked: Interaction, miss: Miss, text: str) -> None:
    assert explain(asked, miss) == text


@pytest.mark.parametrize(
    ("difference", "text"),
    [
        (Difference("/a", "x", ABSENT), '/a: recorded "x", asked for nothing'),
        (Difference("/a", ABSENT, None), "/a: recorded nothing, asked for null"),
        (Difference("", {}, []), "the whole value: recorded {}, asked for []"),
        (Difference("/a", expected=True, seen=Number("1.0")), "/a: recorded true, asked for 1.0"),
        (Difference("/a", "x" * 58, 1), f'/a: recorded "{"x" * 58}", asked for 1'),
        (Difference("/a", "x" * 59, 1), f'/a: recorded "{"x" * 58}…, asked for 1'),
        (Difference("/a", "\ud800", 1), '/a: recorded "\\ud800", asked for 1'),
    ],
    ids=["absent", "null", "whole", "as spelt", "just fits", "cut", "lone surrogate"],
)
def test_r20_a_difference_is_said_in_one_line(difference: Difference, text: str) -> None:
    assert difference_text(difference) == text
