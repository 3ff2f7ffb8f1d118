"""How the values of a type are written: what each of Python's, pydantic's and LangGraph's types looks like in JSON."""

from __future__ import annotations

import datetime
import decimal
import enum
import fractions
import pathlib
import uuid
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import msgspec

from recorder.capture.live import value_serializable

if TYPE_CHECKING:
    from recorder.capture.live.values import Walk

Writer = Callable[["Walk", Any, int], Any]
"""Gets the walk, the value, and the level of its items."""


def type_name(kind: type) -> str:
    """`module.qualified name`."""
    try:
        return f"{kind.__module__}.{kind.__qualname__}"
    except Exception:
        return "unknown"


def writer_of(kind: type) -> Writer | None:
    """How objects of the type are written; None: by their repr."""
    if (known := _KNOWN.get(kind)) is not None:
        return known
    try:
        return _writers[kind]
    except KeyError:
        pass
    try:
        writer = _choose(kind)
    except RecursionError:
        raise
    except Exception:
        writer = None
    _writers[kind] = writer
    return writer


def _choose(kind: type) -> Writer | None:
    # The method resolution order itself: `isinstance` asks an object's `__class__`, and abstract classes their hooks.
    bases = kind.__mro__
    if _is_a(kind, "langchain_core.load.serializable", "Serializable"):
        return value_serializable.write
    if _is_a(kind, "pydantic.main", "BaseModel"):
        return _model
    if tuple in bases and type(vars(kind).get("_fields")) is tuple:
        return _named_tuple
    for base, writer in _SUBCLASSES:
        if base in bases:
            return writer
    if enum.Enum in bases:
        return _enumeration
    if _dataclass_fields(kind) is not None or _struct_fields(kind):
        return _slots
    return None


def _dictionary(walk: Walk, value: Any, depth: int) -> Any:
    return walk.dictionary(value, depth)


def _list(walk: Walk, value: Any, depth: int) -> Any:
    return walk.array(list.__iter__(value), list.__len__(value), depth)


def _tuple(walk: Walk, value: Any, depth: int) -> Any:
    return walk.array(tuple.__iter__(value), tuple.__len__(value), depth)


def _named_tuple(walk: Walk, value: Any, depth: int) -> Any:
    names = type(value)._fields
    return walk.fields(zip(names, tuple.__iter__(value), strict=False), depth, {"$type": type_name(type(value))})


def _set(walk: Walk, value: Any, depth: int) -> Any:
    return _collection(walk, value, list(set.__iter__(value)), depth)


def _frozenset(walk: Walk, value: Any, depth: int) -> Any:
    return _collection(walk, value, list(frozenset.__iter__(value)), depth)


def _deque(walk: Walk, value: Any, depth: int) -> Any:
    return _collection(walk, value, list(deque.__iter__(value)), depth)


def _collection(walk: Walk, value: Any, items: list[Any], depth: int) -> Any:
    return {"$type": type_name(type(value)), "$items": walk.array(items, len(items), depth + 1)}


def _text(walk: Walk, value: Any, _: int) -> Any:
    return walk.text(str.__str__(value))


def _integer(walk: Walk, value: Any, _: int) -> Any:
    return walk.integer(int.__int__(value))


def _number(walk: Walk, value: Any, _: int) -> Any:
    return walk.number(float.__float__(value))


def _binary(walk: Walk, value: Any, _: int) -> Any:
    return walk.binary(type(value), value)


def _enumeration(walk: Walk, value: Any, depth: int) -> Any:
    fields = vars(value)
    return {
        "$type": type_name(type(value)),
        "$name": walk.value(fields.get("_name_"), depth),
        "$value": walk.value(fields.get("_value_"), depth),
    }


def _moment(walk: Walk, value: Any, _: int) -> Any:
    return {"$type": type_name(type(value)), "$value": walk.text(value.isoformat())}


