"""The store on Postgres: everything that is Postgres's own is in this folder and in the migrations."""

from recorder.store.postgres.backend import PostgresBackend, open_postgres

__all__ = ["PostgresBackend", "open_postgres"]
