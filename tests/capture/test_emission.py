"""Bytes out are bytes in: over the project's recordings and over real traffic."""

from __future__ import annotations

from pathlib import Path

import pytest

from recorder.capture import capture_file
from recorder.ledger import Ledger
from recorder.replay.emit import Form
from tests.capture.made import emitted
from tests.command import Rec
from tests.command import rec as run
from tests.corpus import DUMPS, STREAMS, needs_corpus
from tests.streams import RECORDINGS

FORMS: dict[str, Form] = {".sse": "sse", ".jsonl": "jsonl", ".ndjson": "jsonl", ".bin": "raw", ".json": "raw"}
PARTS = 8


def hold(ledger: Ledger, path: Path) -> None:
    captured = capture_file(ledger, path)
    assert captured.status == "stored", path.name
    assert emitted(ledger, captured.stream, FORMS[path.suffix]) == path.read_bytes(), path.name
    assert capture_file(ledger, path).status == "known", path.name


@pytest.mark.parametrize("path", RECORDINGS, ids=lambda path: path.name)
def test_recordings_of_the_project(ledger: Ledger, path: Path) -> None:
    hold(ledger, path)


@needs_corpus
@pytest.mark.parametrize("part", range(PARTS))
def test_provider_streams(ledger: Ledger, part: int) -> None:
    for path in STREAMS[part::PARTS]:
        hold(ledger, path)


@needs_corpus
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_framework_dumps(ledger: Ledger, path: Path) -> None:
    hold(ledger, path)


@needs_corpus
def test_the_command_gives_the_same_bytes(rec: Rec) -> None:
    """All at once, as a user would: every file in one command, out of one database."""
    paths = [path for path in (*STREAMS, *DUMPS) if path.suffix == ".sse"][::9]
    rec("capture", *paths).fine()
    for path in paths:
        name = path.name.removesuffix(".sse")
        assert rec("replay", name, "--emit", "sse").fine().stdout == path.read_bytes()
    assert run("replay", paths[0].stem, "--emit", "sse", "-d", rec.database).fine().stdout == paths[0].read_bytes()


def test_json_lines_of_server_sent_events_are_json(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "mixed.sse"
    path.write_bytes(b'data: {"a":1}\n\ndata: no JSON\n\ndata: [DONE]\n\ndata: {"a":\ndata: 2}\n\n')
    capture_file(ledger, path)
    assert emitted(ledger, "mixed", "jsonl") == b'{"a":1}\n{"a": 2}\n'
