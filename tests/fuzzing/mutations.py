"""Random changes of a recording: cut, frames dropped, doubled, swapped, put in from elsewhere, fields changed."""

from __future__ import annotations

import base64
import binascii
import random
import reprlib
from collections.abc import Callable, Sequence
from typing import Any

from msgspec import Struct, structs

from recorder.events import eventstream, jsontext
from recorder.sources import Frame
from recorder.sources.frame import Framing
from tests.fuzzing import values
from tests.fuzzing.recordings import Recording, frames_of

_EVENT_NAMES = (None, None, "error", "end", "é", "a b", *values.EVENTS)
_MOST_FRAMES = 120
_MOST_BYTES = 150_000
"""Of a long recording a piece is changed: what takes seconds is tried less often."""


class Changed(Struct):
    """Bytes, and in a few words what was done to them."""

    data: bytes
    what: list[str]


class Mutation(Struct):
    """A recording while it is changed."""

    rng: random.Random
    framing: Framing
    frames: list[Frame]
    others: Sequence[Recording]
    what: list[str]


def changed(rng: random.Random, recording: Recording, others: Sequence[Recording]) -> Changed:
    """The recording (no document) after one to four random changes; `others`: where foreign frames come from."""
    assert recording.format != "cassette"
    assert recording.format != "har"
    frames = frames_of(recording.format, recording.data)
    mutation = Mutation(rng, recording.format, _piece(rng, frames), others, [])
    for _ in range(rng.choice([1, 1, 2, 3, 4])):
        rng.choice(_CHANGES)(mutation)
    data = b"".join(frame.raw for frame in mutation.frames)
    if rng.random() < 0.3:
        data = rng.choice(_OF_BYTES)(rng, data, mutation.what)
    return Changed(data, mutation.what)


def change_value(rng: random.Random, value: Any, what: list[str]) -> Any:
    """The JSON value with one thing in it changed."""
    places = list(values.paths(value))
    names = [place for place in places if place and place[-1] in values.IDENTITY]
    place = rng.choice(names if names and rng.random() < 0.3 else places)
    shown = ".".join(map(str, place)) or "$"
    if place and rng.random() < 0.15:
        what.append(f"{shown} left out")
        return values.without(value, place)
    old = values.at(value, place)
    if isinstance(old, str) and rng.random() < 0.4:
        new = values.bitten(rng, old)
    else:
        new = values.at(value, rng.choice(places)) if rng.random() < 0.2 else values.hostile(rng)
    what.append(f"{shown} is {reprlib.repr(new)}")
    return values.replaced(value, place, new)


def _piece(rng: random.Random, frames: list[Frame]) -> list[Frame]:
    """So many frames in a row that they are tried quickly; mostly from the beginning."""
    room = len(frames) - _MOST_FRAMES
    start = rng.randrange(room + 1) if room > 0 and rng.random() < 0.4 else 0
    taken, size = [], 0
    for frame in frames[start : start + _MOST_FRAMES]:
        size += len(frame.raw)
        if taken and size > _MOST_BYTES:
            break
        taken.append(frame)
    return taken


def _cut(mutation: Mutation) -> None:
    kept = mutation.rng.randrange(1, len(mutation.frames) + 1)
    mutation.frames = mutation.frames[:kept]
    mutation.what.append(f"cut after frame {kept}")


def _drop(mutation: Mutation) -> None:
    position = _position(mutation)
    count = mutation.rng.choice([1, 1, 1, 2, 5])
    if len(mutation.frames) > count:
        del mutation.frames[position : position + count]
        mutation.what.append(f"{count} dropped from frame {position + 1} on")


def _double(mutation: Mutation) -> None:
    position = _position(mutation)
    where = mutation.rng.choice([position + 1, mutation.rng.randrange(len(mutation.frames) + 1)])
    mutation.frames.insert(where, mutation.frames[position])
    mutation.what.append(f"frame {position + 1} again at {where + 1}")


def _swap(mutation: Mutation) -> None:
    first = _position(mutation)
    second = mutation.rng.choice([min(first + 1, len(mutation.frames) - 1), _position(mutation)])
    frames = mutation.frames
    frames[first], frames[second] = frames[second], frames[first]
    mutation.what.append(f"frames {first + 1} and {second + 1} swapped")


