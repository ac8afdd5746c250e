"""Whole configs: wrapped, wrapped again, told otherwise, and brought back."""

import json
from pathlib import Path

import pytest

from sidecar.agents.config import read_config
from sidecar.agents.configs import wrapping
from sidecar.agents.configs.document import read_servers
from sidecar.agents.configs.marks import Target
from sidecar.agents.configs.wrapping import Outcome, as_before, unwrap, wrap
from sidecar.errors import ConfigError
from tests.agents.configs.samples import BY_PATH, SAMPLES, SERVE, Sample, document, plan, wrapped

SECTION = ("mcpServers",)
PATH = "/p/.mcp.json"


@pytest.mark.parametrize("ends", ["\n", "\r\n"], ids=["LF", "CRLF"])
@pytest.mark.parametrize("serve", [None, SERVE], ids=["proxy", "serve"])
@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.path)
def test_w10_w11_w14_every_config_is_wrapped_told_otherwise_and_brought_back_exactly(
    sample: Sample, serve: str | None, ends: str
) -> None:
    text = sample.text.replace("\n", ends)

    once = wrapped(document(sample, text), plan(serve=serve))
    again = wrapped(document(sample, once.text), plan(serve=serve))
    otherwise = wrapped(document(sample, once.text), plan("replay", "/p/other.jsonl"))
    straight = wrapped(document(sample, text), plan("replay", "/p/other.jsonl"))

    states = {one.entry.name: one.state for one in once.outcomes}
    assert "wrapped" in states.values()
    assert again.text == once.text
    assert {one.state for one in again.outcomes} <= {"unchanged", "skipped"}
    assert otherwise.text == straight.text
    assert unwrap(document(sample, once.text)).text == text
    assert unwrap(document(sample, otherwise.text)).text == text
    assert unwrap(document(sample, text)).text == text


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.path)
def test_each_entry_that_stays_as_it_is_has_its_reason(sample: Sample) -> None:
    outcomes = wrapped(document(sample)).outcomes

    skipped = {one.entry.name: one.reason for one in outcomes if one.state == "skipped"}
    assert list(skipped) == list(sample.skipped)
    for name, reason in sample.skipped.items():
        assert reason in skipped[name]


def test_w01_w10_a_change_touches_only_the_lines_that_it_must() -> None:
    sample = BY_PATH["/p/.vscode/mcp.json"]

    before, after = sample.text.split("\n"), wrapped(document(sample)).text.split("\n")

    kept = set(after)
    assert [line.strip() for line in before if line not in kept] == [
        '"command": "${workspaceFolder}/bin/srv", // the launcher',
        '"--root", /* where */ "${workspaceFolder}",',
        '"command": "uvx" // nothing more',
        '"type": "http",',
        '"url": "http://x//y", // two slashes',
        '"headers": {',
        '"Authorization": "Bearer ${input:key}",',
    ]
    assert len(after) == len(before) + 2


def test_e08_a_config_keeps_its_servers_names_and_its_lists_of_approvals() -> None:
    text = """{"enabledMcpjsonServers": ["a"], "disabledMcpjsonServers": [],
 "mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}"""

    after = json.loads(wrapped(read_servers(PATH, text.encode())).text)

    assert list(after["mcpServers"]) == ["a", "b"]
    assert (after["enabledMcpjsonServers"], after["disabledMcpjsonServers"]) == (["a"], [])


def test_only_the_servers_that_are_meant_change() -> None:
    text = '{"mcpServers": {"a": {"command": "x"}, "b": {"command": "y"}}}'
    both = wrapped(read_servers(PATH, text.encode()))

    one = wrap(read_servers(PATH, both.text.encode()), plan("passthrough", None), {(SECTION, "b")})
    back = unwrap(read_servers(PATH, one.text.encode()), {(SECTION, "a")})

    (entry,) = [entry for entry in both.before.entries if entry.name == "b"]
    assert [(outcome.entry.name, outcome.state) for outcome in one.outcomes] == [("b", "changed")]
    assert one.outcomes[0].target == Target("passthrough", None, "/p/.sidecar", "/p")
    assert entry.name == "b"
    servers = json.loads(back.text)["mcpServers"]
    assert servers["a"] == {"command": "x"}
    assert "passthrough" in servers["b"]["args"]


def test_w11_each_scope_is_told_its_own_project() -> None:
    outcomes = wrapped(document(BY_PATH["/home/u/.claude.json"])).outcomes

    targets = [one.target for one in outcomes]
    assert [target and target.project for target in targets] == ["/home/u/one", "/p"]


def test_an_entry_that_could_not_be_brought_back_is_skipped_and_the_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    text = '{"mcpServers": {"odd": {"command": "x"}, "b": {"command": "y"}}}'
    honest = wrapping._unwrapping_edits

    def forgetful(*args: object) -> object:
        entry = args[1]
        return [] if getattr(entry, "name", "") == "odd" else honest(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(wrapping, "_unwrapping_edits", forgetful)

    change = wrapped(read_servers(PATH, text.encode()))

    assert [(one.entry.name, one.state) for one in change.outcomes] == [
        ("odd", "skipped"),
        ("b", "wrapped"),
    ]
    assert change.outcomes[0].reason == wrapping._NO_WAY_BACK
    assert '"odd": {"command": "x"}' in change.text


def test_w08_a_change_that_would_lose_a_server_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    text = '{"mcpServers": {"a": {"command": "x"}}}'
    monkeypatch.setattr(wrapping, "applied", lambda _text, _edits: '{"mcpServers": {}}')

    with pytest.raises(ConfigError, match="would not be the same as before; nothing was changed"):
        unwrap(read_servers(PATH, text.encode()))


def test_what_is_read_to_be_wrapped_in_a_copy_is_never_nested() -> None:
    sample = BY_PATH[PATH]
    once = wrapped(document(sample))
    served = wrapped(document(sample), plan(serve=SERVE))

    for change in (once, served):
        assert as_before(PATH, change.data) == sample.text.encode()
    assert as_before(PATH, sample.text.encode()) == sample.text.encode()
    broken = b'{"mcpServers": {"a": "--wrapped'
    assert as_before(PATH, broken) == broken


def test_w11_a_wrapped_config_is_read_as_it_was_before(tmp_path: Path) -> None:
    path = tmp_path / ".mcp.json"
    text = """{"mcpServers": {"a": {"command": "npx", "args": ["-y"]},
        "b": {"type": "http", "url": "https://a.example/mcp", "headers": {"X": "y"}}}}"""
    path.write_text(text, encoding="utf-8")
    before = read_config(path)
    for serve in (None, SERVE):
        path.write_bytes(wrapped(read_servers(str(path), text.encode()), plan(serve=serve)).data)

        assert read_config(path) == before


def test_an_outcome_says_what_the_entry_is_told() -> None:
    change = wrapped(read_servers(PATH, b'{"mcpServers": {"a": {"command": "x"}}}'))

    (entry,) = change.before.entries
    target = Target("record", "/p/cassettes/checkout.jsonl", "/p/.sidecar", "/p")
    assert change.outcomes == (Outcome(entry, "wrapped", "", target),)
    back = unwrap(read_servers(PATH, change.data))
    assert [(one.state, one.target) for one in back.outcomes] == [("unwrapped", None)]
