"""What was erased is nowhere any more: in no file of SQLite's, in no table of a server's."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from hashlib import sha256
from pathlib import Path
from typing import Any

import psycopg
import pytest

from recorder.capture import capture_file
from recorder.ledger import Ledger
from recorder.ledger.erasure import erase
from recorder.store import open_store
from tests.capture.made import sse
from tests.ledger.logs import is_whole, snapshots_at_every_append
from tests.ledger.planted import EACH, PLACES, needle, planted
from tests.streams import CASSETTES

WHY = "asked for"


def agents_run() -> bytes:
    """The recorded run of an agent, in which a tool was given, and gave, something that stands nowhere else."""
    text = (CASSETTES / "agent.jsonl").read_bytes()
    return text.replace("Almería".encode(), needle(0, "city").encode()).replace(
        b"Almer\\u00eda", b"needle-0-city-needle"
    )


def fill(ledger: Ledger, folder: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    """Streams of small and large events, appended in small parts, with as many snapshots as there can be."""
    snapshots_at_every_append(monkeypatch)
    files = {}
    contents = {
        "agent.jsonl": agents_run(),
        "small.sse": sse(*planted(range(100, 120))),
        "large.sse": sse(*planted(range(200, 206), size=20_000)),
        "kept.sse": sse(*planted(range(300, 310))),
    }
    monkeypatch.setattr("recorder.capture.files.BATCH_EVENTS", 7)
    for name, content in contents.items():
        path = folder / name
        path.write_bytes(content)
        capture_file(ledger, path)
        files[path.stem] = path
    return files


def erase_much(ledger: Ledger) -> list[str]:
    """Erases all of one stream, and parts of others; gives what must be nowhere any more."""
    store = ledger.store
    erase(store, store.head("agent"), reason=WHY)
    erase(store, store.head("small"), first=3 * EACH + 1, last=10 * EACH, reason=WHY)
    erase(store, store.head("large"), first=1, last=4 * EACH, reason=WHY)
    gone = [*range(103, 110), *range(200, 204)]
    return [needle(0, "city"), *(needle(number, place) for number in gone for place in PLACES)]


def kept() -> list[str]:
    numbers = [*range(100, 103), *range(110, 120), *range(204, 206), *range(301, 310)]
    return [needle(number, place) for number in numbers for place in PLACES]


def held_by(path: Path) -> bytes:
    """All bytes of a SQLite database, of its WAL and its shared memory."""
    names = (path.name, f"{path.name}-wal", f"{path.name}-shm")
    return b"\0".join((path.parent / name).read_bytes() for name in names if (path.parent / name).exists())


def digests(files: dict[str, Path]) -> list[bytes]:
    found = [sha256(files[name].read_bytes()) for name in ("agent", "small", "large")]
    return [spelling for each in found for spelling in (each.digest(), each.hexdigest().encode())]


def in_it(needles: list[str], held: bytes) -> list[str]:
    return [each for each in needles if each.encode() in held]


@pytest.mark.parametrize("reader", [None, "idle", "reading"])
def test_what_was_erased_is_nowhere_in_a_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reader: str | None
) -> None:
    path = tmp_path / "runs.db"
    # Nobody waits here for a reader that does not go.
    monkeypatch.setattr("recorder.store.sqlite.backend.SCRUB_SECONDS", 0.05)
    with Ledger.open(path) as ledger, closing(sqlite3.connect(path, isolation_level=None)) as other:
        files = fill(ledger, tmp_path, monkeypatch)
        held = held_by(path)
        assert in_it(kept(), held) == kept()
        assert all(digest in held for digest in digests(files)[::2])
        if reader == "reading":
            other.execute("BEGIN")
        if reader is not None:
            other.execute("SELECT count(*) FROM log_events").fetchone()
        gone = erase_much(ledger)
        said = erase(ledger.store, ledger.head("kept"), first=1, last=1, reason=WHY).remains
        if reader == "reading":
            assert said == f"another program reads {path}: it and its -wal keep the old bytes until nobody has it open"
            assert in_it(gone, held_by(path)) == gone
            other.close()
            ledger.close()
        else:
            assert said is None
        held = held_by(path)
        assert in_it(gone, held) == []
        assert in_it(kept(), held) == kept()
        assert [digest for digest in digests(files) if digest in held] == []
    with open_store(path) as store:
        assert is_whole(store)
    assert in_it(gone, held_by(path)) == []


def texts_of_all_tables(connection: psycopg.Connection[Any]) -> Iterator[tuple[str, bytes]]:
    """Every column of every table, the server's own ones too."""
    tables = connection.execute(
        "SELECT c.oid::regclass::text FROM pg_class c WHERE c.relkind IN ('r', 't', 'm', 'p')"
        " AND has_table_privilege(c.oid, 'SELECT')"
    ).fetchall()
    for (table,) in tables:
        with connection.cursor().copy(f"COPY (SELECT * FROM {table}) TO STDOUT") as copy:
            rows = b"".join(bytes(data) for data in copy)
        # COPY writes bytea in hexadecimal, and a backslash twice.
        yield table, rows


