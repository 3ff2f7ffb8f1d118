"""AWS event streams: every byte is in a frame, damage costs what is damaged, and botocore reads the same messages."""

from __future__ import annotations

import struct
import zlib
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recorder.events import eventstream
from recorder.events.framing import VERBATIM, render
from recorder.sources import EventstreamReader, Frame, detect, recognise, template_of
from tests.corpus import CORPUS, needs_corpus

HEADERS = {":event-type": "contentBlockDelta", ":content-type": "application/json", ":message-type": "event"}


def message(payload: bytes, **headers: str) -> bytes:
    """A message as Bedrock writes them; `event_type="x"` gives it another header `:event-type`."""
    named = {f":{name.replace('_', '-')}": value for name, value in headers.items()}
    return eventstream.encode({**HEADERS, **named}, payload)


def packed(headers: bytes, payload: bytes = b"") -> bytes:
    """A message whose headers are these bytes, made without the code that is tested."""
    lengths = struct.pack("!II", 16 + len(headers) + len(payload), len(headers))
    whole = lengths + struct.pack("!I", zlib.crc32(lengths)) + headers + payload
    return whole + struct.pack("!I", zlib.crc32(whole))


def read(*pieces: bytes, resume: bytes = b"") -> list[Frame]:
    reader = EventstreamReader(resume)
    return [frame for piece in pieces for frame in reader.feed(piece)] + reader.end()


def kinds(frames: list[Frame]) -> list[tuple[str, bytes]]:
    return [(frame.kind, frame.body) for frame in frames]


ONE, TWO, THREE = message(b'{"n":1}'), message(b'{"n":2}', event_type="messageStop"), message(b'{"n":3}')
STREAM = ONE + TWO + THREE
BODIES = [b'{"n":1}', b'{"n":2}', b'{"n":3}']
WHOLE = [("data", body) for body in BODIES]


def test_a_frame_is_a_message_with_its_payload_and_its_name() -> None:
    frames = read(STREAM)
    assert kinds(frames) == WHOLE
    assert [frame.raw for frame in frames] == [ONE, TWO, THREE]
    assert [frame.event for frame in frames] == ["contentBlockDelta", "messageStop", "contentBlockDelta"]
    assert frames[0].headers == HEADERS


@pytest.mark.parametrize("size", [1, 2, 7, 11, 12, 13, 100])
def test_it_makes_no_difference_how_the_bytes_come(size: int) -> None:
    broken = ONE + b"\0noise" + TWO[:-1] + THREE + ONE[:40]
    for data in (STREAM, broken):
        assert read(*(data[at : at + size] for at in range(0, len(data), size))) == read(data)


@pytest.mark.parametrize(
    ("headers", "name"),
    [
        ({":message-type": "exception", ":exception-type": "throttlingException"}, "throttlingException"),
        ({":message-type": "error", ":error-code": "InternalError", ":error-message": "Oh no"}, "InternalError"),
        ({":message-type": "event"}, None),
    ],
)
def test_exceptions_and_errors_have_names_too(headers: dict[str, str], name: str | None) -> None:
    (frame,) = read(eventstream.encode(headers, b"{}"))
    assert (frame.event, frame.headers, frame.kind) == (name, headers, "data")


def test_every_type_of_header_is_read() -> None:
    parts = [
        ("yes", b"\x00"),
        ("no", b"\x01"),
        ("byte", b"\x02" + struct.pack("!b", -5)),
        ("short", b"\x03" + struct.pack("!h", -500)),
        ("integer", b"\x04" + struct.pack("!i", 70000)),
        ("long", b"\x05" + struct.pack("!q", -(1 << 40))),
        ("bytes", b"\x06" + struct.pack("!H", 3) + b"\0\1\2"),
        ("text", b"\x07" + struct.pack("!H", 3) + "aü".encode()),
        ("time", b"\x08" + struct.pack("!q", 1767225600000)),
        ("uuid", b"\x09" + bytes(range(16))),
    ]
    (frame,) = read(packed(b"".join(bytes([len(name)]) + name.encode() + value for name, value in parts), b"{}"))
    assert frame.headers == {
        "yes": True,
        "no": False,
        "byte": -5,
        "short": -500,
        "integer": 70000,
        "long": -(1 << 40),
        "bytes": b"\0\1\2",
        "text": "aü",
        "time": 1767225600000,
        "uuid": bytes(range(16)),
    }


