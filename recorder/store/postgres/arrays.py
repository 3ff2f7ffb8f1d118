"""Columns of many rows as one parameter each: arrays in Postgres's binary format.

Source: `array_recv` of PostgreSQL reads dimensions, a flag for NULLs, the element's type, then for each dimension its
length and lower bound, then every element behind its length (-1: NULL). All numbers are big-endian. psycopg's own list
dumper guesses the element's type from the values, which fails where all are None, and is an object an element.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

from psycopg import Connection
from psycopg.adapt import Dumper
from psycopg.pq import Format

_BYTEA, _BIGINT, _TEXT = 17, 20, 25
"""The types' numbers in `pg_type`, fixed for ever."""
_NULL = struct.pack("!i", -1)
_long = struct.Struct("!iq").pack
_length = struct.Struct("!i").pack


class BigInts(list[int | None]):
    """One column of integers of 64 bits. Raises `OverflowError` when it is sent with a greater one in it."""


class Texts(list[str | None]):
    """One column of texts. Raises `UnicodeEncodeError` when it is sent with a lone surrogate or a NUL in it."""


class Blobs(list[bytes | None]):
    """One column of bytes."""


Column = BigInts | Texts | Blobs


def register(connection: Connection) -> None:
    """Teaches a connection to send columns."""
    for kind, dumper in ((BigInts, _BigIntsDumper), (Texts, _TextsDumper), (Blobs, _BlobsDumper)):
        connection.adapters.register_dumper(kind, dumper)


def _packed(element: int, count: int, parts: Sequence[bytes]) -> bytes:
    return struct.pack("!iIIii", 1, 1, element, count, 1) + b"".join(parts)


class _BigIntsDumper(Dumper):
    format = Format.BINARY
    oid = 1016

    def dump(self, obj: BigInts) -> bytes:
        try:
            return _packed(_BIGINT, len(obj), [_NULL if value is None else _long(8, value) for value in obj])
        except struct.error as error:
            raise OverflowError(f"an integer of more than 64 bits, or none: {error}") from None


class _TextsDumper(Dumper):
    format = Format.BINARY
    oid = 1009

    def dump(self, obj: Texts) -> bytes:
        parts: list[bytes] = []
        for value in obj:
            if value is None:
                parts.append(_NULL)
            else:
                data = value.encode()
                if b"\0" in data:
                    place = value.index("\0")
                    raise UnicodeEncodeError("utf-8", value, place, place + 1, "Postgres has no such character")
                parts += (_length(len(data)), data)
        return _packed(_TEXT, len(obj), parts)


class _BlobsDumper(Dumper):
    format = Format.BINARY
    oid = 1001

    def dump(self, obj: Blobs) -> bytes:
        parts: list[bytes] = []
        for value in obj:
            if value is None:
                parts.append(_NULL)
            else:
                parts += (_length(len(value)), value)
        return _packed(_BYTEA, len(obj), parts)
