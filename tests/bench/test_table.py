import io

import pytest
from rich.console import Console

from bench import table
from bench.measures import Line
from bench.table import Verdict


def _line(judged: bool = True, flat: float | None = None, **values: float) -> Line:  # noqa: FBT001, FBT002
    named = {name.replace("_", "-"): value for name, value in values.items()}
    return Line("Section", "a measure", "ms", named, judged=judged, flat=flat)


@pytest.mark.parametrize(
    ("line", "verdict"),
    [
        pytest.param(
            _line(direct=1, relay=8, mcp_rec=4, ours=3),
            Verdict(0.75, "mcp-rec", at_or_below=True),
            id="below, whatever the server alone takes",
        ),
        pytest.param(
            _line(relay=2, mcp_rec=4, ours=3),
            Verdict(1.5, "relay", at_or_below=True),
            id="the best is another than mcp-rec",
        ),
        pytest.param(
            _line(mcp_rec=4, ours=4), Verdict(1.0, "mcp-rec", at_or_below=True), id="equal"
        ),
        pytest.param(
            _line(mcp_rec=4, ours=5), Verdict(1.25, "mcp-rec", at_or_below=False), id="above"
        ),
        pytest.param(
            _line(mcp_rec=1.0, ours=1.05, flat=1.1),
            Verdict(1.05, "mcp-rec", at_or_below=True),
            id="above, but flat",
        ),
        pytest.param(
            _line(mcp_rec=1.0, ours=1.2, flat=1.1),
            Verdict(1.2, "mcp-rec", at_or_below=False),
            id="above, and not flat",
        ),
        pytest.param(
            _line(mcp_rec=-1.0, ours=2.0),
            Verdict(None, "mcp-rec", at_or_below=False),
            id="a difference that is none leaves nothing to divide by",
        ),
        pytest.param(
            _line(judged=False, mcp_rec=4, ours=5),
            Verdict(1.25, "mcp-rec", at_or_below=None),
            id="for context only",
        ),
        pytest.param(
            _line(ours=5)._replace(limit=5), Verdict(None, None, at_or_below=True), id="at a limit"
        ),
        pytest.param(
            _line(ours=5)._replace(limit=4.9),
            Verdict(None, None, at_or_below=False),
            id="over a limit",
        ),
        pytest.param(
            _line(relay=4, ours=5), Verdict(1.25, "relay", at_or_below=None), id="without mcp-rec"
        ),
        pytest.param(_line(ours=5), Verdict(None, None, None), id="alone"),
        pytest.param(_line(direct=1, relay=5), Verdict(None, None, None), id="without us"),
    ],
)
def test_a_line_is_judged_by_the_best_peer_and_by_mcp_rec(line: Line, verdict: Verdict) -> None:
    assert table.verdict(line) == verdict


@pytest.mark.parametrize(
    ("value", "text"),
    [(0.1234, "0.12"), (1.234, "1.23"), (12.34, "12.3"), (123.4, "123"), (-12.34, "-12.3")],
)
def test_three_digits_are_shown(value: float, text: str) -> None:
    assert table.cells(_line(ours=value)) == ["a measure", "ms", "", "", "", text, "", "", ""]


def test_a_row_has_all_contestants_the_ratio_and_the_verdict() -> None:
    line = _line(direct=1, relay=8, mcp_rec=4, ours=5)

    assert table.cells(line) == [
        *("a measure", "ms", "1.00", "8.00", "4.00", "5.00"),
        *("1.25", "NO", ""),
    ]


def test_what_peers_took_elsewhere_is_shown_and_is_not_judged() -> None:
    out = io.StringIO()
    line = _line(direct=1, ours=9)._replace(elsewhere={"peer": 2.5, "other": 3.0})

    table.show([line], Console(file=out, width=120))

    assert table.verdict(line) == Verdict(None, None, None)
    assert table.cells(line)[-1] == "2.50, 3.00"
    assert "peer, other" in out.getvalue()


def test_there_is_nothing_elsewhere_where_no_line_says_so() -> None:
    out = io.StringIO()

    table.show([_line(ours=1)], Console(file=out, width=120))

    assert "elsewhere" not in out.getvalue()


def test_each_section_has_one_heading() -> None:
    out = io.StringIO()
    lines = [_line(ours=1), _line(ours=2), _line(ours=3)._replace(section="Other")]

    table.show(lines, Console(file=out, width=120))

    shown = [line.strip() for line in out.getvalue().splitlines()]
    assert [line for line in shown if line in ("Section", "Other")] == ["Section", "Other"]
    assert sum(line.startswith("a measure") for line in shown) == 3


def test_the_document_has_the_values_the_verdicts_and_the_facts() -> None:
    line = _line(mcp_rec=4, ours=5, flat=1.1)._replace(
        elsewhere={"peer": 3}, detail={"ours": ("json", "re")}
    )

    assert table.document([line], {"python": "3.11"}) == {
        "python": "3.11",
        "lines": [
            {
                "section": "Section",
                "name": "a measure",
                "unit": "ms",
                "values": {"mcp-rec": 4, "ours": 5},
                "oursOverBest": 1.25,
                "best": "mcp-rec",
                "atOrBelowMcpRec": False,
                "flatUpTo": 1.1,
                "elsewhere": {"peer": 3},
                "detail": {"ours": ["json", "re"]},
            }
        ],
    }


def test_the_document_says_whether_a_limit_is_kept() -> None:
    (entry,) = table.document([_line(ours=5)._replace(limit=6)], {})["lines"]

    assert (entry["limit"], entry["withinLimit"]) == (6, True)
    assert "atOrBelowMcpRec" not in entry
