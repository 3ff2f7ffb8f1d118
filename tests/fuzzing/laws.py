"""The laws that hold of every recording, whatever is in it: captured, stored, folded, rebuilt, asked in SQL."""

from __future__ import annotations

import io
import json
import random
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, cast

import jsonpatch
from msgspec import Struct, field

import recorder
from recorder.capture import Captured, capture_file, capture_pipe, files
from recorder.cli.commands.diff_text import change_lines, operation_lines
from recorder.cli.commands.replay_text import lines
from recorder.errors import BadInput, NotAStream
from recorder.events import Event, jsontext
from recorder.ledger import Ledger, State, snapshots
from recorder.ledger.erasure import erase
from recorder.ledger.last_message import narrowed
from recorder.ledger.verify import verify
from recorder.projections.readings import Gathering
from recorder.replay import Form, emit, event_changes, event_patch
from recorder.sources import detect
from recorder.sources.detect import HEAD_BYTES
from tests.databases import made
from tests.fuzzing.documents import plain_answers
from tests.fuzzing.witness import complaint
from tests.ledger.logs import NAME, printed, read_model
from tests.ledger.test_sql_agrees import said_by_sql, said_by_state
from tests.replay.test_changes import Applied
from tests.streams import Folding

READINGS: tuple[Gathering, ...] = ("default", "wire", "langchain", "langchainjs")
_NO_PAYLOAD = frozenset({"done", "comment", "partial", "damaged"})
_VIEWS = (
    *("streams", "events", "tool_call_chunks_all", "tool_call_chunks", "tool_calls_all", "tool_calls"),
    *("tool_messages", "pairings", "messages_all", "messages", "findings", "erasures", "runs"),
)


class Broken(Exception):
    """A law that does not hold; `law` names it."""

    def __init__(self, law: str, detail: str) -> None:
        super().__init__(f"{law}: {detail}")
        self.law = law


class Outcome(Struct):
    """What was seen of a recording of which all laws hold."""

    dialects: list[str] = field(default_factory=list)
    """Those of its events; empty where capture refused it."""
    calls: int = 0
    complete: int = 0
    """Calls that were shown complete, each looked up in the bytes."""


@contextmanager
def snapshots_everywhere(batch: int) -> Iterator[None]:
    """Makes a snapshot due at every append, and has files appended in batches of so many events."""
    kept = snapshots.Pace.FLOOR, snapshots.Pace.RATIO, files.BATCH_EVENTS
    snapshots.Pace.FLOOR, snapshots.Pace.RATIO, files.BATCH_EVENTS = 1, 0, batch
    try:
        yield
    finally:
        snapshots.Pace.FLOOR, snapshots.Pace.RATIO, files.BATCH_EVENTS = kept


def hold(rng: random.Random, path: Path, folder: Path, *, document: bool) -> Outcome:
    """Captures the file into a new database in the folder and tries every law. Raises `Broken`.

    `document`: it is a cassette or a HAR file, whose bytes are not given back.
    """
    with snapshots_everywhere(rng.choice([1, 3, 11, 500])), recorder.open(made(folder / "log.db")) as ledger:
        data = path.read_bytes()
        try:
            captured = _captured(rng, ledger, path, document=document)
        except BadInput as refusal:
            if ledger.find(NAME) is not None:
                raise Broken("refused", f"{refusal}; and something is stored") from None
            return Outcome()
        head = ledger.head(NAME)
        if head.stale is not None:
            raise Broken("stale", head.stale)
        if captured:
            _hold_of_bytes(b"".join(emit(ledger, NAME, "raw")), data, document=document)
        events = list(ledger.events(NAME))
        _same("events", [event.seq for event in events], list(range(1, head.last_seq + 1)))
        outcome = Outcome(dialects=list(dict.fromkeys(event.dialect for event in events)))
        seqs = sorted(rng.randrange(head.last_seq + 1) for _ in range(2))
        for gathering in READINGS:
            _hold_prefix_law(ledger, events, seqs, gathering, outcome)
        _hold_of_snapshots(events, rng.choice(READINGS))
        _hold_of_read_model(ledger)
        _hold_of_emission(ledger, events)
        _hold_of_faces(ledger, seqs[1])
        if rng.random() < 0.3:
            _hold_of_erasure(ledger, *sorted(rng.randrange(1, head.last_seq + 1) for _ in range(2)))
        return outcome


def _captured(rng: random.Random, ledger: Ledger, path: Path, *, document: bool) -> bool:
    """Captures the file whole, in two parts, or from a pipe; whether all of it is stored."""
    way = rng.choice(["whole", "whole", "grown", "pipe"])
    if document or way == "whole":
        captured = capture_file(ledger, path, name=NAME)
        _same("known", capture_file(ledger, path, name=NAME).status, "known")
        return captured.note is None
    data = path.read_bytes()
    cut = rng.randrange(len(data) + 1)
    if way == "pipe":
        return _piped(ledger, [data[:cut], data[cut:]]).events > 0
    part = path.with_name(f"part-{path.name}")
    part.write_bytes(data[:cut])
    try:
        capture_file(ledger, part, name=NAME)
    except BadInput:
        capture_file(ledger, path, name=NAME)
        return True
    try:
        capture_file(ledger, path, name=NAME)
    except BadInput as refusal:
        if _framing_of(data[:cut]) == _framing_of(data):
            raise Broken("grown", str(refusal)) from None
        # With more of it, it turned out to be in another format.
        _same("bytes", b"".join(emit(ledger, NAME, "raw")), data[:cut])
        return False
    return True


