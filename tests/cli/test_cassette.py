"""`mcp-sidecar cassette`: show, validate, save."""

from collections.abc import Callable
from pathlib import Path

import pytest

from sidecar.cassette.interaction import Cassette, Interaction, Response, Server
from sidecar.store import cassettes
from sidecar.store.journal import Journal
from tests.cli.conftest import Project
from tests.store.samples import RUN, answered, call, failed, record

HEAD = '{"cassette":1,"servers":{"git":{"protocol":"2026-07-28"}},"complete":true}\n'
LINE = (
    '{"server":"git","request":{"method":"tools/call","params":{"name":"log","arguments":{}}},'
    '"response":{"result":{"content":[{"type":"text","text":"ok"}]}}}\n'
)


def written(project: Project, text: str | bytes) -> Path:
    path = project.folder / "cassettes" / "demo.jsonl"
    path.parent.mkdir()
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_a_cassette_is_shown_in_order_and_escaped(project: Project) -> None:
    path = project.folder / "x.jsonl"
    hostile = Response("result", '{"content":[{"type":"text","text":"\\u001b[2J\\u202e[red]"}]}')
    cassettes.save(
        str(path),
        Cassette(
            (
                Interaction("git", "tools/list", None, Response("result", '{"tools":[{}]}')),
                call("log", '{"n": 1e2}')._replace(response=hostile),
                failed(call("log", "{}")),
                call("never"),
            ),
            {"git": Server("2026-07-28"), "quiet": Server()},
            run=RUN,
        ),
    )

    told = project.tell("cassette", "show", "x.jsonl")

    assert (told.code, told.err) == (0, "")
    assert told.out == (
        f"x.jsonl: complete, run {RUN}, 2 servers, 4 interactions, 3 calls, 1 error\n"
        "  git: 2026-07-28\n"
        "  quiet: never answered\n"
        "\n"
        "#  request         arguments   answer\n"
        "1  git tools/list              1 tool\n"
        '2  git:log         {"n": 1e2}  \\x1b[2J\\u202e[red]\n'
        "3  git:log         {}          error -32000: no\n"
        '4  git:never       {"n":1}     unanswered\n'
    )


def test_all_of_a_cassette_can_be_shown(project: Project) -> None:
    written(project, HEAD + LINE.replace('"ok"', '"' + "x" * 500 + '"'))

    short = project.tell("cassette", "show", "demo").out
    whole = project.tell("cassette", "show", "demo", "--whole").out

    assert "x" * 60 not in short
    assert 'result {"content":[{"type":"text","text":"' + "x" * 500 in whole


def test_a_whole_cassette_is_valid(project: Project) -> None:
    written(project, HEAD + LINE)

    told = project.tell("cassette", "validate", "demo")

    assert told == (
        0,
        "cassettes/demo.jsonl: complete, of no run, 1 server, 1 interaction, 1 call, 0 errors\n",
        "",
    )


@pytest.mark.parametrize(
    ("text", "said"),
    [
        pytest.param(
            HEAD.replace("true", "false") + LINE, "not complete", id="R22 an interrupted recording"
        ),
        pytest.param(HEAD + LINE + LINE[:40], ":3: the last line is broken", id="a line cut off"),
        pytest.param(
            HEAD.replace("true", "false") + LINE.replace('{"result"', 'null,"x":{"result"'),
            "without an answer: 1 (unanswered)",
            id="a call without an answer",
        ),
    ],
)
def test_a_recording_that_is_not_complete_is_a_failed_check(
    project: Project, text: str, said: str
) -> None:
    path = written(project, text)

    told = project.tell("cassette", "validate", "demo")

    assert told.code == 1
    assert said in told.out + told.err
    assert path.read_text(encoding="utf-8") == text


BROKEN = [
    pytest.param("", "the file is empty", id="empty"),
    pytest.param("\n\n", "the file is empty", id="blank"),
    pytest.param("{", ":1: the line is not JSON", id="no JSON"),
    pytest.param(b"\xff", ":1: not UTF-8 text", id="C01 not UTF-8"),
    pytest.param("[1]", ":1: not a JSON object", id="no object"),
    pytest.param('{"log":{"version":"1.2"}}\n', ":1: this is no cassette", id="foreign"),
    pytest.param(
        '{"cassette":2}\n', ":1: format 2 is newer than this version reads (1)", id="newer"
    ),
    pytest.param(HEAD + "{}\n{broken\n" + LINE, ":3: the line is not JSON", id="a broken line"),
    pytest.param(
        HEAD + "<<<<<<< ours\n" + LINE, ":2: a merge conflict is left in the file", id="conflict"
    ),
    pytest.param(HEAD + '{"server":"git","request":{}}\n', ":2: `request`", id="no method"),
]


