"""Erasures: what was blanked, when and why, in a chain of its own; only what is recorded here may be blanked."""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None

SQLITE = (
    """
    CREATE TABLE log_erasures (
        stream_id INTEGER NOT NULL,
        erasure INTEGER NOT NULL,
        first_seq INTEGER NOT NULL,
        last_seq INTEGER NOT NULL,
        reason TEXT NOT NULL,
        erased_at INTEGER NOT NULL,
        hash BLOB NOT NULL,
        PRIMARY KEY (stream_id, erasure)
    ) STRICT, WITHOUT ROWID
    """,
    """
    CREATE TRIGGER log_erasures_insert BEFORE INSERT ON log_erasures
    WHEN NEW.erasure IS NOT (
            SELECT coalesce(max(erasure), 0) + 1 FROM log_erasures WHERE stream_id = NEW.stream_id
        )
        OR NEW.first_seq < 1 OR NEW.last_seq < NEW.first_seq
        OR NEW.last_seq > coalesce((SELECT last_seq FROM log_streams WHERE stream_id = NEW.stream_id), 0)
    BEGIN SELECT RAISE(ABORT, 'events are append-only: an erasure goes behind the last one, over events there are'); END
    """,
    """
    CREATE TRIGGER log_erasures_update BEFORE UPDATE ON log_erasures
    BEGIN SELECT RAISE(ABORT, 'events are append-only: an erasure is never changed'); END
    """,
    """
    CREATE TRIGGER log_erasures_delete BEFORE DELETE ON log_erasures
    BEGIN SELECT RAISE(ABORT, 'events are append-only: an erasure is never deleted'); END
    """,
    """
    CREATE TRIGGER log_events_erase BEFORE UPDATE ON log_events
    WHEN NOT EXISTS (
        SELECT 1 FROM log_erasures
        WHERE stream_id = OLD.stream_id AND first_seq <= OLD.seq AND last_seq >= OLD.seq
    )
    BEGIN SELECT RAISE(ABORT, 'events are append-only: an event is blanked only where its erasure is recorded'); END
    """,
    """
    CREATE VIEW erasures AS
    SELECT s.name AS stream, x.erasure, x.first_seq, x.last_seq, x.reason,
        strftime('%Y-%m-%dT%H:%M:%S', x.erased_at / 1000000, 'unixepoch')
            || printf('.%06dZ', x.erased_at % 1000000) AS erased_at,
        lower(hex(x.hash)) AS hash
    FROM log_erasures x JOIN log_streams s ON s.stream_id = x.stream_id
    """,
)


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        script = Path(__file__).parents[1] / "postgresql" / "0004_erasures.sql"
        connection.exec_driver_sql(script.read_text("utf-8"), execution_options={"no_parameters": True})
        return
    for statement in SQLITE:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    raise NotImplementedError("a log is never taken back to an older schema")
