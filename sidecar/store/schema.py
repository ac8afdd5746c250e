"""The journal's tables, made and brought up to date with sqlite-utils.

Not on the hot path: `sidecar.store.connection` imports it only for a journal that is new
or older. A change of the tables is one more migration and one more in `SCHEMA_VERSION`;
an old migration is never edited.
"""

from __future__ import annotations

import sqlite3

from sqlite_utils import Database, Migrations

from sidecar.store.connection import APPLICATION_ID, SCHEMA_VERSION
from sidecar.store.event_log import EVENTS_VIEW

migrations = Migrations("mcp-sidecar")


def migrate(connection: sqlite3.Connection) -> None:
    """Bring an open journal to `SCHEMA_VERSION`; what is in it stays.

    Raises:
        sqlite3.Error: If it cannot be written. Each migration is written whole or not at
            all.
    """
    connection.execute("PRAGMA journal_mode=WAL")
    # First, since whoever is killed between two of these steps must know the file for ours.
    connection.execute(f"PRAGMA application_id={APPLICATION_ID}")
    migrations.apply(Database(connection))
    connection.execute(f"PRAGMA user_version={SCHEMA_VERSION}")


@migrations()
def first_tables(database: Database) -> None:
    """Runs, the sessions of their proxies, what these saw, events, summaries."""
    _make_runs(database)
    _make_interactions(database)
    _make_events(database)


def _make_runs(database: Database) -> None:
    database.create_table(
        "runs",
        {
            "run_id": str,
            "mode": str,
            "state": str,
            "agent_id": str,
            "cassette": str,
            "command": str,
            "input": str,
            "output": str,
            "exit_code": int,
            "suite_id": str,
            "task_id": str,
            "trial_index": int,
            "eval_run_id": str,
            "kept_interactions": int,
            "kept_complete": int,
            "pid": int,
            "pid_start": str,
            "started_at": str,
            "ended_at": str,
        },
        pk="run_id",
        not_null=["mode", "state", "started_at"],
    )
    database.table("runs").create_index(["eval_run_id"])
    database.create_table(
        "sessions",
        {
            "id": int,
            "run_id": str,
            "server": str,
            "mode": str,
            "agent_id": str,
            "config_entry": str,
            "state": str,
            "exit_code": int,
            "pid": int,
            "pid_start": str,
            "started_at": str,
            "ended_at": str,
        },
        pk="id",
        not_null=["run_id", "server", "mode", "state", "started_at"],
    )
    database.table("sessions").create_index(["run_id"])
    database.create_table(
        "summaries",
        {"run_id": str, "suite_id": str, "suite_version": str, "summary": str, "saved_at": str},
        pk="run_id",
        not_null=["suite_id", "summary", "saved_at"],
    )


def _make_interactions(database: Database) -> None:
    database.create_table(
        "interactions",
        {
            "id": int,
            "run_id": str,
            "session_id": int,
            "server": str,
            "method": str,
            "tool": str,
            "state": str,
            "is_error": int,
            "error_code": str,
            "missed": str,
            "entry": int,
            "call_id": int,
            "more_rounds": int,
            "replayed": int,
            "cancelled": int,
            "started_at": str,
            "arrived_ns": int,
            "finished_ns": int,
            "params": str,
            "result": str,
            "error": str,
            "http_status": int,
        },
        pk="id",
        not_null=["run_id", "session_id", "server", "method", "state", "arrived_ns"],
    )
    database.table("interactions").create_index(["run_id"])
    # Beside the interaction, since hundreds may follow one answer of megabytes.
    database.execute("""
        CREATE TABLE passages (
            interaction_id INTEGER NOT NULL,
            phase TEXT NOT NULL,
            position INTEGER NOT NULL,
            kind TEXT NOT NULL,
            method TEXT NOT NULL,
            params TEXT,
            result TEXT,
            error TEXT,
            PRIMARY KEY (interaction_id, phase, position)
        ) WITHOUT ROWID
    """)


def _make_events(database: Database) -> None:
    # What is no call: brackets, usage, scores. Calls are in `interactions`.
    database.create_table(
        "lifecycle",
        {
            "id": int,
            "run_id": str,
            "at_ns": int,
            "event_id": str,
            "type": str,
            "timestamp": str,
            "causation_id": str,
            "payload": str,
        },
        pk="id",
        not_null=["run_id", "at_ns", "event_id", "type", "timestamp", "payload"],
    )
    database.table("lifecycle").create_index(["run_id"])
    database.create_view("events", EVENTS_VIEW)
