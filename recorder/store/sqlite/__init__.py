"""The store on SQLite: everything that is SQLite's own is in this folder and in the migrations."""

from recorder.store.sqlite.backend import SqliteBackend, open_sqlite

__all__ = ["SqliteBackend", "open_sqlite"]
