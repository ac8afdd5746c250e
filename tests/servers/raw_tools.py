"""The tools of the raw server; `TOOLS` names them all, and each says what it is good for."""

import json
import os
import signal
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from tests.servers.raw_session import (
    WAIT_SECONDS,
    Call,
    RpcFailure,
    Session,
    Spelled,
    encode,
    encode_result,
)

# None is no answer at all.
Answer: TypeAlias = dict[str, Any] | Spelled | RpcFailure | None
Run: TypeAlias = Callable[[Session, Call], Answer]


class Tool(NamedTuple):
    """A tool: what it does, what it says of itself, whether it blocks and so needs a thread."""

    run: Run
    description: str
    properties: Mapping[str, Any]
    blocks: bool


TOOLS: dict[str, Tool] = {}


def tool(description: str, *, blocks: bool = False, **types: str) -> Callable[[Run], Run]:
    """Enter a function in `TOOLS`; `types` are the JSON types of its arguments."""

    def enter(run: Run) -> Run:
        properties = {name: {"type": kind} for name, kind in types.items()}
        TOOLS[run.__name__] = Tool(run, description, properties, blocks)
        return run

    return enter


def text(words: str, **more: Any) -> dict[str, Any]:
    """Make the plainest result: one text block."""
    return {"content": [{"type": "text", "text": words}], **more}


# --- plain ones


@tool("Says its text again.", text="string")
def echo(_: Session, call: Call) -> Answer:
    said = call.arguments.get("text", "")
    return text(said if isinstance(said, str) else json.dumps(said, ensure_ascii=False))


@tool("Adds two numbers.", a="number", b="number")
def add(_: Session, call: Call) -> Answer:
    total = call.arguments.get("a", 0) + call.arguments.get("b", 0)
    return text(json.dumps(total), structuredContent={"sum": total})


@tool("Counts its own calls, for each key by itself.", k="string")
def counter(session: Session, call: Call) -> Answer:
    key = str(call.arguments.get("k", ""))
    session.counters[key] += 1
    return text(str(session.counters[key]), structuredContent={"count": session.counters[key]})


@tool("Shows its params as they came, without _meta: tells absent arguments from empty ones.")
def params(_: Session, call: Call) -> Answer:
    return text(json.dumps({key: call.params[key] for key in call.params if key != "_meta"}))


@tool(
    "A result whose text has `bytes` bytes, or whose line has `line_bytes` (line end aside).",
    blocks=True,
    bytes="integer",
    line_bytes="integer",
    fill="string",
)
def big(_: Session, call: Call) -> Answer:
    fill = str(call.arguments.get("fill", "x"))
    size = int(call.arguments.get("bytes", 0))
    if "line_bytes" in call.arguments:
        size = int(call.arguments["line_bytes"]) - len(encode_result(call, text("")))
    return text(fill * size)


# --- failures, each another shape

_FAILURES: dict[str, dict[str, Any]] = {
    "structured": {"isError": True, "content": [], "structuredContent": {"code": "RATE_LIMITED"}},
    "text": text("the disk is full", isError=True),
    "image_first": {
        "isError": True,
        "content": [
            {"type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png"},
            {"type": "text", "text": "see the picture"},
        ],
    },
    "empty": {"isError": True, "content": []},
    "missing": {"isError": True},
    "null": {"isError": True, "content": None},
    "false": text("fine", isError=False),
}


@tool(
    "Fails with isError in one of several shapes: " + ", ".join(_FAILURES) + ".", variant="string"
)
def fail(_: Session, call: Call) -> Answer:
    return dict(_FAILURES[call.arguments.get("variant", "structured")])


@tool("Answers with a JSON-RPC error, code -32050 and data unless told otherwise.", code="integer")
def rpc_error(_: Session, call: Call) -> Answer:
    return RpcFailure(int(call.arguments.get("code", -32050)), "try later", {"retryAfter": 3})


# --- waiting, and what comes before an answer


