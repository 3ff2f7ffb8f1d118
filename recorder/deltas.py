"""Deltas: what one event says, once its dialect is out of the way.

A dialect turns an event into deltas, a projection folds deltas into state: they are all that passes between the two.
Every delta names the run that it belongs to (an exchange on the wire, a LangChain run) and, where a run has several
answers, the choice. A block is named by a key that is unique in its message: the provider's block index, or the
channel's name where the provider has one string per channel (`text`, `thinking`).
"""

from __future__ import annotations

from typing import Any, Literal

from msgspec import Struct

BlockKey = int | str
RunKind = Literal["chain", "model", "tool", "retriever", "prompt", "parser", "custom", "exchange"]
Executor = Literal["client", "local", "server"]
"""Who runs a tool: `client` one that the application defined, `local` one of the provider's own that the client's side
runs or answers (OpenAI's local shell, apply_patch, computer, an approval), `server` the provider itself."""
Severity = Literal["info", "warning", "error"]
Runtime = Literal["python", "javascript"]
"""Which LangChain wrote an event; the two add chunks up differently."""
CallField = Literal["tool_call_chunks", "tool_calls", "invalid_tool_calls", "additional_kwargs"]
"""The field of LangChain's message that a call stood in: as chunks, parsed, parsed in vain, or as the provider's."""


class Delta(Struct, frozen=True, kw_only=True, tag_field="type"):
    """Base of all deltas."""

    run_id: str


# Runs


class RunStarted(Delta, frozen=True, tag="run_started"):
    """A run began. For an exchange `name` is the path of the request and `metadata` holds method and URL.

    `input`: where in the event's body stands what the run was given, as a JSON path (`$.data.input`).
    """

    kind: RunKind
    name: str | None = None
    parent_run_id: str | None = None
    tags: list[str] | None = None
    metadata: dict[str, Any] | None = None
    input: str | None = None


class RunEnded(Delta, frozen=True, tag="run_ended"):
    """A run ended. `terminated` is false where it ended without what its dialect ends an answer with.

    `output`: where in the event's body stands what the run gave back; `input` as at its start, for what is streamed
    into a run is whole only at its end.
    """

    kind: RunKind
    status: Literal["ok", "error"] = "ok"
    error: str | None = None
    terminated: bool = True
    input: str | None = None
    output: str | None = None


# Messages as providers stream them


class MessageStarted(Delta, frozen=True, tag="message_started"):
    """A message began, or more of its head became known; None fields say nothing.

    `restart` is true where the wire started the message over: an open message of the same run and choice is superseded.
    """

    choice: int = 0
    message_id: str | None = None
    role: str | None = None
    model: str | None = None
    restart: bool = False


class BlockStarted(Delta, frozen=True, tag="block_started"):
    """A content block opened. `data` holds the fields that it already has, in the contract's spelling."""

    block: BlockKey
    kind: str
    choice: int = 0
    data: dict[str, Any] | None = None


class TextChunk(Delta, frozen=True, tag="text_chunk"):
    """Text appended to the string `field` of a block; opens the block as `kind` where it is new."""

    block: BlockKey
    text: str
    choice: int = 0
    kind: str = "text"
    field: str = "text"


class BlockItem(Delta, frozen=True, tag="block_item"):
    """A value appended to the list `field` of a block (a citation), or set as the field where `replace` is true."""

    block: BlockKey
    field: str
    value: Any
    choice: int = 0
    kind: str = "text"
    replace: bool = False


class BlockStopped(Delta, frozen=True, tag="block_stopped"):
    """The provider closed a block."""

    block: BlockKey
    choice: int = 0


class ToolCallChunk(Delta, frozen=True, tag="tool_call_chunk"):
    """A piece of a tool call, with the fields and values that the wire had: nothing joined, nothing normalised.

    `index` is as sent (a number, text, None). `restated` is true where the dialect itself knows that this chunk repeats
    what was streamed (`arguments.done`). `legacy` marks OpenAI's `function_call`. `error`: what the framework itself
    found wrong with the call's arguments, which makes it one of its `invalid_tool_calls`. `free_text`: the arguments
    are no JSON but text as it is (the input of a custom tool, a program's code).

    `found_in` and `fields` are of LangChain's messages: the field that the call stood in, and all members that it had
    there, for LangChain.js adds up members that nobody knows too.
    """

    index: int | str | None = None
    id: str | None = None
    name: str | None = None
    args: str | None = None
    choice: int = 0
    block: BlockKey | None = None
    executor: Executor = "client"
    restated: bool = False
    legacy: bool = False
    error: str | None = None
    free_text: bool = False
    found_in: CallField = "tool_call_chunks"
    fields: dict[str, Any] | None = None


