"""Reading a config file."""

import pytest

from sidecar.agents.configs.document import again, read, read_servers
from sidecar.errors import ConfigError
from tests.agents.configs.samples import BY_PATH, SAMPLES, Sample, document

PATH = "/p/.mcp.json"


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.path)
def test_w14_every_clients_config_is_known_and_its_bytes_are_kept(sample: Sample) -> None:
    data = b"\xef\xbb\xbf" + sample.text.encode()

    found = read_servers(sample.path, data)

    assert found.client.id == sample.client
    assert found.data == data
    assert again(found, found.text) == found
    assert document(sample).data == sample.text.encode()


def test_e09_every_scope_of_a_file_is_read() -> None:
    found = document(BY_PATH["/home/u/.claude.json"])

    assert [(entry.key, entry.project, found.scope_of(entry)) for entry in found.entries] == [
        ((("projects", "/home/u/one", "mcpServers"), "db"), "/home/u/one", "local"),
        ((("mcpServers",), "db"), None, found.scope_of(found.entries[1])),
    ]


def test_an_entry_of_a_list_has_the_name_that_it_says() -> None:
    found = document(BY_PATH["/home/u/.continue/config.yaml"])

    assert [entry.name for entry in found.entries] == ["git", "lone", "web", "keyed"]


@pytest.mark.parametrize(
    ("data", "place", "problem"),
    [
        pytest.param(b"", PATH, "the config is empty", id="W08 empty"),
        pytest.param(b"\xef\xbb\xbf \r\n", PATH, "the config is empty", id="W08 blank"),
        pytest.param(b'{"a":\n"\xff"}', f"{PATH}:2", "is not UTF-8", id="not UTF-8"),
        pytest.param(b'{"a":\n01}', f"{PATH}:2:1", "is no JSON: a value", id="W02 broken"),
        pytest.param(b"[]", PATH, "is no object", id="a list"),
        pytest.param(b'{"mcpServers": 1}', f"{PATH}:1", "`mcpServers` is no object", id="a number"),
        pytest.param(
            b'{"mcpServers":{\n"a":{},"a":{}}}',
            f"{PATH}:1",
            "`mcpServers` has the name 'a' twice",
            id="a name twice",
        ),
        pytest.param(
            b'{"mcpServers":{}, "mcpServers":{}}',
            PATH,
            "the config has `mcpServers` twice",
            id="W14 a section twice",
        ),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(data: bytes, place: str, problem: str) -> None:
    with pytest.raises(ConfigError) as caught:
        read_servers(PATH, data)

    assert caught.value.place == place
    assert problem in caught.value.problem
    assert caught.value.hint


@pytest.mark.parametrize(
    ("path", "text", "problem", "hint"),
    [
        pytest.param(
            PATH,
            '{"servers": {"a": {"command": "x"}}}',
            "Claude Code reads `mcpServers`; its `servers` is for another",
            "say with --client",
            id="W14 another client's section",
        ),
        pytest.param(PATH, '{"mcpserver": {}}', "names no server", "misspelt?", id="W14 misspelt"),
        pytest.param(PATH, '{"mcpServers": {}}', "names no server", "name the file", id="none"),
        pytest.param(
            "/p/.vscode/mcp.json", '{"mcpServers": {"a": {"command": "x"}}}', "VS Code reads",
            "say with --client", id="W14 Claude's in VS Code's file",
        ),
    ],
)  # fmt: skip
def test_w14_a_config_without_a_server_says_what_its_client_reads(
    path: str, text: str, problem: str, hint: str
) -> None:
    assert read(path, text.encode()).entries == ()
    with pytest.raises(ConfigError) as caught:
        read_servers(path, text.encode())

    assert problem in caught.value.problem
    assert hint in (caught.value.hint or "")


def test_w14_a_second_section_that_the_client_does_not_read_is_noted() -> None:
    text = '{"servers": {"a": {"command": "x"}}, "mcpServers": {"b": {"command": "y"}}}'

    of_vscode = read_servers("/p/.vscode/mcp.json", text.encode())
    as_said = read_servers("/p/any.json", text.encode(), client="cursor")

    assert ([entry.name for entry in of_vscode.entries], of_vscode.unread) == (
        ["a"],
        ("mcpServers",),
    )
    assert ([entry.name for entry in as_said.entries], as_said.unread) == (["b"], ("servers",))
