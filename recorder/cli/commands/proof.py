"""`rec verify` and `rec seal`: whether the log is what was recorded."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from recorder.cli import opening, output, targets
from recorder.cli.options import Database, Json
from recorder.errors import BadInput

if TYPE_CHECKING:
    from recorder.ledger import Ledger
    from recorder.ledger.seal import Seal

Row = dict[str, Any]


def verify(
    streams: Annotated[list[str] | None, typer.Argument(metavar="STREAM…", help="All streams by default.")] = None,
    projections: Annotated[
        bool, typer.Option("--projections", help="Compare the read model with what the events give, too.")
    ] = False,
    seal: Annotated[
        str | None, typer.Option("--seal", metavar="FILE", help="Compare with a seal that was kept elsewhere.")
    ] = None,
    public_key: Annotated[
        str | None, typer.Option("--public-key", metavar="FILE", help="The key that must have signed the seal, in PEM.")
    ] = None,
    database: Database = None,
    json: Json = False,
) -> int:
    """Prove that the log is whole and was never changed.

    \b
    Examples:
      rec verify
      rec verify weather --projections
      rec verify --seal monday.seal --public-key auditor.pem

    Every hash is computed again, from the first event to the last: a changed, missing, added or moved event is named.
    What was removed from a stream's end, a stream that is gone and a chain that was written anew show against a seal.
    Exit code 1 where anything is wrong.
    """
    from recorder.ledger import verify as proof

    if public_key is not None and seal is None:
        raise BadInput("--public-key is for a seal: give --seal FILE too")
    sealed = None if seal is None else _read_seal(seal, public_key)
    changes: list[str] = []
    with opening.ledger(database) as ledger:
        heads = [ledger.head(targets.stream_name(ledger, each)) for each in streams or []] or ledger.streams()
        found = list(map(_verdict, proof.verify_all(ledger.store, heads, projections=projections)))
        if not streams:
            found += [_row(None, problem=problem) for problem in proof.strays(ledger.store)]
        if sealed is not None:
            from recorder.ledger import seal as seals

            found += [
                _row(each.stream, seq=each.seq, problem=f"against the seal: {each.problem}")
                for each in seals.broken(ledger.store, sealed)
            ]
            changes = seals.changes(ledger.store, sealed)
    if json:
        output.document(found)
    else:
        for row in found:
            print(_line(row))
        if not found:
            output.hint("there is no stream in the database")
        for line in changes:
            output.hint(line)
        if sealed is not None:
            unsigned = ", and is not signed" if sealed.signature is None else ""
            output.hint(f"the seal of {sealed.made_at} has {_count(len(sealed.streams), 'stream')}{unsigned}")
    return 1 if any(row["problem"] is not None for row in found) else 0


def seal(
    file: Annotated[
        str | None, typer.Argument(metavar="[FILE]", help="Where to write it. Default: standard output.")
    ] = None,
    key: Annotated[
        str | None, typer.Option("--key", metavar="FILE", help="Sign it with this Ed25519 key (PEM).")
    ] = None,
    database: Database = None,
) -> None:
    """State where every stream stands, to be kept elsewhere.

    \b
    Examples:
      rec seal monday.seal
      rec seal --key auditor.key monday.seal
      openssl genpkey -algorithm ed25519 -out auditor.key

    A chain proves that nothing in it was changed. Only a seal that was kept elsewhere proves that its end is still
    there, that no stream is gone, and that it was not all written anew: rec verify --seal compares.
    """
    from recorder.ledger import seal as seals

    with opening.ledger(database) as ledger:
        made = seals.make(ledger.store, None if key is None else _read(key))
    text = seals.write(made)
    if file is None:
        sys.stdout.write(text)
        return
    _write_new(Path(file), text)
    output.hint(f"{file}: sealed {_count(len(made.streams), 'stream')}, digest {made.digest}")


def erase(
    target: Annotated[str, typer.Argument(metavar="STREAM", help="The stream.")],
    reason: Annotated[str, typer.Option("--reason", metavar="TEXT", help="Why; it is kept.")],
    events: Annotated[str | None, typer.Option("--events", metavar="A-B", help="Only these events.")] = None,
    all: Annotated[bool, typer.Option("--all", help="All events, and the stream gives its name up.")] = False,
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    database: Database = None,
) -> None:
    """Blank what events hold, for good.

    \b
    Examples:
      rec erase weather --events 12-14 --reason "a customer's address"
      rec erase --all weather --reason "wrong dialect"

    Bodies, and all that was computed from them, are overwritten in the database. Numbers, times, hashes and a record
    of the erasure stay, and rec verify still proves the rest. There is no way back.
    """
    from recorder.ledger import erasure

    if (events is not None) == all:
        raise BadInput("give --events A-B, or --all")
    if not reason.strip():
        raise BadInput("--reason is empty: say why")
    with opening.ledger(database, create=False, write=True) as ledger:
        name = targets.stream_name(ledger, target)
        first, last = _range(ledger, name, events)
        what = f"events {first} to {last} of {name!r}"
        if not yes:
            if not sys.stdin.isatty():
                raise BadInput(f"this blanks {what} for good: add --yes")
            if not _confirmed(f"Blank {what} for good?"):
                output.hint("nothing was erased")
                raise typer.Exit(2)
        done = erasure.erase(
            ledger.store, ledger.head(name), first=first, last=None if all else last, reason=reason, retire=all
        )
        erased = f"erased events {done.erasure.first_seq} to {done.erasure.last_seq}"
        output.hint(f"{name}: {erased}" + (f"; it is now {done.stream}" if all else ""))
        if done.remains is not None:
            output.hint(f"{name}: {done.remains}")


def _confirmed(question: str) -> bool:
    """Asks the person at the terminal; standard output is for data."""
    print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def _range(ledger: Ledger, name: str, events: str | None) -> tuple[int, int]:
    last = ledger.head(name).last_seq
    if last == 0:
        raise BadInput(f"stream {name!r} has no events")
    if events is None:
        return 1, last
    found = targets.within(ledger, name, events, ranges=True)
    if found.first is None or found.last is None or not 1 <= found.first <= found.last <= last:
        raise BadInput(f"--events {events}: stream {name!r} has events 1 to {last}")
    return found.first, found.last


def _read_seal(file: str, public_key: str | None) -> Seal:
    from recorder.ledger import seal as seals

    text, expected = _read(file), None if public_key is None else _read(public_key)
    try:
        found = seals.read(text)
        if expected is not None or found.signature is not None:
            key = seals.verify_signature(found, expected)
            if expected is None:
                output.hint(f"{file}: signed by {key}; --public-key says whose key that must be")
    except BadInput as error:
        raise BadInput(f"{file}: {error}") from None
    return found


def _read(file: str) -> bytes:
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise BadInput(f"{file} cannot be read: {(error.strerror or str(error)).lower()}") from None


def _write_new(file: Path, text: str) -> None:
    """A file that is there is left: an older seal proves what a newer one cannot."""
    try:
        opened = file.open("x")
    except FileExistsError:
        raise BadInput(f"{file} exists already: name a new file") from None
    except OSError as error:
        raise BadInput(f"{file} cannot be written: {(error.strerror or str(error)).lower()}") from None
    try:
        with opened:
            opened.write(text)
    except OSError as error:
        file.unlink(missing_ok=True)
        raise BadInput(f"{file} cannot be written: {(error.strerror or str(error)).lower()}") from None


def _verdict(verdict: Any) -> Row:
    return _row(verdict.stream, events=verdict.events, erased=verdict.erased, seq=verdict.seq, problem=verdict.problem)


def _row(stream: str | None, **fields: Any) -> Row:
    return {"stream": stream, "events": None, "erased": None, "seq": None, "problem": None, **fields}


def _line(row: Row) -> str:
    name = row["stream"] if row["stream"] is not None else "the database"
    if row["problem"] is not None:
        place = "" if row["seq"] is None else f"event {row['seq']}: "
        return f"{name}: {place}{row['problem']}"
    erased = f", {row['erased']} of them erased" if row["erased"] else ""
    return f"{name}: whole, {_count(row['events'], 'event')}{erased}"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"
