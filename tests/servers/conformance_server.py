"""The server that the conformance suite tests: both eras, over Streamable HTTP.

It prints its URL, and has the tools, resources and prompts that the suite's scenarios ask for
(conformance_content.py). `make conformance` runs the suite against it directly, through the
sidecar, and against the sidecar's replay.
"""

import json
import sys
import warnings
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, TypeAlias

import anyio
from mcp import MCPError, types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.request_state import RequestStateBoundary, RequestStateSecurity
from mcp.server.streamable_http import EventCallback, EventMessage, EventStore
from mcp.server.subscriptions import (
    InMemorySubscriptionBus,
    ListenHandler,
    PromptsListChanged,
    ServerEvent,
    ToolsListChanged,
)

# Run as a script, which puts only this folder on the path.
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from tests.servers import conformance_content as content
from tests.servers.http_serving import serve

Context: TypeAlias = ServerRequestContext[Any, Any]
Answer: TypeAlias = types.CallToolResult | types.InputRequiredResult
Tool: TypeAlias = Callable[[Context, types.CallToolRequestParams], Awaitable[Answer]]

NAME = "conformance-server"
_PAUSE_SECONDS = 0.05
_RETRY_MS = 100

_bus = InMemorySubscriptionBus()


def _said(*texts: str, is_error: bool = False) -> types.CallToolResult:
    return _answered([content.text(one) for one in texts], is_error=is_error)


def _answered(blocks: list[content.Json], *, is_error: bool = False) -> types.CallToolResult:
    return types.CallToolResult.model_validate({"content": blocks, "isError": is_error})


# --- tools


async def _constant(_: Context, params: types.CallToolRequestParams) -> Answer:
    return _answered(content.CONTENTS[params.name])


async def _log(context: Context, _: types.CallToolRequestParams) -> Answer:
    for line in content.LOGGED:
        await context.session.send_log_message("info", line, related_request_id=context.request_id)
        await anyio.sleep(_PAUSE_SECONDS)
    return _said("logged")


async def _progress(context: Context, _: types.CallToolRequestParams) -> Answer:
    for step in content.PROGRESS:
        await context.session.report_progress(step, content.PROGRESS[-1])
        await anyio.sleep(_PAUSE_SECONDS)
    return _said("done")


async def _fail(_: Context, __: types.CallToolRequestParams) -> Answer:
    return _said("This tool intentionally returns an error for testing", is_error=True)


async def _sample(context: Context, params: types.CallToolRequestParams) -> Answer:
    prompt = types.TextContent(type="text", text=(params.arguments or {})["prompt"])
    answer = await context.session.create_message(
        [types.SamplingMessage(role="user", content=prompt)],
        max_tokens=100,
        related_request_id=context.request_id,
    )
    given = answer.content
    return _said(f"LLM response: {given.text if given.type == 'text' else given.type}")


async def _elicit(context: Context, params: types.CallToolRequestParams) -> Answer:
    message = (params.arguments or {}).get("message", "Please fill this in")
    answer = await context.session.elicit_form(
        message, content.ELICITED[params.name], related_request_id=context.request_id
    )
    given = f"action={answer.action}, content={json.dumps(answer.content)}"
    return _said(f"Elicitation completed: {given}")


async def _reconnect(context: Context, _: types.CallToolRequestParams) -> Answer:
    """Close the stream before the answer: the client has to come back for it."""
    if context.close_sse_stream is not None:
        await context.close_sse_stream()
        await anyio.sleep(_PAUSE_SECONDS)
    return _said("You came back")


async def _need_sampling(context: Context, _: types.CallToolRequestParams) -> Answer:
    declared = context.session.client_capabilities
    if declared is None or declared.sampling is None:
        missing: content.Json = {"requiredCapabilities": {"sampling": {}}}
        code = types.MISSING_REQUIRED_CLIENT_CAPABILITY
        raise MCPError(code, "This needs sampling", missing)
    return _said("sampling is there")


def _publish(event: ServerEvent) -> Tool:
    async def publish(_: Context, __: types.CallToolRequestParams) -> Answer:
        await _bus.publish(event)
        return _said("changed")

    return publish


# --- what needs several rounds


def _ask(
    context: Context, params: types.CallToolRequestParams | types.GetPromptRequestParams
) -> types.InputRequiredResult | None:
    """What is to be asked before an answer; None once all was answered."""
    rounds = content.ROUNDS[params.name]
    at = int(params.request_state or 0)
    wanted = _of_declared(context, rounds[at])
    if wanted.keys() <= (params.input_responses or {}).keys():
        at += 1
        if at == len(rounds):
            return None
        wanted = _of_declared(context, rounds[at])
    asked: content.Json = {"resultType": "input_required", "inputRequests": wanted}
    if params.name in content.STATEFUL:
        asked["requestState"] = str(at)
    return types.InputRequiredResult.model_validate(asked)


def _of_declared(context: Context, asked: dict[str, content.Json]) -> dict[str, content.Json]:
    """Leave out what the client did not declare, where it declared anything."""
    declared = context.session.client_capabilities
    known = declared.model_dump(by_alias=True, exclude_none=True) if declared else {}
    if not known:
        return asked
    return {name: one for name, one in asked.items() if one["method"].partition("/")[0] in known}


async def _ask_first(context: Context, params: types.CallToolRequestParams) -> Answer:
    return _ask(context, params) or _said("state-ok", *sorted(params.input_responses or {}))


