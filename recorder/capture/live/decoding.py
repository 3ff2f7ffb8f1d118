"""Content-codings taken off an answer while it comes."""

from __future__ import annotations

import importlib
import zlib
from collections.abc import Callable
from typing import Any

from recorder.sources.content_coding import decode_content

_GZIP, _ZSTD = b"\x1f\x8b", b"\x28\xb5\x2f\xfd"
"""How such bodies begin (RFC 1952, RFC 8878)."""
_ZLIB_MODULO = 31
"""The first two bytes of a zlib body, as a number, are a multiple of it (RFC 1950, section 2.2)."""


class Decoder:
    """Takes off one coding. What was not coded to begin with passes as it is."""

    def __init__(self, coding: str) -> None:
        self._coding = coding
        self._head = b""
        """The first bytes, while they do not tell yet how the body is coded."""
        self._begun = False
        self._inflate: Callable[[bytes], bytes] | None = None
        self._object: Any = None
        self._kept: bytearray | None = None
        """The whole body, where it can be decoded only at its end."""
        self._decoded = 0
        self._behind = 0
        self.problem: str | None = None
        """Why something of it could not be decoded."""

    @property
    def kept(self) -> bytes:
        """The body as it came, where none of it could be decoded."""
        return b"" if self._kept is None or self.problem is None else bytes(self._kept)

    def feed(self, data: bytes) -> bytes:
        """What the bytes come to so far."""
        if not self._begun:
            self._head += data
            if not self._begin(self._head):
                return b""
            data, self._head = self._head, b""
        if self._kept is not None:
            self._kept += data
            return b""
        return data if self._inflate is None else self._decode(data)

    def end(self, *, whole: bool) -> bytes:
        """What is left. `whole`: nothing is missing, so that a body that breaks off is a problem."""
        rest = b""
        if not self._begun:
            rest, self._head = self._head, b""
        if self._kept is not None:
            found = decode_content(bytes(self._kept), self._coding)
            self.problem = found.problem if whole or not found.body else None
            return b"" if self.problem is not None and not found.changed else found.body
        if self._inflate is not None and self.problem is None:
            if not getattr(self._object, "eof", True) and whole:
                self.problem = f"{self._coding} body breaks off after {self._decoded} decoded bytes"
            elif self._behind:
                self.problem = f"{self._behind} bytes follow the end of the {self._coding} body"
        return rest

    def _begin(self, head: bytes) -> bool:
        """Looks at the first bytes; false where they are too few to tell."""
        if self._coding in ("gzip", "x-gzip"):
            if len(head) < len(_GZIP) and _GZIP.startswith(head):
                return False
            if head.startswith(_GZIP):
                self._use(zlib.decompressobj(zlib.MAX_WBITS | 16))
        elif self._coding == "deflate":
            if len(head) < 2:
                return False
            if head[:1] == b"\x78" and int.from_bytes(head[:2], "big") % _ZLIB_MODULO == 0:
                self._use(zlib.decompressobj())
            else:
                # Bare deflate data and text look alike at their start.
                self._kept = bytearray()
        elif self._coding == "zstd":
            if len(head) < len(_ZSTD) and _ZSTD.startswith(head):
                return False
            if head.startswith(_ZSTD):
                self._use(_zstd())
        else:
            self._use(_brotli())
        self._begun = True
        return True

    def _use(self, decompressor: Any) -> None:
        if decompressor is None:
            self._kept = bytearray()
            return
        self._object = decompressor
        self._inflate = getattr(decompressor, "decompress", None) or decompressor.process

    def _decode(self, data: bytes) -> bytes:
        if self.problem is not None or self._inflate is None:
            return b""
        if getattr(self._object, "eof", False):
            self._behind += len(data)
            return b""
        try:
            decoded = self._inflate(data)
        except Exception as error:  # each module has an error of its own
            if self._coding == "br" and not self._decoded and _is_text(data):
                self._inflate = None  # Brotli has no mark at its start: this was never coded.
                return data
            self.problem = f"{self._coding} body is damaged after {self._decoded} decoded bytes ({error})"
            return b""
        self._decoded += len(decoded)
        self._behind += len(getattr(self._object, "unused_data", b""))
        return decoded


class Decoding:
    """Takes off all codings of a body (RFC 9110, section 8.4.1). `decoded`: somebody has done it already."""

    def __init__(self, encoding: str | None, *, decoded: bool = False) -> None:
        codings = [] if decoded else [name.strip().lower() for name in (encoding or "").split(",")]
        self._steps = [Decoder(coding) for coding in reversed(codings) if coding in _KNOWN]

    @property
    def takes_off(self) -> bool:
        """Whether anything is decoded here."""
        return bool(self._steps)

    def feed(self, data: bytes) -> bytes:
        for step in self._steps:
            data = step.feed(data)
        return data

    def end(self, *, whole: bool) -> bytes:
        """What is left at the end of the body."""
        rest = b""
        for step in self._steps:
            rest = (step.feed(rest) if rest else b"") + step.end(whole=whole)
        return rest

    @property
    def problem(self) -> str | None:
        return next((step.problem for step in self._steps if step.problem is not None), None)

    @property
    def kept(self) -> bytes:
        """The body as it came, where it could not be decoded."""
        return next((step.kept for step in self._steps if step.kept), b"")


_KNOWN = frozenset(("gzip", "x-gzip", "deflate", "br", "zstd"))


def _zstd() -> Any:
    for name in ("compression.zstd", "backports.zstd", "zstandard"):
        module = _module(name)
        if module is not None:
            made = module.ZstdDecompressor()
            return made.decompressobj() if name == "zstandard" else made
    return None


def _brotli() -> Any:
    module = _module("brotli") or _module("brotlicffi")
    return None if module is None else module.Decompressor()


def _module(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError:
        return None


def _is_text(data: bytes) -> bool:
    try:
        data.decode()
    except UnicodeDecodeError as error:
        return error.start >= len(data) - 3 and error.start > 0
    return True
