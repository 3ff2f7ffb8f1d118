"""${message}."""

from __future__ import annotations

from alembic import op

revision = ${repr(up_revision)}
down_revision = ${repr(down_revision)}
branch_labels = None
depends_on = None

STATEMENTS: dict[str, tuple[str, ...]] = {"sqlite": ()}


def upgrade() -> None:
    connection = op.get_bind()
    for statement in STATEMENTS[connection.dialect.name]:
        connection.exec_driver_sql(statement)


def downgrade() -> None:
    raise NotImplementedError("a log is never taken back to an older schema")
