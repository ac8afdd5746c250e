from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sidecar.errors import UsageError
from sidecar.store import folders


@pytest.mark.parametrize(
    ("config", "project"),
    [
        pytest.param(None, "/work/here", id="no config: the working directory"),
        pytest.param("/p/.mcp.json", "/p", id="beside the project's files"),
        pytest.param(".mcp.json", "/work/here", id="relative to the working directory"),
        pytest.param("sub/mcp.json", "/work/here/sub", id="a plain folder counts"),
        pytest.param("/p/.vscode/mcp.json", "/p", id=".vscode is not counted"),
        pytest.param("/p/.cursor/mcp.json", "/p", id=".cursor is not counted"),
        pytest.param("/p/.kiro/settings/mcp.json", "/p", id="a folder inside such a one"),
        pytest.param("/p/settings/mcp.json", "/p/settings", id="settings of the project's own"),
        pytest.param("/home/u/.dotfiles/.mcp.json", "/home/u/.dotfiles", id="a hidden project"),
    ],
)
def test_the_project_folder_is_the_one_that_holds_the_config(
    config: str | None, project: str
) -> None:
    assert folders.project_folder(config, "/work/here") == project


@pytest.mark.parametrize(
    ("environ", "option", "home"),
    [
        pytest.param({}, None, "/p/.sidecar", id="in the project"),
        pytest.param({"MCP_SIDECAR_HOME": "/e"}, None, "/e", id="moved by the variable"),
        pytest.param({"MCP_SIDECAR_HOME": "/e"}, "/o", "/o", id="the option wins"),
        pytest.param({"MCP_SIDECAR_HOME": ""}, None, "/p/.sidecar", id="an empty variable"),
        pytest.param({}, "~/x", str(Path("~/x").expanduser()), id="a home of the user's"),
        pytest.param({}, "x", str(Path.cwd() / "x"), id="relative: made absolute"),
    ],
)
def test_the_home_moves_with_the_option_and_the_variable(
    environ: dict[str, str], option: str | None, home: str
) -> None:
    assert folders.home(environ, option, "/p") == home


def test_a_home_that_no_folder_can_be_is_refused() -> None:
    with pytest.raises(UsageError, match="holds a NUL"):
        folders.home({}, "a\0b", "/p")


def test_the_journal_lies_in_the_home() -> None:
    assert folders.journal_path("/p/.sidecar") == "/p/.sidecar/journal.db"


@pytest.mark.parametrize(
    ("spec", "path"),
    [
        pytest.param("demo", "/p/cassettes/demo.jsonl", id="a name"),
        pytest.param("a/b", "/p/cassettes/a/b.jsonl", id="a name with a folder"),
        pytest.param("v1.2_x-y", "/p/cassettes/v1.2_x-y.jsonl", id="all that a name may hold"),
        pytest.param("demo.jsonl", "/p/demo.jsonl", id="a path in the project"),
        pytest.param("../demo.jsonl", "/demo.jsonl", id="a path may lead anywhere"),
        pytest.param("/x/demo.jsonl", "/x/demo.jsonl", id="an absolute path"),
        pytest.param("a b.jsonl", "/p/a b.jsonl", id="a path may hold any character"),
    ],
)
def test_a_cassette_is_a_path_or_a_name_in_its_folder(spec: str, path: str) -> None:
    assert folders.cassette_path(spec, "/p") == path


@pytest.mark.parametrize(
    "name",
    [
        pytest.param("", id="C07 empty"),
        pytest.param("../../etc/x", id="C07 out of the folder"),
        pytest.param("..", id="C07 the parent"),
        pytest.param(".", id="C07 the folder itself"),
        pytest.param("a/../../b", id="C07 out in the middle"),
        pytest.param("/abs", id="C07 absolute"),
        pytest.param("a//b", id="C07 a double slash"),
        pytest.param("a/", id="C07 a slash at the end"),
        pytest.param("a\\b", id="C07 a backslash"),
        pytest.param("a:b", id="C07 a colon"),
        pytest.param("a\0b", id="C07 a NUL"),
        pytest.param("a b", id="C07 a space"),
        pytest.param("CON", id="C07 a device"),
        pytest.param("a/nul.x", id="C07 a device with an ending"),
        pytest.param("a./b", id="C07 a dot that Windows drops"),
        pytest.param("é", id="C07 a letter with two spellings"),
        pytest.param("a" * 201, id="C07 too long"),
        pytest.param("~/x", id="C07 a home"),
        pytest.param("$HOME", id="C07 a variable"),
    ],
)
def test_c07_a_name_that_leads_elsewhere_or_has_a_twin_is_refused(name: str) -> None:
    with pytest.raises(UsageError, match="a name is letters, digits"):
        folders.cassette_path(name, "/p")


@given(st.text(max_size=30))
def test_c07_whatever_the_name_it_stays_in_the_folder(name: str) -> None:
    try:
        path = folders.cassette_path(name, "/p")
    except UsageError:
        return

    assert name.endswith(".jsonl") or path == f"/p/cassettes/{name}.jsonl"


def test_c07_a_link_inside_the_folder_does_not_lead_out_of_it(tmp_path: Path) -> None:
    project = tmp_path / "p"
    (project / "cassettes").mkdir(parents=True)
    (project / "cassettes" / "out").symlink_to(tmp_path)
    (project / "cassettes" / "file.jsonl").symlink_to(tmp_path / "x.jsonl")

    for name in ("out/x", "file"):
        with pytest.raises(UsageError, match="leads out of the folder by a symbolic link"):
            folders.cassette_path(name, str(project))


def test_c07_a_link_that_stays_inside_the_folder_is_followed(tmp_path: Path) -> None:
    (tmp_path / "cassettes" / "a").mkdir(parents=True)
    (tmp_path / "cassettes" / "b").symlink_to(tmp_path / "cassettes" / "a")

    path = folders.cassette_path("b/x", str(tmp_path))

    assert path == str(tmp_path / "cassettes" / "b" / "x.jsonl")


def test_a_project_whose_cassettes_lie_elsewhere_by_a_link_is_the_users_choice(
    tmp_path: Path,
) -> None:
    project = tmp_path / "p"
    project.mkdir()
    (tmp_path / "shared").mkdir()
    (project / "cassettes").symlink_to(tmp_path / "shared")

    path = folders.cassette_path("x", str(project))

    assert path == str(project / "cassettes" / "x.jsonl")
