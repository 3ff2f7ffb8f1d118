"""Events that another program posts: the body's frames go into a stream while they come."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from recorder.capture.appending import FrameWriter
from recorder.capture.beginnings import FoundFrames
from recorder.capture.names import checked
from recorder.errors import BadInput, Conflict, RecorderError
from recorder.ledger import Ledger
from recorder.sources import Frame
from recorder.sources.answer_framing import framing_of_type
from recorder.sources.frame import Framing


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
                    _Posted(self._ledger, checked(name), framing_of_type(media_type)), request.stream()
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
        self._frames = FoundFrames("the body", framing=framing, advice="send JSON lines or server-sent events")
        self._writer: FrameWriter | None = None

    def feed(self, data: bytes) -> None:
        """Stores the frames that are whole with these bytes. Raises `BadInput`, `Conflict`, `DatabaseUnusable`."""
        self._append(self._frames.feed(data))

    def end(self) -> dict[str, object]:
        """Stores what is left; gives what the whole body came to."""
        if self._frames.is_empty:
            raise BadInput("the body is empty: nothing was stored")
        self._append(self._frames.end(), ended=True)
        if self._writer is None or not self._writer.stored:
            raise BadInput("the body holds no event: nothing was stored")
        return {"stream": self._writer.stream, "events": self._writer.stored, "last_seq": self._writer.last_seq}

    def _append(self, frames: list[Frame], *, ended: bool = False) -> None:
        if self._writer is None:
            if not frames or self._frames.framing is None:
                return
            head = self._ledger.find(self._stream)
            format = self._frames.framing
            self._writer = FrameWriter(self._ledger, self._stream, source="POST", format=format, head=head)
        self._writer.append_all(frames, ended=ended)
