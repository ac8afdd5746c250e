"""What an entry of a config is."""

import json

import pytest

from sidecar.agents.configs.document import read
from sidecar.agents.configs.shapes import (
    Remote,
    Shape,
    Started,
    UnfitError,
    is_wrapped,
    refuse_unmarked,
    shape_of,
)
from tests.agents.configs.samples import BY_PATH, document, wrapped


def shape(entry: object, client: str = "generic") -> Shape:
    section = {"opencode": "mcp", "zed": "context_servers"}.get(client, "mcpServers")
    found = read("/p/a.json", json.dumps({section: {"a": entry}}).encode(), client=client)
    return shape_of(found.entries[0], found.client)


def test_an_entry_that_is_started_has_its_words() -> None:
    plain = shape({"command": "npx", "args": ["-y"]})
    argv = shape({"command": ["npx", "-y"]}, "opencode")
    nested = shape({"command": {"path": "npx", "args": ["-y"]}}, "zed")

    for found in (plain, argv, nested):
        assert isinstance(found, Started)
        assert (found.program, found.words, found.mark) == ("npx", ("-y",), None)
        assert not is_wrapped(found)


@pytest.mark.parametrize(
    ("entry", "client", "transport"),
    [
        ({"url": "u"}, "generic", None),
        ({"url": "u", "type": "http"}, "generic", "http"),
        ({"url": "u", "type": "streamableHttp"}, "cline", "http"),
        ({"url": "u", "transport": "streamable-http"}, "generic", "http"),
        ({"url": "u", "type": "sse"}, "generic", "sse"),
        ({"httpUrl": "u"}, "gemini", "http"),
        ({"url": "u"}, "gemini", "sse"),
        ({"url": "u", "type": "http"}, "gemini", "http"),
        ({"url": "u", "type": "remote"}, "opencode", None),
    ],
)
def test_e10_an_entry_with_a_url_says_what_the_client_speaks(
    entry: object, client: str, transport: str | None
) -> None:
    found = shape(entry, client)

    assert isinstance(found, Remote)
    assert (found.transport, found.original) == (transport, None)


@pytest.mark.parametrize(
    ("entry", "reason"),
    [
        (1, "it is no object"),
        ({}, "it has no `command`: the client itself starts it"),
        ({"command": 1}, "its `command` is no plain text"),
        ({"command": ["npx"]}, "its `command` is no plain text"),
        ({"command": "npx", "args": "-y"}, "its `args` is no list"),
        ({"command": "npx", "args": None}, "its `args` is no list"),
        ({"command": "npx", "args": ["-y", 1]}, "an item of its `args` is no text"),
        ({"url": ["u"]}, "its `url` is no plain text"),
        ({"url": "u", "type": "ws"}, "its `type` is none that is known for a URL"),
        ({"url": "u", "type": "stdio"}, "its `type` is none that is known for a URL"),
    ],
)
def test_an_entry_that_is_written_otherwise_is_left_alone_with_the_reason(
    entry: object, reason: str
) -> None:
    with pytest.raises(UnfitError) as caught:
        shape(entry)

    assert str(caught.value) == reason


def test_a_name_that_stands_twice_in_an_entry_is_refused() -> None:
    text = '{"mcpServers": {"a": {"command": "x", "command": "y"}}}'
    found = read("/p/a.json", text.encode())

    with pytest.raises(UnfitError, match="it has `command` twice"):
        shape_of(found.entries[0], found.client)


def test_w11_only_what_wrap_wrote_is_wrapped() -> None:
    sample = BY_PATH["/p/.mcp.json"]
    now = document(sample, wrapped(document(sample)).text)
    ours = shape_of(now.entries[0], now.client)
    by_hand = shape({"command": "/x/mcp-sidecar", "args": ["proxy", "--server", "a", "npx"]})
    foreign = shape({"command": "mcp-proxy", "args": ["proxy", "--", "npx"]})

    assert is_wrapped(ours)
    assert [is_wrapped(one) for one in (by_hand, foreign)] == [False, False]
    assert isinstance(by_hand, Started)
    assert isinstance(foreign, Started)
    refuse_unmarked(foreign)
    with pytest.raises(UnfitError, match="as written by hand"):
        refuse_unmarked(by_hand)


@pytest.mark.parametrize(
    "words",
    [
        pytest.param([], id="no arguments"),
        pytest.param(["proxy", "--server", "a", "--config-entry", "ab", "npx"], id="no mark"),
        pytest.param(["proxy", "--server", "a", "--wrapped"], id="half a mark"),
        pytest.param(["proxy", "--server", "a", "--wrapped", "args"], id="no command of its own"),
    ],
)
def test_w11_an_entry_that_wrap_wrote_and_others_broke_is_told_as_damaged(words: list[str]) -> None:
    broken = shape({"command": "/x/mcp-sidecar", "args": words})

    assert isinstance(broken, Started)
    with pytest.raises(UnfitError, match="it is damaged"):
        refuse_unmarked(broken)


def test_an_entry_that_is_merged_from_another_one_is_told_as_such() -> None:
    text = "extensions:\n  a: &x\n    cmd: srv\n  b:\n    <<: *x\n"
    found = read("/p/config.yaml", text.encode())

    with pytest.raises(UnfitError, match="it takes over what stands elsewhere"):
        shape_of(found.entries[1], found.client)
