from sidecar.cassette.interaction import Interaction, Passage, Response
from sidecar.cassette.texts import texts_of, with_texts

WHOLE = Interaction(
    "git",
    "tools/call",
    '{"name":"a"}',
    Response("result", '"b"'),
    during=(Passage("n", '"c"'), Passage("r", None, asked=True, reply=Response("result", '"d"'))),
    after=(Passage("n", '"e"'),),
)


def test_all_texts_are_seen_and_changed_in_the_order_of_the_file() -> None:
    found: list[str] = []

    def change(text: str) -> str:
        found.append(text)
        return text.upper()

    changed = with_texts(WHOLE, change)

    assert found == [text for text in texts_of(WHOLE) if text]
    assert found == ['{"name":"a"}', '"b"', '"c"', '"d"', '"e"']
    assert [text for text in texts_of(changed) if text] == [text.upper() for text in found]
    assert (changed.server, changed.method) == ("git", "tools/call")


def test_what_is_absent_stays_absent() -> None:
    empty = Interaction("git", "ping", None, None)

    assert with_texts(empty, str.upper) == empty
    assert [text for text in texts_of(empty) if text] == []
