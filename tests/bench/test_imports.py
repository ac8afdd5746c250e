from bench.imports import beyond, least, parsed

_REPORT = """\
import time: self [us] | cumulative | imported package
import time:       120 |        120 |   _io
a word of the program's own
import time:        30 |        150 | io
import time:         7 |          7 |   sidecar.errors
"""


def test_the_report_of_importtime_is_read() -> None:
    assert parsed(_REPORT) == {"_io": 120, "io": 30, "sidecar.errors": 7}


def test_the_shortest_time_of_each_module_counts() -> None:
    assert least([{"io": 30, "re": 9}, {"io": 90, "re": 5, "json": 8}]) == {
        "io": 30,
        "re": 5,
        "json": 8,
    }


def test_what_bare_python_imports_does_not_count() -> None:
    assert beyond({"io": 30, "re": 9, "json": 5}, {"io": 40, "site": 7}) == {"re": 9, "json": 5}
