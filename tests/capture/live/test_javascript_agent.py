"""A program in JavaScript: its events come in by a POST or through a pipe, and the state is what it held."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import recorder
from tests.capture.live.test_serving import rec_serve
from tests.databases import made
from tests.javascript.library import HERE, NoLibrary, install


@pytest.fixture
def folder() -> Path:
    try:
        return install()
    except NoLibrary as error:
        pytest.skip(str(error))


def hold(database: Path, held: dict[str, Any]) -> None:
    with recorder.open(database, readonly=True) as ledger:
        (message,) = ledger.state("js").to_dict()["messages"]
    assert message["message_id"] == held["id"]
    assert message["tool_calls"] == [
        {name: call[name] for name in message["tool_calls"][0]} for call in held["tool_calls"]
    ]
    assert [call["state"] for call in message["calls"]] == ["complete"]
    assert [call["raw"] for call in message["calls"]] == [chunk["args"] for chunk in held["tool_call_chunks"]]


def test_events_posted_by_node(folder: Path, tmp_path: Path) -> None:
    database = made(tmp_path / "runs.db")
    with rec_serve(database) as address:
        command = ["node", str(HERE / "agent.mjs"), str(folder), f"{address}/streams/js/events"]
        done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=True)
    hold(database, json.loads(done.stderr))


def test_events_piped_by_node(folder: Path, tmp_path: Path) -> None:
    database = made(tmp_path / "runs.db")
    command = ["node", str(HERE / "agent.mjs"), str(folder)]
    capture = [sys.executable, "-m", "recorder", "capture", "-", "--name", "js", "-d", str(database)]
    with (
        subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as node,
        subprocess.Popen(capture, stdin=node.stdout, stderr=subprocess.PIPE, text=True) as rec,
    ):
        assert node.stdout is not None
        node.stdout.close()
        assert node.stderr is not None
        held = json.loads(node.stderr.read())
        _, said = rec.communicate(timeout=60)
    assert (node.returncode, rec.returncode) == (0, 0), said
    hold(database, held)
