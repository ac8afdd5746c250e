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
        f"x.jsonl: complete, run {RUN}, 2 servers, 4 interactions, 3 calls, 2 errors\n"
        "  git: 2026-07-28\n"
        "  quiet: never answered\n"
        "\n"
        "#  request         arguments   answer\n"
        "1  git tools/list              1 tool\n"
        '2  git:log         {"n": 1e2}  \\x1b[2J\\u202e[red]\n'
        "3  git:log         {}          error -32000: no\n"
        '4  git:never       {"n":1}     unanswered\n'
    )


def test_a_call_of_several_rounds_is_one_call_of_a_cassette(project: Project) -> None:
    asks = '{"resultType":"input_required","requestState":"s"}'
    again = LINE.replace('"arguments":{}', '"arguments":{},"requestState":"s"')
    first = LINE.replace('{"content":[{"type":"text","text":"ok"}]}', asks)
    written(project, HEAD + first + again)

    assert "2 interactions, 1 call, 0 errors" in project.tell("cassette", "show", "demo").out


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


SECRET_LINE = (
    '{"server":"git","request":{"method":"tools/call","params":{"name":"log","arguments":'
    '{"ward":"7b"}}},"response":{"result":{"content":[{"type":"text","text":'
    '"MRN-77 [REDACTED:1] Zq8knownValue9"}]}}}\n'
)


def test_x13_a_cassette_is_redacted_by_the_rules_given(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(project, HEAD + SECRET_LINE)
    monkeypatch.setenv("MY_SETTING", "Zq8knownValue9")
    rules = ("--key", "ward", "--pattern", r"MRN-\d+", "--value-from-env", "MY_SETTING")

    told = project.tell("cassette", "redact", "demo", *rules)

    assert (told.code, told.err) == (0, "")
    assert told.out == (
        "cassettes/demo.jsonl: masked 3 values\n"
        "  1 by --value-from-env MY_SETTING\n"
        "  1 by --key ward\n"
        "  1 by --pattern MRN-\\d+\n"
        "note: the journal, what was promoted from this, and copies, as in git's history, still "
        "hold what they held\n"
        "note: arguments of calls are among them; a replay still finds those calls, but "
        "to mask what it keeps of its own, and all that is recorded, write this into sidecar.toml\n"
        "  [redaction]\n"
        '  keys = ["ward"]\n'
        '  patterns = ["MRN-\\\\d+"]\n'
        '  environment = ["MY_SETTING"]\n'
    )
    assert path.read_text() == HEAD + SECRET_LINE.replace("7b", "[REDACTED:2]").replace(
        "MRN-77", "[REDACTED:3]"
    ).replace("Zq8knownValue9", "[REDACTED:4]")


def test_redacting_again_leaves_the_file_as_it_is(project: Project) -> None:
    path = written(project, HEAD + SECRET_LINE)
    project.tell("cassette", "redact", "demo", "--key", "ward")
    before = path.stat()

    told = project.tell("cassette", "redact", "demo", "--key", "ward")

    assert told.out == (
        "cassettes/demo.jsonl: masked 0 values, and the file is as it was\n  0 by --key ward\n"
    )
    assert (path.stat().st_ino, path.stat().st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


@pytest.mark.parametrize("with_settings", [True, False], ids=["settings", "no settings"])
def test_x13_a_redacted_cassette_still_answers(project: Project, *, with_settings: bool) -> None:
    agent = project.agent(("echo", {"text": "patient MRN-77"}))
    assert project.tell("record", "--cassette", "demo", "--", *agent).code == 0
    told = project.tell("cassette", "redact", "demo", "--pattern", r"MRN-\d+")
    settings = told.out.partition("sidecar.toml\n")[2]
    if with_settings:
        (project.folder / "sidecar.toml").write_text(settings, encoding="utf-8")
    other = project.agent(("echo", {"text": "patient MRN-88"}))

    told = project.tell("replay", "--cassette", "demo", "--require-all", "--", *other)

    assert told.code == 0
    assert "[REDACTED:1]" in told.out
    kept = b"".join(path.read_bytes() for path in (project.folder / ".sidecar").iterdir())
    assert (b"MRN-88" in kept) is not with_settings


@pytest.mark.parametrize("with_settings", [True, False], ids=["settings", "no settings"])
def test_x13_a_call_whose_number_is_masked_is_told_to_need_the_rule(
    project: Project, *, with_settings: bool
) -> None:
    agent = project.agent(("echo", {"text": "hi", "ward": 12345678}))
    project.tell("record", "--cassette", "demo", "--", *agent)

    told = project.tell("cassette", "redact", "demo", "--key", "ward")
    note, _, settings = told.out.partition("sidecar.toml\n")
    if with_settings:
        (project.folder / "sidecar.toml").write_text(settings, encoding="utf-8")

    assert (
        "a replay finds interaction 2 by the same rules alone, since a masked number is 0" in note
    )
    replay = project.tell("replay", "--cassette", "demo", "--", *agent)
    assert replay.code == (0 if with_settings else 1)


@pytest.mark.parametrize("option", ["--key", "--pattern", "--value-from-env"])
@pytest.mark.parametrize("text", ["", " "], ids=["empty", "a space"])
def test_a_rule_that_would_mask_nothing_is_refused(
    option: str, text: str, project: Project
) -> None:
    path = written(project, HEAD + SECRET_LINE)

    told = project.tell("cassette", "redact", "demo", option, text)

    assert told.code == 2
    assert f"'{option}': it is empty, and would mask nothing" in told.err
    assert path.read_text() == HEAD + SECRET_LINE


def test_what_cannot_be_redacted_is_refused_and_stays(project: Project) -> None:
    path = written(project, HEAD + SECRET_LINE)

    assert "is not set" in project.tell("cassette", "redact", "demo", "--value-from-env", "NO").err
    assert (
        "no regular expression" in project.tell("cassette", "redact", "demo", "--pattern", "(").err
    )
    assert project.tell("cassette", "redact", "absent").code == 2
    path.write_text(HEAD + SECRET_LINE + '{"ser', encoding="utf-8")
    broken = project.tell("cassette", "redact", "demo")
    assert (broken.code, path.read_text()) == (2, HEAD + SECRET_LINE + '{"ser')
    assert "demo.jsonl:3" in broken.err


def test_a_known_value_that_is_left_fails_the_save(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    recorded(project, cassette="demo")
    monkeypatch.setenv("API_KEY", "tools/call")  # nothing can mask a method's name

    told = project.tell("cassette", "save", "last", "--cassette", "other")

    assert told.code == 2
    assert "other.jsonl: the cassette would hold the value of a secret" in told.err
    assert not (project.folder / "cassettes" / "other.jsonl").exists()