@tool(
    "Answers once `release` names its key, or after `seconds`; says at once by progress that it"
    " waits.",
    blocks=True,
    key="string",
    seconds="number",
    text="string",
)
def slow(session: Session, call: Call) -> Answer:
    key = str(call.arguments.get("key", "slow"))
    session.progress(call, 0, 1, "waiting")
    over = session.wait(call, key, float(call.arguments.get("seconds", WAIT_SECONDS)))
    return text(f"{call.arguments.get('text', key)}: {over}")


@tool("Lets the `slow` call with that key answer.", key="string")
def release(session: Session, call: Call) -> Answer:
    session.release(str(call.arguments.get("key", "slow")))
    return text("released")


@tool("Never answers.")
def never(_: Session, __: Call) -> Answer:
    return None


@tool("Sends progress, three times unless told otherwise, then answers.", steps="integer")
def progress(session: Session, call: Call) -> Answer:
    steps = int(call.arguments.get("steps", 3))
    for step in range(1, steps + 1):
        session.progress(call, step, steps, f"step {step}")
    return text("done")


@tool(
    "Sends log messages, one unless told otherwise, then answers.", text="string", count="integer"
)
def log(session: Session, call: Call) -> Answer:
    for _ in range(int(call.arguments.get("count", 1))):
        line = {"level": "info", "logger": "raw", "data": call.arguments.get("text", "logged")}
        session.notify("notifications/message", line)
    return text("logged")


@tool(
    "Adds a tool `name` (it echoes) and tells so, before its answer or `after` it.",
    name="string",
    after="boolean",
)
def add_tool(session: Session, call: Call) -> Answer:
    session.added_tools.append(str(call.arguments.get("name", "added")))
    changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
    if not call.arguments.get("after"):
        session.output.write(encode(changed))
        return text("added")
    session.output.write(encode_result(call, text("added")), encode(changed))
    return None


# --- questions to the client: a request of our own where the era has that, else input_required

_QUESTIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "ask_roots": ("roots/list", {}),
    "ask_sampling": (
        "sampling/createMessage",
        {
            "messages": [{"role": "user", "content": {"type": "text", "text": "One word?"}}],
            "maxTokens": 8,
        },
    ),
    "ask_elicitation": (
        "elicitation/create",
        {
            "message": "Your name?",
            "requestedSchema": {
                "type": "object",
                "properties": {"name": {"type": "string"}},
                "required": ["name"],
            },
        },
    ),
}


def _ask(session: Session, call: Call, question: str) -> Answer:
    method, asked = _QUESTIONS[question]
    if call.modern:
        return _ask_by_result(call, method, asked)
    # 1, since both sides count for themselves: the client's own id 1 is another request.
    answer = session.ask(call.arguments.get("id", 1), method, asked)
    return text(json.dumps(answer, sort_keys=True), structuredContent={"answer": answer})


def _ask_by_result(call: Call, method: str, asked: dict[str, Any]) -> Answer:
    responses = call.params.get("inputResponses")
    if not isinstance(responses, dict):
        return {
            "resultType": "input_required",
            "inputRequests": {"question": {"method": method, "params": asked}},
            "requestState": "asked once",
        }
    answer = {"result": responses.get("question")}
    return text(json.dumps(answer, sort_keys=True), structuredContent={"answer": answer})


@tool("Asks the client for its roots.", blocks=True, id="integer")
def ask_roots(session: Session, call: Call) -> Answer:
    return _ask(session, call, "ask_roots")


@tool("Asks the client to sample.", blocks=True, id="integer")
def ask_sampling(session: Session, call: Call) -> Answer:
    return _ask(session, call, "ask_sampling")


@tool("Asks the user for a name.", blocks=True, id="integer")
def ask_elicitation(session: Session, call: Call) -> Answer:
    return _ask(session, call, "ask_elicitation")


# --- the process


@tool("Kills its own process with SIGKILL.")
def crash(_: Session, __: Call) -> Answer:
    os.kill(os.getpid(), signal.SIGKILL)
    return None


@tool("Answers, then ends the process with `code`.", code="integer")
def exit_after_answer(session: Session, call: Call) -> Answer:
    session.output.write(encode_result(call, text("bye")))
    os._exit(int(call.arguments.get("code", 0)))


