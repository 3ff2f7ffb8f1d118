"""Hypothesis strategies: sequences of AIMessageChunks as hostile integrations of LangChain.js might stream them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

from tests.projections.langchain_sequences import maybe

IDS = st.sampled_from(["c1", "c1", "c2", "", None])
ODD_IDS = st.one_of(IDS, st.sampled_from([5, 0, True, {}, ["c1"]]))
INDEXES = st.sampled_from([0, 0, 1, 2, "0", "a", None])
ODD_INDEXES = st.one_of(INDEXES, st.sampled_from([1.0, 1.5, -1, True, 2**60, {}]))
NAMES = st.sampled_from(["f", "f", "g", "", None])
PIECES = st.sampled_from(
    [
        *('{"a":', "1", '"x', 'y"', "}", "", None, '{"a":1}', "[1", "]", ',"b":', "{", "nul", "l", "\\", "u00e", "9"),
        *(" ", "\ufeff", "é\n", "-", ".5", "tru", "\\ud83d", "\ud83d", "\ude00", "x", '"1":2,', '"__proto__":'),
    ]
)
UNKNOWN = st.one_of(st.sampled_from([None, 1, 2.5, "x", True, False]), st.just({"a": "x", "n": 1}), st.just([1]))

tool_call_chunks = st.lists(
    maybe(index=INDEXES, id=IDS, name=NAMES, args=PIECES, type=st.just("tool_call_chunk")), max_size=3
)
odd_chunks = st.lists(
    maybe(
        index=ODD_INDEXES,
        id=ODD_IDS,
        name=st.one_of(NAMES, st.sampled_from([5, ["f"]])),
        args=PIECES,
        type=st.sampled_from(["tool_call_chunk", "tool_call", "tool_call_delta", None]),
        isCustomTool=st.sampled_from([True, True, False]),
        extras=UNKNOWN,
        text=st.just("x"),
    ),
    max_size=3,
)
parsed_calls = st.lists(
    maybe(
        name=NAMES, id=ODD_IDS, args=st.sampled_from([{}, {"a": 1}, {"a": "é"}, {"b": [1, None]}]), index=INDEXES
    ).map(lambda call: {"args": {}, **call}),
    min_size=1,
    max_size=2,
)
raw_calls = st.lists(maybe(index=INDEXES, id=IDS, function=maybe(name=NAMES, arguments=PIECES)), max_size=2)

_texts = st.sampled_from(["", "a", "b ", "\ud83d", "\ude00"])
_scalars = st.one_of(_texts, st.sampled_from([None, 1, 2, 0.1, 2**53, -3, True, False]))
_kinds = st.sampled_from(["text", "text", "text_delta", "reasoning", "input_json_delta", "input_json", 5])
_values = st.recursive(
    _scalars,
    lambda inner: st.one_of(
        st.lists(inner, max_size=2),
        maybe(a=inner, id=inner, name=inner, index=inner, created=inner, type=inner, constructor=inner),
    ),
    max_leaves=4,
)
blocks = st.one_of(
    maybe(type=_kinds, text=_texts, index=ODD_INDEXES, id=ODD_IDS),
    maybe(type=st.just("text"), text=_texts, index=INDEXES),
    maybe(type=_kinds, id=IDS, n=st.sampled_from([1, 2])),
    maybe(type=st.just("image"), source_type=st.sampled_from(["url", "base64", "id", "x"]), index=INDEXES, url=_texts),
    maybe(type=st.just("thinking"), thinking=_texts, signature=_texts, index=INDEXES),
    maybe(type=st.just("tool_use"), id=IDS, name=NAMES, input=st.sampled_from([{}, "", '{"a"']), index=INDEXES),
    maybe(text=_values, index=INDEXES, annotations=st.lists(maybe(index=INDEXES, n=_scalars), max_size=2)),
)
contents = st.one_of(_texts, _texts, st.lists(st.one_of(blocks, blocks, _texts, st.none()), max_size=3))

additional_kwargs = maybe(
    tool_calls=raw_calls,
    function_call=maybe(name=NAMES, arguments=PIECES),
    reasoning_content=_texts,
    extra=_values,
    valueOf=st.sampled_from([None, "x"]),
)
response_metadata = maybe(
    model_name=st.sampled_from(["gpt", "gpt", None]),
    name=_texts,
    id=_texts,
    created=st.sampled_from([1, 2, "x"]),
    timestamp=_scalars,
    model_provider=st.sampled_from(["openai", "anthropic", ""]),
    output_version=st.sampled_from(["v0", "v1"]),
    extra=_values,
)
_details = st.one_of(
    st.none(),
    maybe(
        audio=st.sampled_from([0, 3, None]), text=st.just(1), cache_read=st.just(5), reasoning=st.just(2), x=st.just(1)
    ),
)
usages = st.one_of(
    st.none(),
    maybe(
        input_tokens=st.sampled_from([0, 3, 2**53, None]),
        output_tokens=st.integers(0, 9),
        total_tokens=st.integers(0, 9),
        input_token_details=_details,
        output_token_details=_details,
        other=st.just(1),
    ),
)
message_ids = st.sampled_from([None, "", "run-1", "msg_1", "msg_2"])

calls_only = maybe(tool_call_chunks=tool_call_chunks)
odd_calls = maybe(tool_call_chunks=odd_chunks)
parsed = maybe(tool_calls=parsed_calls, tool_call_chunks=st.one_of(st.just([]), tool_call_chunks))
texts = maybe(content=contents)
anything = maybe(
    content=contents,
    tool_call_chunks=st.one_of(tool_call_chunks, odd_chunks),
    tool_calls=parsed_calls,
    additional_kwargs=additional_kwargs,
    response_metadata=response_metadata,
    usage_metadata=usages,
    id=message_ids,
)


def _sequences(chunk: st.SearchStrategy[dict[str, Any]], most: int = 8) -> st.SearchStrategy[list[dict[str, Any]]]:
    return st.lists(chunk.map(lambda fields: {"content": "", **fields}), min_size=1, max_size=most)


sequences = st.one_of(
    _sequences(calls_only, 12),
    _sequences(odd_calls),
    _sequences(parsed),
    _sequences(texts),
    _sequences(anything),
)
