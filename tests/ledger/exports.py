"""Streams written out, and taken in again."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from recorder.capture.exports import capture_export
from recorder.events import NewEvent
from recorder.ledger import Ledger
from recorder.replay.export import export
from recorder.store import Store


def add(store: Store, stream: str, given: Sequence[NewEvent]) -> None:
    """Appends, and projects."""
    Ledger(store).writer(stream).append(given)


def lines(store: Store, name: str) -> list[bytes]:
    return list(export(Ledger(store), name))


def exported(store: Store) -> dict[str, bytes]:
    """Each stream as an export has it: all that it is."""
    return {head.name: b"".join(lines(store, head.name)) for head in store.streams()}


def take(target: Store, content: bytes, **options: Any) -> list[tuple[str, str, int]]:
    found = capture_export(Ledger(target), [content], **options)
    return [(each.stream, each.status, each.events) for each in found]
