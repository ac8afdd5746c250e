import base64
import json
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from sidecar.cassette.interaction import Cassette, Interaction, Passage, Response, Server
from sidecar.errors import CassetteError, UsageError
from sidecar.store import cassettes
from sidecar.store.cassettes import Saved
from sidecar.store.journal import Journal
from sidecar.store.session import Session
from tests import paths
from tests.cassette.sessions import written
from tests.store.processes import WAIT_SECONDS
from tests.store.samples import (
    OTHER_RUN,
    RUN,
    answered,
    call,
    finished,
    opened,
    record,
    request,
    started,
)

THIRD_RUN = "local/01ARZ3NDEKTSV4RRFFQ69G5FAX"
META = '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}'


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "cassettes" / "demo.jsonl"


def session_of(
    journal: Journal, tools: list[str], *, run: str = RUN, mode: str = "record"
) -> Session:
    """A session that recorded calls of these tools, and has ended."""
    session = started(journal, run=run, mode=mode)
    for tool in tools:
        record(session, answered(call(tool)))
    session.close(exit_code=0)
    return session


def saved_run(journal: Journal, path: Path, tools: list[str], *, run: str = RUN) -> bytes:
    """The bytes of a cassette of a run with calls of these tools."""
    session_of(journal, tools, run=run)
    cassettes.save_run(journal, run, str(path), overwrite=False, extend=False)
    return path.read_bytes()


def tools_in(path: Path) -> list[str]:
    return [item.tool for item in cassettes.load(str(path)).cassette.interactions]


def test_a_saved_cassette_is_loaded_as_it_was(path: Path) -> None:
    cassette = Cassette(
        (answered(call()), call()._replace(cancelled=True), request("ping")),
        {"git": Server("2025-11-25"), "time": Server()},
        run=RUN,
        unknown=((1, '{"kind":"future-thing"}'),),
    )

    cassettes.save(str(path), cassette)

    loaded = cassettes.load(str(path))
    assert loaded.cassette == cassette
    assert path.read_text(encoding="utf-8") == written(cassette)
    assert len(loaded.warnings) == 1


def test_a_cassette_that_is_missing_is_an_error_with_the_next_step(path: Path) -> None:
    with pytest.raises(CassetteError, match="there is no such cassette; record it first") as found:
        cassettes.load(str(path))

    assert found.value.place == str(path)


def test_a_folder_in_the_place_of_a_cassette_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(CassetteError, match="cannot be read"):
        cassettes.load(str(tmp_path))


def test_a_place_that_cannot_be_written_is_an_error_and_the_run_stays(
    journal: Journal, tmp_path: Path
) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    session_of(journal, ["a"])

    with pytest.raises(CassetteError, match=r"a file is in the place of its folder; move that"):
        cassettes.save_run(
            journal, RUN, str(tmp_path / "file" / "x.jsonl"), overwrite=False, extend=False
        )

    assert len(cassettes.of_run(journal, RUN).interactions) == 1


def test_the_cassette_of_a_run_has_all_that_its_proxies_saw_in_order(journal: Journal) -> None:
    git, other = started(journal), started(journal, server="time")
    first = answered(request("tools/list"))._replace(during=(Passage("n", '{"x":1}'),))
    record(git, first)
    record(other, answered(call(server="time")))
    record(git, call())
    git.close(exit_code=0)
    other.close(exit_code=0)

    assert cassettes.of_run(journal, RUN) == Cassette(
        (first, answered(call(server="time")), call()),
        {"git": Server(), "time": Server()},
        complete=True,
        run=RUN,
    )


def test_a_run_that_the_journal_does_not_have_is_an_error(journal: Journal, path: Path) -> None:
    with pytest.raises(UsageError, match=f"has no run {RUN}"):
        cassettes.of_run(journal, RUN)
    with pytest.raises(UsageError, match=f"has no run {RUN}"):
        cassettes.save_run(journal, RUN, str(path), overwrite=False, extend=False)


