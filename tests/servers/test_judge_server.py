"""The HTTP judge of the tests."""

import json
import urllib.request

from tests.servers.judge_server import USAGE, JudgeServer, judged


def ask(server: JudgeServer, body: object) -> object:
    request = urllib.request.Request(server.url + "/x", json.dumps(body).encode(), method="POST")
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with opener.open(request, timeout=30) as response:
        return json.load(response)


def test_it_gives_its_answers_in_turn_and_keeps_what_it_was_asked() -> None:
    with JudgeServer(judged([True]), judged([False])) as server:
        said = [ask(server, number) for number in range(3)]

    assert [json.loads(one["choices"][0]["message"]["content"])["met"] for one in said] == [  # type: ignore[index]
        [True],
        [False],
        [False],
    ]
    assert all(one["usage"] == USAGE for one in said)  # type: ignore[index]
    assert [(one.path, one.body) for one in server.asked] == [("/v1/x", n) for n in range(3)]
