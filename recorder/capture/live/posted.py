"""Events that another program posts: the body's frames go into a stream while they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from recorder.capture.appending import BATCH_EVENTS, FrameWriter
from recorder.capture.names import checked
from recorder.capture.refusals import not_a_stream
from recorder.errors import BadInput, Conflict, NotAStream, RecorderError
from recorder.ledger import Ledger
from recorder.sources import Format, Frame, Reader, detect, reader_for, recognise
from recorder.sources.detect import HEAD_BYTES
from recorder.sources.frame import Framing

_BY_TYPE: dict[str, Framing] = {
    "text/event-stream": "sse",
    "application/x-ndjson": "ndjson",
    "application/ndjson": "ndjson",
    "application/jsonl": "ndjson",
}


class Posts:
    """Takes `POST /streams/NAME/events`. Posts to one stream are taken one after the other."""

    def __init__(self, ledger: Ledger) -> None:
        self._ledger = ledger
        self._turns: dict[str, asyncio.Lock] = {}

    async def take(self, request: Request) -> Response:
        """Stores the frames of the body behind what the stream has, each as soon as it is whole.

        Answers what was stored, or with one line why not: 400 for a body that is none, 409 where another program
        appended to the stream meanwhile, 503 where the database did not take it. What was stored before stays.
        """
        name = request.path_params["name"]
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        turn = self._turns.setdefault(name, asyncio.Lock())
        async with turn:
            try:
                return await self._store(
                    _Posted(self._ledger, checked(name), _BY_TYPE.get(media_type)), request.stream()
                )
            except BadInput as error:
                return JSONResponse({"error": str(error)}, status_code=400)
            except Conflict as error:
                return JSONResponse({"error": str(error)}, status_code=409)
            except RecorderError as error:
                return JSONResponse({"error": str(error)}, status_code=503)

    async def _store(self, posted: _Posted, body: AsyncIterator[bytes]) -> Response:
        async for data in body:
            if data:
                await asyncio.to_thread(posted.feed, data)
        return JSONResponse(await asyncio.to_thread(posted.end))


class _Posted:
    """One body on its way into its stream."""

    def __init__(self, ledger: Ledger, stream: str, framing: Framing | None) -> None:
        self._ledger, self._stream = ledger, stream
        self._reader: Reader | None = None if framing is None else reader_for(framing)
        self._format: Framing | None = framing
        self._writer: FrameWriter | None = None
        self._head = b""

    def feed(self, data: bytes) -> None:
        """Stores the frames that are whole with these bytes. Raises `BadInput`, `Conflict`, `DatabaseUnusable`."""
        if self._reader is None:
            self._head += data
            found = recognise(self._head, complete=False)
            if found is None and len(self._head) < HEAD_BYTES:
                return
            data, self._head = self._head, b""
            self._begin(found or detect(data, name="the body", complete=False))
        assert self._reader is not None
        self._append(self._reader.feed(data))

    def end(self) -> dict[str, object]:
        """Stores what is left; gives what the whole body came to."""
        if self._reader is None:
            head, self._head = self._head, b""
            try:
                self._begin(detect(head, name="the body", complete=True))
            except NotAStream as error:
                raise (
                    not_a_stream(error, head) if head else BadInput("the body is empty: nothing was stored")
                ) from None
            assert self._reader is not None
            self._append(self._reader.feed(head))
        self._append(self._reader.end(), ended=True)
        if self._writer is None or not self._writer.stored:
            raise BadInput("the body holds no event: nothing was stored")
        return {"stream": self._writer.stream, "events": self._writer.stored, "last_seq": self._writer.last_seq}

    def _begin(self, format: Format) -> None:
        if format.framing == "cassette" or format.framing == "har" or format.gzip:
            raise BadInput("the body is a cassette, a HAR file or compressed: send JSON lines or server-sent events")
        self._format, self._reader = format.framing, reader_for(format.framing)

    def _append(self, frames: list[Frame], *, ended: bool = False) -> None:
        if self._writer is None:
            if not frames:
                return
            assert self._format is not None
            head = self._ledger.find(self._stream)
            self._writer = FrameWriter(self._ledger, self._stream, source="POST", format=self._format, head=head)
        for start in range(0, max(len(frames), 1), BATCH_EVENTS):
            last = start + BATCH_EVENTS >= len(frames)
            self._writer.append(frames[start : start + BATCH_EVENTS], ended=ended and last)
