"""What the conformance suite wants to find on a server: the plain data of conformance_server.py.

Names, texts and schemas are those that the scenarios of @modelcontextprotocol/conformance ask for.
"""

from typing import Any, TypeAlias

Json: TypeAlias = dict[str, Any]

# One red pixel, and a WAV file without a sample.
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVR4nGP4z8AAAAMBAQDJ/pLvAAAAAElFTkSuQmCC"
WAV = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA="


def text(said: str) -> Json:
    """A text block."""
    return {"type": "text", "text": said}


def embedded(uri: str, said: str, mime_type: str = "text/plain") -> Json:
    """A block with a resource in it."""
    return {"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": said}}


IMAGE = {"type": "image", "data": PNG, "mimeType": "image/png"}
AUDIO = {"type": "audio", "data": WAV, "mimeType": "audio/wav"}


def schema(required: tuple[str, ...] = (), **properties: Json) -> Json:
    """The schema of an object."""
    return {"type": "object", "properties": properties, "required": list(required)}


NOTHING = schema()
STRING: Json = {"type": "string"}

# --- tools

CONTENTS: dict[str, list[Json]] = {
    "test_simple_text": [text("This is a simple text response for testing.")],
    "test_image_content": [IMAGE],
    "test_audio_content": [AUDIO],
    "test_embedded_resource": [
        embedded("test://embedded-resource", "This is an embedded resource content.")
    ],
    "test_multiple_content_types": [
        text("Multiple content types test:"),
        IMAGE,
        embedded(
            "test://mixed-content-resource", '{"test":"data","value":123}', "application/json"
        ),
    ],
    "json_schema_2020_12_tool": [text("accepted")],
    "test_header_parameter": [text("accepted")],
}
"""Tools that always say the same."""

SCHEMAS: dict[str, Json] = {
    "json_schema_2020_12_tool": {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "type": "object",
        "$defs": {
            "address": {
                "$anchor": "addressDef",
                "type": "object",
                "properties": {"street": STRING, "city": STRING},
            }
        },
        "properties": {
            "name": STRING,
            "address": {"$ref": "#/$defs/address"},
            "contactMethod": {"type": "string", "enum": ["phone", "email"]},
            "phone": STRING,
            "email": STRING,
        },
        "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
        "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
        "then": {"required": ["phone"]},
        "else": {"required": ["email"]},
        "additionalProperties": False,
    },
    "test_header_parameter": schema(("region",), region={**STRING, "x-mcp-header": "Region"}),
    "test_sampling": schema(("prompt",), prompt=STRING),
    "test_elicitation": schema(("message",), message=STRING),
}
"""The tools that take arguments."""

LOGGED = ("Tool execution started", "Tool processing data", "Tool execution completed")
PROGRESS = (0, 50, 100)

# --- what is asked of a user, in the handshake era by a request

ELICITED: dict[str, Json] = {
    "test_elicitation": schema(
        ("username", "email"),
        username={**STRING, "description": "User's response"},
        email={**STRING, "description": "User's email address"},
    ),
    "test_elicitation_sep1034_defaults": schema(
        name={**STRING, "default": "John Doe"},
        age={"type": "integer", "default": 30},
        score={"type": "number", "default": 95.5},
        status={**STRING, "enum": ["active", "inactive", "pending"], "default": "active"},
        verified={"type": "boolean", "default": True},
    ),
    "test_elicitation_sep1330_enums": schema(
        untitledSingle={**STRING, "enum": ["option1", "option2", "option3"]},
        titledSingle={
            **STRING,
            "oneOf": [
                {"const": "value1", "title": "First Option"},
                {"const": "value2", "title": "Second Option"},
                {"const": "value3", "title": "Third Option"},
            ],
        },
        legacyEnum={
            **STRING,
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"],
        },
        untitledMulti={
            "type": "array",
            "items": {**STRING, "enum": ["option1", "option2", "option3"]},
        },
        titledMulti={
            "type": "array",
            "items": {
                "anyOf": [
                    {"const": "value1", "title": "First Choice"},
                    {"const": "value2", "title": "Second Choice"},
                    {"const": "value3", "title": "Third Choice"},
                ]
            },
        },
    ),
}

