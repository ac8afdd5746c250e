"""Answers of the sidecar's own."""

from __future__ import annotations

import pytest

from sidecar.proxy.http.answers import RefusedError, error_response, refusal


@pytest.mark.parametrize(
    ("idents", "body"),
    [
        ((), b'{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}'),
        (("7",), b'{"jsonrpc":"2.0","id":7,"error":{"code":-32600,"message":"no"}}'),
        (
            ('"a"', "0"),
            b'[{"jsonrpc":"2.0","id":"a","error":{"code":-32600,"message":"no"}},'
            b'{"jsonrpc":"2.0","id":0,"error":{"code":-32600,"message":"no"}}]',
        ),
    ],
)
def test_a_refusal_answers_each_request_that_waits(idents: tuple[str, ...], body: bytes) -> None:
    response = refusal(RefusedError(403, "no", {"X-Y": "z"}), idents)

    assert (response.status, response.body) == (403, body)
    assert response.headers["X-Y"] == "z"
    assert response.content_type == "application/json"


@pytest.mark.parametrize(("status", "code"), [(400, -32600), (404, -32600), (502, -32000)])
def test_the_code_tells_whose_fault_it_is(status: int, code: int) -> None:
    body = refusal(RefusedError(status, "x")).body

    assert isinstance(body, bytes)
    assert f'"code":{code}'.encode() in body


def test_an_error_may_have_any_status() -> None:
    assert error_response(200, -1, "x", ("1",)).status == 200
