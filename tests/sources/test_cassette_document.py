"""Cassette files are loaded as plain data, whatever their layout, and nothing in them is ever called."""

from __future__ import annotations

import gzip
import io
import json
from pathlib import Path

import pytest

from recorder.errors import BadInput, NotAStream
from recorder.sources.cassette_document import Interaction, load_interactions


def load(text: bytes) -> list[Interaction]:
    return list(load_interactions(io.BytesIO(text)))


@pytest.mark.parametrize(
    "text",
    [
        b"interactions:\n- request: {uri: a}\n  response: {status: 1}\nversion: 1\n",
        b"- request: {uri: a}\n  response: {status: 1}\n",
        b"requests:\n- {uri: a}\nresponses:\n- {status: 1}\n",
        json.dumps({"interactions": [{"request": {"uri": "a"}, "response": {"status": 1}}]}).encode(),
        json.dumps({"interactions": [{"request": {"uri": "a"}, "response": {"status": 1}}]}, indent=4).encode(),
        b"{interactions: [{request: {uri: a}, response: {status: 1}}]}",
        b"---\nhttp_interactions:\n- request: {uri: a}\n  response: {status: 1}\nrecorded_with: VCR 6.0\n",
        b'{"http_interactions": [{"request": {"uri": "a"}, "response": {"status": 1}}], "recorded_with": "betamax"}',
        b"- !ruby/struct:VCR::HTTPInteraction\n  request: !ruby/struct:X {uri: a}\n  response: {status: 1}\n",
    ],
)
def test_every_layout_gives_the_same_pairs(text: bytes) -> None:
    assert load(text) == [Interaction({"uri": "a"}, {"status": 1})]
    assert load(gzip.compress(text, mtime=0)) == load(text)


def test_a_file_is_read_by_its_path(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml.gz"
    path.write_bytes(gzip.compress(b"interactions: []", mtime=0))
    assert list(load_interactions(path)) == []


def test_a_request_without_a_response_is_told_apart() -> None:
    assert load(b"requests: [{uri: a}, {uri: b}]\nresponses: [{status: 1}]") == [
        Interaction({"uri": "a"}, {"status": 1}),
        Interaction({"uri": "b"}, None),
    ]


def test_an_interaction_that_is_no_mapping_is_kept_as_it_is() -> None:
    assert load(b"interactions: [text]") == [Interaction(broken="text")]


def test_dates_stay_text_and_binary_becomes_bytes() -> None:
    (found,) = load(b"interactions: [{request: {at: 2024-01-02, body: !!binary /w==, as Ruby: !binary /w==}}]")
    assert found.request == {"at": "2024-01-02", "body": b"\xff", "as Ruby": b"\xff"}


def test_python_tags_are_read_as_data_and_never_called(tmp_path: Path) -> None:
    made = tmp_path / "made"
    text = f"""
interactions:
- request:
    uri: !!python/unicode a
    call: !!python/object/apply:pathlib.Path.touch [!!python/object/apply:pathlib.Path [{made}]]
    body: !!python/object/new:_io.BytesIO {{state: !!python/tuple [!!binary YQ==, 0, null]}}
  response: null
"""
    (found,) = load(text.encode())
    assert found.request == {"uri": "a", "call": [[str(made)]], "body": {"state": [b"a", 0, None]}}
    assert not made.exists()


def test_a_lone_surrogate_is_read() -> None:
    (found,) = load(rb'interactions: [{request: {body: "\ud83d"}}]')
    assert found.request == {"body": "\ud83d"}


@pytest.mark.parametrize("text", [b"a: 1", b"text", b"", b"interactions: 5", b"[1]", b'{"requests": []}'])
def test_a_document_that_is_no_cassette_is_refused(text: bytes) -> None:
    with pytest.raises(NotAStream, match="no cassette"):
        load(text)


@pytest.mark.parametrize(
    "text",
    [b"interactions: [", b"a: b: c", b"interactions: [!!int x]", gzip.compress(b"interactions: []", mtime=0)[:-4]],
)
def test_a_document_that_cannot_be_read_is_refused_in_one_line(text: bytes) -> None:
    with pytest.raises(BadInput) as refusal:
        load(text)
    assert "\n" not in str(refusal.value)
