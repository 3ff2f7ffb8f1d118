"""Databases that are not what a verb needs, `rec db` and `rec rebuild`."""

from __future__ import annotations

import os
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from recorder import dialects
from recorder.cli.commands.database import rebuild
from recorder.store import open_store
from recorder.store.migrate import SCHEMA
from tests.command import CASSETTES, Rec, here
from tests.command import rec as run
from tests.store.made import append, event

WEATHER = CASSETTES / "weather.sse"
READING = (["ls"], ["show", "x"], ["replay", "x"], ["diff", "x@1"], ["sql", "SELECT 1"], ["db", "check"])
CHANGING = (["rename", "x", "y"], ["rebuild"])
MAKING = (["capture", str(WEATHER)], ["db", "upgrade"])


@pytest.mark.parametrize("verb", [*READING, *CHANGING], ids=" ".join)
def test_a_missing_database_is_not_made_by_a_verb_that_needs_one(rec: Rec, verb: list[str]) -> None:
    assert rec(*verb).refusal == f"{rec.database} does not exist: record something first, or name another database"
    assert not rec.database.exists()


@pytest.mark.parametrize("verb", [*READING, *CHANGING, *MAKING], ids=" ".join)
def test_a_text_file_is_no_database(rec: Rec, verb: list[str]) -> None:
    rec.database.write_text("This is a letter, not a database.\n" * 100)
    assert rec(*verb).refusal == f"{rec.database} is not a SQLite database: name another file"
    assert rec.database.read_text().startswith("This is a letter")


@pytest.mark.parametrize("verb", [*READING, *CHANGING, *MAKING], ids=" ".join)
def test_a_folder_is_no_database(rec: Rec, verb: list[str]) -> None:
    rec.database.mkdir()
    assert rec(*verb).refusal == f"{rec.database} is a folder: name a database file in it"


@pytest.mark.parametrize("verb", MAKING, ids=" ".join)
def test_a_named_folder_is_never_made(tmp_path: Path, verb: list[str]) -> None:
    rec = Rec(tmp_path / "nowhere" / "x.db")
    assert rec(*verb).refusal == f"{rec.database} cannot be made: there is no folder {tmp_path / 'nowhere'}"
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("verb", [*READING, *CHANGING, *MAKING], ids=" ".join)
def test_a_database_of_another_program_is_left_alone(rec: Rec, verb: list[str]) -> None:
    with closing(sqlite3.connect(rec.database)) as connection:
        connection.execute("CREATE TABLE theirs (a)")
        connection.commit()
    before = rec.database.read_bytes()
    assert "is a database of another application" in rec(*verb).refusal
    assert rec.database.read_bytes() == before


@pytest.mark.parametrize("verb", [*READING, *CHANGING, *MAKING], ids=" ".join)
def test_a_newer_schema_is_refused(rec: Rec, verb: list[str]) -> None:
    rec("capture", WEATHER).fine()
    with closing(sqlite3.connect(rec.database)) as connection:
        connection.execute(f"PRAGMA user_version = {SCHEMA + 1}")
    assert rec(*verb).refusal == (
        f"{rec.database} has schema {SCHEMA + 1}, newer than this program's {SCHEMA}: upgrade recorder"
    )


@pytest.mark.parametrize("database", ["", ":memory:", "sqlite://", "sqlite:///:memory:"])
def test_a_database_that_is_no_file_is_refused(database: str) -> None:
    assert "file" in run("ls", "-d", database).refusal


def test_a_url_names_a_file(rec: Rec) -> None:
    rec("capture", WEATHER).fine()
    assert run("ls", "--nl", "-d", f"sqlite:///{rec.database}").fine().json["stream"] == "weather"


@pytest.mark.parametrize("url", ["postgresql://u:secret@h/db", "mysql://u:secret@h/db", "x://u:secret@h"])
def test_a_password_never_shows(url: str) -> None:
    assert "secret" not in run("ls", "-d", url).refusal
    shown = run("db", "path", "-d", url).fine().out
    assert "secret" not in shown
    assert ":***@h" in shown


@pytest.fixture(scope="module")
def bound() -> list[str]:
    """What binds a command to permissions: nothing for a user, for root a loss of the powers to ignore them."""
    if sys.platform == "win32":
        pytest.skip("permissions are others there")
    if os.geteuid() != 0:
        return []
    powers = "-dac_override,-dac_read_search"
    under = ["setpriv", f"--bounding-set={powers}", f"--inh-caps={powers}"]
    if shutil.which("setpriv") is None or subprocess.run([*under, "true"], capture_output=True).returncode != 0:
        pytest.skip("root can be bound to permissions only by setpriv")
    return under


