"""`langchain.v2`: the events of `astream_events`, version v2 and version v1, of Python and of JavaScript.

Source: langchain-core's `StreamEvent` and its event stream handlers; LangGraph server's SSE, which wraps them as
`{"event": "events", "data": {…}}` or names them in the SSE event, beside its own `metadata`, `error` and `end`.
One decoder reads one stream: its runs are interleaved.

Version v1 has the same envelope, without parents. No event says which version it is of, and where the two differ the
event's data show it (an `LLMResult` where v2 has the message), so that v1 is no dialect of its own.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field, structs

from recorder.deltas import AnyDelta, Failure, History, RunEnded, RunKind, RunStarted, ToolFailed
from recorder.dialects import langchain_model
from recorder.dialects.base import COMMENT, DONE, END, ERROR, PARTIAL, REQUEST, RESPONSE, Dialect, Envelope, is_done
from recorder.dialects.frames import Deltas, Frame, finding, partial_frame, read_frame, unknown_frame
from recorder.dialects.http import Exchange, error_text, read_part
from recorder.dialects.langchain_model import EndedRuns, ModelRun, start_digest
from recorder.dialects.langchain_repr import MARK, holds_message_repr, message_as_repr
from recorder.dialects.langchain_walk import answers_of_tool, entries_in
from recorder.dialects.values import cleaned, dict_of, id_of, list_of, text_of
from recorder.events import Event, NewEvent

_KINDS: dict[str, RunKind] = {
    "chain": "chain",
    "chat_model": "model",
    "llm": "model",
    "tool": "tool",
    "retriever": "retriever",
    "prompt": "prompt",
    "parser": "parser",
}
_SILENT = frozenset({"on_custom_event", "on_text", "on_retry", "on_agent_action", "on_agent_finish"})
"""Callbacks of LangChain's that say nothing of a message, a call or a run's end; the last four in no event stream."""
_SERVER_KINDS = ("metadata", "end", "error")
_WRAPPED = "events"
"""The server's name for an SSE event that holds one of these events."""
_HTTP = (REQUEST, RESPONSE, END, ERROR)
_WITH_MESSAGES = ("on_chat_model_", "on_chain_", "on_prompt_", "on_parser_", "on_tool_end")
"""Kinds of which messages are read; the texts of `on_llm_*` are texts, and a tool's input is its own affair."""


class State(Struct):
    """The model runs that are open, and the exchanges that carry the events where HTTP was recorded too."""

    models: dict[str, ModelRun] = field(default_factory=dict)
    ended: EndedRuns = field(default_factory=EndedRuns)
    exchanges: dict[str, Exchange] = field(default_factory=dict)
    reprs: dict[str, bool] = field(default_factory=dict)
    """Open runs of which it was said that they hold messages as reprs: it is said once."""


class _Event(Struct, frozen=True):
    """The fields of a StreamEvent, of the types that they should have."""

    kind: str
    run_id: str
    own_run: bool
    """Whether the event itself says its run."""
    name: str | None
    parent: str | None
    tags: list[str] | None
    metadata: dict[str, Any] | None
    data: dict[str, Any]
    path: str = "$.data"
    """Where the data stand in the frame."""

    def where(self, name: str) -> str | None:
        """The JSON path to a field of the data, if there is one."""
        return f"{self.path}.{name}" if name in self.data else None


def recognises(value: Any, event_name: str | None) -> bool:
    """An event `on_…` with a run or data that no server has wrapped."""
    return _is_event(dict_of(value)) and not (event_name or "").startswith(_WRAPPED)


def is_servers(value: Any, event_name: str | None) -> bool:
    """Whether only LangGraph's server sends this: an event `on_…` that it wrapped or named, `metadata` with the run."""
    fields = dict_of(value)
    kind = fields.get("event")
    if event_name == "metadata" or kind == "metadata":
        head = dict_of(fields.get("data")) if kind == "metadata" else fields
        return isinstance(head.get("run_id"), str)
    inner = _unwrapped(fields)
    return _is_event(inner) and (inner is not fields or (event_name or "").startswith(_WRAPPED))


