"""A JSON array whose elements come one by one: what Google streams where nobody asks for server-sent events."""

from __future__ import annotations

import re

from msgspec import structs

from recorder.sources.buffered import Buffered
from recorder.sources.frame import BOM, Frame

_WHITE_SPACE = re.compile(rb"[ \t\r\n]*")
_BRACKET_OR_QUOTE = re.compile(rb'["{}\[\]]')
_QUOTE_OR_ESCAPE = re.compile(rb'["\\]')
_SCALAR_END = re.compile(rb'[ \t\r\n,"{}\[\]]')
_COMMA, _QUOTE, _ESCAPE = b',"\\'
_OPEN_ARRAY, _CLOSE_ARRAY, _OPEN_OBJECT = b"[]{"


class JsonArrayReader(Buffered):
    """Elements of top-level arrays, each as soon as it has closed; a number or a word, when something follows it.

    Brackets, commas and white space before an element belong to its frame; those behind the last one are a `comment`
    frame. One array may follow another. What an element says is not read here, nor whether its brackets match.
    """

    def __init__(self, resume: bytes = b"", *, midway: bool = False) -> None:
        super().__init__(resume)
        self._position = 0
        """Before this offset all has been looked at."""
        self._at_start = not midway
        self._inside = midway
        """Whether an array is open, so that a bracket is not its own."""
        self._element: int | None = None
        """Where the open element begins in the buffer."""
        self._depth = 0
        self._in_string = False

    def feed(self, data: bytes) -> list[Frame]:
        self._buffer += data
        buffer, frames, start = self._buffer, list[Frame](), 0
        while self._find_element() and (stop := self._find_end()) is not None:
            if stop > self._old:
                frames.append(
                    Frame(
                        body=bytes(buffer[self._element : stop]),
                        raw=self._new(start, stop),
                        continues=start < self._old,
                    )
                )
            start = self._position = stop
            self._element = None
        if start:
            self._drop(start)
            self._position -= start
            self._element = None if self._element is None else self._element - start
        return frames

    def end(self) -> list[Frame]:
        old, rest = self._old, self._partial()
        self._clear()
        if len(rest.body) <= old:
            return []
        if self._element is not None or rest.body.rstrip().endswith(b","):
            return [rest]
        return [structs.replace(rest, body=rest.body.rstrip(b"\r\n"), kind="comment")]

    def _find_element(self) -> bool:
        """Goes to where the next element begins; false where its first byte has not come."""
        buffer = self._buffer
        if self._at_start and self._position == 0 and BOM.startswith(buffer[: len(BOM)]):
            if len(buffer) < len(BOM):
                return False
            self._position = len(BOM)
        while self._element is None:
            blank = _WHITE_SPACE.match(buffer, self._position)
            self._position = blank.end() if blank is not None else self._position
            if self._position == len(buffer):
                return False
            byte = buffer[self._position]
            if byte == _COMMA or (byte == _OPEN_ARRAY and not self._inside):
                self._inside = True
            elif byte == _CLOSE_ARRAY:
                self._inside = False
            else:
                self._element = self._position
                break
            self._position += 1
        return True

    def _find_end(self) -> int | None:
        """The end of the open element, None where it has not come."""
        buffer, start = self._buffer, self._element or 0
        if buffer[start] in (_OPEN_ARRAY, _OPEN_OBJECT, _QUOTE):
            return self._find_close()
        end = _SCALAR_END.search(buffer, max(start + 1, self._position))
        self._position = len(buffer)
        return None if end is None else end.start()

    def _find_close(self) -> int | None:
        """The end of the open object, array or string; every byte is looked at once."""
        buffer = self._buffer
        while True:
            sought = _QUOTE_OR_ESCAPE if self._in_string else _BRACKET_OR_QUOTE
            match = sought.search(buffer, self._position)
            if match is None:
                self._position = len(buffer)
                return None
            self._position = match.end()
            byte = buffer[match.start()]
            if byte == _ESCAPE:
                if match.end() == len(buffer):
                    self._position = match.start()
                    return None
                self._position += 1
            elif byte == _QUOTE:
                self._in_string = not self._in_string
            else:
                self._depth += 1 if byte in (_OPEN_ARRAY, _OPEN_OBJECT) else -1
            if self._depth == 0 and not self._in_string:
                return self._position
