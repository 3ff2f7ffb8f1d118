"""The names that streams may have, and those that they get where nobody gives one."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

from recorder.errors import BadInput

LATEST = "latest"
"""Stands for the stream that was appended to last; a stream of that name would hide it."""

_ENDINGS = re.compile(r"\.(?:sse|ndjson|jsonl|json|ya?ml|txt|bin|har|log)$", re.IGNORECASE)


def checked(name: str) -> str:
    """The name, if a stream may have it. Raises `BadInput` for a blank one and for `latest`."""
    if not name.strip():
        raise BadInput("a stream's name cannot be empty: give another")
    if name == LATEST:
        raise BadInput(f"{name!r} cannot be a stream's name, it stands for the newest one: give another")
    return name


def name_of_file(path: Path) -> str:
    """The file's stem: `x.yaml.gz` is `x`, `run.1.sse` is `run.1`."""
    name = path.name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    return _ENDINGS.sub("", name) or path.name


def name_of_program(program: str) -> str:
    """`<program>-<UTC>-<4 hex>`: `stdin-20260131T235959Z-09af`."""
    return f"{program}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"
