"""What holds for every test."""

import os

import pytest
from hypothesis import settings

# The same examples in every run: a red test is a change of ours, not luck. No deadline: the
# machine may be busy, and pytest-timeout bounds each test anyway.
settings.register_profile("house", derandomize=True, database=None, deadline=None, max_examples=100)
# `make mutants` runs the tests thousands of times; the first examples tell most.
settings.register_profile("mutants", settings.get_profile("house"), max_examples=15)
settings.load_profile("mutants" if "MUTANT_UNDER_TEST" in os.environ else "house")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    """The one event loop: aiohttp ties us to asyncio."""
    return "asyncio"


@pytest.fixture(autouse=True)
def _no_settings_of_the_developer(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take away the MCP_SIDECAR_* variables, which would steer what is tested."""
    for name in [name for name in os.environ if name.startswith("MCP_SIDECAR_")]:
        monkeypatch.delenv(name)
