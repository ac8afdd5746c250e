"""How a wrapped entry is known again."""

import pytest

from sidecar.agents.configs.marks import (
    HEADER_VARIABLE,
    How,
    Mark,
    Target,
    mark_of,
    original_url,
    served_url,
    transport_path,
    url_words,
    words_of,
)

TARGET = Target("auto", "/p/cassettes/c.jsonl", "/p/.sidecar", "/p")


@pytest.mark.parametrize(
    "how",
    [
        How(),
        How(had_args=False),
        How(had_args=True, url="url"),
        How(had_args=True, url="serverUrl", headers="headers"),
        How(had_args=True, url="url", kind=("type", "http"), headers="http_headers"),
    ],
)
def test_how_an_entry_was_is_read_as_it_was_written(how: How) -> None:
    assert How.read(how.written()) == how


def test_w11_our_words_are_known_again_with_all_that_they_say() -> None:
    words = [*words_of("git", TARGET, How()), "npx", "--mode", "other"]

    assert mark_of(words) == Mark(
        len(words) - 2,
        {
            "server": "git",
            "mode": "auto",
            "cassette": "/p/cassettes/c.jsonl",
            "home": "/p/.sidecar",
            "project": "/p",
            "wrapped": "args",
        },
        {},
        How(),
    )
    mark = mark_of(["-m", "sidecar", *words])
    assert mark is not None
    assert (mark.count, mark.target) == (len(words), TARGET)


def test_the_words_of_a_url_end_with_it() -> None:
    how = How(had_args=True, url="url", headers="headers")
    ours = [*words_of("web", TARGET, how), *url_words("sse", ["A", "B"]), "https://x"]

    mark = mark_of([*ours, "--added", "later"])

    assert mark is not None
    assert mark.count == len(ours)
    assert mark.options["transport"] == "sse"
    assert mark.headers == {f"{HEADER_VARIABLE}1": "A", f"{HEADER_VARIABLE}2": "B"}


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="none"),
        pytest.param(["-y", "proxy", "--wrapped", "args", "x"], id="another's words"),
        pytest.param(["proxy", "--server", "git", "npx"], id="W11 written by hand"),
        pytest.param(["proxy", "--wrapped"], id="cut"),
        pytest.param(["proxy", "--wrapped", "npx", "-y"], id="W11 how it was was taken out"),
        pytest.param(["proxy", "--wrapped", "url:url", "-x"], id="W11 the URL was taken out"),
        pytest.param(["proxy", "--wrapped", "args"], id="W11 the command was taken out"),
        pytest.param(["proxy", "npx", "--wrapped", "args"], id="W11 in the server's words"),
    ],
)
def test_other_words_are_no_mark(words: list[str]) -> None:
    assert mark_of(words) is None


def test_without_a_cassette_none_is_named() -> None:
    target = TARGET.__class__("record", None, "/h", "/p")

    assert words_of("git", target, How(had_args=False)) == [
        *("proxy", "--server", "git", "--mode", "record", "--home", "/h", "--project", "/p"),
        *("--wrapped", "no-args"),
    ]


def test_e10_a_url_of_serve_ends_as_the_client_will_speak_and_holds_the_original() -> None:
    original = "https://a.example/mcp?x=1#y"
    base = served_url("http://127.0.0.1:1/", "a/b c", "sse")

    assert base == "http://127.0.0.1:1/a%2Fb%20c/sse#mcp-sidecar="
    assert original_url(base + original) == original
    assert original_url(original) is None
    assert (transport_path("http"), transport_path(None)) == ("mcp", "mcp")
