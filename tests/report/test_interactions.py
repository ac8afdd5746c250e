"""Interactions in a few words."""

import pytest

from sidecar.cassette.interaction import Interaction, Response
from sidecar.report.interactions import answer_text, arguments_text, cells, request_text


def call(arguments: str, response: Response | None = None) -> Interaction:
    return Interaction("git", "tools/call", f'{{"name":"log","arguments":{arguments}}}', response)


def surface(method: str, params: str | None, response: Response | None = None) -> Interaction:
    return Interaction("git", method, params, response)


def result(text: str) -> Response:
    return Response("result", text)


@pytest.mark.parametrize(
    ("interaction", "request_", "arguments"),
    [
        pytest.param(call('{"n": 1e2}'), "git:log", '{"n": 1e2}', id="a call, as it was spelt"),
        pytest.param(
            Interaction("git", "tools/call", '{"name":"log"}', None), "git:log", "{}", id="none"
        ),
        pytest.param(
            call('{"n":1}')._replace(args_match="ignore"),
            "git:log",
            '{"n":1} (ignore)',
            id="R13 a call whose arguments do not matter",
        ),
        pytest.param(surface("tools/list", None), "git tools/list", "", id="a list"),
        pytest.param(
            surface("initialize", '{"protocolVersion":"2025-11-25","capabilities":{}}'),
            "git initialize",
            "2025-11-25",
            id="the revision that was asked for",
        ),
        pytest.param(
            surface("resources/read", '{"uri":"file:///a","_meta":{}}'),
            "git resources/read",
            "uri: file:///a",
            id="a resource",
        ),
        pytest.param(
            surface("tools/list", '{"cursor":"p2"}'), "git tools/list", "cursor: p2", id="a page"
        ),
        pytest.param(surface("odd", "[1]"), "git odd", "", id="params that are no object"),
    ],
)
def test_a_request_is_named_with_what_it_asks_for(
    interaction: Interaction, request_: str, arguments: str
) -> None:
    assert (request_text(interaction), arguments_text(interaction)) == (request_, arguments)


@pytest.mark.parametrize(
    ("interaction", "answer"),
    [
        pytest.param(
            call("{}", result('{"content":[{"type":"text","text":"a\\nb"},{"type":"image"}]}')),
            "a\nb [image]",
            id="content",
        ),
        pytest.param(
            call("{}", result('{"isError":true,"content":[{"type":"text","text":"no"}]}')),
            "error: no",
            id="a tool error",
        ),
        pytest.param(
            call("{}", result('{"content":[],"structuredContent":{"a": 1.0}}')),
            '{"a": 1.0}',
            id="structured content alone",
        ),
        pytest.param(call("{}", result('{"content":[1,{}]}')), "1 [unknown]", id="odd content"),
        pytest.param(call("{}", result("7")), "", id="a result that is no object"),
        pytest.param(
            call("{}", result('{"content":' + "[" * 100_000 + "]" * 100_000 + "}")),
            "",
            id="a result that nests too deep to be read",
        ),
        pytest.param(
            call("{}", Response("error", '{"code":-32602,"message":"Unknown tool"}')),
            "error -32602: Unknown tool",
            id="a JSON-RPC error",
        ),
        pytest.param(call("{}", Response("error", '"odd"')), "error : ", id="an odd error"),
        pytest.param(call("{}"), "unanswered", id="unanswered"),
        pytest.param(call("{}")._replace(cancelled=True), "cancelled", id="cancelled"),
        pytest.param(
            surface("tools/list", None, result('{"tools":[{},{}]}')), "2 tools", id="a list"
        ),
        pytest.param(
            surface("resources/templates/list", None, result('{"resourceTemplates":[{}]}')),
            "1 template",
            id="a list with another name",
        ),
        pytest.param(surface("tools/list", None, result("{}")), "result", id="no list"),
        pytest.param(surface("initialize", None, result("{}")), "result", id="any result"),
    ],
)
def test_an_answer_is_told_in_a_line(interaction: Interaction, answer: str) -> None:
    assert answer_text(interaction) == answer


def test_a_row_is_short_unless_all_of_it_is_asked_for() -> None:
    long = '{"a":"' + "x" * 100 + '"}'
    interaction = call(long, result('{"content":[{"type":"text","text":"' + "y" * 100 + '"}]}'))

    assert cells(3, interaction, whole=False) == (
        3,
        "git:log",
        '{"a":"' + "x" * 53 + "…",
        "y" * 59 + "…",
    )
    assert cells(3, interaction, whole=True) == (
        3,
        "git:log",
        long,
        'result {"content":[{"type":"text","text":"' + "y" * 100 + '"}]}',
    )
