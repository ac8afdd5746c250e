"""`mcp-sidecar capabilities`: the document alone."""

import json

import jsonschema  # type: ignore[import-untyped]

from sidecar.suite.capabilities import IMPLEMENTED, own_document, parse_host
from sidecar.suite.model_base import wire_value
from tests.cli.conftest import Project
from tests.paths import ROOT


def test_r49_the_document_says_what_is_implemented_and_nothing_more(project: Project) -> None:
    told = project.tell("capabilities")

    assert (told.code, told.err) == (0, "")
    assert json.loads(told.out) == wire_value(own_document())
    assert parse_host(told.out) == IMPLEMENTED


def test_it_satisfies_its_schema(project: Project) -> None:
    path = ROOT / "docs" / "schemas" / "capabilities.schema.json"

    jsonschema.validate(
        json.loads(project.tell("capabilities").out), json.loads(path.read_text(encoding="utf-8"))
    )