@pytest.mark.parametrize(
    ("interactions", "protocol"),
    [
        pytest.param(
            [answered(request("initialize"), '{"protocolVersion":"2025-11-25"}')],
            "2025-11-25",
            id="what initialize agreed on",
        ),
        pytest.param([answered(request("server/discover", META))], "2026-07-28", id="discover"),
        pytest.param([answered(request("tools/call", META))], "2026-07-28", id="no negotiation"),
        pytest.param(
            [
                request("server/discover", META)._replace(response=Response("error", "{}")),
                answered(request("initialize"), '{"protocolVersion":"2025-06-18"}'),
            ],
            "2025-06-18",
            id="N01 a modern client that falls back",
        ),
        pytest.param([answered(request("initialize"), '{"protocolVersion":7}')], "", id="nonsense"),
        pytest.param([request("initialize")], "", id="unanswered"),
        pytest.param([], "", id="nothing was asked"),
    ],
)
def test_a_servers_protocol_is_what_an_answer_showed(
    journal: Journal, interactions: list[Interaction], protocol: str
) -> None:
    session = started(journal)
    for interaction in interactions:
        record(session, interaction)

    assert cassettes.of_run(journal, RUN).servers == {"git": Server(protocol)}


def test_servers_stand_in_the_order_of_their_first_request_then_by_name(journal: Journal) -> None:
    sessions = {name: started(journal, server=name) for name in ("z", "b", "a", "c")}
    record(sessions["c"], answered(call(server="c")))
    record(sessions["b"], answered(call(server="b")))

    assert list(cassettes.of_run(journal, RUN).servers) == ["c", "b", "a", "z"]


def test_p01_a_cassette_is_complete_if_all_ended_in_order(journal: Journal) -> None:
    session_of(journal, ["a"])
    assert cassettes.of_run(journal, RUN).complete

    second = started(journal)
    assert not cassettes.of_run(journal, RUN).complete
    row = opened(second, call())
    second.close(exit_code=0)
    assert not cassettes.of_run(journal, RUN).complete
    finished(second, row, answered(call()))
    assert cassettes.of_run(journal, RUN).complete


def test_p01_a_session_that_failed_makes_the_run_incomplete(journal: Journal) -> None:
    started(journal).close(exit_code=1, state="failed")

    assert not cassettes.of_run(journal, RUN).complete


def test_p01_an_agent_that_we_started_must_have_ended_well(journal: Journal) -> None:
    journal.start_run(RUN, mode="record", command='["agent"]')
    session_of(journal, ["a"])

    told = []
    for state in (None, "failed", "interrupted", "ended"):
        if state:
            journal.finish_run(RUN, state=state)
        told.append(cassettes.of_run(journal, RUN).complete)

    assert told == [False, False, False, True]


def test_secrets_are_numbered_by_first_appearance_in_the_file(journal: Journal) -> None:
    one, two, three = (f"[REDACTED:{digit * 16}]" for digit in "abc")
    session = started(journal)
    seen = answered(call(arguments=f'{{"k":"{two}","l":"{one}"}}'), f'"{one}"')._replace(
        during=(Passage("n", f'"{three}"'), Passage("q", None, asked=True)),
        after=(Passage("q", "1", asked=True, reply=Response("result", f'"{two}"')),),
    )
    record(session, seen)

    (kept,) = cassettes.of_run(journal, RUN).interactions
    assert kept == answered(
        call(arguments='{"k":"[REDACTED:1]","l":"[REDACTED:2]"}'), '"[REDACTED:2]"'
    )._replace(
        during=(Passage("n", '"[REDACTED:3]"'), Passage("q", None, asked=True)),
        after=(Passage("q", "1", asked=True, reply=Response("result", '"[REDACTED:1]"')),),
    )


