"""Reading an agent's MCP config, and the wrapped copy of it."""

import json
import sys
import sysconfig
from pathlib import Path
from typing import Any

import pytest

from sidecar.agents import config as config_module
from sidecar.agents.config import (
    AgentConfig,
    ProxyArguments,
    ServerEntry,
    config_of_names,
    read_config,
    sidecar_command,
    wrapped,
)
from sidecar.errors import ConfigError
from tests import paths

RUN = "local/01KB3T5C0000000000000000AA"


def written(tmp_path: Path, text: str | bytes) -> Path:
    path = tmp_path / "mcp.json"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_the_entries_are_read_in_their_order(tmp_path: Path) -> None:
    entry = {"command": "srv", "args": ["-v", "--", "x"], "env": {"A": "1", "B": 2}}
    document = {"mcpServers": {"b": entry, "a": {"command": "other"}}, "more": [1.50]}

    path = written(tmp_path, json.dumps(document))

    config = read_config(path)

    assert config == AgentConfig(
        (
            ServerEntry(
                "b",
                "srv",
                ("-v", "--", "x"),
                {"A": "1"},
                entry,
                place=f"{path}:1 /mcpServers/b/command",
            ),
            ServerEntry(
                "a",
                "other",
                (),
                {},
                {"command": "other"},
                place=f"{path}:1 /mcpServers/a/command",
            ),
        ),
        {"mcpServers": document["mcpServers"], "more": ["1.5"]},
    )


def test_a_byte_order_mark_is_no_part_of_the_json(tmp_path: Path) -> None:
    path = written(tmp_path, b'\xef\xbb\xbf{"mcpServers":{"a":{"command":"srv"}}}')

    assert [server.name for server in read_config(path).servers] == ["a"]


@pytest.mark.parametrize(
    ("text", "where", "problem"),
    [
        pytest.param("", "", "the config is empty", id="empty"),
        pytest.param('{\n "a": 1,\n}', "", "has no section of MCP servers", id="no section"),
        pytest.param('{\n "a" 1,\n}', ":2:6", 'no JSON: ":" is expected', id="broken"),
        pytest.param(b'{"a":\n"\xff"}', ":2", "not UTF-8", id="not UTF-8"),
        pytest.param("[" * 100_000, ":1:201", "nests deeper", id="nested too deep"),
        pytest.param("9" * 5000, "", "is no object", id="a number of 5000 digits"),
        pytest.param("[]", "", "is no object", id="an array"),
        pytest.param("{}", "", "has no section of MCP servers", id="no servers key"),
        pytest.param('{"servers":{}}', "", "names no server", id="another client's, empty"),
        pytest.param('{\n"mcpServers":[]}', ":2 /mcpServers", "is no object", id="a list"),
        pytest.param('{\n"mcpServers":{}}', ":2 /mcpServers", "names no server", id="no server"),
        pytest.param(
            '{"mcpServers":{\n"a/b":1}}', ":2 /mcpServers/a~1b", "is no object", id="no object"
        ),
        pytest.param(
            '{"mcpServers":{"a":{}}}', ":1 /mcpServers/a", "has no `command`", id="no command"
        ),
        pytest.param(
            '{"mcpServers":{"a":{"command":" "}}}',
            ":1 /mcpServers/a",
            "has no `command`",
            id="a blank command",
        ),
        pytest.param(
            '{"mcpServers":{"a":{"command":["x"]}}}',
            ":1 /mcpServers/a",
            "has no `command`",
            id="a command that is no string",
        ),
        pytest.param(
            '{"mcpServers":{"a":{"command":"x"},\n"a":{"command":"y"}}}',
            ":1",
            "`mcpServers` has the name 'a' twice",
            id="a name twice",
        ),
        pytest.param(
            '{"mcpServers":{"a":{\n"url":7}}}',
            ":2 /mcpServers/a/url",
            "the `url` of 'a' is no string",
            id="a number as URL",
        ),
        pytest.param(
            '{"mcpServers":{"a":{\n"url":"ftp://127.0.0.1/"}}}',
            ":2 /mcpServers/a/url",
            "'ftp://127.0.0.1/' is no URL of a server",
            id="another scheme",
        ),
        pytest.param(
            '{"mcpServers":{"a":{"url":"http://h/",\n"type":"websocket"}}}',
            ":2 /mcpServers/a/type",
            "`type` says 'websocket', which is no kind of server that has a URL",
            id="another kind",
        ),
        pytest.param(
            '{"mcpServers":{"a":{"url":"http://h/",\n"transport":"stdio"}}}',
            ":2 /mcpServers/a/transport",
            "`transport` says 'stdio'",
            id="a URL of a server that is started",
        ),
        pytest.param(
            '{"mcpServers":{"a":{"url":"http://h/",\n"headers":{"A":1}}}}',
            ":2 /mcpServers/a/headers",
            "`headers` is no object of strings",
            id="a number as header",
        ),
        pytest.param(
            '{"mcpServers":{"a":{"url":"http://h/",\n"headers":{"A b":"1"}}}}',
            ":2 /mcpServers/a/headers",
            "'A b' is no header's name",
            id="a header's name with a space",
        ),
        pytest.param(
            '{"mcpServers":{"a":{\n"command":"-x"}}}',
            ":2 /mcpServers/a/command",
            "begins with a dash",
            id="a command like an option",
        ),
        pytest.param(
            '{"mcpServers":{"a":{"command":"x",\n"args":"y"}}}',
            ":2 /mcpServers/a/args",
            "`args` is no array",
            id="args as a string",
        ),
        pytest.param(
            '{"mcpServers":{"a":{"command":"x",\n"args":["y",1]}}}',
            ":2 /mcpServers/a/args",
            "is no string",
            id="a number in args",
        ),
    ],
)
def test_a_config_that_cannot_be_used_is_refused_with_its_place_and_the_next_step(
    tmp_path: Path, text: str | bytes, where: str, problem: str
) -> None:
    path = written(tmp_path, text)

    with pytest.raises(ConfigError) as caught:
        read_config(path)

    assert caught.value.place == f"{path}{where}"
    assert problem in str(caught.value)
    assert caught.value.hint
    assert caught.value.exit_code == 2