@pytest.fixture
def folder(tmp_path: Path) -> Iterator[Path]:
    """A folder with a database in it, both open again at the end."""
    folder = tmp_path / "folder"
    folder.mkdir()
    run("capture", WEATHER, "-d", folder / "x.db").fine()
    for leftover in folder.glob("x.db-*"):
        leftover.unlink()
    yield folder
    folder.chmod(0o755)


def test_a_read_only_database_in_a_read_only_folder_can_be_read(folder: Path, bound: list[str]) -> None:
    (folder / "x.db").chmod(0o444)
    folder.chmod(0o555)
    for verb in (["ls", "--nl"], ["sql", "--nl", "SELECT stream FROM streams"]):
        assert run(*verb, "-d", folder / "x.db", under=bound).fine().json["stream"] == "weather"
    assert run("replay", "weather@8", "--json", "-d", folder / "x.db", under=bound).fine().json["at"] == 8
    assert run("capture", WEATHER, "-d", folder / "x.db", under=bound).refusal == (
        f"{folder / 'x.db'} is read-only: change its permissions or name another database"
    )


def test_a_read_only_folder_takes_no_new_database(folder: Path, bound: list[str]) -> None:
    folder.chmod(0o555)
    assert run("capture", WEATHER, "-d", folder / "new.db", under=bound).refusal == (
        f"{folder / 'new.db'} cannot be made: the folder {folder} is read-only"
    )
    told = run("capture", WEATHER, "-d", folder / "x.db", under=bound).refusal
    assert told == f"{folder / 'x.db'} cannot be written: SQLite needs to write in its folder {folder} too"


def test_what_may_not_be_read_is_refused(folder: Path, bound: list[str]) -> None:
    (folder / "x.db").chmod(0o000)
    assert "may not be read: change its permissions" in run("ls", "-d", folder / "x.db", under=bound).refusal
    recording = folder / "secret.sse"
    recording.write_bytes(WEATHER.read_bytes())
    recording.chmod(0o000)
    assert run("capture", recording, "-d", folder / "new.db", under=bound).refusal == (
        f"{recording}: permission denied; nothing was stored"
    )


def test_upgrade_makes_a_database_and_does_not_mind_one(rec: Rec) -> None:
    for _ in range(2):
        done = rec("db", "upgrade").fine()
        assert done.err == f"schema {SCHEMA}\n"
    assert rec("ls", "--json").fine().json == []


def test_check_tells_damage_from_risks(rec: Rec) -> None:
    rec("capture", WEATHER).fine()
    done = rec("db", "check").fine()
    assert [line for line in done.out.splitlines() if not line.startswith("risk: SQLite ")] == []
    for risk in done.out.splitlines():
        assert "let one process write at a time, or use SQLite 3.51.3" in risk
    with closing(sqlite3.connect(rec.database, isolation_level=None)) as connection:
        connection.execute("CREATE TABLE theirs (a)")
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert "risk: tables that are not recorder's: theirs" in rec("db", "check").fine().out.splitlines()
    with closing(sqlite3.connect(rec.database, isolation_level=None)) as connection:
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute("UPDATE sqlite_master SET rootpage = 2 WHERE name = 'theirs'")
    done = rec("db", "check")
    assert done.code == 1
    assert any(line.startswith("damage: ") for line in done.out.splitlines())


def test_a_stream_that_cannot_be_rebuilt_does_not_keep_the_others_from_it(
    rec: Rec, monkeypatch: pytest.MonkeyPatch
) -> None:
    rec("capture", WEATHER, CASSETTES / "agent.jsonl").fine()
    broken = dialects.get("openai.chat")

    def fail(state: object, event: object) -> object:
        raise ZeroDivisionError("planted")

    monkeypatch.setitem(dialects.DIALECTS._loaded, broken.name, structs.replace(broken, step=fail))  # type: ignore[attr-defined]
    code, lines = 2, []
    monkeypatch.setattr("recorder.cli.commands.database.hint", lines.append)
    monkeypatch.setattr("recorder.cli.commands.database.error_line", lines.append)
    assert rebuild([], str(rec.database)) == code
    assert len(lines) == 2
    assert "planted" in lines[0]
    assert lines[1] == "agent: rebuilt from 59 events"


