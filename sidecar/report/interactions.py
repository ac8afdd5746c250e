"""Interactions in a few words, for the terminal."""

from __future__ import annotations

from sidecar.cassette.interaction import Interaction, Response
from sidecar.report.tables import Column
from sidecar.report.text import counted
from sidecar.wire.json_text import JsonValue, NotJsonError, dump, parse
from sidecar.wire.mcp import members_of, read_tool_call
from sidecar.wire.shortening import shortened

SHORT = 60
"""Characters of arguments and answers that are shown where not all is asked for."""

COLUMNS = (Column("#", right=True), Column("request"), Column("arguments"), Column("answer"))

_LISTS = {
    "tools/list": ("tools", "tool"),
    "resources/list": ("resources", "resource"),
    "resources/templates/list": ("resourceTemplates", "template"),
    "prompts/list": ("prompts", "prompt"),
}


def cells(number: int, interaction: Interaction, *, whole: bool) -> tuple[object, ...]:
    """Make an interaction's row of a table of `COLUMNS`.

    Args:
        number: Its place, counted from 1.
        interaction: What to show.
        whole: Whether arguments and answer are shown whole, as they were recorded.
    """
    arguments, answer = arguments_text(interaction), answer_text(interaction)
    if whole:
        answer = _whole_answer(interaction)
    else:
        arguments, answer = shortened(arguments, SHORT), shortened(answer, SHORT)
    return (number, request_text(interaction), arguments, answer)


def request_text(interaction: Interaction) -> str:
    """Name a request: `<server>:<tool>` of a call, else server and method."""
    if interaction.is_tool_call:
        return interaction.tool_name
    return f"{interaction.server} {interaction.method}"


def arguments_text(interaction: Interaction) -> str:
    """Write a call's arguments as they were spelt, or what another request asks for.

    Where a replay does not compare the arguments exactly, it is told how.
    """
    if interaction.is_tool_call:
        how = "" if interaction.args_match == "exact" else f" ({interaction.args_match})"
        return read_tool_call(interaction.params).arguments + how
    found = members_of(interaction.params)
    # What every opening holds is no argument of it.
    if interaction.method == "initialize":
        return _string(found.get("protocolVersion"))
    return ", ".join(
        f"{name}: {_string(text)}"
        for name, text in found.items()
        if name in {"uri", "name", "cursor"}
    )


def answer_text(interaction: Interaction) -> str:
    """Say in one line what answered a request."""
    response = interaction.response
    if response is None:
        return interaction.state
    if response.member == "error":
        found = members_of(response.text)
        return f"error {found.get('code', '')}: {_string(found.get('message'))}"
    if interaction.is_tool_call:
        words = _content_text(response)
        return f"error: {words}" if interaction.is_error else words
    member, noun = _LISTS.get(interaction.method, ("", ""))
    listed = _parsed(members_of(response.text).get(member))
    return counted(len(listed), noun) if isinstance(listed, list) else "result"


def _whole_answer(interaction: Interaction) -> str:
    response = interaction.response
    return interaction.state if response is None else f"{response.member} {response.text}"


def _content_text(response: Response) -> str:
    """Join the text of a tool's result; other content is named by its type."""
    content = _parsed(members_of(response.text).get("content"))
    blocks = content if isinstance(content, list) else []
    words = [_block_text(block) for block in blocks]
    if not words and "structuredContent" in members_of(response.text):
        return members_of(response.text)["structuredContent"]
    return " ".join(words)


def _block_text(block: JsonValue) -> str:
    if not isinstance(block, dict):
        return dump(block)
    text = block.get("text")
    return text if isinstance(text, str) else f"[{block.get('type', 'unknown')}]"


def _string(text: str | None) -> str:
    value = _parsed(text)
    return value if isinstance(value, str) else (text or "")


def _parsed(text: str | None) -> JsonValue:
    try:
        return None if text is None else parse(text)
    except NotJsonError:
        return None
