"""URLs and headers, as users write them, are read or refused."""

import pytest

from sidecar.errors import UsageError
from sidecar.proxy.addresses import checked_url, read_headers, secrets_of

ENVIRON = {"TOKEN": "Bearer abc-secret", "LINES": "a\nb", "FILE": "from-a-file\n"}


@pytest.mark.parametrize(
    "url", ["http://127.0.0.1:1/mcp", "https://h/mcp?a=b", "http://[::1]:80/", "HTTP://h"]
)
def test_a_url_over_http_is_taken_as_it_is(url: str) -> None:
    assert checked_url(url) == url


@pytest.mark.parametrize(
    "url",
    [
        "", "h/mcp", "ftp://h/", "file:///etc/passwd", "ws://h/", "http://", "http:///mcp",
        "http://h:x/", "http://h:99999/", "http://[::1/", "http://h/ a", "http://h/\n",
    ],
)  # fmt: skip
def test_what_no_server_can_be_reached_at_is_refused(url: str) -> None:
    with pytest.raises(UsageError, match="is no URL of a server; give one like https://HOST/mcp"):
        checked_url(url)


def test_credentials_in_a_url_are_refused_and_not_told() -> None:
    with pytest.raises(UsageError) as caught:
        checked_url("https://me:pass@h/mcp")

    assert str(caught.value) == (
        "the URL of h has credentials in it; give them as --header-env Authorization=VARIABLE"
    )


def test_headers_come_as_they_are_or_from_the_environment() -> None:
    given = [
        ("--header", "X-Team: a: b "),
        ("--header-env", "Authorization=TOKEN"),
        ("--header-env", "X-File=FILE"),
        ("--header", "X-Empty:"),
        ("--header", "X-Team:again"),
    ]

    with pytest.raises(UsageError, match="--header needs a header; write --header 'NAME: VALUE'"):
        read_headers(given, ENVIRON, needed=True)
    del given[3]
    assert read_headers(given, ENVIRON, needed=True) == (
        ("X-Team", "a: b"),
        ("Authorization", "Bearer abc-secret"),
        ("X-File", "from-a-file"),
        ("X-Team", "again"),
    )


@pytest.mark.parametrize(
    ("option", "text"),
    [
        ("--header", "no colon"),
        ("--header", ": x"),
        ("--header", "a b: x"),
        ("--header", "a\r\nb: x"),
        ("--header-env", "TOKEN"),
        ("--header-env", "=TOKEN"),
        ("--header-env", "Name="),
    ],
)
def test_what_is_no_header_is_refused(option: str, text: str) -> None:
    with pytest.raises(UsageError, match=f"{option} needs a header"):
        read_headers([(option, text)], ENVIRON, needed=True)


@pytest.mark.parametrize(("option", "text"), [("--header", "A: a\nb"), ("--header-env", "A=LINES")])
def test_a_value_with_a_line_end_is_refused_and_not_told(option: str, text: str) -> None:
    with pytest.raises(UsageError) as caught:
        read_headers([(option, text)], ENVIRON, needed=True)

    assert str(caught.value) == "the value of the header A has a line end or the like in it"


def test_a_variable_that_is_not_set_is_refused_only_where_it_is_needed() -> None:
    given = [("--header-env", "Key=UNSET"), ("--header", "A: b")]

    assert read_headers(given, ENVIRON, needed=False) == (("A", "b"),)
    with pytest.raises(UsageError) as caught:
        read_headers(given, ENVIRON, needed=True)
    assert str(caught.value) == (
        "the variable UNSET, which the header Key comes from, is not set; "
        "set UNSET, or leave --header-env out"
    )


def test_what_is_secret_of_a_header_is_its_value_without_the_scheme() -> None:
    headers = [("A", "Bearer abc-secret"), ("X-Team", "blue-team"), ("X-Debug", "true")]

    assert secrets_of(headers) == ("abc-secret", "blue-team")