@pytest.mark.parametrize(
    ("name", "text"),
    [
        pytest.param(
            "mcp.json",
            '{"mcpServers": {"a": {"command": "srv", "args": ["-v"], // why\n "env":'
            ' {"A": "1"},},\n"b": {"serverUrl": "https://b.example/mcp", "headers": {"X": "y"}}}}',
            id="JSON with comments, and another client's URL",
        ),
        pytest.param(
            ".vscode/mcp.json",
            '{"servers": {"a": {"type": "stdio", "command": "srv", "args": ["-v"],\n'
            ' "env": {"A": "1"}}, /* why */\n"b": {"url": "https://b.example/mcp",'
            ' "headers": {"X": "y"}},}}',
            id="VS Code",
        ),
        pytest.param(
            "config.toml",
            '[mcp_servers.a]\ncommand = "srv"\nargs = ["-v"]\nenv = {A = "1"}\n'
            '[mcp_servers.b]\nurl = "https://b.example/mcp"\nhttp_headers = {X = "y"}\n',
            id="Codex",
        ),
        pytest.param(
            "opencode.json",
            '{"mcp": {"a": {"type": "local", "command": ["srv", "-v"], "environment": {"A": "1"}},'
            ' "b": {"type": "remote", "url": "https://b.example/mcp", "headers": {"X": "y"}}}}',
            id="OpenCode",
        ),
        pytest.param(
            "config.yaml",
            "extensions:\n  dev: {type: builtin, name: dev}\n  a: {cmd: srv, args: [-v], envs:"
            ' {A: "1"}}\n  b:\n    uri: https://b.example/mcp\n    headers: {X: "y"}\n',
            id="Goose",
        ),
    ],
)
def test_every_format_that_wrap_reads_is_read(tmp_path: Path, name: str, text: str) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    path.write_text(text, encoding="utf-8")

    config = read_config(path)

    first, second = config.servers
    assert (first.name, first.command, first.args, first.env) == ("a", "srv", ("-v",), {"A": "1"})
    assert (second.name, second.url) == ("b", "https://b.example/mcp")
    assert second.headers == {"X": "y"}
    assert first.place.startswith(f"{path}:")
    entries = wrapped(config, ProxyArguments("record", RUN, "/h"))["mcpServers"]
    assert isinstance(entries, dict)
    assert list(entries) == ["a", "b"]
    assert isinstance(entries["b"], dict)
    assert "https://b.example/mcp" in json.dumps(entries["b"]["args"])
    assert not {"url", "serverUrl", "uri", "headers"} & set(entries["b"])


def test_e10_a_clients_own_meaning_of_urls_and_variables_counts(tmp_path: Path) -> None:
    path = tmp_path / ".gemini" / "settings.json"
    path.parent.mkdir()
    entry = {"url": "https://a.example/sse", "headers": {"X": "$KEY"}}
    path.write_text(json.dumps({"mcpServers": {"a": entry}}), encoding="utf-8")

    (server,) = read_config(path).servers

    assert (server.transport, server.headers) == ("sse", {"X": "${KEY}"})


