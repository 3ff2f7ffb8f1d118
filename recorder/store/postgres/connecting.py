"""Connections to a server, made with patience where it is only just starting."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import psycopg
import stamina
from sqlalchemy import URL

from recorder.errors import DatabaseUnusable
from recorder.store.postgres import arrays, faults

BUSY_SECONDS = 20
"""How long a statement waits for another transaction's lock."""
CONNECT_SECONDS = 10
PATIENCE_SECONDS = 10.0
"""How long a server that is starting up is waited for."""

# Where a program has set up no logging, Python would print a warning for every attempt.
logging.getLogger("stamina").addHandler(logging.NullHandler())


def connector(
    url: URL, shown: str, *, readonly: bool, patience: float | None = None
) -> Callable[[], psycopg.Connection[Any]]:
    """A function that connects. It raises `DatabaseUnusable`. What the URL says goes before what is set here.

    `patience`: seconds for which locks, the connection and a server that is starting are waited for, each.
    """
    busy = BUSY_SECONDS if patience is None else patience
    driver = url.set(drivername="postgresql+psycopg")
    given = driver.get_dialect()().create_connect_args(driver)[1]
    settings = [
        f"lock_timeout={int(busy * 1000)}ms",
        # Every statement sees what was committed before it: who waited for a lock sees what the other one did.
        "default_transaction_isolation=read\\ committed",
        "timezone=UTC",
        "datestyle=ISO",
    ]
    if readonly:
        settings.append("default_transaction_read_only=on")
    own = f" {given['options']}" if "options" in given else ""
    parameters = {
        # Of less than two seconds libpq makes two.
        "connect_timeout": CONNECT_SECONDS if patience is None else max(1, int(patience)),
        "application_name": "recorder",
        **given,
        "options": " ".join(f"-c {setting}" for setting in settings) + own,
        "client_encoding": "UTF8",
    }

    starting = PATIENCE_SECONDS if patience is None else patience

    @stamina.retry(on=faults.is_starting, attempts=None, timeout=starting, wait_initial=0.1, wait_max=1.0)
    def connect() -> psycopg.Connection[Any]:
        return psycopg.connect(**parameters)

    def checked() -> psycopg.Connection[Any]:
        try:
            connection = connect()
        except psycopg.Error as error:
            raise faults.translate_connecting(error, shown) from error
        encoding = connection.info.parameter_status("server_encoding")
        if encoding != "UTF8":
            connection.close()
            raise DatabaseUnusable(f"{shown} has the encoding {encoding}: make one with UTF8 (createdb -E UTF8)")
        arrays.register(connection)
        return connection

    return checked
