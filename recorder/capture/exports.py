"""Exports taken in again: the same streams, with the same UUIDs, numbers, times and hashes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import msgspec

from recorder.capture.captured import Captured
from recorder.capture.names import checked
from recorder.capture.refusals import unreadable
from recorder.errors import BadInput
from recorder.events import clock, jsontext
from recorder.events.lines import event_of
from recorder.ledger import Ledger
from recorder.ledger.transfer import EXPORT_FORMAT, Origin, Part, receive
from recorder.sources.files import chunks
from recorder.store import Capture, Erasure, texts

_UUID_BYTES = 16
_HEAD = b'{"recorder": "export/'


def is_export(head: bytes) -> bool:
    """Whether what begins so is an export, as `rec export --jsonl` writes it."""
    return head.startswith(_HEAD)


def may_be_export(head: bytes) -> bool:
    """Whether so little came that it may still turn out to be one."""
    return len(head) < len(_HEAD) and _HEAD.startswith(head)


def is_export_file(path: Path) -> bool:
    """Whether a file, or what gzip made a file of, is an export; False where it cannot be read."""
    try:
        return is_export(next(chunks(path, gzip=_is_gzip(path)), b""))
    except (OSError, ValueError, BadInput):
        return False


def capture_export_file(ledger: Ledger, path: Path, *, name: str | None = None) -> Iterator[Captured]:
    """As `capture_export`, of a file."""
    try:
        yield from capture_export(ledger, chunks(path, gzip=_is_gzip(path)), name=name)
    except OSError as error:
        raise unreadable(path, error) from error
    except BadInput as error:
        raise BadInput(f"{path}: {error}") from None


def capture_export(ledger: Ledger, pieces: Iterable[bytes], *, name: str | None = None) -> Iterator[Captured]:
    """Takes in the streams of an export, one after the other; of a stream that is here already, what it has more.

    `name`: for its one stream. Raises `BadInput` where a line is none of an export, where a stream breaks off, or where
    it is another than the one that is here; what came before is stored, and the same command goes on behind it.
    """
    shown = None if name is None else checked(name)
    lines = _Lines(pieces)
    while (origin := lines.next_stream()) is not None:
        if shown is not None and lines.streams > 1:
            raise BadInput("--name goes with one stream, and the export has more: leave it out")
        moved = receive(ledger.store, origin, lines.parts(), name=shown)
        note = f"{moved.erasures} of its erasures were applied" if moved.erasures else None
        if note is not None and moved.remains is not None:
            note = f"{note}; {moved.remains}"
        yield Captured(
            stream=moved.stream, status=moved.status, events=moved.events, last_seq=moved.last_seq, note=note
        )


class _Lines:
    """The lines of an export, read once."""

    def __init__(self, pieces: Iterable[bytes]) -> None:
        self._lines = enumerate(_lines(pieces), 1)
        self.streams = 0
        """How many streams began so far."""

    def next_stream(self) -> Origin | None:
        """The head of the next stream, None at the end. Raises `BadInput`."""
        number, line = next((found for found in self._lines if found[1].strip()), (0, b""))
        if not line:
            return None
        fields = _fields(number, line)
        if fields.get("recorder") != EXPORT_FORMAT:
            raise BadInput(f"line {number}: no stream of an export that this program knows begins here")
        self.streams += 1
        origin: Origin = _struct(number, Origin, fields.get("stream"), "uuid")
        if len(origin.uuid) != _UUID_BYTES:
            raise BadInput(f"line {number}: the UUID of its stream is none")
        checked(origin.name)
        return origin

    def parts(self) -> Iterator[Part]:
        """The parts of the stream, up to its end. Raises `BadInput`."""
        last, digest = 0, bytes(32)
        for number, line in self._lines:
            fields = _fields(number, line)
            if "seq" in fields:
                try:
                    event = event_of(fields)
                except ValueError as error:
                    raise BadInput(f"line {number}: it is no event of an export: {error}") from None
                last, digest = event.seq, event.hash
                yield event
            elif "erasure" in fields:
                yield _struct(number, Erasure, fields["erasure"], "hash")
            elif "capture" in fields:
                capture: Capture = _struct(number, Capture, fields["capture"], "digest")
                if capture.capture < 1:
                    raise BadInput(f"line {number}: it is none of an export: a capture without its number")
                yield capture
            elif fields.get("end") == {"last_seq": last, "hash": digest.hex()}:
                return
            else:
                raise BadInput(f"line {number}: it does not belong to the export of a stream with {last} events")
        raise BadInput(f"the export breaks off behind event {last}: what came is stored, export it again for the rest")


def _lines(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """The lines of what comes in pieces; either may be the longer."""
    held: list[bytes] = []
    for piece in pieces:
        first, *following = piece.split(b"\n")
        held.append(first)
        for line in following:
            yield b"".join(held)
            held = [line]
    if any(held):
        yield b"".join(held)


def _is_gzip(path: Path) -> bool:
    with open(path, "rb") as file:
        return file.read(2) == b"\x1f\x8b"


def _fields(number: int, line: bytes) -> dict[str, Any]:
    try:
        value = jsontext.decode(line)
    except jsontext.NotJson as error:
        raise BadInput(f"line {number}: it is no JSON: {error}") from None
    if not isinstance(value, dict):
        raise BadInput(f"line {number}: it is no JSON object")
    return value


def _struct(number: int, kind: type[Any], value: Any, digest: str) -> Any:
    """A struct of which one field is bytes, written in hexadecimal."""
    try:
        made = msgspec.convert({**value, digest: bytes.fromhex(value[digest])}, kind)
    except (msgspec.ValidationError, TypeError, ValueError, KeyError) as error:
        raise BadInput(f"line {number}: it is none of an export: {error}") from None
    for name in made.__struct_fields__:
        if not _is_storable(getattr(made, name)):
            raise BadInput(f"line {number}: it is none of an export: its {name} cannot be stored")
    return made


def _is_storable(value: Any) -> bool:
    if isinstance(value, int):
        return 0 <= value <= clock.LAST
    return not isinstance(value, str) or texts.is_storable(value)
