"""Events as lines of an export: whatever an event holds comes back, and what is no event's line is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import structs

from recorder.events import Event, jsontext
from recorder.events.lines import event_of, line_of

EVENT = Event(
    event_id=bytes(range(16)),
    dialect="openai.chat",
    layer="wire",
    kind="chunk",
    body=b'{"a": 1}',
    framing="data: {body}\n\n",
    arrived_at=1_700_000_000_000_000,
    seq=7,
    recorded_at=1_700_000_000_000_001,
    salt=b"s" * 16,
    body_hash=b"b" * 32,
    hash=b"h" * 32,
)
FULL = structs.replace(
    EVENT,
    run_id="run",
    parent_run_id="parent",
    name="name",
    source_id="source",
    occurred_at=5,
    frame=b"data: x\r\n\r\n",
    cuts=b"[[1, 2]]",
    meta=b'{"status": 200}',
    redacted="a key",
)
ERASED = structs.replace(EVENT, body=b"", salt=None, erased=True)


def again(event: Event) -> Event:
    line = line_of(event)
    assert line.endswith(b"\n")
    assert line.count(b"\n") == 1
    return event_of(jsontext.decode(line))


@pytest.mark.parametrize("event", [EVENT, FULL, ERASED], ids=["few fields", "all fields", "erased"])
def test_an_event_comes_back(event: Event) -> None:
    assert again(event) == event


def test_what_an_event_does_not_have_is_left_out() -> None:
    assert json.loads(line_of(EVENT)).keys() == {
        *("event_id", "dialect", "layer", "kind", "body", "framing", "arrived_at", "seq", "recorded_at", "salt"),
        *("body_hash", "hash", "encoding", "version"),
    }
    assert json.loads(line_of(ERASED))["erased"] is True
    assert "salt" not in json.loads(line_of(ERASED))


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"\0",
        b"a\0b\r\n\t\x1f\x7f",
        b"\xff\xfe",
        b"half of a pair \xed\xa0\xbd",
        b'{"half": "\\ud83d"}',
        "é \u2028 \u2029 \ufeff 😀".encode(),
        "\ufeff".encode(),
        b"\xef\xbb",
        bytes(range(256)),
        b'{"base64": "AA=="}',
        b"[" * 1000,
        b"x" * 5_000_000,
        b"\xff" * 5_000_000,
    ],
    ids=lambda body: repr(body[:24]),
)
def test_every_body_comes_back(body: bytes) -> None:
    event = structs.replace(FULL, body=body, frame=body, meta=body, cuts=body)
    assert again(event) == event


@given(st.binary(), st.one_of(st.none(), st.binary()), st.text(st.characters(exclude_categories=["Cs"])))
def test_whatever_it_holds_comes_back(body: bytes, frame: bytes | None, name: str) -> None:
    event = structs.replace(EVENT, body=body, frame=frame, name=name, kind=name)
    assert again(event) == event


_WRONG = {
    "event_id": ["x", 1, None, {"base64": "AA=="}],
    "dialect": [1, None, {}],
    "layer": ["other", 1],
    "kind": [1, None],
    "body": [1, None, [], {}, {"base64": 1}, {"base64": "?"}, {"base64": "A"}, {"hex": "00"}],
    "framing": [None, 1],
    "frame": [1, {"base64": None}],
    "arrived_at": ["1", 1.5, True, None],
    "recorded_at": [False, "now"],
    "seq": [True, "1", 1.0],
    "salt": [1, "zz", None],
    "body_hash": ["z", 1],
    "hash": [[], "0"],
    "encoding": ["latin-1", 1],
    "erased": [1, "true", None],
    "version": ["1", True],
    "unknown": [1, None],
}


@pytest.mark.parametrize(("field", "value"), [(name, value) for name, values in _WRONG.items() for value in values])
def test_what_no_event_has_is_refused(field: str, value: Any) -> None:
    fields = {**json.loads(line_of(EVENT)), field: value}
    with pytest.raises(ValueError, match=f"{field} is|its layer or encoding is none that there is"):
        event_of(fields)


@pytest.mark.parametrize("field", sorted(json.loads(line_of(EVENT)).keys() - {"salt", "encoding"}))
def test_what_every_event_has_must_be_there(field: str) -> None:
    fields = json.loads(line_of(EVENT))
    del fields[field]
    with pytest.raises(ValueError, match=f"it lacks {field}"):
        event_of(fields)
