"""Streams moved: by copy from database to database, by export and capture; the same ever after."""

from __future__ import annotations

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from msgspec import structs

from recorder.capture import capture_file
from recorder.errors import BadInput, NameTaken, RecorderError
from recorder.events import Event, clock
from recorder.ledger import Ledger, transfer
from recorder.ledger.erasure import erase
from recorder.ledger.transfer import Part, copy
from recorder.replay.export import export
from recorder.store import Capture, Store, open_store
from tests.capture.made import emitted
from tests.ledger.exports import add, exported, lines, take
from tests.ledger.logs import is_whole
from tests.store.made import append, event, events
from tests.streams import CASSETTES

WHY = "asked for"
BODIES = [
    b"",
    b"\0",
    b"a\0b",
    b"\xff\xfe",
    b"\xed\xa0\xbd",
    b'{"half": "\\ud83d"}',
    "é \u2028 \ufeff 😀".encode(),
    "\ufeff{}".encode(),
    b"\r\n",
    bytes(range(256)),
    b"[" * 300,
    b'{"base64": "AA=="}',
    b"x" * 300_000,
    b"\xff" * 100_000,
]


@pytest.fixture
def there(tmp_path: Path) -> Iterator[Store]:
    """Another database."""
    with open_store(tmp_path / "there.db") as opened:
        yield opened


def fill(store: Store) -> None:
    """Streams with all that streams may have."""
    ledger = Ledger(store)
    capture_file(ledger, CASSETTES / "agent.jsonl")
    capture_file(ledger, CASSETTES / "weather-agent.yaml")
    odd = [
        event(
            number,
            body,
            kind=f"kind {number % 3} \u0085",
            frame=body or None,
            meta=b'{"status": 200}',
            cuts=b"[[1, 2]]",
        )
        for number, body in enumerate(BODIES, 1)
    ]
    odd += [
        event(100, source_id="a \\u0000 and \\ud83d", redacted="a key", occurred_at=0, name="é", run_id=None),
        event(101, parent_run_id="p", occurred_at=clock.LAST, layer="framework", dialect="nobody's", framing=""),
    ]
    add(store, "odd 'names' ü", odd)
    add(store, "many", events(1, 700))
    add(store, "many", events(701, 703))
    append(store, "empty", [])
    with store.transaction() as transaction:
        transaction.create_stream("child", parent="many", parent_seq=3)
    erase(store, store.head("agent"), first=4, last=9, reason="é ' \\")
    erase(store, store.head("agent"), first=8, last=30, reason=WHY)
    erase(store, store.head("many"), first=703, last=703, reason=WHY)


def copy_all(source: Store, target: Store) -> dict[str, tuple[Any, ...]]:
    """What became of each stream: status, new events, new erasures."""
    moved = {head.name: copy(source, head, target) for head in source.streams()}
    return {name: (each.status, each.events, each.erasures) for name, each in moved.items()}


# The same


def test_an_export_that_is_captured_is_the_same_stream(store: Store, there: Store) -> None:
    fill(store)
    whole = exported(store)
    taken = [each for content in whole.values() for each in take(there, content)]
    assert [(name, status) for name, status, _ in taken] == [(name, "stored") for name in whole]
    assert exported(there) == whole
    for head in store.streams():
        found = there.head(head.name)
        same = ("uuid", "name", "created_at", "last_seq", "head_hash", "parent", "parent_seq")
        assert [getattr(found, name) for name in same] == [getattr(head, name) for name in same]
        assert list(there.events(found, as_stored=True)) == list(store.events(head, as_stored=True))
        assert there.erasures(found) == store.erasures(head)
        assert there.captures(found) == store.captures(head)
    assert is_whole(there)
    # Again: known, all of it, and in one file.
    again = take(there, b"".join(whole.values()))
    assert again == [(name, "known", 0) for name in whole]
    assert exported(there) == whole


def test_a_copy_there_and_back_is_the_same(store: Store, there: Store, tmp_path: Path) -> None:
    fill(there)
    whole = exported(there)
    counts = {head.name: head.last_seq for head in there.streams()}
    erasures = {"agent": 2, "many": 1}
    assert copy_all(there, store) == {name: ("stored", counts[name], erasures.get(name, 0)) for name in whole}
    assert exported(store) == whole
    assert is_whole(store)
    assert copy_all(there, store) == dict.fromkeys(whole, ("known", 0, 0))
    with open_store(tmp_path / "back.db") as back:
        assert {each[0] for each in copy_all(store, back).values()} == {"stored"}
        assert exported(back) == whole
        assert is_whole(back)


