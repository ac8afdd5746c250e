"""Runs the services of docker/compose.yaml in namespaces of Linux, where there is no engine.

Each service gets the image's root folder, read-only, with its volumes, as the image's user, in
a process namespace of its own. The services share one network, which leads nowhere else: a name
is an address on its loopback interface.
"""

import contextlib
import os
import re
import shlex
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from image import CHECKOUT, WORK, Image
from ruamel.yaml import YAML

FOLDER = CHECKOUT / "docker"
RUNNING = WORK / "composed"
HEALTHY_SECONDS = 60.0
PROBE_SECONDS = 20.0
STOP_SECONDS = 60.0  # compose.yaml's stop_grace_period

_VARIABLE = re.compile(r"\$\{(\w+)(?::([-?])([^}]*))?\}")


def interpolated(text: str, variables: Mapping[str, str]) -> str:
    """Put variables in, with the forms `${A}`, `${A:-default}` and `${A:?message}` of Compose.

    Raises:
        KeyError: A variable that must be set is not.
    """

    def value(match: re.Match[str]) -> str:
        name, kind, rest = match.groups()
        if found := variables.get(name):
            return found
        if kind == "-":
            return rest
        raise KeyError(name)

    return _VARIABLE.sub(value, text)


def services_of(text: str) -> dict[str, dict[str, Any]]:
    """Give the services of a compose.yaml."""
    services: dict[str, dict[str, Any]] = YAML(typ="safe").load(text)["services"]
    return services