def envelope(value: Any, event_name: str | None) -> Envelope:
    """The kind is the event's name; run, parent and name are its own."""
    if is_done(value):
        return Envelope(kind=DONE)
    fields = dict_of(value)
    inner = _unwrapped(fields)
    kind = cleaned(inner.get("event")) or cleaned(event_name) or "unknown"
    if kind in _SERVER_KINDS:
        head = dict_of(fields.get("data")) if "data" in fields else fields
        return Envelope(kind=kind, run_id=cleaned(head.get("run_id")))
    event = _read_event(inner, kind, "")
    return Envelope(kind=kind, run_id=event.run_id or None, parent_run_id=event.parent, name=event.name)


def step(state: State, event: Event | NewEvent) -> tuple[State, list[AnyDelta]]:
    """Reads one event; never raises."""
    out: Deltas = []
    if event.kind in _HTTP:
        _read_http(state, event, out)
    elif event.kind == PARTIAL:
        out.append(partial_frame(event))
    elif event.kind not in (COMMENT, DONE) and (frame := read_frame(event, out)) is not None:
        read(state, frame, out)
    return state, out


def read(state: State, frame: Frame, out: Deltas) -> None:
    """Takes a frame: an event, bare or wrapped, or one of the server's own."""
    fields = dict_of(frame.value)
    inner = _unwrapped(fields)
    kind = cleaned(inner.get("event")) or frame.kind
    if kind in _SERVER_KINDS:
        if kind == "error":
            out.append(Failure(run_id=frame.run_id, error=error_text(dict_of(frame.value).get("data", frame.value))))
        return
    event = _read_event(inner, kind, frame.run_id, "$.data" if inner is fields else "$.data.data")
    what, _, stage = kind.removeprefix("on_").rpartition("_")
    run_kind = _KINDS.get(what)
    if kind in _SILENT:
        return
    if not kind.startswith("on_") or run_kind is None or stage not in ("start", "stream", "end", "error"):
        out.append(unknown_frame(frame, kind))
    elif run_kind == "model" and event.own_run and _is_repeated(state, event, stage):
        out.append(finding(event.run_id, "event-repeated", f"{kind} of a model run that was recorded already"))
    else:
        _tell(state, event, run_kind, stage, out)
        _look_for_reprs(state, event, stage, frame.body, out)


def _tell(state: State, event: _Event, run_kind: RunKind, stage: str, out: Deltas) -> None:
    if stage == "start":
        _start(state, event, run_kind, out)
        if run_kind == "model":
            state.models[event.run_id].start = start_digest(event.data)
            state.ended.forget(event.run_id)
    elif run_kind == "model":
        _model(state, event, stage, out)
    elif stage == "stream":
        # Version v1 streams a root tool's and a root retriever's output, too: their ends say it.
        if run_kind not in ("tool", "retriever"):
            _history(event, event.data.get("chunk"), out, pieces=True)
    elif stage == "end":
        _end(event, run_kind, out)
    else:
        _error(event, run_kind, out)


def _look_for_reprs(state: State, event: _Event, stage: str, body: bytes, out: Deltas) -> None:
    """Says, once a run, that its messages were lost when the events were dumped."""
    # The bytes first: to walk every value a second time would cost as much as the first.
    suspect = MARK in body and event.kind.startswith(_WITH_MESSAGES) and event.run_id not in state.reprs
    if suspect and holds_message_repr(event.data):
        out.append(message_as_repr(event.run_id, event.kind))
        state.reprs[event.run_id] = True
    if stage in ("end", "error"):
        state.reprs.pop(event.run_id, None)


def _start(state: State, event: _Event, kind: RunKind, out: Deltas) -> None:
    out.append(
        RunStarted(
            run_id=event.run_id,
            kind=kind,
            name=event.name,
            parent_run_id=event.parent,
            tags=event.tags,
            metadata=event.metadata,
            input=event.where("input"),
        )
    )
    if kind == "model":
        state.models[event.run_id] = langchain_model.start(event.run_id, event.metadata or {}, event.data, out)
    elif kind in ("chain", "prompt", "parser"):
        _history(event, event.data.get("input"), out)


def _is_repeated(state: State, event: _Event, stage: str) -> bool:
    """Whether the event of a model run says again what another one said.

    A chunk of a run that is open is never taken for a repetition: models do stream the same text twice. Of a run that
    ended the whole message is known.
    """
    if stage != "start":
        return event.run_id not in state.models and state.ended.has(event.run_id)
    if (run := state.models.get(event.run_id)) is not None:
        return bool(run.start) and run.start == start_digest(event.data)
    return state.ended.has(event.run_id) and state.ended.has_start(event.run_id, start_digest(event.data))


