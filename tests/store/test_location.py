"""Where the database is, and how its place is shown."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.store.location import default_database, shown


def test_the_variable_goes_before_the_platforms_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = tmp_path / "nowhere" / "mine.db"
    monkeypatch.setenv("REC_DATABASE", str(named))
    assert default_database() == str(named)
    assert not named.parent.exists()


def test_the_default_folder_is_made_where_it_is_asked_for(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HOME", "XDG_DATA_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(tmp_path / "home"))
    monkeypatch.setenv("REC_DATABASE", "")
    place = Path(default_database(create_folder=False))
    assert place.is_relative_to(tmp_path)
    assert not place.parent.exists()
    assert Path(default_database()) == place
    assert place.parent.is_dir()


@pytest.mark.parametrize(
    ("place", "seen"),
    [
        ("/data/a:b@c.db", "/data/a:b@c.db"),
        ("sqlite:////data/runs.db", "sqlite:////data/runs.db"),
        ("postgresql://ann:s3cret@host:5432/runs", "postgresql://ann:***@host:5432/runs"),
        ("postgresql://ann:s3/cr@et@host/runs", "postgresql://ann:***@host/runs"),
        ("postgresql://:s3cret@host/runs", "postgresql://:***@host/runs"),
        ("postgresql://ann@host/runs", "postgresql://ann@host/runs"),
        (
            "postgresql://host/runs?user=ann&password=s3cret&sslmode=require",
            "postgresql://host/runs?user=ann&password=***&sslmode=require",
        ),
    ],
)
def test_a_place_is_shown_without_its_password(place: str, seen: str) -> None:
    assert shown(place) == seen
