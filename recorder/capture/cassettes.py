"""Capture of cassettes: a recorder rewrites them as a whole, so that their events are compared, not their bytes."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from recorder.capture.captured import Captured, Status
from recorder.capture.exchanges import exchange_events
from recorder.capture.refusals import other_bytes, unreadable
from recorder.errors import BadInput, Conflict, IdentityClash, NotAStream
from recorder.events import NewEvent
from recorder.ledger import Ledger
from recorder.sources import read_cassette
from recorder.store import Capture


def capture_cassette(ledger: Ledger, path: Path, stream: str, dialect: str | None) -> Captured:
    """Captures one cassette in one transaction; of one that has grown by interactions, those.

    Raises `BadInput` for a cassette that cannot be read, or that differs from what the stream of that name holds.
    """
    writer = ledger.writer(stream)
    before = writer.last_seq
    events, digest, size = _read(path, writer.uuid, dialect)
    if len(events) < before:
        raise other_bytes(path, stream)
    try:
        with ledger.store.transaction() as transaction:
            # From the first event on: of a stream that somebody else has made meanwhile none of these is known.
            receipt = writer.append_in(transaction, events, expected=0)
            if receipt.status != "known":
                capture = Capture(
                    source=path.name,
                    format="cassette",
                    bytes=size,
                    digest=digest,
                    first_seq=before + 1,
                    last_seq=receipt.last_seq,
                    complete=True,
                )
                transaction.save_capture(writer.required_head, capture)
    except (IdentityClash, Conflict):
        raise other_bytes(path, stream) from None
    status: Status = "known" if receipt.status == "known" else "extended" if before else "stored"
    return Captured(stream=stream, status=status, events=len(receipt.events), last_seq=receipt.last_seq)


def _read(path: Path, uuid: bytes, dialect: str | None) -> tuple[list[NewEvent], bytes, int]:
    """The cassette's events, and the digest and count of its bytes."""
    try:
        with open(path, "rb") as file:
            events = list(exchange_events(uuid, read_cassette(file), dialect=dialect))
            file.seek(0)
            data = file.read()
    except OSError as error:
        raise unreadable(path, error) from error
    except NotAStream as error:
        raise NotAStream(f"{path}: {error}; nothing was stored") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}; nothing was stored") from None
    if not events:
        raise BadInput(f"{path}: a cassette without an exchange; nothing was stored")
    return events, sha256(data).digest(), len(data)
