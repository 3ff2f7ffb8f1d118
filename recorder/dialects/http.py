"""What is common to all exchanges: the request, the head and the end around a dialect's frames.

An exchange is a run. Its events carry a JSON object in `meta`: `http.request` has `method` and `url` (and the request's
body as its body), `http.response` has `status`, `http.error` has `error` (else its body is the text).
A raw dump has none of these: there the run begins with the first event and ends with the dialect's own terminator. A
dump of several answers has them one after the other in one run; each of them is a message of its own.
"""

from __future__ import annotations

from collections.abc import Callable
from http import HTTPStatus
from typing import TypeVar
from urllib.parse import urlsplit

from msgspec import Struct

from recorder.deltas import AnyDelta, Failure, MessageClosed, MessageFinished, RunEnded, RunStarted, ToolCallChunk
from recorder.dialects.base import COMMENT, DAMAGED, DONE, END, ERROR, PARTIAL, REQUEST, RESPONSE
from recorder.dialects.frames import Deltas, Frame, damaged_frame, finding, partial_frame, read_frame, read_meta
from recorder.dialects.values import cleaned, compact, int_of, text_of
from recorder.events import Event, NewEvent
from recorder.events.jsontext import NotJson, clean, decode_leniently

_LONGEST_ERROR = 2000
"""Characters of an error's text that are kept beside the log, which has all of it."""


class Exchange(Struct, kw_only=True):
    """What every wire decoder's state begins with."""

    begun: bool = False
    ended: bool = False
    terminated: bool = False
    """Whether the dialect's frames said that the answer is whole: `http.end` is then a proper end."""
    grown: bool = False
    """Whether calls grew after that: of these nothing says that they are whole, until it is said again."""
    status: int | None = None
    error: str | None = None


S = TypeVar("S", bound=Exchange)


def stepper(
    read: Callable[[S, Frame, Deltas], None], read_request: Callable[[Frame, Deltas], None]
) -> Callable[[S, Event | NewEvent], tuple[S, list[AnyDelta]]]:
    """A dialect's `step` out of its two readers.

    `read` takes the frames of a 2xx answer (and sets `terminated`, or calls `end_exchange`), `read_request` the JSON
    body of the request; both append deltas and never raise. Everything else about an exchange is done here.
    """

    def step(state: S, event: Event | NewEvent) -> tuple[S, list[AnyDelta]]:
        out: Deltas = []
        if event.kind == REQUEST:
            begin(state, event, out)
            # A request without a body, or with a form for one, is no finding worth a warning.
            if event.body.strip() and (frame := read_frame(event, out, severity="info")) is not None:
                read_request(frame, out)
        elif not read_part(state, event, out):
            if event.kind == DONE:
                end_exchange(state, event.run_id or "", out)
            elif (frame := read_frame(event, out)) is not None:
                was_whole = state.terminated and not state.ended
                read(state, frame, out)
                _note_growth(state, out, was_whole=was_whole)
        return state, out

    return step


def is_streaming(state: Exchange) -> bool:
    """Whether an answer is open, and nothing was said of its end: one more piece changes nothing but the answer."""
    whole = state.ended or state.terminated
    return state.begun and not whole and state.error is None and (state.status is None or not _refused(state))


def _note_growth(state: Exchange, out: Deltas, *, was_whole: bool) -> None:
    """Notes calls that grew after the answer was said to be whole; a reason to stop behind them says it again."""
    for delta in out:
        if isinstance(delta, MessageFinished):
            state.grown = False
        elif isinstance(delta, ToolCallChunk) and not delta.restated and was_whole:
            state.grown = state.grown or bool(delta.args or delta.name)


def read_part(state: Exchange, event: Event | NewEvent, out: Deltas) -> bool:
    """Reads an event that is no frame of the answer's dialect; false where it is one, and somebody else reads it."""
    if not state.begun:
        begin(state, event, out)
    kind, run_id = event.kind, event.run_id or ""
    if kind == RESPONSE:
        _read_response(state, event, out)
    elif kind == END:
        _read_end(state, event, out)
    elif kind == ERROR:
        _read_error(state, event, out)
    elif kind == PARTIAL:
        out.append(partial_frame(event))
    elif kind == DAMAGED:
        out.append(damaged_frame(event))
    elif kind not in (COMMENT, REQUEST):
        if not _refused(state):
            return False
        if state.error is None:
            fail(state, run_id, f"{_status_line(state)}: {_error_of_body(event.body)}", out)
    return True