def test_a_copy_goes_on_where_it_ended(store: Store, there: Store) -> None:
    fill(store)
    copy_all(store, there)
    add(store, "many", events(704, 900))
    add(store, "empty", [event(1)])
    add(store, "new", [event(1)])
    erase(store, store.head("many"), first=1, last=5, reason=WHY)
    erase(store, store.head("many"), first=750, last=760, reason=WHY)
    found = copy_all(store, there)
    assert {name: what for name, what in found.items() if what != ("known", 0, 0)} == {
        "many": ("extended", 197, 2),
        "empty": ("extended", 1, 0),
        "new": ("stored", 1, 0),
    }
    erase(store, store.head("new"), reason=WHY)
    assert copy_all(store, there)["new"] == ("extended", 0, 1)
    assert exported(there) == exported(store)
    assert is_whole(there)


def test_a_copy_that_was_cut_off_goes_on(store: Store, there: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    add(store, "many", events(1, 1200))
    erase(store, store.head("many"), first=600, last=610, reason=WHY)
    parts = transfer.parts

    def cut(*args: Any) -> Iterator[Part]:
        for each in parts(*args):
            if isinstance(each, Event) and each.seq == 1100:
                raise KeyboardInterrupt
            yield each

    with monkeypatch.context() as patch:
        patch.setattr(transfer, "parts", cut)
        with pytest.raises(KeyboardInterrupt):
            copy(store, store.head("many"), there)
    assert there.head("many").last_seq == 1000
    assert copy_all(store, there) == {"many": ("extended", 200, 1)}
    assert exported(there) == exported(store)
    assert is_whole(there)


def test_a_copied_stream_goes_on_there_and_is_copied_back(store: Store, there: Store) -> None:
    add(store, "many", events(1, 703))
    copy_all(store, there)
    add(there, "many", events(704, 710))
    with pytest.raises(BadInput, match=r"^stream 'many' has 703 events here and 710 there: copy it back$"):
        copy(store, store.head("many"), there)
    assert copy(there, there.head("many"), store).events == 7
    assert exported(there) == exported(store)
    assert is_whole(store)


def test_a_capture_goes_on_in_a_copy(store: Store, there: Store, tmp_path: Path) -> None:
    content = (CASSETTES / "weather.sse").read_bytes()
    blocks = [block + b"\n\n" for block in content.split(b"\n\n")]
    path = tmp_path / "weather.sse"
    path.write_bytes(b"".join(blocks[:7]))
    capture_file(Ledger(store), path)
    copy_all(store, there)
    path.write_bytes(b"".join(blocks[:12]))
    capture_file(Ledger(store), path)
    # The first note of a capture stays what it is, the second comes with what it names.
    copy_all(store, there)
    path.write_bytes(content)
    done = capture_file(Ledger(there), path)
    assert (done.status, done.last_seq) == ("extended", 20)
    assert emitted(Ledger(there), "weather", "raw") == content
    assert is_whole(there)


def test_a_note_that_grew_is_brought_up(store: Store, there: Store) -> None:
    add(store, "s", events(1, 3))
    note = Capture(source="-", format="sse", bytes=10, digest=b"a" * 32, first_seq=1, last_seq=3)
    with store.transaction() as transaction:
        number = transaction.save_capture(store.head("s"), note)
    copy_all(store, there)
    add(store, "s", events(4, 5))
    grown = structs.replace(note, capture=number, bytes=20, digest=b"b" * 32, last_seq=5, complete=True)
    with store.transaction() as transaction:
        transaction.save_capture(store.head("s"), grown)
    copy_all(store, there)
    assert there.captures(there.head("s")) == store.captures(store.head("s"))
    # An older copy takes nothing back.
    with store.transaction() as transaction:
        transaction.save_capture(store.head("s"), structs.replace(note, capture=number))
    copy_all(store, there)
    (found,) = there.captures(there.head("s"))
    assert (found.bytes, found.last_seq, found.complete) == (20, 5, True)


def test_what_comes_while_a_stream_is_copied_is_not_half_copied(
    store: Store, there: Store, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A note of a capture, or an erasure, of events that are not copied yet would be wrong there."""
    add(store, "s", events(1, 4))
    read, left = store.events, [True]

    def meanwhile(*args: Any, **kwargs: Any) -> Iterator[Event]:
        yield from read(*args, **kwargs)
        if left:
            left.pop()
            with open_store(database) as other:
                add(other, "s", events(5, 9))
                erase(other, other.head("s"), first=2, last=2, reason="of what is copied")
                erase(other, other.head("s"), first=8, last=9, reason="of what is not")
                note = Capture(source="-", format="sse", bytes=20, digest=b"b" * 32, first_seq=1, last_seq=9)
                with other.transaction() as transaction:
                    transaction.save_capture(other.head("s"), note)

    monkeypatch.setattr(store, "events", meanwhile)
    head = store.head("s")
    assert (copy(store, head, there).events, there.captures(there.head("s"))) == (4, [])
    assert [each.reason for each in there.erasures(there.head("s"))] == ["of what is copied"]
    assert is_whole(there)
    assert copy_all(store, there) == {"s": ("extended", 5, 1)}
    assert exported(there) == exported(store)
    assert is_whole(there)


def test_an_export_of_a_stream_that_is_written_to_is_one_of_its_beginning(
    store: Store, there: Store, database: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    add(store, "s", events(1, 4))
    with open_store(database) as other:
        written = export(Ledger(store), "s")
        first = next(written)
        add(other, "s", events(5, 9))
        erase(other, other.head("s"), first=3, last=3, reason=WHY)
        erase(other, other.head("s"), first=6, last=9, reason=WHY)
        content = first + b"".join(written)
    assert take(there, content) == [("s", "stored", 4)]
    assert [each.erased for each in there.events(there.head("s"))] == [False, False, True, False]
    assert is_whole(there)


def test_two_copies_at_once_leave_one_stream(store: Store, there: Store, database: str, tmp_path: Path) -> None:
    add(there, "s", events(1, 1500))
    erase(there, there.head("s"), first=5, last=6, reason=WHY)

    def run(_: int) -> str:
        with open_store(tmp_path / "there.db") as source, open_store(database) as target:
            try:
                return copy(source, source.head("s"), target).status
            except RecorderError as error:
                return str(error)

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(run, range(3)))
    assert set(found) <= {
        "stored",
        "extended",
        "known",
        "another stream has the name 's' there: give one of the two another (rec rename)",
    }
    copy_all(there, store)
    assert exported(store) == exported(there)
    assert is_whole(store)


# Others


def test_a_stream_that_went_another_way_is_refused(store: Store, there: Store) -> None:
    add(store, "s", events(1, 5))
    copy_all(store, there)
    add(store, "s", [event(6, b"here")])
    add(there, "s", [event(6, b"there")])
    before = exported(there)
    with pytest.raises(BadInput, match=r"^stream 's' went another way there: they differ at or before event 6$"):
        copy(store, store.head("s"), there)
    with pytest.raises(BadInput, match=r"^stream 's' holds another event 6: nothing was stored$"):
        take(there, exported(store)["s"])
    add(store, "s", events(7, 8))
    with pytest.raises(BadInput, match="went another way there: they differ at or before event 6"):
        copy(store, store.head("s"), there)
    with pytest.raises(BadInput, match=r"^stream 's' holds another event 6: nothing was stored$"):
        take(there, exported(store)["s"])
    assert exported(there) == before
    assert is_whole(there)


def test_a_name_that_another_stream_has_is_refused(store: Store, there: Store) -> None:
    add(store, "s", events(1, 5))
    add(there, "s", events(1, 1))
    before = exported(there)
    told = r"^another stream has the name 's' there: give one of the two another \(rec rename\)$"
    with pytest.raises(NameTaken, match=told):
        copy(store, store.head("s"), there)
    with pytest.raises(NameTaken, match=told):
        take(there, exported(store)["s"])
    assert exported(there) == before
    assert take(there, exported(store)["s"], name="t") == [("t", "stored", 5)]
    # By its UUID it is known now, whatever its name.
    assert take(there, exported(store)["s"]) == [("t", "known", 0)]
    assert copy_all(store, there) == {"s": ("known", 0, 0)}
    assert [head.name for head in there.streams()] == ["s", "t"]


@pytest.mark.parametrize("name", ["", "  ", "latest"])
def test_a_name_that_no_stream_may_have_is_refused(there: Store, store: Store, name: str) -> None:
    add(store, "s", events(1, 1))
    content = exported(store)["s"]
    with pytest.raises(BadInput, match="stream's name"):
        take(there, content, name=name)
    with pytest.raises(BadInput, match="stream's name"):
        take(there, content.replace(b'"name": "s"', f'"name": "{name}"'.encode()))
    assert there.streams() == []


def test_one_name_is_for_one_stream(store: Store, there: Store) -> None:
    for name in ("a", "b"):
        add(store, name, events(1, 1))
    with pytest.raises(BadInput, match="--name goes with one stream"):
        take(there, b"".join(exported(store).values()), name="t")
    assert [head.name for head in there.streams()] == ["t"]


# Erasures


def test_what_was_erased_here_is_not_brought_back_by_an_older_copy(store: Store, there: Store) -> None:
    add(store, "s", [event(number, b"body %d" % number) for number in range(1, 9)])
    copy_all(store, there)
    older = exported(store)["s"]
    erase(there, there.head("s"), first=3, last=5, reason=WHY)
    before = exported(there)["s"]
    assert copy_all(store, there) == {"s": ("known", 0, 0)}
    assert take(there, older) == [("s", "known", 0)]
    assert exported(there)["s"] == before
    assert b"body 4" not in before
    # An older copy that has grown brings what is new, and nothing else.
    add(store, "s", [event(9, b"body 9")])
    assert copy_all(store, there) == {"s": ("extended", 1, 0)}
    assert [each.erased for each in there.events(there.head("s"))] == [2 < seq < 6 for seq in range(1, 10)]
    assert is_whole(there)
    # And the erasure is carried over to it.
    assert copy_all(there, store) == {"s": ("extended", 0, 1)}
    assert exported(store) == exported(there)
    assert is_whole(store)


def test_erasures_that_were_made_in_two_places_are_refused(store: Store, there: Store) -> None:
    add(store, "s", events(1, 9))
    copy_all(store, there)
    erase(store, store.head("s"), first=1, last=2, reason=WHY)
    erase(there, there.head("s"), first=4, last=5, reason=WHY)
    before = exported(there)
    told = r"^stream 's' was erased here in another way than there: what is here stays; erase here too what is "
    for does in (lambda: copy(store, store.head("s"), there), lambda: take(there, exported(store)["s"])):
        with pytest.raises(BadInput, match=told):
            does()
    assert exported(there) == before
    assert is_whole(there)


def test_an_erased_event_is_a_tombstone_in_an_export(store: Store, there: Store) -> None:
    add(store, "s", [event(number, b"body %d" % number, meta=b"{}") for number in range(1, 5)])
    erase(store, store.head("s"), first=2, last=3, reason=WHY)
    found = [json.loads(line) for line in lines(store, "s")]
    assert [each.get("body") for each in found[2:6]] == ["body 1", "", "", "body 4"]
    assert found[3]["erased"] is True
    assert found[3].keys() == found[2].keys() - {"salt", "meta"} | {"erased"}
    assert found[1]["erasure"].keys() == {"erasure", "first_seq", "last_seq", "reason", "erased_at", "hash"}
    take(there, b"".join(lines(store, "s")))
    receipt = (
        Ledger(there).writer("s").append([event(number, b"body %d" % number, meta=b"{}") for number in range(1, 5)])
    )
    assert (receipt.status, receipt.erased) == ("known", 2)


def test_of_an_erasure_that_comes_along_nothing_is_left_in_a_file(store: Store, there: Store, tmp_path: Path) -> None:
    add(store, "s", [event(number, b"needle %d" % number) for number in range(1, 5)])
    copy_all(store, there)
    held = [tmp_path / "there.db", tmp_path / "there.db-wal"]
    assert any(b"needle 2" in path.read_bytes() for path in held)
    erase(store, store.head("s"), first=2, last=3, reason=WHY)
    assert copy(store, store.head("s"), there).remains is None
    assert not any(b"needle 2" in path.read_bytes() for path in held)
    assert any(b"needle 4" in path.read_bytes() for path in held)
