"""LangChain's callbacks as events of the dialect `langchain.v2`, and the streams of `astream_events` as they pass.

Source: langchain-core's `BaseCallbackHandler` and its `_AstreamEventsCallbackHandler`, which makes the events of
`astream_events(version="v2")` of the same callbacks. Events, names, parents and data are the same here, but:

- What a chain, a parser or a retriever streams is in no callback; to see it, a program would have to be made to stream.
- Failures of chains, models and retrievers are events (`on_chain_error`, …), which LangChain's stream does not have; a
  model's says as `output` what had come of its message. `on_tool_start` says the `tool_call_id`.
- `on_agent_action`, `on_agent_finish`, `on_text` and `on_retry` are events of these names.
- A model that runs in version v3 calls back with that version's events: they are in `langchain.v3`, with the run's id.
  As they have said the whole message, the end of the run does not say it again.

It needs `langchain_core`: only who uses LangChain imports it.
"""

from __future__ import annotations

import functools
import os
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextvars import ContextVar
from typing import Any, TypeVar, cast
from uuid import UUID
from weakref import WeakSet

from langchain_core.callbacks.base import BaseCallbackHandler

from recorder.capture.live.items import Current, Taker
from recorder.capture.live.langchain_hearing import Hearing
from recorder.capture.live.langchain_inline import Inline
from recorder.capture.live.langchain_items import Copy, Part, Streamed, Told
from recorder.capture.live.langchain_runs import Run
from recorder.capture.live.langchain_stream import Recorded
from recorder.capture.live.values import encode
from recorder.events import clock

__all__ = ["Handler", "Recorded", "handler", "record", "register", "uninstall"]

_Event = TypeVar("_Event")
_Callback = TypeVar("_Callback", bound=Callable[..., None])


def handler(sink: Taker) -> Handler:
    """A handler for `config={"callbacks": [handler(sink)]}`."""
    return Handler(lambda: sink)


def register(current: Current) -> Handler:
    """Records every run of this process from now on into what `current` gives; a second call replaces the first's."""
    global _everywhere
    # Not at the top: this module may be imported while LangChain's are.
    from langchain_core.tracers import context

    if _everywhere is None:
        _everywhere = Handler(current)
        # A default, since threads have no value that was set; an instance, since of a class each run makes its own.
        _variable.append(ContextVar("recorder_langchain", default=_everywhere))
    _everywhere.current = current
    if not any(hook[0] is _variable[0] for hook in context._configure_hooks):
        context.register_configure_hook(_variable[0], inheritable=True)
    return _everywhere


def uninstall() -> None:
    """Takes back what `register` did: runs that have begun are not recorded any further."""
    from langchain_core.tracers import context

    if _everywhere is not None:
        _everywhere.current = _nobody
        _everywhere.forget()
        context._configure_hooks[:] = [hook for hook in context._configure_hooks if hook[0] is not _variable[0]]


def record(events: AsyncIterator[_Event] | Awaitable[AsyncIterator[_Event]], sink: Taker | None) -> Recorded[_Event]:
    """`async for event in record(agent.astream_events(…), sink)`, of version v1, v2 or v3: the same events.

    Each is passed on as it comes. What a handler records of the same runs is not recorded again.
    """
    return Recorded(events, sink)


def _guarded(callback: _Callback) -> _Callback:
    """The callback, of which a failure is counted and harms nobody."""

    @functools.wraps(callback)
    def guarded(self: Handler, *args: Any, **kwargs: Any) -> None:
        try:
            callback(self, *args, **kwargs)
        except Exception as error:
            self.failed(callback.__name__, error)

    return cast("_Callback", guarded)


