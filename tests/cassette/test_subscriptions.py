"""Listens: their ids on the wire, their places in a recording."""

import pytest

from sidecar.cassette.subscriptions import Subscriptions, subscription_id
from sidecar.wire.mcp import META_SUBSCRIPTION


def meta(ident: str, more: str = "") -> str:
    return f'{{"a": 1e2,"_meta":{{{more}"{META_SUBSCRIPTION}":{ident}}}}}'


def listening(*idents: str) -> Subscriptions:
    subscriptions = Subscriptions()
    for ident in idents:
        subscriptions.opened(ident)
    return subscriptions


def test_an_id_becomes_a_place_and_a_place_an_id() -> None:
    recorded = listening('"l-7"', "8").recorded(meta("8", '"x":1.0,'))
    replayed = listening('"l-1"', '"l-2"').replayed(recorded)

    assert recorded == f'{{"a":1e2,"_meta":{{"x":1.0,"{META_SUBSCRIPTION}":1}}}}'
    assert replayed == f'{{"a":1e2,"_meta":{{"x":1.0,"{META_SUBSCRIPTION}":"l-2"}}}}'


def test_ids_keep_their_type() -> None:
    subscriptions = listening('"1"', "1")

    assert (subscriptions.place_of("1"), subscriptions.place_of('"1"')) == ("1", "0")
    assert (subscriptions.place_of("2"), subscriptions.place_of(None)) == (None, None)


def test_the_id_of_an_unknown_listen_is_left_out() -> None:
    assert listening().recorded(meta("5", '"x":1,')) == '{"a":1e2,"_meta":{"x":1}}'
    assert listening().recorded(meta("5")) == '{"a":1e2}'


@pytest.mark.parametrize(
    "text", ['{"a": 1}', '{"_meta": {"x": 1}}', "[1]", f'"{META_SUBSCRIPTION}"']
)
def test_a_message_of_no_listen_stays_the_same(text: str) -> None:
    assert listening("1").recorded(text) == text
    assert listening("1").replayed(text) == text
    assert subscription_id(text) is None


@pytest.mark.parametrize("place", ["1", "-1", '"0"', "null", "7" * 5000])
def test_a_place_where_nobody_listens_is_not_replayed(place: str) -> None:
    assert listening("1").replayed(meta(place)) is None


def test_what_was_closed_is_not_listened_to() -> None:
    subscriptions = listening("7", "8")
    subscriptions.closed("7")
    subscriptions.closed("9")
    subscriptions.closed(None)

    assert subscriptions.replayed(meta("0")) is None
    assert subscriptions.id_at("1") == "8"
    assert subscriptions.place_of("7") is None


def test_an_id_used_again_is_the_newest_listen() -> None:
    assert listening(*"7777777777777").place_of("7") == "12"


def test_a_listen_of_a_replay_may_take_any_place_again_and_again() -> None:
    subscriptions = listening("7")
    subscriptions.opened("8", "0")
    subscriptions.opened("9", '"odd"')
    subscriptions.opened("9", "0")

    places = ("0", "1", '"odd"', None)
    assert [subscriptions.id_at(place) for place in places] == ["9", None, "9", None]
    assert subscriptions.place_of("9") == "0"
    assert subscriptions.place_of("8") is None


def test_a_message_without_params_is_of_no_listen() -> None:
    assert subscription_id(None) is None
