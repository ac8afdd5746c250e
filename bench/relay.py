"""The least proxy that asyncio makes: it passes lines on, and looks at none of them.

    python bench/relay.py COMMAND...

What it costs, any proxy built like this costs before it does anything for its user.
"""

import asyncio
import sys

LIMIT_BYTES = 1 << 26  # of one line; asyncio's own is 64 KiB


async def _pass_on(source: asyncio.StreamReader, target: asyncio.StreamWriter) -> None:
    while line := await source.readline():
        target.write(line)
        await target.drain()
    target.close()


async def _relay(command: list[str]) -> int:
    loop = asyncio.get_running_loop()
    server = await asyncio.create_subprocess_exec(
        *command, stdin=asyncio.subprocess.PIPE, stdout=asyncio.subprocess.PIPE, limit=LIMIT_BYTES
    )
    assert server.stdin is not None
    assert server.stdout is not None
    from_client = asyncio.StreamReader(limit=LIMIT_BYTES)
    await loop.connect_read_pipe(lambda: asyncio.StreamReaderProtocol(from_client), sys.stdin)
    transport, protocol = await loop.connect_write_pipe(
        asyncio.streams.FlowControlMixin, sys.stdout
    )
    to_client = asyncio.StreamWriter(transport, protocol, None, loop)
    await asyncio.gather(_pass_on(from_client, server.stdin), _pass_on(server.stdout, to_client))
    return await server.wait()


if __name__ == "__main__":
    sys.exit(asyncio.run(_relay(sys.argv[1:])))
