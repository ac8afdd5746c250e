import json

from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.cassette.redaction.redactor import Redactor
from sidecar.cassette.second_look import looked_over
from sidecar.cassette.texts import texts_of

SALT = b"salt"
VALUE = "Zq8knownValue9"
TOKEN = "gh" + "p_" + "aB3dE6gH9j" * 4


def call(arguments: object, result: str = "{}", during: tuple[Passage, ...] = ()) -> Interaction:
    params = json.dumps({"name": "t", "arguments": arguments})
    return Interaction("s", "tools/call", params, Response("result", result), during=during)


def progress(message: str, **more: object) -> Passage:
    return Passage(
        "notifications/progress", json.dumps({"progress": 1, "message": message, **more})
    )


def recorded(*texts: str) -> list[Interaction]:
    """Interactions as two processes record them: neither knows what the other masked."""
    return [call({"x": Redactor(SALT).plain(text)}) for text in texts]


def test_a_value_that_is_told_later_or_elsewhere_is_masked_everywhere() -> None:
    before, told, after = recorded(f"use {VALUE}", f"password={VALUE}", f"used {VALUE}.")
    assert VALUE in (before.params or "")

    looked, look = looked_over([before, told, after], Redactor(SALT))

    masks = {json.loads(item.params or "")["arguments"]["x"].split("[")[1] for item in looked}
    assert VALUE not in "".join(text for item in looked for text in texts_of(item))
    assert {mask.rstrip(".") for mask in masks} == {masks.pop().rstrip(".")}
    assert look(f"see {VALUE}").startswith("see [REDACTED:")


def test_what_is_kept_beside_the_interactions_tells_too() -> None:
    (told,) = recorded(f"use {VALUE}")

    looked = looked_over([told], Redactor(SALT), beside=[Redactor(SALT).plain(f"password={VALUE}")])

    assert VALUE not in (looked.interactions[0].params or "")


def test_where_nothing_is_told_texts_stay_as_they_are() -> None:
    assert looked_over([], Redactor(SALT)).look(VALUE) == VALUE


def test_with_another_key_nothing_more_is_known() -> None:
    interactions = recorded(f"use {VALUE}", f"password={VALUE}")

    assert looked_over(interactions, Redactor(b"other")).interactions == tuple(interactions)


def test_values_that_are_known_by_now_are_masked_too() -> None:
    masks = Redactor(SALT, known_values=[VALUE])
    (looked,) = looked_over(recorded(f"use {VALUE}"), masks).interactions

    assert VALUE not in (looked.params or "")


def test_x14_rules_that_are_new_are_followed_too() -> None:
    masks = Redactor(SALT, key_names=["ward"])
    (looked,) = looked_over([call({"ward": "7b"})], masks).interactions

    assert '"7b"' not in (looked.params or "")


def test_x07_a_secret_in_the_pieces_of_a_stream_is_masked_where_it_begins() -> None:
    pieces = (progress("got " + TOKEN[:9]), progress(TOKEN[9:20]), progress(TOKEN[20:] + " ok"))
    log = Passage("notifications/message", json.dumps({"level": "info", "data": TOKEN[:12]}))

    (looked,) = looked_over([call({}, during=(log, *pieces))], Redactor(SALT)).interactions

    messages = [json.loads(item.params or "") for item in looked.during]
    assert [one.get("message") for one in messages[1:]] == [
        messages[1]["message"],
        "",
        " ok",
    ]
    assert messages[1]["message"].startswith("got [REDACTED:")
    assert [one["progress"] for one in messages[1:]] == [1, 1, 1]
    assert looked.during[0] == log


def test_streams_without_a_secret_and_of_other_forms_stay_as_they_are() -> None:
    odd = (
        progress("step 1"),
        Passage("notifications/progress", '{"message": 3}'),
        Passage("notifications/progress", "[1]"),
        Passage("notifications/progress", None),
        progress("step 2"),
    )
    interaction = call({}, during=odd)

    assert looked_over([interaction], Redactor(SALT)).interactions == (interaction,)
