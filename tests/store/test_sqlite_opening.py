"""What is opened, made and refused on SQLite; every refusal is one line that names the place."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest

from recorder.errors import DatabaseUnusable
from recorder.store import Store, Transaction, open_store
from tests.store.made import append, bodies, events, raw

NOBODY = 65534


def refusal(place: str | Path, *, create: bool = True, readonly: bool = False) -> str:
    with pytest.raises(DatabaseUnusable) as caught:
        open_store(place, create=create, readonly=readonly)
    line = str(caught.value)
    assert "\n" not in line
    return line


def test_a_path_and_both_urls_open_the_same_database(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(path.parent)
    places: list[str | Path] = [str(path), path, f"sqlite:///{path}", "sqlite:///runs.db", "runs.db"]
    for number, place in enumerate(places, 1):
        with open_store(place) as store:
            assert append(store, "s", events(1, number)).last_seq == number


def test_a_name_with_odd_characters_is_a_name(tmp_path: Path) -> None:
    place = tmp_path / "a b?mode=memory#100%25;é.db"
    with open_store(place) as store:
        append(store, "s", events(1, 2))
        assert bodies(store, "s") == [each.body for each in events(1, 2)]
    assert place.exists()
    with open_store(place, readonly=True) as store:
        assert store.head("s").last_seq == 2


def test_a_new_database_has_the_settings_that_keep_it(sqlite_store: Store, path: Path) -> None:
    with raw(path) as connection:
        assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
        assert connection.execute("PRAGMA application_id").fetchone() == (int.from_bytes(b"rec.", "big"),)
        assert connection.execute("PRAGMA user_version").fetchone() == (sqlite_store.schema_version,)
        tables = connection.execute("SELECT name, strict FROM pragma_table_list WHERE schema = 'main'").fetchall()
        ours = {name: strict for name, strict in tables if name.startswith(("log_", "rm_"))}
        assert {name for name, strict in ours.items() if not strict} == {
            name for name in ours if name.startswith("log_") and name in _views(connection)
        }
    with sqlite_store.transaction() as transaction:
        driver = transaction._connection.connection.driver_connection
        assert driver is not None
        assert driver.execute("PRAGMA synchronous").fetchone() == (2,)
        assert driver.execute("PRAGMA secure_delete").fetchone() == (1,)


def _views(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM sqlite_master WHERE type = 'view'")}


def test_an_empty_file_is_a_new_database(path: Path) -> None:
    path.touch()
    with open_store(path) as store:
        append(store, "s", events(1, 1))


def test_a_closed_database_is_one_file(path: Path) -> None:
    with open_store(path) as store:
        append(store, "s", events(1, 3))
        list(store.query("SELECT 1")[1])
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    assert refusal(tmp_path) == f"{tmp_path} is a folder: name a database file in it"


@pytest.mark.parametrize("readonly", [False, True])
def test_a_missing_file_is_not_made_where_it_should_not_be(path: Path, readonly: bool) -> None:
    assert refusal(path, create=readonly, readonly=readonly).startswith(f"{path} does not exist: ")
    assert not path.exists()


def test_a_missing_folder_is_never_made(tmp_path: Path) -> None:
    place = tmp_path / "nowhere" / "runs.db"
    assert f"there is no folder {place.parent}" in refusal(place)
    assert not place.parent.exists()


@pytest.mark.parametrize("readonly", [False, True])
@pytest.mark.parametrize("content", [b"data: {}\n\n" * 100, b"x"], ids=["long", "short"])
def test_a_file_that_is_no_database_is_left_alone(path: Path, content: bytes, readonly: bool) -> None:
    path.write_bytes(content)
    assert refusal(path, readonly=readonly) == f"{path} is not a SQLite database: name another file"
    assert path.read_bytes() == content


@pytest.mark.parametrize(
    "made_by",
    ["CREATE TABLE theirs (a)", "PRAGMA application_id = 7", "PRAGMA user_version = 3"],
)
def test_another_applications_database_is_left_alone(path: Path, made_by: str) -> None:
    with raw(path) as connection:
        connection.execute(made_by)
    content = path.read_bytes()
    for readonly in (False, True):
        assert "another application" in refusal(path, readonly=readonly)
    assert path.read_bytes() == content
    assert [each.name for each in path.parent.iterdir()] == [path.name]


def test_a_damaged_database_is_said_to_be_damaged(path: Path) -> None:
    with open_store(path) as store:
        append(store, "s", events(1, 400))
    content = bytearray(path.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(DatabaseUnusable, match="is damaged"), open_store(path) as store:
        bodies(store, "s")


@pytest.mark.parametrize(
    "place",
    ["", ":memory:", "sqlite://", "sqlite:///:memory:", "mysql://u:secret@h/d", "a://"],
)
def test_a_place_that_is_no_file_is_refused_without_its_password(place: str) -> None:
    assert "secret" not in refusal(place)


@contextmanager
def _ordinary_user() -> Iterator[None]:
    """Root may write anything, so that permissions are tried as somebody else."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(NOBODY)
    try:
        yield
    finally:
        os.seteuid(0)