class Process(NamedTuple):
    """A service that was started.

    Attributes:
        name: The service's.
        outside: The process that waits for it.
        log: Where its standard output and error go.
        probe: Its health check.
        inside: How to run another command in its namespaces; the command is to be appended.
    """

    name: str
    outside: subprocess.Popen[bytes]
    log: Path
    probe: tuple[str, ...]
    inside: tuple[str, ...]

    def first(self) -> int:
        """Give the id of process 1 of its namespace, as it is called outside."""
        waiting = Path(f"/proc/{self.outside.pid}/task/{self.outside.pid}/children")
        return int(waiting.read_text(encoding="ascii").split()[0])

    def run(self, *command: str) -> subprocess.CompletedProcess[str]:
        """Run another command in it, as `docker exec` does."""
        enter = ["nsenter", f"--target={self.first()}", "--mount", "--pid", "--net", "--root"]
        return subprocess.run(
            [*enter, *self.inside, *command],
            check=False,
            capture_output=True,
            text=True,
            timeout=PROBE_SECONDS,
        )

    def is_healthy(self) -> bool:
        """Whether its health check passes before time is up."""
        deadline = time.monotonic() + HEALTHY_SECONDS
        while self.outside.poll() is None and time.monotonic() < deadline:
            with contextlib.suppress(IndexError, FileNotFoundError, subprocess.TimeoutExpired):
                if self.run(*self.probe).returncode == 0:
                    return True
            time.sleep(0.2)
        return False

    def stop(self) -> int | None:
        """Stop it as `docker stop` does; None if it had to be killed."""
        os.kill(self.first(), signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self.outside.wait(STOP_SECONDS)
        return None

    def output(self) -> str:
        """Give what it printed until now."""
        return self.log.read_text(encoding="utf-8", errors="replace")


class Composition:
    """The services of compose.yaml, and the network and the volumes that they share."""

    def __init__(self, image: Image, network: int) -> None:
        self._image = image
        self._network = network
        self._text = (FOLDER / "compose.yaml").read_text(encoding="utf-8")
        self._started: list[Process] = []
        names = list(services_of(self._text))
        hosts = [f"127.0.0.{number} {name}\n" for number, name in enumerate(names, start=2)]
        (RUNNING / "hosts").write_text("".join(["127.0.0.1 localhost\n", *hosts]), encoding="utf-8")

    def start(
        self,
        name: str,
        variables: Mapping[str, str],
        *,
        command: Sequence[str] | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> Process:
        """Start a service.

        Args:
            name: The service's.
            variables: What stands in the environment of `docker compose`.
            command: Takes the place of the service's own, as in `docker compose run`.
            environment: Takes the place of the service's own.
        """
        service = services_of(interpolated(self._text, variables))[name]
        config = self._image.config
        words = [
            *service.get("entrypoint", config["Entrypoint"]),
            *(service.get("command", []) if command is None else command),
        ]
        if environment is None:
            environment = service.get("environment", {})
        user, _, group = config["User"].partition(":")
        inside = (
            *("setpriv", f"--reuid={user}", f"--regid={group}", "--clear-groups"),
            *("--no-new-privs", "--bounding-set=-all", "--inh-caps=-all"),
            *("env", "--ignore-environment", f"--chdir={config['WorkingDir']}", *config["Env"]),
            *(f"{key}={value}" for key, value in environment.items()),
        )
        script = self._mounting(service.get("volumes", [])) + shlex.join([*inside, *words])
        log = RUNNING / f"{name}.{len(self._started)}.log"
        unshared = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "sh", "-ec", script]
        with log.open("wb") as out:
            outside = subprocess.Popen(
                ["nsenter", f"--net=/proc/{self._network}/ns/net", *unshared],
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=subprocess.STDOUT,
            )
        health = service.get("healthcheck", {}).get("test", config["Healthcheck"]["Test"])
        process = Process(name, outside, log, tuple(health[1:]), inside)
        self._started.append(process)
        return process

    def volume(self, name: str) -> Path:
        """Give the folder of a named volume."""
        return RUNNING / "volumes" / name

    def logs(self) -> str:
        """Give what all services printed, in the order in which they were started."""
        return "".join(f"--- {each.name}\n{each.output()}" for each in self._started)

    def kill(self) -> None:
        """End whatever still runs."""
        for process in self._started:
            # Not left to unshare: a process that changes its user no longer dies with its parent.
            with contextlib.suppress(IndexError, FileNotFoundError, ProcessLookupError):
                os.kill(process.first(), signal.SIGKILL)
            process.outside.kill()
            process.outside.wait()

    def _mounting(self, volumes: Sequence[str]) -> str:
        """Give the shell lines that make the service's root of the image's."""
        root = self._image.root
        lines = [
            ["mount", "--bind", root, root],
            ["mount", "--bind", "/dev", root / "dev"],
            ["mount", "-t", "proc", "proc", root / "proc"],
        ]
        for volume in [f"{RUNNING / 'hosts'}:/etc/hosts:ro", *volumes]:
            source, target, *options = volume.split(":")
            inside = root / target.lstrip("/")
            outside = self._source(source, inside)
            lines.append(["mount", "--bind", outside, inside])
            if options == ["ro"]:
                lines.append(["mount", "-o", "remount,bind,ro", inside])
        lines.append(["mount", "-o", "remount,bind,ro", root])
        commands = [shlex.join(map(str, line)) for line in lines]
        return "\n".join([*commands, f"exec chroot {shlex.quote(str(root))} "])

    def _source(self, source: str, target: Path) -> Path:
        """Give what is mounted at a target, and make the target where the image has none."""
        if source.startswith((".", "/")):
            outside = (FOLDER / source).resolve()
            if not target.exists():
                target.mkdir() if outside.is_dir() else target.touch()
            return outside
        outside = self.volume(source)
        if not outside.exists():  # a new volume takes the owner and the mode of the image's folder
            outside.mkdir(parents=True)
            shutil.copystat(target, outside)
            os.chown(outside, target.stat().st_uid, target.stat().st_gid)
        return outside


@contextlib.contextmanager
def composition(image: Image) -> Iterator[Composition]:
    """Give the services a network, and end all of them when done."""
    shutil.rmtree(RUNNING, ignore_errors=True)
    RUNNING.mkdir(parents=True)
    up = "ip link set lo up && echo up && exec sleep infinity"
    with subprocess.Popen(
        ["unshare", "--net", "sh", "-c", up], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE
    ) as holder:
        try:
            assert holder.stdout is not None
            assert holder.stdout.readline() == b"up\n"
            composed = Composition(image, holder.pid)
            try:
                yield composed
            finally:
                composed.kill()
        finally:
            holder.kill()
