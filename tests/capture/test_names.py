"""Names of streams."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from recorder.capture import checked, name_of_file, name_of_program
from recorder.errors import BadInput


@pytest.mark.parametrize(
    ("file", "name"),
    [
        ("a/x.sse", "x"),
        ("x.yaml.gz", "x"),
        ("x.YML", "x"),
        ("run.1.jsonl", "run.1"),
        ("x.tar.gz", "x.tar"),
        ("noending", "noending"),
        ("a b@c.ndjson", "a b@c"),
        (".sse", ".sse"),
        ("x.unknown", "x.unknown"),
    ],
)
def test_a_stream_is_named_after_the_stem_of_its_file(file: str, name: str) -> None:
    assert name_of_file(Path(file)) == name


def test_a_program_is_named_with_the_time_and_something_that_differs() -> None:
    names = {name_of_program("stdin") for _ in range(10)}
    assert len(names) > 1
    assert all(re.fullmatch(r"stdin-\d{8}T\d{6}Z-[0-9a-f]{4}", name) for name in names)


@pytest.mark.parametrize("name", ["x", "a b", "x@3", "@", "Latest", "ü", "\ud83d"])
def test_nearly_every_name_will_do(name: str) -> None:
    assert checked(name) == name


@pytest.mark.parametrize("name", ["", " \t", "latest"])
def test_a_blank_name_and_latest_will_not(name: str) -> None:
    with pytest.raises(BadInput, match="give another"):
        checked(name)
