"""Inputs that are one frame."""

from __future__ import annotations

from recorder.sources import Frame, WholeReader


def test_a_document_is_one_frame_at_the_end() -> None:
    reader = WholeReader()
    assert reader.feed(b'{\n"a":') == []
    assert reader.feed(b" 1}\n") == []
    assert reader.end() == [Frame(body=b'{\n"a": 1}\n', raw=b'{\n"a": 1}\n')]
    assert reader.end() == []


def test_half_a_document_is_partial_and_can_be_resumed() -> None:
    reader = WholeReader()
    reader.feed(b"[{")
    (partial,) = reader.end()
    assert partial.kind == "partial"
    resumed = WholeReader(partial.body)
    resumed.feed(b"}]")
    assert resumed.end() == [Frame(body=b"[{}]", raw=b"}]", continues=True)]


def test_a_trusted_input_is_whole_whatever_it_holds() -> None:
    reader = WholeReader(trusted=True)
    reader.feed(b"\0\0")
    assert reader.end() == [Frame(body=b"\0\0", raw=b"\0\0")]
