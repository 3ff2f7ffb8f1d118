"""LangChain's own objects as `langchain_core.load.dumpd` writes them, their fields by the walk of `values`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from recorder.capture.live.values import Walk


def write(walk: Walk, value: Any, depth: int) -> Any:
    """As `dumpd` does it, the fields by this walk."""
    plan = _plan_of(type(value))
    if plan is not None:
        return walk.constructor(plan.id, plan.kwargs(value), depth)
    if not type(value).is_lc_serializable():
        shown = walk.told(repr, value)
        module, name = type(value).__module__.split("."), type(value).__name__
        told = walk.text(shown) if isinstance(shown, str) else None
        return {"lc": 1, "type": "not_implemented", "id": [*module, name], "repr": told}
    form = value.to_json()
    if form.get("type") != "constructor":
        return {name: walk.value(item, depth) for name, item in form.items()}
    secrets = [(key, item) for key, item in form["kwargs"].items() if _is_secret(item)]
    plain = [(key, item) for key, item in form["kwargs"].items() if not _is_secret(item)]
    written = walk.constructor(list(form["id"]), plain, depth)
    written["kwargs"].update(secrets)
    return written


def _is_secret(value: Any) -> bool:
    return type(value) is dict and value.keys() == {"lc", "type", "id"} and value["type"] == "secret"


class _Plan:
    """How `Serializable.to_json` writes the objects of one class, worked out once."""

    __slots__ = ("_attributes", "_fields", "id")

    def __init__(self, id: list[str], fields: list[tuple[str, Any]], attributes: list[Callable[[Any], Any]]) -> None:
        self.id = id
        self._fields = fields
        """Names in the class's order, and of each the default, or `_ALWAYS`."""
        self._attributes = attributes
        """The getters of `lc_attributes` that the class and its bases have."""

    def kwargs(self, value: Any) -> list[tuple[str, Any]]:
        held = object.__getattribute__(value, "__dict__")
        found = {
            name: held[name] for name, default in self._fields if name in held and not _is_silent(held[name], default)
        }
        for attributes in self._attributes:
            found.update(attributes(value))
        return list(found.items())


_ALWAYS = "always"


def _is_silent(value: Any, default: Any) -> bool:
    """Whether a field says nothing: it is falsy, and its class's default (`dict` and `list`: an empty one)."""
    if value is None:
        return default in (None, dict, list)
    if default in (dict, list):
        return isinstance(value, default) and not value
    return type(value) is type(default) and not value and not default


def _plan_of(kind: type) -> _Plan | None:
    """None where the class has ways of its own, and `to_json` must be asked."""
    try:
        return _plans[kind]
    except KeyError:
        pass
    try:
        plan = _make_plan(kind)
    except RecursionError:
        raise
    except Exception:
        plan = None
    _plans[kind] = plan
    return plan


def _make_plan(kind: Any) -> _Plan | None:
    own = []
    for base in kind.__mro__:
        if base.__name__ == "Serializable" and base.__module__ == "langchain_core.load.serializable":
            break
        own.append(base)
    if not kind.__module__.startswith("langchain_core.") or not kind.is_lc_serializable():
        return None
    if any({"lc_secrets", "to_json", "__iter__", "__getattribute__"} & vars(base).keys() for base in own):
        return None
    attributes = [vars(base)["lc_attributes"].fget for base in own if "lc_attributes" in vars(base)]
    fields = [(name, _default_of(field)) for name, field in kind.model_fields.items() if not field.exclude]
    return _Plan(kind.lc_id(), fields, attributes)


def _default_of(field: Any) -> Any:
    if field.is_required():
        return _ALWAYS
    if field.default_factory in (dict, list):
        return field.default_factory
    if field.default_factory is not None or (field.default is not None and type(field.default) not in (str, bool, int)):
        raise TypeError("a default that is compared by code of its own")
    return field.default


_plans: WeakKeyDictionary[type, _Plan | None] = WeakKeyDictionary()
