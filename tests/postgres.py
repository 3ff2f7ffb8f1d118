"""Databases on a real Postgres: on one from a wheel, and on the one that `REC_TEST_POSTGRES` names besides.

A database is a copy of a template that has the schema in it already, which takes some ten milliseconds.
"""

from __future__ import annotations

import os
from contextlib import AbstractContextManager
from functools import cache, cached_property
from typing import Any
from uuid import uuid4

import psycopg
from psycopg import sql
from sqlalchemy import make_url

from recorder.store import open_store
from tests import postgres_server

VARIABLE = "REC_TEST_POSTGRES"
"""A URL of a server of your own, with a database on it from which others may be made and removed."""
NAMES = ["postgres", "named-postgres"] if os.environ.get(VARIABLE) else ["postgres"]
"""The server from the wheel, and the one that is named."""


class Server:
    """A running server."""

    def __init__(self, url: str) -> None:
        self.url = url

    def connect(self, url: str | None = None) -> AbstractContextManager[psycopg.Connection[Any]]:
        """A connection behind the store's back, in which every statement is committed by itself."""
        return psycopg.connect(url or self.url, autocommit=True)

    def url_of(self, database: str) -> str:
        return make_url(self.url).set(database=database).render_as_string(hide_password=False)

    def new(self, *, empty: bool = False) -> str:
        """The URL of a database that nobody has used yet: with this program's schema in it, or `empty`."""
        name = f"rec_{uuid4().hex[:12]}"
        # Copied file by file: without fsync that is the fastest.
        words = "CREATE DATABASE {} TEMPLATE {} ENCODING 'UTF8' STRATEGY FILE_COPY"
        template = "template0" if empty else self._template
        with self.connect() as connection:
            connection.execute(sql.SQL(words).format(sql.Identifier(name), sql.Identifier(template)))
        return self.url_of(name)

    def drop(self, url: str) -> None:
        """Removes a database, whoever is still connected."""
        self._drop(str(make_url(url).database))

    def drop_template(self) -> None:
        self._drop(_template_name())

    @cached_property
    def _template(self) -> str:
        """The database that others are copied from. The first worker that needs it makes it."""
        name = _template_name()
        with self.connect() as connection:
            connection.execute("SELECT pg_advisory_lock(hashtext(%s))", (name,))
            if connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", (name,)).fetchone() is None:
                connection.execute(sql.SQL("CREATE DATABASE {} TEMPLATE template0 ENCODING 'UTF8'").format(_id(name)))
                open_store(self.url_of(name)).close()
        return name

    def _drop(self, name: str) -> None:
        with self.connect() as connection:
            connection.execute(sql.SQL("DROP DATABASE IF EXISTS {} WITH (FORCE)").format(_id(name)))


@cache
def server(name: str = "postgres") -> Server:
    """The server of that name, started where need be."""
    if name == "named-postgres":
        return Server(os.environ[VARIABLE])
    postgres_server.sweep()
    found = Server(postgres_server.start(postgres_server.folder_of_worker()))
    with found.connect() as connection:
        # These databases need not outlive the machine, and waiting for the disk would take most of the time.
        connection.execute("ALTER SYSTEM SET fsync = off")
        connection.execute("ALTER SYSTEM SET max_wal_size = '128MB'")
        connection.execute("SELECT pg_reload_conf()")
    return found


def end_run() -> None:
    """Said by the process that began the run, after its workers: nothing of it stays on any server."""
    if "named-postgres" in NAMES:
        server("named-postgres").drop_template()
    postgres_server.end_run()


def _template_name() -> str:
    return f"rec_template_{postgres_server.folder_of_worker().name}"


_id = sql.Identifier
