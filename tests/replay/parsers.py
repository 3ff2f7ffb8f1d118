"""LangChain's JSON output parsers, in both languages, beside this project: one `function_call`, cut into chunks."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from hypothesis import strategies as st
from langchain_core.messages import AIMessageChunk
from langchain_core.output_parsers.openai_functions import JsonOutputFunctionsParser

from recorder.events import Event
from recorder.ledger.projector import Projector
from recorder.projections.readings import Gathering
from recorder.replay.parsed import ParsedCollector
from tests.javascript.library import Library
from tests.projections.json_texts import OBJECTS, TEXTS
from tests.streams import events_of

RUN = "run"
LANGUAGES: dict[str, tuple[list[str], Gathering]] = {
    "python": (["langchain", "schema", "messages", "AIMessageChunk"], "langchain"),
    "javascript": (["langchain_core", "messages", "AIMessageChunk"], "langchainjs"),
}


@st.composite
def _streams(draw: st.DrawFn) -> list[dict[str, Any]]:
    """The `function_call` of each chunk: the name first, then its arguments, cut anywhere."""
    text = draw(st.one_of(OBJECTS, OBJECTS, OBJECTS, TEXTS))[:200]
    cuts = sorted(draw(st.lists(st.integers(0, len(text)), max_size=12)))
    pieces = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    first = draw(st.sampled_from([{"name": "f", "arguments": ""}, {"name": "f"}, {"name": "", "arguments": pieces[0]}]))
    return [first, *({"arguments": piece} for piece in (pieces if first.get("name") else pieces[1:]))]


STREAMS = _streams()


def parser_difference(node: Library, calls: list[dict[str, Any]]) -> str | None:
    """Streams the chunks through the parsers and through this project; gives the first difference in words."""
    for whole in (False, True):
        for diff in (False, True):
            options = {"diff": diff, "argsOnly": not whole}
            chunks = [{"content": "", "additional_kwargs": {"function_call": call}} for call in calls]
            wanted = {
                "python": from_python(calls, diff=diff, whole=whole),
                "javascript": node.ask("parser", chunks=chunks, options=options),
            }
            for language, given in wanted.items():
                ours = from_here(function_call_events(calls, language), diff=diff, whole=whole)[-len(calls) :]
                if canonical(ours) != canonical(given):
                    return f"{language}, {options}: the parser gives {given!r}, here {ours!r}"
    return None


def from_python(calls: list[dict[str, Any]], *, diff: bool, whole: bool) -> list[list[Any]]:
    """What the parser of langchain-core yields for each chunk. Where it breaks, it yields nothing more."""
    given: list[list[Any]] = []

    def source() -> Iterator[AIMessageChunk]:
        for call in calls:
            given.append([])
            yield AIMessageChunk(content="", additional_kwargs={"function_call": call})

    for part in JsonOutputFunctionsParser(diff=diff, args_only=not whole).transform(source()):
        given[-1].append(json.loads(json.dumps(part)))
    return given


def from_here(
    events: list[Event], gathering: Gathering = "default", *, diff: bool, whole: bool = False
) -> list[list[Any]]:
    """What this project gives out at each event, of all calls."""
    collector = ParsedCollector(whole=whole)
    projector = Projector(gathering=gathering, observer=collector)
    given = []
    for event in events:
        projector.advance([event])
        said = [parsed.patch if diff else parsed.value for parsed in collector.take()]
        given.append([part for part in said if part is not None])
    return given


def function_call_events(calls: list[dict[str, Any]], language: str) -> list[Event]:
    """A recording of LangChain's events in which these are streamed, a chunk each."""
    chunks = [
        {
            "lc": 1,
            "type": "constructor",
            "id": LANGUAGES[language][0],
            "kwargs": {"content": "", "additional_kwargs": {"function_call": call}, "response_metadata": {}},
        }
        for call in calls
    ]
    events = [{"event": "on_chat_model_stream", "run_id": RUN, "data": {"chunk": chunk}} for chunk in chunks]
    return events_of("".join(json.dumps(event) + "\n" for event in events).encode())


def canonical(given: list[list[Any]]) -> str:
    """A text under which equal outputs are equal: 1 and true differ, as do two orders of operations; NaN is itself."""
    return json.dumps(given, sort_keys=True)
