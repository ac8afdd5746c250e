import json

import pytest

from sidecar.cassette.redaction.kubernetes import MANIFEST, is_secret_object, may_be_in
from sidecar.cassette.redaction.redactor import Redactor

YAML = "apiVersion: v1\nkind: Secret\nmetadata:\n  name: db\ndata:\n  main: czNjcmV0\n"


def found(text: str) -> list[str]:
    data = text.encode()
    spans = list(MANIFEST.find(data))
    assert not spans or any(gate in data for gate in MANIFEST.gates)
    return [data[span.start : span.end].decode() for span in spans]


@pytest.mark.parametrize(
    ("text", "secrets"),
    [
        pytest.param(YAML, ["czNjcmV0"], id="behind its kind"),
        pytest.param(
            "data:\n  a: b64\nkind: Secret\n", ["b64"], id="before it, with no line before"
        ),
        pytest.param("v: 1\ndata:\n  a: b64\nkind: Secret\n", ["b64"], id="before its kind"),
        pytest.param(YAML.replace("czNjcmV0", '"s3cret"'), ["s3cret"], id="quoted"),
        pytest.param(YAML.replace("  main", "  'ma in'"), ["czNjcmV0"], id="a quoted name"),
        pytest.param(json.dumps(YAML), ["czNjcmV0"], id="in JSON"),
        pytest.param(
            "kind: Secret\nstringData:\n  a: x1\n  b: y2\ntype: z", ["x1", "y2"], id="two"
        ),
        pytest.param(
            "kind: Secret\nstringData:\n  a.conf: |\n    user=1\n    pw two\n  b: c3",
            ["user=1", "pw two", "c3"],
            id="a block of text",
        ),
        pytest.param(
            "items:\n- apiVersion: v1\n  data:\n    a: x1\n  kind: Secret\n"
            "- apiVersion: v1\n  data:\n    a: y2\n  kind: ConfigMap\n",
            ["x1"],
            id="of a list",
        ),
        pytest.param(f"kind: ConfigMap\ndata:\n  a: x1\n---\n{YAML}", ["czNjcmV0"], id="of a file"),
        pytest.param(f"{YAML}---\nkind: ConfigMap\ndata:\n  a: x1\n", ["czNjcmV0"], id="the first"),
        pytest.param(
            "kind: Secret\nstringData:\n  a: x1\n\n  b: y2\n# of c\n  c: z3\ntype: z\n",
            ["x1", "y2", "z3"],
            id="a blank line and a comment in a block",
        ),
        pytest.param(
            json.dumps(YAML.replace("\n", "\r\n")), ["czNjcmV0"], id="in JSON, with other line ends"
        ),
        pytest.param(
            json.dumps({"a": YAML.rstrip(), "b": "x\n    y"}), ["czNjcmV0"], id="a member of JSON"
        ),
        pytest.param(YAML.replace("czNjcmV0", '"a b" # c'), ["a b"], id="quoted, of two words"),
        pytest.param(YAML.replace("czNjcmV0", "pa'ss w # c"), ["pa'ss w"], id="with a quote in it"),
        pytest.param(YAML.replace("czNjcmV0", "a\\nb"), ["a\\nb"], id="with a backslash in it"),
        pytest.param(YAML.replace("czNjcmV0", '"|a"'), ["|a"], id="quoted, with a block's sign"),
        pytest.param(
            "metadata:\n  ownerReferences:\n  - apiVersion: v1\n    kind: A\n"
            "data:\n  a: x1\nkind: Secret\n",
            ["x1"],
            id="with a list before its data",
        ),
        pytest.param(
            "kind: Secret\nmetadata:\n  ownerReferences:\n  - apiVersion: v1\n    kind: A\n"
            "data:\n  a: x1\n",
            ["x1"],
            id="with a list before its data, behind its kind",
        ),
        pytest.param(
            "items:\n- data:\n    a: x1\n  kind: ConfigMap\n- kind: Secret\n  data:\n    b: y2\n"
            "- data:\n    c: z3\n  kind: Secret\n",
            ["y2", "z3"],
            id="of a list, by its first member",
        ),
        pytest.param(
            "v: 1\nkind: Secret\nmetadata:\n  labels:\n    data:\n      a: x1\ndata:\n  b: y2\n",
            ["y2"],
            id="of its own data",
        ),
    ],
)
def test_each_value_of_a_secret_is_found(text: str, secrets: list[str]) -> None:
    assert found(text) == secrets


@pytest.mark.parametrize(
    "text",
    [
        "kind: ConfigMap\ndata:\n  a: x1\n",
        "kind: SecretStore\ndata:\n  a: x1\n",
        "kind: SealedSecret\ndata:\n  a: x1\n",
        "kind: Secret\ndata:\n  a: ${A}\n  b: [REDACTED:1]\n  c:\n\n",
        "kind: Secret\nmetadata:\n  name: db\n",
        'kind: Secret\ndata:\n  a: ""\n  b: # none\n  c: |-\n',
        "",
    ],
)
def test_nothing_else_has_one(text: str) -> None:
    assert found(text) == []


def test_an_object_is_told_by_its_kind_and_its_members() -> None:
    assert is_secret_object({"kind": "Secret", "data": {}})
    assert is_secret_object({"kind": "Secret", "stringData": {}})
    assert not is_secret_object({"kind": "Secret", "metadata": {}})
    assert not is_secret_object({"kind": "ConfigMap", "data": {}})


def test_a_text_with_such_an_object_is_told() -> None:
    assert may_be_in(b'{"kind": "Secret", "data": {}}')
    assert may_be_in(b'{"text":"{\\"kind\\":\\"Secret\\"}"}')
    assert not may_be_in(b'{"kind": "SecretStore"}')
    assert not may_be_in(b'{"kind": "ConfigMap"}')


def test_a_manifest_within_json_is_masked() -> None:
    masked = Redactor(b"").json_text(json.dumps({"text": YAML}))

    assert "czNjcmV0" not in masked
    assert masked.startswith('{"text":"apiVersion: v1\\nkind: Secret')
