"""All servers of a config on one listener: `/NAME/mcp` each, for as long as it is wanted."""

from __future__ import annotations

import asyncio
import contextlib
import logging
import os
import resource
import signal
from typing import TYPE_CHECKING
from urllib.parse import quote, unquote

from aiohttp import web

from sidecar.cassette.redaction import Redactor, secret_environment
from sidecar.cassette.secret_values import config_secrets
from sidecar.errors import UsageError
from sidecar.proxy.addresses import secrets_of
from sidecar.proxy.http.answers import RefusedError, refusal
from sidecar.proxy.http.endpoint import ENDLESS, Endpoint
from sidecar.proxy.http.guard import Guard, is_loopback, own_name
from sidecar.proxy.http.listening import Listener
from sidecar.proxy.http.passing import trim
from sidecar.proxy.saving import load, save
from sidecar.proxy.streams import say
from sidecar.store.journal import Journal
from sidecar.store.masking import masks_for
from sidecar.store.settings import load_settings, project_of

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping

    from sidecar.cassette.recorder import Masks
    from sidecar.proxy.http.endpoint import ServeOptions, ServerEntry
    from sidecar.store.cassettes import Loaded

_HEALTH = "/health"
_FORCED_SECONDS = 15  # on top of the waits that are allowed: something hangs
_ENDING_SECONDS = 1.0  # for a handler that was cancelled
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
    _allow_many_files()
    loaded = load(options)
    with Journal.open(options.journal) as journal:
        journal.start_run(
            options.run, mode=options.mode, cassette=options.cassette, agent_id=options.agent_id
        )
        code = asyncio.run(_served(options, journal, loaded))
        if options.mode in ("record", "auto"):
            save(options, journal)
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


async def _served(options: ServeOptions, journal: Journal, loaded: Loaded | None) -> int:
    server = Server(options, journal, loaded)
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
        masks: What takes secrets out of whatever is kept.
        stopping: Whether it was told to stop.
    """

    def __init__(self, options: ServeOptions, journal: Journal, loaded: Loaded | None) -> None:
        """Prepare; nothing is started or contacted.

        Raises:
            ConfigError: If a server's URL cannot be used.
        """
        self._options = options
        self.masks = _masks(options)
        self._endpoints: Mapping[str, Endpoint] = {
            entry.name: _endpoint(options, entry, journal, self.masks, loaded)
            for entry in options.servers
        }
        self._guard = Guard(options)
        self._requests: list[web.Request] = []
        self._settled = asyncio.Event()
        self.stopping = False
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", self._handle)
        app.on_response_prepare.append(trim)
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
            say(f"{name} at http://{host}:{self.port}/{quote(name, safe='')}/mcp")

    async def stop(self) -> int:
        """Accept no more, wait for open answers, end all sessions; return the exit code."""
        self.stopping = True
        if self._listener is not None:
            self._listener.close()
        is_patient = await self._drained(self._options.limits.drain_seconds)
        await self._cut_off()
        codes = [await endpoint.close(patient=is_patient) for endpoint in self._endpoints.values()]
        await self._runner.cleanup()
        return max(codes, default=0)

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
            return await self._answered(request)
        except RefusedError as error:
            return refusal(error)
        except (ConnectionResetError, asyncio.CancelledError):
            raise  # the client went
        except Exception as error:  # noqa: BLE001  # one request's fate is no other's
            say(f"a request failed: {type(error).__name__}: {error}")
            return refusal(RefusedError(500, "The sidecar failed; see its standard error"))
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


def _quiet() -> logging.Logger:
    """A logger that drops what aiohttp says: what a client does wrong is no news of ours."""
    logger = logging.getLogger("sidecar.http")
    logger.addHandler(logging.NullHandler())
    logger.propagate = False
    return logger


def _endpoint(
    options: ServeOptions,
    entry: ServerEntry,
    journal: Journal,
    masks: Masks,
    loaded: Loaded | None,
) -> Endpoint:
    if entry.url is not None and options.mode in ("record", "passthrough"):
        from sidecar.proxy.http.relay import Relay  # noqa: PLC0415  # a replay needs none

        return Relay(options, entry, journal, masks)
    from sidecar.proxy.http.front import Front  # noqa: PLC0415  # a relay needs none

    return Front(options, entry, journal, masks, loaded)


def _masks(options: ServeOptions) -> Redactor:
    """Mask what the environment and the config give servers as secrets."""
    home = os.path.dirname(options.journal)
    rules = load_settings(project_of(home, os.getcwd())).redaction
    known = [options.token] if options.token is not None else []
    for entry in options.servers:
        env = dict(entry.env)
        known += [*secret_environment(env), *config_secrets(env).values()]
        known += secrets_of(entry.headers)
    return masks_for(home, os.environ, rules, known)


def _listen_to_signals(stop: asyncio.Event, options: ServeOptions) -> None:
    loop = asyncio.get_running_loop()
    limits = options.limits
    patience = limits.drain_seconds + 3 * limits.grace_seconds * len(options.servers)

    def order() -> None:
        if not stop.is_set():
            signal.alarm(round(patience) + _FORCED_SECONDS)  # whatever hangs then
        stop.set()

    for sign in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        if sign != signal.SIGHUP or signal.getsignal(sign) != signal.SIG_IGN:  # nohup
            loop.add_signal_handler(sign, order)


def _allow_many_files() -> None:
    """Allow as many open files as the system lets us: each client needs two."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft != hard:
        with contextlib.suppress(OSError, ValueError):  # macOS names a limit it does not grant
            resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
