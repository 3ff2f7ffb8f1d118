"""`record`: a program reads the same events at the same moments, and they are in the log."""

from __future__ import annotations

import asyncio
import gc
import inspect
import json
import warnings
from collections import Counter
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("langgraph")

from langchain_core.messages import AIMessage, ToolMessage

from recorder.capture.live import langchain
from recorder.capture.live.langchain import handler, record
from recorder.capture.live.values import encode
from recorder.dialects import get
from tests import live_agent
from tests.capture.live.takers import Kept
from tests.live_agent import ANSWER, CALLING, Scripted, finish, piece
from tests.streams import state_of, stored

VERSIONS = ("v1", "v2", "v3")


@pytest.fixture(autouse=True)
def _versions() -> Iterator[None]:
    """Version v1 is deprecated, version v3 is in beta."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def printed(sink: Kept) -> dict[str, Any]:
    return state_of([stored(event, seq) for seq, event in enumerate(sink.events(), 1)])


async def all_of(events: Any) -> list[Any]:
    return [event async for event in events]


def held(state: dict[str, Any]) -> tuple[Any, ...]:
    """What the agent's conversation says, without ids."""
    return (
        [(each["text"], each["tool_calls"], [call["state"] for call in each["calls"]]) for each in state["messages"]],
        [(each["tool_call_id"], each["content"], each["status"]) for each in state["tool_messages"]],
        [(each["call_id"], each["status"]) for each in state["pairings"]],
    )


@pytest.mark.parametrize("agent", [live_agent.agent, live_agent.outer])
@pytest.mark.parametrize("version", VERSIONS)
def test_an_agents_events_are_in_the_log(version: str, agent: Callable[[], Any], tmp_path: Path) -> None:
    sink = Kept()
    seen = asyncio.run(all_of(record(agent().astream_events(live_agent.question(), version=version), sink)))
    dialect = "langchain.v3" if version == "v3" else "langchain.v2"
    assert [event.dialect for event in sink.events()] == [dialect] * len(seen)
    for event in sink.events():
        envelope = get(dialect).envelope(json.loads(event.body), None)
        assert (event.kind, event.run_id, event.name) == (envelope.kind, envelope.run_id, envelope.name)
    state = sink.state(tmp_path)
    assert [finding for finding in state.findings if finding["severity"] != "info"] == []
    answers = (
        [
            ("c_add", "3", "success"),
            ("c_div", state.tool_messages[-1]["content"], "error"),
        ],
        [("c_add", "answered"), ("c_div", "error")],
    )
    messages, *rest = held(
        {"messages": state.messages, "tool_messages": state.tool_messages, "pairings": state.pairings}
    )
    assert tuple(rest) == answers
    assert [text for text, _, _ in messages] == ["Let me see.", "It is 3."]
    assert [(call["id"], call["args"]) for call in messages[0][1]] == [
        ("c_add", {"a": 1, "b": 2}),
        ("c_div", {"a": 1}),
    ]


@pytest.mark.parametrize("version", VERSIONS)
def test_a_models_events_are_in_the_log(version: str) -> None:
    sink = Kept()
    model = Scripted(turns=[CALLING])
    asyncio.run(all_of(record(model.astream_events("q", version=version), sink)))
    (message,) = printed(sink)["messages"]
    assert message["text"] == "Let me see."
    assert [(call["id"], call["value"], call["state"]) for call in message["calls"]] == [
        ("c_add", {"a": 1, "b": 2}, "complete"),
        ("c_div", {"a": 1}, "complete"),
    ]


@pytest.mark.parametrize("sink", [Kept(), None])
def test_the_events_are_the_same_objects_as_soon_as_they_are_there(sink: Kept | None) -> None:
    made = [{"event": "on_chain_start", "run_id": "no id", "data": {}}, object(), None, {"event": 1}, {"type": "event"}]
    log: list[Any] = []

    async def events() -> AsyncIterator[Any]:
        for each in made:
            log.append(("made", each))
            yield each

    async def read() -> None:
        async for each in record(events(), sink):
            log.append(("read", each))

    asyncio.run(read())
    assert [what for what, _ in log] == ["made", "read"] * len(made)
    assert all(own is theirs for (_, own), (_, theirs) in zip(log[::2], log[1::2], strict=True))


def test_an_event_is_fixed_when_it_comes() -> None:
    sink = Kept()
    chunk = piece(0, "{", "c", "f")
    answer = ToolMessage("x", tool_call_id="c")
    run = "01a22e58-4427-741c-9af4-7418805eb1f2"
    given = [
        {"event": "on_chat_model_stream", "run_id": run, "data": {"chunk": chunk}, "metadata": {}},
        {"event": "on_tool_end", "run_id": run, "data": {"output": answer}},
    ]

    async def events() -> AsyncIterator[Any]:
        for each in given:
            yield each

    before = [json.loads(encode(each)) for each in given]
    asyncio.run(all_of(record(events(), sink)))
    chunk.tool_call_chunks[0]["args"] = chunk.id = answer.id = "after"
    given[0]["data"] = {}
    assert sink.bodies() == before


def test_what_the_stream_raises_comes_out_of_it() -> None:
    sink = Kept()
    broken = Scripted(turns=[[piece(0, '{"a": 1', "c1", "add")]], fails=True)
    seen: list[Any] = []

    async def read() -> None:
        async for event in record(broken.astream_events("q", version="v2"), sink):
            seen.append(event)

    with pytest.raises(ValueError, match="lost"):
        asyncio.run(read())
    assert len(sink.items) == len(seen) == 2