def begin(state: Exchange, event: Event | NewEvent, out: Deltas) -> None:
    """The run's start, with what the event says of the request."""
    state.begun = True
    meta = read_meta(event) if event.kind == REQUEST else {}
    method, url = cleaned(meta.get("method")), cleaned(meta.get("url"))
    known = {key: value for key, value in (("method", method), ("url", url)) if value is not None}
    out.append(
        RunStarted(
            run_id=event.run_id or "",
            kind="exchange",
            name=_path(url) if url else None,
            parent_run_id=event.parent_run_id,
            metadata=known or None,
            input="$" if event.kind == REQUEST and event.body.strip() else None,
        )
    )


def fail(state: Exchange, run_id: str, error: object, out: Deltas) -> None:
    """An error that the provider or the transport reported, in whatever shape."""
    text = error_text(error)
    state.error = state.error or text
    out.append(Failure(run_id=run_id, error=text))


def end_exchange(state: Exchange, run_id: str, out: Deltas) -> None:
    """The dialect's terminator was seen. A second one says nothing new."""
    state.terminated, state.grown = True, False
    _end(state, run_id, out)


def begin_answer(state: Exchange, run_id: str, out: Deltas) -> None:
    """Another answer begins behind a whole one (or a failed one): what is still open of that is closed.

    The run is not started again: it ended with its first answer, and where it ends again nothing new is said.
    """
    if not state.ended:
        out.append(MessageClosed(run_id=run_id))
    state.ended = state.terminated = state.grown = False
    state.error = None


def error_text(error: object) -> str:
    """One text of an error: `{"error": …}`, `{"type", "code", "message"}`, a list of such, a string."""
    if isinstance(error, list) and error:
        error = error[0]
    if isinstance(error, dict):
        inner = error.get("error")
        if isinstance(inner, dict | str) and inner:
            error = {**error, **inner} if isinstance(inner, dict) else {"type": inner, **error}
        message = next((error[key] for key in ("message", "detail", "msg") if isinstance(error.get(key), str)), None)
        kinds = (cleaned(error.get(key)) for key in ("type", "code", "status"))
        kind = next((kind for kind in kinds if kind and kind != "error"), None)
        error = (f"{kind}: {message}" if kind else message) if message else kind or compact(error)
    text = error if isinstance(error, str) else compact(error)
    return clean(text.strip()[:_LONGEST_ERROR]) or "an error without a message"


def _end(state: Exchange, run_id: str, out: Deltas) -> None:
    if state.ended:
        return
    state.ended = True
    if state.error is not None:
        out.append(RunEnded(run_id=run_id, kind="exchange", status="error", error=state.error))
    elif state.terminated and not state.grown:
        out.append(MessageClosed(run_id=run_id))
        out.append(RunEnded(run_id=run_id, kind="exchange"))
    else:
        out.append(RunEnded(run_id=run_id, kind="exchange", terminated=False))


def _read_response(state: Exchange, event: Event | NewEvent, out: Deltas) -> None:
    state.status = int_of(read_meta(event).get("status"))
    if state.status is not None:
        out.append(RunStarted(run_id=event.run_id or "", kind="exchange", metadata={"status": state.status}))


def _read_end(state: Exchange, event: Event | NewEvent, out: Deltas) -> None:
    run_id = event.run_id or ""
    if _refused(state) and state.error is None:
        fail(state, run_id, _status_line(state), out)
    unrecorded = text_of(read_meta(event).get("unrecorded"))
    if unrecorded and state.error is None and not state.terminated:
        # Nobody knows how the answer ended: that it broke off would be a guess.
        out.append(finding(run_id, "answer-not-recorded", unrecorded, "warning"))
        state.terminated = True
    _end(state, run_id, out)


def _read_error(state: Exchange, event: Event | NewEvent, out: Deltas) -> None:
    run_id = event.run_id or ""
    reason = text_of(read_meta(event).get("error")) or event.body.decode("utf-8", "replace") or "the connection failed"
    if state.terminated and not state.grown and state.error is None:
        # Who has read the terminator closes the connection, and recorders call that an error (`net::ERR_ABORTED`).
        out.append(finding(run_id, "error-after-end", reason))
    else:
        fail(state, run_id, reason, out)
    _end(state, run_id, out)


def _refused(state: Exchange) -> bool:
    """Whether the status says that what follows is no answer; an error is told once its text is known.

    101 opens a web socket, and a redirection refuses nothing: its answer is another exchange's.
    """
    return state.status is not None and not 100 <= state.status < 400


def _status_line(state: Exchange) -> str:
    try:
        return f"HTTP {state.status} {HTTPStatus(state.status or 0).phrase}"
    except ValueError:
        return f"HTTP {state.status}"


def _error_of_body(body: bytes) -> str:
    try:
        value, _ = decode_leniently(body)
    except NotJson:
        value = body[:_LONGEST_ERROR].decode("utf-8", "replace")
    return error_text(value)


def _path(url: str) -> str:
    try:
        return urlsplit(url).path or "/"
    except ValueError:
        return url
