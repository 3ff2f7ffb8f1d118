"""Bytes out are bytes in: over the project's recordings and over real traffic."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from recorder.capture import capture_file
from recorder.errors import NotAStream
from recorder.ledger import Ledger
from recorder.replay.emit import Form
from tests.capture.made import emitted
from tests.command import CASSETTES, Rec
from tests.command import rec as run
from tests.corpus import CORPUS, needs_corpus

APIS = ("openai-chat", "anthropic")
FORMS: dict[str, Form] = {".sse": "sse", ".jsonl": "jsonl", ".ndjson": "jsonl"}
PARTS = 8


def expected() -> list[dict[str, str]]:
    path = CORPUS / "expected.jsonl"
    return [json.loads(line) for line in path.read_bytes().splitlines()] if path.exists() else []


STREAMS = [CORPUS / "streams" / row["stream"] for row in expected() if row["api"] in APIS]
WIRE = [path for path in STREAMS if path.suffix in FORMS]
DUMPS = [
    path
    for path in sorted((CORPUS / "langchain_events").glob("*"))
    if path.name.endswith("_events_v2.jsonl") or path.suffix == ".sse"
]
RECORDINGS = sorted(path for path in CASSETTES.iterdir() if path.suffix in FORMS)


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
    for path in WIRE[part::PARTS]:
        hold(ledger, path)


@needs_corpus
def test_there_are_provider_streams_of_both_kinds() -> None:
    apis = {row["api"] for row in expected() if CORPUS / "streams" / row["stream"] in WIRE}
    assert apis == set(APIS)
    assert len(WIRE) > 200


@needs_corpus
@pytest.mark.parametrize("path", DUMPS, ids=lambda path: path.name)
def test_framework_dumps(ledger: Ledger, path: Path) -> None:
    hold(ledger, path)


@needs_corpus
def test_the_command_gives_the_same_bytes(rec: Rec) -> None:
    """All at once, as a user would: every file in one command, out of one database."""
    paths = [path for path in (*WIRE, *DUMPS) if path.suffix == ".sse"][::9]
    rec("capture", *paths).fine()
    for path in paths:
        name = path.name.removesuffix(".sse")
        assert rec("replay", name, "--emit", "sse").fine().stdout == path.read_bytes()
    assert run("replay", paths[0].stem, "--emit", "sse", "-d", rec.database).fine().stdout == paths[0].read_bytes()


@needs_corpus
def test_other_formats_of_the_corpus_are_stored_or_refused_by_name(ledger: Ledger) -> None:
    """Of dialects that are not read yet, too: whole, and given back; binary framings are refused in one line."""
    stored, refused = 0, list[bool]()
    for path in sorted((CORPUS / "streams").iterdir())[::5]:
        if path.name.endswith(".meta.json") or path in WIRE:
            continue
        try:
            captured = capture_file(ledger, path, name=path.name)
        except NotAStream as refusal:
            refused.append(str(refusal).startswith(f"{path}: "))
            continue
        stored += 1
        assert captured.last_seq > 0
        if path.suffix in FORMS:
            assert emitted(ledger, path.name, FORMS[path.suffix]) == path.read_bytes()
    assert stored > 20
    assert all(refused)
