import sys
from pathlib import Path

import pytest

from tests.servers.raw_client import RawClient

SERVER = Path(__file__).with_name("tiny_server.py")


@pytest.mark.parametrize("modern", [False, True])
def test_it_answers_in_both_eras(*, modern: bool) -> None:
    with RawClient([sys.executable, SERVER]) as client:
        begun = (client.discover() if modern else client.initialize()).value["result"]
        listed = client.request("tools/list").value["result"]
        added = client.call("add", {"a": 2, "b": 3}).value["result"]
        big = client.call("big", {"bytes": 1000}).value["result"]
        unknown = client.request("nope").value
        client.close_stdin()

        assert ("supportedVersions" in begun) == modern
        assert [tool["name"] for tool in listed["tools"]] == ["echo", "add", "big"]
        assert added["content"][0]["text"] == "5"
        assert len(big["content"][0]["text"]) == 1000
        assert unknown["error"]["code"] == -32601
        assert client.wait() == 0
