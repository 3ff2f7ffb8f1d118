"""What the decoders of Gemini's wires remember of one answer, and how what a part says becomes deltas.

Gemini numbers no blocks: an answer's parts are counted here, and a block's key is its place among them.
"""

from __future__ import annotations

from typing import Any

from msgspec import Struct, field

from recorder.deltas import BlockItem, BlockStarted, Executor, TextChunk, ToolCallChunk
from recorder.dialects.frames import Deltas, malformed
from recorder.dialects.gemini_arguments import Arguments
from recorder.dialects.values import digest_of

TOOL_CALL = "tool_call"
AUDIO = "audio"
OTHER = "non_standard"
"""The block of what an answer says beside its parts."""


class GoingOn(Struct):
    """A call of which more was announced (`willContinue`)."""

    block: int
    index: int
    id: str
    name: str
    """Id and name; empty where the wire gave none."""
    arguments: Arguments = field(default_factory=Arguments)


class Answer(Struct):
    """One candidate of a response, or one turn of a live session."""

    head: int = 0
    """What of the message's head was said (`message_head`)."""
    finished: bool = False
    blocks: int = 0
    """How many blocks were opened."""
    latest: str = ""
    """The kind of the block opened last."""
    signed: bool = False
    """Whether that block has its signature."""
    audio: tuple[str, int, int] = ("", 0, 0)
    """Of a block of audio: its type, how many pieces came, and their bytes."""
    calls: int = 0
    going_on: list[GoingOn] = field(default_factory=list)
    digests: dict[str, str] = field(default_factory=dict)
    """Of fields that a server repeats in every chunk: a digest of the latest value, so that it is said once."""


class Target(Struct, frozen=True):
    """Where a part belongs, and where what it says goes."""

    run_id: str
    choice: int
    answer: Answer
    out: Deltas

    @property
    def block(self) -> int:
        """The key of the block opened last."""
        return self.answer.blocks - 1

    def open_block(self, kind: str, data: dict[str, Any] | None = None) -> int:
        """Opens a block; gives its key. Text and calls open theirs with what they say."""
        answer = self.answer
        answer.blocks += 1
        answer.latest, answer.signed = kind, False
        if data is not None:
            self.out.append(
                BlockStarted(run_id=self.run_id, choice=self.choice, block=self.block, kind=kind, data=data)
            )
        return self.block

    def add_text(self, block: int | str, kind: str, text: str, field: str) -> None:
        if text:
            chunk = TextChunk(run_id=self.run_id, choice=self.choice, block=block, kind=kind, field=field, text=text)
            self.out.append(chunk)

    def add_item(self, block: int | str, kind: str, field: str, value: Any, *, replace: bool = True) -> None:
        """Sets a field of a block, or appends to it where it is a list."""
        item = BlockItem(
            run_id=self.run_id, choice=self.choice, block=block, kind=kind, field=field, value=value, replace=replace
        )
        self.out.append(item)

    def add_said(self, field: str, value: Any) -> None:
        """What the server says beside the parts: objects one after the other, of anything else the latest.

        Servers repeat such fields from chunk to chunk, and spread them over several: each value is kept once.
        """
        digest = digest_of(value)
        if self.answer.digests.get(field) != digest:
            self.answer.digests[field] = digest
            self.add_item(OTHER, OTHER, field, value, replace=not isinstance(value, dict))

    def add_call(
        self,
        block: int,
        index: int,
        args: str | None,
        *,
        id: str | None = None,
        name: str | None = None,
        executor: Executor = "client",
        restated: bool = False,
    ) -> None:
        self.out.append(
            ToolCallChunk(
                run_id=self.run_id,
                choice=self.choice,
                index=index,
                id=id,
                name=name,
                args=args,
                block=block,
                executor=executor,
                restated=restated,
            )
        )

    def next_index(self) -> int:
        """A call's place among the answer's calls: Gemini gives calls no index, and often no id."""
        self.answer.calls += 1
        return self.answer.calls - 1

    def malformed(self, where: str, value: object) -> None:
        self.out.append(malformed(self.run_id, where, value))
