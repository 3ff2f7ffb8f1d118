"""What the faces ask of the read model in SQL: one text that both databases run.

Postgres wants to know the type of a parameter that is compared with nothing: hence the CASTs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from recorder.store import Store

Rows = tuple[list[str], Iterator[tuple[Any, ...]]]
"""Column names, and rows as they are read."""

_STREAMS = """
SELECT s.stream, s.last_seq AS events,
       (SELECT count(*) FROM tool_calls c WHERE c.stream = s.stream AND c.source = 'stream') AS calls,
       (SELECT count(*) FROM findings f WHERE f.stream = s.stream) AS findings,
       (SELECT m.model FROM messages m WHERE m.stream = s.stream AND m.model IS NOT NULL
        ORDER BY m.first_seq LIMIT 1) AS model,
       s.created_at, s.parent
FROM streams s
WHERE (CAST(:tool AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM tool_calls c WHERE c.stream = s.stream AND c.name = :tool))
  AND (CAST(:model AS TEXT) IS NULL OR EXISTS (SELECT 1 FROM messages m WHERE m.stream = s.stream AND m.model = :model))
  AND (CAST(:since AS TEXT) IS NULL OR s.created_at >= :since)
ORDER BY s.created_at, s.stream
"""
_EVENTS = """
SELECT seq, kind, dialect, layer, run_id, name, occurred_at, arrived_at, meta, length(body) AS bytes, text
FROM events WHERE stream = :stream AND seq BETWEEN :first AND :last ORDER BY seq
"""
_EVENTS_IN_BRIEF = """
SELECT seq, kind, name, length(body) AS bytes,
       substr(
           coalesce(meta || ' ', '') || coalesce(text, CASE erased WHEN 1 THEN '(erased)' ELSE '(binary)' END), 1, 400
       ) AS text
FROM events WHERE stream = :stream AND seq BETWEEN :first AND :last ORDER BY seq
"""
_FINDINGS = """
SELECT rule, count(*) FROM findings WHERE stream = :stream AND seq > :seq GROUP BY rule ORDER BY min(seq), rule
"""
_FIRST_ERROR = "SELECT min(seq) FROM findings WHERE stream = :stream AND severity = 'error'"
_CALL = """
SELECT first_seq, last_seq FROM tool_calls_all WHERE stream = :stream AND call_id = :call ORDER BY first_seq LIMIT 1
"""
_GATHERED = """
SELECT EXISTS (SELECT 1 FROM messages_all WHERE stream = :stream)
    OR EXISTS (SELECT 1 FROM tool_calls_all WHERE stream = :stream)
    OR EXISTS (SELECT 1 FROM tool_messages WHERE stream = :stream)
    OR EXISTS (SELECT 1 FROM runs WHERE stream = :stream AND kind <> 'exchange')
"""


def streams(store: Store, tool: str | None, model: str | None, since: str | None) -> Rows:
    """The streams for a list: those with a call of this tool, an answer of this model, made at or after this time."""
    return store.query(_STREAMS, {"tool": tool, "model": model, "since": since})


def events(store: Store, stream: str, first: int, last: int, *, brief: bool) -> Rows:
    """Events for a table. `brief`: the start of each, behind the URL or status of an exchange's parts."""
    return store.query(_EVENTS_IN_BRIEF if brief else _EVENTS, {"stream": stream, "first": first, "last": last})


def findings_after(store: Store, stream: str, seq: int) -> list[tuple[str, int]]:
    """Rules and how often each was found behind event `seq`, in the order in which they first were."""
    return [(rule, count) for rule, count in store.query(_FINDINGS, {"stream": stream, "seq": seq})[1]]


def first_error(store: Store, stream: str) -> int | None:
    """The event of the first finding of severity error, None where there is none."""
    found = _one(store, _FIRST_ERROR, {"stream": stream})
    return None if found is None or found[0] is None else int(found[0])


def events_of_call(store: Store, stream: str, call_id: str) -> tuple[int, int] | None:
    """The first and last event of the first call with this id, None where there is none."""
    found = _one(store, _CALL, {"stream": stream, "call": call_id})
    return None if found is None else (found[0], found[1])


def holds_anything(store: Store, stream: str) -> bool:
    """Whether a message, a call, a tool's answer or a run (other than an exchange) was read in the stream."""
    found = _one(store, _GATHERED, {"stream": stream})
    return found is not None and bool(found[0])


def _one(store: Store, query: str, parameters: Mapping[str, object]) -> tuple[Any, ...] | None:
    return next(store.query(query, parameters)[1], None)
