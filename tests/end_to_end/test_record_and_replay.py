"""A real agent's run with real servers is recorded, and replayed without any of them."""

import json
import shlex
import sys
from pathlib import Path
from typing import TypeAlias

import pytest

from tests.end_to_end.conftest import AGENTS, Project, call, client_agent, raw_agent
from tests.paths import ROOT

# Real servers and clients take seconds of CPU to start; the machine may be busy.
pytestmark = pytest.mark.timeout(300)

Requests: TypeAlias = tuple[tuple[str, str, object], ...]

GIT: Requests = (
    ("git", "tools/list", None),
    call("git", "git_log", repo_path="repo", max_count=2),
    call("git", "git_show", repo_path="repo", revision="v1.0"),
    call("git", "git_log", repo_path="repo", max_count=2),
)
TIME: Requests = (
    ("time", "tools/list", None),
    call("time", "get_current_time", timezone="UTC"),
    call("time", "get_current_time", timezone="UTC"),
    call("time", "get_current_time", timezone="Mars/X"),
    call("time", "no_such_tool"),
)
FILES: Requests = (
    ("filesystem", "tools/list", None),
    call("filesystem", "list_allowed_directories"),
    call("filesystem", "read_text_file", path="/etc/hostname"),
)
MEMORY: Requests = (
    call("memory", "read_graph"),
    call(
        "memory",
        "create_entities",
        entities=[{"name": "Ada", "entityType": "person", "observations": ["Größe 🎉"]}],
    ),
    call("memory", "read_graph"),
    call("memory", "add_observations", observations=[{"entityName": "Bob", "contents": ["x"]}]),
)
EVERYTHING: Requests = (
    ("everything", "tools/list", {}),
    call("everything", "echo", message="hi"),
    call("everything", "get-sum", a=1, b=2),
    call("everything", "get-sum", a="x"),
    call("everything", "get-tiny-image"),
    ("everything", "resources/list", None),
    ("everything", "prompts/list", None),
)


@pytest.mark.parametrize(
    ("era", "requests"),
    [
        pytest.param("modern", GIT, id="git, 2026-07-28"),
        pytest.param("legacy", GIT, id="git, handshake"),
        pytest.param("modern", TIME, id="time, 2026-07-28"),
        pytest.param("legacy", TIME, id="time, handshake"),
        pytest.param("legacy", FILES, id="filesystem"),
        pytest.param("legacy", MEMORY, id="memory"),
        pytest.param("legacy", EVERYTHING, id="everything"),
    ],
)
def test_a_replay_answers_the_same_session_byte_for_byte(
    project: Project, era: str, requests: Requests
) -> None:
    agent = raw_agent(era, *requests)

    recorded = project.tell("record", "--cassette", "demo", "--", *agent)
    replayed = project.tell("replay", "--cassette", "demo", "--require-all", "--", *agent)

    assert recorded.stdout.count(b"\n") > len(requests)
    assert replayed.stdout == recorded.stdout


CALLS: Requests = (
    ("git", "git_log", {"repo_path": "repo", "max_count": 1}),
    ("memory", "read_graph", {}),
    ("git", "git_show", {"repo_path": "repo", "revision": "v1.0"}),
    ("git", "no_such_tool", {}),
)


@pytest.mark.parametrize("client", ["sdk", "sdk-legacy", "fastmcp"])
def test_a_real_client_sees_no_difference(project: Project, client: str) -> None:
    agent = client_agent(client, *CALLS)

    recorded = project.tell("record", "--cassette", "demo", "--", *agent)
    replayed = project.tell("replay", "--cassette", "demo", "--require-all", "--", *agent)

    assert recorded.stdout.count(b"\n") >= len(CALLS) + 2
    assert replayed.stdout == recorded.stdout


