"""Hypothesis strategies: sequences of AIMessageChunks as hostile providers and integrations might stream them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

IDS = st.sampled_from(["c1", "c1", "c2", "", None])
INDEXES = st.one_of(st.sampled_from([0, 0, 1, 2, None, "0", "1.0", 1.0, True]))
BAD_INDEXES = st.sampled_from(["abc", "lc_0", 1.5, "", [0], {}, float("inf")])
NAMES = st.sampled_from(["f", "get", "_weather", "", None])
PIECES = st.sampled_from(
    ['{"a":', "1", '"x', 'y"', "}", "", None, '{"a":1}', "[1", "]", ',"b":', "{", "nul", "l", "\\u00e", "9", " ", "é\n"]
)


def maybe(**fields: st.SearchStrategy[Any]) -> st.SearchStrategy[dict[str, Any]]:
    """Objects in which each field may be absent."""
    return st.fixed_dictionaries({}, optional=fields)


tool_call_chunks = st.lists(maybe(index=INDEXES, id=IDS, name=NAMES, args=PIECES), max_size=3)
refused_chunks = st.one_of(
    maybe(index=BAD_INDEXES, id=IDS),
    maybe(index=INDEXES, args=st.sampled_from([{"a": 1}, 5, True])),
    maybe(index=INDEXES, id=st.sampled_from([5, 1.0, {}]), name=NAMES),
    maybe(name=st.sampled_from([5, ["f"]]), args=PIECES),
).map(lambda chunk: [chunk])

parsed_calls = st.lists(
    st.fixed_dictionaries(
        {"name": st.sampled_from(["f", "g"]), "args": st.sampled_from([{}, {"a": "é"}, {"b": [1, None]}]), "id": IDS}
    ),
    min_size=1,
    max_size=2,
)
invalid_calls = st.lists(maybe(name=NAMES, args=PIECES, id=IDS, error=st.just("bad")), min_size=1, max_size=2)
raw_functions = st.one_of(
    st.fixed_dictionaries({"name": NAMES, "arguments": PIECES}), maybe(name=NAMES, arguments=PIECES), st.none()
)
raw_calls = st.lists(maybe(index=st.sampled_from([0, 1, None]), id=IDS, function=raw_functions), max_size=2)

_block_indexes = st.sampled_from([0, 0, 1, None, "lc_0", "lc_txt_1", "x", 1.0, True])
_texts = st.sampled_from(["", "a", "b ", "c"])
_scalars = st.one_of(_texts, st.sampled_from([None, 1, 2, True, False, 1.0, 2.5]))
_citations = st.lists(maybe(index=_block_indexes, type=st.just("cite"), cited_text=_texts), max_size=2)
_extras = maybe(id=_texts, signature=_texts, n=_scalars, index=_block_indexes, created=st.sampled_from([1, 2]))
blocks = st.one_of(
    maybe(type=st.sampled_from(["text", "reasoning"]), text=_texts, index=_block_indexes, id=IDS, citations=_citations),
    maybe(type=st.just("thinking"), thinking=_texts, signature=_texts, index=_block_indexes),
    maybe(type=st.just("tool_use"), id=IDS, name=NAMES, input=st.just({}), index=_block_indexes),
    maybe(type=st.just("input_json_delta"), partial_json=_texts, index=_block_indexes),
    maybe(type=st.just("non_standard"), value=st.one_of(_extras, _texts), index=_block_indexes, extras=_extras),
    maybe(type=st.just("tool_call_chunk"), id=IDS, name=NAMES, args=PIECES, index=_block_indexes, extras=_extras),
    maybe(
        type=st.sampled_from(["server_tool_call", "server_tool_call_chunk"]),
        id=IDS,
        args=st.one_of(PIECES, st.just({"q": 1})),
        index=_block_indexes,
    ),
    maybe(text=_scalars, index=_block_indexes, id=st.sampled_from([5, "c1", ["c1"]])),
)
contents = st.one_of(_texts, _texts, st.lists(st.one_of(blocks, blocks, _texts), max_size=3))

_values = st.recursive(
    _scalars, lambda inner: st.one_of(st.lists(inner, max_size=2), maybe(a=inner, id=inner, index=inner)), max_leaves=4
)
additional_kwargs = maybe(
    tool_calls=raw_calls,
    function_call=maybe(name=NAMES, arguments=PIECES),
    reasoning_content=_texts,
    model_provider=_texts,
    extra=_values,
)
response_metadata = maybe(
    output_version=st.just("v1"),
    model_name=st.sampled_from(["gpt", "gpt", None]),
    finish_reason=st.sampled_from(["stop", None]),
    model_provider=st.sampled_from(["openai", "anthropic"]),
    created=st.sampled_from([1, 2]),
    id=_texts,
    extra=_values,
)
_details = maybe(audio=st.sampled_from([0, 3]), cache_read=st.sampled_from([0, 5]), other=st.sampled_from([1, True]))
_counts = st.fixed_dictionaries(
    {"input_tokens": st.integers(0, 9), "output_tokens": st.integers(0, 9), "total_tokens": st.integers(0, 9)},
    optional={"input_token_details": _details, "priority": st.sampled_from([0, 1, 2.5, None, {"a": 1}])},
)
usages = st.one_of(st.none(), _counts)
message_ids = st.sampled_from([None, "", "run-1", "lc_run--1", "lc_run--2", "lc_1", "msg_1", "msg_2"])

calls_only = maybe(tool_call_chunks=tool_call_chunks)
anything = maybe(
    content=contents,
    tool_call_chunks=st.one_of(tool_call_chunks, tool_call_chunks, tool_call_chunks, refused_chunks),
    additional_kwargs=additional_kwargs,
    response_metadata=response_metadata,
    usage_metadata=usages,
    id=message_ids,
    chunk_position=st.sampled_from([None, None, None, "last"]),
)
restated = maybe(tool_calls=parsed_calls, invalid_tool_calls=invalid_calls, content=_texts, id=message_ids)
v1 = maybe(
    content=st.lists(blocks, max_size=3),
    tool_call_chunks=tool_call_chunks,
    response_metadata=st.sampled_from([{"output_version": "v1"}, {}]),
    chunk_position=st.sampled_from([None, "last"]),
)


def _with_content(chunk: dict[str, Any]) -> dict[str, Any]:
    return {"content": "", **chunk}


def _sequences(chunk: st.SearchStrategy[dict[str, Any]]) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(chunk.map(_with_content), min_size=1, max_size=8)


sequences = st.one_of(
    _sequences(calls_only), _sequences(anything), _sequences(st.one_of(anything, restated)), _sequences(v1)
)
