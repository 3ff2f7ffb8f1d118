"""Real traffic: recognised, framed without losing a byte, stored nearly always without its frame's bytes."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from recorder.events.framing import render
from recorder.sources import Format, detect, frames, template_of
from recorder.sources.cassette import read_cassette
from recorder.sources.detect import HEAD_BYTES
from tests.corpus import CORPUS, needs_corpus

FRAMINGS = {".sse": "sse", ".ndjson": "ndjson", ".jsonl": "ndjson", ".json": "json_array", ".bin": "eventstream"}


def streams() -> Iterator[Path]:
    for folder in ("streams", "langchain_events", "reported/streams"):
        for path in sorted((CORPUS / folder).glob("*")):
            if path.suffix in FRAMINGS and not path.name.endswith(".meta.json"):
                yield path


def format_of(path: Path) -> Format:
    data = path.read_bytes()
    return detect(data[:HEAD_BYTES], name=path.name, complete=len(data) <= HEAD_BYTES)


@needs_corpus
def test_every_stream_is_recognised() -> None:
    found = {path.name: format_of(path) for path in streams()}
    assert found == {path.name: Format(framing=FRAMINGS[path.suffix]) for path in streams()}  # type: ignore[arg-type]
    assert len(found) > 500


@needs_corpus
def test_every_stream_comes_back_byte_for_byte_and_nearly_always_from_templates() -> None:
    count = explicit = 0
    for path in streams():
        rebuilt = bytearray()
        for frame in frames(path, format_of(path)):
            kind = frame.event or "chunk"
            template, raw = template_of(frame, kind)
            rebuilt += render(template, frame.body, kind, frame.id) if raw is None else raw
            count += 1
            explicit += raw is not None
            assert frame.kind != "partial", path.name
        assert bytes(rebuilt) == path.read_bytes(), path.name
    assert explicit / count < 0.001


@needs_corpus
def test_an_odd_first_line_is_stored_as_a_block_without_data() -> None:
    first, second, *_ = frames(CORPUS / "streams" / "llm0005__0.sse", Format(framing="sse"))
    assert (first.kind, second.kind) == ("comment", "data")


@needs_corpus
def test_a_javascript_streams_end_keeps_its_name() -> None:
    *_, last = frames(CORPUS / "langchain_events" / "js_react_agent_v2.sse", Format(framing="sse"))
    assert (last.kind, last.event) == ("comment", "end")


@needs_corpus
def test_every_cassette_is_read_whole() -> None:
    paths = sorted((CORPUS / "cassettes").glob("*"))
    for path in paths:
        assert format_of(path) == Format(framing="cassette"), path.name
        parts = list(read_cassette(path))
        assert {part.kind for part in parts} == {"http.request", "http.response", "frame", "http.end"}, path.name
    assert len(paths) == 114
