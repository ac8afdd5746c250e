"""Which HTTP status an answer has, and when one says something."""

from __future__ import annotations

import pytest

from sidecar.wire.http_status import prescribed_status, telling_status
from sidecar.wire.jsonrpc import read_line


@pytest.mark.parametrize(
    ("code", "status"),
    [
        (None, 200),
        (-32601, 404),
        (-32700, 400),
        (-32600, 400),
        (-32602, 400),
        (-32020, 400),
        (-32021, 400),
        (-32022, 400),
        (-32603, 200),
        (-32050, 200),
    ],
)
def test_the_later_era_has_a_status_for_each_error(code: int | None, status: int) -> None:
    assert prescribed_status(code, modern=True) == status
    assert prescribed_status(code, modern=False) == 200


@pytest.mark.parametrize(
    ("status", "answer", "modern", "telling"),
    [
        pytest.param(200, b'{"id":1,"result":{}}', True, None, id="a result"),
        pytest.param(202, b'{"id":1,"result":{}}', True, 202, id="an odd result"),
        pytest.param(404, b'{"id":1,"error":{"code":-32601}}', True, None, id="as prescribed"),
        pytest.param(404, b'{"id":1,"error":{"code":-32601}}', False, 404, id="an era too soon"),
        pytest.param(200, b'{"id":1,"error":{"code":-32601}}', True, 200, id="another one"),
        pytest.param(500, b'{"id":1,"error":{"code":"x"}}', True, 500, id="no code"),
        pytest.param(200, b'{"id":1,"error":5}', True, None, id="no error object"),
    ],
)
def test_a_status_is_telling_where_it_is_not_the_prescribed_one(
    status: int, answer: bytes, *, modern: bool, telling: int | None
) -> None:
    (message,) = read_line(answer) or []
    assert telling_status(status, message, modern=modern) == telling
