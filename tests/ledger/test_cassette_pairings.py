"""Pairings across the exchanges of real conversations, against a naive reading of the same requests and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

import recorder
from recorder.capture import capture_file
from recorder.ledger import Ledger
from tests.corpus import needs_corpus
from tests.ledger.logs import VCR
from tests.ledger.naive import Naive

FEWEST = {"chat": 20, "anthropic": 7, "responses": 18, "gemini": 2, "converse": 8}
"""How many results of each API's shape the corpus has, at least."""


@pytest.fixture(scope="module")
def cassettes(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Ledger]:
    with recorder.open(tmp_path_factory.mktemp("cassettes") / "log.db") as ledger:
        for path in VCR:
            capture_file(ledger, path, name=path.name)
        yield ledger


def naive(ledger: Ledger, stream: str) -> Naive:
    found = Naive()
    for event in ledger.events(stream):
        found.read(event)
    return found


def statuses(ledger: Ledger, stream: str) -> dict[str, set[str]]:
    """The statuses of the pairings of each id; a call without an id goes by its name, as in the naive reading, and by
    the id that its client made up for it.
    """
    query = """
        SELECT p.call_id, p.name, t.tool_call_id, p.status FROM pairings p
        LEFT JOIN tool_messages t
            ON t.stream = p.stream AND t.seq = p.answer_seq AND t.name = p.name AND p.call_id IS NULL
        WHERE p.stream = ?
    """
    found: dict[str, set[str]] = {}
    for id, name, made_up, status in ledger.sql(query, (stream,))[1]:
        for key in {id or name, made_up} - {None}:
            found.setdefault(key, set()).add(status)
    return found


@needs_corpus
def test_every_tool_result_has_its_call_or_is_an_orphan(cassettes: Ledger) -> None:
    seen: Counter[str] = Counter()
    for head in cassettes.streams():
        pairings, read = statuses(cassettes, head.name), naive(cassettes, head.name)
        for id, has_call in read.answered.items():
            found = pairings.get(id, set())
            expected = {"answered", "error"} if has_call else {"orphan"}
            assert found & expected, (head.name, id, found)
            assert ("orphan" in found) != has_call, (head.name, id, found)
            seen[read.shapes[id]] += 1
    assert all(seen[shape] >= count for shape, count in FEWEST.items()), seen


@needs_corpus
def test_a_result_that_nobody_sent_answers_no_call(cassettes: Ledger) -> None:
    """The other way round: what is answered from a request was in one."""
    query = """
        SELECT coalesce(tool_call_id, name) FROM tool_messages
        WHERE stream = ? AND source = 'request'
    """
    for head in cassettes.streams():
        told = naive(cassettes, head.name).answered.keys()
        from_requests = {id for (id,) in cassettes.sql(query, (head.name,))[1]}
        assert from_requests == told, head.name


@needs_corpus
def test_a_conversation_sent_again_makes_no_second_answer(cassettes: Ledger) -> None:
    query = """
        SELECT coalesce(tool_call_id, name), count(*) FROM tool_messages
        WHERE stream = ? AND source = 'request' GROUP BY 1
    """
    for head in cassettes.streams():
        assert dict(cassettes.sql(query, (head.name,))[1]) == dict(naive(cassettes, head.name).most), head.name