@tool("Those of the named environment variables that are set.", names="array")
def env(_: Session, call: Call) -> Answer:
    found = {name: os.environ[name] for name in call.arguments["names"] if name in os.environ}
    return text(json.dumps(found), structuredContent=found)


@tool("The working directory.")
def cwd(_: Session, __: Call) -> Answer:
    return text(str(Path.cwd()))


@tool("Ids of this process, its parent, its group, and of the --grandchild.")
def pids(session: Session, __: Call) -> Answer:
    ids = {"pid": os.getpid(), "ppid": os.getppid(), "pgid": os.getpgrp()}
    return text("pids", structuredContent={**ids, "grandchild": session.grandchild})


@tool("All lines received so far, this call's included.")
def received(session: Session, __: Call) -> Answer:
    lines = [line.decode("utf-8", "backslashreplace") for line in session.received]
    return text(f"{len(lines)} lines", structuredContent={"lines": lines})


# --- odd answers

_ODD_NUMBERS = (
    rb'{"content":[{"type":"text","text":"\u00e9t\u00e9 '
    + "été 日本語🎉".encode()
    + rb' \ud83c\udf89 \/"}],"structuredContent":{"hundred":1e2,"one":1.0,'
    rb'"big":1915883588174806058,"huge":1e400,"minus":-0,"tiny":1E-7}}'
)

_VENDOR = {
    "content": [{"type": "text", "text": "extras", "x-vendor": {"a": 1}, "_meta": {"x/m": 1}}],
    "structuredContent": {"x-vendor": {"a": 1}},
    "_meta": {"com.example/trace": "t-1"},
    "x-vendor": {"a": 1},
}

_BLOCKS = {
    "content": [
        {"type": "resource_link", "uri": "raw://readme", "name": "readme"},
        {"type": "audio", "data": "UklGRg==", "mimeType": "audio/wav"},
        {"type": "widget", "html": "<b>new</b>", "size": [1, 2]},
    ]
}


@tool("Numbers and escapes as hardly a library writes them; only their bytes are right.")
def odd_numbers(_: Session, __: Call) -> Answer:
    return Spelled(_ODD_NUMBERS)


@tool("Members that no revision names, at every level, the message itself included.")
def vendor(session: Session, call: Call) -> Answer:
    answer = encode_result(call, _VENDOR)
    session.output.write(answer[:-1] + b',"x-vendor":{"a":1}}')
    return None


@tool("Content blocks other than text, one of a type that nobody knows.")
def blocks(_: Session, __: Call) -> Answer:
    return dict(_BLOCKS)


@tool("A line that is no UTF-8, then the answer.")
def junk_line(session: Session, __: Call) -> Answer:
    session.output.write_raw(b"\xff\xfe\n")
    return text("after the junk")


def _odd_lines(request_id: Any) -> dict[str, list[bytes]]:
    spelled_id = json.dumps(request_id).encode()
    result = encode(text("odd"))
    plain = b'{"jsonrpc":"2.0","id":%b,"result":%b}' % (spelled_id, result)
    return {
        "twice": [plain, plain],
        "stray": [b'{"jsonrpc":"2.0","id":"nobody","result":%b}' % result, plain],
        "float_id": [b'{"jsonrpc":"2.0","id":%b.0,"result":%b}' % (spelled_id, result)],
        "both": [
            b'{"jsonrpc":"2.0","id":%b,"result":%b,"error":{"code":-1,"message":"both"}}'
            % (spelled_id, result)
        ],
        "null_id": [
            b'{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"what?"}}',
            plain,
        ],
        "spaced": [b' { "id" : %b , "result":%b, "jsonrpc" :"2.0" } ' % (spelled_id, result)],
        "array_result": [b'{"jsonrpc":"2.0","id":%b,"result":[1,2]}' % spelled_id],
        "no_version": [b'{"id":%b,"result":%b}' % (spelled_id, result)],
    }


@tool("An answer that is odd as a message: " + ", ".join(_odd_lines(0)) + ".", variant="string")
def odd_answer(session: Session, call: Call) -> Answer:
    session.output.write(*_odd_lines(call.request_id)[call.arguments["variant"]])
    return None
