"""`mcp-sidecar promote`: recorded runs become tasks of a suite."""

import json
import shlex
import sys
from pathlib import Path
from typing import Any

import pytest

from sidecar.store.journal import Journal
from tests import paths
from tests.cli.conftest import Project, Told

SUITE = "suites/checkout.json"
ECHO: tuple[str, dict[str, object]] = ("echo", {"text": "hi"})
ADD: tuple[str, dict[str, object]] = ("add", {"a": 1, "b": 2})
FAIL: tuple[str, dict[str, object]] = ("fail", {"variant": "text"})


def record(project: Project, cassette: str, *calls: Any, question: str | None = "say hi") -> None:
    words = [] if question is None else ["--input", question]
    told = project.tell("record", "--cassette", cassette, *words, "--", *project.agent(*calls))
    assert told.code == 0, told


def promote(project: Project, *words: str, code: int = 0) -> Told:
    told = project.tell("promote", *words, "--suite", SUITE)
    assert told.code == code, told
    return told


def suite(project: Project, path: str = SUITE) -> Any:
    return json.loads((project.folder / path).read_text(encoding="utf-8"))


def surface(project: Project) -> list[Any]:
    path = project.folder / "suites" / "checkout.surface.jsonl"
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def written(project: Project) -> dict[str, bytes]:
    """All files of the folder of suites."""
    folder = project.folder / "suites"
    return {path.name: path.read_bytes() for path in sorted(folder.glob("*"))}


def test_a_cassette_becomes_the_first_task_of_a_new_suite(project: Project) -> None:
    record(project, "greeting", ECHO, FAIL)

    told = promote(project, "greeting", "--forbid", "raw:drop")

    assert told.out.splitlines()[0] == (
        f"{SUITE}: new suite, with task greeting (2 calls, 1 of them failed)"
    )
    assert told.err == f"mcp-sidecar: next: mcp-sidecar run {SUITE} --agent 'YOUR AGENT'\n"
    found = suite(project)
    (task,) = found.pop("tasks")
    assert found == {
        "suiteId": "local.evals.checkout",
        "version": "1.0.0",
        "modes": ["golden"],
        "thresholds": {"passScore": 1},
    }
    assert (task["taskId"], task["input"]) == ("greeting", "say hi")
    assert task["expected"]["kind"] == "golden"
    assert task["expected"]["trajectory"] == {
        "match": "in-order",
        "calls": [
            {"tool": "raw:echo", "args": {"text": "hi"}, "argsMatch": "exact"},
            {"tool": "raw:fail", "args": {"variant": "text"}, "argsMatch": "exact"},
        ],
        "forbidden": ["raw:drop"],
    }
    entries = task["fixtures"]["toolResponses"]
    assert [(entry["tool"], entry.get("isError", False)) for entry in entries] == [
        ("raw:echo", False),
        ("raw:fail", True),
        ("raw:drop", True),
    ]
    assert task["fixtures"]["onMiss"] == "fail"


def test_the_surface_lies_beside_the_suite_and_holds_no_call(project: Project) -> None:
    record(project, "greeting", ECHO)

    promote(project, "greeting")

    head, *interactions = surface(project)
    assert head.keys() == {"cassette", "servers", "complete"}
    assert [one["request"]["method"] for one in interactions] == ["initialize"]


def test_p02_the_same_promotion_again_changes_nothing_byte_for_byte(project: Project) -> None:
    record(project, "greeting", ECHO)
    record(project, "sum", ADD)
    promote(project, "greeting")
    promote(project, "sum")
    before = written(project)
    times = [path.stat().st_mtime_ns for path in (project.folder / "suites").glob("*")]

    told = promote(project, "greeting")

    assert told.out.startswith(f"{SUITE}: nothing changed, it has task greeting (1 call)\n")
    assert written(project) == before
    assert [path.stat().st_mtime_ns for path in (project.folder / "suites").glob("*")] == times


def test_p02_another_task_under_the_same_id_is_refused_and_nothing_written(
    project: Project,
) -> None:
    record(project, "greeting", ECHO)
    record(project, "sum", ADD)
    promote(project, "greeting", "--task", "one")
    before = written(project)

    told = promote(project, "sum", "--task", "one", code=2)

    assert told.err == (
        f"mcp-sidecar: {SUITE} /tasks/0: there is another task 'one' already; choose another "
        "--task, or give --replace to put this one in its place\n"
    )
    assert written(project) == before


def test_p02_another_task_takes_the_place_with_replace(project: Project) -> None:
    record(project, "greeting", ECHO)
    record(project, "sum", ADD)
    promote(project, "greeting", "--task", "one")

    told = promote(project, "sum", "--task", "one", "--replace")

    assert told.out.startswith(f"{SUITE}: replaced task one (1 call)\n")
    (task,) = suite(project)["tasks"]
    assert [entry["tool"] for entry in task["fixtures"]["toolResponses"]] == ["raw:add"]