def test_a_server_that_is_turned_off_is_left_out(tmp_path: Path) -> None:
    path = tmp_path / "mcp.json"
    entries = {
        "a": {"command": "x", "disabled": True},
        "b": {"command": "y", "disabled": False},
        "c": {"command": "z", "enabled": False},
    }
    path.write_text(json.dumps({"mcpServers": entries}), encoding="utf-8")

    config = read_config(path)

    assert [server.name for server in config.servers] == ["b"]
    copy = wrapped(config, ProxyArguments("record", RUN, "/h"))["mcpServers"]
    assert isinstance(copy, dict)
    assert list(copy) == ["b"]
    path.write_text(json.dumps({"mcpServers": {"a": entries["a"]}}), encoding="utf-8")
    with pytest.raises(ConfigError, match="the server 'a' is turned off in the config") as caught:
        read_config(path)
    assert caught.value.place == f"{path}:1 /mcpServers"


@pytest.mark.parametrize("make", ["nothing", "folder"])
def test_a_config_that_is_not_there_is_named(tmp_path: Path, make: str) -> None:
    path = tmp_path / "mcp.json"
    if make == "folder":
        path.mkdir()

    with pytest.raises(ConfigError, match="cannot be read") as caught:
        read_config(path)

    assert caught.value.place == str(path)
    assert "--config" in (caught.value.hint or "")


def test_w10_only_command_and_args_change_in_the_wrapped_copy(tmp_path: Path) -> None:
    document = {
        "first": 1,
        "mcpServers": {
            "git": {
                "type": "stdio",
                "timeout": 5,
                "command": "mcp-server-git",
                "env": {"TOKEN": "${TOKEN}"},
                "args": ["--repository", "${HOME}/x y"],
                "cwd": "/srv",
                "disabled": False,
                "alwaysAllow": ["git_log"],
            },
            "time": {"command": "mcp-server-time"},
        },
        "last": {"deep": [None, 1e2]},
    }
    config = read_config(written(tmp_path, json.dumps(document)))
    arguments = ProxyArguments("record", RUN, "/home/.sidecar", "/p/c.jsonl", "me", overwrite=True)

    copy = wrapped(config, arguments)

    program = sidecar_command()[0]
    told = ["--cassette", "/p/c.jsonl", "--run", RUN, "--home", "/home/.sidecar"]
    told += ["--agent-id", "me", "--overwrite"]
    git: dict[str, Any] = dict(document["mcpServers"]["git"])  # type: ignore[index]
    git["command"] = program
    git["args"] = ["proxy", "--server", "git", "--mode", "record", *told]
    git["args"] += ["mcp-server-git", "--repository", "${HOME}/x y"]
    time = {
        "command": program,
        "args": ["proxy", "--server", "time", "--mode", "record", *told, "mcp-server-time"],
    }
    assert copy == {
        "first": 1,
        "mcpServers": {"git": git, "time": time},
        "last": {"deep": [None, "100.0"]},
    }
    servers = copy["mcpServers"]
    assert isinstance(servers, dict)
    assert list(copy) == list(document)
    assert list(servers["git"]) == list(git)
    assert config.document == json.loads(json.dumps(document), parse_float=str)


@pytest.mark.parametrize(
    ("kind", "words", "left"),
    [
        pytest.param({"type": "http"}, ["--transport", "http"], {"type": "stdio"}, id="http"),
        pytest.param(
            {"type": "streamable-http"}, ["--transport", "http"], {"type": "stdio"}, id="-http"
        ),
        pytest.param(
            {"type": "streamableHttp"}, ["--transport", "http"], {"type": "stdio"}, id="Http"
        ),
        pytest.param(
            {"transport": "sse"}, ["--transport", "sse"], {"transport": "stdio"}, id="sse"
        ),
        pytest.param({}, [], {}, id="none"),
    ],
)
def test_e10_an_entry_with_a_url_becomes_one_that_is_started(
    tmp_path: Path, kind: dict[str, str], words: list[str], left: dict[str, str]
) -> None:
    headers = {"Authorization": "Bearer ${TOKEN}", "X-Team": "a"}
    entry = {"url": "https://h/mcp", **kind, "headers": headers, "env": {"A": "1"}, "timeout": 5}
    config = read_config(written(tmp_path, json.dumps({"mcpServers": {"far": entry}})))

    document = wrapped(config, ProxyArguments("record", RUN, "/home"))

    program, *first = sidecar_command()
    env = {
        "A": "1",
        "MCP_SIDECAR_HEADER_1": "Bearer ${TOKEN}",
        "MCP_SIDECAR_HEADER_2": "a",
    }
    assert document["mcpServers"]["far"] == {
        **left,
        "env": env,
        "timeout": 5,
        "command": program,
        "args": [
            *first, "proxy", "--server", "far", "--mode", "record", "--run", RUN, "--home", "/home",
            *words, "--header-env", "Authorization=MCP_SIDECAR_HEADER_1",
            "--header-env", "X-Team=MCP_SIDECAR_HEADER_2", "--url", "https://h/mcp",
        ],
    }  # fmt: skip


