"""Nothing that the product writes holds a secret, and what it keeps still answers."""

import base64
import json
import re
import shlex
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from tests import paths
from tests.cassette import secrets_corpus as corpus
from tests.end_to_end.conftest import AGENTS, Project, call, raw_agent

# Real processes take seconds of CPU to start; the machine may be busy.
pytestmark = pytest.mark.timeout(300)

SUITE = "suites/corpus.json"
VARIABLE = "x7Gh29KdmQ41zVbN"  # no rule tells them but their places in the config
ARGUMENT = "Zq8knownValue9"


def corpus_agent(seed: str) -> list[str]:
    return [sys.executable, str(AGENTS / "corpus_agent.py"), seed]


def files(project: Project) -> Iterator[Path]:
    """All that the product wrote into the project; not the config, nor the server's trace."""
    for name in (".sidecar", "cassettes", "suites"):
        yield from (path for path in (project.folder / name).rglob("*") if path.is_file())


def leaks(written: Mapping[str, bytes], secrets: Mapping[str, str]) -> list[tuple[str, str]]:
    """Which secrets are where, as they are or as JSON spells them."""
    return [
        (where, kind)
        for secret, kind in secrets.items()
        for where, data in written.items()
        if secret.encode() in data or json.dumps(secret)[1:-1].encode() in data
    ]


def bare(text: bytes) -> bytes:
    """A text without what JSON writes around and within strings, and without spaces."""
    return text.translate(None, b"\\\"' \n")


def codes() -> dict[bytes, str]:
    """The corpus' PINs and one-time codes, each with what stands right before it.

    Six digits alone are in hashes and times by chance.
    """
    found = {}
    for one in corpus.secrets():
        if one.kind in corpus.CODES:
            text, code = bare(one.text.encode()), one.secret.encode()
            at = text.index(code)
            assert at >= 3, one  # enough to tell its place
            found[text[at - 3 : at] + code] = f"{one.kind}, {one.place}"
    return found


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, dict[str, bytes]]:
    """A project through which the corpus went, and what the verbs wrote; no test changes it."""
    project = Project(tmp_path_factory.mktemp("secrets") / "project")
    project.write_config(".mcp.json", {"raw": project.servers["raw"]})
    agent = corpus_agent("")
    secret = next(one for one in corpus.secrets() if one.kind == "AWS access key").secret
    record = ("record", "--cassette", "corpus", "--input", f"Use {secret}.")
    told = {"record": project.tell(*record, "--", *agent, "live")}
    told["promote"] = project.tell("promote", "last", "--suite", SUITE, "--task", "corpus")
    told["run"] = project.tell("run", SUITE, "--agent", shlex.join(agent), "--json")
    told["events"] = project.tell("runs", "export", "last", "--format", "events")
    told["show"] = project.tell("cassette", "show", "corpus", "--whole")
    return project, {name: done.stdout + done.stderr for name, done in told.items()}


def test_no_secret_of_the_corpus_is_in_anything_that_was_written(
    recorded: tuple[Project, dict[str, bytes]],
) -> None:
    project, told = recorded
    secrets = {one.secret: one.kind for one in corpus.secrets() if one.kind not in corpus.CODES}
    written = {str(path): path.read_bytes() for path in files(project)}

    assert {Path(name).name for name in written} >= {
        "journal.db", "corpus.jsonl", "corpus.json", "corpus.surface.jsonl",
    }  # fmt: skip
    assert leaks({**written, **told}, secrets) == []


def test_no_code_of_the_corpus_is_where_it_stood_in_anything_that_was_written(
    recorded: tuple[Project, dict[str, bytes]],
) -> None:
    project, told = recorded
    written = {str(path): bare(path.read_bytes()) for path in files(project)}
    written |= {name: bare(output) for name, output in told.items()}
    sent = {name: bare(one.text.encode()) for name, one in enumerate(corpus.secrets())}

    assert len(codes()) >= 20
    assert [code for code in codes() if not any(code in text for text in sent.values())] == []
    assert [
        (where, place)
        for code, place in codes().items()
        for where, data in written.items()
        if code in data
    ] == []


