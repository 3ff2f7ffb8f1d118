"""Where tests put what producers saw: a list, from which a real log is made."""

from __future__ import annotations

import json
import threading
from pathlib import Path
from typing import Any

from uuid_utils import uuid7

import recorder
from recorder.capture.live.items import Item
from recorder.events import NewEvent
from recorder.ledger import State
from tests.databases import made

STREAM = "live"


class Kept:
    """A sink that keeps the items, and what failed."""

    def __init__(self) -> None:
        self.items: list[Item] = []
        self.failures: list[tuple[str, BaseException]] = []
        self._lock = threading.Lock()

    def put(self, item: Item) -> None:
        with self._lock:
            self.items.append(item)

    def failed(self, where: str, error: BaseException) -> None:
        self.failures.append((where, error))

    def events(self, stream: bytes = bytes(16)) -> list[NewEvent]:
        """The events, as the writer's thread makes them. Nothing may have failed."""
        assert self.failures == []
        return [event for item in self.items for event in item.events(stream, lambda: uuid7().bytes)]

    def bodies(self) -> list[dict[str, Any]]:
        return [json.loads(event.body) for event in self.events()]

    def state(self, folder: Path) -> State:
        """The state at the end, out of a database."""
        with recorder.open(made(folder / "live.db")) as ledger:
            writer = ledger.writer(STREAM)
            writer.append(self.events(writer.uuid))
            return ledger.state(STREAM)
