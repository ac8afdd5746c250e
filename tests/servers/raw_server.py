"""An MCP server over stdio without an SDK, for traffic that an SDK would not make.

It speaks both eras: `initialize` (2024-11-05 to 2025-11-25), and `server/discover` with `_meta`
on every request (2026-07-28). What it does is told by the tool that is called (raw_tools.py) and
by its flags (`--help`). It never outlives `--lifetime` seconds.

    python tests/servers/raw_server.py --noise --trace started.jsonl
"""

import argparse
import json
import os
import queue
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

# Run as a script, which puts only this folder on the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.servers.raw_output import Oddities, Output, append
from tests.servers.raw_session import Call, RpcFailure, Session, encode, encode_result
from tests.servers.raw_tools import TOOLS, Answer, Tool

HANDSHAKE_VERSIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25")
MODERN_VERSION = "2026-07-28"
_META = "io.modelcontextprotocol/"
_SERVER = {"name": "raw-server", "version": "1.0.0"}
_CAPABILITIES = {"tools": {"listChanged": True}, "resources": {}, "prompts": {}, "logging": {}}
_INSTRUCTIONS = "Odd on purpose."
_DRAIN_SECONDS = 5.0

_PROMPT = {"name": "greet", "arguments": [{"name": "who", "required": True}]}
_RESOURCE = {"uri": "raw://readme", "name": "readme", "mimeType": "text/plain"}
_STATIC: dict[str, dict[str, Any]] = {
    "ping": {},
    "logging/setLevel": {},
    "resources/list": {"resources": [_RESOURCE]},
    "resources/templates/list": {
        "resourceTemplates": [{"uriTemplate": "raw://{name}", "name": "any"}]
    },
    "prompts/list": {"prompts": [_PROMPT]},
}
# Results that revision 2026-07-28 wants marked with how long they may be kept.
_CACHEABLE = {method for method in _STATIC if method.endswith("/list")} | {
    "server/discover",
    "tools/list",
    "resources/read",
}