def _repeat(mutation: Mutation) -> None:
    """The answer comes again, whole or from its beginning: a gateway that restarts, two answers in one dump."""
    kept = mutation.rng.choice([len(mutation.frames), mutation.rng.randrange(1, len(mutation.frames) + 1)])
    again = mutation.frames[: mutation.rng.choice([len(mutation.frames), kept])]
    mutation.frames = [*mutation.frames[:kept], *again][: 2 * _MOST_FRAMES]
    mutation.what.append(f"begun again after frame {kept}")


def _follow(mutation: Mutation) -> None:
    """Another recording in the same framing follows, or comes at the same time."""
    rng = mutation.rng
    alike = [other for other in mutation.others if other.format == mutation.framing]
    if not alike:
        return
    other = rng.choice(alike)
    here, there = mutation.frames, _piece(rng, frames_of(mutation.framing, other.data))
    woven = rng.random() < 0.5
    mutation.what.append(f"{other.name} {'woven into' if woven else 'behind'} it")
    mutation.frames = []
    while here and there:
        side = here if not woven or rng.random() < len(here) / (len(here) + len(there)) else there
        mutation.frames.append(side.pop(0))
    mutation.frames += here + there


def _foreign(mutation: Mutation) -> None:
    """A frame of another recording, of whatever dialect, in between."""
    other = mutation.rng.choice(mutation.others)
    if other.format == "cassette" or other.format == "har":
        return
    frame = mutation.rng.choice(frames_of(other.format, other.data))
    position = mutation.rng.randrange(len(mutation.frames) + 1)
    mutation.frames.insert(position, _framed(mutation.framing, frame.body, frame.event))
    mutation.what.append(f"a frame of {other.name} before {position + 1}")


def _change_field(mutation: Mutation) -> None:
    rng = mutation.rng
    position = _position(mutation)
    frame = mutation.frames[position]
    said = [f"in frame {position + 1}"]
    value = _value(frame)
    if value is None:
        return
    inner = _inner(value) if rng.random() < 0.7 else None
    if inner is not None:
        payload = values.encoded(rng, change_value(rng, inner, said))
        value = {**value, "bytes": base64.b64encode(payload).decode()}
    else:
        value = change_value(rng, value, said)
    mutation.frames[position] = _with_payload(mutation.framing, frame, values.encoded(rng, value))
    mutation.what.append(" ".join(said))


def _change_end(mutation: Mutation) -> None:
    """Another word for why an answer stopped, none, or the frame that has it somewhere else."""
    rng = mutation.rng
    names = values.ENDS if rng.random() < 0.75 else values.KINDS
    found = [
        (position, value, place)
        for position, frame in enumerate(mutation.frames)
        if (value := _value(frame)) is not None
        for place in values.paths(value)
        if place and place[-1] in names
    ]
    if not found:
        return
    of_the_last = [each for each in found if each[0] == found[-1][0]]
    position, value, place = rng.choice(found if rng.random() < 0.4 else of_the_last)
    frame = mutation.frames.pop(position)
    new = _another_end(rng, str(place[-1]), values.at(value, place))
    where = rng.choice([position, position, position, rng.randrange(len(mutation.frames) + 1)])
    changed = values.encoded(rng, values.replaced(value, place, new))
    mutation.frames.insert(where, _with_payload(mutation.framing, frame, changed))
    mutation.what.append(f"{place[-1]} of frame {position + 1} is {new!r}, at {where + 1}")


def _another_end(rng: random.Random, name: str, old: Any) -> Any:
    """A word that may stand in the place of this one: mostly one of the same provider's."""
    if rng.random() < 0.25:
        return rng.choice([old, None, "", 1, {}, False])
    if name in values.KINDS:
        return rng.choice(values.EVENTS)
    alike = values.LOUD_REASONS if str(old).isupper() else values.QUIET_REASONS
    if rng.random() < 0.1:
        return rng.choice([*values.LOUD_REASONS, *values.QUIET_REASONS, *values.STATUSES])
    return rng.choice(values.REASONS.get(name, alike))


def _rename(mutation: Mutation) -> None:
    """An id or an index that is another one from some frame on."""
    rng = mutation.rng
    known = [place for frame in mutation.frames[:40] for place in _identities(frame)]
    if not known:
        return
    key, old = rng.choice(known)
    new = rng.choice([rng.choice(known)[1], f"{old}x", None, 0, 1, "0"])
    first = _position(mutation)
    for position in range(first, len(mutation.frames)):
        frame = mutation.frames[position]
        value = _value(frame)
        if value is None:
            continue
        for place in list(values.paths(value)):
            if place and place[-1] == key and values.at(value, place) == old:
                value = values.replaced(value, place, new)
        mutation.frames[position] = _with_payload(mutation.framing, frame, values.encoded(rng, value))
    mutation.what.append(f"{key} {old!r:.30} is {new!r:.30} from frame {first + 1} on")


