"""The wire's identity rules, each with the smallest chunks that need it."""

from __future__ import annotations

import pytest

from recorder.deltas import ToolCallChunk
from recorder.projections.wire_gather import WireGather

OSLO = '{"city":"Oslo"}'
ROME = '{"city":"Rome"}'


def chunk(
    index: int | str | None = None, id: str | None = None, name: str | None = None, args: str | None = None
) -> ToolCallChunk:
    return ToolCallChunk(run_id="r", index=index, id=id, name=name, args=args)


def gathered(*chunks: ToolCallChunk) -> tuple[list[tuple[str | None, str | None, str]], list[str]]:
    """The calls as (id, name, raw arguments), and the rules of all findings."""
    gather = WireGather()
    rules = [
        rule for seq, each in enumerate(chunks, 1) for step in gather.add(seq, [each]) for rule, _, _ in step.findings
    ]
    return [(e.id, e.name, e.args.text if e.args is not None else "") for e in gather.entries], rules


CASES = {
    "two calls by index": (
        [chunk(0, "a", "add", ""), chunk(1, "b", "sub", ""), chunk(0, args=OSLO), chunk(1, args=ROME)],
        [("a", "add", OSLO), ("b", "sub", ROME)],
        [],
    ),
    "every call has index 0": (
        [chunk(0, "a", "write", OSLO), chunk(0, "b", "write", ROME)],
        [("a", "write", OSLO), ("b", "write", ROME)],
        ["index-reused"],
    ),
    "fragments after calls that share an index go to the one opened last": (
        [chunk(0, "a", "write", OSLO), chunk(0, "b", "write", ""), chunk(0, args=ROME)],
        [("a", "write", OSLO), ("b", "write", ROME)],
        ["index-reused"],
    ),
    "no index, empty ids and names": (
        [chunk(None, "a", "get", ""), chunk(None, "", "", '{"ci'), chunk(None, "", "", 'ty":1}')],
        [("a", "get", '{"city":1}')],
        [],
    ),
    "id and name on every chunk": (
        [chunk(0, "a", "get", ""), chunk(0, "a", "get", '{"city"'), chunk(0, "a", "get", ":1}")],
        [("a", "get", '{"city":1}')],
        [],
    ),
    "index 0 and then the text 0": (
        [chunk(0, "a", "get", '{"ci'), chunk("0", args='ty":1}')],
        [("a", "get", '{"city":1}')],
        [],
    ),
    "the whole call once more, encoded twice": (
        [chunk(0, "a", "get", '{"ci'), chunk(0, "a", args='ty":1}'), chunk(0, "a", "get", '"{\\"city\\":1}"')],
        [("a", "get", '{"city":1}')],
        [],
    ),
    "the whole call once more, otherwise": (
        [chunk(0, "a", "get", OSLO), chunk(0, "a", "get", ROME)],
        [("a", "get", OSLO)],
        ["restatement-differs"],
    ),
    "the name comes late": (
        [chunk(0, "a", None, '{"ci'), chunk(0, None, "get", 'ty":1}')],
        [("a", "get", '{"city":1}')],
        [],
    ),
    "the id comes late": (
        [chunk(0, None, "get", ""), chunk(0, "a", None, OSLO)],
        [("a", "get", OSLO)],
        [],
    ),
    "a nameless new id goes on with the call at its index": (
        [chunk(0, "a", "get", '{"ci'), chunk(0, "b", None, 'ty":1}')],
        [("a", "get", '{"city":1}')],
        ["id-changed"],
    ),
    "a known id goes to its call, whatever the index": (
        [chunk(0, "a", "get", '{"ci'), chunk(1, "b", "put", ""), chunk(7, "a", None, 'ty":1}')],
        [("a", "get", '{"city":1}'), ("b", "put", "")],
        [],
    ),
    "an index whose call is finished, while a newer call is open": (
        [chunk(0, "a", "get", OSLO), chunk(1, "b", "put", ""), chunk(0, args=ROME)],
        [("a", "get", OSLO), ("b", "put", ROME)],
        ["index-of-finished-call"],
    ),
    "no ids at all: a name after finished arguments is the next call": (
        [chunk(0, None, "get", OSLO), chunk(0, None, "get", ROME)],
        [(None, "get", OSLO), (None, "get", ROME)],
        [],
    ),
    "a name in pieces": (
        [chunk(0, "a", "get_", None), chunk(0, None, "weather", None), chunk(0, args=OSLO)],
        [("a", "get_weather", OSLO)],
        [],
    ),
    "a placeholder before the real arguments": (
        [chunk(0, "a", "get", "{}"), chunk(0, args='{"ci'), chunk(0, args='ty":1}')],
        [("a", "get", '{"city":1}')],
        ["placeholder-arguments"],
    ),
    "a placeholder before the whole arguments": (
        [chunk(0, "a", "get", "{}"), chunk(0, "a", "get", OSLO)],
        [("a", "get", OSLO)],
        ["placeholder-arguments"],
    ),
    "a null before the real arguments": (
        [chunk(0, "a", "get", "null"), chunk(0, args=OSLO)],
        [("a", "get", OSLO)],
        ["placeholder-arguments"],
    ),
    "no arguments are arguments": (
        [chunk(0, "a", "get", "{}"), chunk(0, "a", "get", "{}")],
        [("a", "get", "{}")],
        [],
    ),
    "two calls with one id": (
        [chunk(0, "a", "get", OSLO), chunk(1, "a", "get", ROME), chunk(2, "a", "put", "")],
        [("a", "get", OSLO), ("a", "get", ROME), ("a", "put", "")],
        ["id-reused", "id-reused"],
    ),
    "pieces of two calls with one id": (
        [chunk(0, "a", "get", ""), chunk(1, "a", "put", ""), chunk(1, "a", None, ROME), chunk(0, "a", None, OSLO)],
        [("a", "get", OSLO), ("a", "put", ROME)],
        ["id-reused"],
    ),
    "the index counts every chunk": (
        [chunk(0, "a", "get", '{"ci'), chunk(1, args='ty"'), chunk(2, args=":1}")],
        [("a", "get", '{"city":1}')],
        ["index-changed", "index-changed"],
    ),
    "the id comes late and there is no index": (
        [chunk(None, None, "get", '{"ci'), chunk(None, "a", None, 'ty":1}')],
        [("a", "get", '{"city":1}')],
        [],
    ),
    "every chunk has a new id": (
        [chunk(None, "a", "get", '{"ci'), chunk(None, "b", None, 'ty":1}')],
        [("a", "get", '{"city":1}')],
        ["id-changed"],
    ),
    "every chunk repeats the arguments so far": (
        [chunk(0, "a", "get", '{"c'), chunk(0, args='{"city":"Os'), chunk(0, args='{"city":"Oslo"}')],
        [("a", "get", OSLO)],
        ["cumulative-arguments", "cumulative-arguments"],
    ),
    "every chunk repeats the name so far": (
        [chunk(0, "a", "get", None), chunk(0, "a", "get_weather", None), chunk(0, args=OSLO)],
        [("a", "get_weather", OSLO)],
        [],
    ),
    "a finished call restated while a newer one is open": (
        [chunk(0, "a", "get", OSLO), chunk(1, "b", "put", ""), chunk(0, args=OSLO), chunk(0, args="\n")],
        [("a", "get", OSLO + "\n"), ("b", "put", "")],
        [],
    ),
    "a fragment that no call was opened for": (
        [chunk(3, args='{"a":'), chunk(3, "a", "get", "1}")],
        [("a", "get", '{"a":1}')],
        [],
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_chunks_find_their_call(case: str) -> None:
    chunks, calls, rules = CASES[case]
    assert gathered(*chunks) == (calls, rules)


def test_blocks_never_leak_into_each_other() -> None:
    gather = WireGather()
    chunks = [
        ToolCallChunk(run_id="r", index=0, id="a", name="f", args="", block="0"),
        ToolCallChunk(run_id="r", index=0, args='{"x":1}', block="0"),
        ToolCallChunk(run_id="r", index=0, id="a", name="g", args="", block="0#2"),
        ToolCallChunk(run_id="r", index=0, args='{"y":2}', block="0#2"),
        ToolCallChunk(run_id="r", index=1, args='{"z"', block="1"),
        ToolCallChunk(run_id="r", index=1, name="h", args=":3}", block="1"),
    ]
    for seq, each in enumerate(chunks, 1):
        gather.add(seq, [each])
    assert [(entry.name, entry.args and entry.args.text) for entry in gather.entries] == [
        ("f", '{"x":1}'),
        ("g", '{"y":2}'),
        ("h", '{"z":3}'),
    ]


@pytest.mark.parametrize("pieces", [["{}", '{"a":1}'], ['{"a":1}', " and more"], ['{"a', '{"a', "b"], ["null", "{"]])
def test_text_as_it_is_is_never_read_as_json(pieces: list[str]) -> None:
    gather = WireGather()
    chunks = [ToolCallChunk(run_id="r", id="a", name="sql", args=args, block="0", free_text=True) for args in pieces]
    again = ToolCallChunk(run_id="r", args="".join(pieces), block="0", free_text=True, restated=True)
    steps = [step for seq, each in enumerate([*chunks, again], 1) for step in gather.add(seq, [each])]
    assert [entry.args and entry.args.text for entry in gather.entries] == ["".join(pieces)]
    assert [step.args for step in steps] == [*pieces, None]
    assert [finding for step in steps for finding in step.findings] == []


def test_legacy_function_call_is_one_call_of_its_own() -> None:
    gather = WireGather()
    for seq, (name, args) in enumerate([("get", ""), (None, '{"a"'), (None, ":1}")], 1):
        gather.add(seq, [ToolCallChunk(run_id="r", name=name, args=args, legacy=True)])
    gather.add(4, [chunk(0, "a", "put", "{}")])
    assert [(entry.name, entry.legacy, entry.args and entry.args.text) for entry in gather.entries] == [
        ("get", True, '{"a":1}'),
        ("put", False, "{}"),
    ]


def test_provenance_names_the_events_that_built_a_call() -> None:
    gather = WireGather()
    for seq, each in (
        (3, chunk(0, "a", "get", "")),
        (4, chunk(0, args="{")),
        (5, chunk(1, "b", "put", "")),
        (9, chunk(0, args="}")),
    ):
        gather.add(seq, [each])
    assert [entry.seqs for entry in gather.entries] == [[[3, 4], [9, 9]], [[5, 5]]]


def test_a_call_repeating_id_and_name_costs_no_more_than_its_text() -> None:
    gather = WireGather()
    for seq in range(20_000):
        gather.add(seq + 1, [chunk(0, "a", "get", "x" if seq else '{"k":"')])
    (entry,) = gather.entries
    assert entry.args is not None
    assert len(entry.args.parts) == 20_000, "nothing may join the text while it grows"
