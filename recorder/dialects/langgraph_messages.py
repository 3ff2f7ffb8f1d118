"""Which message a streamed piece belongs to, where a stream says it in no word of its own, and when a message is over.

A piece has an id and the task of the graph that streams it. The id may be a provider's in a message's first chunk and
the run's own (`lc_run--…`) in those after it; some have none. A message is over once a node's output or a state holds
the whole of it, or once its graph has gone on to another step: steps are barriers (langgraph's `Pregel`).
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Any
from zlib import crc32

from msgspec import Struct, field

from recorder.deltas import MessageClosed, MessageStarted, RunEnded, RunStarted
from recorder.dialects.frames import Deltas, finding
from recorder.dialects.langchain_model import ModelRun, runtime_of
from recorder.dialects.langgraph_parts import Part, task_of
from recorder.dialects.values import cleaned, int_of, list_of, text_of

MOST_REMEMBERED = 256
"""Ids that are remembered beside those that a state lists."""
_MOST_LISTED = 16
"""Graphs of which the last state's ids are remembered."""
_RUNS_OWN = re.compile(r"(?:lc_run|run)--?([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})(?:-\d+)?")


def _digest(text: str, before: int) -> int:
    return crc32(text.encode("utf-8", "surrogatepass"), before)


class Place(Struct, frozen=True):
    """Where in a run of graphs something is streamed."""

    task: str | None = None
    """The id of the task (one execution of one node), where it is said."""
    graph: str = ""
    """The namespace of the graph that the task is in; empty for the root."""
    step: int | None = None
    node: str | None = None

    def is_same_task(self, other: Place) -> bool:
        if self.task is not None or other.task is not None:
            return self.task == other.task
        return (self.graph, self.step, self.node) == (other.graph, other.step, other.node)

    def holds(self, other: Place) -> bool:
        """Whether the other place is in a graph that a node of this graph calls."""
        return other.graph != self.graph and other.graph.startswith(f"{self.graph}|" if self.graph else "")


class Told(Struct):
    """A text that grows, by its length and its CRC-32: enough to tell whether it is the beginning of another one."""

    length: int = 0
    digest: int = 0

    def add(self, text: str) -> None:
        self.length += len(text)
        self.digest = _digest(text, self.digest)

    def begins(self, whole: str) -> bool:
        """Whether the other text begins with this one."""
        return len(whole) >= self.length and _digest(whole[: self.length], 0) == self.digest


class OpenBlock(Struct):
    """What must be remembered of an open content block of v3."""

    kind: str
    text: Told = field(default_factory=Told)
    """What came of its text, or of its call's arguments."""
    streamed: bool = True
    """False for a call that comes whole: its start has no arguments yet."""


class OpenMessage(Struct):
    """An AI message that is being streamed."""

    run_id: str
    place: Place
    ids: list[str]
    """The ids under which its pieces came."""
    run: ModelRun = field(default_factory=ModelRun)
    blocks: dict[str, OpenBlock] = field(default_factory=dict)
    """Of a message of version v3."""
    snapshots: bool = False
    """It comes as it is so far, each time (`langgraph_snapshots`); then the fields below count."""
    text: Told = field(default_factory=Told)
    calls: int = 0
    """How many calls of it were told."""
    rest_told: bool = False

    @property
    def whole(self) -> bool:
        """Whether it was said that nothing more will come."""
        return self.run.last or self.run.finished


def drop_oldest(remembered: dict[str, Any], most: int) -> None:
    """Forgets the first entry where there is one too many."""
    if len(remembered) > most:
        del remembered[next(iter(remembered))]