class RawServer:
    """Reads lines, answers requests; what may block gets a thread of its own."""

    def __init__(self, flags: argparse.Namespace) -> None:
        self._flags = flags
        oddities = Oddities(
            flags.noise, flags.stderr_flood, flags.byte_by_byte, flags.crlf, flags.sent
        )
        self.session = Session(Output(oddities))
        self._workers: list[threading.Thread] = []

    def serve(self) -> None:
        """Answer until the input ends, then let what is under way finish."""
        for line in sys.stdin.buffer:
            if self._flags.received is not None:
                append(self._flags.received, line)
            if line.strip():
                self.session.received.append(line)
                self._take(line)
        self.session.end()
        for worker in self._workers:
            worker.join(_DRAIN_SECONDS)

    def _take(self, line: bytes) -> None:
        try:
            message = json.loads(line)
        except (ValueError, RecursionError):
            self._send(_error(None, RpcFailure(-32700, "Parse error")))
            return
        if isinstance(message, list) and message:
            # Batches were legal in revision 2025-03-26; each element is answered by itself.
            for element in message:
                self._take_message(element)
        else:
            self._take_message(message)

    def _take_message(self, message: Any) -> None:
        if not isinstance(message, dict):
            self._send(_error(None, RpcFailure(-32600, "Invalid Request")))
        elif "method" not in message:
            self._take_answer(message)
        elif "id" not in message:
            self._take_notification(message)
        elif message["method"] == "tools/call":
            self._take_call(message)
        else:
            self._answer(_call(message), self._mark(message, self._surface(message)))

    def _take_answer(self, message: Mapping[str, Any]) -> None:
        if "result" in message or "error" in message:
            self.session.take_answer(message)
        else:
            self._send(_error(message.get("id"), RpcFailure(-32600, "Invalid Request")))

    def _take_notification(self, message: Mapping[str, Any]) -> None:
        if message["method"] == "notifications/cancelled":
            self.session.cancel((message.get("params") or {}).get("requestId"))

    def _take_call(self, message: Mapping[str, Any]) -> None:
        call = _call(message)
        name = str(call.params.get("name"))
        found = self._tools().get(name)
        if found is None:
            self._answer(call, RpcFailure(-32602, f"Unknown tool: {name}"))
            return
        self.session.begin(call)
        if found.blocks:
            worker = threading.Thread(target=self._run, args=(found, call), daemon=True)
            self._workers = [one for one in self._workers if one.is_alive()]
            self._workers.append(worker)
            worker.start()
        else:
            self._run(found, call)

    def _run(self, found: Tool, call: Call) -> None:
        answer: Answer
        try:
            answer = found.run(self.session, call)
        except (KeyError, TypeError, ValueError) as error:
            answer = RpcFailure(-32602, f"Invalid params: {error!r}")
        except queue.Empty:
            answer = RpcFailure(-32603, "the client did not answer")
        if not self.session.finish(call) or self._flags.late_answers:
            self._answer(call, answer)

    def _tools(self) -> dict[str, Tool]:
        return {**TOOLS, **dict.fromkeys(self.session.added_tools, TOOLS["echo"])}

    def _answer(self, call: Call, answer: Answer) -> None:
        if isinstance(answer, RpcFailure):
            self._send(_error(call.request_id, answer))
        elif answer is not None:
            self._send(encode_result(call, answer))

    def _send(self, line: bytes) -> None:
        self.session.output.write(line)

    def _surface(self, message: Mapping[str, Any]) -> Answer:
        method = message["method"]
        if method in _STATIC:
            return dict(_STATIC[method])
        made: dict[str, Callable[[Mapping[str, Any]], Answer]] = {
            "initialize": self._initialize,
            "server/discover": self._discover,
            "tools/list": self._list_tools,
            "resources/read": _read_resource,
            "prompts/get": _get_prompt,
        }
        if method not in made:
            return RpcFailure(-32601, f"Method not found: {method}")
        return made[method](_call(message).params)

    def _initialize(self, params: Mapping[str, Any]) -> Answer:
        asked = params.get("protocolVersion")
        if self._flags.era == "modern":
            known = {"supported": [MODERN_VERSION], "requested": asked}
            return RpcFailure(-32022, "Unsupported protocol version", known)
        version = asked if asked in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[-1]
        return {
            "protocolVersion": version,
            "capabilities": _CAPABILITIES,
            "serverInfo": _SERVER,
            "instructions": _INSTRUCTIONS,
        }

    def _discover(self, _: Mapping[str, Any]) -> Answer:
        if self._flags.era == "legacy":
            return RpcFailure(-32601, "Method not found: server/discover")
        return {
            "supportedVersions": [MODERN_VERSION],
            "capabilities": _CAPABILITIES,
            "instructions": _INSTRUCTIONS,
            "_meta": {_META + "serverInfo": _SERVER},
        }

    def _list_tools(self, params: Mapping[str, Any]) -> Answer:
        listed = [_describe(name, found) for name, found in self._tools().items()]
        size = self._flags.page_size or len(listed)
        start = int(params.get("cursor") or 0)
        page: dict[str, Any] = {"tools": listed[start : start + size]}
        if start + size < len(listed):
            page["nextCursor"] = str(start + size)
        return page

    def _mark(self, message: Mapping[str, Any], answer: Answer) -> Answer:
        if not isinstance(answer, dict):
            return answer
        if _is_modern(message) and message["method"] in _CACHEABLE:
            answer = {**answer, "ttlMs": 0, "cacheScope": "private"}
        return dict(_with_vendor(answer)) if self._flags.vendor else answer


def _read_resource(params: Mapping[str, Any]) -> Answer:
    return {"contents": [{"uri": params.get("uri"), "mimeType": "text/plain", "text": "read me"}]}


def _get_prompt(params: Mapping[str, Any]) -> Answer:
    said = f"Hello, {(params.get('arguments') or {}).get('who')}!"
    return {"messages": [{"role": "user", "content": {"type": "text", "text": said}}]}


