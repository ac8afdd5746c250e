"""What a POST may carry, and in which media types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from sidecar.wire.jsonrpc import INVALID_REQUEST, PARSE_ERROR
from tests.proxy.http.entries import (
    INITIALIZE,
)
from tests.proxy.http.fronting import Place, Raw, fronted

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize("era", ["handshake", "modern"])
@pytest.mark.parametrize(
    ("body", "code", "ident"),
    [
        pytest.param(b"null", INVALID_REQUEST, None, id="null"),
        pytest.param(b"5", INVALID_REQUEST, None, id="a number"),
        pytest.param(b'"x"', INVALID_REQUEST, None, id="a string"),
        pytest.param(b"{}", INVALID_REQUEST, None, id="an empty object"),
        pytest.param(b"[]", INVALID_REQUEST, None, id="an empty batch"),
        pytest.param(b"[5]", INVALID_REQUEST, None, id="a batch of none"),
        pytest.param(b'{"jsonrpc":"2.0","id":1}', INVALID_REQUEST, 1, id="an id alone"),
        pytest.param(b"{", PARSE_ERROR, None, id="no JSON"),
        pytest.param(b"", PARSE_ERROR, None, id="nothing"),
        pytest.param(b"\xff", PARSE_ERROR, None, id="no UTF-8"),
        pytest.param(b'{"id":NaN,"method":"x"}', PARSE_ERROR, None, id="J01 an id that is none"),
    ],
)
async def test_j07_an_odd_body_is_refused_with_one_error(
    tmp_path: Path, era: str, body: bytes, code: int, ident: Any
) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        client = Raw(served, modern=era == "modern")
        answer = await client.post(body)

    assert answer.status == 400
    assert [message["error"]["code"] for message in answer.messages] == [code]
    assert answer.messages[0]["id"] == ident


@pytest.mark.parametrize(
    ("headers", "status"),
    [
        pytest.param({"Content-Type": "text/plain"}, 415, id="what a page may send unasked"),
        pytest.param({"Accept": "application/json"}, 406, id="no streams taken"),
        pytest.param({"Accept": "text/event-stream"}, 406, id="no JSON taken"),
        pytest.param({"Accept": "*/*"}, 200, id="all taken"),
        pytest.param({"Accept": "application/*;q=0.9, text/*"}, 200, id="kinds taken"),
    ],
)
async def test_media_types_are_checked(
    tmp_path: Path, headers: dict[str, str], status: int
) -> None:
    async with fronted(Place(tmp_path, [INITIALIZE])) as served:
        asked = {"id": 1, "method": "initialize", "params": {}}
        answer = await Raw(served).post(asked, headers=headers)

    assert answer.status == status
