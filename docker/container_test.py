"""Builds the image of the sidecar, and sees that it does what docs/container.md says.

    make container-test

It needs root on a Debian or Ubuntu, and what it installs there itself: buildah, debootstrap. The
services of compose.yaml are run in namespaces, on a network without a way out.
"""

import json
import signal
import sqlite3
import sys
import time
from pathlib import Path

import composed
import image as images
from composed import Composition, Process

TOKEN = "a-word-that-only-the-test-knows"
RECORD = {"MCP_SIDECAR_TOKEN": TOKEN, "MODE": "record", "CASSETTE": "notes"}
REPLAY = {**RECORD, "MODE": "replay"}
AGENT_SECONDS = 120.0
MAX_MEGABYTES = 220
SERVERS = ("notes", "own-notes")  # reached over HTTP, and started by the sidecar
CALLS = 3  # that the agent makes with each of them; it lists the tools first
MISSED = 1
NOT_MEASURED = 2

# Nothing of this is needed to run, only to build.
NOT_IN_THE_IMAGE = (
    "etc/pip.conf",
    "opt/mcp-sidecar/bin/pip*",
    "opt/mcp-sidecar/bin/uv",
    "opt/mcp-sidecar/lib/python3*/site-packages/pip",
    "opt/mcp-sidecar/lib/python3*/site-packages/uv_build",
    "root/.cache",
    "run/secrets/*",
    "tmp/*",
    "usr/bin/*gcc*",
    "usr/bin/pip*",
    "usr/lib/python3/dist-packages/pip",
    "var/cache/apt/archives/*.deb",
    "var/lib/apt/lists/*",
    "var/log/*",
)
# Asks the sidecar as a stranger on its network would, and prints the status.
STRANGER = """\
import http.client, sys
connection = http.client.HTTPConnection("sidecar", 8765, timeout=5)
headers = dict(line.split(": ", 1) for line in sys.argv[1:])
connection.request("POST", "/notes/mcp", b"{}", {"Content-Type": "application/json", **headers})
print(connection.getresponse().status)
"""


def check(holds: object, sentence: str, detail: object = "") -> None:
    """Print a sentence that holds; end with one that does not.

    Raises:
        SystemExit: It does not.
    """
    if not holds:
        raise SystemExit(f"FAILED: {sentence}\n{detail}")
    print(f"  ok  {sentence}", flush=True)


def inspect(image: images.Image) -> None:
    """Check what the image holds, and what it says of itself."""
    megabytes = image.size_bytes / 1e6
    check(megabytes < MAX_MEGABYTES, f"the image is {megabytes:.0f} MB (bound {MAX_MEGABYTES})")
    left = [str(path) for pattern in NOT_IN_THE_IMAGE for path in image.root.glob(pattern)]
    check(not left, "it holds no build tool, cache, log or setting of the build", left)
    user = image.config["User"].partition(":")[0]
    check(user.isdigit() and user != "0", f"its user is {user}, not root")
    command = image.config["Entrypoint"]
    check("mcp-sidecar serve" in " ".join(command), "its entry point is serve", command)
    volumes = sorted(image.config["Volumes"])
    check(
        volumes == ["/project/.sidecar", "/project/cassettes"],
        "its volumes are for the journal and the cassettes",
        volumes,
    )


def refuse(services: Composition) -> None:
    """Check that it does not start where everybody could use it."""
    process = services.start("sidecar", RECORD, environment={})
    code = process.outside.wait(AGENT_SECONDS)
    check(
        code == NOT_MEASURED and "token" in process.output().lower(),
        "without a token it ends at once with 2, and says why",
        f"{code}: {process.output()}",
    )


def run_agent(services: Composition, server: str, *words: str) -> tuple[int, str]:
    """Run the agent to its end, with a server, and a note of its own or that of compose.yaml.

    Returns:
        Its exit code, and what it printed.
    """
    url = f"http://sidecar:8765/{server}/mcp"
    environment = {"NOTES_URL": url, "MCP_SIDECAR_TOKEN": TOKEN}
    agent = services.start("agent", RECORD, command=words or None, environment=environment)
    return agent.outside.wait(AGENT_SECONDS), agent.output()


def start_healthy(services: Composition, name: str, variables: dict[str, str]) -> Process:
    """Start a service, and wait until its health check passes."""
    process = services.start(name, variables)
    mode = f" in {variables['MODE']}" if name == "sidecar" else ""
    check(process.is_healthy(), f"the {name}{mode} is up: its health check passes")
    return process


def stop(process: Process, code: int) -> None:
    """Stop the sidecar, and check how it ended."""
    began = time.monotonic()
    ended = process.stop()
    check(
        ended == code,
        f"it stops with {code}, {time.monotonic() - began:.1f} s after SIGTERM",
        f"{ended} (None: it had to be killed)",
    )


