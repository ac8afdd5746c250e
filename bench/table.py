"""Verdicts, the table on the terminal, and the JSON document. Pure, but for `show`."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from rich.console import Console
from rich.table import Table

from bench.contestants import MCP_REC, OURS, RECORDING, RELAY
from bench.measures import Line

_DIGITS = 3
_FOOT = """\
Less is better everywhere; every answer was checked. The proxies' CPU and memory are
without the server's. ours / best: our value over the least of the other proxies'.
ok: we are at or below mcp-rec, or flat where a value has only to stay flat, or within the
limit of what has no peer.
"""
_ELSEWHERE_FOOT = """\
elsewhere: measured in another run, before a server on the SDK too, but with a raw client,
for which a direct call took 2.9 to 5.4 ms, and 50 at once 200 to 287 ms: {names}.
"""


class Verdict(NamedTuple):
    """What a line says of us.

    Attributes:
        ratio: Our value over the best peer's; None where there is none to compare with, or
            nothing to divide by.
        best: The peer with the least value.
        at_or_below: Whether we are at or below mcp-rec, or flat, or within the limit; None if
            not judged.
    """

    ratio: float | None
    best: str | None
    at_or_below: bool | None


def verdict(line: Line) -> Verdict:
    """Judge one line."""
    ours = line.values.get(OURS)
    if ours is not None and line.limit is not None:
        return Verdict(None, None, ours <= line.limit)
    peers = {who: line.values[who] for who in (RELAY, MCP_REC) if who in line.values}
    if ours is None or not peers:
        return Verdict(None, None, None)
    best = min(peers, key=peers.__getitem__)
    ratio = ours / peers[best] if peers[best] > 0 else None
    if not line.judged or MCP_REC not in peers:
        return Verdict(ratio, best, None)
    is_flat = line.flat is not None and ours <= line.flat
    return Verdict(ratio, best, is_flat or ours <= peers[MCP_REC])


def document(lines: Sequence[Line], facts: Mapping[str, Any]) -> dict[str, Any]:
    """Put all into one JSON document.

    Args:
        lines: In the order of the table.
        facts: About the machine and the run.
    """
    return {**facts, "lines": [_entry(line) for line in lines]}


def cells(line: Line) -> list[str]:
    """Write a line's cells: name, unit, each contestant, ours / best, verdict, elsewhere."""
    judged = verdict(line)
    values = [_number(line.values[who]) if who in line.values else "" for who in RECORDING]
    ratio = "" if judged.ratio is None else f"{judged.ratio:.2f}"
    word = {None: "", True: "yes", False: "NO"}[judged.at_or_below]
    elsewhere = ", ".join(_number(value) for value in (line.elsewhere or {}).values())
    return [line.name, line.unit, *values, ratio, word, elsewhere]


def show(lines: Sequence[Line], console: Console) -> None:
    """Print the table."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("")
    table.add_column("")
    names = list(dict.fromkeys(name for line in lines for name in line.elsewhere or ()))
    headings = (*RECORDING, "ours / best", "ok", *(["elsewhere"] if names else []))
    for heading in headings:
        table.add_column(heading, justify="right")
    section = ""
    for line in lines:
        if line.section != section:
            section = line.section
            table.add_row(f"[bold]{section}[/bold]")
        name, *rest = cells(line)[: len(headings) + 2]
        style = "red" if verdict(line).at_or_below is False else None
        table.add_row("  " + name, *rest, style=style)
    console.print(table)
    foot = _FOOT + (_ELSEWHERE_FOOT.format(names=", ".join(names)) if names else "")
    console.print("\n" + foot, highlight=False, soft_wrap=True)


def _entry(line: Line) -> dict[str, Any]:
    judged = verdict(line)
    entry: dict[str, Any] = {
        "section": line.section,
        "name": line.name,
        "unit": line.unit,
        "values": dict(line.values),
        "oursOverBest": judged.ratio,
        "best": judged.best,
        "atOrBelowMcpRec": judged.at_or_below,
    }
    if line.limit is not None:
        entry |= {"limit": line.limit, "withinLimit": entry.pop("atOrBelowMcpRec")}
    if line.flat is not None:
        entry["flatUpTo"] = line.flat
    if line.elsewhere is not None:
        entry["elsewhere"] = dict(line.elsewhere)
    if line.detail is not None:
        entry["detail"] = {who: list(words) for who, words in line.detail.items()}
    return entry


def _number(value: float) -> str:
    """Write three digits that count, or all that stand before the point."""
    before = len(str(int(abs(value))))
    return f"{value:.{max(0, _DIGITS - before)}f}"
