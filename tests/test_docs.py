"""The documents: what their examples print is what they print now, and `docs/sql.md` is the contract that there is."""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import recorder
from recorder.capture import capture_file
from recorder.ledger import Ledger
from tests import postgres

REPOSITORY = Path(__file__).parents[1]
SQL = (REPOSITORY / "docs" / "sql.md").read_text("utf-8")
QUERIES = dict(re.findall(r"^### (\d+\. .*?)\n(?:.*?)```sql\n(.*?)```", SQL, re.DOTALL | re.MULTILINE))
WAITED = re.search(r"^### And the time .*?```sql\n(.*?)```", SQL, re.DOTALL | re.MULTILINE)
ON_POSTGRES = dict(re.findall(r"^(\d+)\. [^\n]*\n\n```sql\n# Postgres\n(.*?)```", SQL, re.DOTALL | re.MULTILINE))
"""Queries that Postgres spells otherwise, by number."""
SECTIONS = re.findall(r"^### (`.*?)\n(.*?)(?=^##)", SQL, re.DOTALL | re.MULTILINE)
VIEWS = {view: re.findall(r"^\| `(\w+)` \| (\w+) \|", body, re.MULTILINE) for views, body in SECTIONS
         for view in re.findall(r"`(\w+)`", views)}  # fmt: skip
"""Columns and types by view, as documented."""


@pytest.fixture(scope="module")
def log(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    with recorder.open(tmp_path_factory.mktemp("docs") / "log.db") as ledger:
        capture_recordings(ledger)
        yield ledger


@pytest.fixture(scope="module")
def log_on_postgres() -> Iterator[Ledger]:
    server = postgres.server()
    url = server.new()
    with recorder.open(url) as ledger:
        capture_recordings(ledger)
        yield ledger
    server.drop(url)


def capture_recordings(ledger: Ledger) -> None:
    for path in sorted((REPOSITORY / "cassettes").iterdir()):
        if path.suffix in (".sse", ".jsonl", ".yaml") and path.name != "seed003.jsonl":
            capture_file(ledger, path)


def test_examples_print_what_the_documents_say() -> None:
    done = subprocess.run(
        [sys.executable, REPOSITORY / "scripts" / "docs", "--check"],
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, f"run scripts/docs:\n{done.stdout}{done.stderr}"


def test_there_are_ten_queries() -> None:
    assert [name.partition(".")[0] for name in QUERIES] == [str(number) for number in range(1, 11)]


@pytest.mark.parametrize("name", QUERIES)
def test_a_query_finds_something_in_the_shipped_recordings(name: str, log: Ledger) -> None:
    columns, rows = log.sql(QUERIES[name])
    assert len(set(columns)) == len(columns)
    assert list(rows)


@pytest.mark.postgres
@pytest.mark.parametrize("name", QUERIES)
def test_a_query_finds_the_same_on_postgres(name: str, log: Ledger, log_on_postgres: Ledger) -> None:
    number = name.partition(".")[0]
    columns, rows = log.sql(QUERIES[name])
    same_columns, same_rows = log_on_postgres.sql(ON_POSTGRES.get(number, QUERIES[name]))
    assert same_columns == columns
    assert sorted(map(repr, map(_as_text, same_rows))) == sorted(map(repr, map(_as_text, rows)))


def _as_text(row: tuple[Any, ...]) -> tuple[str | None, ...]:
    return tuple(None if value is None else str(value) for value in row)


@pytest.mark.postgres
@pytest.mark.parametrize("view", VIEWS)
def test_a_views_columns_are_the_same_on_postgres(view: str, log: Ledger, log_on_postgres: Ledger) -> None:
    query = f"SELECT * FROM {view} LIMIT 0"
    assert log_on_postgres.sql(query)[0] == log.sql(query)[0]


def test_answers_come_after_their_calls(log: Ledger) -> None:
    assert WAITED is not None
    seconds = [row[-1] for row in log.sql(WAITED[1])[1]]
    assert len(seconds) > 4
    assert min(seconds) >= 0


def test_every_view_is_documented(log: Ledger) -> None:
    assert {name for (name,) in log.sql("SELECT name FROM sqlite_master WHERE type = 'view'")[1]} == VIEWS.keys()


@pytest.mark.parametrize("view", VIEWS)
def test_a_views_columns_are_the_documented_ones(view: str, log: Ledger) -> None:
    assert [name for name, _ in VIEWS[view]] == log.sql(f"SELECT * FROM {view} LIMIT 0")[0]


@pytest.mark.parametrize("view", VIEWS)
def test_a_columns_values_have_the_documented_type(view: str, log: Ledger) -> None:
    for column, documented in VIEWS[view]:
        _, rows = log.sql(f"SELECT DISTINCT typeof({column}) FROM {view}")
        assert {kind for (kind,) in rows} <= {documented, "null"}, column
