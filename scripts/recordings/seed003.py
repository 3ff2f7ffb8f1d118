"""The stream of LangChain's guide to streaming tool calls: "What is 3 * 12? Also, what is 11 + 49?".

The pieces are those which the guide prints, the ids those of its listing of gathered chunks. Event N of `seed003.sse`
is line N of both listings; in `seed003.jsonl` one start event comes before them.
"""

from __future__ import annotations

import asyncio

from langchain_core.messages import AIMessageChunk

from recordings.frames import ChatCompletion, Piece
from recordings.frames import sse as to_sse
from recordings.langchain_dump import dump
from recordings.scripted_model import ScriptedChat, head, piece

QUESTION = "What is 3 * 12? Also, what is 11 + 49?"
MULTIPLY = (0, "call_AkL3dVeCjjiqvjv8ckLxL3gP", "Multiply")
ADD = (1, "call_b4iMiB3chGNGqbt5SjqqD2Wh", "Add")
MULTIPLY_ARGUMENTS: tuple[Piece, ...] = ((0, '{"a"'), (0, ": 3, "), (0, '"b": 1'), (0, "2}"))
ADD_ARGUMENTS: tuple[Piece, ...] = ((1, '{"a"'), (1, ": 11,"), (1, ' "b": '), (1, "49}"))


def sse() -> bytes:
    """`openai.chat`: twelve chunks, the last of which says `finish_reason`, then the terminator."""
    chat = ChatCompletion("chatcmpl-rec0003")
    calls = [
        chat.call(*MULTIPLY),
        *chat.arguments(*MULTIPLY_ARGUMENTS),
        chat.call(*ADD),
        *chat.arguments(*ADD_ARGUMENTS),
    ]
    return to_sse([chat.opening(None), *calls, chat.finish("tool_calls"), "[DONE]"])


def jsonl() -> bytes:
    """`langchain.v2`: the same twelve chunks as `astream_events` gives them, between start and end."""
    opening = AIMessageChunk(content="")
    finish = AIMessageChunk(content="", response_metadata={"finish_reason": "tool_calls"}, chunk_position="last")
    calls = [
        head(*MULTIPLY),
        *(piece(*item) for item in MULTIPLY_ARGUMENTS),
        head(*ADD),
        *(piece(*item) for item in ADD_ARGUMENTS),
    ]
    model = ScriptedChat(turns=[[opening, *calls, finish]])
    return asyncio.run(dump(model.astream_events(QUESTION, version="v2")))