def test_the_same_session_recorded_twice_gives_the_same_bytes_after_the_first_line(
    journal: Journal, tmp_path: Path
) -> None:
    texts = []
    for run, digit in ((RUN, "a"), (OTHER_RUN, "b")):
        session = started(journal, run=run)
        opened(session, call())  # one that is left open takes a row
        secret = f'{{"token":"[REDACTED:{digit * 16}]"}}'
        record(session, answered(call(arguments=secret), secret))
        session.close(exit_code=0)
        path = tmp_path / f"{digit}.jsonl"
        cassettes.save_run(journal, run, str(path), overwrite=False, extend=False)
        texts.append(path.read_bytes())

    first, second = (text.partition(b"\n") for text in texts)
    assert first[0] != second[0]
    assert first[2] == second[2]


def test_the_processes_of_a_run_save_again_and_again(journal: Journal, path: Path) -> None:
    for tools in (["a"], ["b"]):
        session_of(journal, tools)
        saved = cassettes.save_run(journal, RUN, str(path), overwrite=False, extend=False)
        assert saved == Saved(str(path), written=True)

    assert tools_in(path) == ["a", "b"]


def test_r25_the_cassette_of_another_run_is_left_alone_and_it_is_said_how_to_save(
    journal: Journal, path: Path
) -> None:
    before = saved_run(journal, path, ["a"])
    session_of(journal, ["b"], run=OTHER_RUN)

    saved = cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=False, extend=False)

    assert not saved.written
    assert saved.refused
    assert f"{path}: this cassette is of run {RUN}" in saved.refused
    assert f"`mcp-sidecar cassette save {OTHER_RUN} --cassette NAME`" in saved.refused
    assert "--overwrite" in saved.refused
    assert path.read_bytes() == before


OPENING = (
    answered(request("initialize")),
    answered(request("tools/list")),
    request("resources/templates/list"),  # interrupted
)


@pytest.mark.parametrize("state", ["ended", "interrupted"])
def test_r25_a_run_that_only_opened_its_servers_keeps_its_place_against_none(
    state: str, journal: Journal, path: Path
) -> None:
    session = started(journal)
    for one in OPENING:
        record(session, one)
    cassettes.save_run(journal, RUN, str(path), overwrite=False, extend=False)
    journal.finish_run(RUN, state=state)
    session_of(journal, ["a"], run=OTHER_RUN)
    session_of(journal, ["b"], run=THIRD_RUN)

    written = [
        cassettes.save_run(journal, run, str(path), overwrite=False, extend=False).written
        for run in (OTHER_RUN, THIRD_RUN, RUN)
    ]

    assert written == [True, False, False]
    assert tools_in(path) == ["a"]


@pytest.mark.parametrize("method", ["tools/call", "resources/read", "prompts/get", "x/unknown"])
def test_r25_a_run_that_asked_for_something_keeps_its_place(
    method: str, journal: Journal, path: Path
) -> None:
    session = started(journal)
    for one in (*OPENING, request(method)):
        record(session, one)
    cassettes.save_run(journal, RUN, str(path), overwrite=False, extend=False)
    session_of(journal, ["a"], run=OTHER_RUN)

    saved = cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=False, extend=False)

    assert saved.refused
    assert cassettes.load(str(path)).cassette.run == RUN


def test_r25_a_cassette_that_no_run_wrote_is_left_alone(journal: Journal, path: Path) -> None:
    cassettes.save(str(path), Cassette((), {}))
    session_of(journal, ["a"])

    saved = cassettes.save_run(journal, RUN, str(path), overwrite=False, extend=False)

    assert saved.refused
    assert "no run of this journal" in saved.refused
    assert tools_in(path) == []


def test_r25_overwriting_leaves_nothing_of_the_old_run(journal: Journal, path: Path) -> None:
    saved_run(journal, path, ["old", "older"])
    session_of(journal, ["new"], run=OTHER_RUN)

    cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=True, extend=False)

    assert cassettes.load(str(path)).cassette == cassettes.of_run(journal, OTHER_RUN)


