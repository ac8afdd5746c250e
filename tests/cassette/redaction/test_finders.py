import json

import pytest

from sidecar.cassette.redaction import finders
from sidecar.cassette.redaction.finders import COMMANDS, TABLES, house_finders, indexed_if_large
from sidecar.cassette.redaction.gates import Indexed
from sidecar.cassette.redaction.sought import Finder


def found(text: str) -> list[Finder]:
    return house_finders(text.encode(), text.encode(), named=True)


def test_a_text_without_secrets_has_no_finders() -> None:
    assert found('{"q":"the token of the house","key":"a | b"}') == []


@pytest.mark.parametrize(
    ("text", "finder"),
    [
        pytest.param("mysql -uroot -phunter2", COMMANDS, id="a command"),
        pytest.param("user,password\nbob,hunter2\n", TABLES, id="a table"),
        pytest.param('{"kind":"Secret","data":{}}', finders._KUBERNETES, id="Kubernetes"),
        pytest.param(
            json.dumps(json.dumps({"a": "gh" + "p_" + "aB1cD2eF3" * 4})).replace(
                "gh", "\\\\u0067h"
            ),
            finders._ESCAPED,
            id="escapes",
        ),
    ],
)
def test_each_finder_is_for_texts_that_have_its_secrets(text: str, finder: Finder) -> None:
    assert any(one is finder for one in found(text))
    assert any(gate in text for gate in finder.gates)


def test_the_gates_of_a_finder_are_in_its_text() -> None:
    text = "password is s3cretOne7x and gh" + "p_" + "aB1cD2eF3" * 4

    assert len(found(text)) == 2
    assert all(any(gate in text for gate in finder.gates) for finder in found(text))


def test_a_large_text_is_looked_through_once_for_all_gates() -> None:
    large = b"password is s3cretOne7x. " + b"a " * finders._MIN_INDEXED_BYTES

    assert isinstance(indexed_if_large(large), Indexed)
    assert indexed_if_large(large) == large
    assert not isinstance(indexed_if_large(b"a"), Indexed)
    assert len(house_finders(indexed_if_large(large), large, named=True)) == 1
