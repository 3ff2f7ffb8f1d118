"""Run by Alembic inside the transaction that the store opened: it neither connects nor commits."""

from __future__ import annotations

from alembic import context

context.configure(connection=context.config.attributes["connection"], transactional_ddl=True)
with context.begin_transaction():
    context.run_migrations()
