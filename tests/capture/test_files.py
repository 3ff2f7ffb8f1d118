"""Files: stored once, taken up where they ended, refused where they are another recording."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest

from recorder.capture import capture_file
from recorder.capture.appending import BATCH_EVENTS
from recorder.errors import BadInput, NotAStream
from recorder.ledger import Ledger
from recorder.replay.emit import Form
from tests.capture.made import CALL, calls, captures, chunk, emitted, ndjson, sse
from tests.command import CASSETTES


def short(*, finish: str | None = None, id: str | None = None, **function: str) -> str:
    """As `chunk`, in as few bytes as will do: what is cut at every byte is captured as often."""
    calls = [({"id": id} if id else {}) | {"index": 0, "function": function}]
    choice = {"finish_reason": finish} if finish else {}
    return json.dumps(
        {"choices": [choice | {"delta": {"tool_calls": calls} if function else {}}]},
        ensure_ascii=False,
        separators=(",", ":"),
    )


SHORT = [
    short(id="c1", name="f", arguments=""),
    short(arguments='{"é'),
    short(arguments='": 1}'),
    short(finish="tool_calls"),
]
SSE = (
    b": hi\n\n"
    + sse(SHORT[0])
    + b"data: "
    + SHORT[1].encode()
    + b"\r\n\r\n"
    + b"event: x\nid: 7\ndata: "
    + SHORT[2].encode()
    + b"\n\n\n"
    + sse(SHORT[3], "[DONE]")
)
NDJSON = b"\n" + ndjson(SHORT[0]) + SHORT[1].encode() + b"\r\n\n" + ndjson(*SHORT[2:])


@pytest.mark.parametrize(
    ("whole", "form", "step"),
    [(SSE, "sse", 1), (NDJSON, "jsonl", 1), (SSE.removesuffix(b"\n\n"), "sse", 13), (NDJSON[:-1], "jsonl", 13)],
    ids=["sse", "ndjson", "sse without its end", "ndjson without its end"],
)
def test_a_file_captured_in_two_parts_is_as_if_captured_at_once(
    ledger: Ledger, tmp_path: Path, whole: bytes, form: Form, step: int
) -> None:
    """Cut at every byte: in the middle of a character, of a line end, of a field's name, of a number."""
    path = tmp_path / "x"
    path.write_bytes(whole)
    capture_file(ledger, path, name="at once")
    expected = calls(ledger, "at once")
    assert expected == [("c1", "f", '{"é": 1}', {"é": 1}, "complete")]
    refused = 0
    for cut in range(1, len(whole), step):
        name = f"cut at {cut}"
        path.write_bytes(whole[:cut])
        status = "extended"
        try:
            first = capture_file(ledger, path, name=name)
        except NotAStream:
            refused, status = refused + 1, "stored"
        else:
            assert first.status == "stored"
            assert emitted(ledger, name, form) == whole[:cut], name
            assert captures(ledger, name) == [(1, first.last_seq, cut, True)]
        path.write_bytes(whole)
        second = capture_file(ledger, path, name=name)
        assert second.status == status
        assert emitted(ledger, name, form) == whole, name
        assert calls(ledger, name) == expected, name
        assert captures(ledger, name)[-1][1:] == (second.last_seq, len(whole), True)
        assert capture_file(ledger, path, name=name).status == "known"
    assert refused < 200, "only what does not show its first frame"


def test_a_file_that_grows_byte_by_byte_is_never_stored_twice(ledger: Ledger, tmp_path: Path) -> None:
    path, whole = tmp_path / "x.sse", sse(SHORT[0], SHORT[1], SHORT[3])
    for end in range(len(sse(SHORT[0])), len(whole) + 1):
        path.write_bytes(whole[:end])
        capture_file(ledger, path)
        assert emitted(ledger, "x", "sse") == whole[:end]
    assert calls(ledger, "x") == [("c1", "f", '{"é', {}, "invalid")]


def test_the_same_bytes_are_known_and_not_stored_again(ledger: Ledger) -> None:
    path = CASSETTES / "weather.sse"
    assert capture_file(ledger, path).status == "stored"
    before = ledger.head("weather")
    again = capture_file(ledger, path)
    assert (again.status, again.events, again.last_seq) == ("known", 0, 20)
    assert ledger.head("weather") == before
    assert len(captures(ledger, "weather")) == 1


