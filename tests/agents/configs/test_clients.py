"""The table of known clients."""

import pytest

from sidecar.agents.configs.clients import CLIENTS, KINDS, client_of, known_sections
from tests.agents.configs.samples import SAMPLES


def test_every_client_has_a_sample_and_an_id_of_its_own() -> None:
    ids = [client.id for client in CLIENTS]

    assert len(set(ids)) == len(ids)
    assert {sample.client for sample in SAMPLES} | {"copilot"} == set(ids)
    assert [client_of(client_id).id for client_id in ids] == ids


def test_w14_what_is_known_names_each_clients_section() -> None:
    known = known_sections()

    for part in (
        "`mcpServers` (Claude Desktop, Claude Code,",
        "`servers` (VS Code)",
        "`context_servers` (Zed)",
        "`mcp_servers` (Codex)",
        "`extensions` (Goose)",
        "`mcp.servers` (OpenCode)",
    ):
        assert part in known


@pytest.mark.parametrize(
    ("client_id", "urls"),
    [
        ("windsurf", {"serverUrl": None, "url": None}),
        ("gemini", {"httpUrl": "http", "url": "sse"}),
        ("goose", {"uri": None, "url": None}),
        ("claude-code", {"url": None}),
    ],
)
def test_e10_a_member_that_names_a_url_says_what_the_client_speaks_there(
    client_id: str, urls: dict[str, str | None]
) -> None:
    assert dict(client_of(client_id).urls) == urls


def test_e10_the_kinds_that_clients_write_are_known() -> None:
    assert {kind for kind, means in KINDS.items() if means == "http"} == {
        "http",
        "streamable-http",
        "streamableHttp",
        "streamable_http",
    }
    assert KINDS["sse"] == "sse"
