"""Traffic that touches every branch of a dialect: a module each, with `DIALECT`, `FRAMES` and `REQUESTS`."""

from __future__ import annotations

from importlib import import_module
from pkgutil import iter_modules
from typing import Any

_MODULES = [import_module(f"{__name__}.{module.name}") for module in iter_modules(__path__)]

FRAMES: dict[str, list[Any]] = {module.DIALECT: module.FRAMES for module in _MODULES}
"""Payloads in the order of a stream, by dialect."""
REQUESTS: list[Any] = [body for module in _MODULES for body in module.REQUESTS]
"""Bodies of requests, of all dialects."""
