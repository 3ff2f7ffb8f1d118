"""A chat model that says what it is told to, chunk by chunk."""

from __future__ import annotations

from collections.abc import AsyncIterator
from itertools import pairwise
from typing import Any

from langchain_core.callbacks import AsyncCallbackManagerForLLMRun, CallbackManagerForLLMRun
from langchain_core.language_models import BaseChatModel
from langchain_core.messages import AIMessageChunk, BaseMessage, ToolMessage
from langchain_core.messages.tool import tool_call_chunk
from langchain_core.outputs import ChatGenerationChunk, ChatResult


class ScriptedChat(BaseChatModel):
    """Streams `turns[n]` in the n-th turn of a conversation (the turns so far are counted by their tool answers)."""

    turns: list[list[AIMessageChunk]]

    @property
    def _llm_type(self) -> str:
        return "scripted"

    def _generate(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: CallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> ChatResult:
        raise NotImplementedError("ScriptedChat only streams, asynchronously")

    async def _astream(
        self,
        messages: list[BaseMessage],
        stop: list[str] | None = None,
        run_manager: AsyncCallbackManagerForLLMRun | None = None,
        **kwargs: Any,
    ) -> AsyncIterator[ChatGenerationChunk]:
        turn = sum(
            isinstance(message, ToolMessage) and not isinstance(before, ToolMessage)
            for before, message in pairwise(messages)
        )
        for chunk in self.turns[turn]:
            # A copy: LangChain writes ids and metadata into what it is given.
            generation = ChatGenerationChunk(message=chunk.model_copy(deep=True))
            if run_manager:
                await run_manager.on_llm_new_token(generation.text, chunk=generation)
            yield generation


def head(index: int, call_id: str, name: str) -> AIMessageChunk:
    """The first chunk of a call: its name and id, no arguments yet."""
    return AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(name=name, args="", id=call_id, index=index)])


def piece(index: int, args: str) -> AIMessageChunk:
    """A further chunk of a call: a piece of its arguments."""
    return AIMessageChunk(content="", tool_call_chunks=[tool_call_chunk(args=args, index=index)])


def finish(reason: str, *, prompt: int, completion: int) -> AIMessageChunk:
    """The last chunk: why the model stopped, and what it cost."""
    return AIMessageChunk(
        content="",
        response_metadata={"finish_reason": reason, "model_name": "demo-1"},
        usage_metadata={"input_tokens": prompt, "output_tokens": completion, "total_tokens": prompt + completion},
        chunk_position="last",
    )
