"""A backup that is restored while a program records: what the program remembers of the database holds no more."""

from __future__ import annotations

import pytest
from psycopg import sql
from sqlalchemy import make_url

from recorder.errors import UnknownStream
from recorder.store import Store, open_store
from tests import postgres
from tests.store.made import append, bodies, chain_is_whole, event, select


def test_a_stream_whose_key_another_one_has_is_gone(url: str, server: str) -> None:
    with open_store(url) as store:
        append(store, "first", [event(1, kind="one")])
    _keep(url, server)
    with open_store(url) as store:
        append(store, "mine", [event(1, kind="two", run_id="mine")])
        mine = store.head("mine")
        _restore(url, server)
        with open_store(url) as other:
            append(other, "theirs", [event(1, kind="three", run_id="theirs")])
            assert other.head("theirs").stream_id == mine.stream_id
        with pytest.raises(UnknownStream, match="stream 'mine' is not in this database"), store.transaction() as after:
            after.append(mine, [event(2, kind="two", run_id="mine")])
        _is_as_recorded(store, "theirs", "three")


def test_types_and_runs_that_were_remembered_are_looked_up_again(url: str, server: str) -> None:
    with open_store(url) as store:
        append(store, "s", [event(1, kind="one", run_id="one")])
    _keep(url, server)
    with open_store(url) as store:
        append(store, "s", [event(2, kind="two", run_id="two")])
        _restore(url, server)
        with open_store(url) as other:
            append(other, "s", [event(3, kind="three", run_id="three")])
        append(store, "s", [event(4, kind="two", run_id="two")])
        assert chain_is_whole(store, "s")
        assert select(store, "SELECT kind, run_id FROM events ORDER BY seq") == [
            (each, each) for each in ("one", "three", "two")
        ]


def _is_as_recorded(store: Store, stream: str, kind: str) -> None:
    assert bodies(store, stream) == [event(1).body]
    assert chain_is_whole(store, stream)
    assert select(store, "SELECT kind FROM events WHERE stream = :stream", stream=stream) == [(kind,)]


def _keep(url: str, server: str) -> None:
    """Makes a backup of a database that nobody has open."""
    _run(server, "CREATE DATABASE {1} TEMPLATE {0}", url)


def _restore(url: str, server: str) -> None:
    """Puts the backup in the place of the database, whoever has it open."""
    _run(server, "DROP DATABASE {0} WITH (FORCE)", url)
    _run(server, "ALTER DATABASE {1} RENAME TO {0}", url)


def _run(server: str, statement: str, url: str) -> None:
    name = make_url(url).database
    assert name is not None
    with postgres.server(server).connect() as connection:
        connection.execute(sql.SQL(statement).format(sql.Identifier(name), sql.Identifier(f"{name}_kept")))
