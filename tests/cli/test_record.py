"""`mcp-sidecar record`."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from sidecar.store import cassettes, recorded, runs
from sidecar.store.journal import Journal
from tests import paths
from tests.cli.conftest import SERVER, Project
from tests.cli.test_cassette import BROKEN, HEAD, LINE, written

ECHO = ("echo", {"text": "hi"})


def journal_of(project: Project) -> Journal:
    return Journal.open(str(project.folder / ".sidecar" / "journal.db"))


def test_a_run_is_recorded_and_the_user_is_told(project: Project) -> None:
    agent = project.agent(ECHO, ("fail", {"variant": "text"}))

    told = project.tell("record", "--cassette", "demo", "--", *agent)

    path = project.folder / "cassettes" / "demo.jsonl"
    found = cassettes.load(str(path)).cassette
    assert told.code == 0
    assert [json.loads(line)["content"][0]["text"] for line in told.out.splitlines()] == [
        "hi",
        "the disk is full",
    ]
    assert f"mcp-sidecar: run {found.run}: 2 calls, 1 error\n" in told.err
    assert "mcp-sidecar: cassette cassettes/demo.jsonl\n" in told.err
    assert [item.tool or item.method for item in found.interactions] == [
        "initialize",
        "echo",
        "fail",
    ]
    assert found.complete
    assert project.starts() == 1


def test_the_input_and_the_output_are_kept_with_the_run(project: Project) -> None:
    agent = [*project.agent(ECHO), "--input"]

    told = project.tell("record", "--cassette", "demo", "--input", "What\nnow?", "--", *agent)

    journal = journal_of(project)
    (run,) = runs.list_runs(journal)
    journal.close()
    assert told.code == 0
    assert run.state == "ended"
    assert run.exit_code == 0
    assert json.loads(run.command or "") == agent
    assert json.loads(run.input or "") == "What\nnow?"
    assert json.loads(run.output or "") == told.out.removesuffix("\n")
    assert told.out.startswith("What\nnow?")


def test_an_input_can_come_from_a_file(project: Project) -> None:
    (project.folder / "q.txt").write_text("Größe?", encoding="utf-8")

    told = project.tell(
        *("record", "--cassette", "demo", "--input", "@q.txt", "--", sys.executable, "-c"),
        "import sys; print(sys.argv[1], open(sys.argv[2], encoding='utf-8').read())",
        *("{input}", "{input_file}"),
    )

    assert told.out == "Größe? Größe?\n"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        pytest.param(None, "the input cannot be read (No such file", id="missing"),
        pytest.param(b"\xff", "the input is not UTF-8", id="not UTF-8"),
    ],
)
def test_an_input_that_cannot_be_read_is_an_error(
    project: Project, content: bytes | None, problem: str
) -> None:
    if content is not None:
        (project.folder / "q.txt").write_bytes(content)

    told = project.tell(
        *("record", "--cassette", "demo", "--input", "@q.txt", "--", *project.agent(ECHO))
    )

    assert told.code == 2
    assert told.err.startswith(f"mcp-sidecar: q.txt: {problem}")
    assert project.starts() == 0


def test_an_agent_that_fails_gives_its_code_and_an_incomplete_cassette(project: Project) -> None:
    agent = project.agent(ECHO, exit_code=7)

    told = project.tell("record", "--cassette", "demo", "--", *agent)

    assert told.code == 7
    assert "the agent failed: exit code 7" in told.err
    assert "demo.jsonl, which is not complete" in told.err
    assert not cassettes.load(str(project.folder / "cassettes" / "demo.jsonl")).cassette.complete
    journal = journal_of(project)
    assert [(run.state, run.exit_code) for run in runs.list_runs(journal)] == [("failed", 7)]
    journal.close()


def test_an_agent_that_starts_no_server_leaves_no_cassette_and_a_warning(project: Project) -> None:
    told = project.tell("record", "--cassette", "demo", "--", sys.executable, "-c", "print('x')")

    assert (told.code, told.out) == (0, "x\n")
    assert "nothing was recorded: the agent asked no server of its config" in told.err
    assert not (project.folder / "cassettes").exists()


@pytest.mark.parametrize(
    ("words", "said"),
    [
        pytest.param(["no-such-agent"], "'no-such-agent' was not found", id="no such command"),
        pytest.param([], "there is no agent command", id="no command"),
        pytest.param(["python 'x"], "No closing quotation", id="an open quote"),
        pytest.param(["echo", "{input}"], "there is no input; give one with --input", id="input"),
        pytest.param(["echo", "{mcp_confg}"], "write {mcp_config}; there are", id="template"),
        pytest.param(["python", "nope.py"], "'nope.py', which is not there", id="script"),
    ],
)
def test_an_agent_that_cannot_be_started_is_an_error(
    project: Project, words: list[str], said: str
) -> None:
    told = project.tell("record", "--cassette", "demo", "--", *words)

    assert told.code == 2
    assert said in told.err
    assert not (project.folder / "cassettes").exists()


@pytest.mark.parametrize(
    ("config", "said"),
    [
        pytest.param(None, ".mcp.json: the config cannot be read (No such file", id="missing"),
        pytest.param('{"mcpServers":{}}', "the config names no server", id="no servers"),
        pytest.param("{,}", ".mcp.json:1:2: the config is no JSON", id="broken"),
    ],
)
def test_a_config_that_cannot_be_used_is_an_error(
    project: Project, config: str | None, said: str
) -> None:
    path = project.folder / ".mcp.json"
    path.unlink()
    if config is not None:
        path.write_text(config, encoding="utf-8")

    told = project.tell("record", "--cassette", "demo", "--", *project.agent(ECHO))

    assert told.code == 2
    assert told.err.startswith(f"mcp-sidecar: {path}")
    assert said in told.err
    assert not (project.folder / ".sidecar").exists()


def test_s12_a_servers_command_that_does_not_exist_is_an_error_with_its_place(
    project: Project,
) -> None:
    path = project.write_config({"raw": {"command": "no-such-server", "args": ["x"]}})
    # An agent that makes nothing of it, and says that all is well.
    code = f"import subprocess, sys; subprocess.run({project.agent(ECHO)!r})"

    told = project.tell("record", "--cassette", "demo", "--", sys.executable, "-c", code)

    assert told.code == 2
    assert (
        f"mcp-sidecar: {path}:1 /mcpServers/raw/command: the server 'raw' could not be started; "
        "check the command 'no-such-server'\n"
    ) in told.err
    assert not cassettes.load(str(project.folder / "cassettes" / "demo.jsonl")).cassette.complete


def test_s13_a_server_sees_the_environment_and_the_folder_that_the_agent_gives_it(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FOO", "1")
    entry = {"command": sys.executable, "args": [SERVER], "env": {"BAR": "2"}}
    project.write_config({"raw": entry})
    names = {"names": ["FOO", "BAR", "MCP_SIDECAR_RUN"]}

    told = project.tell(
        *("record", "--cassette", "demo", "--", *project.agent(("env", names), ("cwd", {})))
    )

    env, cwd = (json.loads(line) for line in told.out.splitlines())
    (run,) = runs.list_runs(journal_of(project))
    assert env["structuredContent"] == {"FOO": "1", "BAR": "2", "MCP_SIDECAR_RUN": run.run_id}
    assert cwd["content"][0]["text"] == str(project.folder)


def test_another_config_can_be_named_and_is_not_changed(project: Project) -> None:
    config = (project.folder / ".mcp.json").rename(project.folder / "other.json")
    before = config.read_bytes()

    told = project.tell(
        *("record", "--cassette", "demo", "--config", "other.json", "--", *project.agent(ECHO))
    )

    assert told.code == 0
    assert (project.folder / "cassettes" / "demo.jsonl").is_file()
    assert config.read_bytes() == before


@pytest.mark.parametrize("flags", [[], ["--overwrite"]])
@pytest.mark.parametrize(
    ("text", "said"),
    [
        *BROKEN,
        pytest.param(HEAD + LINE + LINE[:40], ":3: the last line is broken", id="cut in half"),
    ],
)
def test_c01_a_broken_cassette_in_the_place_is_an_error_before_the_agent_works(
    project: Project, text: str | bytes, said: str, flags: list[str]
) -> None:
    path = written(project, text)
    before = path.read_bytes()

    told = project.tell("record", "--cassette", "demo", *flags, "--", *project.agent(ECHO))

    assert told.code == 2
    assert f"{path}" in told.err
    assert said in told.err
    assert path.read_bytes() == before
    assert project.starts() == 0


def test_a_link_to_a_cassette_that_is_not_there_yet_is_followed(project: Project) -> None:
    link, target = project.folder / "demo.jsonl", project.folder / "kept.jsonl"
    link.symlink_to(target)

    told = project.tell("record", "--cassette", "demo.jsonl", "--", *project.agent(ECHO))

    assert told.code == 0, told.err
    assert link.is_symlink()
    assert cassettes.load(str(target)).cassette.complete


@pytest.mark.parametrize("name", ["../x", "/abs", "a//b", "..", "CON", "a\\b", ""])
def test_c07_a_name_that_leads_out_is_refused(project: Project, name: str) -> None:
    told = project.tell("record", "--cassette", name, "--", *project.agent(ECHO))

    assert told.code == 2
    assert "is no cassette name" in told.err
    assert project.starts() == 0


@pytest.mark.parametrize(
    "entry",
    [
        pytest.param({"command": "no-such-server"}, id="that is not there"),
        pytest.param({"command": "false"}, id="that ends at once"),
        pytest.param({"type": "http", "url": "http://127.0.0.1:9/mcp"}, id="that no URL reaches"),
    ],
)
def test_r25_auto_with_a_server_leaves_the_cassette_as_it_is(
    project: Project, entry: dict[str, str]
) -> None:
    path = project.record("demo", ("echo", {"text": "a"}))
    before = path.read_bytes()
    project.write_config({"raw": entry})
    agent = project.agent(("echo", {"text": "a"}), ("echo", {"text": "b"}))

    told = project.tell("record", "--mode", "auto", "--cassette", "demo", "--", *agent)

    assert path.read_bytes() == before
    assert "demo.jsonl is as it was: nothing else was answered" in told.err
    fresh = project.tell("record", "--mode", "auto", "--cassette", "fresh", "--", *agent)
    assert "fresh.jsonl was not written: nothing else was answered" in fresh.err


@pytest.mark.parametrize("mode", ["Record", "replay", " auto", "AUTO", ""])
def test_r17_an_unknown_mode_is_an_error(project: Project, mode: str) -> None:
    told = project.tell("record", "--mode", mode, "--cassette", "demo", "--", *project.agent(ECHO))

    assert told.code == 2
    assert "Invalid value for '--mode'" in told.err
    assert project.starts() == 0


@pytest.mark.parametrize("exit_code", [0, 3], ids=["complete", "not complete"])
def test_r25_another_runs_cassette_stays_and_the_run_is_kept_in_the_journal(
    project: Project, exit_code: int
) -> None:
    project.tell("record", "--cassette", "demo", "--", *project.agent(ECHO, exit_code=exit_code))
    path = project.folder / "cassettes" / "demo.jsonl"
    before = path.read_bytes()

    told = project.tell("record", "--cassette", "demo", "--", *project.agent(ECHO, exit_code=7))

    assert told.code == 7
    assert told.err.count("was left as it is") == 1
    assert told.err.count("mcp-sidecar cassette save") == 1
    assert path.read_bytes() == before
    with journal_of(project) as journal:
        assert len(list(runs.list_runs(journal))) == 2
    assert project.tell("cassette", "save", "last", "--cassette", "other").code == 0


def test_r25_a_cassette_that_came_while_the_agent_worked_stays_and_that_is_said_once(
    project: Project,
) -> None:
    path = project.folder / "cassettes" / "demo.jsonl"
    code = (
        "import os, subprocess\n"
        f"os.makedirs({str(path.parent)!r})\n"
        f"open({str(path)!r}, 'w').write({HEAD + LINE!r})\n"
        f"subprocess.run({project.agent(ECHO)!r})"
    )

    told = project.tell("record", "--cassette", "demo", "--", sys.executable, "-c", code)

    assert told.code == 0
    assert told.err.count("was left as it is") == 1
    assert told.err.count("mcp-sidecar cassette save") == 1
    assert path.read_text("utf-8") == HEAD + LINE
    saved = project.tell("cassette", "save", "last", "--cassette", "other")
    assert saved.code == 0


def test_the_counts_are_those_that_the_runs_verb_shows(project: Project) -> None:
    calls = [ECHO, ("fail", {"variant": "text"}), ("crash", {})]
    agent = project.agent(*calls)

    told = project.tell("record", "--cassette", "demo", "--", *agent)

    (listed,) = json.loads(project.tell("runs", "list", "--json").out)
    shown = project.tell("runs", "show", "last").out
    assert (listed["calls"], listed["errors"]) == (3, 2)
    assert f"mcp-sidecar: run {listed['runId']}: 3 calls, 2 errors\n" in told.err
    assert "calls: 3 calls, 2 errors, 0 misses\n" in shown


def test_r25_another_runs_cassette_is_replaced_as_a_whole_when_told(project: Project) -> None:
    path = project.record("demo", ECHO, ECHO)

    told = project.tell(
        *("record", "--cassette", "demo", "--overwrite", "--"),
        *project.agent(("add", {"a": 1, "b": 2})),
    )

    found = cassettes.load(str(path)).cassette
    assert told.code == 0
    assert "stays as it is" not in told.err
    assert [item.tool for item in found.interactions if item.is_tool_call] == ["add"]


def test_c04_a_cassette_that_cannot_be_written_fails_the_run_which_stays_in_the_journal(
    project: Project,
) -> None:
    (project.folder / "cassettes").write_text("in the way", encoding="utf-8")

    told = project.tell("record", "--cassette", "demo", "--", *project.agent(ECHO))

    assert told.code == 2
    assert "demo.jsonl: the cassette cannot be written" in told.err
    assert "the run is in the journal" in told.err
    saved = project.tell("cassette", "save", "last", "--cassette", "other.jsonl")
    assert saved.code == 0
    assert len(cassettes.load(str(project.folder / "other.jsonl")).cassette.interactions) == 2


def test_options_end_where_the_agent_begins(project: Project) -> None:
    told = project.tell(
        *("record", "--cassette", "demo", sys.executable, "-c", "import sys; print(sys.argv[1:])"),
        *("--config", "--", "-x"),
    )

    assert (told.code, told.out) == (0, "['--config', '--', '-x']\n")


def test_the_home_and_the_agents_id_can_be_given(project: Project, tmp_path: Path) -> None:
    told = project.tell(
        *("record", "--cassette", "demo", "--home", str(tmp_path / "h"), "--agent-id", "me"),
        *("--", *project.agent(ECHO)),
    )

    journal = Journal.open(str(tmp_path / "h" / "journal.db"))
    (run,) = runs.list_runs(journal)
    journal.close()
    assert told.code == 0
    assert (run.agent_id, [one.agent_id for one in run.sessions]) == ("me", ["me"])
    assert not (project.folder / ".sidecar").exists()


@pytest.mark.parametrize("ident", ["", "a b", "x" * 129, "é"])
def test_an_agent_id_that_no_event_may_have_is_an_error(project: Project, ident: str) -> None:
    told = project.tell(
        *("record", "--cassette", "demo", "--agent-id", ident, "--", *project.agent(ECHO))
    )

    assert told.code == 2
    assert "Invalid value for '--agent-id': use 1 to 128 letters" in told.err
    assert project.starts() == 0


def test_nothing_made_for_the_run_is_left(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    temporary = tmp_path / "tmp"
    temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    code = "import os, sys; print(oct(os.stat(os.path.dirname(sys.argv[1])).st_mode))"

    told = project.tell(
        *("record", "--cassette", "demo", "--", sys.executable, "-c", code, "{mcp_config}")
    )

    assert told.out == "0o40700\n"
    assert list(temporary.iterdir()) == []


def test_git_sees_nothing_of_the_sidecars_home(project: Project) -> None:
    subprocess.run(["git", "init", "--quiet"], check=True, timeout=20)
    project.record("demo", ECHO)

    status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], check=True, capture_output=True, timeout=20
    )

    found = {line.split()[1] for line in status.stdout.decode().splitlines()}
    assert found == {".mcp.json", "cassettes/demo.jsonl", "started.jsonl"}


WAITS = """
import json, os, signal, subprocess, sys, time
entry = json.load(open(os.environ["MCP_SIDECAR_CONFIG"]))["mcpServers"]["raw"]
server = subprocess.Popen([entry["command"], *entry["args"]], stdin=-1, stdout=-1)
def ask(ident, method, params):
    line = json.dumps({"jsonrpc": "2.0", "id": ident, "method": method, "params": params})
    server.stdin.write(line.encode() + b"\\n")
    server.stdin.flush()
    return server.stdout.readline()
