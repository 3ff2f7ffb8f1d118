"""Random changes of cassettes and HAR files: of their exchanges, of the answers in these, of any field."""

from __future__ import annotations

import json
import random
from collections.abc import Sequence
from typing import Any

import yaml

from recorder.errors import NotAStream
from recorder.sources import detect
from tests.fuzzing import mutations, values
from tests.fuzzing.mutations import Changed
from tests.fuzzing.recordings import Recording

_MOST_EXCHANGES = 4
_BODIES = (
    *(("response", "body", "string"), ("response", "content"), ("response", "body"), ("response", "content", "text")),
    *(("request", "body"), ("request", "postData", "text")),
)
"""Where the recorders keep bodies."""
_CODED = ("content-encoding", "base64", "parsed_body")
"""What an answer has about it whose body stands for other bytes."""


def changed(rng: random.Random, recording: Recording, others: Sequence[Recording]) -> Changed:
    """The document after one to three random changes."""
    what: list[str] = []
    document = _loaded(recording.data)
    if document is None or rng.random() < 0.15:
        kept = rng.randrange(len(recording.data) + 1)
        return Changed(recording.data[:kept], [f"cut after byte {kept}"])
    exchanges = _exchanges(document)
    start = rng.randrange(len(exchanges)) if exchanges else 0
    exchanges[:] = exchanges[start : start + _MOST_EXCHANGES]
    for _ in range(rng.choice([1, 1, 2, 3])):
        _change(rng, exchanges, others, what)
    return Changed(_written(rng, document, recording.format), what)


def plain_answers(data: bytes) -> list[bytes]:
    """The bodies of a cassette's answers that stand in it as text or bytes, in one place and under no coding."""
    document = _loaded(data)
    answers: list[bytes] = []
    for exchange in [] if _is_har(document) else _exchanges(document):
        found = [body for place in _BODIES[:3] if isinstance(body := _body_at(exchange, place), str | bytes) and body]
        shown = repr(_body_at(exchange, ("response",))).lower()
        if len(found) != 1 or any(word in shown for word in _CODED):
            continue
        (body,) = found
        answers.append(body if isinstance(body, bytes) else body.encode("utf-8", "surrogatepass"))
    return answers


def _is_har(document: Any) -> bool:
    return isinstance(document, dict) and "log" in document


def _change(rng: random.Random, exchanges: list[Any], others: Sequence[Recording], what: list[str]) -> None:
    if not exchanges:
        return
    position = rng.randrange(len(exchanges))
    match rng.randrange(7):
        case 0:
            exchanges.append(exchanges[position])
            what.append(f"exchange {position + 1} again")
        case 1:
            exchanges.insert(0, exchanges.pop(position))
            what.append(f"exchange {position + 1} first")
        case 2:
            exchanges[position] = mutations.change_value(rng, exchanges[position], what)
        case 3:
            _cut_answer(rng, exchanges[position], what)
        case _:
            _change_body(rng, exchanges[position], others, what)


def _change_body(rng: random.Random, exchange: Any, others: Sequence[Recording], what: list[str]) -> None:
    found = [place for place in _BODIES if isinstance(_body_at(exchange, place), str | bytes)]
    if not found:
        return
    place = rng.choice(found)
    body = _body_at(exchange, place)
    data = body.encode("utf-8", "surrogatepass") if isinstance(body, str) else body
    try:
        format = detect(data, complete=True)
    except NotAStream:
        return
    if format.gzip or format.framing == "cassette" or format.framing == "har":
        return
    new = mutations.changed(rng, Recording("body", format.framing, data, ""), others)
    what.append(f"{'.'.join(place)}: {', '.join(new.what)}")
    text = new.data.decode("utf-8", "replace")
    values.at(exchange, place[:-1])[place[-1]] = text if isinstance(body, str) else new.data


def _cut_answer(rng: random.Random, exchange: Any, what: list[str]) -> None:
    """The connection broke off within the answer."""
    for place in _BODIES:
        body = _body_at(exchange, place)
        if place[0] == "response" and isinstance(body, str | bytes):
            kept = rng.randrange(len(body) + 1)
            values.at(exchange, place[:-1])[place[-1]] = body[:kept]
            what.append(f"{'.'.join(place)} cut at {kept}")


def _body_at(exchange: Any, place: tuple[str, ...]) -> Any:
    for key in place:
        exchange = exchange.get(key) if isinstance(exchange, dict) else None
    return exchange


def _exchanges(document: Any) -> list[Any]:
    inner = document.get("log", document) if isinstance(document, dict) else document
    if isinstance(inner, list):
        return inner
    found = next((inner[key] for key in ("interactions", "http_interactions", "entries") if key in inner), None)
    return found if isinstance(found, list) else []


def _loaded(data: bytes) -> Any:
    """The document as plain data; None for one with tags of its own."""
    try:
        return json.loads(data)
    except ValueError:
        pass
    try:
        return yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
    except yaml.YAMLError:
        return None


def _written(rng: random.Random, document: Any, format: str) -> bytes:
    if format == "har" or rng.random() < 0.5:
        try:
            return json.dumps(document).encode()
        except (TypeError, ValueError, RecursionError):
            pass
    try:
        dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
        written: bytes = yaml.dump(document, Dumper=dumper, encoding="utf-8", allow_unicode=True, width=1 << 20)
    except (yaml.YAMLError, UnicodeEncodeError, RecursionError, ValueError):
        return json.dumps(document, default=repr, skipkeys=True).encode()
    return written
