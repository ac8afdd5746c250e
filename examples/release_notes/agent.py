"""An agent that writes release notes with the tools of two MCP servers.

Where your agent has a model, this one has a few rules, so that it needs no key and does the same
each time. All the rest is as in any agent: it reads an mcpServers config, starts the servers,
lists their tools, calls them, and copes with a tool that fails.

    python repository.py repo
    python agent.py

mcp-sidecar tells it by environment variables where to find what; without them it has defaults:

    MCP_SIDECAR_CONFIG       the config with the servers (default: mcp.json beside this file)
    MCP_SIDECAR_INPUT_FILE   the question (default: QUESTION)
    MCP_SIDECAR_OUTPUT_FILE  where the answer goes besides standard output
"""

import asyncio
import json
import os
import re
import sys
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path
from typing import NamedTuple, Self, TypeAlias

from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

REPOSITORY = "repo"
QUESTION = (
    "Write release notes for all that changed since v1.0. "
    "The release call is at 09:00 UTC; say when that is in Asia/Tokyo."
)


class ToolFailedError(Exception):
    """A tool answered that it failed."""


class Tools:
    """The tools of all servers in an mcpServers config, each in its own process."""

    def __init__(self, config: Path) -> None:
        self._entries = json.loads(config.read_text(encoding="utf-8"))["mcpServers"]
        self._open = AsyncExitStack()
        self._clients: dict[str, Client] = {}

    async def __aenter__(self) -> Self:
        for name, entry in self._entries.items():
            server = StdioServerParameters(**{key: entry[key] for key in entry if key != "type"})
            client = await self._open.enter_async_context(Client(server))
            await client.list_tools()
            self._clients[name] = client
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._open.aclose()

    async def call(self, server: str, tool: str, **arguments: object) -> str:
        """Call a tool.

        Returns:
            The text of its result.

        Raises:
            ToolFailedError: If the tool says that it failed.
        """
        result = await self._clients[server].call_tool(tool, arguments)
        if result.is_error:
            raise ToolFailedError(_text(result))
        return _text(result)


class Question(NamedTuple):
    """What the rules read out of the question."""

    version: str
    time: str
    zone: str
    other_zone: str


Work: TypeAlias = Callable[[Tools, Question], Awaitable[str]]


async def write_notes(tools: Tools, question: Question) -> str:
    """Answer the question."""
    release = await _find_release(tools, question.version)
    released = _commit_id(await tools.call("git", "git_show", **_repository(revision=release)))
    history = await tools.call("git", "git_log", **_repository(max_count=20))
    call = await _meeting(tools, question)
    changes = [f"- {message}" for message in _messages_since(history, released)]
    return "\n".join([f"# Changes since {release}", "", *changes, "", call])


async def _find_release(tools: Tools, version: str) -> str:
    """Take the version for a tag; where there is none, look for a branch that sounds like it."""
    try:
        await tools.call("git", "git_show", **_repository(revision=version))
    except ToolFailedError:
        branches = await tools.call("git", "git_branch", **_repository(branch_type="local"))
        number = version.removeprefix("v")
        return next(name for name in branches.replace("*", " ").split() if number in name)
    return version


async def _meeting(tools: Tools, question: Question) -> str:
    converted = await tools.call(
        "time",
        "convert_time",
        source_timezone=question.zone,
        time=question.time,
        target_timezone=question.other_zone,
    )
    # 2026-11-30T18:00:00+09:00: the day is another one tomorrow, so the notes leave it out.
    other_time = json.loads(converted)["target"]["datetime"][11:16]
    return f"Release call: {question.time} {question.zone}, {other_time} in {question.other_zone}."


def _repository(**arguments: object) -> dict[str, object]:
    return {"repo_path": REPOSITORY, **arguments}


def _commit_id(shown: str) -> str:
    return shown.split()[1]


def _messages_since(history: str, released: str) -> list[str]:
    newer, found, _ = history.partition(f"Commit: {released}")
    if not found:
        raise ValueError(f"{released} is not in the last commits")
    return re.findall(r"^Message: (.*)$", newer, flags=re.MULTILINE)


def _text(result: CallToolResult) -> str:
    return "\n".join(block.text for block in result.content if isinstance(block, TextContent))


def _read_question() -> Question:
    file = os.environ.get("MCP_SIDECAR_INPUT_FILE")
    asked = Path(file).read_text(encoding="utf-8") if file else QUESTION
    found = re.search(r"since (\S+?)\.\s.* at (\d\d:\d\d) (\S+?);.* in (\w+/\w+)", asked)
    if found is None:
        raise SystemExit(f"these rules do not understand the question: {asked}")
    return Question(*found.groups())


async def _work(work: Work) -> str:
    config = os.environ.get("MCP_SIDECAR_CONFIG") or Path(__file__).with_name("mcp.json")
    async with Tools(Path(config)) as tools:
        return await work(tools, _read_question())


def main(work: Work) -> None:
    """Do the work and hand over what came of it."""
    answer = asyncio.run(_work(work))
    sys.stdout.write(answer + "\n")
    output = os.environ.get("MCP_SIDECAR_OUTPUT_FILE")
    if output:
        Path(output).write_text(answer, encoding="utf-8")


if __name__ == "__main__":
    main(write_notes)
