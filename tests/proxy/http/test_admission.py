"""Who may ask; what a listener refuses over a socket is in test_hostile_clients.py."""

from __future__ import annotations

import pytest
from aiohttp.test_utils import make_mocked_request
from multidict import CIMultiDict

from sidecar.errors import UsageError
from sidecar.proxy.http.admission import Guard, check_allowed, is_loopback
from sidecar.proxy.http.answers import RefusedError
from sidecar.proxy.http.endpoint import ServeOptions

OPTIONS = ServeOptions((), "record", "/journal.db", "local/01JDPR0XY00000000000000000")


def status(options: ServeOptions, *, needs_token: bool = True, **headers: str) -> int:
    """Which status a request gets; 200 if it may pass."""
    request = make_mocked_request("POST", "/up/mcp", headers=headers)
    try:
        Guard(options).check(request, needs_token=needs_token)
    except RefusedError as error:
        return error.status
    return 200


@pytest.mark.parametrize(
    ("host", "loopback"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("0.0.0.0", False),
        ("::", False),
        ("", False),
        ("192.168.1.2", False),
        ("sidecar", False),
        ("localhost.evil.test", False),
    ],
)
def test_h20_only_loopback_addresses_are_this_machines_alone(host: str, *, loopback: bool) -> None:
    assert is_loopback(host) is loopback


@pytest.mark.parametrize(
    ("bound", "called", "expected"),
    [
        ("192.168.1.2", "192.168.1.2:8765", 200),
        ("fd00::1", "[fd00::1]:8765", 200),
        ("0.0.0.0", "192.168.1.2:8765", 403),
        ("0.0.0.0", "0.0.0.0:8765", 403),
        ("::", "[::]:8765", 403),
        ("127.0.0.1", "localhost", 200),
    ],
)
def test_h18_the_address_that_we_listen_at_is_a_name_of_ours(
    bound: str, called: str, expected: int
) -> None:
    assert status(OPTIONS._replace(host=bound), Host=called) == expected


def test_h18_a_request_with_two_hosts_is_refused_whichever_comes_first() -> None:
    headers = CIMultiDict([("Host", "localhost"), ("Host", "evil.test")])
    request = make_mocked_request("POST", "/up/mcp", headers=headers)

    with pytest.raises(RefusedError, match="one Host header"):
        Guard(OPTIONS).check(request)


def test_a_name_may_be_allowed_in_any_case() -> None:
    options = OPTIONS._replace(allowed_hosts=("SideCar",), allowed_origins=("https://App.test",))

    assert status(options, Host="sidecar:1", Origin="https://app.TEST") == 200


def test_h20_health_needs_no_token_but_a_host_of_ours() -> None:
    options = OPTIONS._replace(token="secret")

    assert status(options, Host="localhost") == 401
    assert status(options, needs_token=False, Host="localhost") == 200
    assert status(options, needs_token=False, Host="evil.test") == 403


@pytest.mark.parametrize(
    ("authorization", "expected"),
    [
        ("Bearer secret", 200),
        ("bearer secret", 200),
        ("BEARER secret", 200),
        ("Basic secret", 401),
        ("secret", 401),
        ("Bearer", 401),
    ],
)
def test_h20_a_token_may_come_as_a_bearers_in_any_case(authorization: str, expected: int) -> None:
    options = OPTIONS._replace(token="secret")

    assert status(options, Host="localhost", Authorization=authorization) == expected


@pytest.mark.parametrize("host", ["http://x/", "app.test:80", "x/", "::1", "*", "", "a b"])
def test_h18_a_name_that_no_host_header_can_have_is_refused(host: str) -> None:
    with pytest.raises(UsageError, match="--allow-host"):
        check_allowed([host], [])


@pytest.mark.parametrize("origin", ["app.local", "https://app.test/", "https://a@b", "*", ""])
def test_h18_an_origin_that_no_page_can_have_is_refused(origin: str) -> None:
    with pytest.raises(UsageError, match="--allow-origin"):
        check_allowed([], [origin])


def test_h18_names_and_origins_that_can_be_are_taken() -> None:
    check_allowed(
        ["App.test", "[fd00::1]", "10.0.0.1"],
        ["https://App.test", "http://a.test:8080", "null", "vscode-webview://0abc"],
    )
