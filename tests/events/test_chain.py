"""The chain's bytes are a contract: an auditor's own program must come to the same hashes, years later."""

from __future__ import annotations

from hashlib import sha256
from typing import Any

import msgspec
import pytest

from recorder.events import ENVELOPE_VERSION, Event, NewEvent
from recorder.events.chain import GENESIS, content_hash, link, relink

STREAM = bytes(range(16))
SALT = bytes(range(16, 32))
EVENT = NewEvent(
    event_id=bytes(16),
    dialect="openai.chat",
    layer="wire",
    kind="chat.completion.chunk",
    body=b'{"a":1}',
    framing="data: {body}\n\n",
    arrived_at=1_700_000_000_000_000,
    run_id="run",
    name="/v1/chat/completions",
)


def changed(**fields: Any) -> NewEvent:
    return msgspec.structs.replace(EVENT, **fields)


def test_the_hashes_of_version_1_never_change() -> None:
    assert ENVELOPE_VERSION == 1, "a new version needs golden hashes of its own; these stay"
    body_hash = content_hash(SALT, EVENT)
    assert body_hash.hex() == "9b6951aa5bdba9fd22cf5234256cb450ba552f4b50842d62732598d540bda24b"
    assert (
        link(GENESIS, STREAM, 1, 5, EVENT, body_hash, 1).hex()
        == "6faaa6db32a8a3b9a607a7263537146f61ee60143a9bcffc5fbd0162a3b05be1"
    )


def test_the_hashes_are_what_their_description_says() -> None:
    content = msgspec.msgpack.encode([EVENT.body, None, None, None])
    body_hash = sha256(SALT + content).digest()
    assert content_hash(SALT, EVENT) == body_hash
    envelope = [1, 7, bytes(16), "openai.chat", "wire", "chat.completion.chunk", "run", None, "/v1/chat/completions"]
    envelope += [None, None, 1_700_000_000_000_000, 5, "data: {body}\n\n", "utf-8", None]
    expected = sha256(GENESIS + STREAM + msgspec.msgpack.encode(envelope) + body_hash).digest()
    assert link(GENESIS, STREAM, 7, 5, EVENT, body_hash, 1) == expected


@pytest.mark.parametrize(
    "fields",
    [
        {"event_id": bytes([1] * 16)},
        {"dialect": "x"},
        {"layer": "framework"},
        {"kind": "x"},
        {"framing": "x"},
        {"arrived_at": 1},
        {"run_id": None},
        {"parent_run_id": "x"},
        {"name": "x"},
        {"source_id": "x"},
        {"occurred_at": 1},
        {"encoding": "binary"},
        {"redacted": "x"},
    ],
)
def test_every_field_of_the_envelope_is_in_the_link(fields: dict[str, Any]) -> None:
    body_hash = content_hash(SALT, EVENT)
    assert link(GENESIS, STREAM, 1, 5, changed(**fields), body_hash, 1) != link(
        GENESIS, STREAM, 1, 5, EVENT, body_hash, 1
    )


@pytest.mark.parametrize("fields", [{"body": b""}, {"frame": b"x"}, {"cuts": b"[]"}, {"meta": b"{}"}])
def test_all_that_an_erasure_blanks_is_in_the_content(fields: dict[str, Any]) -> None:
    assert content_hash(SALT, changed(**fields)) != content_hash(SALT, EVENT)


def test_a_value_cannot_move_from_one_field_into_the_next() -> None:
    left, right = changed(kind="ab", name="c"), changed(kind="a", name="bc")
    assert link(GENESIS, STREAM, 1, 5, left, SALT, 1) != link(GENESIS, STREAM, 1, 5, right, SALT, 1)
    assert content_hash(SALT, changed(frame=b"x")) != content_hash(SALT, changed(meta=b"x"))


def test_a_stored_event_gives_its_hash_again_also_when_it_was_erased() -> None:
    body_hash = content_hash(SALT, EVENT)
    digest = link(GENESIS, STREAM, 1, 5, EVENT, body_hash, 1)
    fields = {name: getattr(EVENT, name) for name in EVENT.__struct_fields__}
    stored = Event(seq=1, recorded_at=5, salt=SALT, body_hash=body_hash, hash=digest, **fields)
    assert relink(GENESIS, STREAM, stored) == digest
    erased = msgspec.structs.replace(stored, body=b"", salt=None, erased=True)
    assert relink(GENESIS, STREAM, erased) == digest
