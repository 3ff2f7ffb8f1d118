"""Small parts of the ground floor: ids that files derive, the one clock, and the frames that templates rebuild."""

from __future__ import annotations

import uuid

import pytest

from recorder.events import NewEvent, clock, ids
from recorder.events.framing import NONE, VERBATIM, frame_of, render

STREAM = bytes(range(16))


def test_the_same_file_derives_the_same_ids_and_they_ascend() -> None:
    first = [ids.derived_event_id(STREAM, ordinal) for ordinal in range(1, 300)]
    assert first == [ids.derived_event_id(STREAM, ordinal) for ordinal in range(1, 300)]
    assert first == sorted(set(first))
    assert uuid.UUID(bytes=first[0]).version == 8
    assert uuid.UUID(bytes=first[0]).variant == uuid.RFC_4122
    assert not set(first) & {ids.derived_event_id(bytes(16), ordinal) for ordinal in range(1, 300)}


@pytest.mark.parametrize("ordinal", [0, -1, 1 << 62])
def test_ordinals_beyond_an_id_are_refused(ordinal: int) -> None:
    with pytest.raises(ValueError, match="ordinal"):
        ids.derived_event_id(STREAM, ordinal)


def test_streams_get_time_ordered_ids() -> None:
    made = [ids.new_stream_uuid() for _ in range(100)]
    assert made == sorted(set(made))
    assert uuid.UUID(bytes=made[0]).version == 7


def test_exchanges_of_a_stream_have_runs_of_their_own() -> None:
    assert ids.derived_run_id(STREAM, 1) == ids.derived_run_id(STREAM, 1)
    assert len({ids.derived_run_id(stream, n) for stream in (STREAM, bytes(16)) for n in range(1, 10)}) == 18


@pytest.mark.parametrize(
    ("text", "microseconds"),
    [
        ("1970-01-01T00:00:00.000000Z", 0),
        ("2023-11-14T22:13:20.000001Z", 1_700_000_000_000_001),
        ("9999-12-31T23:59:59.999999Z", 253_402_300_799_999_999),
    ],
)
def test_times_are_utc_text_and_back(text: str, microseconds: int) -> None:
    assert clock.to_text(microseconds) == text
    assert clock.from_text(text) == microseconds


def test_an_offset_counts_and_none_means_utc() -> None:
    assert clock.from_text("2026-01-31T12:00:00+02:00") == clock.from_text("2026-01-31T10:00:00")
    assert clock.from_text("2026-01-31") == clock.from_text("2026-01-31T00:00:00Z")
    with pytest.raises(ValueError, match="yesterday"):
        clock.from_text("yesterday")


@pytest.mark.parametrize(
    ("template", "frame"),
    [
        (VERBATIM, b"{body} {kind}"),
        (NONE, b""),
        ("data: {body}\n\n", b"data: {body} {kind}\n\n"),
        ("event: {kind}\nid: {id}\ndata: {body}\n\n", b"event: k\nid: 7\ndata: {body} {kind}\n\n"),
    ],
)
def test_a_template_fills_the_body_in_as_it_is(template: str, frame: bytes) -> None:
    assert render(template, b"{body} {kind}", "k", "7") == frame


def test_an_explicit_frame_goes_before_the_template() -> None:
    event = NewEvent(
        event_id=bytes(16),
        dialect="d",
        layer="wire",
        kind="k",
        body=b"b",
        framing="data: {body}\n\n",
        arrived_at=0,
        frame=b"as it was",
    )
    assert frame_of(event) == b"as it was"
