"""The read model: what the projections keep for SQL, and the views of the contract.

All of it can be dropped and computed again from the log. Rows that grow while a message is open are kept as pieces and
chunks, joined by the views: a growing value is never rewritten. SQLite 3.40 has no ordered aggregates; the window's
order is guaranteed, and a frame over the whole partition makes every row's value the whole text, so one row is taken.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None

TABLES = (
    """
    CREATE TABLE rm_runs (
        stream_id INTEGER NOT NULL,
        run_id TEXT NOT NULL,
        layer TEXT,
        parent_run_id TEXT,
        kind TEXT,
        name TEXT,
        tags TEXT,
        metadata TEXT,
        first_seq INTEGER,
        last_seq INTEGER,
        status TEXT,
        error TEXT,
        serves TEXT,
        PRIMARY KEY (stream_id, run_id)
    ) STRICT
    """,
    """
    CREATE TABLE rm_messages (
        stream_id INTEGER NOT NULL,
        message_ref TEXT NOT NULL,
        layer TEXT,
        run_id TEXT,
        message_id TEXT,
        choice INTEGER,
        role TEXT,
        model TEXT,
        first_seq INTEGER,
        last_seq INTEGER,
        finish_reason TEXT,
        input_tokens INTEGER,
        output_tokens INTEGER,
        text TEXT,
        closed INTEGER NOT NULL DEFAULT 0,
        superseded INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (stream_id, message_ref)
    ) STRICT
    """,
    """
    CREATE TABLE rm_message_pieces (
        stream_id INTEGER NOT NULL,
        message_ref TEXT NOT NULL,
        seq INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        text TEXT,
        PRIMARY KEY (stream_id, message_ref, seq, ordinal)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE rm_message_states (
        stream_id INTEGER NOT NULL,
        message_ref TEXT NOT NULL,
        closed_seq INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (stream_id, message_ref)
    ) STRICT
    """,
    "CREATE INDEX rm_message_states_closed ON rm_message_states (stream_id, closed_seq, message_ref)",
    """
    CREATE TABLE rm_tool_call_chunks (
        stream_id INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        layer TEXT,
        run_id TEXT,
        message_ref TEXT,
        choice INTEGER,
        call_ref TEXT,
        call_index INTEGER,
        call_id TEXT,
        name TEXT,
        args TEXT,
        PRIMARY KEY (stream_id, seq, ordinal)
    ) STRICT, WITHOUT ROWID
    """,
    "CREATE INDEX rm_tool_call_chunks_call ON rm_tool_call_chunks (stream_id, call_ref, seq, ordinal)",
    """
    CREATE TABLE rm_tool_calls (
        stream_id INTEGER NOT NULL,
        call_ref TEXT NOT NULL,
        layer TEXT,
        run_id TEXT,
        message_ref TEXT,
        choice INTEGER,
        position INTEGER,
        call_index INTEGER,
        call_id TEXT,
        name TEXT,
        args TEXT,
        args_state TEXT,
        first_seq INTEGER,
        last_seq INTEGER,
        executor TEXT,
        source TEXT,
        legacy INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (stream_id, call_ref)
    ) STRICT
    """,
    """
    CREATE TABLE rm_tool_messages (
        stream_id INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        tool_call_id TEXT,
        name TEXT,
        content TEXT,
        content_is_json INTEGER NOT NULL DEFAULT 0,
        status TEXT,
        artifact TEXT,
        message_id TEXT,
        additional_kwargs TEXT,
        response_metadata TEXT,
        source TEXT,
        run_id TEXT,
        executor TEXT,
        PRIMARY KEY (stream_id, seq, ordinal)
    ) STRICT
    """,
    """
    CREATE TABLE rm_pairings (
        stream_id INTEGER NOT NULL,
        position INTEGER NOT NULL,
        call_ref TEXT,
        call_id TEXT,
        name TEXT,
        status TEXT,
        call_seq INTEGER,
        answer_seq INTEGER,
        answer_status TEXT,
        executor TEXT,
        failed_seq INTEGER,
        PRIMARY KEY (stream_id, position)
    ) STRICT
    """,
    "CREATE INDEX rm_pairings_call ON rm_pairings (stream_id, call_ref)",
    """
    CREATE TABLE rm_findings (
        stream_id INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        ordinal INTEGER NOT NULL,
        rule TEXT,
        severity TEXT,
        run_id TEXT,
        call_id TEXT,
        detail TEXT,
        PRIMARY KEY (stream_id, seq, ordinal)
    ) STRICT
    """,
)

WHOLE = "ORDER BY p.seq, p.ordinal ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING"

VIEWS = (
    """
    CREATE VIEW runs AS
    SELECT s.name AS stream, r.run_id, r.parent_run_id, r.kind, r.name, r.tags, r.metadata, r.first_seq, r.last_seq,
        r.status, r.error, r.layer, r.serves
    FROM rm_runs r JOIN log_streams s ON s.stream_id = r.stream_id
    """,
    # What a chunk leaves NULL is its call's.
    """
    CREATE VIEW tool_call_chunks_all AS
    SELECT s.name AS stream, k.seq, k.ordinal, coalesce(k.layer, c.layer) AS layer,
        coalesce(k.run_id, c.run_id) AS run_id, m.message_id, coalesce(k.choice, c.choice) AS choice, k.call_ref,
        k.call_index, k.call_id, k.name, k.args, coalesce(k.message_ref, c.message_ref) AS message_ref,
        coalesce(m.superseded, 0) AS superseded, r.serves
    FROM rm_tool_call_chunks k
    JOIN log_streams s ON s.stream_id = k.stream_id
    LEFT JOIN rm_tool_calls c ON c.stream_id = k.stream_id AND c.call_ref = k.call_ref
    LEFT JOIN rm_messages m ON m.stream_id = k.stream_id AND m.message_ref = coalesce(k.message_ref, c.message_ref)
    LEFT JOIN rm_runs r ON r.stream_id = k.stream_id AND r.run_id = coalesce(k.run_id, c.run_id)
    """,
    "CREATE VIEW tool_call_chunks AS SELECT * FROM tool_call_chunks_all WHERE serves IS NULL AND superseded = 0",
    f"""
    CREATE VIEW tool_calls_all AS
    SELECT s.name AS stream, c.call_ref, c.layer, c.run_id, m.message_id, c.choice, c.position, c.call_index,
        c.call_id, c.name,
        CASE WHEN c.args IS NOT NULL THEN c.args ELSE coalesce((
            SELECT group_concat(p.args, '') OVER ({WHOLE})
            FROM rm_tool_call_chunks p WHERE p.stream_id = c.stream_id AND p.call_ref = c.call_ref LIMIT 1
        ), '') END AS args,
        c.args_state, c.first_seq, c.last_seq, c.executor, c.source, c.legacy, c.message_ref,
        coalesce(m.superseded, 0) AS superseded, r.serves
    FROM rm_tool_calls c
    JOIN log_streams s ON s.stream_id = c.stream_id
    LEFT JOIN rm_messages m ON m.stream_id = c.stream_id AND m.message_ref = c.message_ref
    LEFT JOIN rm_runs r ON r.stream_id = c.stream_id AND r.run_id = c.run_id
    """,
    "CREATE VIEW tool_calls AS SELECT * FROM tool_calls_all WHERE serves IS NULL AND superseded = 0",
    """
    CREATE VIEW tool_messages AS
    SELECT s.name AS stream, t.seq, t.tool_call_id, t.name, t.content, t.status, t.artifact, t.message_id,
        t.additional_kwargs, t.response_metadata, t.source, t.run_id, t.ordinal, t.content_is_json, t.executor
    FROM rm_tool_messages t JOIN log_streams s ON s.stream_id = t.stream_id
    """,
    """
    CREATE VIEW pairings AS
    SELECT s.name AS stream, p.call_ref, p.call_id, p.name, p.status, p.call_seq, p.answer_seq, p.answer_status,
        p.position, p.executor
    FROM rm_pairings p JOIN log_streams s ON s.stream_id = p.stream_id
    """,
    f"""
    CREATE VIEW messages_all AS
    SELECT s.name AS stream, m.layer, m.run_id, m.message_id, m.choice, m.role, m.model, m.first_seq, m.last_seq,
        m.finish_reason, m.input_tokens, m.output_tokens,
        CASE WHEN m.text IS NOT NULL OR m.closed THEN m.text ELSE coalesce((
            SELECT group_concat(p.text, '') OVER ({WHOLE})
            FROM rm_message_pieces p WHERE p.stream_id = m.stream_id AND p.message_ref = m.message_ref LIMIT 1
        ), '') END AS text,
        m.message_ref, m.closed, m.superseded, r.serves
    FROM rm_messages m
    JOIN log_streams s ON s.stream_id = m.stream_id
    LEFT JOIN rm_runs r ON r.stream_id = m.stream_id AND r.run_id = m.run_id
    """,
    "CREATE VIEW messages AS SELECT * FROM messages_all WHERE serves IS NULL AND superseded = 0",
    """
    CREATE VIEW findings AS
    SELECT s.name AS stream, f.rule, f.severity, f.seq, f.run_id, f.call_id, f.detail, f.ordinal
    FROM rm_findings f JOIN log_streams s ON s.stream_id = f.stream_id
    """,
)

SQLITE = (*TABLES, *VIEWS)


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        script = Path(__file__).parents[1] / "postgresql" / "0002_the_read_model.sql"
        connection.exec_driver_sql(script.read_text("utf-8"), execution_options={"no_parameters": True})
        return
    for statement in SQLITE:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    raise NotImplementedError("a log is never taken back to an older schema")
