"""The older HTTP with SSE transport (2024-11-05) as a client speaks it.

One stream brings all that the server says, and first the endpoint that messages go to.
"""

from __future__ import annotations

import asyncio
from urllib.parse import urljoin

from sidecar.proxy.http.headers import JSON, STREAM
from sidecar.proxy.http.outgoing import is_same_origin, shown
from sidecar.proxy.http.remote.errands import Errand, Errands
from sidecar.proxy.http.remote.requests import NoAnswerError, Requests, Sent, refusal
from sidecar.proxy.http.remote.streamable import NOTICE_SECONDS
from sidecar.proxy.http.remote.streams import body, events, excerpt, is_stream

_ENDED = "its event stream ended"
_REFUSAL_BYTES = 1 << 20


class OlderSse:
    """Speaks with one server. To close the stream is all that it takes to end."""

    def __init__(
        self,
        requests: Requests,
        errands: Errands,
        tasks: asyncio.TaskGroup,
        over: asyncio.Event,
    ) -> None:
        """Take what it works with; nothing is sent before `open`.

        Args:
            requests: To the server.
            errands: What it was asked.
            tasks: Where what runs beside runs.
            over: Set once the stream has ended: nothing can be answered any more.
        """
        self._requests = requests
        self._errands = errands
        self._tasks = tasks
        self._endpoint = ""
        self._over = over

    async def open(self) -> None:
        """Open the stream, and wait for the endpoint.

        Raises:
            NoAnswerError: If there is no such stream, or its endpoint is not to be used.
        """
        endpoint: asyncio.Future[str] = asyncio.get_running_loop().create_future()
        reading = self._tasks.create_task(self._read(endpoint))
        try:
            async with asyncio.timeout(NOTICE_SECONDS):
                self._endpoint = await endpoint
        except TimeoutError:
            text = f"its event stream named no endpoint within {NOTICE_SECONDS:g} seconds"
            raise NoAnswerError(text) from None
        finally:
            if not self._endpoint:
                reading.cancel()

    async def take(self, errand: Errand) -> None:
        """Send a line of the client's; requests do not wait for each other."""
        if errand.takes_back is not None:
            self._errands.settled(errand.takes_back)
        if errand.opens or errand.notifies:
            await self._post(errand)
        else:
            self._tasks.create_task(self._post(errand))

    async def _post(self, errand: Errand) -> None:
        try:
            await self._posted(errand)
        except NoAnswerError as error:
            await self._errands.give_up(errand, str(error), error.status)

    async def _posted(self, errand: Errand) -> None:
        request = Sent("POST", self._endpoint, {"Content-Type": JSON}, errand.line)
        async with self._requests.response(request, NOTICE_SECONDS) as response:
            if response.ok:
                return  # its answer comes on the stream
            data = await body(response, _REFUSAL_BYTES, NOTICE_SECONDS)
            if not await self._errands.deliver(data, errand, response.status):
                text = refusal(response) + excerpt(data, response, self._requests.options.headers)
                raise NoAnswerError(text, response.status)

    async def _read(self, endpoint: asyncio.Future[str]) -> None:
        try:
            await self._follow(endpoint)
        except NoAnswerError as error:
            if not endpoint.done():
                endpoint.set_exception(error)
                return
            self._errands.tell(str(error))
            self._over.set()

    async def _follow(self, endpoint: asyncio.Future[str]) -> None:
        """Read the stream.

        Raises:
            NoAnswerError: At its end, or if there is none.
        """
        request = Sent("GET", self._requests.url, {"Accept": STREAM, "Cache-Control": "no-store"})
        async with self._requests.response(request) as response:
            if not is_stream(response):
                raise NoAnswerError(refusal(response), response.status)
            async for event in events(response, self._requests.options.max_message_bytes):
                if event.event == "endpoint" and not endpoint.done():
                    endpoint.set_result(self._endpoint_at(event.data))
                elif event.event == "message" and event.data:
                    await self._errands.deliver(event.data.encode(), None)
        raise NoAnswerError(_ENDED)

    def _endpoint_at(self, text: str) -> str:
        """Find where messages go (H13).

        Raises:
            NoAnswerError: If that is on another origin.
        """
        try:
            target = urljoin(self._requests.url, text)
            if is_same_origin(self._requests.url, target):
                return target
            problem = f"it wants messages at {shown(target)}, which is another origin"
        except ValueError:
            problem = "it wants messages at what is no URL"
        raise NoAnswerError(f"{problem}: refused")