def meet_strangers(sidecar: Process) -> None:
    """Check that it listens beyond loopback, and to whom."""
    bearer = f"Authorization: Bearer {TOKEN}"
    for status, sentence, headers in (
        ("401", "without its token", []),
        ("401", "with another token", ["Authorization: Bearer guessed"]),
        ("403", "under a name that is not ours", [bearer, "Host: elsewhere.example"]),
        ("403", "from a page of elsewhere", [bearer, "Origin: http://elsewhere.example"]),
    ):
        done = sidecar.run("python3", "-c", STRANGER, *headers)
        check(done.stdout == f"{status}\n", f"a request {sentence} gets {status}", done)


def stay_inside(sidecar: Process) -> None:
    """Check what it may do in its container."""
    users = sidecar.run("sh", "-c", "stat --format=%u /proc/[0-9]* | sort --unique").stdout
    check(users == "1000\n", "it and the server that it started run as user 1000", users)
    for folder, may_write in (
        ("/project", False),
        ("/tmp", False),
        ("/project/.sidecar", True),
        ("/project/cassettes", True),
    ):
        done = sidecar.run("sh", "-c", f"touch {folder}/x && rm {folder}/x")
        verb = "can" if may_write else "cannot"
        check((done.returncode == 0) == may_write, f"it {verb} write to {folder}", done)
    said = [line for line in sidecar.output().splitlines() if line.startswith("mcp-sidecar")]
    check(
        len(said) == len(SERVERS), "it says where its servers are, and complains of nothing", said
    )


def record(services: Composition) -> list[str]:
    """Record the agent's work with each server.

    Returns:
        What the agent printed, for each.
    """
    notes = start_healthy(services, "server", RECORD)
    sidecar = start_healthy(services, "sidecar", RECORD)
    printed = []
    for server in SERVERS:
        code, said = run_agent(services, server)
        is_whole = code == 0 and len(said.splitlines()) == 1 + CALLS
        check(is_whole, f"the agent calls the tools of {server} through it", said)
        printed.append(said)
    meet_strangers(sidecar)
    stay_inside(sidecar)
    stop(sidecar, 0)
    notes.stop()
    return printed


def look_at_what_was_kept(services: Composition, printed: list[str]) -> Path:
    """Check that the volumes hold what the agent did.

    Returns:
        The cassette.
    """
    cassette = services.volume("cassettes") / "notes.jsonl"
    check(cassette.is_file(), "the cassette is in its volume")
    text = cassette.read_text(encoding="utf-8")
    first, *lines = map(json.loads, text.splitlines())
    calls = [line for line in lines if line["request"]["method"] == "tools/call"]
    expected = CALLS * len(SERVERS)
    check(first["complete"] and len(calls) == expected, f"it is complete: {expected} calls", calls)
    for said in printed:
        added = json.loads(said.splitlines()[1].removeprefix("add: "))
        check(added["kept"] in text, f"it holds the answer of {added['kept']}", text)
    journal = services.volume("journal") / "journal.db"
    with sqlite3.connect(f"file:{journal}?mode=ro", uri=True) as database:
        query = "select count(*) from interactions where method = 'tools/call'"
        (counted,) = database.execute(query).fetchone()
    check(counted == expected, "the journal is in its volume, with the same calls", counted)
    kept = [path.read_bytes() for path in (journal, cassette)]
    check(not any(TOKEN.encode() in part for part in kept), "neither holds the token")
    return cassette


def replay(services: Composition, printed: list[str], cassette: Path) -> None:
    """Replay the run where there is no server, and a call that was not recorded."""
    before = cassette.read_bytes()
    sidecar = start_healthy(services, "sidecar", REPLAY)
    for server, said in zip(SERVERS, printed, strict=True):
        code, again = run_agent(services, server)
        check(code == 0 and again == said, f"without {server}, the agent sees the same", again)
    stop(sidecar, 0)
    sidecar = start_healthy(services, "sidecar", REPLAY)
    code, other = run_agent(services, "notes", "Feed the cat")
    check(code == 1 and "failed" in other, "a call that was not recorded fails", other)
    stop(sidecar, MISSED)
    check(cassette.read_bytes() == before, "the cassette is as it was")


def main() -> None:
    """Build, look, run."""
    signal.signal(signal.SIGTERM, lambda *_: sys.exit("stopped"))  # and so end what was started
    images.install_tools()
    images.WORK.mkdir(exist_ok=True)
    began = time.monotonic()
    if not images.images_named(images.BASE):
        print(f"Making {images.BASE} of Debian's packages (a minute, once)", flush=True)
        images.make_base()
    print("Building the image (a minute)", flush=True)
    image = images.build()
    check(image.root, f"the image is built, in {time.monotonic() - began:.0f} s")
    inspect(image)
    with composed.composition(image) as services:
        try:
            refuse(services)
            printed = record(services)
            cassette = look_at_what_was_kept(services, printed)
            replay(services, printed, cassette)
        except BaseException:
            print(services.logs(), file=sys.stderr)
            raise
    print(f"PASSED in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