def test_a_masked_argument_leaves_the_expectation_and_is_told(
    recorded: tuple[Project, dict[str, bytes]],
) -> None:
    project, told = recorded
    (task,) = json.loads((project.folder / SUITE).read_bytes())["tasks"]
    entries = task["fixtures"]["toolResponses"]

    assert len(entries) == len(corpus.secrets())
    assert "[REDACTED" not in json.dumps([entry.get("args") for entry in entries])
    assert {entry["argsMatch"] for entry in entries} <= {"subset", "ignore", "exact"}
    assert "[REDACTED:1]" in entries[0]["response"]["content"][0]["text"]
    assert {} not in [entry.get("args") for entry in entries]
    (note,) = [line for line in told["promote"].splitlines() if b" masked at " in line]
    assert re.match(rb"note: \d{3,} calls of raw:params: secrets are masked at ", note)
    assert b"PASSED" in told["run"] or b'"gatePassed"' in told["run"]


def test_x02_a_cassette_recorded_with_some_secrets_replays_with_others(
    recorded: tuple[Project, dict[str, bytes]],
) -> None:
    project, _ = recorded

    told = project.tell("replay", "--cassette", "corpus", "--require-all", "--", *corpus_agent("2"))

    assert b"0 missed" in told.stderr or b"missed" not in told.stderr


def test_x08_values_of_a_config_are_in_no_file_and_no_log(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    server = str(paths.ROOT / "tests" / "servers" / "raw_server.py")
    run = (
        f"import sys, runpy; sys.argv = [{server!r}]; runpy.run_path({server!r}, None, '__main__')"
    )
    entry = {
        "command": sys.executable,
        "args": ["-c", run, "--access-token", ARGUMENT],
        "env": {"PLAIN": VARIABLE, "REGION": "eu-west-1"},
    }
    project.write_config(".mcp.json", {"raw": entry})
    agent = raw_agent(
        "legacy",
        call("raw", "env", names=["PLAIN", "REGION"]),
        call("raw", "echo", text=f"Traceback: {ARGUMENT}, {VARIABLE}, eu-west-1"),
        call("raw", "echo", text=base64.b64encode(f"u:{VARIABLE}".encode()).decode()),
    )

    told = project.tell("record", "--cassette", "demo", "--", *agent)

    written = {str(path): path.read_bytes() for path in files(project)}
    encoded = base64.b64encode(f"u:{VARIABLE}".encode()).decode()[4:-4]
    assert leaks(written, {ARGUMENT: "argument", VARIABLE: "variable", encoded: "encoded"}) == []
    assert VARIABLE.encode() in told.stdout  # the agent itself saw it
    assert project.cassette("demo").read_bytes().count(b"eu-west-1") == 4


def test_a_value_told_by_one_server_is_masked_in_what_another_was_sent_before(
    tmp_path: Path,
) -> None:
    project = Project(tmp_path / "project")
    raw = project.servers["raw"]
    project.write_config(".mcp.json", {"first": raw, "second": raw})
    agent = raw_agent(
        "legacy",
        call("first", "echo", text=f"user ann, {ARGUMENT}"),
        call("second", "echo", text=json.dumps({"password": ARGUMENT})),
    )

    project.tell("record", "--cassette", "demo", "--input", f"Log in with {ARGUMENT}", "--", *agent)

    shown = json.loads(project.tell("runs", "show", "last", "--json").stdout)
    assert "[REDACTED" in shown["input"]
    assert ARGUMENT not in shown["input"] + shown["output"]
    project.tell("replay", "--cassette", "demo", "--require-all", "--", *agent)
    written = {str(path): path.read_bytes() for path in files(project)}
    assert leaks(written, {ARGUMENT: "argument"}) == []