def test_rebuild_gives_the_same_rows(rec: Rec) -> None:
    rec("capture", WEATHER, CASSETTES / "agent.jsonl").fine()
    queries = [f"SELECT * FROM {view} ORDER BY 1, 2, 3" for view in ("tool_calls", "messages", "pairings", "runs")]
    before = [rec.rows(query) for query in queries]
    with closing(sqlite3.connect(rec.database, isolation_level=None)) as connection:
        connection.execute("DELETE FROM rm_tool_calls")
        connection.execute("DELETE FROM rm_messages")
    assert [rec.rows(query) for query in queries] != before
    done = rec("rebuild", "agent").fine()
    assert done.err == "agent: rebuilt from 59 events\n"
    assert rec("rebuild").fine().err == "weather: rebuilt from 20 events\nagent: rebuilt from 59 events\n"
    assert [rec.rows(query) for query in queries] == before


def test_rebuild_of_an_unknown_stream_rebuilds_none(rec: Rec) -> None:
    rec("capture", WEATHER).fine()
    assert "there is no stream 'nobody'" in rec("rebuild", "weather", "nobody").refusal
    assert rec("rebuild", "latest").fine().err == "weather: rebuilt from 20 events\n"


# Backups


def test_a_backup_is_the_whole_database(rec: Rec, tmp_path: Path) -> None:
    rec("capture", WEATHER, CASSETTES / "agent.jsonl").fine()
    file = tmp_path / "monday.db"
    done = rec("db", "backup", file).fine()
    assert (done.out, done.err) == ("", f"{file}: 2 streams\n")
    copy = Rec(file)
    for verb in (["ls", "--json"], ["export", "--jsonl"], ["verify", "--projections"], ["tail"]):
        assert copy(*verb).fine().out == rec(*verb).fine().out
    assert copy("db", "check").code == 0
    # It is one to write to.
    assert copy("capture", WEATHER).fine().err == "weather: known already, 20 events; nothing stored\n"


class Told(sqlite3.Connection):
    """Calls `Told.of_progress` after every page of a backup."""

    of_progress: Callable[[], object]

    def backup(self, *args: Any, progress: Any, **kwargs: Any) -> None:
        def tell(*told: object) -> None:
            progress(*told)
            Told.of_progress()

        super().backup(*args, progress=tell, **{**kwargs, "pages": 1})


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> type[Told]:
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda *args, **kwargs: connect(*args, **{"factory": Told, **kwargs}))
    return Told


def test_a_backup_is_what_the_database_was_when_it_began(rec: Rec, tmp_path: Path, told: type[Told]) -> None:
    """However many write meanwhile, it neither waits for them nor begins anew."""
    rec("capture", WEATHER).fine()
    written: list[int] = []
    with open_store(rec.database) as store:
        append(store, "s", [event(1)])

        def write() -> None:
            if len(written) < 100:
                written.append(append(store, "s", [event(len(written) + 2)]).last_seq)

        told.of_progress = staticmethod(write)
        rec("db", "backup", tmp_path / "x.db").fine()
    assert len(written) > 20
    with open_store(tmp_path / "x.db", readonly=True) as store:
        assert store.head("s").last_seq == 1
    assert Rec(tmp_path / "x.db")("verify", "--projections", "weather").code == 0
    assert rec.rows("SELECT last_seq FROM streams WHERE stream = 's'") == [[len(written) + 1]]


def test_a_backup_that_is_interrupted_leaves_nothing(rec: Rec, tmp_path: Path, told: type[Told]) -> None:
    rec("capture", WEATHER).fine()

    def interrupt() -> None:
        raise KeyboardInterrupt

    told.of_progress = staticmethod(interrupt)
    assert rec("db", "backup", tmp_path / "x.db").code == 130
    assert not (tmp_path / "x.db").exists()


def test_what_cannot_be_backed_up_is_refused(rec: Rec, tmp_path: Path) -> None:
    assert "does not exist" in rec("db", "backup", tmp_path / "x.db").refusal
    rec("capture", WEATHER).fine()
    (tmp_path / "x.db").write_text("mine")
    assert rec("db", "backup", tmp_path / "x.db").refusal == f"{tmp_path}/x.db exists already: name a new file"
    assert rec("db", "backup", tmp_path).refusal == f"{tmp_path} exists already: name a new file"
    assert rec("db", "backup", rec.database).refusal == f"{rec.database} exists already: name a new file"
    assert (tmp_path / "x.db").read_text() == "mine"
    told = rec("db", "backup", tmp_path / "no" / "x.db").refusal
    assert told == f"{tmp_path}/no/x.db cannot be written: unable to open database file"


@pytest.mark.postgres
def test_a_server_has_backups_of_its_own(url: str) -> None:
    told = here("db", "backup", "x.db", "-d", url).refusal
    assert "pg_dump makes backups of it, rec copy and rec export portable ones" in told
