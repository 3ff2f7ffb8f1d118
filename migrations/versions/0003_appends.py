"""Appends: one row for each, in the order in which readers of the whole log may take them.

`position` is what a tail goes by. SQLite has one writer at a time, so its positions count up with the commits, and
`epoch` is 0. Logs of an older schema get one row a stream, the oldest stream first.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None

SQLITE = (
    """
        CREATE TABLE log_appends (
            stream_id INTEGER NOT NULL,
            epoch INTEGER NOT NULL,
            position INTEGER NOT NULL,
            first_seq INTEGER NOT NULL,
            last_seq INTEGER NOT NULL,
            PRIMARY KEY (stream_id, epoch, position, first_seq)
        ) STRICT, WITHOUT ROWID
        """,
    "CREATE UNIQUE INDEX log_appends_order ON log_appends (epoch, position)",
    """
        INSERT INTO log_appends (stream_id, epoch, position, first_seq, last_seq)
        SELECT stream_id, 0, row_number() OVER (ORDER BY stream_id), 1, last_seq FROM log_streams WHERE last_seq > 0
        """,
    """
        CREATE TRIGGER log_appends_insert BEFORE INSERT ON log_appends
        WHEN NEW.epoch IS NOT 0 OR NEW.position IS NOT (SELECT coalesce(max(position), 0) + 1 FROM log_appends)
            OR NEW.first_seq IS NOT 1 + coalesce((
                SELECT last_seq FROM log_appends
                WHERE stream_id = NEW.stream_id ORDER BY epoch DESC, position DESC, first_seq DESC LIMIT 1
            ), 0)
            OR NEW.last_seq < NEW.first_seq
            OR NEW.last_seq IS NOT (SELECT last_seq FROM log_streams WHERE stream_id = NEW.stream_id)
        BEGIN SELECT RAISE(ABORT, 'events are append-only: an append is what its stream grew by, once'); END
        """,
    """
        CREATE TRIGGER log_appends_update BEFORE UPDATE ON log_appends
        BEGIN SELECT RAISE(ABORT, 'events are append-only: an append is never changed'); END
        """,
    """
        CREATE TRIGGER log_appends_delete BEFORE DELETE ON log_appends
        BEGIN SELECT RAISE(ABORT, 'events are append-only: an append is never deleted'); END
        """,
)


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        script = Path(__file__).parents[1] / "postgresql" / "0003_appends.sql"
        connection.exec_driver_sql(script.read_text("utf-8"), execution_options={"no_parameters": True})
        return
    for statement in SQLITE:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    raise NotImplementedError("a log is never taken back to an older schema")
