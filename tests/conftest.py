"""What holds for every test: nobody's own database or account is touched, and no deadline depends on the machine."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from recorder.store import Store, open_store
from tests import postgres, postgres_server
from tests.databases import made
from tests.javascript.library import Library, NoLibrary, install, library

# A loaded machine is slow, not wrong.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")

_POSTGRES = [pytest.param(name, marks=pytest.mark.postgres) for name in postgres.NAMES]


def pytest_configure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        postgres_server.begin_run()


def pytest_unconfigure(config: pytest.Config) -> None:
    if not hasattr(config, "workerinput"):
        postgres.end_run()


@pytest.fixture(scope="session")
def langchainjs() -> Iterator[Library]:
    """@langchain/core in a Node process, installed where there is npm; what needs it is skipped where there is none."""
    try:
        folder = install()
    except NoLibrary as why:
        pytest.skip(str(why))
    with library(folder) as process:
        yield process


@pytest.fixture(autouse=True)
def _nobodys_data(tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch) -> None:
    """The default database lies in a fresh folder; LangChain reports to no service."""
    home: Path = tmp_path_factory.getbasetemp() / "home"
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(home))
    for name in ("REC_DATABASE", "LANGSMITH_TRACING", "LANGCHAIN_TRACING_V2"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(autouse=True)
def _nobodys_server(monkeypatch: pytest.MonkeyPatch) -> None:
    """No setting of libpq's that this machine has changes a test."""
    # The wheel's own variable picks one of the versions that it has.
    for name in [name for name in os.environ if name.startswith("PG") and not name.startswith("PGSERVER_")]:
        monkeypatch.delenv(name)


@pytest.fixture(params=["sqlite", *_POSTGRES])
def kind(request: pytest.FixtureRequest) -> str:
    """The kind of database that a test runs on."""
    return str(request.param)


@pytest.fixture
def database(kind: str, tmp_path: Path) -> Iterator[str]:
    """The path or URL of a database that nobody has used yet. The schema is in it already."""
    if kind == "sqlite":
        yield str(made(tmp_path / "runs.db"))
    else:
        yield from _made(kind)


@pytest.fixture
def empty_database(kind: str, tmp_path: Path) -> Iterator[str]:
    """As `database`, but without the schema."""
    if kind == "sqlite":
        yield str(tmp_path / "empty.db")
    else:
        yield from _made(kind, empty=True)


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    """An open store on `database`."""
    with open_store(database) as opened:
        yield opened


@pytest.fixture(params=_POSTGRES)
def server(request: pytest.FixtureRequest) -> str:
    """The name of a Postgres server, for a test that is about Postgres."""
    return str(request.param)


@pytest.fixture
def url(server: str) -> Iterator[str]:
    """The URL of a Postgres database with the schema in it."""
    yield from _made(server)


@pytest.fixture
def empty_url(server: str) -> Iterator[str]:
    """As `url`, but without the schema."""
    yield from _made(server, empty=True)


def _made(server: str, *, empty: bool = False) -> Iterator[str]:
    running = postgres.server(server)
    url = running.new(empty=empty)
    yield url
    running.drop(url)
