"""Runs the sections, and shows what they found."""

import argparse
import json
import os
import platform
import sys
import time
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import Any

from rich.console import Console

from bench import (
    at_once,
    big,
    grading,
    growth,
    imports,
    memory,
    over_http,
    record,
    replay,
    size,
    startup,
    table,
)
from bench.client import ContestantError
from bench.contestants import ROOT
from bench.frame import FULL, QUICK, Bench, Section
from bench.measures import Line
from bench.workload import WrongAnswerError

SECTIONS: Mapping[str, Section] = {
    "record": record.measure,
    "replay": replay.measure,
    "startup": startup.measure,
    "big": big.measure,
    "at-once": at_once.measure,
    "memory": memory.measure,
    "growth": growth.measure,
    "size": size.measure,
    "imports": imports.measure,
    "grading": grading.measure,
    "http": over_http.measure,
}


def main(arguments: Sequence[str]) -> int:
    """Run the benchmark; 2 if something could not be measured, whatever the verdicts."""
    options = _parser().parse_args(arguments)
    console = Console()
    lines: list[Line] = []
    begun = time.perf_counter()
    try:
        # The work is done beside the document: on the disk of a project, not in /tmp.
        with Bench(QUICK if options.quick else FULL, options.json.resolve().parent) as bench:
            for name in options.section or SECTIONS:
                # No spinner: its thread would take part in what is measured.
                print(f"measuring {name}", flush=True)
                lines += SECTIONS[name](bench)
    except (ContestantError, WrongAnswerError) as error:
        print(f"bench: {error}", file=sys.stderr)
        return 2
    took = time.perf_counter() - begun
    print()
    table.show(lines, console)
    facts = _facts() | {"quick": options.quick, "seconds": round(took, 1)}
    text = json.dumps(table.document(lines, facts), indent=2, ensure_ascii=False)
    options.json.write_text(text + "\n", encoding="utf-8")
    print(f"{took:.0f} s; all values are in {options.json}")
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bench/run.py", description="Measures mcp-sidecar against its peers, in one run."
    )
    parser.add_argument("--quick", action="store_true", help="fewer of everything, under 150 s")
    parser.add_argument(
        "--section", action="append", choices=list(SECTIONS), help="only this one; may be repeated"
    )
    parser.add_argument(
        "--json",
        type=Path,
        default=ROOT / ".bench" / "results.json",
        metavar="FILE",
        help="where the values go; default %(default)s",
    )
    return parser


def _facts() -> dict[str, Any]:
    return {
        "python": platform.python_version(),
        "system": platform.platform(),
        "processors": os.cpu_count(),
        "loadAverage": os.getloadavg()[0],
        "mcpRec": version("mcp-rec"),
        "mcpSidecar": version("mcp-sidecar"),
    }
