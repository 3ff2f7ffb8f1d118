"""Cassettes: one transaction, known again, extended by new interactions, refused where they changed."""

from __future__ import annotations

import gzip
import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
import yaml

from recorder.capture import capture_file
from recorder.dialects import dialect_of_url
from recorder.errors import BadInput, NotAStream
from recorder.ledger import Ledger
from tests.capture.made import CALL, calls, captures, chunk, sse
from tests.corpus import CORPUS, needs_corpus


def interaction(body: bytes, number: int = 1) -> dict[str, Any]:
    return {
        "request": {
            "method": "POST",
            "uri": "https://api.openai.com/v1/chat/completions",
            "body": json.dumps({"model": "m", "messages": [], "n": number}),
            "headers": {},
        },
        "response": {
            "status": {"code": 200, "message": "OK"},
            "headers": {"content-type": ["text/event-stream"]},
            "body": {"string": body.decode()},
        },
    }


def written(path: Path, *interactions: object) -> Path:
    path.write_text(yaml.safe_dump({"version": 1, "interactions": list(interactions)}), "utf-8")
    return path


ONE, TWO = interaction(sse(*CALL, "[DONE]"), 1), interaction(sse(chunk(content="hi", finish="stop"), "[DONE]"), 2)


def test_a_cassette_that_grew_by_an_interaction_is_extended(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    first = capture_file(ledger, written(path, ONE))
    assert (first.status, first.events) == ("stored", 8)
    second = capture_file(ledger, written(path, ONE, TWO))
    assert (second.status, second.events, second.last_seq) == ("extended", 5, 13)
    assert [row[:2] + row[3:] for row in captures(ledger, "x")] == [(1, 8, True), (9, 13, True)]
    capture_file(ledger, path, name="at once")
    assert calls(ledger, "x") == calls(ledger, "at once")
    assert [event.body for event in ledger.events("x")] == [event.body for event in ledger.events("at once")]


def test_the_same_cassette_is_known_however_it_is_written(ledger: Ledger, tmp_path: Path) -> None:
    capture_file(ledger, written(tmp_path / "x.yaml", ONE, TWO))
    other = tmp_path / "x.json"
    other.write_text(json.dumps({"interactions": [ONE, TWO], "version": 1}, indent=1))
    packed = tmp_path / "x.yaml.gz"
    packed.write_bytes(gzip.compress((tmp_path / "x.yaml").read_bytes()))
    for path in (tmp_path / "x.yaml", other, packed):
        again = capture_file(ledger, path)
        assert (again.stream, again.status, again.events, again.last_seq) == ("x", "known", 0, 13)
    assert len(captures(ledger, "x")) == 1


@pytest.mark.parametrize(
    "interactions",
    [
        pytest.param([ONE], id="one fewer"),
        pytest.param([TWO, ONE], id="another order"),
        pytest.param([interaction(sse(*CALL).replace(b"add", b"sub"), 1), TWO], id="another answer"),
        pytest.param([interaction(sse(*CALL, "[DONE]"), 9), TWO, TWO], id="another request, and longer"),
    ],
)
def test_a_cassette_that_changed_is_refused_and_changes_nothing(
    ledger: Ledger, tmp_path: Path, interactions: list[object]
) -> None:
    capture_file(ledger, written(tmp_path / "x.yaml", ONE, TWO))
    before = ledger.head("x")
    with pytest.raises(BadInput, match=r"x\.yaml: the stream 'x' holds other bytes.*--name"):
        capture_file(ledger, written(tmp_path / "x.yaml", *interactions))
    assert ledger.head("x") == before
    assert len(captures(ledger, "x")) == 1


def test_a_broken_exchange_does_not_keep_the_others_out(ledger: Ledger, tmp_path: Path) -> None:
    broken: list[object] = [5, {"request": None, "response": "nothing"}, {"request": ONE["request"]}]
    capture_file(ledger, written(tmp_path / "x.yaml", ONE, *broken, TWO))
    kinds = [event.kind for event in ledger.events("x")]
    assert kinds.count("http.error") == 3
    assert kinds.count("http.end") == 2
    assert calls(ledger, "x")[0][4] == "complete"
    _, rows = ledger.sql("SELECT status, count(*) FROM runs WHERE kind = 'exchange' GROUP BY status ORDER BY status")
    assert dict(rows)["ok"] == 2


def test_two_captures_of_one_cassette_at_once_store_it_once(tmp_path: Path) -> None:
    path, database = written(tmp_path / "x.yaml", ONE, TWO), tmp_path / "x.db"
    with Ledger.open(database):
        pass  # the schema is there

    def capture(_: int) -> str:
        with Ledger.open(database) as ledger:
            try:
                return capture_file(ledger, path).status
            except BadInput:
                return "refused"

    with ThreadPoolExecutor(4) as pool:
        statuses = list(pool.map(capture, range(4)))
    assert statuses.count("stored") == 1
    assert set(statuses) <= {"stored", "known", "refused"}
    with Ledger.open(database) as ledger:
        assert ledger.head("x").last_seq == 13


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("interactions: []\nversion: 1\n", "a cassette without an exchange; nothing was stored"),
        ("interactions:\n- request: [\nversion: 1\n", "the cassette is neither YAML nor JSON: line "),
        ("interactions: 5\n", "text that is no SSE, JSON lines, cassette or HAR"),
    ],
)
def test_what_is_no_cassette_is_refused_by_name(ledger: Ledger, tmp_path: Path, text: str, told: str) -> None:
    path = tmp_path / "x.yaml"
    path.write_text(text)
    with pytest.raises(BadInput) as caught:
        capture_file(ledger, path)
    assert str(caught.value).startswith(f"{path}: ")
    assert told in str(caught.value)
    assert ledger.streams() == []


def test_json_that_breaks_off_is_no_cassette(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "x.json"
    path.write_text('{"version": 1, "interactions": [{"request": {')
    with pytest.raises((NotAStream, BadInput), match=r"x\.json: "):
        capture_file(ledger, path)
    assert ledger.streams() == []


@needs_corpus
def test_every_exchange_of_real_traffic_has_its_dialect(ledger: Ledger) -> None:
    for path in sorted((CORPUS / "cassettes").glob("*")):
        capture_file(ledger, path)
    query = "SELECT stream, run_id, dialect, meta FROM events WHERE kind = 'http.request'"
    exchanges = [(stream, run, dialect, json.loads(meta)) for stream, run, dialect, meta in ledger.sql(query)[1]]
    assert len(exchanges) == 226
    unknown = []
    for stream, run, dialect, meta in exchanges:
        named = dialect_of_url(meta["url"]) if meta["method"] == "POST" else None
        assert named in (None, dialect), (stream, meta["url"])
        if dialect == "unknown":
            unknown.append((stream, run))
    assert len(unknown) <= 20, "what asks a model is known by its frames where the URL was taken out"
    _, noted = ledger.sql("SELECT DISTINCT stream, run_id FROM findings WHERE rule = 'unknown-frame'")
    assert set(noted) <= set(unknown)
    assert len(set(unknown) - set(ledger.sql("SELECT stream, run_id FROM findings")[1])) >= 17, "the rest is no noise"