def test_the_same_bytes_under_another_name_are_another_stream(ledger: Ledger) -> None:
    for name in ("one", "other"):
        assert capture_file(ledger, CASSETTES / "weather.sse", name=name).status == "stored"
    assert ledger.head("one").uuid != ledger.head("other").uuid
    assert calls(ledger, "one") == calls(ledger, "other")


@pytest.mark.parametrize(
    "other",
    [
        pytest.param(sse(*CALL[:2]), id="a shorter one"),
        pytest.param(sse(*CALL).replace(b"add", b"sub"), id="one of the same length"),
        pytest.param(sse(*CALL).replace(b"add", b"subtract") + sse("[DONE]"), id="a longer one"),
        pytest.param(ndjson(*CALL), id="the same payloads in other frames"),
        pytest.param(gzip.compress(sse(*CALL[:1])), id="a shorter one, compressed"),
    ],
)
def test_other_bytes_under_a_name_are_refused_and_change_nothing(ledger: Ledger, tmp_path: Path, other: bytes) -> None:
    path = tmp_path / "x.sse"
    path.write_bytes(sse(*CALL))
    capture_file(ledger, path)
    before = ledger.head("x")
    path.write_bytes(other)
    with pytest.raises(BadInput, match=r"x\.sse: the stream 'x' holds other bytes.*--name"):
        capture_file(ledger, path)
    assert ledger.head("x") == before
    assert emitted(ledger, "x", "sse") == sse(*CALL)


def test_a_file_under_the_name_of_a_cassette_is_refused(ledger: Ledger) -> None:
    capture_file(ledger, CASSETTES / "weather-agent.yaml", name="x")
    with pytest.raises(BadInput, match="holds other bytes"):
        capture_file(ledger, CASSETTES / "weather.sse", name="x")


