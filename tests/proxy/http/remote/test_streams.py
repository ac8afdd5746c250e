"""Bodies and streams are read up to a ceiling, and a stream's reader knows where it is."""

import asyncio
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Any, TypeAlias

import aiohttp
import pytest
from aiohttp import web

from sidecar.proxy.http.remote.requests import NoAnswerError
from sidecar.proxy.http.remote.streams import Place, body, events, excerpt, is_stream
from sidecar.wire.sse import Event
from tests.proxy.http.odd_server import Answer, OddServer, answering, cut, stream

Got: TypeAlias = Callable[[Answer], AbstractAsyncContextManager[aiohttp.ClientResponse]]


@pytest.fixture
def got() -> Got:
    """Gets a response, with a header that nobody should see."""

    @asynccontextmanager
    async def get(answer: Answer) -> Any:
        headers = {"Authorization": "Bearer abc-secret"}
        with OddServer({"GET": answer}) as server:
            async with (
                aiohttp.ClientSession(headers=headers) as session,
                session.get(server.url) as response,
            ):
                yield response

    return get


def test_h10_a_place_is_that_of_the_last_event_with_an_id() -> None:
    place = Place()
    assert (place.id, place.wait_seconds, place.events) == (None, 1.0, 0)

    for event in (Event("a", id="1"), Event("b"), Event("", id="2", retry=250), Event("", retry=1)):
        place.passed(event)

    assert (place.id, place.wait_seconds, place.events, place.messages) == ("2", 0.1, 4, 2)


def test_a_server_cannot_make_us_wait_for_ever() -> None:
    place = Place()
    place.passed(Event("", retry=10**12))

    assert place.wait_seconds == 60.0
    assert place.pause_seconds(10**6) == 60.0


def test_a_server_cannot_make_us_ask_without_a_pause() -> None:
    place = Place()
    place.passed(Event("", retry=0))

    assert place.wait_seconds == 0.1
    assert [place.pause_seconds(quiet) for quiet in range(5)] == [0.1, 0.1, 0.2, 0.4, 0.8]


@pytest.mark.parametrize(
    ("response", "expected"),
    [
        ({"content_type": "text/event-stream"}, True),
        ({"headers": {"Content-Type": "text/event-stream; charset=utf-8"}}, True),
        ({"content_type": "application/json"}, False),
        ({"content_type": "text/event-stream", "status": 405}, False),
    ],
)
async def test_a_stream_is_known_by_its_kind(
    got: Got, response: dict[str, Any], *, expected: bool
) -> None:
    async with got(answering(**response)) as one:
        assert is_stream(one) == expected


async def test_a_stream_ends_without_a_fuss_where_it_is_cut(got: Got) -> None:
    async def dies(request: web.Request, _message: Any) -> web.StreamResponse:
        response = await stream(request, b"data: 1\n\ndata: 2")
        cut(request)
        return response

    async with got(dies) as response:
        assert [event async for event in events(response, 1000)] == [Event("1")]


async def test_a_body_over_the_ceiling_is_refused(got: Got) -> None:
    async with got(answering(body=b"x" * 1000)) as response:
        assert await body(response, 1000, 30.0) == b"x" * 1000
    async with got(answering(body=b"x" * 1001, status=500)) as response:
        with pytest.raises(NoAnswerError, match="more than 1000 bytes is over the ceiling") as no:
            await body(response, 1000, 30.0)
    assert no.value.status == 500


async def test_h15_a_body_that_does_not_go_on_is_given_up(got: Got) -> None:
    async def halts(request: web.Request, _message: Any) -> web.StreamResponse:
        response = await stream(request, b"{")
        await asyncio.Event().wait()
        return response

    async with got(halts) as response:
        with pytest.raises(NoAnswerError, match="cut off"):
            await body(response, 1000, 0.1)


@pytest.mark.parametrize(
    ("data", "kind", "text"),
    [
        (b"no\n  such\x00 thing", "text/plain", ": no such\0 thing"),
        (b'{"detail":"abc-secret"}', "application/json", ': {"detail":"***"}'),
        (b"x" * 1000, "text/plain", ": " + "x" * 200),
        (b"", "text/plain", ""),
        (b"<p>no</p>", "text/html", ""),
    ],
)
async def test_a_refusal_is_quoted_if_it_is_for_people(
    got: Got, data: bytes, kind: str, text: str
) -> None:
    async with got(answering(content_type=kind)) as response:
        assert excerpt(data, response, ()) == text


async def test_a_refusal_is_quoted_without_what_the_user_gave_and_no_more(got: Got) -> None:
    given = [("A", ""), ("B", "e"), ("C", " "), ("D", "key-12345"), ("E", "Basic key-12345-long")]
    async with got(answering(content_type="text/plain")) as response:
        data = b"the key-12345-long of gzip, the key-12345 of text/plain; abc-secret"
        assert excerpt(data, response, given) == ": the *** of gzip, the *** of text/plain; ***"
