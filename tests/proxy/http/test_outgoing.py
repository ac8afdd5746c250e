"""Requests stay within the server's origin; what both ways of sending one hold to."""

from __future__ import annotations

import aiohttp
import pytest

from sidecar.proxy.http.outgoing import (
    RedirectError,
    is_same_origin,
    proxy_for,
    reason,
    redirected,
    shown,
)


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("http://h/a", "http://h/b?c", True),
        ("http://h/a", "http://H:80/b", True),
        ("https://h/a", "https://h:443/b", True),
        ("http://h/a", "https://h/a", False),
        ("http://h/a", "http://h:81/a", False),
        ("http://h/a", "http://g/a", False),
        ("http://h/a", "http://h.g/a", False),
        ("http://h/a", "http://me@h/a", False),
        ("http://h/a", "/a", False),
        ("http://h/a", "", False),
    ],
)
def test_an_origin_is_scheme_host_and_port(one: str, other: str, *, same: bool) -> None:
    assert is_same_origin(one, other) == same


def test_a_url_is_shown_without_what_may_be_secret() -> None:
    assert shown("https://me:pass@h:1/mcp/x?key=abc#d") == "https://h:1/mcp/x"


@pytest.mark.parametrize(
    ("method", "status", "location", "target"),
    [
        ("POST", 307, "/b?c=%2F", "http://h/b?c=%2F"),
        ("DELETE", 308, "b", "http://h/b"),
        ("GET", 302, "http://h:80/b", "http://h:80/b"),
        ("HEAD", 301, "/b", "http://h/b"),
        ("OPTIONS", 303, "/b", "http://h/b"),
        ("POST", 200, "/b", None),
        ("POST", 304, "/b", None),
        ("POST", 307, None, None),
    ],
)
def test_a_redirect_within_the_origin_is_followed_with_what_was_sent(
    method: str, status: int, location: str | None, target: str | None
) -> None:
    assert redirected(method, "http://h/a", status, location) == target


@pytest.mark.parametrize(
    ("method", "status", "location", "text"),
    [
        ("GET", 307, "//g/b?key=hush", "redirects to http://g/b, which is not followed"),
        ("GET", 307, "http://me:hush@h/b", "redirects to http://h/b, which is not followed"),
        ("POST", 302, "/b", "redirects a POST with 302 to http://h/b, which would lose its body"),
        ("GET", 307, "http://[", "redirects to what is no URL"),
        ("GET", 307, "", "redirects, and does not say where to"),
        ("GET", 307, "http://h:x/", "redirects to what is no URL"),
    ],
)
def test_any_other_redirect_is_refused_in_words(
    method: str, status: int, location: str, text: str
) -> None:
    with pytest.raises(RedirectError) as refused:
        redirected(method, "http://h/a", status, location)

    assert str(refused.value).startswith(text)
    assert "hush" not in str(refused.value)


def test_a_proxy_is_that_of_the_urls_scheme(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("https_proxy", "http://proxy:1")
    monkeypatch.setenv("no_proxy", "near.test")

    assert proxy_for("https://far.test/mcp") == "http://proxy:1"
    assert proxy_for("https://near.test/mcp") is None
    assert proxy_for("http://far.test/mcp") is None


@pytest.mark.parametrize(
    ("error", "text"),
    [
        (aiohttp.ConnectionTimeoutError(), "cannot be reached: no connection within 2 seconds"),
        (TimeoutError(), "did not begin to answer within 0.5 seconds"),
        (aiohttp.ServerDisconnectedError(), "ended the connection before it answered"),
        (ConnectionResetError(), "ended the connection before it answered"),
        (aiohttp.ClientPayloadError("hush"), "gave an answer that is not HTTP"),
        (aiohttp.InvalidURL("http://hush"), "cannot be asked: its URL or a header"),
        (ValueError("hush"), "cannot be asked: its URL or a header holds what HTTP cannot carry"),
    ],
)
def test_why_there_is_no_answer_is_told_in_words(error: Exception, text: str) -> None:
    told = reason(error, connect_seconds=2.0, answer_seconds=0.5)

    assert told.startswith(text)
    assert "hush" not in told
