"""What masks the secrets of servers: of their variables, headers and command words."""

from __future__ import annotations

from pathlib import Path

import pytest

from sidecar.proxy.http.endpoint import ServedServer
from sidecar.proxy.masking import masks_of_servers
from sidecar.store.settings import NO_RULES, Rules

RANDOM = "x7Gh29KdmQ41zVbN"


@pytest.mark.parametrize(
    ("server", "secret"),
    [
        pytest.param(ServedServer("a", env=(("A_TOKEN", "word-one"),)), "word-one", id="by name"),
        pytest.param(ServedServer("a", env=(("PLAIN", RANDOM),)), RANDOM, id="by its looks"),
        pytest.param(
            ServedServer("a", headers=(("X-Whose", "Bearer word-two"),)), "word-two", id="a header"
        ),
        pytest.param(
            ServedServer("a", command=("srv", "--access-token", "Zq8knownValue9")),
            "Zq8knownValue9",
            id="a word of a command",
        ),
    ],
)
def test_x08_what_a_config_tells_is_a_secret_everywhere(
    tmp_path: Path, server: ServedServer, secret: str
) -> None:
    other = ServedServer("b", command=("srv",))

    masks = masks_of_servers(str(tmp_path), NO_RULES, [other, server])

    assert secret not in masks.json_text(f'{{"text":"it said {secret} again"}}')
    assert masks.leaks(secret) == 1


def test_further_values_and_rules_are_masked_too(tmp_path: Path) -> None:
    masks = masks_of_servers(str(tmp_path), Rules(patterns=("plate-[0-9]+",)), [], ["our-word"])

    masked = masks.plain("our-word, plate-77, other-word")
    assert "our-word" not in masked
    assert "plate-77" not in masked
    assert "other-word" in masked


def test_x08_what_looks_random_in_the_environment_is_a_secret_unless_it_is_the_desktops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    session = "h3Kd92LmPq77RtYw"
    monkeypatch.setenv("ADDED_LATER", RANDOM)
    monkeypatch.setenv("SOME_TERMINAL_SESSION_ID", session)

    masks = masks_of_servers(str(tmp_path), NO_RULES, [ServedServer("a", command=("srv",))])

    assert masks.leaks(f"it said {RANDOM}, {session}") == 1
    assert masks.plain(f"it said {session}") == f"it said {session}"
