"""AWS's binary recordings in the log: whole, grown, damaged, and given out in another form."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path
from typing import Any
from zlib import crc32

import pytest

from recorder.capture import capture_file, capture_pipe
from recorder.errors import NotAStream
from recorder.events import eventstream
from recorder.ledger import Ledger
from tests.capture.made import calls, captures, emitted
from tests.command import CASSETTES


def message(name: str, payload: Any) -> bytes:
    headers = {":event-type": name, ":content-type": "application/json", ":message-type": "event"}
    return eventstream.encode(headers, json.dumps(payload).encode())


CALL = [
    message("messageStart", {"role": "assistant"}),
    message("contentBlockStart", {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "c1", "name": "f"}}}),
    message("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": '{"a": 1'}}}),
    message("contentBlockDelta", {"contentBlockIndex": 0, "delta": {"toolUse": {"input": "}"}}}),
    message("messageStop", {"stopReason": "tool_use"}),
]
WHOLE = b"".join(CALL)
GATHERED = [("c1", "f", '{"a": 1}', {"a": 1}, "complete")]


def kinds(ledger: Ledger, stream: str) -> list[str]:
    return [event.kind for event in ledger.events(stream)]


def rules(ledger: Ledger, stream: str) -> list[tuple[int, str]]:
    return list(ledger.sql("SELECT seq, rule FROM findings WHERE stream = ? ORDER BY seq", (stream,))[1])


def stored(ledger: Ledger, folder: Path, data: bytes, name: str = "x") -> None:
    path = folder / "x.bin"
    path.write_bytes(data)
    capture_file(ledger, path, name=name)


@pytest.mark.parametrize("name", ["converse", "invoke"])
def test_events_keep_their_payload_and_not_their_frame(ledger: Ledger, name: str) -> None:
    capture_file(ledger, CASSETTES / f"{name}.bin")
    events = list(ledger.events(name))
    assert [event.frame for event in events] == [None] * len(events)
    assert all(json.loads(event.body)["p"] for event in events)
    assert emitted(ledger, name, "raw") == (CASSETTES / f"{name}.bin").read_bytes()
    ((_, *call),) = calls(ledger, name)
    assert call == ["get_weather", r'{"city": "Almer\u00eda", "days": 2}', {"city": "Almería", "days": 2}, "complete"]


def test_a_file_that_is_cut_at_any_byte_has_frames_and_one_partial_and_goes_on_when_it_has_grown(
    ledger: Ledger, tmp_path: Path
) -> None:
    start = {"contentBlockIndex": 0, "start": {"toolUse": {"toolUseId": "c1", "name": "f"}}}
    first = eventstream.encode({":event-type": "contentBlockStart"}, json.dumps(start).encode())
    whole = first + eventstream.encode({":event-type": "messageStop"}, b'{"stopReason": "tool_use"}')
    for cut in range(1, len(whole)):
        name = f"cut at {cut}"
        if cut < eventstream.PRELUDE_BYTES:
            with pytest.raises(NotAStream, match="binary data"):
                stored(ledger, tmp_path, whole[:cut], name)
            continue
        stored(ledger, tmp_path, whole[:cut], name)
        begun = cut >= len(first)
        assert kinds(ledger, name) == ["contentBlockStart"] * begun + ["partial"] * (cut != len(first))
        assert calls(ledger, name) == [("c1", "f", "", {}, "open")] * begun
        assert emitted(ledger, name, "raw") == whole[:cut]
        stored(ledger, tmp_path, whole, name)
        assert calls(ledger, name) == [("c1", "f", "", {}, "empty")]
        assert emitted(ledger, name, "raw") == whole
        assert captures(ledger, name)[-1][2:] == (len(whole), True)


def test_a_damaged_message_is_kept_whole_and_is_a_gap_in_its_call(ledger: Ledger, tmp_path: Path) -> None:
    broken = CALL[2].replace(b'{\\"a\\": 1', b'{\\"a\\": 2')
    damaged = b"".join([*CALL[:2], broken, *CALL[3:]])
    assert damaged != WHOLE
    stored(ledger, tmp_path, damaged)
    assert kinds(ledger, "x")[2] == "damaged"
    assert rules(ledger, "x") == [(3, "damaged-frame")]
    assert emitted(ledger, "x", "raw") == damaged
    (call,) = ledger.calls("x")
    assert (call["raw"], call["state"], call["gaps"]) == ("}", "invalid", [3])


def test_bytes_that_are_no_message_cost_nothing_else(ledger: Ledger, tmp_path: Path) -> None:
    noisy = b"noise" + b"".join(CALL[:3]) + b"\n" + b"".join(CALL[3:]) + b"\n"
    stored(ledger, tmp_path, noisy)
    assert rules(ledger, "x") == [(1, "damaged-frame"), (5, "damaged-frame"), (8, "partial-frame")]
    assert calls(ledger, "x") == GATHERED
    assert emitted(ledger, "x", "raw") == noisy


def test_an_error_whose_text_is_in_its_headers_is_told_with_it(ledger: Ledger, tmp_path: Path) -> None:
    headers = {":message-type": "error", ":error-code": "InternalError", ":error-message": "Out of luck"}
    stored(ledger, tmp_path, b"".join(CALL[:4]) + eventstream.encode(headers, b""))
    *_, last = ledger.events("x")
    assert (last.kind, last.body, json.loads(last.meta or b"{}")) == ("InternalError", b"", {"headers": headers})
    found = list(ledger.sql("SELECT rule, detail FROM findings WHERE stream = 'x'")[1])
    assert found == [("failure", "InternalError: Out of luck")]
    assert calls(ledger, "x")[0][-1] == "truncated"
    assert emitted(ledger, "x", "raw").endswith(eventstream.encode(headers, b""))


def test_a_header_that_is_no_text_is_in_the_meta_too(ledger: Ledger, tmp_path: Path) -> None:
    """As it prints: bytes, which JSON has no type for, are tagged."""
    text = eventstream.encode({":event-type": "messageStart", "x": "ab"}, b'{"role": "assistant"}')
    head = text[:-4].replace(b"\x01x\x07", b"\x01x\x06")
    whole = head + crc32(head).to_bytes(4, "big")
    stored(ledger, tmp_path, whole + CALL[1])
    first, _ = ledger.events("x")
    assert json.loads(first.meta or b"{}") == {"headers": {":event-type": "messageStart", "x": {"$bytes": "6162"}}}
    assert first.frame == whole


@pytest.mark.parametrize("size", [1, 7, 1000])
def test_a_pipe_is_stored_as_it_comes(ledger: Ledger, size: int) -> None:
    class Slow(io.BytesIO):
        def read1(self, _: int | None = -1) -> bytes:
            return self.read(size)

    capture_pipe(ledger, Slow(WHOLE + CALL[0][:20]), "x")
    assert kinds(ledger, "x")[-2:] == ["messageStop", "partial"]
    assert calls(ledger, "x") == GATHERED
    assert emitted(ledger, "x", "raw") == WHOLE + CALL[0][:20]


def test_a_gzip_file_gives_what_is_in_it(ledger: Ledger, tmp_path: Path) -> None:
    stored(ledger, tmp_path, gzip.compress(WHOLE, mtime=0))
    assert calls(ledger, "x") == GATHERED
    assert emitted(ledger, "x", "raw") == WHOLE


# Other forms


@pytest.mark.parametrize(("form", "ending"), [("sse", "sse"), ("jsonl", "ndjson")])
@pytest.mark.parametrize("name", ["converse", "invoke"])
def test_what_is_given_out_in_another_form_says_the_same(
    ledger: Ledger, tmp_path: Path, name: str, form: Any, ending: str
) -> None:
    """As server-sent events messages keep their names, as lines of JSON their payloads tell them."""
    capture_file(ledger, CASSETTES / f"{name}.bin")
    again = tmp_path / f"again.{ending}"
    again.write_bytes(emitted(ledger, name, form))
    capture_file(ledger, again)
    assert calls(ledger, "again") == calls(ledger, name)
    assert kinds(ledger, "again") == kinds(ledger, name)
    assert rules(ledger, "again") == []


def test_server_sent_events_have_the_names_and_no_damage(ledger: Ledger, tmp_path: Path) -> None:
    stored(ledger, tmp_path, b"noise" + CALL[0])
    assert emitted(ledger, "x", "sse") == b'event: messageStart\ndata: {"role": "assistant"}\n\n'
    assert emitted(ledger, "x", "jsonl") == b'{"role": "assistant"}\n'