def _model(state: State, event: _Event, stage: str, out: Deltas) -> None:
    run = state.models.get(event.run_id)
    if run is None:
        # The recording begins after the run did, or its start was lost.
        _start(state, event, "model", out)
        run = state.models[event.run_id]
    chat = event.kind.startswith("on_chat_model")
    if stage == "stream":
        langchain_model.stream(run, event.run_id, event.data, out, chat=chat)
        return
    del state.models[event.run_id]
    if event.own_run:
        state.ended.add(event.run_id, run)
    if stage == "end":
        ended = langchain_model.end(run, event.run_id, event.data, out, chat=chat)
        out.append(structs.replace(ended, input=event.where("input"), output=event.where("output")))
    else:
        _error(event, "model", out)


def _end(event: _Event, kind: RunKind, out: Deltas) -> None:
    if kind == "tool":
        out.extend(answers_of_tool(event.run_id, event.data.get("output")))
    elif kind != "retriever":
        _history(event, [event.data.get("input"), event.data.get("output")], out)
    out.append(RunEnded(run_id=event.run_id, kind=kind, input=event.where("input"), output=event.where("output")))


def _error(event: _Event, kind: RunKind, out: Deltas) -> None:
    error = _exception_text(event.data.get("error"))
    if kind == "tool":
        call_id = id_of(event.data.get("tool_call_id"))
        out.append(ToolFailed(run_id=event.run_id, tool_call_id=call_id, name=event.name, error=error))
    elif kind == "model":
        # Of an error that travels up through the chains above, only the model's own cuts a message off.
        out.append(Failure(run_id=event.run_id, error=error))
    out.append(RunEnded(run_id=event.run_id, kind=kind, status="error", error=error, input=event.where("input")))


def _history(event: _Event, value: object, out: Deltas, *, pieces: bool = False) -> None:
    if entries := entries_in(value, pieces=pieces):
        out.append(History(run_id=event.run_id, entries=entries, source="event"))


def _read_http(state: State, event: Event | NewEvent, out: Deltas) -> None:
    run_id = event.run_id or ""
    exchange = state.exchanges.setdefault(run_id, Exchange())
    # The events have no terminator of their own: the end of the answer is a proper end.
    exchange.terminated = True
    read_part(exchange, event, out)
    if exchange.ended:
        del state.exchanges[run_id]


def _is_event(fields: dict[str, Any]) -> bool:
    kind = fields.get("event")
    return isinstance(kind, str) and kind.startswith("on_") and ("data" in fields or "run_id" in fields)


def _unwrapped(fields: dict[str, Any]) -> dict[str, Any]:
    """The StreamEvent: itself, or what LangGraph server put into `{"event": "events", "data": …}`."""
    inner = fields.get("data")
    kind = fields.get("event")
    wrapped = isinstance(kind, str) and not kind.startswith("on_") and isinstance(inner, dict)
    return inner if wrapped and isinstance(inner, dict) and isinstance(inner.get("event"), str) else fields


def _read_event(fields: dict[str, Any], kind: str, run_id: str, path: str = "$.data") -> _Event:
    parents = list_of(fields.get("parent_ids"))
    tags = [tag for tag in list_of(fields.get("tags")) if isinstance(tag, str)]
    own = cleaned(fields.get("run_id"))
    return _Event(
        kind=kind,
        run_id=own or run_id,
        own_run=bool(own),
        name=cleaned(fields.get("name")),
        parent=cleaned(parents[-1]) if parents else None,
        tags=tags or None,
        metadata=dict_of(fields.get("metadata")) or None,
        data=dict_of(fields.get("data")),
        path=path,
    )


def _exception_text(error: object) -> str:
    """An exception as recorders and `dumpd` write it: its class and words, its repr, or JavaScript's text."""
    fields = dict_of(error)
    if (kind := text_of(fields.get("__exc__"))) is not None:
        return error_text(f"{kind.rpartition('.')[2]}: {fields.get('str')}")
    return error_text(text_of(fields.get("repr")) or text_of(fields.get("$repr")) or error)


LANGCHAIN_V2 = Dialect(
    name="langchain.v2",
    layer="framework",
    state=State,
    recognises=recognises,
    envelope=envelope,
    step=step,
)
