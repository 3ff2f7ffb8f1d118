"""What a recording should look like, where nothing in it was recognised."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from recorder.dialects.base import PARTIAL

if TYPE_CHECKING:
    from recorder.capture import Captured
    from recorder.ledger import Ledger

_OTHERS = """
SELECT count(*), coalesce(sum(
    CASE WHEN rule IN ('unknown-frame', 'partial-frame', 'damaged-frame', 'not-json') THEN 0 ELSE 1 END
), 0)
FROM findings WHERE stream = :stream
"""
_BEGINNING = """
SELECT c.format, e.kind, substr(e.body, 1, 4096) FROM events e JOIN log_streams s ON s.name = e.stream
LEFT JOIN log_captures c ON c.stream_id = s.stream_id AND c.capture = 1
WHERE e.stream = :stream AND length(e.body) > 0 ORDER BY e.seq LIMIT 1
"""
_PYTHON = re.compile(rb"""(?:data:\s*)?[\[{(]\s*(?:'|\{'|\w+\()""")
_SECOND_DATA = re.compile(rb"\n(?:data:)?[ \t]*[\[{]")


def advice(ledger: Ledger, captured: Captured, dialect: str | None) -> str | None:
    """What is expected in place of what was seen; None where something was recognised, or nothing stored.

    `dialect`: the one that its frames were said to be in.
    """
    from recorder.ledger import questions

    named = {"stream": captured.stream}
    if captured.events == 0 or questions.holds_anything(ledger.store, captured.stream):
        return None
    findings, others = _row(ledger, _OTHERS, named)
    if not findings or others:
        return None
    format, kind, body = _row(ledger, _BEGINNING, named)
    return _by_its_beginning(format, kind, bytes(body).lstrip(), dialect)


def _by_its_beginning(format: str | None, kind: str, body: bytes, dialect: str | None) -> str:
    if _PYTHON.match(body):
        return "Python dicts are no JSON: write each event by json.dumps"
    if format == "sse" and _SECOND_DATA.search(body):
        return "SSE frames end with a blank line, and here several data lines are one frame"
    if kind == PARTIAL:
        return "it breaks off within its first frame"
    if dialect is not None and body.startswith((b"{", b"[")):
        return f"its frames are not in {dialect}; capture it again without --dialect, under another --name"
    if body.startswith(b"["):
        return "a JSON array must be one object a line"
    if body.startswith(b"{"):
        return "it is JSON, in no dialect that rec knows (rec capture --help names them)"
    return "its frames are no JSON"


def _row(ledger: Ledger, query: str, parameters: Mapping[str, object]) -> tuple[Any, ...]:
    return next(ledger.sql(query, parameters)[1])