def test_r25_extending_keeps_the_old_lines_and_adds_what_was_recorded(
    journal: Journal, path: Path
) -> None:
    before = saved_run(journal, path, ["old"])
    session = started(journal, run=OTHER_RUN, mode="auto")
    finished(session, opened(session, call("old"), entry=0, replayed=True), answered(call("old")))
    finished(
        session,
        opened(session, request("tools/list"), replayed=True),
        answered(request("tools/list")),
    )
    record(session, answered(call("new")))

    for _ in range(2):
        saved = cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=False, extend=True)
        assert saved == Saved(str(path), written=True)
        assert tools_in(path) == ["old", "new"]
    record(session, answered(call("newer")))
    session.close(exit_code=0)
    cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=False, extend=True)

    lines = path.read_bytes().splitlines(keepends=True)
    assert lines[1:2] == before.splitlines(keepends=True)[1:]
    assert tools_in(path) == ["old", "new", "newer"]
    loaded = cassettes.load(str(path)).cassette
    assert (loaded.run, loaded.complete) == (OTHER_RUN, True)


def test_r25_three_runs_extend_one_cassette_and_none_is_added_twice(
    journal: Journal, path: Path
) -> None:
    for run, tool in ((RUN, "a"), (OTHER_RUN, "b"), (THIRD_RUN, "c")):
        session_of(journal, [tool], run=run, mode="auto")
        for _ in range(2):
            cassettes.save_run(journal, run, str(path), overwrite=False, extend=True)

    assert tools_in(path) == ["a", "b", "c"]


def test_h17_sessions_are_kept_and_numbered_on_when_a_cassette_is_extended(
    journal: Journal, path: Path
) -> None:
    for tool in ("a", "b"):
        session_of(journal, [tool])
    cassettes.save_run(journal, RUN, str(path), overwrite=False, extend=False)
    session_of(journal, ["c", "d"], run=OTHER_RUN, mode="auto")
    for _ in range(2):
        cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=False, extend=True)

    found = cassettes.load(str(path)).cassette.interactions
    assert [(item.tool, item.session) for item in found] == [
        ("a", 0),
        ("b", 1),
        ("c", 2),
        ("d", 2),
    ]


def test_r25_a_run_that_recorded_nothing_leaves_the_cassette_as_it_is(
    journal: Journal, path: Path
) -> None:
    before = saved_run(journal, path, ["old"])
    session = started(journal, run=OTHER_RUN, mode="auto")
    finished(session, opened(session, call("old"), entry=0, replayed=True), answered(call("old")))
    session.close(exit_code=0)

    saved = cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=False, extend=True)

    assert saved == Saved(str(path), written=False)
    assert path.read_bytes() == before


@pytest.mark.parametrize("is_there", [True, False])
def test_r25_a_server_that_never_answered_leaves_the_cassette_as_it_is(
    journal: Journal, path: Path, *, is_there: bool
) -> None:
    before = saved_run(journal, path, ["old"]) if is_there else None
    session = started(journal, run=OTHER_RUN, mode="auto")
    if is_there:
        served = opened(session, call("old"), entry=0, replayed=True)
        finished(session, served, answered(call("old")))
    finished(session, opened(session, call("new")), call("new"))
    session.close(exit_code=127, state="failed")

    for _ in range(2):
        saved = cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=False, extend=True)
        assert saved == Saved(str(path), written=False)
        assert (path.read_bytes() if path.exists() else None) == before

    other = started(journal, run=OTHER_RUN, server="other", mode="auto")
    record(other, answered(call("told", server="other")))
    other.close(exit_code=0)
    cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=False, extend=True)
    assert tools_in(path) == [*(["old"] if is_there else []), "told"]


def test_an_incomplete_cassette_stays_incomplete_when_it_is_extended(
    journal: Journal, path: Path
) -> None:
    session = started(journal)
    record(session, answered(call("old")))
    session.close(exit_code=1, state="failed")
    cassettes.save_run(journal, RUN, str(path), overwrite=False, extend=False)
    session_of(journal, ["new"], run=OTHER_RUN, mode="auto")

    cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=False, extend=True)

    assert tools_in(path) == ["old", "new"]
    assert not cassettes.load(str(path)).cassette.complete


