"""Exports that are cut off, damaged, or none: refused in one line, and what was stored of them is whole."""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from recorder.capture import capture_pipe
from recorder.capture.exports import capture_export, capture_export_file, is_export_file
from recorder.errors import BadInput
from recorder.events import Event, NewEvent
from recorder.events.chain import GENESIS, content_hash, erasure_link, relink
from recorder.events.lines import line_of
from recorder.ledger import Ledger, transfer
from recorder.ledger.erasure import erase
from recorder.ledger.verify import verify, verify_all
from recorder.store import Capture, Store, open_store
from tests.capture.made import CALL, emitted, sse
from tests.ledger.exports import add, exported, lines, take
from tests.ledger.logs import is_whole
from tests.store.made import event, events

WHY = "asked for"


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Store]:
    """Another database."""
    with open_store(tmp_path / "there.db") as opened:
        yield opened


def test_an_export_that_is_cut_off_is_said_to_be(store: Store, there: Store, tmp_path: Path) -> None:
    add(store, "s", events(1, 6))
    erase(store, store.head("s"), first=2, last=2, reason=WHY)
    with store.transaction() as transaction:
        note = Capture(source="-", format="sse", bytes=0, digest=b"", first_seq=1, last_seq=6)
        transaction.save_capture(store.head("s"), note)
    whole = lines(store, "s")
    assert len(whole) == 1 + 1 + 6 + 1 + 1
    for count in range(1, len(whole)):
        last = min(max(count - 2, 0), 6)
        with pytest.raises(BadInput, match=f"^the export breaks off behind event {last}: what came is stored"):
            take(there, b"".join(whole[:count]))
        assert [head.last_seq for head in there.streams()] == ([last] if count > 1 else [])
        with pytest.raises(BadInput, match=r"^line \d+: it is no JSON: "):
            take(there, b"".join(whole[:count]) + whole[count][:-5])
    assert take(there, b"".join(whole)) == [("s", "known", 0)]
    assert exported(there) == exported(store)
    assert is_whole(there)


def _line(number: int, **changes: Any) -> Callable[[list[dict[str, Any]]], None]:
    def change(found: list[dict[str, Any]]) -> None:
        place = found[number]
        place = place.get("stream", place.get("erasure", place.get("capture", place.get("end", place))))
        for name, value in changes.items():
            if value is ...:
                del place[name]
            else:
                place[name] = value

    return change


def _without(number: int) -> Callable[[list[dict[str, Any]]], None]:
    return lambda found: found.__delitem__(number)


def _swap(found: list[dict[str, Any]]) -> None:
    found[5], found[6] = found[6], found[5]


def _twice(found: list[dict[str, Any]]) -> None:
    found.insert(5, found[5])


HEAD, ERASURE, EVENT, ERASED, CAPTURE, END = 0, 1, 2, 4, 8, 9
DAMAGED: dict[str, Callable[[list[dict[str, Any]]], None]] = {
    **{f"without line {number}": _without(number) for number in range(10) if number != CAPTURE},
    **{f"uuid {value!r}": _line(HEAD, uuid=value) for value in ("", "00", "00" * 17, "zz" * 16, 7, None, ...)},
    **{f"name {value!r}": _line(HEAD, name=value) for value in ("", "latest", 7, None, "\ud800", "a\0", ...)},
    **{f"created_at {value!r}": _line(HEAD, created_at=value) for value in (-1, 10**30, "now", 1.5, None, ...)},
    **{f"parent {value!r}": _line(HEAD, parent=value) for value in (7, "\ud800")},
    **{f"parent_seq {value!r}": _line(HEAD, parent_seq=value) for value in (-1, 10**30, "x")},
    **{f"event_id {value!r}": _line(EVENT, event_id=value) for value in ("00" * 16, "00", "", 7, None)},
    **{f"kind {value!r}": _line(EVENT, kind=value) for value in ("other", "\ud800", "a\0b", 7)},
    **{f"dialect {value!r}": _line(EVENT, dialect=value) for value in ("other", "\ud800")},
    **{f"body {value!r}": _line(EVENT, body=value) for value in ("other", "\ud800", {"base64": "/w=="}, None, 7)},
    **{f"salt {value!r}": _line(EVENT, salt=value) for value in ("00" * 16, "", ...)},
    **{f"hash {value!r}": _line(EVENT, hash=value) for value in ("00" * 32, "00")},
    **{f"body_hash {value!r}": _line(EVENT, body_hash=value) for value in ("00" * 32, "00")},
    **{f"seq {value!r}": _line(EVENT, seq=value) for value in (0, -1, 2, 10**30, "1", None)},
    **{f"arrived_at {value!r}": _line(EVENT, arrived_at=value) for value in (5, -1, 10**30)},
    **{f"recorded_at {value!r}": _line(EVENT, recorded_at=value) for value in (5, -1, 10**30)},
    **{f"occurred_at {value!r}": _line(EVENT, occurred_at=value) for value in (5, -1, 10**30)},
    **{f"version {value!r}": _line(EVENT, version=value) for value in (0, 2, 10**30)},
    **{f"encoding {value!r}": _line(EVENT, encoding=value) for value in ("binary", "latin-1")},
    **{f"framing {value!r}": _line(EVENT, framing=value) for value in ("", "\ud800")},
    **{f"run_id {value!r}": _line(EVENT, run_id=value) for value in ("other", "\ud800", ...)},
    "a frame": _line(EVENT, frame="x"),
    "meta": _line(EVENT, meta="x"),
    "a field that there is not": _line(EVENT, other=1),
    "an event said to be erased": _line(EVENT, erased=True),
    "an event blanked": _line(EVENT, erased=True, body="", salt=...),
    "a tombstone with content": _line(ERASED, body="x"),
    "a tombstone with a salt": _line(ERASED, salt="00" * 16),
    "a tombstone not said to be erased": _line(ERASED, erased=False),
    "events swapped": _swap,
    "an event twice": _twice,
    **{f"an erasure {value!r}": _line(ERASURE, erasure=value) for value in (0, 2, -1, 10**30)},
    **{f"an erasure from {value!r}": _line(ERASURE, first_seq=value) for value in (0, 1, 4, 10**30)},
    **{f"an erasure to {value!r}": _line(ERASURE, last_seq=value) for value in (2, 5, 7, 10**30)},
    **{f"a reason {value!r}": _line(ERASURE, reason=value) for value in ("other", "\ud800", 7, None, ...)},
    **{f"an erasure at {value!r}": _line(ERASURE, erased_at=value) for value in (5, -1, 10**30)},
    **{f"an erasure's hash {value!r}": _line(ERASURE, hash=value) for value in ("00", "zz", 7, ...)},
    **{f"a capture {value!r}": _line(CAPTURE, capture=value) for value in (0, -1, 10**30, ...)},
    **{f"a capture's bytes {value!r}": _line(CAPTURE, bytes=value) for value in (-1, 10**30, "x")},
    **{f"a capture's source {value!r}": _line(CAPTURE, source=value) for value in ("\ud800", 7, ...)},
    **{f"a capture's format {value!r}": _line(CAPTURE, format=value) for value in ("\ud800", 7)},
    **{f"a capture's digest {value!r}": _line(CAPTURE, digest=value) for value in ("z", 7, ...)},
    **{f"an end at {value!r}": _line(END, last_seq=value) for value in (5, 7, "6", None)},
    **{f"an end with {value!r}": _line(END, hash=value) for value in ("00" * 32, "", None)},
}