def test_a_url_entry_without_headers_gets_no_environment(tmp_path: Path) -> None:
    text = '{"mcpServers":{"far":{"url":"${BASE}/mcp"}}}'
    config = read_config(written(tmp_path, text))

    entry = wrapped(config, ProxyArguments("record", RUN, "/home"))["mcpServers"]["far"]

    assert sorted(entry) == ["args", "command"]
    assert entry["args"][-2:] == ["--url", "${BASE}/mcp"]


def test_e10_a_config_for_replay_holds_no_url_but_what_the_headers_mask(tmp_path: Path) -> None:
    text = '{"mcpServers":{"far":{"url":"http://h/mcp","headers":{"Key":"k-secret"}}}}'
    config = read_config(written(tmp_path, text))
    arguments = ProxyArguments("replay", RUN, "/home", cassette="/c.jsonl")

    entry = wrapped(config, arguments)["mcpServers"]["far"]

    assert "http://h/mcp" not in json.dumps(entry)
    assert entry["env"] == {"MCP_SIDECAR_HEADER_1": "k-secret"}
    assert entry["args"][-2:] == ["--header-env", "Key=MCP_SIDECAR_HEADER_1"]


def test_an_entry_with_a_url_is_read_whole(tmp_path: Path) -> None:
    entry = {"type": "sse", "url": "http://h/sse", "headers": {"A": "b"}}
    path = written(tmp_path, json.dumps({"mcpServers": {"far": entry}}))

    (server,) = read_config(path).servers

    place = f"{path}:1 /mcpServers/far/url"
    assert server == ServerEntry(
        "far", "", (), {}, entry, place, "http://h/sse", {"A": "b"}, "sse", None
    )


def test_a_config_for_replay_holds_nothing_that_could_be_started(tmp_path: Path) -> None:
    text = '{"mcpServers":{"git":{"command":"rm","args":["-rf","/"]}}}'
    config = read_config(written(tmp_path, text))

    offline = wrapped(config, ProxyArguments("replay", RUN, "/h", "/c.jsonl"))
    live = wrapped(config, ProxyArguments("replay", RUN, "/h", "/c.jsonl", on_miss="live"))

    told = ["--cassette", "/c.jsonl", "--run", RUN, "--home", "/h", "--on-miss"]
    words = ["proxy", "--server", "git", "--mode", "replay", *told]
    entry = {"command": sidecar_command()[0]}
    assert offline == {"mcpServers": {"git": {**entry, "args": [*words, "fail"]}}}
    assert live == {"mcpServers": {"git": {**entry, "args": [*words, "live", "rm", "-rf", "/"]}}}


def test_servers_that_only_a_cassette_knows_can_be_wrapped() -> None:
    config = config_of_names(["a", "b"])

    copy = wrapped(config, ProxyArguments("replay", RUN, "/h", "/c.jsonl"))

    servers = copy["mcpServers"]
    assert isinstance(servers, dict)
    assert list(servers) == ["a", "b"]
    assert servers["b"] == {
        "command": sidecar_command()[0],
        "args": [
            *("proxy", "--server", "b", "--mode", "replay", "--cassette", "/c.jsonl"),
            *("--run", RUN, "--home", "/h", "--on-miss", "fail"),
        ],
    }


def test_w15_the_sidecar_is_named_by_its_absolute_path() -> None:
    assert sidecar_command() == (paths.MCP_SIDECAR,)


def test_w15_without_its_script_the_sidecar_is_started_by_this_python(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sysconfig, "get_path", lambda _: str(tmp_path))

    assert sidecar_command() == (sys.executable, "-m", "sidecar")
    assert wrapped(config_of_names(["a"]), ProxyArguments("replay", RUN, "/h", "/c.jsonl")) == {
        "mcpServers": {
            "a": {
                "command": sys.executable,
                "args": [
                    *("-m", "sidecar", "proxy", "--server", "a", "--mode", "replay"),
                    *("--cassette", "/c.jsonl", "--run", RUN, "--home", "/h", "--on-miss", "fail"),
                ],
            }
        }
    }


def test_the_default_config_is_the_projects() -> None:
    assert config_module.DEFAULT_CONFIG == ".mcp.json"