def test_several_sources_become_a_task_each(project: Project) -> None:
    record(project, "greeting", ECHO)
    record(project, "sum", ADD)

    promote(project, "greeting", "sum")

    assert [task["taskId"] for task in suite(project)["tasks"]] == ["greeting", "sum"]


def test_p02_two_cassettes_with_the_same_stem_are_refused(project: Project) -> None:
    record(project, "a/greeting", ECHO)
    record(project, "b/greeting", ECHO)

    told = promote(project, "a/greeting", "b/greeting", code=2)

    assert "a/greeting and b/greeting would both be task 'greeting'" in told.err
    assert not (project.folder / "suites").exists()


def test_of_several_sources_either_all_are_promoted_or_none(project: Project) -> None:
    record(project, "greeting", ECHO)
    record(project, "silence")

    told = promote(project, "greeting", "silence", code=2)

    assert "silence" in told.err
    assert not (project.folder / "suites").exists()


def test_several_sources_and_one_task_id_are_refused(project: Project) -> None:
    record(project, "greeting", ECHO)

    told = promote(project, "greeting", "greeting", "--task", "one", code=2)

    assert "--task names one task" in told.err


def test_arguments_that_are_ignored_leave_fixture_and_path(project: Project) -> None:
    record(project, "sum", ADD)

    promote(project, "sum", "--ignore-arg", "raw:add:/b")

    (task,) = suite(project)["tasks"]
    (entry,) = task["fixtures"]["toolResponses"]
    (call,) = task["expected"]["trajectory"]["calls"]
    assert (entry["args"], entry["argsMatch"]) == ({"a": 1}, "subset")
    assert call == {"tool": "raw:add", "args": {"a": 1}, "argsMatch": "subset"}


@pytest.mark.parametrize(
    ("words", "match"),
    [
        pytest.param(["exact"], "exact", id="exact"),
        pytest.param(["contains"], "contains", id="contains"),
        pytest.param(["contains:hi"], "contains", id="contains a text"),
        pytest.param(["json-match"], "json-match", id="json-match"),
        pytest.param(["none"], None, id="none"),
    ],
)
def test_the_output_is_compared_as_chosen(
    project: Project, words: list[str], match: str | None
) -> None:
    record(project, "greeting", ECHO)

    promote(project, "greeting", "--match", *words)

    (task,) = suite(project)["tasks"]
    assert task["expected"].get("match", {}).get("strategy") == match


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        pytest.param(["--match", "containing"], "choose one of exact, contains", id="match"),
        pytest.param(["--ignore-arg", "add:/a"], "write TOOL:/POINTER", id="ignore-arg"),
        pytest.param(["--forbid", "raw:echo"], "the run itself calls raw:echo", id="forbid"),
        pytest.param(["--trajectory", "superset"], "superset", id="trajectory"),
        pytest.param(["--task", "No Id"], "taskId", id="task id"),
        pytest.param(["--suite-id", "none"], "suiteId", id="suite id"),
        pytest.param(["--input", "@missing.txt"], "the input cannot be read", id="input"),
    ],
)
def test_a_wrong_choice_is_refused_and_nothing_written(
    project: Project, words: list[str], problem: str
) -> None:
    record(project, "greeting", ECHO)

    told = promote(project, "greeting", *words, code=2)

    assert problem in told.err
    assert not (project.folder / "suites").exists()


def test_a_suite_that_is_broken_stays_as_it_is(project: Project) -> None:
    record(project, "greeting", ECHO)
    path = project.folder / SUITE
    path.parent.mkdir()
    path.write_text('{"suiteId": "x"', encoding="utf-8")

    told = promote(project, "greeting", code=2)

    assert f"{SUITE}:1" in told.err
    assert path.read_text(encoding="utf-8") == '{"suiteId": "x"'


@pytest.mark.parametrize(
    ("name", "problem"),
    [
        pytest.param("file/suite.json", "the file lies in no folder that can be written", id="in"),
        pytest.param("folder", "the file is a folder", id="is"),
    ],
)
def test_a_suite_that_cannot_be_written_is_refused_by_its_own_name(
    project: Project, name: str, problem: str
) -> None:
    record(project, "greeting", ECHO)
    Path("file").touch()
    Path("folder").mkdir()

    told = project.tell("promote", "greeting", "--suite", name)

    assert told.code == 2
    assert told.err == (
        f"mcp-sidecar: {name}: {problem}; name a file in a folder that you can write\n"
    )


def test_a_suite_that_is_named_like_a_cassette_is_refused(project: Project) -> None:
    record(project, "greeting", ECHO)

    told = project.tell("promote", "greeting", "--suite", "cassettes/greeting.jsonl")

    assert told.code == 2
    assert "is no suite's name" in told.err


