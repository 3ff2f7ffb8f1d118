"""Texts that no database takes as they are: lone surrogates, and NUL characters, which Postgres has not."""

from __future__ import annotations

from typing import Any

import pytest
from msgspec import structs

from recorder.errors import NameTaken
from recorder.events.chain import GENESIS, content_hash, link
from recorder.store import Capture, Store
from recorder.store import append as appending
from recorder.store.texts import is_storable, storable
from tests.store.made import append, chain_is_whole, erase, event, events, select

TEXTS = ("dialect", "kind", "framing", "run_id", "parent_run_id", "name", "source_id", "redacted")
BAD = {"\0": r"\u0000", "a\0b\0": r"a\u0000b\u0000", "\ud83d": r"\ud83d", "a\udfff\0": r"a\udfff\u0000"}


def test_what_is_not_storable_becomes_its_escape() -> None:
    for text, escaped in BAD.items():
        assert (storable(text), is_storable(text), is_storable(escaped)) == (escaped, False, True)
    for text in ("", "é", "\U0001f600", "\x01\x7f\ufffe", r"\u0000"):
        assert (storable(text), is_storable(text)) == (text, True)


@pytest.mark.parametrize("field", TEXTS)
def test_a_text_of_the_envelope_is_stored_as_its_escape(store: Store, field: str) -> None:
    given = [event(number, **{field: text}) for number, text in enumerate(BAD, 1)]
    append(store, "s", given)
    assert [getattr(found, field) for found in store.events(store.head("s"))] == list(BAD.values())
    assert chain_is_whole(store, "s")
    assert append(store, "s", given).status == "known"
    # Again, after its type and origin were met, and in a batch with others.
    append(store, "s", [structs.replace(each, event_id=b"x" + each.event_id[1:]) for each in given])
    assert [getattr(found, field) for found in store.events(store.head("s"), 5)] == list(BAD.values())
    assert chain_is_whole(store, "s")
    assert len(select(store, "SELECT 1 FROM events WHERE stream = :s", s="s")) == 8


def test_the_hash_is_the_same_on_each_database(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(appending.os, "urandom", lambda count: b"s" * count)
    monkeypatch.setattr("recorder.events.clock.now", lambda: 5)
    given = event(1, **dict.fromkeys(TEXTS, "a\0\ud800"))
    with store.transaction() as transaction:
        head = transaction.create_stream("s", uuid=b"u" * 16)
        (found,) = transaction.append(head, [given]).events
    said = structs.replace(given, **dict.fromkeys(TEXTS, r"a\u0000\ud800"))
    body_hash = content_hash(b"s" * 16, said)
    assert found.hash == link(GENESIS, b"u" * 16, 1, 5, said, body_hash, found.version)
    assert store.head("s").head_hash == found.hash


def test_a_stream_is_found_by_the_name_that_it_was_given(store: Store) -> None:
    for name, kept in BAD.items():
        append(store, name, events(1, 2))
        assert store.head(name).name == kept
        assert store.find(kept) == store.head(name)
        with pytest.raises(NameTaken), store.transaction() as transaction:
            transaction.create_stream(name)
    with store.transaction() as transaction:
        child = transaction.create_stream("child", parent="\0", parent_seq=1)
        assert child.parent == r"\u0000"
        transaction.rename(transaction.head("\0") or child, "\0\0")
    assert store.head("child").parent == store.head("\0\0").name == r"\u0000\u0000"
    assert chain_is_whole(store, "\0\0")


def test_what_is_noted_of_a_stream_is_kept_as_its_escape(store: Store) -> None:
    append(store, "s", events(1, 2))
    head = store.head("s")
    capture: dict[str, Any] = {"bytes": 1, "digest": b"d", "first_seq": 1, "last_seq": 2}
    for text, kept in BAD.items():
        with store.transaction() as transaction:
            transaction.mark(head, stale=text, projection=1)
            transaction.save_capture(head, Capture(source=text, format=text, **capture))
            assert transaction.erase(head, 1, 1, text).reason == kept
        noted = store.last_capture(head)
        assert noted is not None
        assert (store.head("s").stale, noted.source, noted.format) == (kept, kept, kept)
        assert select(store, "SELECT reason FROM erasures ORDER BY erasure DESC LIMIT 1") == [(kept,)]


def test_a_body_is_kept_whatever_it_holds(store: Store) -> None:
    given = [b"", b"\0", b"a\0b", "é\0".encode(), b"\xff\0", b'{"a": "\\u0000"}', b"\x01\x7f"]
    append(store, "s", [event(number, body, meta=body, frame=body, cuts=body) for number, body in enumerate(given, 1)])
    for found, body in zip(store.events(store.head("s")), given, strict=True):
        assert (found.body, found.meta, found.frame, found.cuts) == (body, body, body, body)
    assert chain_is_whole(store, "s")
    erase(store, "s", 2, 3)
    assert [found.body for found in store.events(store.head("s"))] == [b"", b"", b"", *given[3:]]


def test_the_view_of_events_never_fails_on_what_is_no_text(store: Store) -> None:
    """`text` is NULL where the body is none; so are `cuts` and `meta`, which only this program writes."""
    append(store, "s", [event(1, b"a\xff", meta=b"\xff", cuts=b"\xff"), event(2, b"\0", meta=b"\0", cuts=b"\xc3")])
    assert [row[0] for row in select(store, "SELECT text, meta, cuts FROM events WHERE seq = 1")] == [None]
    assert len(select(store, "SELECT * FROM events")) == 2


def test_postgres_shows_as_text_exactly_what_is_utf_8_without_nul(postgres_store: Store) -> None:
    pieces = [b"A", "é".encode(), "€".encode(), "\U0001f600".encode(), "\ud7ff\ue000".encode(), b"\0", b"\xff", b"\xc3"]
    pieces += [
        b"\xed\xa0\x80",
        b"\xe2\x82",
        b"\xc0\x80",
        b"\xe0\x80\x80",
        b"\xf4\x90\x80\x80",
        b"\xf0\x9f\x98",
        b"\x80",
    ]
    notes = [b"", *(left + right for left in pieces for right in (b"", *pieces))]
    append(postgres_store, "s", [event(number, meta=note) for number, note in enumerate(notes, 1)])
    shown = [row[0] for row in select(postgres_store, "SELECT meta FROM events ORDER BY seq")]
    assert shown == [_text(note) for note in notes]


def _text(note: bytes) -> str | None:
    try:
        return None if b"\0" in note else note.decode()
    except UnicodeDecodeError:
        return None
