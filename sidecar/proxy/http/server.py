"""All servers of a config on one listener: `/NAME/mcp` each, for as long as it is wanted."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import signal
from typing import TYPE_CHECKING
from urllib.parse import unquote

from aiohttp import web

from sidecar.errors import UsageError
from sidecar.proxy import open_files
from sidecar.proxy.http.admission import Guard, is_loopback, own_name
from sidecar.proxy.http.answers import RefusedError, refusal
from sidecar.proxy.http.endpoint import ENDLESS, Endpoint, path_of
from sidecar.proxy.http.listening import Listener
from sidecar.proxy.http.relay.passing import trim
from sidecar.proxy.masking import masks_of_servers
from sidecar.proxy.saving import load, save
from sidecar.proxy.streams import say
from sidecar.store.journal import Journal

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from sidecar.cassette.redaction.redactor import Redactor
    from sidecar.proxy.http.bridge.front import Front
    from sidecar.proxy.http.endpoint import ServedServer, ServeOptions
    from sidecar.store.cassettes import Loaded

_HEALTH = "/health"
_BEGUN = web.RequestKey("begun", web.StreamResponse)
_FORCED_SECONDS = 15  # on top of the waits that are allowed: something hangs
_CLOSING_SECONDS = 15.0  # for all that has not ended once nobody is patient any more
_ENDING_SECONDS = 1.0  # for a handler that was cancelled
_FAILED = 2
_LINGERING_SECONDS = 1.0  # for the body of a request that was refused
_HEADER_BYTES = 64 * 1024  # of one: arguments may be mirrored into headers
_IDLE_SECONDS = 120.0  # of a connection between two requests


def serve(options: ServeOptions) -> int:
    """Serve all servers until a signal says to stop.

    Returns:
        0; in `replay` 1 if a request missed and failed closed, and 2 if something could
        not be journalled.

    Raises:
        SidecarError: If the journal, the cassette, a URL or the address cannot be used.
            Nothing was started then.
    """
    check(options)
    open_files.allow_many()
    loaded = load(options)
    with Journal.open(options.journal) as journal:
        masks = masks_of(options)
        journal.start_run(
            options.run, mode=options.mode, cassette=options.cassette, agent_id=options.agent_id
        )
        server = Server(options, journal, masks, loaded)
        code = asyncio.run(_served(server, options))
        signal.alarm(0)  # the cassette may take its time
        save(options, journal, masks)
    if server.hangs:
        os._exit(code)  # else its threads would be waited for; the guard ends the processes
    return code


def check(options: ServeOptions) -> None:
    """Refuse to listen where everybody can reach us, if there is no token (H20).

    Raises:
        UsageError: With the next step.
    """
    if options.token is None and not is_loopback(options.host):
        raise UsageError(
            "other machines can reach this address, and there is no token",
            place=f"--host {options.host}",
            hint="set MCP_SIDECAR_TOKEN to a long secret, or listen at 127.0.0.1",
        )


def masks_of(options: ServeOptions) -> Redactor:
    """Make what masks all that is a secret of the environment, the config, or ours.

    Raises:
        JournalError: If the journal's key can be neither read nor made.
        UsageError: If a pattern is no regular expression.
    """
    ours = () if options.token is None else (options.token,)
    home = os.path.dirname(options.journal)
    return masks_of_servers(home, options.redaction, options.servers, ours)


async def _served(server: Server, options: ServeOptions) -> int:
    stop = asyncio.Event()
    _listen_to_signals(stop, options)
    await server.start()
    try:
        await stop.wait()
    finally:
        code = await server.stop()
    return code


class Server:
    """The listener, and an endpoint for each server.

    Attributes:
        stopping: Whether it was told to stop.
        hangs: Whether something did not end in time when it stopped.
    """

    def __init__(
        self, options: ServeOptions, journal: Journal, masks: Redactor, loaded: Loaded | None
    ) -> None:
        """Prepare; nothing is started or contacted.

        Args:
            options: Of `serve`.
            journal: Open, with the run begun.
            masks: What takes secrets out of whatever is kept.
            loaded: The cassette, in `replay`, and in `auto` if there is one yet.

        Raises:
            ConfigError: If a server's URL cannot be used.
        """
        self._options = options
        self._endpoints: Mapping[str, Endpoint] = {
            entry.name: _endpoint(options, entry, journal, masks, loaded)
            for entry in options.servers
        }
        self._guard = Guard(options)
        self._requests: list[web.Request] = []
        self._settled = asyncio.Event()
        self.stopping = False
        self.hangs = False
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        app.on_response_prepare.append(trim)
        app.on_response_prepare.append(_note_begun)
        self._runner = web.AppRunner(
            app,
            access_log=None,
            auto_decompress=False,
            handler_cancellation=True,
            keepalive_timeout=_IDLE_SECONDS,
            lingering_time=_LINGERING_SECONDS,
            logger=_quiet(),
            max_field_size=_HEADER_BYTES,
            max_line_size=_HEADER_BYTES,
            shutdown_timeout=_ENDING_SECONDS,
        )
        self._listener: Listener | None = None

    @property
    def port(self) -> int:
        """The port that it listens at."""
        return 0 if self._listener is None else self._listener.port

    @property
    def connections(self) -> int:
        """How many connections are open."""
        server = self._runner.server
        return 0 if server is None else len(server.connections)

    async def start(self) -> None:
        """Listen, and say where.

        Raises:
            UsageError: If that is not possible.
        """
        await self._runner.setup()
        assert self._runner.server is not None
        self._listener = Listener(self._runner.server, self._options.limits)
        await self._listener.start(self._options.host, self._options.port)
        host = own_name(self._options.host)
        for name in self._endpoints:
            say(f"{name} at http://{host}:{self.port}{path_of(name, 'mcp')}")

    async def stop(self) -> int:
        """Accept no more, wait for open answers, end all sessions; return the exit code."""
        self.stopping = True
        if self._listener is not None:
            self._listener.close()
        is_patient = await self._drained(self._options.limits.drain_seconds)
        await self._cut_off()
        code = await self._closed(is_patient=is_patient)
        await self._runner.cleanup()
        return code

    async def _closed(self, *, is_patient: bool) -> int:
        """End all sessions, in a bounded time, and whatever one of them does."""
        loop = asyncio.get_running_loop()
        closing = {
            loop.create_task(endpoint.close(patient=is_patient)): name
            for name, endpoint in self._endpoints.items()
        }
        if not closing:
            return 0
        _, late = await asyncio.wait(closing, timeout=_closing_seconds(self._options))
        self.hangs = bool(late)
        return max(_code_of(closing[task], task) for task in closing)

    async def _cut_off(self) -> None:
        """End what is still open: streams without an end, and answers that took too long."""
        for request in list(self._requests):
            if request.transport is not None:
                request.transport.abort()  # which cancels its handler
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(_ENDING_SECONDS):
                while self._requests:
                    self._settled.clear()
                    await self._settled.wait()

    async def _drained(self, seconds: float) -> bool:
        """Wait for the answers that have an end; tell whether all came."""
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                while self.is_answering:
                    self._settled.clear()
                    await self._settled.wait()
        return not self.is_answering

    @property
    def is_answering(self) -> bool:
        """Whether an answer that has an end is under way."""
        return any(not request.get(ENDLESS, False) for request in self._requests)

    async def _handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request, whoever is to do it."""
        if self._listener is not None:
            self._listener.heard(request.protocol)
        self._requests.append(request)
        try:
            return _alone(request, await self._answered(request))
        except RefusedError as error:
            return _alone(request, refusal(error))
        except (ConnectionResetError, asyncio.CancelledError):
            raise  # the client went
        except Exception as error:  # noqa: BLE001  # one request's fate is no other's
            say(f"a request failed: {type(error).__name__}: {error}")
            failed = RefusedError(500, "The sidecar failed; see its standard error")
            return _alone(request, refusal(failed))
        finally:
            self._requests.remove(request)
            self._settled.set()

    async def _answered(self, request: web.Request) -> web.StreamResponse:
        path = request.raw_path.partition("?")[0]
        self._guard.check(request, needs_token=path != _HEALTH)
        if path == _HEALTH:
            return web.json_response({"status": "ok"})
        if self.stopping:
            raise RefusedError(503, "The sidecar is about to end", {"Connection": "close"})
        return await self._handler(path)(request)

    def _handler(self, path: str) -> Callable[[web.Request], Awaitable[web.StreamResponse]]:
        """Find what answers at a path, which is taken by the letter: no dots, no doubles."""
        first, *parts = path.split("/")
        endpoint = self._endpoints.get(unquote(parts[0])) if parts and not first else None
        if endpoint is None or len(parts) != 2:  # noqa: PLR2004  # the name, and what of it
            raise RefusedError(404, "There is nothing here: each server is at /NAME/mcp")
        handlers = {"mcp": endpoint.mcp, "sse": endpoint.sse, "messages": endpoint.messages}
        if parts[1] not in handlers:
            raise RefusedError(404, "There is nothing here: each server is at /NAME/mcp")
        return handlers[parts[1]]


