"""The store: events on disk, append-only, and the rows that projections keep beside them.

`open_store(path or URL)` gives a `Store`. Reading: `streams`, `head`, `find`, `latest`, `events`, `captures`,
`last_capture`, `snapshot`, `rows`, and `query` for SQL of the user's own. Writing happens in a `Transaction`:

    with store.transaction() as transaction:
        head = transaction.head("weather") or transaction.create_stream("weather")
        receipt = transaction.append(head, events, expected=head.last_seq)
        transaction.write_rows(head, {"findings": [{"seq": 1, "ordinal": 0, "rule": "…"}]})

A `StreamHead` is what a stream was when it was read; it names the stream to every other call, and an append goes by
the stream as it is then. The store knows no projection: rows are plain mappings by table, snapshots are bytes. Nothing
of SQLAlchemy or of one kind of database leaves this room; every error is one of `recorder.errors`.

What is exported is imported when it is first asked for: who only wants to know where the database is
(`recorder.store.location`) needs no SQLAlchemy.
"""

from importlib import import_module

TYPE_CHECKING = False

if TYPE_CHECKING:
    from recorder.store.opening import open_store
    from recorder.store.shapes import Appended, Capture, Erasure, Position, Problem, Receipt, StreamHead
    from recorder.store.store import Store
    from recorder.store.transaction import Transaction

_PLACES = {"Store": "store", "Transaction": "transaction", "open_store": "opening"}
"""In which module those are that are not among the shapes."""
__all__ = [
    "Appended",
    "Capture",
    "Erasure",
    "Position",
    "Problem",
    "Receipt",
    "Store",
    "StreamHead",
    "Transaction",
    "open_store",
]


def __getattr__(name: str) -> object:
    if name in __all__:
        return getattr(import_module(f"{__name__}.{_PLACES.get(name, 'shapes')}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