ask(1, "initialize", {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {}})
ask(2, "tools/call", {"name": "echo", "arguments": {"text": "hi"}})
print("asked", flush=True)
time.sleep(50)
"""


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_r22_a_run_that_is_stopped_is_interrupted_and_keeps_what_was_answered(
    project: Project, sign: signal.Signals
) -> None:
    process = subprocess.Popen(
        [paths.MCP_SIDECAR, "record", "--cassette", "demo", "--", sys.executable, "-c", WAITS],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,  # a handler that ignores HUP is not inherited from here
    )
    assert process.stdout is not None
    assert process.stdout.readline() == b"asked\n"

    process.send_signal(sign)
    _, err = process.communicate(timeout=40)

    assert process.returncode == 128 + sign
    name = "Ctrl-C" if sign == signal.SIGINT else sign.name
    assert f"mcp-sidecar: the agent was stopped by {name}\n".encode() in err
    assert b"SIGINT" not in err
    found = cassettes.load(str(project.folder / "cassettes" / "demo.jsonl")).cassette
    assert not found.complete
    assert [item.tool for item in found.interactions if item.is_tool_call] == ["echo"]
    journal = journal_of(project)
    (run,) = runs.list_runs(journal)
    rows = recorded.of_run(journal.connection, run.run_id)
    journal.close()
    assert run.state == "interrupted"
    assert [row.state for row in rows] == ["answered", "answered"]
    assert_gone(project)


def assert_gone(project: Project) -> None:
    """Check that the server, and what it was started by, is gone, or goes at once."""
    until = time.monotonic() + 20
    for line in project.trace.read_bytes().splitlines():
        pid = json.loads(line)["pid"]
        while Path(f"/proc/{pid}").exists() and time.monotonic() < until:
            os.sched_yield()
        assert not Path(f"/proc/{pid}").exists()


def test_settings_and_options_say_what_is_masked(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    text = "[redaction]\nkeys = ['text']\n"
    (project.folder / "sidecar.toml").write_text(text, encoding="utf-8")
    monkeypatch.setenv("PLAIN_SETTING", "seven-of-nine")
    masks = ("--mask-pattern", r"MRN-\d+", "--mask-env", "PLAIN_SETTING", "--mask-key", "ward")
    agent = project.agent(("echo", {"text": "hi"}), ("params", {"a": "MRN-7 seven-of-nine"}))

    told = project.tell("record", "--cassette", "demo", *masks, "--", *agent)

    written = (project.folder / "cassettes" / "demo.jsonl").read_text(encoding="utf-8")
    assert told.code == 0
    assert '"arguments":{"text":"[REDACTED:1]"}' in written
    assert '"arguments":{"a":"[REDACTED:2] [REDACTED:3]"}' in written


def test_the_mode_of_the_settings_is_that_of_record_and_an_option_wins(project: Project) -> None:
    (project.folder / "sidecar.toml").write_text("mode = 'auto'\n", encoding="utf-8")
    agent = project.agent(ECHO)
    project.tell("record", "--cassette", "demo", "--", *agent)

    again = project.tell("record", "--cassette", "demo", "--", *agent)
    assert (again.code, project.starts()) == (0, 1)
    kept = project.tell("record", "--mode", "record", "--cassette", "demo", "--", *agent)

    assert (kept.code, project.starts()) == (0, 2)
    assert "was left as it is" in kept.err


def test_a_setting_that_is_none_is_refused_before_the_agent_works(project: Project) -> None:
    (project.folder / "sidecar.toml").write_text("[redact]\n", encoding="utf-8")

    told = project.tell("record", "--cassette", "demo", "--", *project.agent(ECHO))

    assert told.code == 2
    assert "sidecar.toml:1: unknown setting 'redact'; did you mean redaction?" in told.err
    assert project.starts() == 0


def test_x08_what_a_dead_server_said_of_its_secrets_is_in_no_file(project: Project) -> None:
    secrets = {"MY_TOKEN": "envTOKENvalue9911", "URL": "postgres://u:pwInUrl99887@h/x"}
    code = "import os, sys; sys.exit(os.environ['MY_TOKEN'] + ' ' + os.environ['URL'])"
    server = {"command": sys.executable, "args": ["-c", code], "env": secrets}
    config = {"mcpServers": {"raw": server}}
    (project.folder / "dying.json").write_text(json.dumps(config), encoding="utf-8")
    script = """