@pytest.fixture
def shared() -> Iterator[Path]:
    """A closed database with two events, in a folder that any user may enter."""
    folder = Path(tempfile.mkdtemp())
    with open_store(folder / "runs.db") as store:
        append(store, "s", events(1, 2))
        list(store.query("SELECT 1")[1])
    folder.chmod(0o755)
    yield folder / "runs.db"
    folder.chmod(0o755)
    shutil.rmtree(folder)


pytestmark_posix = pytest.mark.skipif(os.name == "nt", reason="permissions are POSIX's")


@pytestmark_posix
def test_a_read_only_file_in_a_read_only_folder_can_be_read(shared: Path) -> None:
    shared.chmod(0o444)
    shared.parent.chmod(0o555)
    with _ordinary_user(), open_store(shared, readonly=True) as store:
        assert len(bodies(store, "s")) == 2
        assert list(store.query("SELECT count(*) FROM events")[1]) == [(2,)]
    assert [each.name for each in shared.parent.iterdir()] == [shared.name]


@pytestmark_posix
def test_a_read_only_folder_that_hides_events_in_its_wal_is_refused(shared: Path) -> None:
    with open_store(shared) as store:
        append(store, "s", events(3, 3))
        kept = shared.with_name("kept-wal")
        shutil.copy(f"{shared}-wal", kept)
        copied = shared.read_bytes()
    shared.write_bytes(copied)
    kept.rename(f"{shared}-wal")
    shared.parent.chmod(0o555)
    with _ordinary_user():
        assert "runs.db-wal holds events" in refusal(shared, readonly=True)


def _file(place: Path) -> None:
    place.chmod(0o444)


def _folder(place: Path) -> None:
    place.chmod(0o666)
    place.parent.chmod(0o555)


def _hidden(place: Path) -> None:
    place.chmod(0o000)


@pytestmark_posix
@pytest.mark.parametrize(
    ("protect", "says"), [(_file, "is read-only"), (_folder, "write in its folder"), (_hidden, "may not be read")]
)
def test_what_may_not_be_written_is_refused_for_writing(
    shared: Path, protect: Callable[[Path], None], says: str
) -> None:
    protect(shared)
    with _ordinary_user():
        assert says in refusal(shared)


@pytestmark_posix
def test_a_new_database_in_a_read_only_folder_is_refused(shared: Path) -> None:
    shared.parent.chmod(0o555)
    with _ordinary_user():
        assert "is read-only" in refusal(shared.with_name("new.db"))


def _fill_up(transaction: Transaction) -> None:
    """From here on the file cannot grow; that lasts as long as the connection."""
    driver = transaction._connection.connection.driver_connection
    assert driver is not None
    pages = driver.execute("PRAGMA page_count").fetchone()[0]
    driver.execute(f"PRAGMA max_page_count = {pages}")


def _append_to_a_full_disk(store: Store) -> None:
    with store.transaction() as transaction:
        _fill_up(transaction)
        transaction.append(store.head("s"), events(11, 400))


def _overlook_a_full_disk(store: Store) -> None:
    head = store.head("s")
    with store.transaction() as transaction:
        transaction.append(head, events(11, 12))
        _fill_up(transaction)
        with suppress(DatabaseUnusable), transaction.nested():
            transaction.write_rows(head, {"findings": [{"seq": 1, "ordinal": 0, "detail": "x" * 100_000}]})
        transaction.mark(head, stale="because", projection=1)


def _overlook_a_full_disk_at_the_end(store: Store) -> None:
    with store.transaction() as transaction:
        transaction.append(store.head("s"), events(11, 12))
        _fill_up(transaction)
        with suppress(DatabaseUnusable):
            transaction.save_snapshot(store.head("s"), 1, "open", 1, b"x" * 100_000)


@pytest.mark.parametrize(
    ("write", "says"),
    [
        (_append_to_a_full_disk, "the disk is full"),
        (_overlook_a_full_disk, "nothing of it was stored"),
        (_overlook_a_full_disk_at_the_end, "nothing of it was stored"),
    ],
)
def test_a_full_disk_is_never_a_success(sqlite_store: Store, write: Callable[[Store], None], says: str) -> None:
    append(sqlite_store, "s", events(1, 10))
    before = sqlite_store.head("s")
    with pytest.raises(DatabaseUnusable, match=says):
        write(sqlite_store)
    sqlite_store.close()  # with its connections, of which one is full
    assert sqlite_store.head("s") == before
    assert append(sqlite_store, "s", events(11, 400)).status == "stored"
    assert len(bodies(sqlite_store, "s")) == 400
