"""A text that grows piece by piece, at a cost linear in its length."""

from __future__ import annotations

from msgspec import Struct, field


class Rope(Struct, tag="rope"):
    """The pieces of a growing text. Appending is O(1); reading joins them once and keeps the result."""

    parts: list[str] = field(default_factory=list)

    def append(self, text: str) -> None:
        if text:
            self.parts.append(text)

    @property
    def text(self) -> str:
        """The whole text so far."""
        parts = self.parts
        if len(parts) > 1:
            # A new list, not this one emptied: whoever must take an append back holds the old one (`growing.Undo`).
            self.parts = parts = ["".join(parts)]
        return parts[0] if parts else ""

    def __bool__(self) -> bool:
        return bool(self.parts) and (len(self.parts) > 1 or bool(self.parts[0]))
