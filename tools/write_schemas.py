# ruff: noqa: INP001 - a script, in no package
"""Writes docs/schemas/: the JSON Schemas of suites, summaries, events and capabilities.

Run it after a change to the models; a test fails until it was run.
"""

from __future__ import annotations

import json
from pathlib import Path

from sidecar.suite.schemas import json_schemas

FOLDER = Path(__file__).resolve().parent.parent / "docs" / "schemas"


def main() -> None:
    """Write one file a document."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, schema in json_schemas().items():
        text = json.dumps(schema, indent=2, ensure_ascii=False) + "\n"
        (FOLDER / f"{name}.schema.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
