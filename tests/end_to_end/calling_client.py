"""A client that calls, a few at once, and notes each answer that it has seen; until it is killed.

python calling_client.py NOTES PROXY...
"""

import json
import os
import subprocess
import sys

AT_ONCE = 4
CALLS = 5000


def main(notes: str, *proxy: str) -> None:
    """Call `counter` again and again; add each answer to the notes, one write a line."""
    file = os.open(notes, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
    with subprocess.Popen(proxy, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        for number in range(CALLS):
            arguments = {"k": f"key-{number}"}
            params = {"name": "counter", "arguments": arguments}
            asked = {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}
            process.stdin.write(json.dumps(asked).encode() + b"\n")
            process.stdin.flush()
            if number >= AT_ONCE:
                answer = json.loads(process.stdout.readline())
                os.write(file, f"{answer['id']}\n".encode())


if __name__ == "__main__":
    main(*sys.argv[1:])