@pytest.mark.parametrize(
    ("recording", "replaying"),
    [("sdk", "sdk-legacy"), ("sdk-legacy", "sdk")],
)
def test_a_client_of_the_other_era_gets_the_same_answers(
    project: Project, recording: str, replaying: str
) -> None:
    calls = CALLS[:3]
    project.tell("record", "--cassette", "demo", "--", *client_agent(recording, *calls))

    replayed = project.tell(
        "replay", "--cassette", "demo", "--require-all", "--", *client_agent(replaying, *calls)
    )

    lines = [json.loads(line) for line in replayed.stdout.splitlines() if line.startswith(b"{")]
    assert [line["isError"] for line in lines] == [False, False, True]
    assert "Say in the README what a member is" in lines[0]["content"][0]["text"]


def test_recording_the_same_session_again_gives_the_same_bytes_after_the_first_line(
    project: Project,
) -> None:
    agent = raw_agent("modern", *GIT, ("time", "tools/list", None), *GIT)

    for name in ("first", "second"):
        project.tell("record", "--cassette", name, "--", *agent)

    first, second = (project.cassette(name).read_bytes() for name in ("first", "second"))
    assert first.partition(b"\n")[2] == second.partition(b"\n")[2]
    heads = [json.loads(text.partition(b"\n")[0]) for text in (first, second)]
    runs = {head.pop("run") for head in heads}
    assert len(runs) == 2
    assert (
        heads
        == [
            {
                "cassette": 1,
                "servers": {"git": {"protocol": "2026-07-28"}, "time": {"protocol": "2026-07-28"}},
                "complete": True,
            }
        ]
        * 2
    )


FOUND = call("memory", "search_nodes", query="a")


def tracing(project: Project) -> Path:
    """Write a config whose servers' commands leave a trace when they are started."""
    trace = project.folder / "was-started"
    command = f"echo started >> {shlex.quote(str(trace))}; exec cat"
    entries = {name: {"command": "sh", "args": ["-c", command]} for name in project.servers}
    return project.write_config("tracing.json", entries)


@pytest.mark.parametrize(
    "requests",
    [
        pytest.param((FOUND,), id="a hit"),
        pytest.param((FOUND, FOUND), id="used up"),
        pytest.param((call("memory", "search_nodes", query="b"),), id="arguments differ"),
        pytest.param((call("memory", "no_such_tool"),), id="unknown tool"),
        pytest.param((("memory", "resources/list", None),), id="unknown method"),
        pytest.param((call("time", "get_current_time"),), id="a server without a recording"),
    ],
)
def test_r08_a_replay_starts_nothing_whatever_is_asked(
    project: Project, requests: Requests
) -> None:
    project.tell("record", "--cassette", "demo", "--", *raw_agent("legacy", FOUND))
    config = tracing(project)
    agent = raw_agent("legacy", *requests)
    hit = requests == (FOUND,)

    words = ["replay", "--cassette", "demo", "--config", str(config), "--", *agent]
    project.tell(*words, code=0 if hit else 1)

    assert not (project.folder / "was-started").exists()


def test_the_trace_would_be_left_if_a_server_was_started(project: Project) -> None:
    config = tracing(project)
    agent = [sys.executable, "-c", STARTS_SERVERS]

    project.tell("record", "--cassette", "demo", "--config", config, "--", *agent)

    started = (project.folder / "was-started").read_text(encoding="utf-8").splitlines()
    assert started == ["started"] * len(project.servers)


LOOKS_AT_ITS_PROXY = """
import json, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from tests.servers.raw_client import RawClient
entry = json.load(open(os.environ["MCP_SIDECAR_CONFIG"]))["mcpServers"]["memory"]
with RawClient([entry["command"], *entry["args"]]) as client:
    client.initialize()
    for query in ("a", "a", "b"):
        client.call("search_nodes", {"query": query})
    process = Path("/proc") / str(client.process.pid)
    files = [os.readlink(file) for file in (process / "fd").iterdir()]
    children = (process / "task" / process.name / "children").read_text()
    print(json.dumps([[file for file in files if file.startswith("socket:")], children]))
    client.close_stdin()
    client.wait()
"""