def test_closing_closes_the_stream() -> None:
    ended: list[str] = []

    async def events() -> AsyncIterator[int]:
        try:
            yield 1
            yield 2
        except GeneratorExit:
            ended.append("closed")
            raise
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise
        finally:
            ended.append("over")

    async def closed() -> None:
        recorded = record(events(), Kept())
        await anext(recorded)
        await recorded.aclose()
        with pytest.raises(StopAsyncIteration):
            await anext(recorded)

    async def left() -> None:
        async with record(events(), Kept()) as recorded:
            async for _ in recorded:
                break

    async def dropped() -> None:
        # As without the recorder: the loop closes a generator that nobody holds any more.
        async for _ in record(events(), Kept()):
            break
        gc.collect()
        for _ in range(3):
            await asyncio.sleep(0)

    async def unused() -> None:
        await record(events(), Kept()).aclose()

    for case in (closed, left, dropped):
        asyncio.run(case())
        assert ended == ["closed", "over"], case
        ended.clear()
    asyncio.run(unused())
    assert ended == []


def test_a_stream_that_is_dropped_is_closed_though_its_runs_are_remembered() -> None:
    ended: list[str] = []
    sink = Kept()

    async def events() -> AsyncIterator[Any]:
        try:
            yield {"event": "on_chain_start", "run_id": "01a22e58-4427-741c-9af4-7418805eb1f2", "data": {}}
            yield 2
        finally:
            ended.append("over")

    async def dropped() -> None:
        async for _ in record(events(), sink):
            break
        gc.collect()
        for _ in range(3):
            await asyncio.sleep(0)
        assert ended == ["over"]

    asyncio.run(dropped())
    assert len(sink.items) == 1


def test_a_coroutine_that_nobody_wanted_is_closed() -> None:
    async def opening() -> AsyncIterator[int]:
        raise AssertionError

    async def unused(coroutine: Any) -> None:
        await record(coroutine, Kept()).aclose()

    coroutine = opening()
    asyncio.run(unused(coroutine))
    assert inspect.getcoroutinestate(coroutine) == inspect.CORO_CLOSED


def test_a_task_that_is_cancelled_cancels_the_stream() -> None:
    ended: list[str] = []

    async def events() -> AsyncIterator[int]:
        try:
            yield 1
            await asyncio.sleep(60)
        except asyncio.CancelledError:
            ended.append("cancelled")
            raise

    async def main() -> None:
        task = asyncio.create_task(all_of(record(events(), Kept())))
        for _ in range(5):
            await asyncio.sleep(0)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(main())
    assert ended == ["cancelled"]


def test_a_sink_that_fails_harms_nobody() -> None:
    class Broken(Kept):
        def put(self, item: Any) -> None:
            raise RuntimeError("planted")

    sink = Broken()
    seen = asyncio.run(all_of(record(live_agent.agent().astream_events(live_agent.question(), version="v2"), sink)))
    assert len(seen) > 20
    assert {where for where, _ in sink.failures} == {"record"}
    assert len(sink.failures) == len(seen)


@pytest.mark.parametrize("everywhere", [True, False])
@pytest.mark.parametrize("version", VERSIONS)
def test_a_run_that_a_handler_records_is_recorded_once(version: str, everywhere: bool) -> None:
    sink, alone = Kept(), Kept()
    callbacks = [] if everywhere else [handler(sink)]
    if everywhere:
        langchain.register(lambda: sink)
    try:
        given: Any = {"callbacks": callbacks}
        stream = live_agent.outer().astream_events(live_agent.question(), given, version=version)
        asyncio.run(all_of(record(stream, sink)))
    finally:
        langchain.uninstall()
    asyncio.run(all_of(record(live_agent.outer().astream_events(live_agent.question(), version=version), alone)))
    assert held(printed(sink)) == held(printed(alone))
    ends = Counter((event.run_id, event.kind) for event in sink.events() if event.kind.endswith(("_start", "_end")))
    assert {count for (_, kind), count in ends.items() if kind.startswith("on_")} == {1}
    if version == "v2":
        # How many events there are of version v1 depends on when they are read.
        assert Counter(event.kind for event in sink.events()) == Counter(event.kind for event in alone.events())


def test_a_models_v3_events_that_a_handler_records_are_recorded_once() -> None:
    sink = Kept()
    for turn in (CALLING, ANSWER):
        given: Any = {"callbacks": [handler(sink)]}
        stream = Scripted(turns=[turn]).astream_events("q", given, version="v3")
        asyncio.run(all_of(record(stream, sink)))
    kinds = Counter(event.kind for event in sink.events())
    assert kinds["message-start"] == kinds["message-finish"] == 2
    assert [message["text"] for message in printed(sink)["messages"]] == ["Let me see.", "It is 3."]


def test_an_agent_inside_a_tool_reaches_two_readers_and_is_recorded_once() -> None:
    sink = Kept()

    async def inner(question: Any) -> Any:
        stream = Scripted(turns=[[*ANSWER[:-1], finish("stop")]]).astream_events("q", version="v2")
        return [event["event"] async for event in record(stream, sink)][-1]

    from langchain_core.runnables import RunnableLambda

    asyncio.run(all_of(record(RunnableLambda(inner).astream_events("q", version="v2"), sink)))
    kinds = Counter(event.kind for event in sink.events())
    assert kinds["on_chat_model_start"] == kinds["on_chat_model_end"] == 1
    assert [message["text"] for message in printed(sink)["messages"]] == ["It is 3."]


def test_the_state_is_the_graphs_own() -> None:
    sink = Kept()
    stream = record(live_agent.agent().astream_events(live_agent.question(), version="v2"), sink)
    messages = asyncio.run(all_of(stream))[-1]["data"]["output"]["messages"]
    spoken = [message for message in messages if isinstance(message, AIMessage)]
    assert [(each["text"], each["tool_calls"]) for each in printed(sink)["messages"]] == [
        (message.text, message.tool_calls) for message in spoken
    ]
