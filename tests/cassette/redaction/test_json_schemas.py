import pytest

from sidecar.cassette.redaction.json_schemas import is_map_of_schemas, is_schema
from sidecar.wire.json_text import JsonValue


@pytest.mark.parametrize(
    ("value", "answer"),
    [
        pytest.param({"type": "string"}, True, id="a type"),
        pytest.param({"type": ["string", "null"], "description": "x"}, True, id="several types"),
        pytest.param({"anyOf": [{"type": "string"}]}, True, id="a combination"),
        pytest.param({"$ref": "#/$defs/a"}, True, id="a reference"),
        pytest.param({"title": "T", "description": "x"}, True, id="annotations only"),
        pytest.param({}, True, id="anything"),
        pytest.param(True, True, id="true"),
        pytest.param({"type": "bearer", "id": 1}, False, id="a type of something else"),
        pytest.param({"type": 3}, False, id="a type that is a number"),
        pytest.param({"type": "string", "value": "x"}, False, id="a value of its own"),
        pytest.param({"user": "x", "description": "y"}, False, id="other members"),
        pytest.param("string", False, id="a string"),
        pytest.param(None, False, id="null"),
    ],
)
def test_schemas_are_told_from_other_values(value: JsonValue, *, answer: bool) -> None:
    assert is_schema(value) == answer


def test_properties_are_schemas_if_each_is_one() -> None:
    assert is_map_of_schemas({"password": {"type": "string"}, "token": True})
    assert not is_map_of_schemas({"password": {"type": "string"}, "token": "abc"})
    assert not is_map_of_schemas([])
