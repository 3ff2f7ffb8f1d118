"""Capture of documents: a recorder rewrites them as a whole, so that their events are compared, not their bytes."""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path

from recorder.capture.captured import Captured, Status
from recorder.capture.exchanges import Taken, exchange_events
from recorder.capture.refusals import erased_already, no_model_traffic, other_bytes, unreadable
from recorder.errors import BadInput, Conflict, IdentityClash, NotAStream
from recorder.ledger import Ledger
from recorder.sources import DocumentFormat, read_exchanges
from recorder.store import Capture


def capture_document(
    ledger: Ledger, path: Path, stream: str, format: DocumentFormat, dialect: str | None, *, everything: bool
) -> Captured:
    """Captures one document of exchanges in one transaction; of one that has grown by exchanges, those.

    A cassette is taken whole: somebody chose what is in it. Of a HAR file, `everything` or model traffic only. Raises
    `BadInput` for a document that cannot be read, or that differs from what the stream of that name holds.
    """
    writer = ledger.writer(stream)
    before = writer.last_seq
    if writer.head is not None and ledger.store.erasure_count(writer.head):
        raise erased_already(path, stream)
    taken, digest, size = _read(path, writer.uuid, format, dialect, everything or format == "cassette")
    events = taken.events
    if len(events) < before:
        raise other_bytes(path, stream)
    try:
        with ledger.store.transaction() as transaction:
            # From the first event on: of a stream that somebody else has made meanwhile none of these is known.
            receipt = writer.append_in(transaction, events, expected=0)
            if receipt.status != "known":
                capture = Capture(
                    source=path.name,
                    format=format,
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
    return Captured(
        stream=stream, status=status, events=len(receipt.events), last_seq=receipt.last_seq, note=_note(taken)
    )


def _note(taken: Taken) -> str | None:
    if not taken.left_out:
        return None
    return f"{taken.left_out} of {taken.exchanges} exchanges are no model traffic and were left out; --all takes them"


def _read(
    path: Path, uuid: bytes, format: DocumentFormat, dialect: str | None, everything: bool
) -> tuple[Taken, bytes, int]:
    """The document's events, and the digest and count of its bytes."""
    try:
        with open(path, "rb") as file:
            taken = exchange_events(uuid, read_exchanges(file, format), dialect=dialect, everything=everything)
            file.seek(0)
            data = file.read()
    except OSError as error:
        raise unreadable(path, error) from error
    except NotAStream as error:
        raise NotAStream(f"{path}: {error}; nothing was stored") from None
    except BadInput as error:
        raise BadInput(f"{path}: {error}; nothing was stored") from None
    if taken.left_out and not taken.events:
        raise no_model_traffic(path, taken.exchanges)
    if not taken.events:
        raise BadInput(f"{path}: {_named(format)} without an exchange; nothing was stored")
    return taken, sha256(data).digest(), len(data)


def _named(format: DocumentFormat) -> str:
    return {"cassette": "a cassette", "har": "a HAR file"}[format]