async def _note_begun(request: web.Request, response: web.StreamResponse) -> None:
    request[_BEGUN] = response


def _alone(request: web.Request, response: web.StreamResponse) -> web.StreamResponse:
    """Answer; where another answer has begun already, break that off instead.

    Raises:
        ConnectionResetError: If it was broken off: a second head would be read as its body.
    """
    if _BEGUN not in request or request[_BEGUN] is response:
        return response
    if request.transport is not None:
        request.transport.abort()
    raise ConnectionResetError("another answer had begun")


def _code_of(name: str, closing: asyncio.Task[int]) -> int:
    """What an endpoint says at its end; one that failed, or does not end, is told."""
    if not closing.done():
        say(f"server {name!r} does not end; what it said last may be lost")
        return _FAILED
    error = closing.exception()
    if error is None:
        return closing.result()
    say(f"server {name!r} did not end in order: {type(error).__name__}: {error}")
    return _FAILED


def _quiet() -> logging.Logger:
    """A logger that drops what aiohttp says: what a client does wrong is no news of ours."""
    logger = logging.getLogger("sidecar.http")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


def _endpoint(
    options: ServeOptions,
    entry: ServedServer,
    journal: Journal,
    masks: Redactor,
    loaded: Loaded | None,
) -> Endpoint:
    def front() -> Front:
        # A relay hardly ever needs one.
        from sidecar.proxy.http.bridge.backstage import Backstage  # noqa: PLC0415
        from sidecar.proxy.http.bridge.front import Front  # noqa: PLC0415

        return Front(Backstage(options, entry, journal, masks, loaded), options.limits)

    if entry.url is None or options.mode not in ("record", "passthrough"):
        return front()
    from sidecar.proxy.http.either import Either  # noqa: PLC0415  # a replay needs none
    from sidecar.proxy.http.relay.relay import Relay  # noqa: PLC0415

    return Either(Relay(options, entry, journal, masks), front, entry.transport)


def _listen_to_signals(stop: asyncio.Event, options: ServeOptions) -> None:
    loop = asyncio.get_running_loop()
    limit = options.limits.drain_seconds + _ENDING_SECONDS + _closing_seconds(options)

    def order() -> None:
        if not stop.is_set():
            signal.alarm(round(limit) + _FORCED_SECONDS)  # whatever hangs then
        stop.set()

    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if sign != signal.SIGHUP or signal.getsignal(sign) != signal.SIG_IGN:  # nohup
            loop.add_signal_handler(sign, order)


def _closing_seconds(options: ServeOptions) -> float:
    return options.limits.patient_seconds + _CLOSING_SECONDS
