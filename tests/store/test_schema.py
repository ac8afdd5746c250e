import json
import sqlite3
import subprocess
from pathlib import Path

import pytest
from sqlite_utils import Database

from sidecar.store import schema
from sidecar.store.connection import SCHEMA_VERSION
from sidecar.store.journal import Journal
from tests import paths
from tests.store.processes import WAIT_SECONDS
from tests.store.samples import answered, call, failed, record, started

TABLES = {"runs", "sessions", "interactions", "passages", "lifecycle", "summaries"}


def test_sqlite_utils_reads_the_journal_while_it_is_written(journal: Journal) -> None:
    record(started(journal), answered(call()))

    done = subprocess.run(
        [
            paths.PYTHON, "-m", "sqlite_utils", "rows", journal.path, "interactions",
            "-c", "server", "-c", "tool", "-c", "state",
        ],
        capture_output=True,
        timeout=WAIT_SECONDS,
        check=True,
    )  # fmt: skip

    assert json.loads(done.stdout) == [{"server": "git", "tool": "git_log", "state": "answered"}]


def test_the_tables_are_the_promised_ones_each_with_a_key(journal: Journal) -> None:
    database = Database(journal.path)

    tables = {table.name: table.pks for table in database.tables}
    views = database.view_names()
    database.close()

    assert views == ["events"]
    assert tables.keys() == TABLES | {"_sqlite_migrations"}
    assert [name for name, keys in tables.items() if keys == ["rowid"]] == []


def test_any_sqlite_program_sees_the_events_whole(journal: Journal) -> None:
    session = started(journal)
    record(session, answered(call(arguments='{"big":123456789012345678901,"e":1e2}')))
    record(session, failed(call()))
    record(session, answered(call("other")._replace(params='{"name":"other"}'), '"text"'))
    plain = sqlite3.connect(journal.path)

    payloads = [text for (text,) in plain.execute("SELECT payload FROM events")]
    plain.close()

    found = [json.loads(text) for text in payloads]
    assert '"inputs":{"big":123456789012345678901,"e":1e2}' in payloads[0]
    assert [payload.get("inputs") for payload in found[2:]] == [{"n": 1}, None, {}, None]
    assert [payload.get("outcome") for payload in found] == [
        None, {"content": []}, None, None, None, "text",
    ]  # fmt: skip
    assert found[3]["error"]["code"] == "mcp_error"


def test_a_migration_that_ran_does_not_run_again(tmp_path: Path) -> None:
    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    schema.migrate(connection)
    schema.migrate(connection)

    rows = connection.execute("SELECT migration_set, name FROM _sqlite_migrations").fetchall()
    assert rows == [("mcp-sidecar", "first_tables")]
    assert connection.execute("PRAGMA user_version").fetchall() == [(SCHEMA_VERSION,)]
    assert connection.execute("PRAGMA journal_mode").fetchall() == [("wal",)]
    connection.close()


def test_a_migration_that_fails_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(_: Database) -> None:
        raise sqlite3.OperationalError("as if the disk were full")

    connection = sqlite3.connect(tmp_path / "x.db", isolation_level=None)
    with monkeypatch.context() as patch:
        patch.setattr(schema, "_make_events", broken)
        with pytest.raises(sqlite3.OperationalError):
            schema.migrate(connection)

    tables = "SELECT name FROM sqlite_master WHERE name = 'runs'"
    assert connection.execute(tables).fetchall() == []
    assert connection.execute("PRAGMA user_version").fetchall() == [(0,)]
    schema.migrate(connection)
    assert connection.execute(tables).fetchall() == [("runs",)]
    connection.close()
