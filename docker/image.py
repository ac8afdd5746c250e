"""Builds the image of docker/Dockerfile where there is neither an engine nor a registry.

buildah builds it, unprivileged by namespaces (`chroot` isolation, `vfs` storage), on a base
that debootstrap makes of Debian's own packages under the name that the Dockerfile asks for.
"""

import ast
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any, NamedTuple

CHECKOUT = Path(__file__).resolve().parents[1]
WORK = CHECKOUT / ".container"
BASE = "debian:trixie-slim"
SUITE = BASE.partition(":")[2].removesuffix("-slim")
NAME = "mcp-sidecar"
TOOLS = {
    "buildah": "buildah",
    "debootstrap": "debootstrap",
    "ip": "iproute2",
    "nsenter": "util-linux",
}
BUILD_SECONDS = 900

# As in Debian's own slim images: what is left out when packages are installed, and that dpkg need
# not wait for the disk.
DPKG_SETTINGS = """\
force-unsafe-io
path-exclude /usr/share/doc/*
path-include /usr/share/doc/*/copyright
path-exclude /usr/share/info/*
path-exclude /usr/share/locale/*
path-exclude /usr/share/man/*
"""
LEFT_BEHIND = (
    "usr/share/info/*",
    "usr/share/locale/*",
    "usr/share/man/*",
    "var/cache/apt/archives/*.deb",
    "var/lib/apt/lists/*",
    "var/log/*.log",
)
# pip's settings that say where packages are and how they are reached; the rest is this machine's.
PIP_SETTINGS = ("cert", "extra-index-url", "index-url", "timeout", "trusted-host")


class Image(NamedTuple):
    """A built image, and a root folder made of it that a command can run in.

    Attributes:
        root: The root folder, a copy that may be thrown away.
        config: `User`, `Env`, `Entrypoint`, `WorkingDir`, `Healthcheck`, `Volumes`, as Docker
            names them.
        size_bytes: What the files of the image take.
    """

    root: Path
    config: dict[str, Any]
    size_bytes: int


def install_tools() -> None:
    """Install what this test needs and is missing, where that is possible.

    Raises:
        SystemExit: Not root, or not on a system with apt.
    """
    missing = sorted({package for tool, package in TOOLS.items() if not shutil.which(tool)})
    if os.geteuid() != 0:
        sys.exit("container-test makes root folders and namespaces, so it has to run as root.")
    if not missing:
        return
    if not shutil.which("apt-get"):
        sys.exit(
            f"container-test needs {', '.join(missing)}, and there is no apt-get: install them."
        )
    print(f"Installing {', '.join(missing)}", flush=True)
    apt_get("update")
    apt_get("install", "-y", "--no-install-recommends", "debian-archive-keyring", *missing)


def apt_get(*words: str) -> None:
    """Run apt-get without questions."""
    subprocess.run(
        ["apt-get", "-qq", "-o", "Dpkg::Use-Pty=0", *words],
        check=True,
        env={**os.environ, "DEBIAN_FRONTEND": "noninteractive"},
        stdout=subprocess.DEVNULL,
        timeout=BUILD_SECONDS,
    )


def buildah(*words: str | Path) -> str:
    """Run buildah on a storage of our own, and give what it prints.

    Raises:
        SystemExit: It failed; its own words come first.
    """
    places = [f"--root={WORK / 'storage'}", f"--runroot={WORK / 'run'}"]
    done = subprocess.run(
        ["buildah", *places, "--storage-driver=vfs", *words],
        check=False,
        capture_output=True,
        text=True,
        timeout=BUILD_SECONDS,
    )
    if done.returncode:
        sys.exit(f"{done.stdout[-4000:]}{done.stderr[-4000:]}\nbuildah {words[0]} failed")
    return done.stdout.strip()


def images_named(name: str) -> list[str]:
    """Give the ids of the images of a name: one, or none."""
    return buildah("images", "--quiet", "--filter", f"reference={name}").split()


def make_base() -> None:
    """Make the base image of Debian's packages, under the name that the Dockerfile asks for."""
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        root = Path(folder, "root")
        subprocess.run(
            ["debootstrap", "--variant=minbase", SUITE, root],
            check=True,
            stdout=subprocess.DEVNULL,
            timeout=BUILD_SECONDS,
        )
        (root / "etc/dpkg/dpkg.cfg.d/slim").write_text(DPKG_SETTINGS, encoding="utf-8")
        for pattern in LEFT_BEHIND:
            for path in root.glob(pattern):
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        for path in root.glob("usr/share/doc/*/*"):
            if path.name != "copyright":
                shutil.rmtree(path) if path.is_dir() else path.unlink()
        container = buildah("from", "scratch")
        buildah("add", "--quiet", container, root, "/")
        buildah("config", "--cmd", "bash", container)
        buildah("commit", "--quiet", "--rm", container, BASE)


def pip_secrets(folder: Path) -> list[str]:
    """Write what pip is told on this machine as secrets of the build.

    Returns:
        Options for `buildah build`.
    """
    listed = subprocess.run(
        [sys.executable, "-m", "pip", "config", "list"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    settings: dict[str, str] = {}
    for line in sorted(listed.splitlines(), key=lambda line: line.startswith(":env:")):
        name, _, value = line.partition("=")
        settings[name.rpartition(".")[2]] = ast.literal_eval(value)
    options = []
    if certificate := settings.get("cert"):
        options += ["--secret", f"id=ca.crt,src={certificate}"]
        settings["cert"] = "/run/secrets/ca.crt"
    # A folder of this machine is none of the build's.
    extra = [url for url in settings.pop("extra-index-url", "").split() if url.startswith("http")]
    settings |= {"extra-index-url": " ".join(extra)} if extra else {}
    lines = [f"{name} = {settings[name]}" for name in PIP_SETTINGS if name in settings]
    config = folder / "pip.conf"
    config.write_text("\n".join(["[global]", *lines, ""]), encoding="utf-8")
    return [*options, "--secret", f"id=pip.conf,src={config}"]


def build() -> Image:
    """Build the image as `docker build` would, and make a root folder of it."""
    if left := buildah("containers", "--quiet").split():
        buildah("rm", *left)
    if old := images_named(NAME):
        buildah("rmi", "--force", *old)
    with tempfile.TemporaryDirectory(dir=WORK) as folder:
        options = ["--isolation", "chroot", "--layers=false", "--pull=never", "--format", "docker"]
        ignored = CHECKOUT / "docker" / "Dockerfile.dockerignore"
        options += ["--ignorefile", str(ignored), *pip_secrets(Path(folder))]
        dockerfile = CHECKOUT / "docker" / "Dockerfile"
        buildah("build", *options, "--file", dockerfile, "--tag", NAME, CHECKOUT)
    container = buildah("from", "--pull=never", NAME)
    root = Path(buildah("mount", container))
    config = json.loads(buildah("inspect", "--type", "image", NAME))["Docker"]["config"]
    return Image(root, config, size_of(root))


def size_of(folder: Path) -> int:
    """Give the bytes of all files below a folder, each counted once however often it is linked."""
    sizes = {}
    for path in folder.rglob("*"):
        found = path.lstat()
        sizes[found.st_ino] = found.st_size
    return sum(sizes.values())
