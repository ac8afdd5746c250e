"""What a tool of the raw server may do while it is called: notify, ask, wait, look back."""

import json
import queue
import threading
from collections import Counter
from collections.abc import Mapping
from typing import Any, NamedTuple

from tests.servers.raw_output import Output

WAIT_SECONDS = 30.0


class Call(NamedTuple):
    """One `tools/call`.

    Attributes:
        request_id: The id as it was parsed.
        params: All of the params.
        arguments: The arguments, `{}` where they are absent or no object.
        modern: Whether the request is of revision 2026-07-28.
    """

    request_id: Any
    params: Mapping[str, Any]
    arguments: Mapping[str, Any]
    modern: bool

    @property
    def progress_token(self) -> Any:
        """The token under which the caller wants progress, None where it wants none."""
        meta = self.params.get("_meta")
        return meta.get("progressToken") if isinstance(meta, dict) else None


class Spelled(NamedTuple):
    """A result, or a whole message, whose spelling matters."""

    text: bytes


class RpcFailure(NamedTuple):
    """A JSON-RPC error."""

    code: int
    message: str
    data: Any = None


class Session:
    """The state of one server process, shared by its threads."""

    def __init__(self, output: Output) -> None:
        self.output = output
        self.counters: Counter[str] = Counter()
        self.received: list[bytes] = []
        self.added_tools: list[str] = []
        self.grandchild: int | None = None
        self.ended = threading.Event()
        self._running: set[str] = set()
        self._cancelled: set[str] = set()
        self._released: set[str] = set()
        self._change = threading.Condition()
        self._answers: dict[str, queue.Queue[Any]] = {}

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        """Send a notification."""
        message: dict[str, Any] = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.output.write(encode(message))

    def progress(self, call: Call, done: float, total: float, message: str) -> None:
        """Send progress, if the caller asked for it."""
        token = call.progress_token
        if token is not None:
            told = {"progressToken": token, "progress": done, "total": total, "message": message}
            self.notify("notifications/progress", told)

    def ask(self, request_id: Any, method: str, params: Mapping[str, Any]) -> Any:
        """Send the client a request and wait for its answer.

        Raises:
            queue.Empty: If no answer comes.
        """
        waiting = self._answers.setdefault(_key(request_id), queue.Queue())
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}
        self.output.write(encode(message))
        return waiting.get(timeout=WAIT_SECONDS)

    def take_answer(self, message: Mapping[str, Any]) -> None:
        """Hand the client's answer to whoever asked; an answer nobody asked for is dropped."""
        waiting = self._answers.get(_key(message.get("id")))
        if waiting is not None:
            waiting.put({key: message[key] for key in ("result", "error") if key in message})

    def wait(self, call: Call, key: str, seconds: float) -> str:
        """Wait until `key` is released.

        Returns:
            Why the wait is over: released, cancelled, end of input, or time.
        """

        def reason() -> str:
            if key in self._released:
                return "released"
            if _key(call.request_id) in self._cancelled:
                return "cancelled"
            return "end of input" if self.ended.is_set() else ""

        with self._change:
            self._change.wait_for(reason, timeout=seconds)
            over = reason() or "time"
            self._released.discard(key)
        return over

    def release(self, key: str) -> None:
        """End the wait for `key`, also one that has yet to begin."""
        with self._change:
            self._released.add(key)
            self._change.notify_all()

    def begin(self, call: Call) -> None:
        """Note that a call is under way."""
        with self._change:
            self._running.add(_key(call.request_id))

    def cancel(self, request_id: Any) -> None:
        """Note that the client gave a call up; one that is not under way stays as it is."""
        with self._change:
            if _key(request_id) in self._running:
                self._cancelled.add(_key(request_id))
            self._change.notify_all()

    def finish(self, call: Call) -> bool:
        """Note that a call is over; tell whether the client gave it up meanwhile."""
        key = _key(call.request_id)
        with self._change:
            cancelled = key in self._cancelled
            self._cancelled.discard(key)
            self._running.discard(key)
        return cancelled

    def end(self) -> None:
        """Note the end of the input: what still waits may stop waiting."""
        with self._change:
            self.ended.set()
            self._change.notify_all()


def encode(value: Any) -> bytes:
    """Write JSON the usual way: compact, non-ASCII as it is."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode(
        "utf-8", "surrogatepass"
    )


def encode_result(call: Call, result: dict[str, Any] | Spelled) -> bytes:
    """Write the message that answers a call, with what its era demands of a result."""
    if isinstance(result, dict):
        whole = {"resultType": "complete", **result} if call.modern else result
        return encode({"jsonrpc": "2.0", "id": call.request_id, "result": whole})
    text = b'{"resultType":"complete",' + result.text[1:] if call.modern else result.text
    return b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (encode(call.request_id), text)


def _key(request_id: Any) -> str:
    # "1" and 1 are two ids.
    return json.dumps(request_id)
