"""Requests stay within the server's origin, are checked and bounded, and fail in words."""

import socket
import ssl
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import pytest
from cryptography import x509
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from sidecar.proxy.http.remote.requests import (
    NoAnswerError,
    Requests,
    Sent,
)
from sidecar.proxy.options import ProxyOptions
from tests.proxy.http.odd_server import OddServer, answering


def options(
    url: str, *, connect_seconds: float = 30.0, answer_seconds: float = 30.0
) -> ProxyOptions:
    return ProxyOptions(
        "far",
        "record",
        (),
        None,
        "",
        "",
        url=url,
        connect_seconds=connect_seconds,
        answer_seconds=answer_seconds,
    )


async def failure(told: ProxyOptions) -> str:
    """What is said of a request that fails."""
    requests = Requests(told)
    try:
        with pytest.raises(NoAnswerError) as caught:
            async with requests.response(Sent("GET", requests.url, {})):
                pass
    finally:
        await requests.close()
    return str(caught.value)


@contextmanager
def silent() -> Iterator[int]:
    """A port that takes connections, and says nothing."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield listening.getsockname()[1]


def self_signed(file: Path) -> Path:
    """Write a key and a certificate that nobody but it has signed."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(x509.NameOID.COMMON_NAME, "127.0.0.1")])
    made = (
        x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
        .not_valid_before(datetime(2020, 1, 1, tzinfo=UTC))
        .not_valid_after(datetime(2120, 1, 1, tzinfo=UTC))
        .sign(key, hashes.SHA256())
    )
    pem = Encoding.PEM
    private = key.private_bytes(pem, PrivateFormat.PKCS8, NoEncryption())
    file.write_bytes(private + made.public_bytes(pem))
    return file


async def test_h15_a_connection_that_does_not_come_about_is_given_up() -> None:
    with silent() as port:  # where the handshake of TLS gets no answer
        text = await failure(options(f"https://127.0.0.1:{port}/mcp", connect_seconds=0.2))

    place = f"https://127.0.0.1:{port}/mcp"
    assert text == f"{place} cannot be reached: no connection within 0.2 seconds"


async def test_h15_a_server_that_takes_a_connection_and_says_nothing_is_given_up() -> None:
    with silent() as port:
        text = await failure(options(f"http://127.0.0.1:{port}/mcp", answer_seconds=0.2))

    assert text.endswith("/mcp did not begin to answer within 0.2 seconds")


async def test_a_host_that_is_not_known_is_told_of() -> None:
    text = await failure(options("http://no-such-host.invalid/mcp"))

    assert text.startswith("http://no-such-host.invalid/mcp cannot be reached: ")


@pytest.fixture
def tls_port(tmp_path: Path) -> Iterator[int]:
    """A port at which somebody has a certificate that nobody has signed."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(self_signed(tmp_path / "both.pem"))
    with socket.create_server(("127.0.0.1", 0)) as listening:

        def shake_hands() -> None:
            with closing(listening.accept()[0]) as client:
                try:
                    context.wrap_socket(client, server_side=True).close()
                except OSError:
                    return  # the client did not like the certificate

        thread = threading.Thread(target=shake_hands)
        thread.start()
        yield listening.getsockname()[1]
        thread.join(20.0)


async def test_a_certificate_that_nobody_has_signed_is_refused(tls_port: int) -> None:
    text = await failure(options(f"https://127.0.0.1:{tls_port}/mcp"))

    assert "has a certificate that is not trusted" in text


async def test_a_proxy_of_the_environment_is_used_with_its_credentials(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("no_proxy", "NO_PROXY", "HTTP_PROXY"):
        monkeypatch.delenv(name, raising=False)
    with OddServer({"GET": answering(status=204)}) as proxy:
        address = proxy.url.removeprefix("http://").removesuffix("/mcp")
        monkeypatch.setenv("http_proxy", f"http://me:pass@{address}")
        requests = Requests(options("http://far.invalid/mcp"))
        async with requests.response(Sent("GET", requests.url, {})) as response:
            assert response.status == 204
        await requests.close()

    (seen,) = proxy.seen
    assert seen.headers["host"] == "far.invalid"
    assert seen.headers["proxy-authorization"] == "Basic bWU6cGFzcw=="


async def test_no_proxy_is_used_for_a_host_that_needs_none(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    monkeypatch.setenv("no_proxy", "127.0.0.1")
    with OddServer({"GET": answering(status=204)}) as server:
        requests = Requests(options(server.url))
        async with requests.response(Sent("GET", requests.url, {})) as response:
            assert response.status == 204
        await requests.close()


async def test_the_credentials_of_netrc_are_not_sent(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "netrc").write_text("default login me password abc-secret\n", encoding="utf-8")
    monkeypatch.setenv("NETRC", str(tmp_path / "netrc"))
    with OddServer({"GET": answering(status=204)}) as server:
        requests = Requests(options(server.url))
        async with requests.response(Sent("GET", requests.url, {})):
            pass
        await requests.close()

    assert "authorization" not in server.seen[0].headers