TOOLS: dict[str, Tool] = {
    **dict.fromkeys(content.CONTENTS, _constant),
    **dict.fromkeys(content.ELICITED, _elicit),
    **{name: _ask_first for name in content.ROUNDS if name not in content.PROMPTS},
    "test_tool_with_logging": _log,
    "test_logging_tool": _log,
    "test_tool_with_progress": _progress,
    "test_error_handling": _fail,
    "test_sampling": _sample,
    "test_reconnection": _reconnect,
    "test_missing_capability": _need_sampling,
    "test_trigger_tool_change": _publish(ToolsListChanged()),
    "test_trigger_prompt_change": _publish(PromptsListChanged()),
}


# --- handlers


async def list_tools(_: Context, __: types.PaginatedRequestParams | None) -> types.ListToolsResult:
    """All tools, in one order."""
    listed = [
        {"name": name, "description": f"Is {name}.", "inputSchema": input_schema(name)}
        for name in TOOLS
    ]
    return types.ListToolsResult.model_validate({"tools": listed})


def input_schema(name: str) -> content.Json:
    """A tool's schema."""
    return content.SCHEMAS.get(name, content.NOTHING)


async def call_tool(context: Context, params: types.CallToolRequestParams) -> Answer:
    """Run a tool."""
    if params.name not in TOOLS:
        raise MCPError(types.INVALID_PARAMS, f"Unknown tool: {params.name}")
    return await TOOLS[params.name](context, params)


async def list_resources(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListResourcesResult:
    """The resources that are no template's."""
    listed = [
        {"uri": uri, "name": uri, "description": f"Is {uri}.", "mimeType": one["mimeType"]}
        for uri, one in content.RESOURCES.items()
    ]
    return types.ListResourcesResult.model_validate({"resources": listed})


async def list_templates(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListResourceTemplatesResult:
    """The one template."""
    one = {"uriTemplate": "".join(content.TEMPLATE), "name": "data", "description": "Data by id."}
    return types.ListResourceTemplatesResult.model_validate({"resourceTemplates": [one]})


async def read_resource(
    _: Context, params: types.ReadResourceRequestParams
) -> types.ReadResourceResult:
    """A resource, or one of the template's."""
    uri = str(params.uri)
    start, _id, end = content.TEMPLATE
    found = content.RESOURCES.get(uri)
    if found is None and uri.startswith(start) and uri.endswith(end):
        number = uri.removeprefix(start).removesuffix(end)
        data = {"id": number, "templateTest": True, "data": f"Data for ID: {number}"}
        found = {"mimeType": "application/json", "text": json.dumps(data)}
    if found is None:
        raise MCPError(types.INVALID_PARAMS, "Resource not found", {"uri": uri})
    return types.ReadResourceResult.model_validate({"contents": [{"uri": uri, **found}]})


async def list_prompts(
    _: Context, __: types.PaginatedRequestParams | None
) -> types.ListPromptsResult:
    """All prompts."""
    listed = [
        {
            "name": name,
            "description": f"Is {name}.",
            "arguments": [
                {"name": argument, "description": does, "required": True}
                for argument, does in arguments.items()
            ],
        }
        for name, arguments in content.PROMPTS.items()
    ]
    return types.ListPromptsResult.model_validate({"prompts": listed})


async def get_prompt(
    context: Context, params: types.GetPromptRequestParams
) -> types.GetPromptResult | types.InputRequiredResult:
    """A prompt's messages."""
    if params.name not in content.PROMPTS:
        raise MCPError(types.INVALID_PARAMS, f"Unknown prompt: {params.name}")
    asked = _ask(context, params) if params.name in content.ROUNDS else None
    blocks = content.said_by_prompt(params.name, params.arguments or {})
    messages = [{"role": "user", "content": block} for block in blocks]
    return asked or types.GetPromptResult.model_validate({"messages": messages})


async def complete(_: Context, params: types.CompleteRequestParams) -> types.CompleteResult:
    """What an argument may go on as."""
    known = ["paris", "park", "party"]
    values = [value for value in known if value.startswith(params.argument.value)]
    found = {"values": values, "total": len(values), "hasMore": False}
    return types.CompleteResult.model_validate({"completion": found})


async def acknowledge(_: Context, __: object) -> types.EmptyResult:
    """Take a log level or a subscription."""
    return types.EmptyResult()


class Events(EventStore):
    """What was sent on streams, for clients that come back; stream names are those of requests."""

    def __init__(self) -> None:
        self._sent: list[tuple[str, types.JSONRPCMessage | None]] = []

    async def store_event(self, stream_id: str, message: types.JSONRPCMessage | None) -> str:
        """Keep an event; its id is its place."""
        self._sent.append((stream_id, message))
        return str(len(self._sent) - 1)

    async def replay_events_after(
        self, last_event_id: str, send_callback: EventCallback
    ) -> str | None:
        """Send what came later on the stream of that event."""
        last = int(last_event_id)
        stream = self._sent[last][0]
        for place, (name, message) in enumerate(self._sent[last + 1 :], last + 1):
            if name == stream and message is not None:
                await send_callback(EventMessage(message, str(place)))
        return stream


def make_server() -> Server[Any]:
    """The server with its handlers."""
    server: Server[Any] = Server(
        NAME,
        version="1.0.0",
        get_tool_input_schema=input_schema,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
        on_list_prompts=list_prompts,
        on_get_prompt=get_prompt,
        on_completion=complete,
        on_set_logging_level=acknowledge,
        on_subscribe_resource=acknowledge,
        on_unsubscribe_resource=acknowledge,
        on_subscriptions_listen=ListenHandler(_bus),
    )
    sealed = RequestStateBoundary(RequestStateSecurity.ephemeral(), default_audience=NAME)
    server.middleware.append(sealed)
    return server


if __name__ == "__main__":
    # Logging and sampling are deprecated in the later era, and tested in the earlier one.
    warnings.simplefilter("ignore")
    serve(make_server().streamable_http_app(event_store=Events(), retry_interval=_RETRY_MS))
