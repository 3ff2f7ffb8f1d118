"""Cassette files into pairs of request and response, as plain data: YAML or JSON, gzip or not, in several layouts."""

from __future__ import annotations

import io
import itertools
from collections.abc import Iterator
from pathlib import Path
from typing import Any, BinaryIO

import yaml
from msgspec import Struct

from recorder.errors import BadInput, NotAStream
from recorder.events import jsontext
from recorder.sources.files import chunks
from recorder.sources.frame import BOM

_GZIP = b"\x1f\x8b"
_TIMESTAMP = "tag:yaml.org,2002:timestamp"


class Interaction(Struct, frozen=True):
    """One exchange as loaded. `request` and `response` are None where the cassette has none.

    `broken`: the interaction itself where it is no mapping, and then there is nothing else.
    """

    request: object = None
    response: object = None
    broken: object = None
    recorded_at: object = None


def load_interactions(source: Path | str | BinaryIO) -> Iterator[Interaction]:
    """The cassette's interactions in order.

    Layouts: `{interactions: [{request, response}]}` (vcrpy, go-vcr), `{http_interactions: […]}` (VCR, betamax), a bare
    list of such (older ones), `{requests: […], responses: […]}` (what vcrpy gives its own serializers).
    Raises `NotAStream` for a document that is no cassette, `BadInput` for one that cannot be read, `OSError`.
    """
    data = b"".join(chunks(source, gzip=False))
    if data.startswith(_GZIP):
        data = b"".join(chunks(io.BytesIO(data), gzip=True))
    return _interactions(_load(data))


def _interactions(document: object) -> Iterator[Interaction]:
    if isinstance(document, dict):
        for key in ("interactions", "http_interactions"):
            if key in document:
                return map(_interaction, _list(document[key], key))
        if "requests" in document and "responses" in document:
            requests = _list(document["requests"], "requests")
            return itertools.starmap(
                Interaction, itertools.zip_longest(requests, _list(document["responses"], "responses"))
            )
    if isinstance(document, list) and any(isinstance(entry, dict) and "request" in entry for entry in document):
        return map(_interaction, document)
    raise NotAStream(f"no cassette: {_shape(document)} without interactions")


def _interaction(entry: object) -> Interaction:
    if not isinstance(entry, dict):
        return Interaction(broken="null" if entry is None else entry)
    return Interaction(entry.get("request"), entry.get("response"), recorded_at=entry.get("recorded_at"))


def _list(value: object, name: str) -> list[object]:
    if value is None:
        return []
    if not isinstance(value, list):
        raise NotAStream(f"no cassette: its {name} are {_shape(value)}, not a list")
    return value


def _shape(value: object) -> str:
    return {dict: "a mapping", list: "a list", type(None): "nothing", str: "text"}.get(type(value), "a scalar")


def _load(data: bytes) -> object:
    data = data.removeprefix(BOM)
    if data.lstrip()[:1] in (b"{", b"["):
        try:
            value, _ = jsontext.decode_leniently(data)
        except jsontext.NotJson:
            pass  # YAML's flow style may start with a brace as well
        else:
            return value
    try:
        return yaml.load(data, Loader=_FastLoader)
    except yaml.YAMLError:
        # libyaml refuses lone surrogates, which PyYAML's own reader lets through; that one is some ten times slower.
        try:
            return yaml.load(data, Loader=_SlowLoader)
        except (yaml.YAMLError, ValueError) as error:
            raise BadInput(f"the cassette is neither YAML nor JSON: {_one_line(error)}") from None
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the cassette cannot be read: {_one_line(error)}") from None


def _one_line(error: Exception) -> str:
    """What is wrong and where, without the piece of the file that PyYAML draws beneath."""
    if isinstance(error, yaml.MarkedYAMLError) and error.problem and error.problem_mark:
        mark = error.problem_mark
        return f"line {mark.line + 1}, column {mark.column + 1}: {error.problem}"
    return " ".join(str(error).split())[:200]


def _plain_value(loader: Any, _suffix: str, node: yaml.Node) -> object:
    """A value with a tag that YAML does not know, as the data it is written with: nothing named is ever called."""
    if isinstance(node, yaml.MappingNode):
        return loader.construct_mapping(node, deep=True)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node, deep=True)
    return loader.construct_scalar(node)


def _for_cassettes(base: type[Any]) -> type[Any]:
    """A safe loader that leaves dates as the text they are and reads unknown tags as plain data."""
    loader: type[Any] = type(f"Cassette{base.__name__}", (base,), {})
    loader.yaml_implicit_resolvers = {
        first: [(tag, pattern) for tag, pattern in resolvers if tag != _TIMESTAMP]
        for first, resolvers in base.yaml_implicit_resolvers.items()
    }
    loader.add_multi_constructor("", _plain_value)
    # Ruby writes the tag of binary data with one exclamation mark.
    loader.add_constructor("!binary", base.construct_yaml_binary)
    return loader


_SlowLoader = _for_cassettes(yaml.SafeLoader)
_FastLoader = _for_cassettes(getattr(yaml, "CSafeLoader", yaml.SafeLoader))
