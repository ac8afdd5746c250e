import sys
from pathlib import Path
from typing import Literal

import pytest
from mcp import Client, MCPError

from tests.servers.http_server import REFUSED
from tests.servers.listening import Listening

SERVER = Path(__file__).with_name("http_server.py")


async def test_it_answers_in_every_way_in_both_eras() -> None:
    modes: tuple[Literal["auto", "legacy"], ...] = ("auto", "legacy")
    with Listening([sys.executable, SERVER]) as server:
        for mode in modes:
            steps: list[float] = []

            async def note(
                progress: float,
                total: float | None,  # noqa: ARG001 - the name is part of the protocol
                message: str | None,  # noqa: ARG001 - the name is part of the protocol
                steps: list[float] = steps,
            ) -> None:
                steps.append(progress)

            async with Client(server.url, mode=mode) as client:
                await client.call_tool("begin", {"key": mode})
                counted = [await client.call_tool("counter", {"key": mode}) for _ in range(2)]
                await client.call_tool("count", {"steps": 2}, progress_callback=note)
                failed = await client.call_tool("fail", {})
                with pytest.raises(MCPError) as refused:
                    await client.call_tool("refuse", {})

            assert [answer.structured_content for answer in counted] == [
                {"result": 1},
                {"result": 2},
            ]
            assert steps == [1.0, 2.0]
            assert failed.is_error
            assert refused.value.error.code == REFUSED
