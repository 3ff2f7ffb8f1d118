"""Which output item of a response an event is about: rules for servers whose ids and indices cannot be trusted.

OpenAI's own items have an id and an `output_index`, which may differ between an item's first and last event. Gateways
change the id with every event (Copilot), give every item index 0, or leave one of the two out (measured on recordings,
and told in bug reports). What an event is about also says of what family its item is: text never belongs to a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal
from zlib import crc32

from msgspec import Struct, field

from recorder.deltas import BlockKey, Executor
from recorder.dialects.frames import Deltas, finding
from recorder.dialects.openai_responses_calls import is_call
from recorder.dialects.values import cleaned, index_of

CALLS = "call"
"""The family of all items that are calls; any other item's family is its type."""


class Part(Struct, omit_defaults=True):
    """A text of an item that grows: what its restatement is compared with, for the text itself is not kept here."""

    block: BlockKey
    units: int = 0
    """Its length in UTF-16 units: halves of a surrogate pair that come apart count as the pair does."""
    crc: int = 0
    said: tuple[int, int] | None = None
    """Length and checksum of the latest restatement that was another text."""
    items: int = 0
    """How many annotations came."""

    def grow(self, text: str) -> None:
        """Notes more of the text."""
        self.units, self.crc = _measure(text, self.units, self.crc)

    def differs(self, text: str) -> bool:
        """Whether a restatement is another text than what came, and than the restatement before."""
        other = _measure(text)
        if other in ((self.units, self.crc), self.said):
            return False
        self.said = other
        return True


class Item(Struct, omit_defaults=True):
    """What a decoder must remember of one output item. `id`, `call_id` and `name` are the first that were said."""

    position: int
    key: str
    """The key of its first block."""
    kind: str
    index: int | str | None
    """`output_index` as it was first said."""
    id: str = ""
    call_id: str | None = None
    name: str | None = None
    known: bool = False
    """Of a call: its id and its name were said."""
    executor: Executor = "client"
    phase: str | None = None
    parts: dict[str, Part] = field(default_factory=dict)
    announced: bool = False
    """`output_item.added` was seen."""
    done: bool = False
    incomplete: bool = False
    """Of a call: the provider said that it is not whole."""
    confirmed: bool = False
    """The whole response at the end has it."""
    renamed: bool = False
    """It went under another id, and that was told."""
    answered: bool = False
    string: Literal["none", "begun", "open", "closed", "lost"] = "none"
    """Where arguments that are an object grow as JSON text: how far the string is of which the API streams pieces.

    `begun`: no piece of it came yet. `lost`: more of it can't be told.
    """
    command: str = ""
    """The index of the shell command that is this string."""


class Items(Struct, omit_defaults=True):
    """The items of the response that is open, in the order in which they came."""

    all: list[Item] = field(default_factory=list)
    latest: dict[str, int] = field(default_factory=dict)
    """Positions of the latest items of a family: with an id, at an index, of all; and of the items with a call's id."""
    uses: dict[str, int] = field(default_factory=dict)
    """How often a key was asked for."""

    def open(self, run_id: str, kind: str, index: object, out: Deltas) -> Item:
        """A new item."""
        place = index_of(index)
        base = str(len(self.all)) if place is None else cleaned(place) or ""
        uses = self.uses[base] = self.uses.get(base, 0) + 1
        key = base if uses == 1 else f"{base}#{uses}"
        if uses > 1:
            self.uses[key] = 1
            if place is not None:
                detail = f"output index {base} is given to a second item, a {kind}"
                out.append(finding(run_id, "block-index-reused", detail, "warning"))
        item = Item(
            position=len(self.all), key=key, kind=kind, index=cleaned(place) if isinstance(place, str) else place
        )
        self.all.append(item)
        self.latest[_of_all(kind)] = item.position
        if place is not None:
            self.latest[_at(kind, base)] = item.position
        return item

    def name(self, item: Item, id: str, call_id: str | None) -> None:
        """Notes the ids that an item goes under; of either the first stays the item's own."""
        if id:
            item.id = item.id or id
            self.latest[_with_id(item.kind, id)] = item.position
        if call_id:
            item.call_id = item.call_id or call_id
            self.latest[f"call {call_id}"] = item.position

    def find(self, kind: str, id: str, index: object) -> Item | None:
        """The item that an event within it is about. An id that nobody has goes by the index of an item still open."""
        if id and (item := self._get(_with_id(kind, id))) is not None:
            return item
        item = self._placed(kind, index)
        return None if item is None or item.done else item

    def kind_of(self, kinds: Sequence[str], id: str, index: object) -> str:
        """Which of these types the item has that an event is about: the one with the id, else the one at the index."""
        named = (kind for kind in kinds if id and _with_id(kind, id) in self.latest)
        placed = (kind for kind in kinds if self.find(kind, id, index) is not None)
        return next(named, None) or next(placed, kinds[0])

    def announced(self, kind: str, id: str, index: object, call_id: str | None) -> Item | None:
        """The item that `output_item.added` speaks of: one whose deltas came first, or one that is announced again."""
        item = self.find(kind, id, index)
        if item is None or not item.announced:
            return item
        again = id and item.id == id and not item.done and call_id == item.call_id
        return item if again else None

    def ended(self, kind: str, id: str, index: object, call_id: str | None) -> Item | None:
        """The item that `output_item.done` speaks of."""
        known = (
            self._get(f"call {call_id}") if call_id else None,
            self._get(_with_id(kind, id)) if id else None,
        )
        if (item := next((item for item in known if item is not None), None)) is None:
            item = self._placed(kind, index)
            if item is not None and (_is_another(item, call_id) or (item.done and call_id != item.call_id)):
                return None
        return item

    def restated(self, position: int, kind: str, id: str, call_id: str | None) -> Item | None:
        """The item that stands at a position of the whole response at the end."""
        known = (
            self._get(f"call {call_id}") if call_id else None,
            self._get(_with_id(kind, id)) if id else None,
            self.all[position] if position < len(self.all) and not _is_another(self.all[position], call_id) else None,
        )
        fitting = (item for item in known if item is not None and _family(item.kind) == _family(kind))
        return next((item for item in fitting if not item.confirmed), None)

    def _placed(self, kind: str, index: object) -> Item | None:
        """The latest item of the family at an index; without one the latest of all."""
        place = index_of(index)
        return self._get(_of_all(kind) if place is None else _at(kind, cleaned(place) or ""))

    def _get(self, key: str) -> Item | None:
        position = self.latest.get(key)
        return None if position is None else self.all[position]


def _measure(text: str, units: int = 0, crc: int = 0) -> tuple[int, int]:
    data = text.encode("utf-16-le", "surrogatepass")
    return units + len(data) // 2, crc32(data, crc)


def _is_another(item: Item, call_id: str | None) -> bool:
    """Whether an item that stands where one is looked for is another call."""
    return item.call_id is not None and call_id is not None and item.call_id != call_id


def _family(kind: str) -> str:
    return CALLS if is_call(kind) else kind


def _with_id(kind: str, id: str) -> str:
    return f"id {_family(kind)} {id}"


def _at(kind: str, place: str) -> str:
    return f"at {_family(kind)} {place}"


def _of_all(kind: str) -> str:
    return f"all {_family(kind)}"