class Handler(Hearing, BaseCallbackHandler):
    """Puts what LangChain calls back with into a sink. Never raises, and changes nothing of what it is given."""

    # One that is not inline is called from another thread, a tenth of a millisecond later and in any order.
    run_inline = cast("bool", Inline())

    def __init__(self, current: Current) -> None:
        super().__init__(current)
        _handlers.add(self)

    def __copy__(self) -> Handler:
        return self

    def __deepcopy__(self, memo: dict[int, Any] | None = None) -> Handler:
        return self

    def __reduce__(self) -> tuple[Callable[[], Handler], tuple[()]]:
        """In another process it is a handler that records nothing: that process has a recorder of its own, or none."""
        return _silent, ()

    def failed(self, where: str, error: BaseException) -> None:
        """Counts a failure of this handler's. Never raises."""
        try:
            if (sink := self.current()) is not None:
                sink.failed(f"langchain.{where}", error)
        except Exception:
            return

    # Models

    @_guarded
    def on_chat_model_start(
        self,
        serialized: dict[str, Any] | None,
        messages: list[list[Any]],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        self._start("chat_model", run_id, parent_run_id, serialized, kwargs, {"messages": messages}, messages)

    @_guarded
    def on_llm_start(
        self,
        serialized: dict[str, Any] | None,
        prompts: list[str],
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        self._start("llm", run_id, parent_run_id, serialized, kwargs, {"prompts": prompts}, prompts)

    def on_llm_new_token(
        self,
        token: str | list[Any],
        *,
        chunk: Any = None,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        # Guarded here: this is called for every chunk.
        try:
            now = clock.now()
            run = self._runs.get(run_id)
            if run is None:
                kind = "llm" if chunk is not None and not hasattr(chunk, "message") else "chat_model"
                run = self._late(kind, run_id, parent_run_id, kwargs)
                if run is None:
                    return
            run.given = 0
            if not run.mine or (run.copies > 1 and run.is_repeated()):
                return
            if chunk is None:
                run.sink.put(Streamed(run, token if isinstance(token, str) else list(token), now))
            else:
                run.sink.put(
                    Streamed(run, Copy(getattr(chunk, "message", chunk) if run.kind == "chat_model" else chunk), now)
                )
        except Exception as error:
            self.failed("on_llm_new_token", error)

    @_guarded
    def on_stream_event(self, event: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        now = clock.now()
        if (run := self.heard("chat_model", run_id, parent_run_id, kwargs)) is not None:
            run.is_told = event.get("event") == "message-finish"
            run.sink.put(Part(run, event, now))

    @_guarded
    def on_llm_end(self, response: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        now = clock.now()
        kind = "chat_model" if _message_of(response) is not None else "llm"
        if (run := self.ended(kind, run_id, parent_run_id, kwargs)) is None:
            return
        if run.is_told:
            self._tell(run, "end", {"input": run.input}, now)
            return
        output = _message_of(response) if run.kind == "chat_model" else _texts_of(response)
        self._tell(run, "end", {"output": b"{}" if output is None else encode(output), "input": run.input}, now)

    @_guarded
    def on_llm_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        now = clock.now()
        if (run := self.ended("chat_model", run_id, parent_run_id, kwargs)) is None:
            return
        response = kwargs.get("response")
        partial = _message_of(response) if run.kind == "chat_model" else _texts_of(response) if response else None
        output = None if partial is None else encode(partial)
        self._tell(run, "error", {"error": encode(error), "input": run.input, "output": output}, now)

    # Chains

    @_guarded
    def on_chain_start(
        self,
        serialized: dict[str, Any] | None,
        inputs: Any,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        run_type: str | None = None,
        **kwargs: Any,
    ) -> None:
        self._start(run_type or "chain", run_id, parent_run_id, serialized, kwargs, inputs, inputs)

    @_guarded
    def on_chain_end(
        self, outputs: Any, *, run_id: UUID, parent_run_id: UUID | None = None, inputs: Any = None, **kwargs: Any
    ) -> None:
        now = clock.now()
        if (run := self.ended("chain", run_id, parent_run_id, kwargs)) is not None:
            # Known at the end only where the input was streamed, too.
            given = run.input or b"{}" if _is_nothing(inputs) else encode(inputs)
            self._tell(run, "end", {"output": encode(outputs), "input": given}, now)

    @_guarded
    def on_chain_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        now = clock.now()
        if (run := self.ended("chain", run_id, parent_run_id, kwargs)) is not None:
            self._tell(run, "error", {"error": encode(error), "input": run.input}, now)

    # Tools

    @_guarded
    def on_tool_start(
        self,
        serialized: dict[str, Any] | None,
        input_str: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        inputs: dict[str, Any] | None = None,
        **kwargs: Any,
    ) -> None:
        self._start("tool", run_id, parent_run_id, serialized, kwargs, inputs or {}, input_str)

    @_guarded
    def on_tool_end(self, output: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        now = clock.now()
        if (run := self.ended("tool", run_id, parent_run_id, kwargs)) is not None:
            self._tell(run, "end", {"output": encode(output), "input": run.input}, now)

    @_guarded
    def on_tool_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        now = clock.now()
        if (run := self.ended("tool", run_id, parent_run_id, kwargs)) is None:
            return
        call_id = kwargs.get("tool_call_id")
        call_id = encode(run.tool_call_id if call_id is None else call_id)
        self._tell(run, "error", {"error": encode(error), "input": run.input, "tool_call_id": call_id}, now)

    # Retrievers

    @_guarded
    def on_retriever_start(
        self,
        serialized: dict[str, Any] | None,
        query: str,
        *,
        run_id: UUID,
        parent_run_id: UUID | None = None,
        **kwargs: Any,
    ) -> None:
        self._start("retriever", run_id, parent_run_id, serialized, kwargs, {"query": query}, query)

    @_guarded
    def on_retriever_end(
        self, documents: Sequence[Any], *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        now = clock.now()
        if (run := self.ended("retriever", run_id, parent_run_id, kwargs)) is not None:
            self._tell(run, "end", {"output": encode(documents), "input": run.input}, now)

    @_guarded
    def on_retriever_error(
        self, error: BaseException, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any
    ) -> None:
        now = clock.now()
        if (run := self.ended("retriever", run_id, parent_run_id, kwargs)) is not None:
            self._tell(run, "error", {"error": encode(error), "input": run.input}, now)

    # What happens within a run

    @_guarded
    def on_agent_action(self, action: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        self._note("on_agent_action", {"action": action}, run_id, parent_run_id, kwargs)

    @_guarded
    def on_agent_finish(self, finish: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        self._note("on_agent_finish", {"finish": finish}, run_id, parent_run_id, kwargs)

    @_guarded
    def on_text(self, text: str, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        self._note("on_text", {"text": text}, run_id, parent_run_id, kwargs)

    @_guarded
    def on_retry(self, retry_state: Any, *, run_id: UUID, parent_run_id: UUID | None = None, **kwargs: Any) -> None:
        outcome = retry_state.outcome
        failed = outcome.exception() if outcome is not None and outcome.done() else None
        data = {"attempt": retry_state.attempt_number, "error": failed, "idle_for": retry_state.idle_for}
        self._note("on_retry", data, run_id, parent_run_id, kwargs)

    @_guarded
    def on_custom_event(
        self, name: str, data: Any, *, run_id: UUID, tags: Any = None, metadata: Any = None, **kwargs: Any
    ) -> None:
        now = clock.now()
        if (run := self.heard("chain", run_id, None, {"tags": tags, "metadata": metadata})) is not None:
            tail = run.tail_of(name, tags, metadata)
            run.sink.put(Told(run, "on_custom_event", encode(data), now, name=name, tail=tail))

    # Runs

    def _start(
        self,
        kind: str,
        run_id: UUID,
        parent_run_id: UUID | None,
        serialized: dict[str, Any] | None,
        told: dict[str, Any],
        input: Any,
        given: object,
    ) -> None:
        """Begins a run. `told`: the callback's other arguments; `given`: the object that it was started with."""
        now = clock.now()
        known = self._runs.get(run_id)
        if known is not None and known.given == id(given):
            known.copies += 1
            return
        if (sink := self.current()) is None:
            return
        run = self.begin(sink, kind, run_id, parent_run_id)
        run.given = id(given)
        if not run.mine:
            return
        run.begin(_name_of(told.get("name"), serialized), told.get("tags"), told.get("metadata"))
        # langchain-core gives this where the input is still to be streamed.
        unknown = (
            kind not in ("tool", "chat_model", "llm", "retriever") and type(input) is dict and input == {"input": ""}
        )
        data = None if unknown else encode(input)
        call_id = None
        if kind == "tool":
            run.tool_call_id = told.get("tool_call_id")
            call_id = None if run.tool_call_id is None else encode(run.tool_call_id)
        self._tell(run, "start", {"input": data, "tool_call_id": call_id}, now)
        self.remember(run, data)

    def _note(self, kind: str, data: Any, run_id: UUID, parent_run_id: UUID | None, told: dict[str, Any]) -> None:
        now = clock.now()
        if (run := self.heard("chain", run_id, parent_run_id, told)) is not None:
            run.sink.put(Told(run, kind, encode(data), now))

    def _tell(self, run: Run, stage: str, fields: dict[str, bytes | None], now: int) -> None:
        """An event of the run's own; fields that are None are left out, and the input of a root's end."""
        if stage == "end" and not run.parents:
            fields.pop("input")
        data = b",".join(b'"%b":%b' % (name.encode(), value) for name, value in fields.items() if value is not None)
        run.sink.put(Told(run, f"on_{run.kind}_{stage}", b"{%b}" % data, now))


_everywhere: Handler | None = None
_variable: list[ContextVar[Any]] = []
"""The one that LangChain asks for `_everywhere`, once there is that."""
_handlers: WeakSet[Handler] = WeakSet()


def _forget_all() -> None:
    for each in list(_handlers):
        each.forget()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_all)


def _nobody() -> None:
    return None


def _silent() -> Handler:
    return Handler(_nobody)


def _name_of(name: object, serialized: dict[str, Any] | None) -> str:
    """As langchain-core names runs in its events."""
    if name is not None:
        return str(name)
    if serialized is not None:
        if "name" in serialized:
            return str(serialized["name"])
        if "id" in serialized:
            return str(serialized["id"][-1])
    return "Unnamed"


def _is_nothing(inputs: object) -> bool:
    return inputs is None or (type(inputs) in (dict, list, str) and not inputs)


def _message_of(response: Any) -> Any:
    """The message of a result's first generation, if it has one."""
    for batch in getattr(response, "generations", ()):
        for generation in batch:
            return getattr(generation, "message", None)
    return None


def _texts_of(response: Any) -> dict[str, Any]:
    """A text model's result as langchain-core's events have it."""
    return {
        "generations": [
            [{"text": each.text, "generation_info": each.generation_info, "type": each.type} for each in batch]
            for batch in response.generations
        ],
        "llm_output": response.llm_output,
    }
