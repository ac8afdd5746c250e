import json

from sidecar.cassette.interaction import Cassette, Interaction, Response, Server
from sidecar.cassette.redacting import redacted, unfound
from sidecar.cassette.redaction.redactor import Redactor

SALT = b"salt"


def call(arguments: str, result: str) -> Interaction:
    params = f'{{"name":"t","arguments":{arguments}}}'
    return Interaction("s", "tools/call", params, Response("result", result))


def cassette(*interactions: Interaction) -> Cassette:
    return Cassette(interactions, {"s": Server("2026-07-28")}, unknown=((0, '{"note":"MRN-123"}'),))


BEFORE = cassette(
    call('{"q":"[REDACTED:2]"}', '{"a":"MRN-123","b":"MRN-456","ward":"7b"}'),
    call('{"q":"MRN-456"}', '{"password":"hunter22"}'),
)


def rules() -> dict[str, Redactor]:
    return {
        "known": Redactor(SALT),
        "key": Redactor(SALT, key_names=["ward"]),
        "pattern": Redactor(SALT, patterns=[r"MRN-\d+"]),
    }


def test_x13_each_rule_masks_and_numbers_go_on() -> None:
    found = redacted(BEFORE, rules())

    assert [item.params for item in found.cassette.interactions] == [
        BEFORE.interactions[0].params,
        '{"name":"t","arguments":{"q":"[REDACTED:3]"}}',
    ]
    first, second = (json.loads((i.response or Response("result", "")).text)
                     for i in found.cassette.interactions)  # fmt: skip
    assert first == {"a": "[REDACTED:1]", "b": "[REDACTED:3]", "ward": "[REDACTED:4]"}
    assert second == {"password": "[REDACTED:5]"}
    assert found.cassette.unknown == ((0, '{"note":"[REDACTED:1]"}'),)
    assert found.masked == {"known": 1, "key": 1, "pattern": 4}
    assert found.in_requests == {"known": 0, "key": 0, "pattern": 1}


def test_calls_whose_numbers_are_masked_are_found_by_a_replay_that_masks_as_well() -> None:
    before = cassette(
        call('{"ward":12345678,"x":1}', "{}"),
        call('{"ward":"7b"}', "{}"),
        call('{"x":[{"ward":87654321}]}', "{}"),
        call('{"x":9}', "{}"),
        call('{"ward":true}', "{}"),
    )
    ward = Redactor(SALT, key_names=["ward"])
    after = redacted(before, {"key": ward}).cassette

    assert unfound(before, after, Redactor(b"")) == (0, 2)
    assert unfound(before, after, ward) == ()


def test_masking_again_changes_nothing() -> None:
    once = redacted(BEFORE, rules()).cassette

    again = redacted(once, rules())

    assert again.cassette == once
    assert sum(again.masked.values()) == 0


def test_what_is_told_late_is_masked_early_too() -> None:
    text = '{"text":"use Zq8knownValue9"}'
    found = redacted(
        cassette(call("{}", text), call('{"password":"Zq8knownValue9"}', "{}")), rules()
    )

    assert "Zq8knownValue9" not in str(found.cassette)
