"""`mcp-sidecar capabilities`: what this grader implements, and nothing more."""

from __future__ import annotations

import sys

import click

from sidecar.suite.capabilities import own_document
from sidecar.suite.documents import dump_document


@click.command("capabilities")
def command() -> None:
    """Print the capability document: what of eval suites this grader implements.

    It is a v2 discovery document (OpenWOP): a member that is there is implemented; what is
    not there is refused by `run` and by `suite check`.
    """
    sys.stdout.write(dump_document(own_document()))
