"""No dialect ever raises: any field of another JSON type, frames dropped, doubled and swapped, bytes of any kind."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recorder.deltas import AnyDelta
from recorder.dialects import DIALECTS, recognise
from recorder.dialects.base import Dialect
from recorder.events.jsontext import clean
from tests.dialects.traffic import FRAMES, REQUESTS
from tests.dialects.wire import decode_events, end, event, frame, request, response

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.sampled_from(["\ud83d", "0", "", 1 << 70, "error", "[DONE]"])
)
JSON = st.recursive(
    SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
)


def paths(value: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    yield at
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from paths(inner, (*at, key))


def replaced(value: Any, path: tuple[Any, ...], new: Any) -> Any:
    """The value with another one at the path. What lies beside the path is shared with it."""
    if not path:
        return new
    key, *rest = path
    inner = replaced(value[key], tuple(rest), new)
    return {**value, key: inner} if isinstance(value, dict) else [*value[:key], inner, *value[key + 1 :]]


def as_json(value: Any) -> bytes:
    return json.dumps(value).encode()


def check(dialect: Dialect, deltas: list[AnyDelta]) -> None:
    """The types of a delta's fields are what its definition says, whatever the wire had."""
    for delta in deltas:
        msgspec.convert(msgspec.to_builtins(delta, builtin_types=(bytes,)), type(delta), strict=True)
        assert delta.run_id == clean(delta.run_id)


SWAPS: list[Any] = [
    None,
    True,
    0,
    -1,
    1.5,
    1 << 70,
    "",
    "x",
    "\ud83d",
    [],
    ["x"],
    [[]],
    {},
    {"x": {"y": 1}},
    [None],
    [{"type": "ai"}],
]


def test_every_dialect_is_tried() -> None:
    assert sorted(FRAMES) == sorted(DIALECTS)


@pytest.mark.parametrize("name", FRAMES)
def test_every_field_may_have_every_other_type(name: str) -> None:
    dialect, traffic = DIALECTS[name], FRAMES[name]
    for position, value in enumerate(traffic):
        around = (traffic[max(position - 1, 0) : position], traffic[position : position + 2])
        before, after = ([frame(dialect, as_json(each)) for each in frames] for frames in around)
        for path in paths(value):
            for new in SWAPS:
                changed = frame(dialect, as_json(replaced(value, path, new)))
                check(dialect, decode_events(dialect, [*before, changed, *after]))


@pytest.mark.parametrize("name", FRAMES)
@pytest.mark.parametrize("body", REQUESTS)
def test_every_field_of_a_request_may_have_every_other_type(name: str, body: Any) -> None:
    dialect = DIALECTS[name]
    for path in paths(body):
        for new in SWAPS:
            check(dialect, decode_events(dialect, [request(dialect, replaced(body, path, new))]))


@settings(max_examples=150)
@given(st.sampled_from(sorted(FRAMES)), st.data())
def test_frames_may_be_dropped_doubled_swapped_and_changed(name: str, data: st.DataObject) -> None:
    dialect, traffic = DIALECTS[name], FRAMES[name]
    order = data.draw(st.lists(st.integers(0, len(traffic) - 1), max_size=12))
    frames = [traffic[position] for position in order]
    if frames:
        position = data.draw(st.integers(0, len(frames) - 1))
        path = data.draw(st.sampled_from(list(paths(frames[position]))))
        frames[position] = replaced(frames[position], path, data.draw(JSON))
    events = [frame(dialect, as_json(each)) for each in frames]
    check(dialect, decode_events(dialect, [response(dialect), *events, end(dialect), *events]))


@settings(max_examples=100)
@given(
    st.sampled_from(sorted(DIALECTS)),
    st.sampled_from(
        ["http.request", "http.response", "http.end", "http.error", "comment", "partial", "done", "error", "x"]
    ),
    st.binary(max_size=30) | JSON.map(as_json),
    st.none() | JSON,
)
def test_bytes_of_any_kind_are_taken(name: str, kind: str, body: bytes, meta: Any) -> None:
    dialect = DIALECTS[name]
    first = event(dialect, kind, body, meta=meta, run_id=None)
    check(dialect, decode_events(dialect, [first, first, event(dialect, "http.end")]))


@settings(max_examples=200)
@given(JSON, st.none() | st.text(max_size=5))
def test_any_value_can_be_asked_for_its_dialect_and_envelope(value: Any, event_name: str | None) -> None:
    recognise(value, event_name)
    for dialect in DIALECTS.values():
        envelope = dialect.envelope(value, event_name)
        texts = (envelope.kind, envelope.run_id, envelope.parent_run_id, envelope.name)
        assert all(text is None or text == clean(text) for text in texts)
        assert envelope.kind
