"""The schema and its migrations. Alembic is imported only where one has to run."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection

SCHEMA = 6
"""The schema that this program knows: the number of its last migration."""


def folder() -> Path:
    """The migrations: inside the package in a wheel, beside it in a checkout."""
    package = Path(__file__).resolve().parent.parent
    inside = package / "migrations"
    return inside if inside.is_dir() else package.parent / "migrations"


def upgrade(connection: Connection, *, to: int = SCHEMA) -> None:
    """Applies the missing migrations inside the connection's transaction, which the caller commits or rolls back."""
    from alembic import command
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(folder()).replace("%", "%%"))
    config.set_main_option("path_separator", "os")
    command.upgrade(config, f"{to:04d}")
