"""Secrets of the heads of exchanges are nowhere in the database's files, whatever document they came in."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from recorder.capture import capture_file
from recorder.ledger import Ledger
from tests.hars import ANSWER, EXPORTERS, QUESTION, Entry, entry, named, written

SECRET = b"s3cret"
HEADERS = {
    "Authorization": ["Bearer s3cret-1"],
    "x-api-key": ["s3cret-2"],
    "Cookie": ["a=s3cret-3; b=s3cret-4"],
    "Referer": ["https://me:s3cret-5@h/?key=s3cret-6"],
    "X-Amz-Security-Token": ["s3cret-7"],
    "Sec-WebSocket-Protocol": ["realtime, openai-insecure-api-key.s3cret-8"],
    "x-upstream": ["Basic s3cret-9"],
}
GOT = {"Set-Cookie": ["a=s3cret-a", "b=s3cret-b"], "Location": ["https://h/?access_token=s3cret-c#token=s3cret-d"]}
URL = "https://me:s3cret-e@generativelanguage.example/v1beta/models/m:generateContent?key=s3cret-f&x-goog-signature=s3cret-g"
TOKENS = {"access_token": "s3cret-h", "token_type": "Bearer", "refresh_token": "s3cret-i", "id_token": "s3cret-j"}
FORM = "grant_type=refresh_token&client_secret=s3cret-k&refresh_token=s3cret-l"
FORM_TYPE = "application/x-www-form-urlencoded"


def interaction(body: str, answer: str, **headers: list[str]) -> dict[str, Any]:
    request = {"method": "POST", "uri": URL, "headers": HEADERS | headers, "body": body}
    return {"request": request, "response": {"status": {"code": 200}, "headers": GOT, "body": {"string": answer}}}


def entries() -> list[Entry]:
    """All exporters' entries, one with every secret that a cassette has here, one that asks for a token."""
    sent = [{"name": name, "value": value} for name, values in HEADERS.items() for value in values]
    got = [{"name": name, "value": value} for name, values in GOT.items() for value in values]
    content = {"mimeType": "text/event-stream", "text": ANSWER, "size": 9}
    full = entry(url=URL, sent=sent, got=got, post={"text": QUESTION}, content=content)
    asked = entry(
        sent=named(content_type=FORM_TYPE),
        post={"mimeType": FORM_TYPE, "text": FORM},
        content={"mimeType": "application/json", "text": json.dumps(TOKENS), "size": 9},
    )
    return [*(maker() for maker in EXPORTERS.values()), full, asked]


def cassette(path: Path) -> Path:
    interactions = [
        interaction(QUESTION, ANSWER),
        interaction(FORM, json.dumps(TOKENS), **{"content-type": [FORM_TYPE]}),
    ]
    path.write_text(yaml.safe_dump({"version": 1, "interactions": interactions}), "utf-8")
    return path


@pytest.mark.parametrize("kind", ["har", "yaml"])
def test_a_secret_of_a_head_never_reaches_the_disk(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path / "x.har", *entries()) if kind == "har" else cassette(tmp_path / "x.yaml")
    assert path.read_bytes().count(SECRET) > 20
    (tmp_path / "log").mkdir()
    with Ledger.open(tmp_path / "log" / "x.db") as ledger:
        capture_file(ledger, path, everything=True)
        files = [file for file in (tmp_path / "log").iterdir() if SECRET in file.read_bytes()]
        assert files == []
    assert [file for file in (tmp_path / "log").iterdir() if SECRET in file.read_bytes()] == []
    with Ledger.open(tmp_path / "log" / "x.db") as ledger:
        _, rows = ledger.sql("SELECT redacted FROM events WHERE redacted IS NOT NULL ORDER BY seq")
        marks = {mark for (marks,) in rows for mark in marks.split(", ")}
    assert {"query:key", "url:userinfo", "header:Authorization", "form:client_secret", "body:access_token"} <= marks
