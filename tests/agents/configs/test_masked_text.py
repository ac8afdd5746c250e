"""Texts of configs as they may be shown: no secret in them, and all else as it is written."""

import pytest

from sidecar.agents.configs.document import Document, read_servers
from sidecar.agents.configs.masked_text import masked_texts
from tests.agents.configs.samples import SAMPLES, Sample, wrapped

RANDOM = "q8Zx1KfPq92LmnTRwY4sd0Jh"

JSON = """{"mcpServers": {
  // another one: %s, and more
  "s": {"command": "python", "args": ["SRV", "--token",
    "hunter22", "-v"], "env": {"RND": "%s", "TAB": "tab\\u0041%s", "TOKEN": "${TOKEN}"}},
  "secrets": {"command": "z", "env": {"password": 123456, "PORT": 8765}},
  "keyed": {"url": "https://a.example/s/mcp?key=ab12cd&x=1"},
  "web": {"url": "https://a.example/mcp", "headers": {
    "Authorization": "xyz", "Accept": "Bearer ${KEY}"}}
}}
""".replace("%s", RANDOM)

TOML = """[mcp_servers.s]
args = ["--token",
  "hunter22"] # none of %s
command = "python"
[mcp_servers.s.env]
RND = '%s'
LONG = \"\"\"
abc %s
\"\"\"
""".replace("%s", RANDOM)

YAML = """mcpServers:
  - name: s
    command: python
    args:
      - --token
      - hunter22
    env:
      RND: %s
      BLOCK: |
        %s
        x
      TOKEN: &a abcd-1234-efgh
      OTHER: *a
      PLAIN: word
""".replace("%s", RANDOM)


def _read(path: str, text: str) -> Document:
    return read_servers(path, text.encode())


@pytest.mark.parametrize(
    ("path", "text", "masked"),
    [
        pytest.param(
            "/p/.mcp.json",
            JSON,
            JSON.replace(f"tab\\u0041{RANDOM}", "[REDACTED]")
            .replace(RANDOM, "[REDACTED]")
            .replace("hunter22", "[REDACTED]")
            .replace("123456", '"[REDACTED]"')
            .replace("ab12cd", "[REDACTED]")
            .replace("xyz", "[REDACTED]"),
            id="JSON",
        ),
        pytest.param(
            "/p/.codex/config.toml",
            TOML,
            TOML.replace(f'""\nabc {RANDOM}\n""', "abc [REDACTED]\\n")
            .replace(RANDOM, "[REDACTED]")
            .replace("hunter22", "[REDACTED]"),
            id="TOML",
        ),
        pytest.param(
            "/p/.continue/mcpServers/a.yaml",
            YAML,
            YAML.replace(f"|\n        {RANDOM}\n        x", '"[REDACTED]\\nx\\n"')
            .replace(RANDOM, '"[REDACTED]"')
            .replace("hunter22", '"[REDACTED]"')
            .replace("&a abcd-1234-efgh", '"[REDACTED]"'),
            id="YAML",
        ),
    ],
)
def test_x08_secrets_are_masked_where_they_stand_and_nothing_else_is(
    path: str, text: str, masked: str
) -> None:
    assert masked_texts([_read(path, text)]) == [masked]


@pytest.mark.parametrize(
    ("path", "text"),
    [("/p/.mcp.json", JSON), ("/p/.codex/config.toml", TOML), ("/p/.continue/mcpServers/a", YAML)],
    ids=["JSON", "TOML", "YAML"],
)
def test_x08_a_wrapped_text_shows_our_words_and_no_secret(path: str, text: str) -> None:
    before = _read(path if "." in path.rpartition("/")[2] else f"{path}.yaml", text)
    after = _read(before.path, wrapped(before).text)

    shown = masked_texts([before, after])

    for one in shown:
        assert RANDOM not in one
        assert "hunter22" not in one
        assert "xyz" not in one
    words = ["--mask-env", "RND", "--wrapped"]
    at = [shown[1].index(f'"{word}"') for word in words]
    assert at == sorted(at)
    assert "MCP_SIDECAR_HEADER_1" not in shown[0]
    if before.format.name == "JSON":
        assert '"--header-env", "Authorization=MCP_SIDECAR_HEADER_1"' in shown[1]
        assert '"MCP_SIDECAR_HEADER_1": "[REDACTED]"' in shown[1]


def test_x08_what_is_told_by_one_text_is_masked_in_the_other() -> None:
    told = '{"mcpServers": {"a": {"command": "x", "env": {"A": "RND"}}}}'.replace("RND", RANDOM)
    plain = '{"mcpServers": {"a": {"command": "x"}}, "note": "see RND"}'.replace("RND", RANDOM)

    shown = masked_texts([_read("/p/.mcp.json", plain), _read("/p/.mcp.json", told)])

    assert not any(RANDOM in one for one in shown)


def test_an_entry_that_has_a_name_twice_is_masked_at_both() -> None:
    text = '{"mcpServers": {"a": {"command": "x", "api_key": "abcd1234", "api_key": "efgh5678"}}}'

    (shown,) = masked_texts([_read("/p/.mcp.json", text)])

    assert shown == text.replace("abcd1234", "[REDACTED]").replace("efgh5678", "[REDACTED]")


def test_a_number_of_thousands_of_digits_is_no_obstacle() -> None:
    text = f'{{"mcpServers": {{"a": {{"command": "x", "timeout": {"9" * 5000}}}}}}}'

    assert masked_texts([_read("/p/.mcp.json", text)]) == [text]


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.path)
def test_all_clients_texts_keep_their_names_and_lines(sample: Sample) -> None:
    document = _read(sample.path, sample.text)
    change = wrapped(document)
    after = _read(sample.path, change.text)

    before_shown, after_shown = masked_texts([document, after])

    assert before_shown.count("\n") == document.text.count("\n")
    assert after_shown.count("\n") == after.text.count("\n")
    assert '[REDACTED]":' not in before_shown + after_shown
    assert '"[REDACTED]",' not in after_shown.partition('"proxy"')[2].partition('"--wrapped"')[0]