def _garbage(mutation: Mutation) -> None:
    rng = mutation.rng
    position = rng.randrange(len(mutation.frames) + 1)
    payload = rng.choice(
        [b"null", b"[]", b"7", b'""', b"{", b"x\xff", b"{}", b"[[[", b"[DONE]", b'{"error":{"message":"m"}}']
    )
    mutation.frames.insert(position, _framed(mutation.framing, payload, rng.choice(_EVENT_NAMES)))
    mutation.what.append(f"{payload!r} before frame {position + 1}")


_CHANGES: list[Callable[[Mutation], None]] = [
    *(_cut, _drop, _drop, _double, _double, _swap, _swap, _repeat, _follow, _foreign, _rename, _rename, _garbage),
    *([_change_end] * 6),
    *([_change_field] * 8),
]


def _cut_bytes(rng: random.Random, data: bytes, what: list[str]) -> bytes:
    kept = rng.randrange(len(data) + 1)
    what.append(f"cut after byte {kept}")
    return data[:kept]


def _other_line_ends(rng: random.Random, data: bytes, what: list[str]) -> bytes:
    ends = rng.choice([b"\r\n", b"\r", b"\n\n", b"\r\r\n", "\u2028".encode()])
    what.append(f"line ends are {ends!r}")
    return data.replace(b"\n", ends)


def _flip(rng: random.Random, data: bytes, what: list[str]) -> bytes:
    if not data:
        return data
    position = rng.randrange(len(data))
    new = bytes([rng.choice([0, 10, 13, 32, 34, 58, 123, 125, 255, rng.randrange(256)])])
    what.append(f"byte {position} is {new!r}")
    return data[:position] + new + data[position + rng.choice([0, 1]) :]


_OF_BYTES: list[Callable[[random.Random, bytes, list[str]], bytes]] = [_cut_bytes, _cut_bytes, _other_line_ends, _flip]


def _position(mutation: Mutation) -> int:
    return mutation.rng.randrange(len(mutation.frames))


def _value(frame: Frame) -> Any:
    """The frame's JSON value; None where it has none."""
    try:
        return jsontext.decode_leniently(frame.body)[0]
    except jsontext.NotJson:
        return None


def _identities(frame: Frame) -> list[tuple[str | int, Any]]:
    value = _value(frame)
    found = ((place[-1], values.at(value, place)) for place in values.paths(value) if place)
    return [(key, each) for key, each in found if key in values.IDENTITY and isinstance(each, str | int)]


def _inner(value: Any) -> Any:
    """The frame within a frame of Bedrock's."""
    if not isinstance(value, dict) or not isinstance(value.get("bytes"), str):
        return None
    try:
        return jsontext.decode(base64.b64decode(value["bytes"]))
    except (jsontext.NotJson, binascii.Error, ValueError):
        return None


def _with_payload(framing: Framing, frame: Frame, payload: bytes) -> Frame:
    """The frame with another payload, framed as it was."""
    if frame.headers is not None:
        headers = {name: value for name, value in frame.headers.items() if isinstance(value, str)}
        return structs.replace(frame, body=payload, raw=eventstream.encode(headers, payload))
    if frame.body and frame.raw.count(frame.body) == 1 and frame.kind == "data":
        return structs.replace(frame, body=payload, raw=frame.raw.replace(frame.body, payload))
    return _framed(framing, payload, frame.event)


def _framed(framing: Framing, payload: bytes, event: str | None) -> Frame:
    """A frame with this payload."""
    match framing:
        case "sse":
            name = f"event: {event}\n".encode() if event else b""
            data = b"".join(b"data: " + line + b"\n" for line in payload.split(b"\n"))
            raw = name + data + b"\n"
        case "eventstream":
            headers = {":event-type": event or "chunk", ":content-type": "application/json", ":message-type": "event"}
            return Frame(body=payload, raw=eventstream.encode(headers, payload), event=event, headers=dict(headers))
        case "json_array":
            raw = b",\n" + payload
        case "ndjson":
            raw = payload.replace(b"\n", b" ") + b"\n"
        case "json":
            raw = payload
    return Frame(body=payload, raw=raw, event=event)
