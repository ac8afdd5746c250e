"""A judge behind HTTP: as much of the chat completions API as a judgement needs, on loopback.

It gives the answers it was made with, one a request, the last one again and again, and keeps
what it was asked.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Any, NamedTuple, Self

USAGE = {"prompt_tokens": 120, "completion_tokens": 30, "total_tokens": 150}


class Answer(NamedTuple):
    """One HTTP answer.

    Attributes:
        status: Its status.
        body: Its body; a JSON value, or bytes as they are.
        headers: Further headers.
        stalls: Whether it stops halfway through its body, until the server ends.
    """

    status: int = 200
    body: Any = b""
    headers: Mapping[str, str] = {}
    stalls: bool = False


class Asked(NamedTuple):
    """One request.

    Attributes:
        path: Its path.
        headers: Its headers, names in small letters.
        body: Its JSON.
    """

    path: str
    headers: dict[str, str]
    body: Any


def completion(content: Any, **more: Any) -> Answer:
    """A chat completion that says this, as JSON where it is no text."""
    said = content if isinstance(content, str) or content is None else json.dumps(content)
    message = {"role": "assistant", "content": said}
    choice = {"index": 0, "finish_reason": "stop", "message": message}
    return Answer(body={"object": "chat.completion", "choices": [choice], "usage": USAGE, **more})


def judged(met: list[bool], **more: Any) -> Answer:
    """A completion with a judgement."""
    reasons = [f"reason {number}" for number in range(1, len(met) + 1)]
    return completion({"reasons": reasons, "met": met}, **more)


class JudgeServer:
    """The server, for as long as a `with` block lasts.

    Attributes:
        asked: What it was asked, in order.
    """

    def __init__(self, *answers: Answer) -> None:
        """Make it; it listens at once."""
        self.asked: list[Asked] = []
        self.is_asked = threading.Event()
        self._answers = list(answers)
        self._ending = threading.Event()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), self._handler())
        self._server.daemon_threads = False
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        """The API's base."""
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._ending.set()
        self._server.shutdown()
        self._thread.join(10)
        self._server.server_close()

    def _next(self) -> Answer:
        return self._answers.pop(0) if len(self._answers) > 1 else self._answers[0]

    def _handler(self) -> type[BaseHTTPRequestHandler]:
        judge = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                headers = {name.lower(): value for name, value in self.headers.items()}
                judge.asked.append(Asked(self.path, headers, json.loads(body)))
                judge.is_asked.set()
                judge._write(self, judge._next())

            def log_message(self, *_: Any) -> None:
                """Say nothing."""

        return Handler

    def _write(self, handler: BaseHTTPRequestHandler, answer: Answer) -> None:
        body = answer.body if isinstance(answer.body, bytes) else json.dumps(answer.body).encode()
        handler.send_response(answer.status)
        for name, value in answer.headers.items():
            handler.send_header(name, value)
        handler.send_header("content-type", "application/json")
        handler.send_header("content-length", str(len(body)))
        handler.end_headers()
        if answer.stalls:
            handler.wfile.write(body[: len(body) // 2])
            self._ending.wait(30)
            return
        try:
            handler.wfile.write(body)
        except OSError:  # whoever asked is gone
            handler.close_connection = True
