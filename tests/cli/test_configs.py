"""What `wrap` and `unwrap` have in common."""

import json

import pytest

from sidecar.agents.configs import files
from sidecar.agents.configs.document import Document, read_servers
from sidecar.agents.configs.wrapping import Change, Key, Outcome
from sidecar.cli.configs import Choice, exit_code, planned, write
from sidecar.errors import UsageError
from tests.agents.configs.samples import wrapped
from tests.cli.conftest import Project

ALL = Choice((), (), None)


def names(choice: Choice, document: Document) -> set[str]:
    return {name for _, name in choice.keys(document)}


def change(document: Document, keys: set[Key]) -> Change:
    assert keys
    return wrapped(document)


def test_the_servers_that_are_meant_are_all_or_those_that_are_named() -> None:
    document = read_servers("/p/.mcp.json", b'{"mcpServers": {"a": {}, "b": {}, "c": {}}}')

    assert names(ALL, document) == {"a", "b", "c"}
    assert names(Choice(("a", "b"), ("b",), None), document) == {"a"}


@pytest.mark.parametrize(
    ("scope", "meant"),
    [
        (None, {"mine", "one", "two"}),
        ("user", {"mine"}),
        ("/home/u/one", {"one"}),
        ("/home/u/x/../two", {"two"}),
        ("/home/u/three", set()),
    ],
)
def test_w14_the_servers_of_one_scope_are_meant(scope: str | None, meant: set[str]) -> None:
    projects: dict[str, object] = {
        f"/home/u/{name}": {"mcpServers": {name: {}}} for name in ("one", "two")
    }
    text = json.dumps({"projects": projects, "mcpServers": {"mine": {}}})
    document = read_servers("/home/u/.claude.json", text.encode())

    assert names(Choice((), (), None, scope), document) == meant


@pytest.mark.parametrize("choice", [Choice(("no",), (), None), Choice((), ("no",), None)])
def test_a_name_that_no_file_has_is_refused(project: Project, choice: Choice) -> None:
    project.write_config({"a": {"command": "x"}})
    project.write_config({"b": {"command": "x"}}, "b.json")

    both = f"{project.folder}/.mcp.json, {project.folder}/b.json"
    with pytest.raises(UsageError, match="no server is called 'no'; there are 'a', 'b'") as caught:
        planned([".mcp.json", "b.json"], choice, change)
    assert caught.value.place == both


@pytest.mark.parametrize(
    ("choice", "problem"),
    [
        pytest.param(
            Choice(("a",), ("a",), None), "--except leaves out every server", id="both options"
        ),
        pytest.param(
            Choice((), (), None, "/nowhere"),
            "is of the scope '/nowhere'; there are user",
            id="scope",
        ),
    ],
)
def test_a_choice_of_nothing_is_refused(project: Project, choice: Choice, problem: str) -> None:
    project.write_config({"a": {"command": "x"}})

    with pytest.raises(UsageError, match=problem):
        planned([".mcp.json"], choice, change)


def test_a_file_that_is_named_twice_is_changed_once(project: Project) -> None:
    project.write_config({"a": {"command": "x"}})

    assert len(planned([".mcp.json", ".mcp.json"], ALL, change)) == 1


def test_w07_a_change_is_made_anew_of_what_another_program_wrote(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = project.write_config({"a": {"command": "x"}})
    (made,) = planned([".mcp.json"], ALL, change)
    project.write_config({"a": {"command": "x"}, "theirs": {"command": "y"}})
    monkeypatch.setattr(files, "_ATTEMPTS", 1)

    written = write(made, ALL, change)

    assert [one.entry.name for one in written.outcomes] == ["a", "theirs"]
    assert path.read_bytes() == written.data != made.data


def test_w07_what_is_written_belongs_to_what_is_there_though_it_changed_there_and_back(
    project: Project,
) -> None:
    path = project.write_config({"a": {"command": "x"}})
    ours = path.read_bytes()
    (made,) = planned([".mcp.json"], ALL, change)
    project.write_config({"a": {"command": "x"}, "theirs": {"command": "y"}})
    kept = []

    def keep(tried: Change) -> None:
        kept.append(tried.before.data)
        path.write_bytes(ours)  # by another program, and before anything is replaced

    theirs = path.read_bytes()
    written = write(made, ALL, change, keep=keep)

    assert kept == [theirs, ours]
    assert [one.entry.name for one in written.outcomes] == ["a"]
    assert path.read_bytes() == written.data == made.data


@pytest.mark.parametrize(
    ("states", "only", "code"),
    [
        (["wrapped", "skipped"], (), 0),
        (["wrapped", "skipped"], ("a",), 2),
        (["unchanged"], (), 0),
        (["skipped", "skipped"], (), 2),
        ([], (), 2),
    ],
)
def test_nothing_done_or_a_named_server_skipped_is_a_failure(
    states: list[str], only: tuple[str, ...], code: int
) -> None:
    document = read_servers("/p/.mcp.json", b'{"mcpServers": {"a": {"command": "x"}}}')
    outcomes = tuple(Outcome(document.entries[0], state) for state in states)  # type: ignore[arg-type]

    assert exit_code([Change(document, "", outcomes)], Choice(only, (), None)) == code