import json, os, subprocess
entry = json.load(open(os.environ["MCP_SIDECAR_CONFIG"]))["mcpServers"]["raw"]
asked = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {}}
words = [entry["command"], *entry["args"]]
done = subprocess.run(words, input=json.dumps(asked) + chr(10), stdout=-1, text=True,
                      env={**os.environ, **entry.get("env", {})})
print(done.stdout)
"""
    agent = [sys.executable, "-c", script]

    told = project.tell("record", "--cassette", "x", "--config", "dying.json", "--", *agent)

    assert "its last words: envTOKENvalue9911" in told.out  # live traffic is as it is
    files = [path for path in project.folder.rglob("*") if path.is_file()]
    kept = {str(path): path.read_bytes() for path in files if path.name != "dying.json"}
    assert len(kept) >= 3
    found = [name for name, data in kept.items() if b"envTOKEN" in data or b"pwInUrl" in data]
    assert found == []
    assert "its last words: [REDACTED:" in project.tell("runs", "show", "last", "--whole").out


def test_the_config_may_be_of_another_client_and_have_comments(project: Project) -> None:
    entry = {"command": sys.executable, "args": [SERVER]}
    path = project.folder / ".vscode" / "mcp.json"
    path.parent.mkdir()
    path.write_text(f'// ours\n{{"servers": {{"raw": {json.dumps(entry)},}},}}', encoding="utf-8")

    agent = project.agent(("echo", {"text": "hi"}))
    told = project.tell("record", "--cassette", "c", "--config", ".vscode/mcp.json", "--", *agent)

    assert told.code == 0, told
    assert '"tools/call"' in (project.folder / "cassettes" / "c.jsonl").read_text(encoding="utf-8")