def test_p01_a_failed_call_that_worked_later_is_listed(project: Project) -> None:
    record(project, "retried", FAIL, ("fail", {"variant": "false"}))

    told = promote(project, "retried")
    dropped = promote(project, "retried", "--drop-retried", "--task", "dropped")

    assert "note: call 1 (raw:fail) failed, and worked later: it stays in" in told.out
    assert "it left the expected path, and its fixture stays" in dropped.out
    _, task = suite(project)["tasks"]
    assert len(task["expected"]["trajectory"]["calls"]) == 1
    assert len(task["fixtures"]["toolResponses"]) == 2


PARALLEL = """
import json, os, sys
sys.path.insert(0, sys.argv[1])
from tests.servers.raw_client import RawClient
entry = json.load(open(os.environ["MCP_SIDECAR_CONFIG"]))["mcpServers"]["raw"]
with RawClient([entry["command"], *entry["args"]]) as client:
    client.initialize()
    client.call("echo", {"text": "hi"})
    slow = client.start_call("slow", {"key": "k"})
    client.call("release", {"key": "k"})
    client.read_until(slow)
    client.close_stdin()
    client.wait()
"""


@pytest.mark.parametrize("source", ["last", "parallel"], ids=["a run", "its cassette"])
def test_calls_that_ran_at_the_same_time_are_told_unless_their_order_does_not_count(
    project: Project, source: str
) -> None:
    agent = (sys.executable, "-c", PARALLEL, str(paths.ROOT))
    recorded = project.tell("record", "--cassette", "parallel", "--", *agent)
    assert recorded.code == 0, recorded

    told = promote(project, source)
    free = promote(project, source, "--replace", "--trajectory", "any-order")

    note = (
        "note: call 2 (raw:slow) and call 3 (raw:release) ran at the same time, so another run may "
        "make them in another order, and fail; --trajectory any-order does not compare the order"
    )
    assert note in told.out.splitlines()
    assert "at the same time" not in free.out


def test_p01_a_run_whose_agent_failed_is_refused_unless_it_is_allowed(project: Project) -> None:
    agent = project.agent(ECHO, exit_code=3)
    project.tell("record", "--cassette", "broken", "--", *agent)

    told = promote(project, "broken", code=2)
    promote(project, "broken", "--allow-incomplete")

    assert "the agent ended with exit code 3" in told.err
    assert "--allow-incomplete" in told.err


def test_p01_a_run_without_calls_is_refused(project: Project) -> None:
    project.tell("record", "--cassette", "silence", "--", *project.agent())

    assert "the run called no tool" in promote(project, "last", code=2).err


def test_v11_a_secret_that_is_left_is_refused_by_its_place(project: Project) -> None:
    record(project, "greeting", ECHO)
    token = "ghp_" + "R7kQ2mXv9LpT4wZc8NbY3sJd6HfG1aKe5UoV"  # a shape, no token

    told = promote(project, "greeting", "--input", f"use the token {token}", code=2)

    assert "a secret seems to be left in task 'greeting'" in told.err
    assert token not in told.err
    assert not (project.folder / "suites").exists()


def test_v11_a_secret_that_is_left_in_the_surface_is_refused(project: Project) -> None:
    token = "ghp_" + "R7kQ2mXv9LpT4wZc8NbY3sJd6HfG1aKe5UoV"  # a shape, no token
    record(project, "greeting", ECHO)
    path = project.folder / "cassettes" / "greeting.jsonl"
    text = path.read_text(encoding="utf-8")
    assert '"raw-server"' in text
    path.write_text(text.replace('"raw-server"', f'"{token}"'), encoding="utf-8")

    told = promote(project, "greeting", code=2)

    assert "a secret seems to be left in what raw answered to initialize" in told.err
    assert token not in told.err
    assert not (project.folder / "suites").exists()


def test_a_trial_becomes_its_own_task_anew(project: Project) -> None:
    record(project, "greeting", ECHO)
    promote(project, "greeting")
    before = written(project)
    agent = shlex.join(project.agent(ECHO))
    project.tell("run", SUITE, "--agent", agent, "--events", "events.jsonl")
    lines = Path("events.jsonl").read_text(encoding="utf-8").splitlines()
    trial = json.loads(lines[1])["payload"]["invocationId"]

    told = promote(project, trial)

    assert told.out.startswith(f"{SUITE}: nothing changed, it has task greeting (1 call)\n")
    assert written(project) == before


def test_a_run_without_a_cassettes_name_needs_a_task_id(project: Project) -> None:
    run_id = "local/01J00000000000000000000000"
    journal = Journal.open(str(project.folder / ".sidecar" / "journal.db"))
    journal.start_run(run_id, mode="record")
    journal.close()

    told = promote(project, run_id, code=2)

    assert f"{run_id}: no name is known for its task; give one with --task" in told.err


