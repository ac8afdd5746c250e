"""Configs of every known client: with comments, odd spacing, unknown keys, several scopes."""

from __future__ import annotations

from typing import NamedTuple

from sidecar.agents.configs.document import Document, Entry, read_servers
from sidecar.agents.configs.marks import Target
from sidecar.agents.configs.wrapping import Change, Plan, wrap

PROGRAM = "/opt/side car/bin/mcp-sidecar"
SERVE = "http://127.0.0.1:8765"
CASSETTE = "/p/cassettes/checkout.jsonl"


class Sample(NamedTuple):
    """A config.

    Attributes:
        path: Where it lies.
        client: The client that reads it.
        text: What is in it.
        skipped: Of the servers that stay as they are, a part of the reason.
    """

    path: str
    client: str
    text: str
    skipped: dict[str, str]


def plan(mode: str = "record", cassette: str | None = CASSETTE, serve: str | None = None) -> Plan:
    """A plan that puts servers behind a sidecar which is nowhere."""

    def target(entry: Entry, _: Target | None) -> Target:
        project = entry.project or "/p"
        return Target(mode, cassette, f"{project}/.sidecar", project)

    return Plan(target, (PROGRAM,), serve)


def document(sample: Sample, text: str | None = None) -> Document:
    """Read a sample, or another text in its place."""
    return read_servers(sample.path, (sample.text if text is None else text).encode())


def wrapped(read: Document, told: Plan | None = None) -> Change:
    """Wrap all servers of a config."""
    return wrap(read, told or plan(), {entry.key for entry in read.entries})


