"""How a run's events are read: derived from what is kept, in the order of what happened.

A call's two events say nothing that its interaction does not, so they are not kept a second
time: SQL makes them. Order is that of arrivals and answers on the machine's monotonic clock,
which all processes of a run share; the sequence is the place in that order, so it has no
gaps whatever was killed. An eval's log is its own events and those of its trials' runs.
"""

from __future__ import annotations

from sidecar.cassette.outcome import ANSWERED_LIVE, FIXTURE_MISS, MCP_ERROR, UNANSWERED

TOOL_CALLED = "agent.tool-called"
TOOL_RETURNED = "agent.tool-returned"

_ALL_LOGS = """
    SELECT run_id AS log_id, run_id FROM runs
    UNION ALL SELECT eval_run_id, run_id FROM runs WHERE eval_run_id IS NOT NULL
"""
_ONE_LOG = """
    SELECT :log AS log_id, :log AS run_id
    UNION SELECT :log, run_id FROM runs WHERE eval_run_id = :log
"""

_ULID = "substr({run}, instr({run}, '/') + 1)"
_CALL_PAYLOAD = """'{"agentId":' || json_quote(coalesce(s.agent_id, 'agent'))
    || ',"toolName":' || json_quote(i.server || ':' || i.tool)
    || ',"callId":"call-' || coalesce(i.call_id, i.id) || '"'"""


def _event_id(kind: str) -> str:
    ulid = _ULID.format(run="i.run_id")
    return f"{ulid} || '.' || printf('%06d', coalesce(i.call_id, i.id)) || '{kind}'"


def _select(logs: str) -> str:
    """Write the query of all events, without contents, of the given logs."""
    return f"""
    SELECT log_id AS run_id,
        row_number() OVER (PARTITION BY log_id ORDER BY at_ns, part, row) - 1 AS sequence,
        event_id, type, timestamp, causation_id, payload, interaction_id
    FROM (
        SELECT l.log_id, i.arrived_ns AS at_ns, 0 AS part, i.id AS row,
            {_event_id("c")} AS event_id, '{TOOL_CALLED}' AS type, i.started_at AS timestamp,
            NULL AS causation_id, {_CALL_PAYLOAD} || ',"transport":"mcp"}}' AS payload,
            i.id AS interaction_id
        FROM ({logs}) AS l
            JOIN interactions AS i ON i.run_id = l.run_id
            JOIN sessions AS s ON s.id = i.session_id
        WHERE i.method = 'tools/call' AND i.call_id IS NULL
        UNION ALL
        SELECT l.log_id, i.finished_ns, 1, i.id, {_event_id("r")}, '{TOOL_RETURNED}',
            strftime('%Y-%m-%dT%H:%M:%fZ', i.started_at,
                printf('%.3f seconds', (i.finished_ns - i.arrived_ns) / 1e9)),
            {_event_id("c")},
            {_CALL_PAYLOAD}
            || ',"durationMs":' || ((i.finished_ns - f.arrived_ns + 500000) / 1000000)
            || CASE WHEN i.error_code IS NULL THEN '' ELSE
                ',"error":{{"code":' || json_quote(i.error_code) || ',"message":"'
                || CASE i.error_code
                    WHEN '{MCP_ERROR}' THEN 'the tool answered with an error'
                    WHEN '{FIXTURE_MISS}' THEN 'no recorded call answers this one'
                    WHEN '{UNANSWERED}' THEN 'no answer came'
                    ELSE 'the call failed' END || '"}}' END
            || CASE WHEN i.missed IS NOT NULL AND i.error_code IS NOT '{FIXTURE_MISS}'
                THEN ',"{ANSWERED_LIVE}":true' ELSE '' END
            || '}}', i.id
        FROM ({logs}) AS l
            JOIN interactions AS i ON i.run_id = l.run_id
            JOIN interactions AS f ON f.id = coalesce(i.call_id, i.id)
            JOIN sessions AS s ON s.id = i.session_id
        WHERE i.method = 'tools/call' AND i.finished_ns IS NOT NULL AND i.more_rounds = 0
        UNION ALL
        SELECT l.log_id, e.at_ns, 2, e.id, e.event_id, e.type, e.timestamp, e.causation_id,
            e.payload, NULL
        FROM ({logs}) AS l JOIN lifecycle AS e ON e.run_id = l.run_id
    )"""


EVENTS_OF_LOG = f"{_select(_ONE_LOG)} ORDER BY sequence"
"""Rows of one log (`:log`), in order. Contents are left out, since the rows are sorted."""

CONTENT_OF = {
    TOOL_CALLED: "SELECT params FROM interactions WHERE id = ?",
    TOOL_RETURNED: "SELECT result FROM interactions WHERE id = ? AND error_code IS NULL",
}
"""What an event's `inputs` are in, and its `outcome` is: no row, or NULL, if it has none."""

# No `->`: SQLite before 3.38 cannot read it.
EVENTS_VIEW = f"""
    SELECT e.run_id, e.sequence, e.event_id, e.type, e.timestamp, e.causation_id,
        CASE
            WHEN e.type = '{TOOL_CALLED}' AND json_valid(i.params)
                AND json_type(i.params, '$.arguments') IS NOT NULL THEN
                json_set(e.payload, '$.inputs', json_extract(i.params, '$.arguments'))
            WHEN e.type = '{TOOL_CALLED}' THEN json_set(e.payload, '$.inputs', json('{{}}'))
            WHEN e.type = '{TOOL_RETURNED}' AND json_valid(i.result)
                AND i.error_code IS NULL THEN
                json_set(e.payload, '$.outcome', json(i.result))
            ELSE e.payload
        END AS payload,
        e.interaction_id
    FROM ({_select(_ALL_LOGS)}) AS e LEFT JOIN interactions AS i ON i.id = e.interaction_id
"""
"""The view `events`, for people and their SQL."""
