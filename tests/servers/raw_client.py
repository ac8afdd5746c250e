"""A small blocking MCP client that sees every byte: for tests and the benchmark.

It reads and writes from one thread, through non-blocking pipes, so that neither side can fill
a pipe and wait for ever. Every wait is bounded.
"""

import contextlib
import json
import os
import select
import signal
import subprocess
import tempfile
import time
from collections import deque
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import IO, Any, NamedTuple, Self

TIMEOUT_SECONDS = 30.0
_READ_BYTES = 1 << 20
_CLIENT = {"name": "raw-client", "version": "1.0.0"}
_META = "io.modelcontextprotocol/"


class Message(NamedTuple):
    """One line from the server.

    Attributes:
        line: Its bytes, the line end included.
        value: What they say as JSON, None where they are no JSON.
    """

    line: bytes
    value: Any


class Reply(NamedTuple):
    """An answer, and all that came before it.

    Attributes:
        line: The bytes of the answer, the line end included.
        value: The answer, a JSON-RPC response.
        before: What came since the last answer that was waited for, in order.
    """

    line: bytes
    value: dict[str, Any]
    before: tuple[Message, ...]


class EndOfOutputError(Exception):
    """The server closed its output while an answer was waited for."""


class RawClient:
    """A server process, spoken to in lines.

    Used as a context manager it kills the server's whole process group at the end.

    Attributes:
        modern: Whether requests carry the `_meta` of revision 2026-07-28; `discover` sets it.
        process: The server's process.
    """

    def __init__(
        self,
        argv: Sequence[str | Path],
        *,
        env: Mapping[str, str] | None = None,
        cwd: str | Path | None = None,
        timeout: float = TIMEOUT_SECONDS,
    ) -> None:
        self.modern = False
        self.timeout = timeout
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as we do
        self.process = subprocess.Popen(
            [str(word) for word in argv],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            env=None if env is None else dict(env),
            cwd=cwd,
            start_new_session=True,
            bufsize=0,
        )
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self._stdin, self._stdout = self.process.stdin, self.process.stdout
        os.set_blocking(self._stdin.fileno(), False)
        os.set_blocking(self._stdout.fileno(), False)
        self._lines: deque[bytes] = deque()
        self._other_answers: list[Message] = []
        self._pieces: list[bytes] = []
        self._ended = False
        self._last_id = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.kill()

    # --- sending

    def send(self, data: bytes) -> None:
        """Send bytes as they are; what the server says meanwhile is kept for later.

        Raises:
            TimeoutError: If the server does not take them in time.
            BrokenPipeError: If it does not read any more.
        """
        rest = memoryview(data)
        deadline = time.monotonic() + self.timeout
        while rest:
            with contextlib.suppress(BlockingIOError):
                rest = rest[os.write(self._stdin.fileno(), rest) :]
            if rest:
                self._poll(deadline, to_write=True)

    def send_message(self, message: object) -> None:
        """Send one message, compact, non-ASCII as it is."""
        line = json.dumps(message, ensure_ascii=False, separators=(",", ":"))
        self.send(line.encode() + b"\n")

    def start(
        self, method: str, params: Mapping[str, Any] | None = None, *, request_id: object = None
    ) -> Any:
        """Send a request without waiting for its answer; returns its id."""
        if request_id is None:
            self._last_id += 1
            request_id = self._last_id
        message: dict[str, Any] = {"jsonrpc": "2.0", "id": request_id, "method": method}
        if self.modern:
            params = dict(params or {})
            params["_meta"] = {**_modern_meta(), **params.get("_meta", {})}
        if params is not None:
            message["params"] = params
        self.send_message(message)
        return request_id

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.send_message(message)

    def answer(self, request_id: object, result: object) -> None:
        """Answer a request of the server's."""
        self.send_message({"jsonrpc": "2.0", "id": request_id, "result": result})

    # --- asking

    def request(
        self, method: str, params: Mapping[str, Any] | None = None, *, request_id: object = None
    ) -> Reply:
        """Send a request and wait for its answer."""
        return self.read_until(self.start(method, params, request_id=request_id))

    def start_call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, token: object = None
    ) -> Any:
        """Send a `tools/call` without waiting; returns its id. `token` asks for progress."""
        params: dict[str, Any] = {"name": tool, "arguments": dict(arguments or {})}
        if token is not None:
            params["_meta"] = {"progressToken": token}
        return self.start("tools/call", params)

    def call(
        self, tool: str, arguments: Mapping[str, Any] | None = None, *, token: object = None
    ) -> Reply:
        """Call a tool and wait for its answer."""
        return self.read_until(self.start_call(tool, arguments, token=token))

    def initialize(
        self,
        version: str = "2025-11-25",
        *,
        capabilities: Mapping[str, Any] | None = None,
        request_id: object = None,
    ) -> Reply:
        """Do the handshake."""
        hello = {
            "protocolVersion": version,
            "capabilities": dict(capabilities or {}),
            "clientInfo": _CLIENT,
        }
        reply = self.request("initialize", hello, request_id=request_id)
        self.notify("notifications/initialized")
        return reply

    def discover(self) -> Reply:
        """Begin as revision 2026-07-28 does; from here on requests carry its `_meta`."""
        self.modern = True
        return self.request("server/discover")

    # --- reading

    def read(self, timeout: float | None = None) -> bytes | None:
        """Read one line, its end included; None at the end of the output.

        Raises:
            TimeoutError: If neither comes in time.
        """
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while not self._lines and not self._ended:
            self._poll(deadline, to_write=False)
        return self._lines.popleft() if self._lines else None

    def read_until(self, request_id: object, timeout: float | None = None) -> Reply:
        """Read up to the answer to the request with that id, compared with its JSON type.

        Other answers that come first are found by a later call.

        Raises:
            TimeoutError: If it does not come in time.
            EndOfOutputError: If the output ends before it.
        """
        for index, early in enumerate(self._other_answers):
            if _answers(early.value, request_id):
                del self._other_answers[index]
                return Reply(early.line, early.value, ())
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        return self.read_where(lambda message: _answers(message, request_id), deadline=deadline)

    def read_request(self, method: str) -> Reply:
        """Read up to a request or notification of the server's with that method."""
        deadline = time.monotonic() + self.timeout
        return self.read_where(lambda message: message.get("method") == method, deadline=deadline)

    def read_where(self, wanted: Callable[[dict[str, Any]], bool], *, deadline: float) -> Reply:
        """Read up to the first message that is wanted.

        Args:
            wanted: Told each message that is a JSON object.
            deadline: On the monotonic clock, seconds.

        Raises:
            TimeoutError: If it does not come in time.
            EndOfOutputError: If the output ends before it.
        """
        before: list[Message] = []
        while True:
            line = self.read(max(0.0, deadline - time.monotonic()))
            if line is None:
                raise EndOfOutputError(f"output ended after {before}; stderr: {self.stderr_text()}")
            message = Message(line, _parse(line))
            if isinstance(message.value, dict) and wanted(message.value):
                return Reply(line, message.value, tuple(before))
            before.append(message)
            if isinstance(message.value, dict) and "method" not in message.value:
                self._other_answers.append(message)

    def read_rest(self) -> list[bytes]:
        """Read all lines up to the end of the output."""
        return list(iter(self.read, None))

    # --- the end

    def close_stdin(self) -> None:
        """Tell the server that no more will come."""
        self._stdin.close()

    def wait(self, timeout: float | None = None) -> int:
        """Wait for the server to go; returns its exit code, minus the signal where one ended it.

        What it still says is read meanwhile, so that it can't block on a full pipe.

        Raises:
            TimeoutError: If it does not go in time.
        """
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while not self._ended and self.process.poll() is None:
            # A grandchild may hold the output open: look at the process now and then.
            with contextlib.suppress(TimeoutError):
                self._poll(min(deadline, time.monotonic() + 0.05), to_write=False)
            if time.monotonic() >= deadline:
                break
        try:
            return self.process.wait(max(0.0, deadline - time.monotonic()))
        except subprocess.TimeoutExpired:
            raise TimeoutError(f"still running; stderr: {self.stderr_text()}") from None

    def stderr_text(self) -> str:
        """What the server has written to stderr so far."""
        size = os.fstat(self._errors.fileno()).st_size
        return os.pread(self._errors.fileno(), size, 0).decode("utf-8", "replace")

    def kill(self) -> None:
        """End the server's process group, whatever state it is in."""
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(self.timeout)
        for stream in (self._stdin, self._stdout, self._errors):
            with contextlib.suppress(OSError):
                stream.close()

    def _poll(self, deadline: float, *, to_write: bool) -> None:
        """Wait until there is something to read (or room to write), and read it."""
        poll = select.poll()
        if not self._ended:
            poll.register(self._stdout, select.POLLIN)
        if to_write:
            poll.register(self._stdin, select.POLLOUT)
        ready = poll.poll(max(0.0, deadline - time.monotonic()) * 1000)
        if not ready:
            raise TimeoutError(f"nothing came; stderr: {self.stderr_text()}")
        if any(file == self._stdout.fileno() for file, _ in ready):
            self._read_some()

    def _read_some(self) -> None:
        try:
            chunk = os.read(self._stdout.fileno(), _READ_BYTES)
        except BlockingIOError:
            return
        if not chunk:
            self._ended = True
        first, *others = chunk.split(b"\n")
        self._pieces.append(first)
        for piece in others:
            self._lines.append(b"".join(self._pieces) + b"\n")
            self._pieces = [piece]
        if self._ended and any(self._pieces):
            self._lines.append(b"".join(self._pieces))
            self._pieces = []


def _parse(line: bytes) -> Any:
    try:
        return json.loads(line)
    except ValueError:
        return None


def _answers(message: Mapping[str, Any], request_id: object) -> bool:
    found = message.get("id")
    return "method" not in message and type(found) is type(request_id) and found == request_id


def _modern_meta() -> dict[str, Any]:
    return {
        _META + "protocolVersion": "2026-07-28",
        _META + "clientCapabilities": {},
        _META + "clientInfo": _CLIENT,
    }