def _spelt(walk: Walk, value: Any, _: int) -> Any:
    return {"$type": type_name(type(value)), "$value": walk.text(str(value))}


def _exception(walk: Walk, value: Any, _: int) -> Any:
    tag = walk.tagged(value)
    message = walk.told(str, value)
    return {**tag, "$message": walk.text(message) if isinstance(message, str) else None}


def _slots(walk: Walk, value: Any, depth: int) -> Any:
    """Fields by name: those of a dataclass, of a `Send`."""
    return walk.fields(_read(value, _names_of(type(value))), depth, {"$type": type_name(type(value))})


def _model(walk: Walk, value: Any, depth: int) -> Any:
    """A pydantic model's fields, but those that it excludes."""
    fields = getattr(type(value), "__pydantic_fields__", None) or {}
    held = object.__getattribute__(value, "__dict__")
    extra = _attribute(value, "__pydantic_extra__") or {}
    shown = [
        (name, item)
        for name, item in [*held.items(), *extra.items()]
        if type(name) is str and getattr(fields.get(name), "exclude", None) is not True
    ]
    return walk.fields(shown, depth, {"$type": type_name(type(value))})


def _attribute(value: Any, name: str) -> Any:
    try:
        return object.__getattribute__(value, name)
    except Exception:
        return None


def _read(value: Any, names: Iterable[str]) -> Iterator[tuple[str, Any]]:
    for name in names:
        try:
            yield name, object.__getattribute__(value, name)
        except Exception:
            # A field that was never set.
            continue


def _names_of(kind: type) -> list[str]:
    if (fields := _dataclass_fields(kind)) is not None:
        # What is no field (`ClassVar`, `InitVar`) has no such name on it.
        return [name for name, field in fields.items() if getattr(field._field_type, "name", "") == "_FIELD"]
    return list(_struct_fields(kind))


def _dataclass_fields(kind: type) -> dict[str, Any] | None:
    return next(
        (vars(base)["__dataclass_fields__"] for base in kind.__mro__ if "__dataclass_fields__" in vars(base)), None
    )


def _struct_fields(kind: type) -> tuple[str, ...]:
    """The fields of a msgspec structure, of LangGraph's `Send`."""
    if issubclass(kind, msgspec.Struct):
        return kind.__struct_fields__
    if _is_a(kind, "langgraph.types", "Send"):
        return tuple(name for base in reversed(kind.__mro__) for name in vars(base).get("__slots__", ()))
    return ()


def _is_a(kind: type, module: str, name: str) -> bool:
    """Whether it is the class of that name, or under it: nothing is imported for the question."""
    return any(base.__name__ == name and base.__module__ == module for base in kind.__mro__)


_KNOWN: dict[type, Writer] = {
    dict: _dictionary,
    list: _list,
    tuple: _tuple,
    set: _set,
    frozenset: _frozenset,
    deque: _deque,
    bytes: _binary,
    bytearray: _binary,
    memoryview: _binary,
    uuid.UUID: _spelt,
    decimal.Decimal: _spelt,
    fractions.Fraction: _spelt,
    complex: _spelt,
    datetime.datetime: _moment,
    datetime.date: _moment,
    datetime.time: _moment,
    datetime.timedelta: _spelt,
    pathlib.PosixPath: _spelt,
    pathlib.WindowsPath: _spelt,
    pathlib.PurePosixPath: _spelt,
    pathlib.PureWindowsPath: _spelt,
}
_SUBCLASSES: list[tuple[type, Writer]] = [
    (dict, _dictionary),
    (list, _list),
    (tuple, _tuple),
    (set, _set),
    (frozenset, _frozenset),
    (deque, _deque),
    (str, _text),
    (int, _integer),
    (float, _number),
    (BaseException, _exception),
]
"""What has one of these among its bases is written as that, whatever it does to look different."""

_writers: WeakKeyDictionary[type, Writer | None] = WeakKeyDictionary()
