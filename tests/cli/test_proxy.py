"""`mcp-sidecar proxy`: what its words mean, what it refuses, and how little it imports."""

import subprocess
from pathlib import Path

import pytest

from sidecar.cli.proxy import parse, proxy
from sidecar.errors import UsageError
from sidecar.proxy.ancestry import agent_process
from sidecar.proxy.options import ProxyOptions
from sidecar.store import ids
from tests.paths import MCP_SIDECAR, PYTHON
from tests.proxy.place import RUN, Place, ProxyClient, ended
from tests.proxy.stage import request

WAIT_SECONDS = 20.0
REQUIRED = ["--server", "git", "--run", RUN]


def parsed(*words: str, cwd: str = "/project") -> ProxyOptions:
    return parse([*REQUIRED, *words], cwd)


# --- what the words mean


def test_what_is_left_out_has_its_default() -> None:
    assert parsed("server", "--flag") == ProxyOptions(
        server="git",
        mode="record",
        command=("server", "--flag"),
        cassette=None,
        journal="/project/.sidecar/journal.db",
        run=RUN,
        agent_id=None,
        on_miss="fail",
        overwrite=False,
        max_message_bytes=268_435_456,
        drain_seconds=5.0,
        grace_seconds=2.0,
        url=None,
        headers=(),
        transport=None,
        connect_seconds=10.0,
        answer_seconds=600.0,
    )


def test_all_that_can_be_said() -> None:
    words = [
        "--mode=auto", "--cassette", "checkout", "--agent-id", "core:a", "--on-miss", "live",
        "--overwrite", "--home", "/home", "--project", "sub", "--max-message-bytes", "1000",
        "--drain-seconds=0.5", "--server=time",
    ]  # fmt: skip

    assert parsed(*words, "server") == ProxyOptions(
        server="time",
        mode="auto",
        command=("server",),
        cassette="/project/sub/cassettes/checkout.jsonl",
        journal="/home/journal.db",
        run=RUN,
        agent_id="core:a",
        on_miss="live",
        overwrite=True,
        max_message_bytes=1000,
        drain_seconds=0.5,
        grace_seconds=2.0,
    )


def test_a_server_at_a_url_has_no_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TOKEN", "Bearer abc")
    words = [
        "--header", "X-Team: blue", "--transport=sse", "--header-env", "Authorization=TOKEN",
        "--connect-seconds", "1.5", "--answer-seconds", "0", "--wrapped", "url:url",
        "--url", "https://h/mcp",
    ]  # fmt: skip

    options = parsed(*words)

    assert (options.command, options.url) == ((), "https://h/mcp")
    assert options.headers == (("X-Team", "blue"), ("Authorization", "Bearer abc"))
    assert options.transport == "sse"
    assert (options.connect_seconds, options.answer_seconds) == (1.5, 0.0)


def test_a_replay_needs_no_url_and_none_of_its_variables() -> None:
    words = ["--mode", "replay", "--cassette", "c", "--header-env", "Authorization=UNSET"]

    assert (parsed(*words).url, parsed(*words).headers) == (None, ())
    with pytest.raises(UsageError, match="the variable UNSET"):
        parsed(*words, "--on-miss", "live", "--url", "http://h/")


@pytest.mark.parametrize(
    ("words", "command"),
    [
        (["npx", "-y", "pkg"], ("npx", "-y", "pkg")),
        (["npx", "--server", "x", "--", "--mode"], ("npx", "--server", "x", "--", "--mode")),
        (["--", "npx", "--server"], ("npx", "--server")),
        (["--", "--odd-command", "--"], ("--odd-command", "--")),
        (["", "x"], ("", "x")),
        (["a b", "$HOME", "*"], ("a b", "$HOME", "*")),
    ],
)
def test_from_the_first_word_that_is_no_option_all_is_the_command(
    words: list[str], command: tuple[str, ...]
) -> None:
    assert parsed(*words).command == command


def test_a_value_may_begin_with_a_dash() -> None:
    assert parsed("--agent-id", "-a", "server").agent_id == "-a"


def test_a_replay_needs_no_command() -> None:
    assert parsed("--mode", "replay", "--cassette", "c").command == ()


def test_waiting_for_ever_is_as_long_as_a_wait_can_be() -> None:
    assert parsed("--drain-seconds", "inf", "server").drain_seconds == 1e6


def test_the_home_comes_from_the_environment_and_an_option_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MCP_SIDECAR_HOME", "/elsewhere")

    assert parsed("server").journal == "/elsewhere/journal.db"
    assert parsed("--home", "/here", "server").journal == "/here/journal.db"