# --- what is asked of a user, in revision 2026-07-28 by a result


def form(message: str, **properties: Json) -> Json:
    """A request for input, all of it required."""
    wanted = schema(tuple(properties), **properties)
    return {
        "method": "elicitation/create",
        "params": {"message": message, "requestedSchema": wanted},
    }


def sample(prompt: str) -> Json:
    """A request for a model's answer."""
    messages = [{"role": "user", "content": text(prompt)}]
    return {
        "method": "sampling/createMessage",
        "params": {"messages": messages, "maxTokens": 100},
    }


ROOTS: Json = {"method": "roots/list", "params": {}}

_INPUT = "test_input_required_result_"
ROUNDS: dict[str, list[dict[str, Json]]] = {
    _INPUT + "elicitation": [{"user_name": form("What is your name?", name=STRING)}],
    _INPUT + "sampling": [{"capital_question": sample("What is the capital of France?")}],
    _INPUT + "list_roots": [{"client_roots": ROOTS}],
    _INPUT + "request_state": [{"confirm": form("Please confirm", ok={"type": "boolean"})}],
    _INPUT + "multiple_inputs": [
        {
            "user_name": form("What is your name?", name=STRING),
            "greeting": sample("Generate a greeting"),
            "client_roots": ROOTS,
        }
    ],
    _INPUT + "multi_round": [
        {"step1": form("Step 1: What is your name?", name=STRING)},
        {"step2": form("Step 2: What is your favorite color?", color=STRING)},
    ],
    _INPUT + "tampered_state": [{"confirm": form("Please confirm", ok={"type": "boolean"})}],
    _INPUT + "capabilities": [
        {"name": form("What is your name?", name=STRING), "greeting": sample("Say hello")}
    ],
    _INPUT + "prompt": [
        {"user_context": form("What context should the prompt use?", context=STRING)}
    ],
    "test_streaming_elicitation": [{"user_name": form("What is your name?", name=STRING)}],
}
"""What a tool or prompt asks for before it answers, round by round."""

STATEFUL = {_INPUT + name for name in ("request_state", "multiple_inputs", "multi_round")} | {
    _INPUT + "tampered_state"
}
"""Those whose rounds carry a `requestState`."""

# --- resources and prompts

RESOURCES: dict[str, Json] = {
    "test://static-text": {
        "mimeType": "text/plain",
        "text": "This is the content of the static text resource.",
    },
    "test://static-binary": {"mimeType": "image/png", "blob": PNG},
    "test://watched-resource": {"mimeType": "text/plain", "text": "Watched."},
}
TEMPLATE = ("test://template/", "{id}", "/data")

PROMPTS: dict[str, dict[str, str]] = {
    "test_simple_prompt": {},
    "test_prompt_with_arguments": {"arg1": "First test argument", "arg2": "Second test argument"},
    "test_prompt_with_embedded_resource": {"resourceUri": "URI of the resource to embed"},
    "test_prompt_with_image": {},
    _INPUT + "prompt": {},
}
"""Each prompt's arguments, all of them required."""


def said_by_prompt(name: str, given: dict[str, str]) -> list[Json]:
    """The blocks of a prompt's messages."""
    if name == "test_prompt_with_arguments":
        told = f"arg1='{given['arg1']}', arg2='{given['arg2']}'"
        return [text(f"Prompt with arguments: {told}")]
    if name == "test_prompt_with_embedded_resource":
        return [
            embedded(given["resourceUri"], "Embedded resource content for testing."),
            text("Please process the embedded resource above."),
        ]
    if name == "test_prompt_with_image":
        return [IMAGE, text("Please analyze the image above.")]
    return [text("This is a simple prompt for testing.")]