@pytest.mark.parametrize(("text", "said"), BROKEN)
@pytest.mark.parametrize("verb", ["show", "validate"])
def test_c01_a_broken_cassette_is_an_error_that_names_its_line_and_stays_as_it_is(
    project: Project, verb: str, text: str | bytes, said: str
) -> None:
    path = written(project, text)
    before = path.read_bytes()

    told = project.tell("cassette", verb, "demo")

    assert told.code == 2
    assert told.err.startswith(f"mcp-sidecar: {path}")
    assert said in told.err
    assert "; " in told.err  # the next step
    assert path.read_bytes() == before


def make_folder(path: Path) -> None:
    path.mkdir(parents=True)


def make_nothing(path: Path) -> None:
    assert not path.exists()


@pytest.mark.parametrize("make", [make_folder, make_nothing])
def test_a_cassette_that_is_no_file_is_an_error(
    project: Project, make: Callable[[Path], None]
) -> None:
    path = project.folder / "cassettes" / "demo.jsonl"
    make(path)

    told = project.tell("cassette", "show", "demo")

    assert told.code == 2
    assert told.err.startswith(f"mcp-sidecar: {path}: ")


@pytest.mark.parametrize(
    "name",
    ["../x", "/abs", "a//b", "..", "a/../../b", "a:b", "a\\b", "a\0b", "CON", "", "a/", "~/x"],
)
@pytest.mark.parametrize("verb", ["show", "validate"])
def test_c07_a_name_that_leads_out_is_refused(project: Project, verb: str, name: str) -> None:
    told = project.tell("cassette", verb, name)

    assert told.code == 2
    assert "cassette" in told.err
    assert [path.name for path in project.folder.iterdir()] == [".mcp.json"]


def test_c07_a_link_that_leads_out_is_refused(project: Project, tmp_path: Path) -> None:
    (project.folder / "cassettes").symlink_to(tmp_path)
    (project.folder / "cassettes" / "inner").symlink_to(tmp_path.parent)

    told = project.tell("cassette", "show", "inner/x")

    assert told.code == 2
    assert "leads out of the folder" in told.err


def recorded(project: Project, *, cassette: str | None = None) -> None:
    """Journal a run, whose cassette nobody saved."""
    journal = Journal.open(str(project.folder / ".sidecar" / "journal.db"))
    journal.start_run(RUN, mode="record", cassette=cassette)
    session = journal.start_session(RUN, server="git", mode="record")
    record(session, answered(call()))
    session.close(exit_code=0)
    journal.close()


def test_a_run_is_saved_where_it_was_to_be(project: Project) -> None:
    path = project.folder / "cassettes" / "demo.jsonl"
    recorded(project, cassette=str(path))

    told = project.tell("cassette", "save", "last")

    assert told == (0, "", f"mcp-sidecar: run {RUN} is saved as cassettes/demo.jsonl\n")
    assert cassettes.load(str(path)).cassette.run == RUN


def test_a_run_is_saved_under_another_name(project: Project) -> None:
    recorded(project)

    told = project.tell("cassette", "save", "01ARZ", "--cassette", "other")

    assert told.code == 0
    assert cassettes.load(str(project.folder / "cassettes" / "other.jsonl")).cassette.run == RUN


def test_a_run_without_a_cassette_needs_a_name(project: Project) -> None:
    recorded(project)

    told = project.tell("cassette", "save", "last")

    assert told.code == 2
    assert f"run {RUN} was recorded without a cassette; name one with --cassette" in told.err


def test_r25_another_runs_cassette_is_only_replaced_when_told(project: Project) -> None:
    recorded(project)
    path = written(project, HEAD + LINE)

    refused = project.tell("cassette", "save", "last", "--cassette", "demo")
    kept = path.read_text(encoding="utf-8")
    replaced = project.tell("cassette", "save", "last", "--cassette", "demo", "--overwrite")

    assert (refused.code, replaced.code) == (2, 0)
    assert "was left as it is" in refused.err
    assert kept == HEAD + LINE
    assert cassettes.load(str(path)).cassette.run == RUN


def test_a_cassette_not_saved_yet_is_saved_when_it_is_named(project: Project) -> None:
    path = project.folder / "cassettes" / "demo.jsonl"
    recorded(project, cassette=str(path))

    told = project.tell("cassette", "show", "demo")

    assert told.code == 0
    assert "git:git_log" in told.out
    assert path.is_file()
