import random

from hypothesis import given
from hypothesis import strategies as st

from sidecar.cassette.redaction import finders, gate_index
from sidecar.cassette.redaction.gate_index import indexed
from sidecar.cassette.redaction.gates import places

GATES = finders._gates()


def searched(text: bytes, gates: tuple[bytes, ...]) -> dict[bytes, list[int]]:
    return {gate: list(places(text, gate)) for gate in gates}


@given(st.lists(st.one_of(st.sampled_from(GATES), st.binary(max_size=5)), max_size=12))
def test_it_finds_what_a_search_for_each_gate_finds(pieces: list[bytes]) -> None:
    text = b"".join(pieces)

    found = indexed(text, GATES)

    assert found == text
    assert found.places == searched(text, GATES)


def test_a_gate_over_the_edge_of_two_pieces_is_found_once() -> None:
    gates = (b"**", b"Private-Lines:", b"pw")
    edge = gate_index._PIECE_BYTES
    for gate in gates:
        for before in range(len(gate) + 1):
            text = b"x" * (edge - before) + gate + b"*" * 5

            assert indexed(text, gates).places == searched(text, gates)


def test_few_places_of_other_text_are_looked_at() -> None:
    common = ("the ", "of ", "and ", "to ", "is ", "it ", "that ", "was ", "with ", "they ", "his ")
    text = "".join(random.Random("prose").choices(common, k=20_000))
    sieve = gate_index._sieve(GATES)

    assert sum(1 for _ in sieve._candidates(text.encode())) < 4000