def test_secrets_of_an_extension_get_numbers_that_the_cassette_does_not_have(
    journal: Journal, path: Path
) -> None:
    for run, digit in ((RUN, "a"), (OTHER_RUN, "b")):
        session = started(journal, run=run, mode="auto")
        record(session, answered(call(arguments=f'{{"k":"[REDACTED:{digit * 16}]"}}')))
        session.close(exit_code=0)
        cassettes.save_run(journal, run, str(path), overwrite=False, extend=True)

    found = cassettes.load(str(path)).cassette.interactions
    assert [item.arguments for item in found] == [{"k": "[REDACTED:1]"}, {"k": "[REDACTED:2]"}]


def test_r26_lines_of_unknown_kinds_survive_an_extension(journal: Journal, path: Path) -> None:
    future = '{"kind":"future-thing"}'
    old = Cassette(
        (answered(call("a")), answered(call("b"))),
        {"git": Server()},
        run=RUN,
        unknown=((0, future), (1, future), (2, future)),
    )
    cassettes.save(str(path), old)
    session_of(journal, ["c"], run=OTHER_RUN, mode="auto")

    for _ in range(2):
        cassettes.save_run(journal, OTHER_RUN, str(path), overwrite=False, extend=True)

    loaded = cassettes.load(str(path))
    assert loaded.cassette.unknown == old.unknown
    assert tools_in(path) == ["a", "b", "c"]
    assert loaded.warnings == (f"{path}: 3 lines of an unknown kind are kept, not used",)


