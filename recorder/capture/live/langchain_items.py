"""What LangChain's callbacks and streams showed, on its way to events of `langchain.v2` and `langchain.v3`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from recorder import dialects
from recorder.capture.live.langchain_runs import Run
from recorder.capture.live.values import encode
from recorder.events import NewEvent, jsontext

V2, V3 = "langchain.v2", "langchain.v3"
_FRAMING = "{body}\n"
"""The stream comes out as JSON lines."""
_ITEM_BYTES = 600
"""What an item and its event weigh beside their texts."""
_ENTRY_BYTES = 200
"""What an entry of a list weighs, roughly: a content block, a tool call chunk."""

NextId = Callable[[], bytes]


class Copy:
    """A pydantic object's fields at one moment, its lists and dictionaries copied: a chunk, which may grow later."""

    __slots__ = ("extra", "fields", "kind", "size")

    def __init__(self, given: Any) -> None:
        self.kind = type(given)
        self.extra = given.__pydantic_extra__
        self.fields = fields = given.__dict__.copy()
        size = 0
        for name, value in fields.items():
            kind = type(value)
            if kind is str:
                size += len(value)
            elif not value:
                continue
            elif kind is list:
                fields[name] = [item.copy() if type(item) is dict else item for item in value]
                size += _ENTRY_BYTES * len(value)
            elif kind is dict:
                fields[name] = value.copy()
        self.size = size

    def made(self) -> object:
        """An object with these fields, made as pydantic makes copies: nothing is validated again."""
        made: object = object.__new__(self.kind)
        object.__setattr__(made, "__dict__", self.fields)
        object.__setattr__(made, "__pydantic_extra__", self.extra)
        object.__setattr__(made, "__pydantic_fields_set__", set(self.fields))
        object.__setattr__(made, "__pydantic_private__", None)
        return made


class Told:
    """An event of version v2 whose data are bytes already."""

    __slots__ = ("arrived_at", "data", "kind", "name", "run", "size", "tail")

    def __init__(
        self, run: Run, kind: str, data: bytes, arrived_at: int, *, name: str | None = None, tail: bytes = b""
    ) -> None:
        """`name` and `tail`: where the event says other ones than its run."""
        self.run = run
        self.kind = kind
        self.data = data
        self.arrived_at = arrived_at
        self.name = name
        self.tail = tail
        self.size = _ITEM_BYTES + len(data)

    def events(self, stream: bytes, next_id: NextId) -> Iterable[NewEvent]:
        body = b'{"event":%b,"data":%b%b' % (encode(self.kind), self.data, self.tail or self.run.tail)
        yield _of_run(self.run, V2, self.kind, body, self.arrived_at, next_id, self.name)


class Streamed:
    """A chunk of a model's; what it is in JSON is worked out on the writer's thread."""

    __slots__ = ("arrived_at", "chunk", "run", "size")

    def __init__(self, run: Run, chunk: Copy | str | list[Any], arrived_at: int) -> None:
        self.run = run
        self.chunk = chunk
        self.arrived_at = arrived_at
        self.size = _ITEM_BYTES + (chunk.size if type(chunk) is Copy else _ENTRY_BYTES)

    def events(self, stream: bytes, next_id: NextId) -> Iterable[NewEvent]:
        kind = f"on_{self.run.kind}_stream"
        body = b'{"event":"%b","data":{"chunk":%b}%b' % (kind.encode(), encode(self._made()), self.run.tail)
        yield _of_run(self.run, V2, kind, body, self.arrived_at, next_id)

    def _made(self) -> object:
        """The chunk that LangChain's own stream has: of a chat model the message."""
        if isinstance(self.chunk, Copy):
            return self.chunk.made()
        # Not at the top: this module may be imported while LangChain's are.
        from langchain_core.messages import AIMessageChunk
        from langchain_core.outputs import GenerationChunk

        if self.run.kind == "chat_model":
            return AIMessageChunk(content=self.chunk)
        return GenerationChunk(text=self.chunk if isinstance(self.chunk, str) else "")


class Part:
    """An event of version v3 that a model's run calls back with. The run's id is added, as JavaScript's have it."""

    __slots__ = ("arrived_at", "part", "run", "size")

    def __init__(self, run: Run, part: dict[str, Any], arrived_at: int) -> None:
        self.run = run
        self.part = {name: value.copy() if type(value) is dict else value for name, value in part.items()}
        self.arrived_at = arrived_at
        self.size = _ITEM_BYTES

    def events(self, stream: bytes, next_id: NextId) -> Iterable[NewEvent]:
        kind = self.part.get("event")
        body = encode({**self.part, "run_id": self.run.run_id})
        yield _of_run(self.run, V3, kind if isinstance(kind, str) else "unknown", body, self.arrived_at, next_id)


class Passed:
    """An event that a program read from `astream_events`: bytes already, or with a chunk that was copied."""

    __slots__ = ("arrived_at", "body", "chunk", "dialect", "size")

    def __init__(self, dialect: str, body: bytes | dict[str, Any], chunk: Copy | None, arrived_at: int) -> None:
        self.dialect = dialect
        self.body = body
        self.chunk = chunk
        self.arrived_at = arrived_at
        self.size = _ITEM_BYTES + (len(body) if isinstance(body, bytes) else 0) + (chunk.size if chunk else 0)

    def events(self, stream: bytes, next_id: NextId) -> Iterable[NewEvent]:
        body = self.body
        if not isinstance(body, bytes):
            body = encode(
                body if self.chunk is None else {**body, "data": {**body["data"], "chunk": self.chunk.made()}}
            )
        dialect = dialects.get(self.dialect)
        envelope = dialect.envelope(jsontext.decode(body), None)
        yield NewEvent(
            event_id=next_id(),
            dialect=self.dialect,
            layer=dialect.layer,
            kind=envelope.kind,
            body=body,
            framing=_FRAMING,
            arrived_at=self.arrived_at,
            run_id=envelope.run_id,
            parent_run_id=envelope.parent_run_id,
            name=envelope.name,
            occurred_at=envelope.occurred_at,
        )


def _of_run(
    run: Run, dialect: str, kind: str, body: bytes, arrived_at: int, next_id: NextId, name: str | None = None
) -> NewEvent:
    return NewEvent(
        event_id=next_id(),
        dialect=dialect,
        layer="framework",
        kind=jsontext.clean(kind),
        body=body,
        framing=_FRAMING,
        arrived_at=arrived_at,
        run_id=run.run_id,
        parent_run_id=run.parents[-1] if run.parents else None,
        name=jsontext.cleaned(run.name if name is None else name),
    )