def _with_vendor(value: Any) -> Any:
    if isinstance(value, dict):
        inner = {key: _with_vendor(member) for key, member in value.items()}
        return {**inner, "x-vendor": {"a": 1}}
    return [_with_vendor(item) for item in value] if isinstance(value, list) else value


def _describe(name: str, found: Tool) -> dict[str, Any]:
    schema = {"type": "object", "properties": dict(found.properties)}
    return {"name": name, "description": found.description, "inputSchema": schema}


def _call(message: Mapping[str, Any]) -> Call:
    given = message.get("params")
    params = given if isinstance(given, dict) else {}
    arguments = params.get("arguments")
    named = arguments if isinstance(arguments, dict) else {}
    return Call(message["id"], params, named, _is_modern(message))


def _is_modern(message: Mapping[str, Any]) -> bool:
    if message["method"] == "initialize":
        return False
    params = message.get("params")
    meta = params.get("_meta") if isinstance(params, dict) else None
    named = isinstance(meta, dict) and _META + "protocolVersion" in meta
    return named or message["method"] == "server/discover"


def _error(request_id: Any, failure: RpcFailure) -> bytes:
    error: dict[str, Any] = {"code": failure.code, "message": failure.message}
    if failure.data is not None:
        error["data"] = failure.data
    return encode({"jsonrpc": "2.0", "id": request_id, "error": error})


def _flags(words: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description="An MCP server for odd traffic.")
    add = parser.add_argument
    add("--era", choices=("both", "legacy", "modern"), default="both", help="what it speaks")
    add("--noise", action="store_true", help="banners, broken JSON, blank lines before messages")
    add("--stderr-flood", type=int, nargs="?", const=262_144, default=0, metavar="BYTES",
        help="bytes on stderr before each message (256 KiB)")  # fmt: skip
    add("--byte-by-byte", action="store_true", help="write every byte by itself")
    add("--crlf", action="store_true", help="end messages with CR LF")
    add("--vendor", action="store_true", help="x-vendor at every level of the surface")
    add("--page-size", type=int, default=0, help="tools on one page of tools/list")
    add("--late-answers", action="store_true", help="answer cancelled calls all the same")
    add("--ignore-eof", action="store_true", help="live on after the end of the input")
    add("--ignore-term", action="store_true", help="ignore SIGTERM, as does the grandchild")
    add("--grandchild", action="store_true", help="start a process that sleeps")
    add("--start-fail", action="store_true", help="traceback and exit code 1 at once")
    add("--exit-code", type=int, default=0, help="exit code at the end of the input")
    add("--lifetime", type=float, default=120.0, metavar="SECONDS", help="then it is gone")
    for name in ("trace", "received", "sent"):
        add(f"--{name}", type=Path, metavar="FILE", help=_FILE_HELP[name])
    return parser.parse_args(words)


_FILE_HELP = {
    "trace": "a line of JSON is added when the server starts",
    "received": "each line received is added, byte for byte",
    "sent": "each message sent is added, byte for byte",
}


def _start_grandchild(lifetime_seconds: float) -> int:
    # It keeps our stdout open, as the real server behind a launcher does.
    sleep = f"import time; time.sleep({lifetime_seconds})"
    return subprocess.Popen([sys.executable, "-c", sleep], stdin=subprocess.DEVNULL).pid


def main(words: Sequence[str]) -> int:
    """Run the server; returns its exit code."""
    flags = _flags(words)
    if flags.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    grandchild = _start_grandchild(flags.lifetime) if flags.grandchild else None
    if flags.trace is not None:
        started = {"pid": os.getpid(), "ppid": os.getppid(), "pgid": os.getpgrp()}
        append(flags.trace, encode({**started, "grandchild": grandchild}) + b"\n")
    if flags.start_fail:
        raise RuntimeError("no such database")
    watchdog = threading.Timer(flags.lifetime, os._exit, args=(9,))
    watchdog.daemon = True
    watchdog.start()
    server = RawServer(flags)
    server.session.grandchild = grandchild
    server.serve()
    if flags.ignore_eof:
        threading.Event().wait()
    return int(flags.exit_code)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