def test_the_run_comes_from_the_environment_and_an_option_wins(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("MCP_SIDECAR_RUN", "local/01JDPR0XY00000000000000009")

    assert parse(["--server", "git", "server"], "/").run == "local/01JDPR0XY00000000000000009"
    assert parsed("server").run == RUN


def test_without_a_run_it_is_that_of_the_agents_process() -> None:
    agent = agent_process()
    expected = ids.run_id_of_process(agent, ids.process_start(agent))

    assert parse(["--server", "git", "server"], "/").run == expected


def test_the_proxies_of_one_process_are_one_run_and_those_of_another_are_not(
    tmp_path: Path,
) -> None:
    place = Place(tmp_path)
    words = [MCP_SIDECAR, "proxy", "--project", str(tmp_path), "--server"]
    launcher = ["sh", "-c", '"$@"; exit', "sh"]
    for before, name in (([], "a"), (launcher, "b")):
        with ProxyClient([*before, *words, name, "true"]) as client:
            ended(client)
    subprocess.run(
        ["sh", "-c", '"$@" </dev/null; exit', "sh", *words, "c", "true"],
        check=True,
        timeout=WAIT_SECONDS,
    )

    runs = place.session_runs()
    assert [server for server, _ in runs] == ["a", "b", "c"]
    assert runs[0][1] == runs[1][1] != runs[2][1]


# --- what is refused


@pytest.mark.parametrize(
    ("words", "problem"),
    [
        ([], "mode record needs the server's command after the options"),
        (["--mode", "auto", "--cassette", "c"], "mode auto needs the server's command"),
        (["--mode", "replay", "--on-miss", "live"], "mode replay needs the server's command"),
        (["--mode", "replay"], "mode replay needs --cassette"),
        (["--mode", "auto", "server"], "mode auto needs --cassette"),
        (["--mode", "Replay", "--cassette", "c"], "unknown mode 'Replay'"),
        (["--mode", " replay ", "--cassette", "c"], "unknown mode ' replay '"),
        (["--mode=", "server"], "unknown mode ''"),
        (["--on-miss", "Live", "server"], "unknown --on-miss 'Live'"),
        (["--casette", "c", "server"], "unknown option '--casette'"),
        (["-v", "server"], "unknown option '-v'"),
        (["--overwrite=no", "server"], "unknown option '--overwrite=no'"),
        (["--cassette"], "--cassette needs a value"),
        (["--cassette", "../c", "server"], "'../c' is no cassette name"),
        (["--run", "mine", "server"], "'mine' is no run id"),
        (["--agent-id", "my agent", "server"], "'my agent' is no agent id"),
        (["--agent-id", "", "server"], "'' is no agent id"),
        (["--agent-id", "x" * 129, "server"], "is no agent id"),
        (["--server", "", "server"], "proxy needs --server NAME"),
        (["--url", "h/mcp"], "'h/mcp' is no URL of a server"),
        (["--url", "http://h/", "server"], "a server has a URL or a command, and 'server' begins"),
        (["--transport", "ws", "--url", "http://h/"], "unknown --transport 'ws'"),
        (["--header-env", "A=UNSET", "--url", "http://h/"], "the variable UNSET"),
        (["--header"], "--header needs a value"),
        (["--max-message-bytes", "many", "server"], "--max-message-bytes needs a number"),
        (["--max-message-bytes", "1.5", "server"], "--max-message-bytes needs a number"),
        (["--drain-seconds", "-1", "server"], "--drain-seconds needs a number of 0 or more"),
        (["--drain-seconds", "nan", "server"], "--drain-seconds needs a number of 0 or more"),
    ],
)
def test_r17_what_cannot_be_meant_is_refused(words: list[str], problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        parsed(*words)

    assert problem in caught.value.problem
    assert caught.value.exit_code == 2


def test_a_server_without_a_name_is_refused() -> None:
    with pytest.raises(UsageError, match="proxy needs --server NAME; see `mcp-sidecar proxy"):
        parse(["server"], "/")


@pytest.mark.parametrize("words", [["--mode", "Replay"], ["--run", "x", "server"], []])
def test_what_is_refused_leaves_nothing_behind(tmp_path: Path, words: list[str]) -> None:
    done = subprocess.run(
        [MCP_SIDECAR, "proxy", "--server", "x", *words],
        cwd=tmp_path,
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=False,
        text=True,
    )

    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr.startswith("mcp-sidecar: ")
    assert len(done.stderr.splitlines()) == 1
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_help_is_told_and_does_nothing(word: str, capfd: pytest.CaptureFixture[str]) -> None:
    assert proxy([word]) == 0

    shown = capfd.readouterr().out
    assert shown.startswith("Usage: mcp-sidecar proxy --server NAME")
    for option in ("--mode", "--cassette", "--run", "--agent-id", "--on-miss", "--overwrite",
                   "--home", "--project", "--max-message-bytes", "--drain-seconds", "--url",
                   "--transport", "--header", "--header-env", "--connect-seconds",
                   "--answer-seconds"):  # fmt: skip
        assert f"\n  {option} " in shown


# --- what is imported: every agent waits for it, once per server

STDLIB = {
    "binascii", "collections", "contextlib", "copyreg", "datetime", "enum", "fcntl", "functools",
    "gc", "itertools", "json", "keyword", "operator", "re", "reprlib", "select", "signal",
    "sqlite3", "threading", "types",
}  # fmt: skip
REDACTION = {
    "assignments", "commands", "config_secrets", "contexts", "finders", "gates", "known_values",
    "kubernetes", "layouts", "lazy_patterns", "marks", "masking", "name_search", "names", "pairs",
    "patterns", "phrases", "placeholders", "redactor", "shapes", "sought", "spellings", "tables",
    "value_parts", "values",
}  # fmt: skip
BOTH = {
    "", "cassette", "cassette.arguments", "cassette.facts", "cassette.file_format",
    "cassette.interaction", "cassette.multi_round", "cassette.outcome", "cassette.redaction",
    "cassette.subscriptions", "cassette.texts", "cli", "cli.main", "cli.proxy", "errors", "proxy",
    "proxy.late_masks", "proxy.masking", "proxy.options", "proxy.saving", "proxy.stdio",
    "proxy.stopping", "proxy.streams", "proxy.tape", "proxy.wiring", "store", "store.atomic",
    "store.cassettes", "store.clock", "store.connection", "store.environment", "store.file_lock",
    "store.folders", "store.ids", "store.journal", "store.masking", "store.recorded",
    "store.salt", "store.session", "store.settings", "wire", "wire.framing", "wire.json_pointer",
    "wire.json_text", "wire.jsonrpc", "wire.mcp", "wire.typed",
    *(f"cassette.redaction.{module}" for module in REDACTION),
}  # fmt: skip
AT_THE_END = {"cassette.echoes", "cassette.second_look", "store.looked_over_rows"}
RECORD = {
    "cassette.recorder", "proxy.child", "proxy.guard", "proxy.link", "proxy.live",
    "proxy.open_files", "proxy.oversized",
}  # fmt: skip
REPLAY = {
    "cassette.eras", "cassette.masked_arguments", "cassette.matcher", "cassette.misses",
    "cassette.negotiation", "cassette.pool", "cassette.replayer", "proxy.playback",
    "wire.shortening",
}  # fmt: skip

REPORTING = """
import sys
before = set(sys.modules)
from sidecar.cli.main import main
main()
sys.stderr.write(f"GARBAGE {sys.modules['gc'].isenabled()} ")
sys.stderr.write(" ".join(["IMPORTED", *sorted(set(sys.modules) - before)]))
"""


@pytest.mark.parametrize(("mode", "own"), [("record", RECORD), ("replay", REPLAY)])
def test_it_imports_exactly_what_it_uses(tmp_path: Path, mode: str, own: set[str]) -> None:
    place = Place(tmp_path)
    with place.client(["cat"]) as client:
        ended(client)
    words = place.words(["cat"], mode=mode, options=["--overwrite", "--drain-seconds", "0"])
    with ProxyClient([PYTHON, "-I", "-c", REPORTING, *words[1:]]) as client:
        client.send(request(1, "ping"))
        assert client.read() is not None
        ended(client)
        reported = client.stderr_text()
    imported = reported.partition("IMPORTED ")[2].split()
    assert "GARBAGE True" in reported  # it is looked for again, once all is there

    ours = {name for name in imported if name.split(".")[0] == "sidecar"}
    # Python's own parts have parts of their own, which vary from version to version.
    others = {name.split(".")[0] for name in set(imported) - ours if not name.startswith("_")}
    assert ours == {f"sidecar.{name}".rstrip(".") for name in BOTH | AT_THE_END | own}
    assert others - {"math"} == STDLIB
