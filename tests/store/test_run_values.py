"""What each run was given and gave back, in SQL: every kind of event of LangChain's table, from the library itself."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import recorder
from recorder.capture import capture_file
from recorder.ledger import Ledger
from tests.store.made import raw

live_agent = pytest.importorskip("tests.live_agent")
callbacks = pytest.importorskip("langchain_core.callbacks")
documents = pytest.importorskip("langchain_core.documents")
models = pytest.importorskip("langchain_core.language_models")
parsers = pytest.importorskip("langchain_core.output_parsers")
prompts = pytest.importorskip("langchain_core.prompts")
retrievers = pytest.importorskip("langchain_core.retrievers")
runnables = pytest.importorskip("langchain_core.runnables")

DOCUMENT = "Almería: 24 degrees"


class Shelf(retrievers.BaseRetriever):  # type: ignore[name-defined, misc]
    def _get_relevant_documents(self, query: str, *, run_manager: Any) -> Any:
        return [documents.Document(DOCUMENT, id="d1")]


async def gather(given: Any, config: Any) -> Any:
    await callbacks.adispatch_custom_event("progress", {"percent": 5}, config=config)
    found = await Shelf().ainvoke(given["question"], config=config)
    await live_agent.add.ainvoke({"a": 1, "b": 2}, config=config)
    await models.FakeListLLM(responses=["completed"]).ainvoke("complete this", config=config)
    return {"question": given["question"], "context": found[0].page_content}


CHAIN = (
    runnables.RunnableLambda(gather).with_config(run_name="gather")
    | prompts.ChatPromptTemplate.from_messages([("system", "{context}"), ("human", "{question}")])
    | models.FakeListChatModel(responses=["Warm."])
    | parsers.StrOutputParser()
)


def captured(ledger: Ledger, dump: bytes, folder: Path) -> None:
    path = folder / "all.jsonl"
    path.write_bytes(dump)
    capture_file(ledger, path)


def runs(ledger: Ledger) -> dict[str, tuple[Any, Any]]:
    """Input and output of each run, as values, by `kind name`."""
    _, rows = ledger.sql("SELECT kind, name, input, output FROM runs WHERE status = 'ok'")
    return {f"{kind} {name}": (value_of(given), value_of(gave)) for kind, name, given, gave in rows}


def value_of(text: str | None) -> Any:
    return None if text is None else json.loads(text)


@pytest.mark.parametrize("version", ["v1", "v2"])
def test_every_kind_of_run_tells_what_it_was_given_and_gave(database: str, tmp_path: Path, version: str) -> None:
    dump = live_agent.dumped(CHAIN.astream_events({"question": "How warm?"}, version=version))
    with recorder.open(database) as ledger:
        captured(ledger, dump, tmp_path)
        found = runs(ledger)
        _, custom = ledger.sql(
            "SELECT r.name, e.name FROM events e JOIN runs r ON r.stream = e.stream AND r.run_id = e.run_id"
            " WHERE e.kind = 'on_custom_event'"
        )
        assert list(custom) == ([("gather", "progress")] if version == "v2" else [])
        _, places = ledger.sql("SELECT kind, input_seq = first_seq, input_seq = last_seq FROM runs")
        where = {kind: (bool(at_start), bool(at_end)) for kind, at_start, at_end in places}
        assert (where["retriever"], where["parser"]) == ((True, False), (False, True))
    given = {"question": "How warm?"}
    prepared = {**given, "context": DOCUMENT}
    assert found["chain RunnableSequence"] == (given, "Warm.")
    assert found["chain gather"] == (given, prepared)
    query, retrieved = found["retriever Shelf"]
    assert query == {"query": "How warm?"}
    listed = retrieved["documents"] if version == "v1" else retrieved
    assert [each["kwargs"]["page_content"] for each in listed] == [DOCUMENT]
    assert found["tool add"] == ({"a": 1, "b": 2}, 3)
    prompt, completion = found["model FakeListLLM"]
    assert prompt == {"prompts": ["complete this"]}
    assert completion["generations"][0][0]["text"] == "completed"
    assert found["prompt ChatPromptTemplate"][0] == prepared
    assert [each["kwargs"]["content"] for each in found["prompt ChatPromptTemplate"][1]["kwargs"]["messages"]] == [
        DOCUMENT,
        "How warm?",
    ]
    asked, answered = found["model FakeListChatModel"]
    assert [each["kwargs"]["content"] for each in asked["messages"][0]] == [DOCUMENT, "How warm?"]
    assert "Warm." in json.dumps(answered)
    parsed, text = found["parser StrOutputParser"]
    assert (parsed["kwargs"]["content"], text) == ("Warm.", "Warm.")
    assert len(found) == 8


def test_tasks_and_tools_of_a_graph_tell_it_too(database: str, tmp_path: Path) -> None:
    stream = live_agent.agent().astream(live_agent.question(), stream_mode=["tasks", "tools"], subgraphs=True)
    with recorder.open(database) as ledger:
        captured(ledger, live_agent.dumped(stream), tmp_path)
        found = runs(ledger)
    assert found["tool add"][0] == {"a": 1, "b": 2}
    assert found["tool add"][1]["kwargs"]["content"] == "3"
    assert [len(values["messages"]) for values in found["chain tools"]] == [2, 2]


WAYS: dict[str, tuple[Any, Any]] = {
    '{"event": "on_chain_start", "run_id": "r", "name": "n", "data": {"input": %s}}': ("input", "$.data.input"),
    '{"event": "events", "data": {"event": "on_chain_end", "run_id": "r", "name": "n", "data": {"output": %s}}}': (
        "output",
        "$.data.data.output",
    ),
    '["tasks", {"id": "r", "name": "n", "triggers": [], "input": %s}]': ("input", "$[1].input"),
    '[[], "debug", {"type": "task", "payload": {"id": "r", "name": "n", "input": %s}}]': (
        "input",
        "$[2].payload.input",
    ),
}


@pytest.mark.parametrize("template", WAYS)
@pytest.mark.parametrize("value", ['"text"', "null", "[1, [2]]", '{"a": "\\u00ed"}'])
def test_a_value_is_json_wherever_it_stands(database: str, tmp_path: Path, template: str, value: str) -> None:
    column, _ = WAYS[template]
    with recorder.open(database) as ledger:
        captured(ledger, (template % value).encode() + b"\n", tmp_path)
        _, rows = ledger.sql(f"SELECT {column}, {column}_seq FROM runs WHERE run_id = 'r'")
        ((text, seq),) = rows
        assert (json.loads(text), seq) == (json.loads(value), 1)


def test_half_of_a_surrogate_pair_is_no_error(database: str, tmp_path: Path) -> None:
    """Postgres reads no JSON that has one."""
    with recorder.open(database) as ledger:
        captured(ledger, rb'{"event": "on_chain_start", "run_id": "r", "data": {"input": "\ud83d"}}' + b"\n", tmp_path)
        _, rows = ledger.sql("SELECT input FROM runs")
        assert list(rows) == [(r'"\ud83d"' if "://" not in database else None,)]


@pytest.mark.parametrize(
    "body",
    [
        b'{"event": "on_chain_start", "run_id": "r", "data": {"input": NaN}}',
        b'{"event": "on_chain_start", "run_id": "r", "data": {"input": "\xff"}}',
    ],
    ids=["no JSON", "no text"],
)
def test_a_body_that_is_none_shows_no_value_and_no_error(database: str, tmp_path: Path, body: bytes) -> None:
    with recorder.open(database) as ledger:
        captured(ledger, body + b"\n", tmp_path)
        _, rows = ledger.sql("SELECT input, output, input_seq, output_seq FROM runs")
        assert list(rows) == [(None, None, 1, None)]


def test_values_are_stored_once(path: Path, tmp_path: Path) -> None:
    line = b'{"event": "on_chain_start", "run_id": "r", "data": {"input": "' + b"xyzzy" * 1000 + b'"}}\n'
    with recorder.open(path) as ledger:
        captured(ledger, line, tmp_path)
    with raw(path) as connection:
        assert connection.execute("SELECT input_path FROM rm_runs").fetchall() == [("$.data.input",)]
    assert path.read_bytes().count(b"xyzzy" * 1000) <= 1 + (path.with_suffix(".db-wal").exists())
