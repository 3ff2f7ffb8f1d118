"""The events of an exchange that was seen live; all of this runs on the writer's thread.

They are those that a cassette of the same exchange gives, one by one as soon as they are known. Model traffic only: an
exchange whose URL says nothing waits until its answer does, and leaves no trace where that says nothing either.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from http import HTTPStatus
from typing import Any

from msgspec import Struct, structs

from recorder import dialects
from recorder.capture.exchanges import MAY_CALL_A_MODEL
from recorder.capture.live.cutting import AnswerCutter, CutFrame
from recorder.capture.recording import FrameRecorder, dialect_of_frames
from recorder.dialects import UNKNOWN, base
from recorder.events import NewEvent, ids
from recorder.sources import exchange as documents
from recorder.sources.detect import HEAD_BYTES
from recorder.sources.frame import BOM, Frame
from recorder.sources.http_headers import header, headers_of, media_type
from recorder.sources.redact import redact_answer, redact_frame

_LONGEST_UNKNOWN = 8 * 1024 * 1024
"""A document that may be of a model is not waited for any longer, in bytes."""

Pairs = Sequence[tuple[str | bytes, str | bytes]]


class Sent(Struct, frozen=True):
    """The request."""

    method: str
    url: str
    headers: Pairs
    body: bytes | None


class Head(Struct, frozen=True):
    """The answer's head."""

    status: int
    reason: str | None
    headers: Pairs
    decoded: bool


class Piece(Struct, frozen=True):
    """What one read brought."""

    data: bytes


class Ended(Struct, frozen=True):
    early: bool


class Broken(Struct, frozen=True):
    error: str


Said = Sent | Head | Piece | Ended | Broken


class _Recorder(FrameRecorder):
    """Makes events whose ids the sink gives."""

    give_id: Callable[[], bytes]

    def next_id(self) -> bytes:
        return self.give_id()


class ExchangeEvents:
    """Makes the events of one exchange of what was seen of it, in its order."""

    def __init__(self, *, everything: bool) -> None:
        self._uuid = ids.new_stream_uuid()
        self._recorder = _Recorder(self._uuid)
        self.run_id = ids.derived_run_id(self._uuid, 1)
        self._wanted = everything
        self._shown = False
        """Whether a frame has shown the dialect."""
        self._held: list[NewEvent] = []
        """Events that wait until it is known whether the exchange is wanted."""
        self._cutter: AnswerCutter | None = None
        self.dropped = False
        """Whether it is none of those that are recorded. The program's thread looks at it too."""

    def read(self, said: Said, at: int, next_id: Callable[[], bytes]) -> list[NewEvent]:
        """The events that can be told now; each takes its id from `next_id`."""
        if self.dropped:
            return []
        self._recorder.give_id = next_id
        if isinstance(said, Piece):
            found = self._piece(said, at)
        elif isinstance(said, Sent):
            found = [self._request(said, at)]
        elif isinstance(said, Head):
            found = self._head(said, at)
        else:
            found = self._end(said, at)
        self._held += found
        if not self._wanted:
            self._consider(over=isinstance(said, Ended | Broken))
            if not self._wanted:
                return []
        ready, self._held = self._held, []
        return ready

    def _consider(self, *, over: bool) -> None:
        """Whether it is model traffic, as far as that can be told yet."""
        cutter = self._cutter
        framing = None if cutter is None else cutter.framing
        if self._recorder.dialect != UNKNOWN or (framing is not None and framing != "json"):
            self._wanted = True
        elif over or (cutter is not None and _is_hopeless(cutter)):
            self._drop()

    def _drop(self) -> None:
        self.dropped, self._cutter = True, None
        self._held.clear()

    def _request(self, sent: Sent, at: int) -> NewEvent:
        request = documents.Request(
            method=sent.method, url=sent.url, headers=headers_of(sent.headers), body=sent.body or b""
        )
        if sent.method.upper() in MAY_CALL_A_MODEL:
            self._recorder.dialect = dialects.dialect_of_url(sent.url) or UNKNOWN
        part = next(documents.exchange_parts(1, documents.Exchange(request=request)))
        meta = part.meta or {}
        if sent.body is None:
            meta["unrecorded"] = "the program sent a stream"
        return self._event(base.REQUEST, at, meta, part.body)

    def _head(self, head: Head, at: int) -> list[NewEvent]:
        if head.status == HTTPStatus.SWITCHING_PROTOCOLS and not self._wanted:
            self._drop()
            return []
        headers = headers_of(head.headers)
        self._cutter = AnswerCutter(media_type(headers), header(headers, "content-encoding"), decoded=head.decoded)
        answer = documents.Answer(status=head.status, reason=head.reason or None, headers=headers)
        part = next(documents.exchange_parts(1, documents.Exchange(answer=answer)))
        meta = part.meta or {}
        if "decoded" in meta:
            meta["decoded"] = self._cutter.takes_off
        return [self._event(base.RESPONSE, at, meta)]

    def _piece(self, piece: Piece, at: int) -> list[NewEvent]:
        return [] if self._cutter is None else self._frames(self._cutter.feed(piece.data, at))

    def _end(self, said: Ended | Broken, at: int) -> list[NewEvent]:
        problem: str | None = said.error if isinstance(said, Broken) else None
        found: list[NewEvent] = []
        kept = b""
        if (cutter := self._cutter) is not None:
            found = self._frames(cutter.end(whole=isinstance(said, Ended) and not said.early))
            kept = cutter.kept
            problem = problem or (None if cutter.problem is None else f"response: {cutter.problem}")
        if problem is not None:
            return [*found, self._event(base.ERROR, at, {"error": problem}, kept)]
        early = isinstance(said, Ended) and said.early
        return [*found, self._event(base.END, at, {"closed_early": True} if early else {})]

    def _frames(self, cut: list[CutFrame]) -> list[NewEvent]:
        if not self._shown and cut:
            shown = dialect_of_frames(each.frame for each in cut)
            if shown is not None:
                # What the frames say counts for more than what the URL says.
                self._recorder.dialect, self._shown = shown, True
        return [self._frame(each) for each in cut]

    def _frame(self, cut: CutFrame) -> NewEvent:
        frame, marks = self._clean(cut.frame)
        event = self._recorder.event(frame)
        return structs.replace(event, arrived_at=cut.arrived_at, cuts=cut.cuts, redacted=", ".join(marks) or None)

    def _clean(self, frame: Frame) -> tuple[Frame, list[str]]:
        redact = redact_answer if self._cutter is not None and self._cutter.framing == "json" else redact_frame
        body, marks = redact(frame.body)
        if not marks:
            return frame, marks
        raw, _ = redact(frame.raw)
        return structs.replace(frame, body=body, raw=raw), marks

    def _event(self, kind: str, at: int, meta: dict[str, Any], body: bytes = b"") -> NewEvent:
        """An event that is no frame."""
        return self._recorder.part(kind, self.run_id, meta, body, arrived_at=at)


def _is_hopeless(cutter: AnswerCutter) -> bool:
    """Whether an answer that shows no framing can be a model's no more."""
    if cutter.undecided < HEAD_BYTES:
        return False
    text = cutter.head.removeprefix(BOM).lstrip()
    return not text.startswith((b"{", b"[")) or cutter.undecided > _LONGEST_UNKNOWN
