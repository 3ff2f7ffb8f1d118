"""Content-codings of HTTP bodies, taken off."""

from __future__ import annotations

import importlib
import zlib

from msgspec import Struct

_PIECE_BYTES = 4096
_MARKS = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd")
"""How gzip and zstd bodies begin (RFC 1952, RFC 8878)."""


class Decoded(Struct, frozen=True):
    """A body after content-decoding. `problem`: why it is not, or not all, decoded; None where all is well."""

    body: bytes
    changed: bool
    """Whether anything was decoded: false also where the recorder had done it already."""
    problem: str | None = None


def decode_content(body: bytes, encoding: str | None, *, lenient: bool = False) -> Decoded:
    """A body without its content-codings (RFC 9110, section 8.4.1): gzip, deflate; br and zstd where a module is there.

    A body that does not start as its coding would is taken as decoded by the recorder; `lenient`: so is one of a coding
    without a mark at its start, brotli and bare deflate, that does not decode. One that breaks off gives all that could
    be decoded, and the problem.
    """
    changed = False
    for coding in reversed([name.strip().lower() for name in (encoding or "").split(",")]):
        if coding in ("gzip", "x-gzip"):
            step = _inflate(body, zlib.MAX_WBITS | 16, coding) if body.startswith(b"\x1f\x8b") else Decoded(body, False)
        elif coding == "deflate":
            step = _undeflate(body)
        elif coding in ("br", "zstd"):
            step = _by_module(body, coding)
        else:
            step = Decoded(body, False)
        if lenient and step.problem is not None and not body.startswith(_MARKS):
            step = Decoded(body, False)
        body, changed = step.body, changed or step.changed
        if step.problem is not None:
            return Decoded(body, changed, step.problem)
    return Decoded(body, changed)


def _inflate(body: bytes, window: int, coding: str) -> Decoded:
    decoded, read = bytearray(), 0
    inflater = zlib.decompressobj(window)
    try:
        # In pieces: what came before the damage is kept.
        while read < len(body) and not inflater.eof:
            decoded += inflater.decompress(body[read : read + _PIECE_BYTES])
            read += _PIECE_BYTES
    except zlib.error as error:
        problem = f"{coding} body is damaged after {len(decoded)} decoded bytes ({error})"
        return Decoded(bytes(decoded), True, problem) if decoded else Decoded(body, False, problem)
    if not inflater.eof:
        return Decoded(bytes(decoded), True, f"{coding} body breaks off after {len(decoded)} decoded bytes")
    behind = len(inflater.unused_data) + max(0, len(body) - read)
    return Decoded(bytes(decoded), True, f"{behind} bytes follow the end of the {coding} body" if behind else None)


def _undeflate(body: bytes) -> Decoded:
    """`deflate` means the zlib format (RFC 1950), and servers that send bare deflate data are many."""
    if body[:1] == b"\x78" and int.from_bytes(body[:2], "big") % 31 == 0:
        return _inflate(body, zlib.MAX_WBITS, "deflate")
    return Decoded(body, False) if _is_text(body) else _inflate(body, -zlib.MAX_WBITS, "deflate")


def _by_module(body: bytes, coding: str) -> Decoded:
    if coding == "zstd" and not body.startswith(b"\x28\xb5\x2f\xfd"):
        return Decoded(body, False)
    names = ("brotli", "brotlicffi") if coding == "br" else ("compression.zstd", "backports.zstd", "zstandard")
    for name in names:
        try:
            module = importlib.import_module(name)
        except ImportError:
            continue
        try:
            if name == "zstandard":
                return Decoded(module.ZstdDecompressor().decompressobj().decompress(body), True)
            return Decoded(module.decompress(body), True)
        except Exception as error:
            # Text in a `br` body was decoded by the recorder; brotli has no magic bytes to tell.
            return Decoded(body, False, None if _is_text(body) else f"{coding} body is damaged ({error})")
    return Decoded(body, False, None if _is_text(body) else f"{coding} body kept as it is: no module here decodes it")


def _is_text(body: bytes) -> bool:
    try:
        body.decode()
    except UnicodeDecodeError:
        return False
    return True