def test_a_compressed_file_is_the_stream_of_what_is_inside(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "x.sse.gz"
    path.write_bytes(gzip.compress(SSE))
    assert capture_file(ledger, path).stream == "x"
    assert emitted(ledger, "x", "sse") == SSE
    plain = tmp_path / "x.sse"
    plain.write_bytes(SSE)
    assert capture_file(ledger, plain).status == "known"


def test_a_compressed_file_that_breaks_off_is_stored_so_far_and_extended_later(ledger: Ledger, tmp_path: Path) -> None:
    whole = b"".join(sse(chunk(content=f"{n} {n * n * 7919 % 10007}")) for n in range(3000))
    path, compressed = tmp_path / "x.sse.gz", gzip.compress(whole)
    path.write_bytes(compressed[: len(compressed) // 2])
    first = capture_file(ledger, path)
    assert first.status == "stored"
    assert first.note is not None
    assert "gzip data breaks off" in first.note
    so_far = emitted(ledger, "x", "sse")
    assert so_far
    assert whole.startswith(so_far)
    assert captures(ledger, "x") == [(1, first.last_seq, len(so_far), False)], "the source has not ended"
    path.write_bytes(compressed)
    second = capture_file(ledger, path)
    assert (second.status, second.note) == ("extended", None)
    assert emitted(ledger, "x", "sse") == whole
    assert captures(ledger, "x")[1] == (first.last_seq + 1, second.last_seq, len(whole), True)


def test_a_large_file_is_one_capture_of_many_batches(ledger: Ledger, tmp_path: Path) -> None:
    count = BATCH_EVENTS * 2 + 7
    path = tmp_path / "x.ndjson"
    path.write_bytes(ndjson(*(chunk(content=str(n)) for n in range(count))))
    told: list[tuple[int, int]] = []
    captured = capture_file(ledger, path, progress=lambda events, size: told.append((events, size)))
    assert captured.events == count
    assert captures(ledger, "x") == [(1, count, path.stat().st_size, True)]
    assert [events for events, _ in told] == [BATCH_EVENTS, 2 * BATCH_EVENTS, count]
    assert told[-1][1] == path.stat().st_size


def test_a_capture_that_was_cut_off_between_batches_is_finished_by_the_next(ledger: Ledger, tmp_path: Path) -> None:
    class PowerCut(Exception):
        pass

    def cut(events: int, size: int) -> None:
        raise PowerCut

    path = tmp_path / "x.ndjson"
    path.write_bytes(ndjson(*(chunk(content=str(n)) for n in range(BATCH_EVENTS + 1))))
    with pytest.raises(PowerCut):
        capture_file(ledger, path, progress=cut)
    assert ledger.head("x").last_seq == BATCH_EVENTS
    assert [complete for *_, complete in captures(ledger, "x")] == [False]
    assert capture_file(ledger, path).status == "extended"
    assert emitted(ledger, "x", "jsonl") == path.read_bytes()
    assert [complete for *_, complete in captures(ledger, "x")] == [False, True]


def test_a_capture_whose_end_was_not_noted_is_complete_once_the_end_is_seen(ledger: Ledger, tmp_path: Path) -> None:
    class PowerCut(Exception):
        pass

    path = tmp_path / "x.ndjson"
    path.write_bytes(ndjson(*(chunk(content=str(n)) for n in range(BATCH_EVENTS + 1))))
    with pytest.raises(PowerCut):
        capture_file(ledger, path, progress=lambda events, size: (_ for _ in ()).throw(PowerCut))
    path.write_bytes(b"".join(path.read_bytes().splitlines(keepends=True)[:BATCH_EVENTS]))
    assert capture_file(ledger, path).status == "known"
    assert [complete for *_, complete in captures(ledger, "x")] == [True]


def test_the_dialect_of_a_prefix_is_that_of_the_rest(ledger: Ledger, tmp_path: Path) -> None:
    """An error object that comes later looks the same in every dialect: it is read in the stream's own."""
    path = tmp_path / "x.sse"
    path.write_bytes(sse(CALL[0]))
    capture_file(ledger, path)
    path.write_bytes(sse(CALL[0], '{"error": {"message": "overloaded"}}'))
    capture_file(ledger, path)
    assert [event.dialect for event in ledger.events("x")] == ["openai.chat"] * 2


def test_frames_before_the_first_that_shows_the_dialect_are_in_it(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "x.sse"
    path.write_bytes(b": OPENROUTER PROCESSING\n\n" + sse(*CALL))
    capture_file(ledger, path)
    assert {event.dialect for event in ledger.events("x")} == {"openai.chat"}


def test_a_dialect_that_is_given_is_believed(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "x.sse"
    path.write_bytes(sse('{"foo": 1}'))
    capture_file(ledger, path, dialect="anthropic.messages")
    assert [event.dialect for event in ledger.events("x")] == ["anthropic.messages"]


@pytest.mark.parametrize("name", ["", " ", "latest"])
def test_a_name_that_no_stream_may_have_is_refused(ledger: Ledger, name: str) -> None:
    with pytest.raises(BadInput, match="stream's name"):
        capture_file(ledger, CASSETTES / "weather.sse", name=name)
    assert ledger.streams() == []


def test_a_file_called_latest_needs_another_name(ledger: Ledger, tmp_path: Path) -> None:
    path = tmp_path / "latest.sse"
    path.write_bytes(SSE)
    with pytest.raises(BadInput, match="'latest' cannot be a stream's name"):
        capture_file(ledger, path)


def test_a_capture_that_was_cut_off_before_a_blank_line_goes_on_as_if_it_had_not_been(
    ledger: Ledger, tmp_path: Path
) -> None:
    line = b'{"object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"x"}}]}\n'
    path = tmp_path / "blank.ndjson"
    path.write_bytes(line * BATCH_EVENTS + b"\n" + line * 3)

    class Killed(Exception):
        """Stands for the end of the process behind the first batch's commit."""

    def kill(events: int, size: int) -> None:
        raise Killed

    with pytest.raises(Killed):
        capture_file(ledger, path, name="resumed", progress=kill)
    capture_file(ledger, path, name="resumed")
    capture_file(ledger, path, name="whole")
    resumed, whole = ([(event.kind, event.body) for event in ledger.events(name)] for name in ("resumed", "whole"))
    assert len(whole) == BATCH_EVENTS + 4
    assert resumed == whole
