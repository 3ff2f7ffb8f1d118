"""A dumb reader of frames, written apart from the dialects: is a call that is shown as `complete` in the bytes?

It knows the words with which each provider ends an answer and nothing of blocks, indices or order. It is lenient where
it does not know: what it refuses is wrong.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from recorder.events import Event

Message = dict[str, Any]
Call = dict[str, Any]

_NOT_SAID = ("", "null", "none", "finish_reason_unspecified")
_CUT = frozenset(
    {
        *("length", "max_tokens", "max_output_tokens", "model_context_window_exceeded", "content_filter", "refusal"),
        *("content_filtered", "guardrail_intervened", "safety", "recitation", "malformed_function_call", "error"),
        *("incomplete", "failed", "cancelled", "timeout", "error_limit", "error_toxic", "max_len"),
    }
)
_REASONS = (
    *("finish_reason", "finishReason", "stop_reason", "stopReason", "done_reason", "completionReason", "reason"),
    *("doneReason", "status"),
)
_WRITTEN_BY_THE_READER = frozenset({"openai.responses", "langgraph", "langchain.v3", "bedrock.invoke"})
"""Dialects whose frames hold values of arguments, of which their readers write the JSON text."""
_VALUES_AT_PATHS = frozenset({"gemini", "gemini.live", "gemini.interactions"})
"""Dialects that do so where a frame names the path of a value in the arguments; else it has them whole."""


def complaint(message: Message, call: Call, events: Sequence[Event]) -> str | None:
    """What is wrong with a call that is shown as finished, by the events so far; None where nothing is.

    Message and call as a state shows them. The text of a `complete` call must be in its events; that the message was
    finished an event must say for those that are `invalid` or `empty` too.
    """
    raw, complete = call["raw"], call["state"] == "complete"
    if complete and not call.get("free_text") and not isinstance(_strict(raw), dict):
        return f"its text is no JSON object: {raw[:80]!r}"
    seqs = [seq for first, last in call["seqs"] for seq in range(first, last + 1)]
    if not seqs or seqs[-1] > len(events):
        return f"its events are {call['seqs']} of {len(events)}"
    built = [events[seq - 1] for seq in seqs]
    dialect = built[0].dialect
    frames = [list(_leaves(event)) for event in built]
    by_value = dialect in _WRITTEN_BY_THE_READER or (dialect in _VALUES_AT_PATHS and _has_paths(frames))
    place = _whole_by(raw, frames, by_value=by_value)
    if place is None and complete:
        return f"its text is not in its events {call['seqs']}: {raw[:80]!r}"
    whole_at = built[place or 0].seq
    own = dialect not in ("langgraph", "langchain.v3")
    among = [
        event
        for event in events[message["first_seq"] - 1 : message["last_seq"]]
        if not own or event.run_id == message["run_id"] or event.run_id is None
    ]
    if not any(_ends(dialect, event, message, call) for event in among if event.seq >= whole_at):
        return f"nothing in events {whole_at} to {message['last_seq']} says that its message ended"
    # The event that closes a message may be the next one's first.
    cut = next(
        (event.seq for event in among if event.seq < message["last_seq"] and _cuts(dialect, event, message)), None
    )
    if cut is not None or str(message["finish_reason"]).lower() in _CUT:
        return f"its message was cut off ({message['finish_reason']!r}, event {cut})"
    return None


# What a text is made of


def _whole_by(raw: str, frames: list[list[Any]], *, by_value: bool) -> int | None:
    """The place of the frame with which the text is whole: pieces of these frames one after the other, or a value.

    None where it is neither; `by_value`: it may be made of values, and is then whole with nobody knows which.
    """
    texts = [[text for leaf in leaves if (text := _text(leaf))] for leaves in frames]
    if (place := _joined_by(raw, texts)) is not None:
        return place
    value = _strict(raw)
    if isinstance(value, dict):
        for place, leaves in enumerate(frames):
            if any(_same(value, leaf) for leaf in leaves):
                return place
    return (
        0
        if by_value and value is not None and all(_is_among(part, frames, texts) for part in _scalars(value))
        else None
    )


def _has_paths(frames: list[list[Any]]) -> bool:
    return any(isinstance(leaf, str) and leaf.startswith("$") for leaves in frames for leaf in leaves)


def _joined_by(raw: str, frames: list[list[str]]) -> int | None:
    """The place of the frame with which the text is whole leaves, in the order of their frames.

    A leaf may repeat all that came before it.
    """
    reached = {0}
    for place, leaves in enumerate(frames):
        fresh = reached
        while fresh:
            found = {start + len(leaf) for start in fresh for leaf in leaves if raw.startswith(leaf, start)}
            found |= {len(leaf) for leaf in leaves if raw.startswith(leaf) and len(leaf) >= min(reached)}
            fresh = found - reached
            reached = reached | fresh
        if len(raw) in reached:
            return place
    return None


def _text(leaf: Any) -> str:
    """A text as it is, any other value as compact JSON: servers send arguments that are no text."""
    if isinstance(leaf, str):
        return leaf
    try:
        return json.dumps(leaf, ensure_ascii=False, separators=(",", ":"))
    except (RecursionError, ValueError):
        return ""


def _is_among(part: Any, frames: list[list[Any]], texts: list[list[str]]) -> bool:
    if isinstance(part, str):
        return (
            not part or _joined_by(part, texts) is not None or any(part in leaf for leaves in texts for leaf in leaves)
        )
    return any(type(part) is type(leaf) and part == leaf for leaves in frames for leaf in leaves) or any(
        json.dumps(part) in leaf for leaves in texts for leaf in leaves
    )


def _same(value: dict[str, Any], leaf: Any) -> bool:
    if isinstance(leaf, dict):
        # Code that a provider runs has an id beside it, which is no argument.
        return bool(leaf == value or ("code" in value and leaf == {**value, "id": leaf.get("id")}))
    return isinstance(leaf, str) and leaf.lstrip().startswith("{") and _strict(leaf) == value


def _scalars(value: Any) -> Iterator[Any]:
    if isinstance(value, dict | list):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _scalars(inner)
    else:
        yield value


# What ends a message


def _ends(dialect: str, event: Event, message: Message, call: Call) -> bool:
    if event.body.strip() == b"[DONE]":
        return True
    value = _value(event)
    if dialect == "bedrock.converse" and event.kind == "messageStop":
        # Its name stands in the message's headers.
        return True
    if dialect in ("openai.chat", "openai.completions"):
        return any(_is_choices_end(choice, message["choice"]) for choice in _members(value, "choices"))
    if dialect == "langgraph" and not event.kind.startswith(("messages", "on_")):
        # A state that has the message has it whole.
        return (call["id"] or call["name"] or "").encode() in event.body
    return any(_WORDS[dialect](each, message, call) for each in _objects(value))


def _cuts(dialect: str, event: Event, message: Message) -> bool:
    """Whether the event says that the message was cut off: only where there is no doubt that it speaks of this one."""
    value = _value(event)
    if dialect in ("openai.chat", "openai.completions"):
        return any(
            _cut_off(choice) and choice.get("index") == message["choice"] for choice in _members(value, "choices")
        )
    if not isinstance(value, dict):
        return False
    if dialect == "anthropic.messages":
        return value.get("type") == "message_delta" and _cut_off(value.get("delta"))
    if dialect == "openai.responses":
        return value.get("type") in ("response.incomplete", "response.failed", "response.cancelled")
    if dialect in ("cohere.v2", "bedrock.converse"):
        return _cut_off(value.get("delta")) or _cut_off(value.get("messageStop", value))
    return dialect == "ollama.chat" and value.get("done") is True and _cut_off(value)


def _is_choices_end(choice: Any, number: int) -> bool:
    if not isinstance(choice, dict):
        return False
    index = choice.get("index")
    if isinstance(index, int) and not isinstance(index, bool) and 0 <= index < 1 << 16 and index != number:
        return False
    whole = isinstance(choice.get("message"), dict) and not isinstance(choice.get("delta"), dict)
    return _stopped(choice) or (whole and not _cut_off(choice))


def _of_anthropic(each: dict[str, Any], message: Message, call: Call) -> bool:
    kind = each.get("type")
    if kind == "message_delta":
        return _stopped(each.get("delta"))
    return kind == "message_stop" or (kind == "message" and not _cut_off(each))


def _of_responses(each: dict[str, Any], message: Message, call: Call) -> bool:
    return each.get("type") == "response.completed" or (each.get("status") == "completed" and "output" in each)


def _of_realtime(each: dict[str, Any], message: Message, call: Call) -> bool:
    response = each.get("response")
    if each.get("type") != "response.done" or not isinstance(response, dict):
        return False
    said = _reasons({"status": response.get("status")})
    return said in ([], ["completed"]) and _may_be(response.get("id"), message["message_id"])


def _of_gemini(each: dict[str, Any], message: Message, call: Call) -> bool:
    reason = each.get("finishReason", each.get("finish_reason"))
    index = each.get("index", 0)
    stopped = isinstance(reason, str) and reason.strip().upper() == "STOP"
    return stopped and (not isinstance(index, int) or index == message["choice"] or not 0 <= index < 1 << 16)


def _of_live(each: dict[str, Any], message: Message, call: Call) -> bool:
    return bool(each.keys() & {"toolCall", "tool_call", "turnComplete", "turn_complete"}) or bool(
        each.keys() & {"generationComplete", "generation_complete"}
    )


def _of_interactions(each: dict[str, Any], message: Message, call: Call) -> bool:
    if each.get("event_type", each.get("type")) in ("interaction.completed", "interaction.complete"):
        return True
    return "status" in each and bool(each.keys() & {"steps", "outputs"})


def _of_cohere(each: dict[str, Any], message: Message, call: Call) -> bool:
    ends = ("message-end", "stream-end")
    return each.get("type") in ends or each.get("event_type") in ends or _stopped(each)


def _of_ollama(each: dict[str, Any], message: Message, call: Call) -> bool:
    return each.get("done") is True or _stopped(each)


def _of_xai(each: dict[str, Any], message: Message, call: Call) -> bool:
    served = call["executor"] == "server" and call["id"] in each.values()
    return _stopped(each) or served or "message" in each


def _of_converse(each: dict[str, Any], message: Message, call: Call) -> bool:
    return _stopped(each) or bool(each.keys() & {"messageStop", "metrics", "output"})


def _of_invoke(each: dict[str, Any], message: Message, call: Call) -> bool:
    return _of_anthropic(each, message, call) or _of_converse(each, message, call) or _stopped(each)


def _of_langchain(each: dict[str, Any], message: Message, call: Call) -> bool:
    ended = each.get("event") in ("on_chat_model_end", "on_llm_end")
    if ended and "ChatGenerationChunk" in _text(each):
        # Version v1 says so of a stream that broke off too: a reason must stand in it.
        return False
    return ended or each.get("chunk_position") == "last" or _stopped(each)


def _of_v3(each: dict[str, Any], message: Message, call: Call) -> bool:
    return each.get("event") == "message-finish" or _stopped(each)


_WORDS: dict[str, Callable[[dict[str, Any], Message, Call], bool]] = {
    "anthropic.messages": _of_anthropic,
    "openai.responses": _of_responses,
    "openai.realtime": _of_realtime,
    "gemini": _of_gemini,
    "gemini.live": _of_live,
    "gemini.interactions": _of_interactions,
    "cohere.v2": _of_cohere,
    "cohere.v1": _of_cohere,
    "ollama.chat": _of_ollama,
    "xai.grpc": _of_xai,
    "bedrock.converse": _of_converse,
    "bedrock.invoke": _of_invoke,
    "langchain.v2": _of_langchain,
    "langchain.v3": _of_v3,
    "langgraph": _of_langchain,
}


def _reasons(each: Any) -> list[str]:
    """The reasons to stop that the object has, as text."""
    if not isinstance(each, dict):
        return []
    said = (each[name] for name in _REASONS if name in each)
    texts = (value if isinstance(value, str) else json.dumps(value) for value in said)
    return [text for text in texts if text.strip().lower() not in _NOT_SAID]


def _stopped(each: Any) -> bool:
    return any(reason.strip().lower() not in _CUT for reason in _reasons(each))


def _cut_off(each: Any) -> bool:
    return any(reason.strip().lower() in _CUT for reason in _reasons(each))


def _may_be(id: Any, known: Any) -> bool:
    return not isinstance(id, str) or not known or id == known


# What stands in a frame


def _value(event: Event) -> Any:
    """The body as JSON, a frame within it (Bedrock's) in the place of its bytes; its text where it is no JSON."""
    value = _json(event.body)
    if isinstance(value, dict) and isinstance(value.get("bytes"), str):
        try:
            return [value, _json(base64.b64decode(value["bytes"]))]
        except ValueError:
            return value
    return value


def _json(data: bytes) -> Any:
    text = data.decode("utf-8", "replace").removeprefix("\ufeff")
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


def _leaves(event: Event) -> Iterator[Any]:
    """Every value in the frame, whole ones too, and the names of members."""
    value = _value(event)
    yield value
    waiting = [value]
    while waiting:
        each = waiting.pop()
        inner: Iterable[Any] = each.values() if isinstance(each, dict) else each if isinstance(each, list) else ()
        if isinstance(each, dict):
            yield from each
        for item in inner:
            yield item
            waiting.append(item)


def _objects(value: Any) -> Iterator[dict[str, Any]]:
    waiting = [value]
    while waiting:
        each = waiting.pop()
        if isinstance(each, dict):
            yield each
            waiting.extend(each.values())
        elif isinstance(each, list):
            waiting.extend(each)


def _members(value: Any, name: str) -> list[Any]:
    found = value.get(name) if isinstance(value, dict) else None
    return found if isinstance(found, list) else []


def _strict(raw: str) -> Any:
    """The text as JSON by the letter, None where it is none."""
    try:
        return json.loads(raw, parse_constant=_refused)
    except (ValueError, RecursionError):
        return None


def _refused(constant: str) -> Any:
    raise ValueError(constant)