def _broken(good: bytes) -> dict[str, bytes]:
    lines = good.splitlines(keepends=True)
    return {
        "a byte that is no UTF-8": good.replace(b"git", b"g\xfft"),
        "a merge conflict": lines[0] + b"<<<<<<< HEAD\n" + b"".join(lines[1:]),
        "empty": b"",
        "foreign": b'{"log":{"entries":[]}}\n',
        "newer": b'{"cassette":99}\n',
        "cut in half": good[: len(good) // 2],
        "a broken last line": good[:-10],
    }


BROKEN = list(_broken(b"one\n"))
CUT_OFF = BROKEN[-2:]


@pytest.mark.parametrize("kind", BROKEN)
@pytest.mark.parametrize("run", [RUN, OTHER_RUN], ids=["its own run", "another run"])
@pytest.mark.parametrize(
    "how",
    [
        pytest.param({"overwrite": False, "extend": False}, id="C01 record"),
        pytest.param({"overwrite": True, "extend": False}, id="C01 record --overwrite"),
        pytest.param({"overwrite": False, "extend": True}, id="C01 auto"),
    ],
)
def test_c01_a_broken_cassette_is_never_written_over(
    journal: Journal, path: Path, kind: str, run: str, how: dict[str, Any]
) -> None:
    broken = _broken(saved_run(journal, path, ["a", "b"]))[kind]
    path.write_bytes(broken)
    session_of(journal, ["c"], run=run)

    with pytest.raises(CassetteError) as caught:
        cassettes.save_run(journal, run, str(path), **how)

    assert str(path) in (caught.value.place or "")
    assert caught.value.hint
    assert path.read_bytes() == broken
    assert [file.name for file in path.parent.iterdir()] == [path.name]


@pytest.mark.parametrize("kind", [kind for kind in BROKEN if kind not in CUT_OFF])
def test_c01_a_broken_cassette_is_not_replayed(journal: Journal, path: Path, kind: str) -> None:
    broken = _broken(saved_run(journal, path, ["a", "b"]))[kind]
    path.write_bytes(broken)

    with pytest.raises(CassetteError):
        cassettes.load(str(path))

    assert path.read_bytes() == broken


@pytest.mark.parametrize("kind", CUT_OFF)
def test_r26_a_cassette_that_was_cut_off_is_replayed_with_a_warning(
    journal: Journal, path: Path, kind: str
) -> None:
    broken = _broken(saved_run(journal, path, ["a", "b"]))[kind]
    path.write_bytes(broken)

    loaded = cassettes.load(str(path))

    assert [str(path) in warning for warning in loaded.warnings] == [True]
    assert not loaded.cassette.complete
    assert path.read_bytes() == broken


def test_c02_bytes_in_base64_are_the_same_after_record_save_and_load(
    journal: Journal, path: Path
) -> None:
    blob = base64.b64encode(bytes(range(256)) * 100).decode()
    result = json.dumps({"content": [{"type": "image", "data": blob, "mimeType": "image/png"}]})
    session = started(journal)
    record(session, answered(call(), result))
    session.close(exit_code=0)

    cassettes.save_run(journal, RUN, str(path), overwrite=False, extend=False)

    (kept,) = cassettes.load(str(path)).cassette.interactions
    assert kept.response == Response("result", result)


SAVER = """
import sys
from sidecar.store import cassettes
from sidecar.store.journal import Journal
from tests.store.samples import RUN, answered, call, record, started
journal = Journal.open(sys.argv[1])
session = started(journal, server=sys.argv[3])
for number in range(5):
    record(session, answered(call(server=sys.argv[3]), '"' + "x" * 80_000 + '"'))
    cassettes.save_run(journal, RUN, sys.argv[2], overwrite=False, extend=sys.argv[4] == "auto")
session.close(exit_code=0)
cassettes.save_run(journal, RUN, sys.argv[2], overwrite=False, extend=sys.argv[4] == "auto")
"""


@pytest.mark.parametrize("mode", ["record", "auto"])
def test_c04_four_proxies_save_one_cassette_of_large_answers(
    tmp_path: Path, path: Path, mode: str
) -> None:
    home = str(tmp_path / ".sidecar" / "journal.db")
    savers = [
        subprocess.Popen(
            [sys.executable, "-c", SAVER, home, str(path), f"server{number}", mode], cwd=paths.ROOT
        )
        for number in range(4)
    ]
    assert [saver.wait(timeout=WAIT_SECONDS) for saver in savers] == [0] * 4

    loaded = cassettes.load(str(path))
    assert loaded.warnings == ()
    assert loaded.cassette.complete
    assert sorted(item.server for item in loaded.cassette.interactions) == sorted(
        ["server0", "server1", "server2", "server3"] * 5
    )
    assert os.listdir(path.parent) == [path.name]  # noqa: PTH208


def test_c10_ten_thousand_interactions_are_saved_and_loaded_in_linear_time(
    journal: Journal, path: Path
) -> None:
    session = started(journal)
    result = f'{{"content":[{{"type":"text","text":"{"x" * 5000}"}}]}}'
    loaded, seconds = [], []
    for count in (1_000, 9_000):
        with session.transaction():
            for _ in range(count):
                record(session, answered(call(), result))
        begin = time.process_time()
        cassettes.save_run(journal, RUN, str(path), overwrite=False, extend=False)
        loaded.append(len(cassettes.load(str(path)).cassette.interactions))
        seconds.append(time.process_time() - begin)

    assert loaded == [1_000, 10_000]
    assert path.stat().st_size > 50_000_000
    assert seconds[1] < 30 * seconds[0]


def test_c13_what_is_loaded_is_no_part_of_what_was_loaded_before(path: Path) -> None:
    cassettes.save(str(path), Cassette((answered(call()),), {"git": Server()}))
    first = cassettes.load(str(path)).cassette
    first.servers.clear()

    second = cassettes.load(str(path)).cassette

    assert second.servers == {"git": Server()}
    with pytest.raises(TypeError):
        second.interactions[0] = call()  # type: ignore[index]  # that it is not allowed is the point