def test_a_tool_that_its_server_does_not_list_is_told(project: Project) -> None:
    cassette = project.folder / "cassettes" / "listed.jsonl"
    cassette.parent.mkdir()
    lines = [
        {"cassette": 1, "servers": {"raw": {}}, "complete": True},
        {
            "server": "raw",
            "request": {"method": "tools/list"},
            "response": {"result": {"tools": [{"name": "other", "inputSchema": {}}]}},
        },
        {
            "server": "raw",
            "request": {"method": "tools/call", "params": {"name": "echo", "arguments": {}}},
            "response": {"result": {"content": []}},
        },
    ]
    cassette.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    told = promote(project, "listed")

    assert "the server does not list the tool raw:echo" in told.out
    assert "the agent's input is not known" in told.out


def test_a_surface_that_changed_is_replaced_by_the_newer_task_and_told(project: Project) -> None:
    record(project, "greeting", ECHO)
    promote(project, "greeting")
    path = project.folder / "suites" / "checkout.surface.jsonl"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"raw-server"', '"older-server"'), encoding="utf-8")
    assert '"older-server"' in path.read_text(encoding="utf-8")
    record(project, "sum", ADD)

    same = promote(project, "greeting")
    kept = path.read_text(encoding="utf-8")
    told = promote(project, "sum")

    assert "differs" not in same.out
    assert '"older-server"' in kept
    assert "what the servers show differs from before" in told.out
    assert "raw: initialize" in told.out
    assert path.read_text(encoding="utf-8") == text


def test_the_input_can_be_given_by_hand(project: Project) -> None:
    record(project, "greeting", ECHO, question=None)
    Path("question.txt").write_text("from a file", encoding="utf-8")

    promote(project, "greeting", "--input", "@question.txt")

    assert suite(project)["tasks"][0]["input"] == "from a file"


def test_arguments_that_the_settings_ignore_leave_fixture_and_path_where_they_are(
    project: Project,
) -> None:
    text = "[ignore-arguments]\n'raw:add' = ['/b', '/c']\n'raw:other' = ['/x']\n"
    (project.folder / "sidecar.toml").write_text(text, encoding="utf-8")
    record(project, "sums", ADD, ECHO)

    promote(project, "sums")

    (task,) = suite(project)["tasks"]
    expected = [
        {"tool": "raw:add", "args": {"a": 1}, "argsMatch": "subset"},
        {"tool": "raw:echo", "args": {"text": "hi"}, "argsMatch": "exact"},
    ]
    assert task["expected"]["trajectory"]["calls"] == expected
    served = [dict(entry) for entry in task["fixtures"]["toolResponses"]]
    assert [{key: one[key] for key in ("tool", "args", "argsMatch")} for one in served] == expected


def test_p02_a_masked_argument_leaves_the_expectation_and_its_answer_keeps_the_mask(
    project: Project,
) -> None:
    secret = {"text": "hi", "password": "Zq8knownValue9"}
    record(project, "login", ("params", secret), question="log in with Zq8knownValue9")

    told = promote(project, "login")

    (task,) = suite(project)["tasks"]
    (entry,) = task["fixtures"]["toolResponses"]
    assert (entry["args"], entry["argsMatch"]) == ({"text": "hi"}, "subset")
    assert "[REDACTED:1]" in entry["response"]["content"][0]["text"]
    assert "Zq8knownValue9" not in json.dumps(task)
    assert "note: call 1 (raw:params): a secret is masked at /password, so it is not" in told.out
    assert "note: a secret is masked in the input, and the agent will see the mask" in told.out


def test_p02_many_calls_that_are_masked_are_told_in_few_notes(project: Project) -> None:
    logins = [("params", {"password": f"Zq8knownValue{number}x"}) for number in range(9)]
    record(project, "login", *logins, ("params", {"text": "hi"}))

    told = promote(project, "login")

    notes = [line for line in told.out.splitlines() if line.startswith("note: ")]
    assert notes[0].startswith("note: 9 calls of raw:params: a secret is masked at /password")
    assert "no other argument is left, so any call of the tool is as expected" in notes[0]
    assert [note for note in notes if " of this kind " in note] == []
    calls = suite(project)["tasks"][0]["expected"]["trajectory"]["calls"]
    assert calls[:9] == [{"tool": "raw:params", "argsMatch": "ignore"}] * 9


def test_notes_of_one_kind_are_counted_after_the_first_few(project: Project) -> None:
    login = ("params", {"password": "Zq8knownValue9"})
    record(project, "login", login, *[("params", {"text": text}) for text in "abcde"])

    told = promote(project, "login")

    assert told.out.count("is answered by entry 1, which is looser") == 3
    assert "note: and 2 more notes of this kind (shadowed-fixture)\n" in told.out
