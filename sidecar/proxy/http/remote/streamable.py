"""Streamable HTTP as a client speaks it, in both eras: each message a POST of its own."""

from __future__ import annotations

import asyncio
from http import HTTPStatus

import aiohttp

from sidecar.proxy.http.headers import JSON, SESSION_HEADER, STREAM
from sidecar.proxy.http.remote.errands import OLDER, Errand, Errands
from sidecar.proxy.http.remote.requests import NoAnswerError, Requests, Sent, refusal
from sidecar.proxy.http.remote.session import RemoteSession
from sidecar.proxy.http.remote.streams import Place, body, events, excerpt, is_stream

NOTICE_SECONDS = 30.0
"""How long a server may take to accept what has no answer: the client's next line waits."""

_TRIES = 3  # in a row, to open a stream again that was cut
_STEADY_SECONDS = 10.0  # a stream that lasted so long was cut by what cuts all that is idle
_LISTENING_SECONDS = 2.0  # for a server to open its stream, before the client goes on


class OlderServerError(NoAnswerError):
    """A server refused to begin a session in a way that one of the older transport would."""


class Streamable:
    """Speaks with one endpoint."""

    def __init__(
        self,
        requests: Requests,
        errands: Errands,
        session: RemoteSession,
        tasks: asyncio.TaskGroup,
    ) -> None:
        """Take what it works with; nothing is sent yet."""
        self._requests = requests
        self._errands = errands
        self._session = session
        self._tasks = tasks
        self._listening: asyncio.Task[None] | None = None

    async def take(self, errand: Errand) -> None:
        """Send a line of the client's.

        Requests run side by side. But none overtakes a notification, nor the beginning of
        its session, whose id it has to name.

        Raises:
            OlderServerError: If the server may be one of the older transport.
        """
        ident = errand.takes_back
        if ident is not None and self._took_back(ident):
            return
        headers = self._session.sending(errand)
        if errand.opens:
            self._stop_listening()
            await self._converse(errand, headers)
        elif errand.notifies and not errand.asked:
            await self._converse(errand, headers, NOTICE_SECONDS)
        else:
            errand.task = self._tasks.create_task(self._converse(errand, headers))
        if errand.is_initialized:
            await self._listen()

    async def finish(self, seconds: float) -> None:
        """Tell the server that its session has ended."""
        if self._session.id is None:
            return
        end = Sent("DELETE", self._requests.url, self._session.headers())
        try:
            async with self._requests.response(end, seconds):
                return  # 405: it ends sessions by itself
        except NoAnswerError:
            return

    def _took_back(self, ident: str) -> bool:
        """Take back a request; tell whether that is all that there is to do (J09).

        In the modern era to close the request's response is to cancel it.
        """
        errand = self._errands.asking(ident)
        self._errands.settled(ident)
        if errand is None:
            return self._session.is_modern
        if errand.version is None:
            return False
        if errand.task is not None and not errand.asked:
            errand.task.cancel()
        return True

    async def _converse(
        self, errand: Errand, headers: dict[str, str], seconds: float | None = None
    ) -> None:
        kinds = {"Accept": f"{JSON}, {STREAM}", "Content-Type": JSON}
        request = Sent("POST", self._requests.url, headers | kinds, errand.line)
        try:
            async with self._requests.response(request, seconds) as response:
                await self._take_response(errand, response)
        except OlderServerError:
            raise
        except NoAnswerError as error:
            await self._errands.give_up(errand, str(error), error.status)

    async def _take_response(self, errand: Errand, response: aiohttp.ClientResponse) -> None:
        if errand.opens and response.ok:
            self._session.id = response.headers.get(SESSION_HEADER)
        if errand.asked and is_stream(response):
            await self._follow(errand, response)
        elif errand.awaits or not response.ok:
            await self._take_body(errand, response)
        if errand.asked:
            raise NoAnswerError(
                f"it took the request, but did not answer it ({_told(response)})", response.status
            )

    async def _take_body(self, errand: Errand, response: aiohttp.ClientResponse) -> None:
        options = self._requests.options
        data = await body(response, options.max_message_bytes, options.answer_seconds or None)
        is_json = response.content_type == JSON and errand.awaits
        if is_json and await self._errands.deliver(data, errand, response.status):
            if response.status == HTTPStatus.UNAUTHORIZED:
                self._errands.tell(refusal(response))
            return
        if response.ok:
            return
        text = refusal(response) + excerpt(data, response, options.headers)
        if errand.opens and response.status in OLDER:
            raise OlderServerError(text, response.status)
        raise NoAnswerError(text, response.status)

    async def _follow(self, errand: Errand, response: aiohttp.ClientResponse) -> None:
        """Read a stream to its end, which is its answer's at the earliest (H06, H10)."""
        place = Place()
        await self._read(response, place, errand)
        tries = 0
        while errand.asked and errand.version is None and place.id and tries < _TRIES:
            await asyncio.sleep(place.wait_seconds)
            seen = place.events
            try:
                await self._resume(place, errand)
            except NoAnswerError as error:
                if error.status is not None:
                    break
            tries = 0 if place.events > seen else tries + 1
        if errand.asked:
            raise NoAnswerError("its stream ended before the answer")

    async def _resume(self, place: Place, errand: Errand) -> None:
        async with self._requests.response(self._get(place)) as response:
            if not is_stream(response):
                raise NoAnswerError(refusal(response), response.status)
            await self._read(response, place, errand)

    async def _read(
        self, response: aiohttp.ClientResponse, place: Place, own: Errand | None
    ) -> None:
        async for event in events(response, self._requests.options.max_message_bytes):
            place.passed(event)
            if event.event == "message" and event.data:
                await self._errands.deliver(event.data.encode(), own)
            if own is not None and own.opens and not own.asked:
                return  # the client's next line waits for it, and a server may leave it open

    def _get(self, place: Place) -> Sent:
        headers = self._session.headers() | {"Accept": STREAM, "Cache-Control": "no-store"}
        if place.id:
            headers["Last-Event-ID"] = place.id
        return Sent("GET", self._requests.url, headers)

    async def _listen(self) -> None:
        """Open the stream for what the server says unasked, if it has one."""
        opened = asyncio.Event()
        self._listening = self._tasks.create_task(self._keep_listening(opened))
        try:
            async with asyncio.timeout(_LISTENING_SECONDS):
                await opened.wait()
        except TimeoutError:
            return  # it says nothing before its first event

    async def _keep_listening(self, opened: asyncio.Event) -> None:
        """Open the stream again whenever it ends, and less and less often if it says nothing."""
        now = asyncio.get_running_loop().time
        place, failed, quiet = Place(), 0, 0
        while failed < _TRIES:
            seen, began = place.messages, now()
            try:
                async with self._requests.response(self._get(place)) as response:
                    opened.set()
                    if not is_stream(response):
                        return
                    failed = 0
                    await self._read(response, place, None)
            except NoAnswerError:
                opened.set()
                failed += 1
            was_steady = place.messages > seen or now() - began > _STEADY_SECONDS
            quiet = 0 if was_steady else quiet + 1
            await asyncio.sleep(place.pause_seconds(quiet))

    def _stop_listening(self) -> None:
        if self._listening is not None:
            self._listening.cancel()
            self._listening = None


def _told(response: aiohttp.ClientResponse) -> str:
    kind = response.headers.get("Content-Type", "no content")
    return f"HTTP {response.status}, {kind}"
