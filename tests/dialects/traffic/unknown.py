"""Frames that nobody claims."""

from __future__ import annotations

from typing import Any

DIALECT = "unknown"
FRAMES: list[Any] = [{"type": "odd"}, [1]]
REQUESTS: list[Any] = []