class MessageFinished(Delta, frozen=True, tag="message_finished"):
    """The provider said why it stopped. `truncating`: the reason means that output was cut off (length, a filter).

    Without a reason where only that it has stopped was said.
    """

    finish_reason: str | None
    choice: int = 0
    truncating: bool = False


class MessageClosed(Delta, frozen=True, tag="message_closed"):
    """Nothing more will come for the run's messages: its terminator was seen (`[DONE]`, `message_stop`)."""

    choice: int | None = None
    """The one message that is closed; None: all messages of the run."""


class Usage(Delta, frozen=True, tag="usage"):
    """Token counts so far, as the provider counts: a key that comes again replaces the earlier value.

    `counts` has the keys of LangChain's UsageMetadata: `input_tokens`, `output_tokens`, `total_tokens`, and the
    `input_token_details` and `output_token_details` objects where the provider gave some.
    """

    counts: dict[str, Any]
    choice: int | None = None
    """None: all choices of the run together."""


# Messages as LangChain streams them


class MessageChunk(Delta, frozen=True, tag="message_chunk"):
    """An AIMessageChunk without its tool call chunks (they come as `ToolCallChunk` beside it)."""

    content: str | list[Any] = ""
    message_id: str | None = None
    name: str | None = None
    additional_kwargs: dict[str, Any] | None = None
    response_metadata: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    position: str | None = None
    """`chunk_position`: `last` or None."""
    runtime: Runtime = "python"


class Restatement(Delta, frozen=True, tag="restatement"):
    """The whole message, said again at its end (`on_chat_model_end`): compared with the sum, or taken if there is none.

    `calls` are the message's tool calls as `{"name", "args", "id"}`, `args` parsed; `invalid_calls` with raw args.
    `raw`, where it is not empty, has the text of each of `calls` beside it, None where the message does not have it any
    more: `args` alone may be what LangChain made of arguments that were cut off.
    """

    content: str | list[Any] = ""
    calls: list[dict[str, Any]] = []
    invalid_calls: list[dict[str, Any]] = []
    raw: list[str | None] = []
    message_id: str | None = None
    additional_kwargs: dict[str, Any] | None = None
    response_metadata: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    runtime: Runtime = "python"


# Tools


class ToolMessage(Delta, frozen=True, tag="tool_message"):
    """A tool's answer at its first hand: an `on_tool_end` output, a server tool's result block."""

    tool_call_id: str | None
    content: Any
    name: str | None = None
    status: str = "success"
    artifact: Any = None
    message_id: str | None = None
    additional_kwargs: dict[str, Any] = {}
    response_metadata: dict[str, Any] = {}
    executor: Executor = "client"


class ToolFailed(Delta, frozen=True, tag="tool_failed"):
    """A tool raised; a tool message may or may not follow."""

    tool_call_id: str | None
    name: str | None
    error: str


class HistoryCall(Struct, frozen=True, tag="call", kw_only=True):
    """A tool call of an earlier turn, as a request or a graph's state repeats it."""

    id: str | None
    name: str | None
    args: str
    """Raw text where the wire had text, compact JSON where it had an object."""
    executor: Executor = "client"
    free_text: bool = False
    legacy: bool = False
    """OpenAI's `function_call`."""


class HistoryAnswer(Struct, frozen=True, tag="answer", kw_only=True):
    """A tool's answer as a request or a graph's state repeats it."""

    tool_call_id: str | None
    content: Any
    name: str | None = None
    status: str = "success"
    artifact: Any = None
    message_id: str | None = None
    additional_kwargs: dict[str, Any] = {}
    response_metadata: dict[str, Any] = {}


class History(Delta, frozen=True, tag="history"):
    """The calls and answers of a conversation in order, as an event restates it.

    What was known already is not a second call or answer; what was not is first seen here.
    """

    entries: list[HistoryCall | HistoryAnswer]
    source: Literal["request", "event"]


# What went wrong


class Failure(Delta, frozen=True, tag="failure"):
    """The provider, the transport or the framework reported an error; the run's open messages are cut off by it."""

    error: str


class Finding(Delta, frozen=True, tag="finding"):
    """Something in the event that an audit wants to know."""

    rule: str
    severity: Severity
    detail: str
    call_id: str | None = None


class Erased(Delta, frozen=True, tag="erased"):
    """The event was erased: whatever it said is not known any more."""


AnyDelta = (
    RunStarted
    | RunEnded
    | MessageStarted
    | BlockStarted
    | TextChunk
    | BlockItem
    | BlockStopped
    | ToolCallChunk
    | MessageFinished
    | MessageClosed
    | Usage
    | MessageChunk
    | Restatement
    | ToolMessage
    | ToolFailed
    | History
    | Failure
    | Finding
    | Erased
)
