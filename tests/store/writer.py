"""A process that records calls and says so: run with a journal, a run id and a number.

After each answer that is in the journal it writes the call's row to standard output.
`forever` as the number: until it is killed.
"""

from __future__ import annotations

import itertools
import os
import sys

from sidecar.store.journal import Journal
from tests.store.samples import answered, call, finished, opened


def main(path: str, run: str, count: str) -> None:
    os.write(1, b"up\n")
    journal = Journal.open(path)
    journal.start_run(run, mode="record")
    session = journal.start_session(run, server=f"server{os.getpid()}", mode="record")
    for number in itertools.count() if count == "forever" else range(int(count)):
        asked = call(arguments=f'{{"n":{number}}}')
        row = opened(session, asked)
        finished(session, row, answered(asked, f'{{"content":[],"n":{number}}}'))
        os.write(1, b"%d\n" % row)
    session.close(exit_code=0)
    journal.close()


if __name__ == "__main__":
    main(*sys.argv[1:])
