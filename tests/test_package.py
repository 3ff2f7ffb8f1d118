"""`import recorder`: light, with its few names."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

import recorder
from recorder.errors import DatabaseUnusable
from recorder.ledger import Ledger


def test_import_fetches_nothing_until_open_is_asked_for() -> None:
    code = (
        "import sys, recorder; before = 'recorder.ledger' in sys.modules; "
        "recorder.open; print(before, 'recorder.ledger' in sys.modules)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code],
        cwd=Path(__file__).parents[1],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == ["False", "True"]


def test_open_makes_a_ledger(tmp_path: Path) -> None:
    with recorder.open(tmp_path / "x.db") as ledger:
        assert isinstance(ledger, Ledger)
        assert ledger.streams() == []


def test_other_names_are_refused_by_name() -> None:
    with pytest.raises(AttributeError, match="'recorder' has no attribute 'opne'"):
        recorder.opne  # type: ignore[attr-defined]  # noqa: B018


def test_dir_shows_the_lazy_names() -> None:
    assert {"async_transport", "callback", "capture", "open", "record", "transport"} <= set(dir(recorder))


def test_open_without_a_place_opens_the_database_of_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REC_DATABASE", str(tmp_path / "x.db"))
    with recorder.open() as log:
        assert log.streams() == []
    assert (tmp_path / "x.db").exists()
    with pytest.raises(DatabaseUnusable, match="does not exist"):
        recorder.open(tmp_path / "y.db", create=False)
