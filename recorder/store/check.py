"""What `rec db check` prints."""

from __future__ import annotations

from recorder.store.migrate import SCHEMA
from recorder.store.shapes import Problem
from recorder.store.store import Store


def check_store(store: Store) -> list[Problem]:
    """What is damaged, and what will hurt one day; nothing where all is well."""
    found = store.problems()
    if store.schema_version < SCHEMA:
        found.append(
            Problem("risk", f"schema {store.schema_version} is older than this program's {SCHEMA}: run rec db upgrade")
        )
    for head in store.streams():
        if head.stale is not None:
            reason = f"the read model of stream {head.name!r} ends early ({head.stale}): run rec rebuild"
            found.append(Problem("damage", reason))
    return found