def _framing_of(data: bytes) -> str | None:
    try:
        return detect(data[:HEAD_BYTES], complete=len(data) < HEAD_BYTES).framing
    except NotAStream:
        return None


def _hold_of_bytes(raw: bytes, data: bytes, *, document: bool) -> None:
    """What was captured comes back: all bytes, of a document those of every answer that it has as plain text."""
    if not document:
        _same("bytes", raw, data)
        return
    for answer in plain_answers(data):
        if answer not in raw:
            raise Broken("answers", f"not given back: {answer!r:.300}")


class _Pipe:
    """Bytes that come piece by piece."""

    def __init__(self, pieces: list[bytes]) -> None:
        self._pieces = [piece for piece in pieces if piece]

    def fileno(self) -> int:
        raise io.UnsupportedOperation("no descriptor")

    def read1(self, _: int) -> bytes:
        return self._pieces.pop(0) if self._pieces else b""

    read = read1


def _piped(ledger: Ledger, pieces: list[bytes]) -> Captured:
    (captured,) = capture_pipe(ledger, cast(BinaryIO, _Pipe(pieces)), NAME)
    return captured


def _hold_prefix_law(
    ledger: Ledger, events: list[Event], seqs: list[int], gathering: Gathering, outcome: Outcome
) -> None:
    """The state at two events and at the end: resumed from a snapshot at the first, and by the ledger, the same."""
    full = Folding(gathering).advance(*events[: seqs[0]])
    resumed = full.resumed()
    for first, last in ((seqs[0], seqs[0]), (seqs[0], seqs[1]), (seqs[1], len(events))):
        full.advance(*events[first:last])
        resumed.advance(*events[first:last])
        state = full.state
        _same(f"prefix, {gathering}, resumed at {seqs[0]}, at {last}", resumed.state, state)
        _hold_of_truth(
            events[:last], state, gathering, outcome if gathering == "default" and last == len(events) else None
        )
        if gathering == "default":
            _same(f"prefix, by the ledger at {last}", printed(ledger, last), state)
            last_message = ledger.state(NAME, last, last_message=True)
            _same(f"last message at {last}", _said(last_message), _said(narrowed(ledger.state(NAME, last))))
    _same(f"{gathering}, by the ledger", printed(ledger, gather=gathering), full.state)


def _hold_of_snapshots(events: list[Event], gathering: Gathering) -> None:
    """A fold that is resumed from a snapshot before every event comes to the same state."""
    relay = Folding(gathering)
    for event in events:
        relay = relay.resumed().advance(event)
    full = Folding(gathering).advance(*events)
    _same(f"prefix, {gathering}, resumed before every event", relay.state, full.state)


def _said(state: State) -> Any:
    """All of a state as it prints: NaN is not equal to itself."""
    return json.loads(jsontext.encode(state.to_dict()))


def _hold_of_truth(events: list[Event], state: dict[str, Any], gathering: Gathering, outcome: Outcome | None) -> None:
    jsontext.encode(state).encode()
    for message in state["messages"]:
        for call in message["calls"]:
            if outcome is not None:
                outcome.calls += 1
            if call["state"] not in ("complete", "invalid", "empty"):
                continue
            if outcome is not None:
                outcome.complete += call["state"] == "complete"
            if wrong := complaint(message, call, events):
                where = f"{gathering}, at {len(events)}, call {call['call_ref']} ({call['id']!r:.40})"
                raise Broken("truth", f"{where}: {wrong}")


def _hold_of_read_model(ledger: Ledger) -> None:
    said = said_by_state(printed(ledger))
    for message in said["messages"]:
        # LangChain gives counts as they came; a column holds whole numbers of 64 bits.
        message.update({name: _countable(message[name]) for name in ("input_tokens", "output_tokens")})
    _same("SQL", _cleaned(said_by_sql(ledger)), _cleaned(said))
    for view in _VIEWS:
        for row in ledger.sql(f"SELECT * FROM {view}")[1]:
            jsontext.encode([None if isinstance(value, bytes) else value for value in row]).encode()
    verdict = verify(ledger.store, ledger.head(NAME))
    if not verdict.whole:
        raise Broken("verify", f"event {verdict.seq}: {verdict.problem}")
    before, state = read_model(ledger), printed(ledger)
    ledger.rebuild(NAME)
    after = read_model(ledger)
    for table, rows in before.items():
        _same(f"rebuilt {table}", sorted(after[table], key=repr), sorted(rows, key=repr))
    _same("the state after a rebuild", printed(ledger), state)


