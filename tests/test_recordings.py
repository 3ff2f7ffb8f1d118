"""The shipped recordings are what `scripts/make_recordings` makes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).parents[1]
CASSETTES = REPOSITORY / "cassettes"
BY_LIBRARIES = {
    "agent.jsonl",
    "agent-v1.jsonl",
    "agent-v3.jsonl",
    "agent-modes.jsonl",
    "model-v3.jsonl",
    "weather-agent.yaml",
    "seed003.jsonl",
    "made_with.json",
}
SHIPPED = sorted(path.name for path in CASSETTES.iterdir() if path.name != "README.md")


@pytest.fixture(scope="module")
def made_again(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("recordings")
    # Another hash seed than the script's own: it has to see to that itself.
    environment = {**os.environ, "PYTHONHASHSEED": "1"}
    script = REPOSITORY / "scripts" / "make_recordings"
    subprocess.run([sys.executable, script, folder], check=True, cwd=folder, env=environment, timeout=120)
    return folder


@pytest.mark.parametrize("name", SHIPPED)
def test_recording_is_made_again_byte_for_byte(made_again: Path, name: str) -> None:
    made_with = json.loads((CASSETTES / "made_with.json").read_bytes())
    installed = {library: version(library) for library in made_with}
    if name in BY_LIBRARIES and installed != made_with:
        pytest.skip(f"made with {made_with}, installed are {installed}")
    assert (made_again / name).read_bytes() == (CASSETTES / name).read_bytes()


def test_script_makes_every_shipped_file_and_no_other(made_again: Path) -> None:
    assert sorted(path.name for path in made_again.iterdir()) == SHIPPED


@pytest.mark.parametrize("name", SHIPPED)
def test_readme_tells_how_each_file_was_made(name: str) -> None:
    assert f"`{name}`" in (CASSETTES / "README.md").read_text()


@pytest.mark.parametrize("name", SHIPPED)
def test_recording_names_no_machine(name: str) -> None:
    text = (CASSETTES / name).read_bytes().decode("utf-8", "replace").lower()
    assert not [word for word in ("127.0.0.1", "localhost", "authorization", "cookie", "user-agent") if word in text]


def test_event_n_of_seed_003_is_line_n_of_the_guide() -> None:
    """The lists that LangChain's guide to streaming tool calls prints, chunk by chunk."""
    listing = [
        [],
        [("Multiply", "", 0)],
        [(None, '{"a"', 0)],
        [(None, ": 3, ", 0)],
        [(None, '"b": 1', 0)],
        [(None, "2}", 0)],
        [("Add", "", 1)],
        [(None, '{"a"', 1)],
        [(None, ": 11,", 1)],
        [(None, ' "b": ', 1)],
        [(None, "49}", 1)],
        [],
    ]
    blocks = (CASSETTES / "seed003.sse").read_text().split("\n\n")
    frames = [json.loads(block.removeprefix("data: ")) for block in blocks[:12]]
    wire = [frame["choices"][0]["delta"].get("tool_calls", []) for frame in frames]
    assert [
        [(call["function"].get("name"), call["function"]["arguments"], call["index"]) for call in calls]
        for calls in wire
    ] == listing
    assert blocks[12:] == ["data: [DONE]", ""]

    events = [json.loads(line) for line in (CASSETTES / "seed003.jsonl").read_text().splitlines()]
    streamed = [event["data"]["chunk"]["kwargs"].get("tool_call_chunks", []) for event in events[1:13]]
    assert [[(chunk["name"], chunk["args"], chunk["index"]) for chunk in chunks] for chunks in streamed] == listing