class Messages(Struct):
    """The messages that are open, and the ids of those that are known."""

    open: list[OpenMessage] = field(default_factory=list)
    recent: dict[str, int] = field(default_factory=dict)
    """Ids that were seen lately, the oldest first, and how many messages were streamed under each."""
    listed: dict[str, dict[str, bool]] = field(default_factory=dict)
    """The ids in the last state of each graph, by its namespace."""
    ignored: dict[str, bool] = field(default_factory=dict)
    """Streams of v3 that bring no answer, or one that is known, under what tells their events."""
    nameless: int = 0
    """How many messages without an id were opened."""

    def knows(self, id: str) -> bool:
        """Whether a message of that id was there before."""
        return id in self.recent or any(id in ids for ids in self.listed.values())

    def remember(self, id: str, *, streamed: bool = False) -> None:
        self.recent[id] = self.recent.pop(id, 0) + streamed
        drop_oldest(self.recent, MOST_REMEMBERED)

    def list_state(self, graph: str, ids: Iterable[str]) -> None:
        """A graph's whole state has the messages of these ids."""
        self.listed.pop(graph, None)
        self.listed[graph] = dict.fromkeys(ids, True)
        drop_oldest(self.listed, _MOST_LISTED)

    def ignore(self, key: str) -> None:
        self.ignored[key] = True
        drop_oldest(self.ignored, MOST_REMEMBERED)

    def by_id(self, id: str | None) -> OpenMessage | None:
        """The open message of which a piece had that id."""
        return next((message for message in self.open if id in message.ids), None) if id else None

    def of_chunk(self, id: str | None, place: Place) -> OpenMessage | None:
        """The open message that a chunk belongs to, by its id and its task; None where it opens one."""
        if (found := self.by_id(id)) is not None:
            return found
        here = [message for message in self.open if message.place.is_same_task(place) and not message.run.last]
        if id is None:
            return here[-1] if here else None
        if run_of_id(id) is None:
            return None
        # Chunks after the first have the run's own id where the first one had the provider's.
        return next((each for each in here if not any(run_of_id(known) for known in each.ids)), None)

    def without_id(self, graph: str) -> OpenMessage | None:
        """The first open message of a graph that has no id: what is whole may be it."""
        return next((message for message in self.open if message.place.graph == graph and not message.ids), None)

    def begin(self, place: Place, id: str | None, run_id: str | None = None) -> OpenMessage:
        """Opens a message. Its run is the model's where that is said, else it is named after the message."""
        times = 1
        if id is not None:
            self.remember(id, streamed=True)
            times = self.recent[id]
        else:
            self.nameless += 1
        own = run_id or run_of_id(id) or id or f"{place.task or place.node or 'message'}#{self.nameless}"
        opened = OpenMessage(own if times == 1 else f"{own}#{times}", place, [] if id is None else [id])
        self.open.append(opened)
        return opened

    def over(self, place: Place) -> list[OpenMessage]:
        """The open messages to which nothing can come where this place streams: those of the graph's other steps.

        And of the graphs that it calls what is whole: it stays open only to be compared with its restatement.
        """
        return [
            message
            for message in self.open
            if (
                message.place.graph == place.graph
                and None not in (place.step, message.place.step)
                and message.place.step != place.step
            )
            or (message.whole and place.holds(message.place))
        ]

    def in_graph(self, graph: str) -> list[OpenMessage]:
        """The open messages of a graph, and of those that it calls."""
        place = Place(graph=graph)
        return [each for each in self.open if each.place.graph == graph or place.holds(each.place)]


def place_of(part: Part, metadata: dict[str, Any]) -> Place:
    """Where the piece of a message is streamed: what its metadata say, else the namespace that the stream gives."""
    said = cleaned(metadata.get("langgraph_checkpoint_ns")) or cleaned(metadata.get("checkpoint_ns"))
    segments = said.split("|") if said else list(part.namespace)
    step, node = int_of(metadata.get("langgraph_step")), cleaned(metadata.get("langgraph_node"))
    task = task_of(segments[-1]) if segments else None
    return Place(task=task, graph="|".join(segments[:-1]), step=step, node=node)


def run_of_id(id: str | None) -> str | None:
    """The run's id in a message's id that LangChain gave (`lc_run--<run>`, `run-<run>`, `…-0`); None in any other."""
    found = _RUNS_OWN.fullmatch(id) if id is not None else None
    return found[1] if found is not None else None


def start(message: OpenMessage, metadata: dict[str, Any], out: Deltas) -> None:
    """Says that a message, and the model run that gives it, begins."""
    message.run.learn(runtime_of(metadata, {}))
    tags = [tag for tag in list_of(metadata.get("tags")) if isinstance(tag, str)]
    out.append(
        RunStarted(
            run_id=message.run_id,
            kind="model",
            parent_run_id=message.place.task,
            tags=tags or None,
            metadata=metadata or None,
        )
    )
    model = text_of(metadata.get("ls_model_name")) or text_of(metadata.get("model"))
    out.append(MessageStarted(run_id=message.run_id, role="ai", model=cleaned(model)))


def close(messages: Messages, message: OpenMessage, out: Deltas, *, error: str | None = None) -> None:
    """Nothing more will come of a message: it is cut off if nothing said that it was whole, or its run failed."""
    messages.open.remove(message)
    if error is not None:
        out.append(RunEnded(run_id=message.run_id, kind="model", status="error", error=error))
    elif message.whole:
        out.append(MessageClosed(run_id=message.run_id))
        out.append(RunEnded(run_id=message.run_id, kind="model"))
    else:
        detail = "the graph went on, and nothing said that the message was finished"
        out.append(finding(message.run_id, "missing-terminator", detail, "warning"))
        out.append(RunEnded(run_id=message.run_id, kind="model", terminated=False))


def close_all(messages: Messages, over: list[OpenMessage], out: Deltas, *, error: str | None = None) -> None:
    """As `close`, for each of them."""
    for message in over:
        close(messages, message, out, error=error)


def pass_step(messages: Messages, place: Place, out: Deltas) -> None:
    """Something is streamed there: what was streamed before in other steps is over."""
    close_all(messages, messages.over(place), out)
