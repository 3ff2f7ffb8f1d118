"""Gathering of chunks that name a content block, as version v3 of LangChain's events has them."""

from __future__ import annotations

from typing import Any

import pytest

from recorder.deltas import ToolCallChunk
from recorder.projections.langchain_gather import LangChainGather, tool_calls_of
from recorder.projections.wire_gather import WireGather

GATHERS = [LangChainGather, WireGather]


def chunk(block: str, **fields: Any) -> ToolCallChunk:
    return ToolCallChunk(run_id="r", block=block, **fields)


def add(kind: Any, *chunks: ToolCallChunk) -> tuple[list[tuple[Any, ...]], list[str]]:
    """The calls, and the rules of what was found."""
    gather = kind()
    steps = [step for seq, each in enumerate(chunks, 1) for step in gather.add(seq, [each])]
    calls = [(entry.id, entry.name, entry.args.text if entry.args is not None else None) for entry in gather.entries]
    return calls, [rule for step in steps for rule, *_ in step.findings]


@pytest.mark.parametrize("kind", GATHERS)
def test_a_piece_goes_to_the_call_of_its_block(kind: Any) -> None:
    calls, found = add(
        kind,
        chunk("1", index=0, id="a", name="f", args=""),
        chunk("2", index=0, id="b", name="g", args=""),
        chunk("1", args='{"x"'),
        chunk("2", args="{}"),
        chunk("1", args=": 1}"),
    )
    assert calls == [("a", "f", '{"x": 1}'), ("b", "g", "{}")]
    assert found == []


@pytest.mark.parametrize("kind", GATHERS)
@pytest.mark.parametrize("whole", ['{"x":1}', '{"x": 1}'])
def test_a_restatement_confirms_and_is_not_added(kind: Any, whole: str) -> None:
    calls, found = add(
        kind, chunk("1", id="a", name="f", args='{"x": 1}'), chunk("1", id="a", name="f", args=whole, restated=True)
    )
    assert calls == [("a", "f", '{"x": 1}')]
    assert found == []


@pytest.mark.parametrize("kind", GATHERS)
def test_a_restatement_that_differs_is_a_finding(kind: Any) -> None:
    calls, found = add(kind, chunk("1", id="a", name="f", args='{"x": 1}'), chunk("1", args='{"x": 2}', restated=True))
    assert calls == [("a", "f", '{"x": 1}')]
    assert found == ["restatement-differs"]


@pytest.mark.parametrize("kind", GATHERS)
def test_a_restatement_adds_what_was_missing(kind: Any) -> None:
    calls, found = add(kind, chunk("1"), chunk("1", id="a", name="f", args='{"x": 2}', restated=True))
    assert calls == [("a", "f", '{"x": 2}')]
    assert found == []


@pytest.mark.parametrize("kind", GATHERS)
def test_what_langchain_said_is_invalid_is_invalid_however_it_reads(kind: Any) -> None:
    gather = kind()
    gather.add(1, [chunk("1", id="a", name="f", args='{"x": [1')])
    assert tool_calls_of(gather.entries)[0][0]["args"] == {"x": [1]}
    gather.add(2, [chunk("1", args='{"x": [1', restated=True, error="no JSON")])
    calls, (invalid,) = tool_calls_of(gather.entries)
    assert calls == []
    assert (invalid["args"], invalid["error"]) == ('{"x": [1', "no JSON")
