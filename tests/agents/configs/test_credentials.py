"""Secrets in URLs, and members that may say how to authenticate."""

import json

import pytest

from sidecar.agents.configs.credentials import secret_in_url, secret_inputs, telling_member
from sidecar.agents.configs.document import read
from sidecar.agents.configs.jsonc import Jsonc
from tests.agents.configs.samples import wrapped


@pytest.mark.parametrize(("is_password", "is_kept"), [(True, True), (False, False)])
def test_an_input_that_is_a_password_goes_to_no_list_of_processes(
    *, is_password: bool, is_kept: bool
) -> None:
    config = {
        "inputs": [{"id": "org", "type": "promptString", "password": is_password}],
        "servers": {"a": {"type": "http", "url": "https://a.example/${input:org}/mcp"}},
    }
    settings = {"mcp": config}

    for given in (config, settings):
        found = read("/p/a.json", json.dumps(given).encode(), client="vscode")
        (outcome,) = wrapped(found).outcomes
        assert ("holds the variable `org`, a secret" in outcome.reason) == is_kept


@pytest.mark.parametrize(
    ("url", "is_secret"),
    [
        ("https://u:pw@a.example", True),
        ("https://a.example/?X-Amz-Signature=1", True),
        ("https://a.example/?x=${input:org}", True),
        ("https://a.example/?x=${input:other}", False),
        ("https://a.example/${env:API_KEY}/x", True),
        ("https://a.example/$HOST/x", False),
        ("https://a.example/?monkey=a&keys_of=b", False),
        ("http://[", False),
    ],
)
def test_a_url_is_told_by_its_names_its_shapes_and_its_variables(
    url: str, *, is_secret: bool
) -> None:
    assert (secret_in_url(url, {"org"}) is not None) == is_secret


@pytest.mark.parametrize(
    ("entry", "name"),
    [
        ({"url": "u", "headers": {"A": "b"}}, None),
        ({"monkey": "a", "disabledTools": ["get_token"]}, None),
        ({"token": "", "auth": None, "cookies": [], "login": False}, None),
        ({"tls": {"clientCertificate": "c"}}, "tls.clientCertificate"),
        ({"x": "sk-proj-" + "a1B2" * 8}, "x"),
    ],
)
def test_a_member_tells_by_its_name_or_by_what_it_says(entry: object, name: str | None) -> None:
    node = Jsonc().parse(json.dumps(entry))

    assert telling_member(node, {"url", "headers"}) == name


def test_a_config_without_inputs_asks_for_none() -> None:
    assert secret_inputs(Jsonc().parse('{"inputs": [{"id": "a"}, 1], "mcp": 2}')) == frozenset()
