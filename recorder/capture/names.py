"""The names that streams get where nobody gives one."""

from __future__ import annotations

import re
import secrets
from datetime import UTC, datetime
from pathlib import Path

_ENDINGS = re.compile(r"\.(?:sse|ndjson|jsonl|json|ya?ml|txt|bin|har|log)$", re.IGNORECASE)


def name_of_file(path: Path) -> str:
    """The file's stem: `x.yaml.gz` is `x`, `run.1.sse` is `run.1`."""
    name = path.name
    if name.lower().endswith(".gz"):
        name = name[:-3]
    return _ENDINGS.sub("", name) or path.name


def name_of_program(program: str) -> str:
    """`<program>-<UTC>-<4 hex>`: `stdin-20260131T235959Z-09af`."""
    return f"{program}-{datetime.now(UTC):%Y%m%dT%H%M%SZ}-{secrets.token_hex(2)}"