def made(number: int) -> list[dict[str, Any]]:
    """The lines of an export, made without a database: six events, of which the third and fourth are erased."""
    uuid, stored, previous = number.to_bytes(16, "big"), [], GENESIS
    for seq, new in enumerate(events(1, 6), 1):
        given = {name: getattr(new, name) for name in NewEvent.__struct_fields__}
        whole = Event(**given, seq=seq, recorded_at=7, salt=b"s" * 16, body_hash=content_hash(b"s" * 16, new), hash=b"")
        previous = relink(previous, uuid, whole)
        blank = {"body": b"", "salt": None, "erased": True} if seq in (3, 4) else {}
        stored.append(structs.replace(whole, hash=previous, **blank))
    said: dict[str, Any] = {"erasure": 1, "first_seq": 3, "last_seq": 4, "reason": WHY, "erased_at": 9}
    digest = erasure_link(GENESIS, uuid, **said).hex()
    capture = {
        "source": "-",
        "format": "sse",
        "bytes": 0,
        "digest": "",
        "first_seq": 1,
        "last_seq": 6,
        "complete": True,
    }
    return [
        {"recorder": "export/1", "stream": {"uuid": uuid.hex(), "name": f"s{number}", "created_at": 5}},
        {"erasure": {**said, "hash": digest}},
        *(json.loads(line_of(each)) for each in stored),
        {"capture": {**capture, "capture": 1, "recorded_at": 8}},
        {"end": {"last_seq": 6, "hash": previous.hex()}},
    ]


def text_of(found: list[dict[str, Any]]) -> bytes:
    return b"".join(json.dumps(each).encode() + b"\n" for each in found)


def test_a_damaged_line_is_refused_and_what_is_stored_is_whole(store: Store) -> None:
    """What came before it stays, the whole export goes on behind it, and all is as if nothing had happened."""
    taken = {}
    for number, (name, damage) in enumerate(DAMAGED.items(), 1):
        damaged = made(number)
        damage(damaged)
        with pytest.raises(BadInput) as refused:
            taken[name] = take(store, text_of(damaged))
        assert "\n" not in str(refused.value), name
        head = store.find(f"s{number}")
        if head is not None:
            assert verify(store, head).problem is None, name
    assert taken == {}
    assert len(store.streams()) > len(DAMAGED) / 2
    for number, name in enumerate(DAMAGED, 1):
        take(store, text_of(made(number)))
        assert [json.loads(line) for line in lines(store, f"s{number}")] == made(number), name
    found = {each.stream: each.problem for each in verify_all(store, store.streams())}
    assert found == dict.fromkeys(found)


