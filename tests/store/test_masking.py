from pathlib import Path

import pytest

from sidecar.errors import UsageError
from sidecar.store.masking import masks_for, value_of
from sidecar.store.salt import masking_salt
from sidecar.store.settings import NO_RULES, Rules

ENVIRON = {"API_KEY": "Zq8knownValue9", "MY_SETTING": "aB3dE6gH9j", "EMPTY": ""}


def test_the_environment_and_the_rules_say_what_is_masked(tmp_path: Path) -> None:
    rules = Rules(("ward",), (r"MRN-(\d+)",), ("MY_SETTING", "EMPTY", "ABSENT"))
    masks = masks_for(str(tmp_path / "home"), ENVIRON, rules, ["moreValue12"])

    masked = masks.json_text('["Zq8knownValue9","aB3dE6gH9j","moreValue12",{"ward":"7b"},"MRN-77"]')

    assert masked.count("[REDACTED:") == 5
    assert "MRN-[REDACTED:" in masked
    assert masking_salt(str(tmp_path / "home"))


def test_without_rules_only_names_tell() -> None:
    masks = masks_for("", ENVIRON, NO_RULES)

    assert masks.json_text('["aB3dE6gH9j"]') == '["aB3dE6gH9j"]'
    assert masks.leaks("Zq8knownValue9") == 1


def test_a_variable_that_holds_nothing_to_look_for_is_refused() -> None:
    assert value_of("API_KEY", ENVIRON) == "Zq8knownValue9"
    with pytest.raises(UsageError, match="the variable ABSENT is not set"):
        value_of("ABSENT", ENVIRON)
    with pytest.raises(UsageError, match=r"has fewer than 4 characters.*--pattern"):
        value_of("SHORT", {"SHORT": "abc"})
