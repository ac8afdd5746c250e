"""What masks the secrets of servers: of their variables, headers and command words."""

from __future__ import annotations

from pathlib import Path

import pytest

from sidecar.proxy.http.endpoint import ServerEntry
from sidecar.proxy.masking import masks_of_servers
from sidecar.store.settings import NO_RULES, Rules

RANDOM = "x7Gh29KdmQ41zVbN"


@pytest.mark.parametrize(
    ("server", "secret"),
    [
        pytest.param(ServerEntry("a", env=(("A_TOKEN", "word-one"),)), "word-one", id="by name"),
        pytest.param(ServerEntry("a", env=(("PLAIN", RANDOM),)), RANDOM, id="by its looks"),
        pytest.param(
            ServerEntry("a", headers=(("X-Whose", "Bearer word-two"),)), "word-two", id="a header"
        ),
        pytest.param(
            ServerEntry("a", command=("srv", "--access-token", "Zq8knownValue9")),
            "Zq8knownValue9",
            id="a word of a command",
        ),
    ],
)
def test_x08_what_a_config_tells_is_a_secret_everywhere(
    tmp_path: Path, server: ServerEntry, secret: str
) -> None:
    other = ServerEntry("b", command=("srv",))

    masks = masks_of_servers(str(tmp_path), NO_RULES, [other, server])

    assert secret not in masks.json_text(f'{{"text":"it said {secret} again"}}')
    assert masks.leaks(secret) == 1


def test_further_values_and_rules_are_masked_too(tmp_path: Path) -> None:
    masks = masks_of_servers(str(tmp_path), Rules(patterns=("plate-[0-9]+",)), [], ["our-word"])

    masked = masks.plain("our-word, plate-77, other-word")
    assert "our-word" not in masked
    assert "plate-77" not in masked
    assert "other-word" in masked