def test_a_replaying_proxy_has_no_child_and_no_socket(project: Project) -> None:
    project.tell("record", "--cassette", "demo", "--", *raw_agent("legacy", FOUND))
    agent = [sys.executable, "-c", LOOKS_AT_ITS_PROXY, str(ROOT)]

    live = project.tell("record", "--cassette", "live", "--", *agent)
    replayed = project.tell("replay", "--cassette", "demo", "--", *agent, code=1)

    assert json.loads(replayed.stdout) == [[], ""]
    assert json.loads(live.stdout)[1] != ""


STARTS_SERVERS = """
import json, os, subprocess
for entry in json.load(open(os.environ["MCP_SIDECAR_CONFIG"]))["mcpServers"].values():
    subprocess.run([entry["command"], *entry["args"]], input=b"", timeout=30)
"""


def test_a_miss_may_be_answered_live_and_is_told(project: Project) -> None:
    project.tell("record", "--cassette", "demo", "--", *raw_agent("modern", GIT[1]))
    before = project.cassette("demo").read_bytes()
    agent = raw_agent("modern", GIT[1], GIT[2])
    live = ["--config", ".mcp.json", "--on-miss", "live"]

    done = project.tell("replay", "--cassette", "demo", *live, "--", *agent)

    assert b"did not resolve" in done.stdout or b"v1.0" in done.stdout
    assert b"mcp-sidecar: miss, answered live: unknown-tool" in done.stderr
    assert b"1 call served, 1 missed, 0 left over" in done.stderr
    assert project.cassette("demo").read_bytes() == before


def test_auto_serves_what_is_recorded_and_adds_what_is_not(project: Project) -> None:
    first = raw_agent("modern", call("memory", "read_graph"))
    both = raw_agent("modern", call("memory", "read_graph"), GIT[1])

    project.tell("record", "--mode", "auto", "--cassette", "demo", "--", *first)
    before = project.cassette("demo").read_bytes()
    recorded = project.tell("record", "--mode", "auto", "--cassette", "demo", "--", *both)
    after = project.cassette("demo").read_bytes()
    replayed = project.tell("replay", "--cassette", "demo", "--require-all", "--", *both)

    assert after.partition(b"\n")[2].startswith(before.partition(b"\n")[2])
    assert after.count(b'"git_log"') == before.count(b'"git_log"') + 1
    assert replayed.stdout == recorded.stdout


def test_r15_two_servers_with_a_tool_of_one_name_have_their_own_answers(project: Project) -> None:
    raw = project.servers["raw"]
    project.write_config(".mcp.json", {"a": raw, "b": raw})
    agent = raw_agent(
        "legacy",
        *(call("a", "counter", k="x"), call("a", "counter", k="x"), call("b", "counter", k="x")),
        call("a", "counter", k="x"),
    )

    recorded = project.tell("record", "--cassette", "demo", "--", *agent)
    replayed = project.tell("replay", "--cassette", "demo", "--require-all", "--", *agent)

    assert replayed.stdout == recorded.stdout
    assert len(project.trace()) == 2


def test_c04_eight_servers_that_answer_at_once_share_a_cassette(project: Project) -> None:
    names = [f"raw{number}" for number in range(8)]
    project.write_config(".mcp.json", dict.fromkeys(names, project.servers["raw"]))
    agent = [sys.executable, str(AGENTS / "parallel_agent.py"), "10"]

    recorded = project.tell("record", "--cassette", "demo", "--", *agent)
    replayed = project.tell("replay", "--cassette", "demo", "--require-all", "--", *agent)
    events = project.tell("runs", "export", "last", "--format", "events")

    lines = [json.loads(line) for line in project.cassette("demo").read_bytes().splitlines()]
    for done in (recorded, replayed):  # the cassette has its servers in another order
        assert sorted(done.stdout.decode().splitlines()) == [f"{name} 10" for name in names]
    assert lines[0]["complete"] is True
    assert sorted(line["server"] for line in lines[1:]) == sorted(names * 11)
    sequences = [json.loads(line)["sequence"] for line in events.stdout.splitlines()]
    assert sequences == list(range(8 * 10 * 2))