@pytest.mark.parametrize(
    "headers",
    [b"\x04name", b"\x02ok\x63x", b"\x02ok\x07\x00\x09short", b"\x02ok\x07\x00\x01\xff", b"\x02ok\x05\x00", b"\x01"],
    ids=["no type", "a type that there is not", "cut text", "no UTF-8", "cut number", "cut name"],
)
def test_headers_that_cannot_be_read_cost_the_name_and_not_the_payload(headers: bytes) -> None:
    frames = read(ONE + packed(headers, b'{"n":2}') + THREE)
    assert kinds(frames) == WHOLE
    assert (frames[1].event, frames[1].headers) == (None, None)
    assert template_of(frames[1], "unknown") == (VERBATIM, frames[1].raw)


def flipped(data: bytes, at: int) -> bytes:
    return data[:at] + bytes([data[at] ^ 0xFF]) + data[at + 1 :]


@pytest.mark.parametrize("at", range(len(TWO)))
def test_a_changed_byte_costs_its_message_only(at: int) -> None:
    broken = flipped(TWO, at)
    assert kinds(read(ONE + broken + THREE)) == [WHOLE[0], ("damaged", broken), WHOLE[2]]


@pytest.mark.parametrize("lost", range(1, len(TWO)))
def test_lost_bytes_cost_what_is_left_of_their_message(lost: int) -> None:
    """Though the message that follows lies within what the first one's length claims."""
    assert kinds(read(ONE + TWO[:-lost] + THREE)) == [WHOLE[0], ("damaged", TWO[:-lost]), WHOLE[2]]


@pytest.mark.parametrize("noise", [b"\n", b"\0" * 30, b"noise", ONE[:12], bytes(range(256))])
def test_bytes_between_messages_are_a_frame(noise: bytes) -> None:
    assert kinds(read(ONE + noise + TWO + THREE)) == [WHOLE[0], ("damaged", noise), *WHOLE[1:]]
    assert kinds(read(noise + STREAM)) == [("damaged", noise), *WHOLE]
    assert kinds(read(STREAM + noise)) == [*WHOLE, ("partial", noise)]


@pytest.mark.parametrize(
    "prelude",
    [
        struct.pack("!II", 15, 0),
        struct.pack("!II", 100, 90),
        struct.pack("!II", 16 + 24 * 1024 * 1024 + 1, 0),
        struct.pack("!II", 300_000, 128 * 1024 + 1),
    ],
    ids=["shorter than a message", "headers beyond the end", "payload too large", "headers too large"],
)
def test_a_length_that_no_message_may_have_is_damage(prelude: bytes) -> None:
    noise = prelude + struct.pack("!I", zlib.crc32(prelude))
    assert kinds(read(noise + STREAM)) == [("damaged", noise), *WHOLE]


@pytest.mark.parametrize("cut", range(1, len(STREAM)))
def test_a_stream_that_is_cut_has_one_partial_frame_that_goes_on(cut: int) -> None:
    before = read(STREAM[:cut])
    whole = sum(end <= cut for end in (len(ONE), len(ONE + TWO), len(STREAM)))
    assert kinds(before)[:whole] == WHOLE[:whole]
    left = before[whole:]
    assert [frame.kind for frame in left] == ["partial"] * (cut not in (len(ONE), len(ONE + TWO)))
    after = read(STREAM[cut:], resume=left[0].body if left else b"")
    assert kinds(after) == WHOLE[whole:]
    assert [frame.continues for frame in after] == [bool(left), False, False][: len(after)]
    assert b"".join(frame.raw for frame in before + after) == STREAM


def test_a_message_that_never_became_whole_gives_way_to_the_next_at_the_end() -> None:
    """A recorder that was killed and started again on the same file."""
    assert kinds(read(ONE + message(b"x" * 500)[:60] + TWO + THREE[:20])) == [
        WHOLE[0],
        ("damaged", message(b"x" * 500)[:60]),
        WHOLE[1],
        ("partial", THREE[:20]),
    ]


