"""Where the clients keep their configs."""

import os
from pathlib import Path

import pytest

from sidecar.agents.configs.locations import LOCATIONS, Machine, location_of, present
from tests.agents.configs.samples import SAMPLES, Sample


@pytest.mark.parametrize("sample", [one for one in SAMPLES if one.client != "generic"], ids=str)
def test_w14_a_path_tells_the_client(sample: Sample) -> None:
    place = location_of(sample.path, home=Path("/home/u"))

    assert place is not None
    assert place.client == sample.client
    assert place.scope == ("user" if sample.path.startswith("/home/u/") else "project")


@pytest.mark.parametrize(
    "path", ["/p/mcp.json", "/p/settings.json", "/p/x/config.yaml", "/p/config.toml", "/p/a.json"]
)
def test_w14_a_name_that_many_use_tells_nothing(path: str) -> None:
    assert location_of(path) is None


def machine(folder: Path, platform: str, **environ: str) -> Machine:
    return Machine(folder / "home", folder / "project", environ, platform)


def made(*files: Path) -> list[Path]:
    for file in files:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{}", encoding="utf-8")
    return list(files)


def test_e09_all_places_of_a_client_are_found(tmp_path: Path) -> None:
    home, project = tmp_path / "home", tmp_path / "project"
    files = made(
        project / ".mcp.json",
        home / ".claude.json",
        project / ".cursor" / "mcp.json",
        home / ".cursor" / "mcp.json",
        home / ".config" / "goose" / "config.yaml",
        project / "opencode.jsonc",
        project / ".continue" / "mcpServers" / "a.yaml",
        project / "mcp.json",
    )
    (project / ".vscode" / "mcp.json").mkdir(parents=True)

    found = list(present(machine(tmp_path, "linux")))

    assert [path for _, path in found] == files
    assert [place.scope for place, _ in found][:4] == ["project", "user", "project", "user"]


@pytest.mark.parametrize(
    ("platform", "environ", "path"),
    [
        pytest.param("linux", {}, ".config/Claude/claude_desktop_config.json", id="Linux"),
        pytest.param(
            "darwin",
            {},
            "Library/Application Support/Claude/claude_desktop_config.json",
            id="macOS",
        ),
        pytest.param(
            "win32", {}, "AppData/Roaming/Claude/claude_desktop_config.json", id="Windows"
        ),
        pytest.param("linux", {"CODEX_HOME": "moved"}, "moved/config.toml", id="CODEX_HOME"),
        pytest.param(
            "linux", {"CLAUDE_CONFIG_DIR": "moved"}, "moved/.claude.json", id="CLAUDE_CONFIG_DIR"
        ),
        pytest.param("linux", {"XDG_CONFIG_HOME": "x"}, "x/zed/settings.json", id="XDG"),
        pytest.param("linux", {"CLINE_MCP_SETTINGS_PATH": "c.json"}, "c.json", id="Cline"),
    ],
)
def test_e09_each_system_and_variable_has_its_place(
    tmp_path: Path, platform: str, environ: dict[str, str], path: str
) -> None:
    home = tmp_path / "home"
    moved = {name: str(home / value) for name, value in environ.items()}
    made(home / path)

    found = [file for _, file in present(machine(tmp_path, platform, **moved))]

    assert found == [home / path]


def test_w04_a_link_that_leads_nowhere_is_found(tmp_path: Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    (project / ".mcp.json").symlink_to("nowhere")

    assert [path.name for _, path in present(machine(tmp_path, "linux"))] == [".mcp.json"]


def test_every_place_has_a_sample_of_its_format() -> None:
    suffixes = {os.path.splitext(place.path)[1] for place in LOCATIONS}  # noqa: PTH122  # a pattern

    assert suffixes == {".json", ".json*", ".toml", ".yaml", ""}


def test_this_machine_is_the_users() -> None:
    here = Machine.here("/p")

    assert (here.home, here.project) == (Path.home(), Path("/p"))
