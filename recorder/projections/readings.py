"""The readings of gathering: which there are, how one begins, and what each makes of a message's calls."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal, Protocol

from recorder.deltas import Runtime
from recorder.events import Layer
from recorder.projections.gather import Entry
from recorder.projections.langchain_gather import LangChainGather, chunks_of, tool_calls_of
from recorder.projections.langchainjs_gather import LangChainJsGather
from recorder.projections.langchainjs_partial_json import LangChainJsJson
from recorder.projections.langchainjs_partial_json import parse_partial as parse_partial_of_javascript
from recorder.projections.partial_json import Change, Invalid, Json, PartialJson, parse_partial
from recorder.projections.wire_gather import WireGather

Gathering = Literal["default", "wire", "langchain", "langchainjs"]
"""Which reading gathers the calls; `default` is `wire` for the wire, for LangChain's events that of its language."""
Gathered = WireGather | LangChainGather | LangChainJsGather
Calls = list[dict[str, Any]]


class JsonReader(Protocol):
    """Reads arguments while they grow."""

    def feed(self, text: str) -> None: ...

    @property
    def value(self) -> Json | Invalid: ...

    def changes(self) -> list[Change]: ...


def begin(gathering: Gathering, layer: Layer, runtime: Runtime) -> Gathered:
    """The gathering of a message that begins, `runtime` being the LangChain that its events come from."""
    if gathering == "default":
        gathering = "wire" if layer == "wire" else "langchainjs" if runtime == "javascript" else "langchain"
    match gathering:
        case "wire":
            return WireGather()
        case "langchain":
            return LangChainGather()
    return LangChainJsGather()


def name_of(gathered: Gathered) -> str:
    """The reading's name, as `--gather` takes it."""
    match gathered:
        case WireGather():
            return "wire"
        case LangChainGather():
            return "langchain"
        case LangChainJsGather():
            return "langchainjs"


def tool_calls(gathered: Gathered) -> tuple[Calls, Calls]:
    """`tool_calls` and `invalid_tool_calls`, with LangChain's fields: calls of the client's tools."""
    if isinstance(gathered, LangChainJsGather):
        return gathered.tool_calls()
    return tool_calls_of(_of_client(gathered.entries))


def tool_call_chunks(gathered: Gathered) -> Calls:
    """`tool_call_chunks`, with LangChain's fields."""
    if isinstance(gathered, LangChainJsGather):
        return gathered.tool_call_chunks()
    return chunks_of(_of_client(gathered.entries))


def value_of(gathered: Gathered, args: str) -> Json | Invalid:
    """What the arguments of a call are so far; none at all are `{}`."""
    if isinstance(gathered, LangChainJsGather):
        return parse_partial_of_javascript(args, {})
    return parse_partial(args) if args else {}


def reader_for(gathered: Gathered) -> JsonReader:
    """A reader of a call's arguments, which gives `value_of` once there are some."""
    return LangChainJsJson(blank={}) if isinstance(gathered, LangChainJsGather) else PartialJson()


def _of_client(entries: Iterable[Entry]) -> list[Entry]:
    return [entry for entry in entries if not entry.legacy and entry.executor == "client"]
