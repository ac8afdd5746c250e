"""What the parts of a proxy are wired to."""

from contextlib import closing
from pathlib import Path

import pytest

from sidecar.proxy.wiring import Wiring
from tests.proxy.stage import Stage


def test_all_parts_share_one_wiring_that_does_not_change(tmp_path: Path) -> None:
    with closing(Stage(tmp_path)) as stage:
        assert stage.wiring == Wiring(
            stage.wiring.options, stage.client.outlet, stage.tape, stage.wiring.masks
        )
        with pytest.raises(AttributeError):
            stage.wiring.tape = stage.tape  # type: ignore[misc]