def _countable(count: Any) -> int | None:
    return count if isinstance(count, int) and -(1 << 63) <= count < 1 << 63 else None


def _cleaned(value: Any) -> Any:
    """The value with lone surrogates written as databases can hold them."""
    if isinstance(value, dict):
        return {_cleaned(key): _cleaned(inner) for key, inner in value.items()}
    if isinstance(value, list):
        return [_cleaned(inner) for inner in value]
    return jsontext.clean(value) if isinstance(value, str) else value


def _hold_of_emission(ledger: Ledger, events: list[Event]) -> None:
    _hold_of_changes(ledger)
    _hold_of_values(ledger)
    for form, framing in (("jsonl", "ndjson"), ("sse", "sse")):
        given = b"".join(emit(ledger, NAME, cast(Form, form)))
        capture = ledger.store.last_capture(ledger.head(NAME))
        if capture is not None and capture.format == framing:
            _same(f"emitted as {form}", given, b"".join(emit(ledger, NAME, "raw")))
        elif form == "jsonl":
            said = [value for line in given.splitlines() if (value := _loaded(line)) is not None]
            _same("emitted as jsonl", said, [value for event in events if (value := _payload(event)) is not None])


def _payload(event: Event) -> str | None:
    return None if event.kind.startswith("http.") or event.kind in _NO_PAYLOAD else _loaded(event.body)


def _loaded(text: bytes) -> str | None:
    """JSON in one spelling (NaN is not equal to itself), None where it is none."""
    try:
        return jsontext.encode(jsontext.decode(text))
    except jsontext.NotJson:
        return None


def _hold_of_changes(ledger: Ledger) -> None:
    applied = Applied()
    for piece in emit(ledger, NAME, "changes"):
        applied.apply(json.loads(piece)["changes"])
    messages = printed(ledger)["messages"]
    calls = {call["call_ref"]: call for message in messages for call in message["calls"]}
    known = ("id", "name", "raw", "state")
    _same("changes of calls", applied.calls, {ref: {key: calls[ref][key] for key in known} for ref in calls})
    _same("changes of texts", applied.texts, {message["message_ref"]: message["text"] for message in messages})


def _hold_of_values(ledger: Ledger) -> None:
    """Each patch makes the call's next value of the one before; of a call that is complete the last one is its value.

    But for messages of LangChain.js, whose own patches leave values out.
    """
    messages = [message for message in printed(ledger)["messages"] if message["gather"] != "langchainjs"]
    calls = {call["call_ref"]: call for message in messages for call in message["calls"]}
    values, patches = (
        [line for piece in emit(ledger, NAME, form) if (line := json.loads(piece))["call"] in calls]
        for form in ("values", "patch")
    )
    last: dict[str, Any] = {}
    for said, patch in zip(values, patches, strict=True):
        ref, at = said["call"], said["seq"]
        last[ref] = jsonpatch.apply_patch(last.get(ref), patch["patch"])
        _same(f"patch of {ref} at {at}", (patch["call"], patch["seq"], last[ref]), (ref, at, said["value"]))
    for ref, call in calls.items():
        if call["state"] == "complete" and not call.get("free_text"):
            _same(f"last value of {ref}", last.get(ref), call["value"])


def _hold_of_faces(ledger: Ledger, n: int) -> None:
    """What is printed for people has no line ends and no control characters in it, whatever names and ids have."""
    shown = [*lines(ledger.state(NAME).to_dict()), *change_lines(event_changes(ledger, NAME, max(n, 1)))]
    shown += operation_lines(event_patch(ledger, NAME, max(n, 1)))
    for line in shown:
        if not line.isprintable():
            raise Broken("printed", repr(line)[:300])


def _hold_of_erasure(ledger: Ledger, first: int, last: int) -> None:
    """Behind an erasure the state is that of the events which are left, and no call that lost a piece is complete."""
    erase(ledger.store, ledger.head(NAME), first=first, last=last, reason="fuzz")
    events = list(ledger.events(NAME))
    state = Folding().advance(*events).state
    _same("the state behind an erasure", printed(ledger), state)
    _hold_of_read_model(ledger)
    for message in state["messages"]:
        for call in message["calls"]:
            lost = any(first <= seq <= last for one, two in call["seqs"] for seq in range(one, two + 1))
            if lost and call["state"] == "complete":
                raise Broken("erased", f"call {call['call_ref']} is complete without events {first} to {last}")


def _same(law: str, found: Any, expected: Any) -> None:
    if found != expected:
        raise Broken(law, _difference(found, expected))


def _difference(found: Any, expected: Any, at: str = "") -> str:
    """The first place in which two values differ."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        key = next(key for key in found if found[key] != expected[key])
        return _difference(found[key], expected[key], f"{at}.{key}")
    if isinstance(found, list) and isinstance(expected, list) and len(found) == len(expected):
        place = next(place for place in range(len(found)) if found[place] != expected[place])
        return _difference(found[place], expected[place], f"{at}[{place}]")
    return f"{at}: {found!r:.300} is not {expected!r:.300}"
