"""What a program sends and gets beside its conversations with models: kept as it is, and no noise made of it."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from recorder.capture import capture_file
from recorder.ledger import Ledger

API = "https://api.openai.com/v1"
PNG = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR" + bytes(range(256))


def captured(ledger: Ledger, tmp_path: Path, **fields: Any) -> list[tuple[str, str, bytes]]:
    """Dialect, kind and body of the events of a cassette with one exchange."""
    body = fields.pop("body", b"")
    body = {"encoding": "base64", "string": base64.b64encode(body).decode()} if isinstance(body, bytes) else body
    answer = {"status": {"code": fields.pop("status", 200)}, "headers": fields.pop("got", {}), "body": body}
    request = {"method": "POST", "uri": API, "headers": {}, "body": fields.pop("sent", b"")} | fields
    path = tmp_path / "x.yaml"
    path.write_text(yaml.safe_dump({"interactions": [{"request": request, "response": answer}]}), "utf-8")
    capture_file(ledger, path)
    return [(event.dialect, event.kind, event.body) for event in ledger.events("x")]


def findings(ledger: Ledger) -> list[tuple[Any, ...]]:
    return list(ledger.sql("SELECT rule, severity FROM findings ORDER BY seq")[1])


@pytest.mark.parametrize(
    ("method", "path", "answer"),
    [
        ("POST", "/embeddings", {"object": "list", "data": [{"object": "embedding", "index": 0, "embedding": [0.1]}]}),
        ("GET", "/models", {"object": "list", "data": [{"id": "m", "object": "model", "created": 1}]}),
        ("GET", "/models", {"data": [{"type": "model", "id": "m", "display_name": "M"}], "has_more": False}),
        ("GET", "/v1beta/models", {"models": [{"name": "models/m", "supportedGenerationMethods": ["x"]}]}),
        ("POST", "/v1beta/models/m:embedContent", {"embedding": {"values": [0.1]}}),
        ("POST", "/v1beta/models/m:countTokens", {"totalTokens": 31}),
        ("POST", "/messages/count_tokens", {"input_tokens": 14}),
        ("POST", "/files", {"object": "file", "id": "file-1", "filename": "a.jsonl", "purpose": "batch"}),
        ("DELETE", "/files/file-1", {"object": "file", "id": "file-1", "deleted": True}),
        ("GET", "/batches/b", {"object": "batch", "id": "b", "status": "completed"}),
        ("POST", "/moderations", {"id": "modr-1", "model": "m", "results": [{"flagged": False}]}),
        ("POST", "/images/generations", {"created": 1, "data": [{"b64_json": "iVBORw0KGgo="}]}),
        ("POST", "/audio/transcriptions", {"text": "hello", "usage": {"type": "duration", "seconds": 2}}),
        ("GET", "/chat/completions", {"object": "list", "data": [], "has_more": False}),
        ("GET", "/api/tags", {"models": [{"name": "m", "size": 1}]}),
        ("POST", "/api/embed", {"model": "m", "embeddings": [[0.1]], "total_duration": 1}),
        ("POST", "/v2/embed", {"id": "e", "embeddings": {"float": [[0.1]]}, "meta": {"api_version": {"version": "2"}}}),
        ("POST", "/v2/rerank", {"results": [{"index": 0, "relevance_score": 0.9}], "id": "r", "meta": {}}),
        ("POST", "/search", {"query": "q", "results": [{"title": "t", "content": "c"}], "response_time": 1.2}),
    ],
)
def test_an_answer_of_no_model_is_kept_and_no_finding(
    method: str, path: str, answer: dict[str, Any], ledger: Ledger, tmp_path: Path
) -> None:
    text = json.dumps(answer)
    events = captured(ledger, tmp_path, method=method, uri=API + path, body={"string": text})
    assert [(dialect, body) for dialect, _, body in events][2] == ("unknown", text.encode())
    assert findings(ledger) == []
    assert ledger.state("x").messages == []
    assert list(ledger.sql("SELECT status FROM runs")[1]) == [("ok",)]


@pytest.mark.parametrize(
    ("path", "media_type", "body"),
    [
        ("/images/edits", "image/png", PNG),
        ("/audio/speech", "audio/mpeg", b"\xff\xfb\x90" + PNG),
        ("/audio/speech", "audio/wav", b"RIFF\x24\0\0\0WAVE" + PNG),
        ("/files/file-1/content", "application/octet-stream", bytes(4096)),
        ("/page", "text/html; charset=utf-8", b"<!doctype html>\n<p>data: {</p>\n"),
    ],
)
def test_a_binary_answer_is_kept_byte_for_byte(
    path: str, media_type: str, body: bytes, ledger: Ledger, tmp_path: Path
) -> None:
    events = captured(ledger, tmp_path, uri=API + path, got={"content-type": [media_type]}, body=body)
    assert [kept for _, kind, kept in events if not kind.startswith("http.")] == [body]
    assert findings(ledger) == []


@pytest.mark.parametrize("method", ["OPTIONS", "HEAD", "GET", "options"])
def test_what_asks_for_no_work_is_no_model_call_without_an_answer(method: str, ledger: Ledger, tmp_path: Path) -> None:
    events = captured(ledger, tmp_path, method=method, uri=f"{API}/chat/completions", status=200)
    assert {dialect for dialect, _, _ in events} == {"unknown"}
    assert findings(ledger) == []


@pytest.mark.parametrize("status", [301, 307, 308])
def test_a_redirection_is_no_answer_and_no_failure(status: int, ledger: Ledger, tmp_path: Path) -> None:
    uri, got = f"{API}/chat/completions", {"location": ["https://other.example/v1"]}
    captured(ledger, tmp_path, uri=uri, status=status, got=got, body={"string": "<html>moved</html>"})
    assert findings(ledger) == []


def test_a_refused_call_of_a_model_has_the_dialect_of_its_url(ledger: Ledger, tmp_path: Path) -> None:
    events = captured(ledger, tmp_path, uri=f"{API}/chat/completions", status=503, body={"string": "<html>busy</html>"})
    assert {dialect for dialect, _, _ in events} == {"openai.chat"}
    assert findings(ledger) == [("failure", "error")]


def test_a_form_with_a_file_is_one_note_and_kept(ledger: Ledger, tmp_path: Path) -> None:
    form = b'--b\r\nContent-Disposition: form-data; name="file"; filename="a.png"\r\n\r\n' + PNG + b"\r\n--b--\r\n"
    choice = {"index": 0, "message": {"role": "assistant", "content": "A square."}, "finish_reason": "stop"}
    answer = json.dumps({"object": "chat.completion", "choices": [choice]})
    events = captured(ledger, tmp_path, uri=f"{API}/chat/completions", sent=form, body={"string": answer})
    assert events[0][2] == form
    assert findings(ledger) == [("not-json", "info")]
