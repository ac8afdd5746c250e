"""A journal in a folder of its own."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from sidecar.store.journal import Journal
from tests.store.samples import open_journal


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    opened = open_journal(tmp_path)
    yield opened
    opened.close()
