"""A raw server to speak to, for each test its own."""

import contextlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeAlias

import pytest

from tests.servers.raw_client import RawClient

Start: TypeAlias = Callable[..., RawClient]

_SERVER = Path(__file__).with_name("raw_server.py")


@pytest.fixture
def start() -> Iterator[Start]:
    with contextlib.ExitStack() as clients:

        def begin(*flags: str | Path, **options: Any) -> RawClient:
            return clients.enter_context(RawClient([sys.executable, _SERVER, *flags], **options))

        yield begin


@pytest.fixture
def client(start: Start) -> RawClient:
    client = start()
    client.initialize()
    return client