def test_damage_at_the_end_goes_on_until_a_message_begins() -> None:
    broken = flipped(ONE, 20)
    (left,) = read(broken)
    assert left.kind == "partial"
    assert kinds(read(TWO, resume=left.body)) == [WHOLE[1]]
    noisy, whole = read(b"noise", TWO, resume=left.body)
    assert (noisy.kind, noisy.raw, noisy.body, noisy.continues) == ("damaged", b"noise", broken + b"noise", True)
    assert whole.raw == TWO


def test_nothing_new_is_no_frame() -> None:
    assert read(b"", resume=ONE[:20]) == []
    assert EventstreamReader(ONE[:20]).pending == ONE[:20]


messages = st.lists(st.sampled_from([ONE, TWO, THREE, b"noise", b"\0\0\0", ONE[:30], flipped(TWO, 90)]), max_size=6)


@given(messages, st.lists(st.integers(1, 400), max_size=6))
def test_all_bytes_are_in_frames_and_all_sound_messages_are_read(parts: list[bytes], cuts: list[int]) -> None:
    data = b"".join(parts)
    places = [0, *sorted({min(cut, len(data)) for cut in cuts}), len(data)]
    frames = read(*(data[a:b] for a, b in pairwise(places)))
    assert b"".join(frame.raw for frame in frames) == data
    assert [frame.raw for frame in frames if frame.kind == "data"] == [
        part for part in parts if part in (ONE, TWO, THREE)
    ]


# Templates


TEMPLATE = "eventstream\n:event-type: {kind}\n:content-type: application/json\n:message-type: event\n{body}"


@pytest.mark.parametrize(
    ("raw", "kind", "template"),
    [
        (ONE, "contentBlockDelta", TEMPLATE),
        (message(b"", event_type="chunk"), "chunk", TEMPLATE),
        (message(b"x", event_type="chunk"), "message_start", TEMPLATE.replace("{kind}", "chunk")),
        (message(b"x", event_type="{kind}"), "{kind}", TEMPLATE),
        (eventstream.encode({}, b"x"), "unknown", "eventstream\n{body}"),
        (
            eventstream.encode({":exception-type": "aException", ":message-type": "exception"}, b"{}"),
            "aException",
            "eventstream\n:exception-type: {kind}\n:message-type: exception\n{body}",
        ),
    ],
)
def test_usual_messages_are_rebuilt(raw: bytes, kind: str, template: str) -> None:
    (frame,) = read(raw)
    assert template_of(frame, kind) == (template, None)
    assert render(template, frame.body, kind, None) == raw


@pytest.mark.parametrize(
    "raw",
    [
        message(b"x", other="a"),
        message(b"x", event_type="id 7"),
        message(b"x", event_type="a\nb"),
        message(b"x", event_type="v2"),
        packed(b"\x0b:event-type\x04\x00\x00\x00\x07"),
        packed(b"\x0b:event-type\x07\x00\x01a" * 2),
        eventstream.encode({":message-type": "error", ":error-code": "a", ":error-message": "b"}, b""),
    ],
    ids=["another header", "a space", "a line feed", "a digit", "a number", "the same twice", "an error"],
)
def test_other_messages_keep_their_bytes(raw: bytes) -> None:
    (frame,) = read(raw)
    assert template_of(frame, "unknown") == (VERBATIM, raw)


def test_a_name_of_any_text_is_rebuilt_where_it_is_the_kind() -> None:
    (frame,) = read(message(b"x", event_type="v2 ä"))
    template, explicit = template_of(frame, "v2 ä")
    assert explicit is None
    assert render(template, frame.body, "v2 ä", None) == frame.raw


def test_what_a_header_has_no_room_for_is_refused() -> None:
    with pytest.raises(ValueError, match="header a has 65536 bytes"):
        eventstream.encode({"a": "x" * 65536}, b"")


# Detection