@pytest.mark.parametrize("damage", [_without(END), _line(END, last_seq=5), _line(CAPTURE, digest="z")])
def test_damage_behind_the_events_leaves_them_whole(
    there: Store, damage: Callable[[list[dict[str, Any]]], None]
) -> None:
    damaged = made(1)
    damage(damaged)
    with pytest.raises(BadInput):
        take(there, text_of(damaged))
    assert [each.erased for each in there.events(there.head("s1"))] == [False, False, True, True, False, False]
    assert len(there.erasures(there.head("s1"))) == 1
    assert is_whole(there)


def test_an_erasure_of_events_that_do_not_come_is_refused(there: Store) -> None:
    found = made(1)
    said: dict[str, Any] = {"erasure": 1, "first_seq": 3, "last_seq": 7, "reason": WHY, "erased_at": 9}
    found[ERASURE] = {"erasure": {**said, "hash": erasure_link(GENESIS, (1).to_bytes(16, "big"), **said).hex()}}
    with pytest.raises(BadInput, match="stream 's1' ends before the events of its erasure 1"):
        take(there, text_of(found))


def test_an_event_of_a_newer_program_is_refused(store: Store, there: Store) -> None:
    add(there, "s", [event(1)])
    head = there.head("s")
    (old,) = there.events(head)
    assert old.salt is not None
    newer = structs.replace(old, version=2)
    newer = structs.replace(newer, hash=relink(bytes(32), head.uuid, newer))
    assert content_hash(old.salt, newer) == newer.body_hash
    with pytest.raises(BadInput, match="event 1 has version 2, which this program does not know"):
        transfer.receive(store, transfer.origin_of(head), [newer])
    assert store.streams() == []


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b'{"recorder": "export/2", "stream": {}}\n', "line 1: no stream of an export that this program knows begins"),
        (b'{"recorder": "export/1"}\n', "line 1: it is none of an export"),
        (b'{"recorder": "export/1", "stream": []}\n', "line 1: it is none of an export"),
        (b'{"recorder": "export/1", "stream": {}', "line 1: it is no JSON"),
        (b"[]\n", "line 1: it is no JSON object"),
        (b"\xff\n", "line 1: it is no JSON"),
        (b"x" * 100_000, "line 1: it is no JSON"),
    ],
)
def test_what_is_no_export_is_refused(there: Store, content: bytes, told: str) -> None:
    with pytest.raises(BadInput, match=told):
        take(there, content)
    assert there.streams() == []


def test_a_stream_that_is_refused_at_its_first_batch_leaves_no_name_behind(store: Store, there: Store) -> None:
    add(store, "s", events(1, 3))
    first, second, *rest = lines(store, "s")
    with pytest.raises(BadInput):
        take(there, b"".join([first, second.replace(b'"body":"', b'"body":"x'), *rest]))
    assert there.streams() == []


def test_however_little_comes_first_an_export_in_a_pipe_is_one(store: Store, there: Store) -> None:
    class Pipe(io.BytesIO):
        def read1(self, size: int | None = -1) -> bytes:
            return pieces.pop(0) if pieces else b""

    add(store, "s", events(1, 3))
    (content,) = exported(store).values()
    pieces = [content[:1], content[1:2], content[2:15], content[15:40], content[40:]]
    (found,) = capture_pipe(Ledger(there), Pipe())
    assert (found.stream, found.status, found.events) == ("s", "stored", 3)
    assert exported(there) == exported(store)
    # As much of it as could be one, and is none.
    pieces = [b'{"recorder": "exp', b'ectation"}\n', b'{"a": 1}\n']
    (found,) = capture_pipe(Ledger(there), Pipe(), "t")
    assert (found.stream, found.events) == ("t", 2)
    assert emitted(Ledger(there), "t", "raw") == b'{"recorder": "expectation"}\n{"a": 1}\n'


def test_exports_come_in_any_pieces_and_files(store: Store, there: Store, tmp_path: Path) -> None:
    for name in ("a", "b"):
        add(store, name, events(1, 3))
    a, b = exported(store).values()
    content = b"\n\r\n" + a + b"\n\n" + b.replace(b"\n", b"\r\n") + b"\n"
    pieces = [content[start : start + 7] for start in range(0, len(content), 7)]
    found = capture_export(Ledger(there), pieces)
    assert [(each.stream, each.status) for each in found] == [("a", "stored"), ("b", "stored")]
    assert exported(there) == exported(store)
    for name, held in (("x.jsonl", a + b), ("x.jsonl.gz", gzip.compress(a + b)), ("odd name", (a + b).rstrip())):
        path = tmp_path / name
        path.write_bytes(held)
        assert is_export_file(path)
        assert [each.status for each in capture_export_file(Ledger(there), path)] == ["known", "known"]
    path.write_bytes(gzip.compress(a + b)[:-20])
    with pytest.raises(BadInput, match=f"^{path}: gzip data breaks off"):
        list(capture_export_file(Ledger(there), path))
    for held in (b"", b'{"recorder": "expor', b'[{"recorder": "export/1"', b"\x1f\x8b", b"\x1f\x8bx", sse(*CALL)):
        path.write_bytes(held)
        assert not is_export_file(path)
    assert not is_export_file(tmp_path / "nowhere")
    assert not is_export_file(tmp_path)
