"""What a run was given and gave back: where it stands in which event, and the view that shows it.

Nothing is stored twice. `input_path` and `output_path` are JSON paths into the body of an event; the view reads them
there, so that an erased body has no values either. A body that is no JSON by SQLite's rules (`NaN`) shows none.
"""

from __future__ import annotations

from pathlib import Path

from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None

COLUMNS = ("input_seq INTEGER", "input_path TEXT", "output_seq INTEGER", "output_path TEXT")


def value(name: str) -> str:
    """SQL for the JSON text of a run's `input` or `output`; NULL where it has none."""
    return f"""(
            SELECT CASE WHEN json_valid(CAST(e.body AS TEXT)) THEN CAST(e.body AS TEXT) -> r.{name}_path END
            FROM log_events e JOIN log_event_types t ON t.type_id = e.type_id
            WHERE e.stream_id = r.stream_id AND e.seq = r.{name}_seq
                AND t.encoding = 'utf-8' AND e.codec = 0 AND e.erased = 0
        ) AS {name}"""


SQLITE = (
    *(f"ALTER TABLE rm_runs ADD COLUMN {column}" for column in COLUMNS),
    "DROP VIEW runs",
    f"""
    CREATE VIEW runs AS
    SELECT s.name AS stream, r.run_id, r.parent_run_id, r.kind, r.name, r.tags, r.metadata, r.first_seq, r.last_seq,
        r.status, r.error, r.layer, r.serves, r.input_seq, r.output_seq,
        {value("input")},
        {value("output")}
    FROM rm_runs r JOIN log_streams s ON s.stream_id = r.stream_id
    """,
)


def upgrade() -> None:
    connection = op.get_bind()
    if connection.dialect.name == "postgresql":
        script = Path(__file__).parents[1] / "postgresql" / "0005_run_values.sql"
        connection.exec_driver_sql(script.read_text("utf-8"), execution_options={"no_parameters": True})
        return
    for statement in SQLITE:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    raise NotImplementedError("a log is never taken back to an older schema")