SAMPLES = (
    Sample(
        "/home/u/.config/Claude/claude_desktop_config.json",
        "claude-desktop",
        """{
  "globalShortcut": "Ctrl+Space",
  "mcpServers": {
    "files": {
      "command": "npx",
      "args": [ "-y", "@scope/server",
                "/srv/dätä" ],
      "env": {"A_B": "1"}
    },
    "bare" :{"command" : "uvx"}
  },
  "preferences": {"x": 1.50, "y": 1e2}
}
""",
        {},
    ),
    Sample(
        "/p/.mcp.json",
        "claude-code",
        """{"mcpServers": {
\t"git": {"type": "stdio", "command": "${TOOLS:-/usr/bin}/git-server", "args": ["${REPO}", "--"],
\t\t"env": {"TOKEN": "${TOKEN}"}, "isolation": "none", "timeout": 5000, "alwaysLoad": true},
\t"web": {"type": "http", "url": "https://a.example/mcp?x=1#y", "headers": {
\t\t"Authorization": "Bearer ${TOKEN}", "X-Team" : "core" }, "timeout": 5},
\t"old": {"type": "sse", "url": "https://${HOST}/sse"},
\t"plain": {"url": "https://a.example/mcp"},
\t"login": {"type": "http", "url": "https://a.example/mcp", "oauth": {"clientId": "c"}},
\t"made": {"type": "http", "url": "https://a.example/mcp", "headersHelper": "/bin/h"},
\t"keyed": {"type": "http", "url": "https://a.example/mcp?api_key=${KEY}"}
}}""",
        {
            "login": "the client logs in to it by itself (`oauth`)",
            "made": "the client makes headers of its `headersHelper`: use --via-serve",
            "keyed": "its URL holds a secret, which lists of processes would show",
        },
    ),
    Sample(
        "/home/u/.claude.json",
        "claude-code",
        """{
  "numStartups": 12,
  "projects": {
    "/home/u/one": {"allowedTools": [], "mcpServers": {"db": {"command": "local-db", "args": []}}},
    "/home/u/two": {"mcpServers": {}},
    "/home/u/three": {"history": [{"display": "a // b"}]}
  },
  "mcpServers": {"db": {"type": "stdio", "command": "user-db"}},
  "oauthAccount": {"emailAddress": "u@example.com"}
}
""",
        {},
    ),
    Sample(
        "/p/.vscode/mcp.json",
        "vscode",
        """// Servers of this workspace
{
  "inputs": [ { "type": "promptString", "id": "key", "password": true, }, ],
  /* "servers": {"not": {"command": "this"}}, */
  "servers": {
    "git": {
      "type": "stdio",
      "command": "${workspaceFolder}/bin/srv", // the launcher
      "args": [
        // first
        "--root", /* where */ "${workspaceFolder}",
        "--note=\\"// no comment\\"", // last
      ],
      "env": { "KEY": "${input:key}" }, "envFile": "${workspaceFolder}/.env",
      "sandboxEnabled": true, "dev": { "watch": "src/**" },
    },
    "lone": {
      "command": "uvx" // nothing more
    },
    "web": {
      "type": "http",
      "url": "http://x//y", // two slashes
      "headers": {
        // the token
        "Authorization": "Bearer ${input:key}",
      },
    },
    "socket": { "type": "http", "url": "unix:///tmp/s.sock#/mcp" },
  },
}
""",
        {"socket": "its URL is none of http or https"},
    ),
    Sample(
        "/home/u/.config/Code/User/settings.json",
        "vscode",
        """{
    "editor.fontSize": 13, // "mcp": {}
    "mcp": { "inputs": [], "servers": { "git": { "command": "srv", "args": [ ] } } },
}
""",
        {},
    ),
    Sample(
        "/home/u/.cursor/mcp.json",
        "cursor",
        """{ "mcpServers": { "git": { "command": "srv", "args": ["${workspaceFolder}"],
    "envFile": ".env" },
  "web": { "url": "https://a.example/mcp", "headers": {"X-Key": "${env:KEY}"} },
  "auth": { "url": "https://a.example/mcp", "auth": {"CLIENT_ID": "x"} } } }
""",
        {"auth": "the client logs in to it by itself (`auth`)"},
    ),
    Sample(
        "/home/u/.codeium/windsurf/mcp_config.json",
        "windsurf",
        """{"mcpServers": {
  "git": {"command": "srv", "disabled": true, "disabledTools": ["x"]},
  "web": {"serverUrl": "https://a.example/mcp", "headers": {"X-Key": "${env:KEY}"}}
}}
""",
        {},
    ),
    Sample(
        "/home/u/.cline/data/settings/cline_mcp_settings.json",
        "cline",
        """{"mcpServers": {
  "git": {"command": "srv", "args": ["-v"], "autoApprove": ["log"], "disabled": false},
  "web": {"type": "streamableHttp", "url": "https://a.example/mcp",
          "headers": {"X-Key": "$literal"}, "timeout": 60}
}}
""",
        {},
    ),
    Sample(
        "/home/u/.config/zed/settings.json",
        "zed",
        """// Zed
{
  "theme": "One",
  "context_servers": {
    "new": { "source": "custom", "command": "srv", "args": ["-v"], "env": {} },
    "older": { "command": { "path": "srv", "args": ["a", "b"], "env": null }, "settings": {} },
    "extension": { "settings": { "key": 1 } },
    "web": { "url": "https://a.example/mcp", "headers": { "X-Key": "v" } },
  },
}
""",
        {"extension": "it has no `command`: the client itself starts it"},
    ),
    Sample(
        "/home/u/.codex/config.toml",
        "codex",
        """# Codex
model = "o5"
notify = ["sh", "-c", 'echo "x" # no comment']

[mcp_servers.git]  # the first
command = 'srv'    # in single quotes
args = [
  "-v", # with a comment
  'two',
]
startup_timeout_sec = 20
env_vars = ["HOME"]

[mcp_servers.git.env]
TOKEN = "t"

[mcp_servers."with space"]
  command = "lone" # indented

[mcp_servers.web]
url = "https://a.example/mcp"
enabled_tools = ["x"]
[mcp_servers.web.http_headers]
X-Key = "v" # the key

[mcp_servers.inline]
url = "https://a.example/mcp"
http_headers = { "X-Key" = 'v', Other = "w" }

[mcp_servers.bearer]
url = "https://a.example/mcp"
bearer_token_env_var = "TOKEN"

[mcp_servers]
short = { command = "srv", env = { A = "1" } }
dotted.command = "srv"
dotted.env.A = "1"

[profiles.x]
model = "o6"
""",
        {"bearer": "the client makes headers of its `bearer_token_env_var`: use --via-serve"},
    ),
    Sample(
        "/p/.gemini/settings.json",
        "gemini",
        """{
  "mcp": {"allowed": ["git"]},
  "mcpServers": {
    "git": {"command": "srv", "args": ["$HOME"], "env": {"T": "$TOKEN"}, "trust": true,
            "cwd": "./x"},
    "web": {"httpUrl": "https://a.example/$PATH_PART", "headers": {"X-Key": "${KEY}"}},
    "old": {"url": "https://a.example/sse"},
    "login": {"httpUrl": "https://a.example/mcp", "authProviderType": "google_credentials"}
  }
}
""",
        {"login": "the client logs in to it by itself (`authProviderType`)"},
    ),
    Sample(
        "/home/u/.config/goose/config.yaml",
        "goose",
        """# Goose
GOOSE_MODE: auto
extensions:
  # the developer's own
  developer: {bundled: true, type: builtin, name: developer, timeout: 300}
  git:
    type: stdio
    cmd: npx        # plain
    args:
      # first
    - -y            # a flag
    - '@scope/x'

    - "--a=b: c"
    envs: {}
    env_keys: [TOKEN]
    timeout: 300
  flow: {type: stdio, cmd: 'uvx', args: [a, "b"], enabled: true}
  lone:
    cmd: uvx  # nothing more
    type: stdio
  empty:
    cmd: "uvx"
    args: []
  web:
    type: streamable_http
    uri: https://a.example/mcp
    headers:
      # the key
      X-Key: v
  configured:
    type: streamable_http
    uri: https://a.example/mcp
    envs: {}
    env_keys: []
    headers: {X-Key: v}
  open: {type: streamable_http, uri: 'https://a.example/mcp', envs: {}, timeout: 300}
  variable:
    type: streamable_http
    uri: https://a.example/mcp
    headers: {Authorization: "Bearer ${TOKEN}"}
  anchored:
    cmd: srv
    args: &words [a]
  folded:
    cmd: >-
      srv
  alias:
    cmd: srv
    args: *words
other: true
""",
        {
            "developer": "it has no `cmd`: the client itself starts it",
            "variable": "its header 'Authorization' holds a variable, which Goose may not replace",
            "anchored": "its `args` is no list of its own",
            "folded": "its `cmd` is no plain text",
            "alias": "its `args` is no list",
        },
    ),
    Sample(
        "/p/opencode.jsonc",
        "opencode",
        """{
  "$schema": "https://opencode.ai/config.json", // OpenCode
  "mcp": {
    "git": { "type": "local", "command": ["srv", "-v"],
             "environment": { "T": "{env:T}" }, "enabled": true },
    "web": { "type": "remote", "url": "https://{env:HOST}/mcp",
             "headers": { "X-Key": "{env:KEY}" } },
    "strict": { "type": "remote", "url": "https://a.example/mcp", "oauth": false },
  },
}
""",
        {"strict": "its `oauth` must not be in an entry that is started: use --via-serve"},
    ),
    Sample(
        "/p/.opencode/opencode.json",
        "opencode",
        """{"mcp": {"timeout": {"startup": 1},
  "servers": {"git": {"type": "local", "command": ["srv"]}}}}
""",
        {},
    ),
    Sample(
        "/home/u/.continue/config.yaml",
        "continue",
        """name: mine
version: 0.0.1
mcpServers:
  - name: git
    command: npx
    args:
      - "-y"
      - x
    env:
      TOKEN: ${{ secrets.TOKEN }}
  -   command: uvx
      name: lone
  - name: web
    type: streamable-http
    url: 'https://a.example/mcp'
    requestOptions: {timeout: 5}
  - name: keyed
    type: streamable-http
    url: https://a.example/mcp
    requestOptions:
      headers:
        Authorization: Bearer x
  - uses: hub/block
""",
        {"keyed": "its `requestOptions.headers` may say how to authenticate"},
    ),
    Sample(
        "/p/.continue/mcpServers/one.json",
        "continue",
        """{"mcpServers": {"git": {"command": "srv", "args": ["-v"]}}}""",
        {},
    ),
    Sample(
        "/p/fastmcp.json",
        "generic",
        """{"mcpServers": {
  "git": {"command": "srv", "args": ["-v"], "transport": "stdio", "keep_alive": true},
  "web": {"url": "https://a.example/mcp", "transport": "streamable-http",
          "headers": {"X-Key": "v"}},
  "variable": {"url": "https://a.example/mcp", "headers": {"X-Key": "${KEY}"}}
}}
""",
        {"variable": "its header 'X-Key' holds a variable"},
    ),
)

BY_PATH = {sample.path: sample for sample in SAMPLES}
