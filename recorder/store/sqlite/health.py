"""What can be wrong with a SQLite database and its place."""

from __future__ import annotations

import sqlite3
from pathlib import Path

from sqlalchemy import Connection, create_engine

from recorder.store import migrate
from recorder.store.shapes import Problem
from recorder.store.sqlite.files import PREFIXES

WAL_RESET_FIXED = (3, 51, 3)
"""The first SQLite without the WAL-reset bug (https://www.sqlite.org/wal.html), which needs several writers."""
NETWORK = {
    "9p",
    "afs",
    "beegfs",
    "ceph",
    "cifs",
    "fuse.glusterfs",
    "fuse.rclone",
    "fuse.s3fs",
    "fuse.sshfs",
    "gpfs",
    "lustre",
    "ncpfs",
    "nfs",
    "nfs4",
    "prl_fs",
    "smb3",
    "smbfs",
    "vboxsf",
}
"""File systems whose locks or shared memory SQLite's WAL cannot rely on."""
_MOUNTS = Path("/proc/mounts")


def problems(connection: Connection, path: Path) -> list[Problem]:
    """Each thing that is damaged or will hurt."""
    lines = [str(row[0]) for row in connection.exec_driver_sql("PRAGMA integrity_check(20)")]
    found = [Problem("damage", " ".join(line.split())) for line in lines if line != "ok"]
    found += [Problem("damage", text) for text in _changed(connection)]
    names = connection.exec_driver_sql("SELECT name FROM sqlite_master WHERE type = 'table' ORDER BY name").scalars()
    foreign = [name for name in names if not name.startswith(PREFIXES)]
    if foreign:
        found.append(Problem("risk", f"tables that are not recorder's: {', '.join(foreign)}"))
    mode = connection.exec_driver_sql("PRAGMA journal_mode").scalar_one()
    if mode != "wal":
        text = f"journal mode is {mode}, not wal: readers and the writer will wait for each other"
        found.append(Problem("risk", text))
    return found + surroundings(path, sqlite3.sqlite_version_info)


def _changed(connection: Connection) -> list[str]:
    """What of the schema is not as this program's migrations make it."""
    if connection.exec_driver_sql("PRAGMA user_version").scalar_one() != migrate.SCHEMA:
        return []  # An older schema is brought up before it is written.
    engine = create_engine("sqlite://")
    with engine.begin() as fresh:
        migrate.upgrade(fresh)
        wanted = _objects(fresh)
    engine.dispose()
    here = _objects(connection)
    lines = [f"{_named(key, wanted[key][0])} is missing{_means(key)}" for key in wanted.keys() - here.keys()]
    for key in wanted.keys() & here.keys():
        if wanted[key] != here[key]:
            lines.append(f"{_named(key, wanted[key][0])} was changed{_means(key)}")
    for key in here.keys() - wanted.keys():
        if key[0] == "trigger" and here[key][0].startswith(PREFIXES):
            lines.append(f"{_named(key, here[key][0])} is not recorder's: it may change what is written")
    return sorted(lines)


def _objects(connection: Connection) -> dict[tuple[str, str], tuple[str, str]]:
    """Table and SQL of each trigger, view, index and table, by its kind and name."""
    rows = connection.exec_driver_sql("SELECT type, name, tbl_name, sql FROM sqlite_master WHERE sql IS NOT NULL")
    return {(kind, name): (table, sql) for kind, name, table, sql in rows}


def _named(key: tuple[str, str], table: str) -> str:
    kind, name = key
    return f"the {kind} {name} of {table}" if kind in ("trigger", "index") else f"the {kind} {name}"


def _means(key: tuple[str, str]) -> str:
    """What follows from it."""
    return {"trigger": ": the log can be changed", "view": ": queries may be told what is not so"}.get(key[0], "")


def surroundings(path: Path, version: tuple[int, ...]) -> list[Problem]:
    """What the SQLite library and the file system may do to the database."""
    found = []
    if version < WAL_RESET_FIXED:
        plain, fixed = (".".join(map(str, numbers)) for numbers in (version, WAL_RESET_FIXED))
        text = (
            f"SQLite {plain} is older than {fixed}, several processes that write at once can damage the database: let"
            f" one process write at a time, or use SQLite {fixed}"
        )
        found.append(Problem("risk", text))
    kind = file_system(path.resolve(), _MOUNTS.read_text(errors="replace")) if _MOUNTS.exists() else None
    if kind in NETWORK:
        found.append(Problem("risk", f"the file is on a network file system ({kind}): move it to a local disk"))
    return found


def file_system(path: Path, mounts: str) -> str | None:
    """The type of the file system that holds an absolute path, by the text of `/proc/mounts`; the last mount counts."""
    best, kind = -1, None
    for line in mounts.splitlines():
        fields = line.split(" ")
        if len(fields) < 3:
            continue
        place = Path(_unescaped(fields[1]))
        if path.is_relative_to(place) and len(place.parts) >= best:
            best, kind = len(place.parts), fields[2]
    return kind


def _unescaped(text: str) -> str:
    """`/proc/mounts` writes blank, tab, newline and backslash as three octal digits."""
    for code, character in (("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")):
        text = text.replace(code, character)
    return text
