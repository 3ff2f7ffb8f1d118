"""The log: streams, events, captures, snapshots, and the triggers that keep it append-only.

The SQL is frozen: a later change of the schema is a later migration. Every key starts with the stream. `log_events` is
a rowid table because rows of 1 KB and more, which LangChain events are, cost an overflow page each in a WITHOUT ROWID
table (measured: 3.7 KB lost per event of 950 bytes).

The triggers do not rely on `recursive_triggers`: `INSERT OR REPLACE` and `UPDATE OR REPLACE` delete the row in the way
without a DELETE trigger, so every key that could be in the way is looked up before.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0001"
down_revision = None
branch_labels = None
depends_on = None

TABLES = (
    """
    CREATE TABLE log_streams (
        stream_id INTEGER PRIMARY KEY,
        uuid BLOB NOT NULL UNIQUE CHECK (length(uuid) = 16),
        name TEXT NOT NULL UNIQUE,
        created_at INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        head_hash BLOB NOT NULL,
        parent TEXT,
        parent_seq INTEGER,
        stale TEXT,
        projection INTEGER NOT NULL
    ) STRICT
    """,
    """
    CREATE TABLE log_event_types (
        type_id INTEGER PRIMARY KEY,
        dialect TEXT NOT NULL,
        layer TEXT NOT NULL,
        kind TEXT NOT NULL,
        framing TEXT NOT NULL,
        encoding TEXT NOT NULL,
        UNIQUE (dialect, layer, kind, framing, encoding)
    ) STRICT
    """,
    """
    CREATE TABLE log_origins (
        stream_id INTEGER NOT NULL,
        origin_id INTEGER NOT NULL,
        run_id TEXT,
        parent_run_id TEXT,
        name TEXT,
        PRIMARY KEY (stream_id, origin_id)
    ) STRICT, WITHOUT ROWID
    """,
    # An empty blob stands for NULL: unlike '', no text equals it.
    """
    CREATE UNIQUE INDEX log_origins_once ON log_origins (
        stream_id, coalesce(run_id, x''), coalesce(parent_run_id, x''), coalesce(name, x'')
    )
    """,
    """
    CREATE TABLE log_events (
        stream_id INTEGER NOT NULL,
        seq INTEGER NOT NULL,
        event_id BLOB NOT NULL,
        type_id INTEGER NOT NULL,
        origin_id INTEGER,
        source_id TEXT,
        occurred_at INTEGER,
        arrived_at INTEGER NOT NULL,
        recorded_at INTEGER NOT NULL,
        body BLOB NOT NULL,
        frame BLOB,
        cuts BLOB,
        meta BLOB,
        codec INTEGER NOT NULL DEFAULT 0,
        redacted TEXT,
        salt BLOB,
        body_hash BLOB NOT NULL,
        hash BLOB NOT NULL,
        version INTEGER NOT NULL,
        erased INTEGER NOT NULL DEFAULT 0,
        PRIMARY KEY (stream_id, seq),
        UNIQUE (stream_id, event_id)
    ) STRICT
    """,
    """
    CREATE TABLE log_captures (
        stream_id INTEGER NOT NULL,
        capture INTEGER NOT NULL,
        source TEXT NOT NULL,
        format TEXT NOT NULL,
        bytes INTEGER NOT NULL,
        digest BLOB NOT NULL,
        first_seq INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        complete INTEGER NOT NULL,
        recorded_at INTEGER NOT NULL,
        PRIMARY KEY (stream_id, capture)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TABLE log_snapshots (
        stream_id INTEGER NOT NULL,
        reading TEXT NOT NULL,
        seq INTEGER NOT NULL,
        projection INTEGER NOT NULL,
        body BLOB NOT NULL,
        PRIMARY KEY (stream_id, reading, seq)
    ) STRICT
    """,
)

EVENT_TRIGGERS = (
    # The rowid is compared as well: a REPLACE that names another row's rowid would remove that row.
    """
    CREATE TRIGGER log_events_insert BEFORE INSERT ON log_events
    WHEN NEW.seq IS NOT (SELECT coalesce(max(seq), 0) + 1 FROM log_events WHERE stream_id = NEW.stream_id)
        OR EXISTS (SELECT 1 FROM log_events WHERE stream_id = NEW.stream_id AND event_id = NEW.event_id)
        OR EXISTS (SELECT 1 FROM log_events WHERE rowid = NEW.rowid)
    BEGIN SELECT RAISE(ABORT, 'events are append-only: an event goes behind the last one of its stream, once'); END
    """,
    # Before the insert the rowid is not known yet; one at either end of its range would block what follows.
    """
    CREATE TRIGGER log_events_rowid AFTER INSERT ON log_events
    WHEN NEW.rowid < 1 OR NEW.rowid > 9007199254740991
    BEGIN SELECT RAISE(ABORT, 'events are append-only: an event goes behind the last one of its stream, once'); END
    """,
    # The one change let through: an erasure blanks what `body_hash` covers, and nothing else.
    """
    CREATE TRIGGER log_events_update BEFORE UPDATE ON log_events
    WHEN NOT (
        OLD.erased = 0 AND NEW.erased = 1
        AND NEW.body = x'' AND NEW.frame IS NULL AND NEW.cuts IS NULL AND NEW.meta IS NULL AND NEW.salt IS NULL
        AND NEW.rowid IS OLD.rowid AND NEW.stream_id IS OLD.stream_id AND NEW.seq IS OLD.seq
        AND NEW.event_id IS OLD.event_id AND NEW.type_id IS OLD.type_id AND NEW.origin_id IS OLD.origin_id
        AND NEW.source_id IS OLD.source_id AND NEW.occurred_at IS OLD.occurred_at
        AND NEW.arrived_at IS OLD.arrived_at AND NEW.recorded_at IS OLD.recorded_at AND NEW.codec IS OLD.codec
        AND NEW.redacted IS OLD.redacted AND NEW.body_hash IS OLD.body_hash AND NEW.hash IS OLD.hash
        AND NEW.version IS OLD.version
    )
    BEGIN SELECT RAISE(ABORT, 'events are append-only: an event is never changed'); END
    """,
    """
    CREATE TRIGGER log_events_delete BEFORE DELETE ON log_events
    BEGIN SELECT RAISE(ABORT, 'events are append-only: an event is never deleted'); END
    """,
)

NAME_TRIGGERS = (
    """
    CREATE TRIGGER log_event_types_insert BEFORE INSERT ON log_event_types
    WHEN NEW.type_id IS NOT (SELECT coalesce(max(type_id), 0) + 1 FROM log_event_types)
        OR EXISTS (
            SELECT 1 FROM log_event_types
            WHERE dialect = NEW.dialect AND layer = NEW.layer AND kind = NEW.kind
                AND framing = NEW.framing AND encoding = NEW.encoding
        )
    BEGIN SELECT RAISE(ABORT, 'events are append-only: a type goes behind the last one, once'); END
    """,
    """
    CREATE TRIGGER log_event_types_update BEFORE UPDATE ON log_event_types
    BEGIN SELECT RAISE(ABORT, 'events are append-only: the type of events is never changed'); END
    """,
    """
    CREATE TRIGGER log_event_types_delete BEFORE DELETE ON log_event_types
    BEGIN SELECT RAISE(ABORT, 'events are append-only: the type of events is never deleted'); END
    """,
    """
    CREATE TRIGGER log_origins_insert BEFORE INSERT ON log_origins
    WHEN NEW.origin_id IS NOT (SELECT coalesce(max(origin_id), 0) + 1 FROM log_origins WHERE stream_id = NEW.stream_id)
        OR EXISTS (
            SELECT 1 FROM log_origins
            WHERE stream_id = NEW.stream_id AND coalesce(run_id, x'') = coalesce(NEW.run_id, x'')
                AND coalesce(parent_run_id, x'') = coalesce(NEW.parent_run_id, x'')
                AND coalesce(name, x'') = coalesce(NEW.name, x'')
        )
    BEGIN SELECT RAISE(ABORT, 'events are append-only: an origin goes behind the last one of its stream, once'); END
    """,
    """
    CREATE TRIGGER log_origins_update BEFORE UPDATE ON log_origins
    BEGIN SELECT RAISE(ABORT, 'events are append-only: the origin of events is never changed'); END
    """,
    """
    CREATE TRIGGER log_origins_delete BEFORE DELETE ON log_origins
    BEGIN SELECT RAISE(ABORT, 'events are append-only: the origin of events is never deleted'); END
    """,
)

STREAM_TRIGGERS = (
    """
    CREATE TRIGGER log_streams_insert BEFORE INSERT ON log_streams
    WHEN NEW.last_seq IS NOT 0 OR NEW.head_hash IS NOT zeroblob(32)
        OR EXISTS (
            SELECT 1 FROM log_streams
            WHERE stream_id = NEW.stream_id OR uuid = NEW.uuid OR name = NEW.name
        )
    BEGIN SELECT RAISE(ABORT, 'events are append-only: a stream begins empty, and takes no other one''s place'); END
    """,
    """
    CREATE TRIGGER log_streams_identity BEFORE UPDATE ON log_streams
    WHEN NEW.stream_id IS NOT OLD.stream_id OR NEW.uuid IS NOT OLD.uuid OR NEW.created_at IS NOT OLD.created_at
        OR EXISTS (SELECT 1 FROM log_streams WHERE name = NEW.name AND stream_id <> OLD.stream_id)
    BEGIN SELECT RAISE(ABORT, 'events are append-only: a stream keeps its identity, and takes no other one''s'); END
    """,
    # The head is the hash of the last event, or nothing could tell a log from its beginning.
    """
    CREATE TRIGGER log_streams_head BEFORE UPDATE OF last_seq, head_hash ON log_streams
    WHEN NEW.last_seq < OLD.last_seq
        OR (NEW.last_seq, NEW.head_hash) IS NOT (
            SELECT seq, hash FROM log_events WHERE stream_id = OLD.stream_id ORDER BY seq DESC LIMIT 1
        )
    BEGIN SELECT RAISE(ABORT, 'events are append-only: the head of a stream is its last event'); END
    """,
    """
    CREATE TRIGGER log_streams_delete BEFORE DELETE ON log_streams
    BEGIN SELECT RAISE(ABORT, 'events are append-only: a stream is never deleted'); END
    """,
)


def iso(column: str) -> str:
    """SQL that spells microseconds since the epoch as `recorder.events.clock.to_text` does; NULL stays NULL."""
    return f"strftime('%Y-%m-%dT%H:%M:%S', {column} / 1000000, 'unixepoch') || printf('.%06dZ', {column} % 1000000)"


VIEWS = (
    f"""
    CREATE VIEW streams AS
    SELECT name AS stream, {iso("created_at")} AS created_at, last_seq, parent, parent_seq, stale,
        lower(hex(uuid)) AS uuid, lower(hex(head_hash)) AS head_hash, projection
    FROM log_streams
    """,
    # `encoding` was set at append from the bytes themselves, so the cast never meets invalid UTF-8.
    f"""
    CREATE VIEW events AS
    SELECT s.name AS stream, e.seq, t.dialect, t.layer, t.kind, o.run_id, o.parent_run_id, o.name,
        {iso("e.occurred_at")} AS occurred_at, {iso("e.arrived_at")} AS arrived_at,
        {iso("e.recorded_at")} AS recorded_at, e.body,
        CASE WHEN t.encoding = 'utf-8' AND e.codec = 0 AND e.erased = 0 THEN CAST(e.body AS TEXT) END AS text,
        e.source_id, lower(hex(e.event_id)) AS event_id, t.encoding, t.framing, e.frame,
        CAST(e.cuts AS TEXT) AS cuts, CAST(e.meta AS TEXT) AS meta, e.redacted, e.erased,
        lower(hex(e.body_hash)) AS body_hash, lower(hex(e.hash)) AS hash, e.version
    FROM log_events e
    JOIN log_streams s ON s.stream_id = e.stream_id
    JOIN log_event_types t ON t.type_id = e.type_id
    LEFT JOIN log_origins o ON o.stream_id = e.stream_id AND o.origin_id = e.origin_id
    """,
)

SQLITE = (*TABLES, *EVENT_TRIGGERS, *NAME_TRIGGERS, *STREAM_TRIGGERS, *VIEWS)


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        script = Path(__file__).parents[1] / "postgresql" / "0001_the_log.sql"
        connection.exec_driver_sql(script.read_text("utf-8"), execution_options={"no_parameters": True})
        return
    for statement in SQLITE:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    raise NotImplementedError("a log is never taken back to an older schema")