def test_an_eventstream_is_recognised_by_its_first_twelve_bytes() -> None:
    assert recognise(ONE[:11], complete=False) is None
    assert detect(ONE[:12], complete=True).framing == "eventstream"
    assert detect(ONE[:12], complete=False).framing == "eventstream"


@pytest.mark.parametrize("noise", [b"\n", b"noise\n", flipped(ONE, 3), ONE[20:]])
def test_an_eventstream_that_begins_with_damage_is_recognised(noise: bytes) -> None:
    assert detect(noise + STREAM, complete=True).framing == "eventstream"


def test_lines_of_json_in_a_payload_are_no_lines() -> None:
    assert detect(message(b'\n{"a":1}\ndata: {}\n\n'), complete=True).framing == "eventstream"


# The format's own reader


def by_botocore(data: bytes) -> list[tuple[dict[str, Any], bytes]]:
    parser = pytest.importorskip(
        "botocore.eventstream", reason="botocore, the format's reference in Python, is not here"
    )
    buffer = parser.EventStreamBuffer()
    buffer.add_data(data)
    return [(each.headers, each.payload) for each in buffer]


def by_us(data: bytes) -> list[tuple[dict[str, Any] | None, bytes]]:
    return [(frame.headers, frame.body) for frame in read(data)]


number = st.integers(-(1 << 7), (1 << 7) - 1).map(lambda n: b"\x02" + struct.pack("!b", n))
wide = st.integers(-(1 << 63), (1 << 63) - 1)
values = (
    st.sampled_from([b"\x00", b"\x01"])
    | number
    | st.integers(-(1 << 15), (1 << 15) - 1).map(lambda n: b"\x03" + struct.pack("!h", n))
    | st.integers(-(1 << 31), (1 << 31) - 1).map(lambda n: b"\x04" + struct.pack("!i", n))
    | wide.map(lambda n: b"\x05" + struct.pack("!q", n))
    | st.binary(max_size=9).map(lambda data: b"\x06" + struct.pack("!H", len(data)) + data)
    | st.text(max_size=9).map(lambda text: b"\x07" + struct.pack("!H", len(text.encode())) + text.encode())
    | wide.map(lambda n: b"\x08" + struct.pack("!q", n))
    | st.binary(min_size=16, max_size=16).map(lambda data: b"\x09" + data)
)
heads = st.dictionaries(st.text(max_size=9), values, max_size=4).map(
    lambda named: b"".join(bytes([len(name.encode())]) + name.encode() + value for name, value in named.items())
)


@given(st.lists(st.tuples(heads, st.binary(max_size=30)), max_size=4))
def test_botocore_reads_the_same_messages(parts: list[tuple[bytes, bytes]]) -> None:
    data = b"".join(packed(*part) for part in parts)
    assert by_us(data) == by_botocore(data)


@given(st.dictionaries(st.text(max_size=9), st.text(max_size=20), max_size=4), st.binary(max_size=30))
def test_botocore_reads_what_we_write(headers: dict[str, str], payload: bytes) -> None:
    assert by_botocore(eventstream.encode(headers, payload)) == [(headers, payload)]


@given(st.lists(st.binary(max_size=30), min_size=1, max_size=4), st.data())
def test_where_botocore_gives_up_we_tell_of_damage(payloads: list[bytes], data: st.DataObject) -> None:
    whole = b"".join(message(payload) for payload in payloads)
    broken = flipped(whole, data.draw(st.integers(0, len(whole) - 1)))
    parser = pytest.importorskip(
        "botocore.eventstream", reason="botocore, the format's reference in Python, is not here"
    )
    buffer = parser.EventStreamBuffer()
    buffer.add_data(broken)
    good: list[bytes] = []
    with pytest.raises(parser.ParserError):
        good.extend(each.payload for each in buffer)
    frames = read(broken)
    at = next(place for place, frame in enumerate(frames) if frame.kind != "data")
    assert [frame.body for frame in frames[:at]] == good


@needs_corpus
def test_botocore_reads_the_same_of_real_traffic() -> None:
    paths = sorted((CORPUS / "streams").glob("*.bin"))
    assert len(paths) > 30
    for path in paths:
        data = path.read_bytes()
        assert by_us(data) == by_botocore(data), path.name
