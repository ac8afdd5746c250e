"""Which headers pass, and which era they tell of."""

from __future__ import annotations

import pytest
from multidict import CIMultiDict, CIMultiDictProxy

from sidecar.proxy.http.headers import credentials_of, is_modern, passed_headers, sent_headers


def received(*pairs: tuple[str, str]) -> CIMultiDictProxy[str]:
    return CIMultiDictProxy(CIMultiDict(pairs))


HOP_BY_HOP = (
    ("Connection", "keep-alive, X-Mine"),
    ("X-Mine", "1"),
    ("Keep-Alive", "timeout=5"),
    ("Proxy-Authenticate", "Basic"),
    ("Proxy-Authorization", "Basic x"),
    ("Proxy-Connection", "close"),
    ("TE", "trailers"),
    ("Trailer", "X-T"),
    ("Transfer-Encoding", "chunked"),
    ("Upgrade", "h2c"),
)


def test_what_is_the_connections_does_not_pass_either_way() -> None:
    assert list(sent_headers(received(*HOP_BY_HOP), (), None).items()) == [
        ("Accept-Encoding", "identity")
    ]
    assert list(passed_headers(received(*HOP_BY_HOP)).items()) == []


def test_h11_no_compression_is_asked_for_whatever_the_client_can_read() -> None:
    sent = sent_headers(received(("accept-encoding", "gzip, br")), (), None)

    assert sent.getall("Accept-Encoding") == ["identity"]


def test_all_else_passes_in_order_and_as_often_as_it_came() -> None:
    pairs = [("Mcp-Name", "a"), ("X-B", "2"), ("x-b", "1"), ("Content-Encoding", "gzip")]

    assert list(passed_headers(received(*pairs)).items()) == pairs
    assert list(sent_headers(received(*pairs), (), None).items())[:-1] == pairs


def test_the_length_of_an_answer_passes() -> None:
    assert passed_headers(received(("Content-Length", "5"))) == {"Content-Length": "5"}


def test_x08_a_clients_credentials_are_found_by_the_names_of_their_headers() -> None:
    headers = received(
        ("Authorization", "Bearer abcdef-1"),
        ("X-Api-Key", "key-of-mine"),
        ("Proxy-Authorization", "Basic dXNlcg=="),
        ("Cookie", "theme=dark-mode; session=9fK2xPq7Lm; lang=english"),
        ("Mcp-Session-Id", "3f9c2b7a1e5d"),
        ("MCP-Protocol-Version", "2025-11-25"),
        ("Accept", "application/json"),
        ("X-Pin", "1"),
    )

    assert credentials_of(headers) == (
        "abcdef-1",
        "key-of-mine",
        "dXNlcg==",
        "theme=dark-mode; session=9fK2xPq7Lm; lang=english",
        "9fK2xPq7Lm",
    )


def test_the_configs_headers_fill_in_what_the_client_does_not_send() -> None:
    sent = sent_headers(received(("x-key", "own")), (("X-Key", "k"), ("X-More", "m")), None)

    assert sent == {"x-key": "own", "X-More": "m", "Accept-Encoding": "identity"}


@pytest.mark.parametrize(
    ("given", "passes"),
    [
        (("Authorization", "Bearer ours"), False),
        (("X-MCP-Sidecar-Token", "ours"), False),
        (("X-MCP-Sidecar-Token", "wrong"), False),
        (("Authorization", "Bearer theirs"), True),
        (("Authorization", "Basic ours"), True),
    ],
)
def test_h20_what_is_meant_for_us_goes_nowhere(given: tuple[str, str], *, passes: bool) -> None:
    assert (given[0] in sent_headers(received(given), (), "ours")) is passes


@pytest.mark.parametrize(
    ("version", "modern"),
    [
        ("2026-07-28", True),
        ("2027-01-01", True),
        ("DRAFT-2027", True),
        ("2025-11-25", False),
        (" 2025-06-18 ", False),
        ("2024-11-05", False),
        (None, False),
    ],
)
def test_n01_the_era_is_told_by_the_version_header(version: str | None, *, modern: bool) -> None:
    pairs = [] if version is None else [("mcp-protocol-version", version)]

    assert is_modern(received(*pairs)) is modern
