"""Taking in what processes left in their spools."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from recorder.capture.live.spool import SUFFIX, SpoolHead, read_events, read_head, taken

if TYPE_CHECKING:
    from recorder.ledger import Ledger


def spools_in(path: Path) -> list[Path]:
    """The spools that a path comes to: the file itself, or those in the folder, by name. Raises `OSError`."""
    if not path.is_dir():
        path.stat()
        return [path]
    return sorted(each for each in path.iterdir() if each.name.endswith(SUFFIX) and each.is_file())


def take_in(ledger: Ledger, path: Path) -> tuple[str, int]:
    """Appends what a spool holds, and removes the file; gives the stream's name and the number of new events.

    Events that the stream has already are not appended again. Raises `BadInput`, `DatabaseUnusable`, `OSError`.
    """
    with taken(path):
        head = read_head(path)
        stream, stored = _name_of(ledger, head), 0
        writer = ledger.writer(stream, parent=head.parent)
        writer.uuid = head.uuid
        for batch in read_events(path):
            stored += len(writer.append(batch).events)
        path.unlink()
    return stream, stored


def free_name(ledger: Ledger, stream: str, uuid: bytes) -> str:
    """The name for a stream that is to be made, where one of its name may be there already."""
    found = ledger.find(stream)
    return stream if found is None or found.uuid == uuid else f"{stream}-{uuid.hex()[-8:]}"


def find_by_uuid(ledger: Ledger, uuid: bytes) -> str | None:
    """The name of the stream that has this identity."""
    return next((found.name for found in ledger.streams() if found.uuid == uuid), None)


def _name_of(ledger: Ledger, head: SpoolHead) -> str:
    return find_by_uuid(ledger, head.uuid) or free_name(ledger, head.stream, head.uuid)
