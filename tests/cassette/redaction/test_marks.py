import base64

import pytest

from sidecar.cassette.redaction import marks
from sidecar.cassette.redaction.gates import Context
from sidecar.cassette.redaction.marks import KINDS

HEX32 = "0123456789abcdef" * 2
MIXED = "aB3xK9mQ2z" * 7


def found(text: str) -> list[str]:
    data = text.encode()
    contexts = KINDS.found_in(data)
    assert [c for c in contexts if not any(gate in data for gate in c.gates)] == []
    return [data[span.start : span.end].decode() for c in contexts for span in c.find(data)]


SIGNATURE = base64.b64encode(bytes(range(100, 164))).decode()


@pytest.mark.parametrize(
    ("text", "secret"),
    [
        (f"a {MIXED[:14]}.atlasv1.{MIXED} b", f"{MIXED[:14]}.atlasv1.{MIXED}"),
        (f"key {HEX32}-us12.", f"{HEX32}-us12"),
        (f"2/1234567890123456/1234567890123456:{HEX32}",) * 2,
        (f"refresh 1//0{MIXED}", f"1//0{MIXED}"),
        (f"ann:$apr1$abcdefgh${MIXED[:22]}", f"$apr1$abcdefgh${MIXED[:22]}"),
        (f"{MIXED[:6]}_{MIXED[:29]}_m" + "mk",) * 2,
        ("oc login sha" + f"256~{MIXED[:43]}.", "sha" + f"256~{MIXED[:43]}"),
        ("h.test:5432:db:ann:s3cret\n", "s3cret"),
        ("*:*:*:ann:s3cret", "s3cret"),
        (f"Private-Lines: 1\n{MIXED[:64]}\nPrivate-MAC: 12", MIXED[:64]),
        (f"SAMLResponse={MIXED}&a=b", MIXED),
        (f'{{"kty":"EC","x":"a","d":"{MIXED}"}}', MIXED),
    ],
)
def test_secrets_are_found_by_a_mark_of_theirs(text: str, secret: str) -> None:
    assert found(text) == [secret]


@pytest.mark.parametrize(
    "text",
    [f"sha512-{SIGNATURE}", f"signature {SIGNATURE} b", f"{HEX32}-user",
     "costs $6$ and $5$", "1//0 and 2/1", "12:5432:a",
     f"sha256~{MIXED}", f"x{MIXED[:6]}_{MIXED[:29]}_mmk", "the _mmk of it", "about sha256~40",
     f'{{"kty":"RSA","n":"{MIXED}"}}', ".atlasv1.", "SAMLResponse=", "a == b", "*:*:*", ""],
)  # fmt: skip
def test_what_only_has_the_mark_is_none(text: str) -> None:
    assert found(text) == []


def test_every_mark_is_looked_for() -> None:
    contexts = {id(one) for one in vars(marks).values() if isinstance(one, Context)}

    looked = {id(one) for one in KINDS.kinds}

    assert contexts == looked
