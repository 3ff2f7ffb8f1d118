"""What the sums of a message's chunks have in common, whichever LangChain adds them up."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from msgspec import Struct, field

from recorder.projections.growing import Node, Object, Undo, plain
from recorder.projections.rope import Rope


class MessageSum(Struct):
    """The sum of a message's chunks, all but its tool calls.

    A field that the library refuses to add (two types under one key) keeps what it had, the chunk's other fields are
    added, and `refused` says why: the library raises there, and has no sum to compare with. The library drops a chunk's
    `name` when it adds; so does this.
    """

    content_node: Node = field(default_factory=Rope)
    kwargs_node: Object = field(default_factory=Object)
    metadata_node: Object = field(default_factory=Object)
    usage: dict[str, Any] | None = None
    message_id: str | None = None
    refused: list[str] = field(default_factory=list)
    """What could not be added, and why: `{field}: {reason}`."""
    begun: bool = False

    @property
    def content(self) -> str | list[Any]:
        """Text, or a list of texts and blocks. Not to be changed, as the objects below."""
        content: str | list[Any] = plain(self.content_node)
        return content

    @property
    def additional_kwargs(self) -> dict[str, Any]:
        kwargs: dict[str, Any] = plain(self.kwargs_node)
        return kwargs

    @property
    def response_metadata(self) -> dict[str, Any]:
        metadata: dict[str, Any] = plain(self.metadata_node)
        return metadata

    def _try(self, name: str, change: Callable[[Undo], None]) -> None:
        undo = Undo()
        try:
            change(undo)
        except (TypeError, ValueError, RecursionError) as error:
            undo.back()
            self.refused.append(f"{name}: {error}")