def test_what_was_erased_is_in_no_table_of_a_server(url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with Ledger.open(url) as ledger, psycopg.connect(url, autocommit=True) as connection:
        files = fill(ledger, tmp_path, monkeypatch)
        connection.execute("ANALYZE")
        gone = erase_much(ledger)
        found = dict(texts_of_all_tables(connection))
        assert {"log_events", "rm_messages", "pg_statistic"} <= found.keys()
        held = b"\n".join(found.values())
        for needles, expected in ((gone, []), (kept(), kept())):
            in_hexadecimal = [each for each in needles if each.encode().hex().encode() in held]
            assert sorted({*in_it(needles, held), *in_hexadecimal}) == sorted(expected)
        assert [digest for digest in digests(files) if digest in held or digest.hex().encode() in held] == []
        assert is_whole(ledger.store)
        connection.execute("VACUUM FULL")
        connection.execute("CHECKPOINT")
        held = held_by_server(connection)
        assert in_it(gone, held) == []
        assert len(in_it(kept(), held)) > len(kept()) / 2, "that which was not compressed"


def held_by_server(connection: psycopg.Connection[Any]) -> bytes:
    """The files of the connection's database, without the server's log of writes."""
    row = connection.execute(
        "SELECT current_setting('data_directory'), oid FROM pg_database WHERE datname = current_database()"
    ).fetchone()
    assert row is not None
    folder = Path(row[0]) / "base" / str(row[1])
    if not folder.is_dir():
        pytest.skip("the server's files are elsewhere")
    return b"\0".join(path.read_bytes() for path in sorted(folder.iterdir()))


def test_statistics_of_a_server_hold_nothing_of_what_was_recorded(
    url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They are samples, and stay as they are until the table is analysed again."""
    with Ledger.open(url) as ledger, psycopg.connect(url, autocommit=True) as connection:
        fill(ledger, tmp_path, monkeypatch)
        connection.execute("ANALYZE")
        rows = connection.execute(
            "SELECT tablename, attname, most_common_vals::text, histogram_bounds::text FROM pg_stats"
        ).fetchall()
        assert {"log_events", "rm_tool_calls"} <= {row[0] for row in rows}
        hexadecimal = b"needle-".hex()
        assert [row for row in rows if "needle-" in str(row) or hexadecimal in str(row)] == []


def test_an_erasure_whose_wal_cannot_be_written_back_is_one_and_says_what_is_left(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The disk is full, say: what was committed is no error any more."""

    class Full:
        def execute(self, statement: str) -> None:
            if "wal_checkpoint" in statement:
                error = sqlite3.OperationalError("database or disk is full")
                error.sqlite_errorcode = sqlite3.SQLITE_FULL
                raise error

    path = tmp_path / "x.db"
    with Ledger.open(path) as ledger:
        capture_file(ledger, CASSETTES / "weather.sse")
        head = ledger.head("weather")
        scrub = ledger.store.scrub

        def full() -> str | None:
            with monkeypatch.context() as patch:
                patch.setattr("recorder.store.sqlite.backend._driver_of", lambda _: Full())
                return scrub()

        monkeypatch.setattr(ledger.store, "scrub", full)
        done = erase(ledger.store, head, first=1, last=3, reason=WHY)
        assert done.remains == (
            f"{path} cannot grow: the disk is full; its -wal could not be written back, and keeps old bytes"
        )
        assert ledger.store.erasure_count(head) == 1
