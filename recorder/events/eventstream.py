"""Messages of AWS's event streams, `application/vnd.amazon.eventstream`: bytes into parts, and parts into bytes.

Source: the Smithy specification, "Amazon Event Stream Specification". A message is a prelude (its length, its headers'
length, a checksum of both: three unsigned 32-bit numbers, big end first), headers, a payload, and a checksum of all
that stands before it. Checksums are CRC-32 as zlib has it.

It is written here and not taken from botocore, which is 30 MB: a recorder must read a recording with what it always
has. A test holds that botocore reads the same.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Mapping
from zlib import crc32

PRELUDE_BYTES = 12
_CHECKSUM_BYTES = 4
_MOST_HEADER_BYTES = 128 * 1024
_MOST_PAYLOAD_BYTES = 24 * 1024 * 1024
"""The specification's limits: a prelude that says more is none."""

_PRELUDE = struct.Struct("!III")
_CHECKSUM = struct.Struct("!I")
_LENGTH = struct.Struct("!H")
_LIKELY_PRELUDE = re.compile(rb"(?=[\x00\x01].{3}\x00[\x00-\x02])", re.DOTALL)
"""Where a prelude within the limits may begin: most bytes are ruled out without a checksum."""

_TRUE, _FALSE, _BYTES, _TEXT, _UUID = 0, 1, 6, 7, 9
_NUMBERS = {2: struct.Struct("!b"), 3: struct.Struct("!h"), 4: struct.Struct("!i"), 5: struct.Struct("!q")}
_NUMBERS[8] = _NUMBERS[5]
"""Header types that are numbers; 8 is a time, in milliseconds since the epoch."""
_UUID_BYTES = 16

HeaderValue = bool | int | bytes | str
Headers = dict[str, HeaderValue]


def message_bytes(buffer: bytes | bytearray, at: int) -> int | None:
    """How many bytes the message has that begins at this offset; None where no whole, sound prelude begins there."""
    if len(buffer) - at < PRELUDE_BYTES:
        return None
    total, headers, checksum = _PRELUDE.unpack_from(buffer, at)
    payload = total - headers - PRELUDE_BYTES - _CHECKSUM_BYTES
    if headers > _MOST_HEADER_BYTES or not 0 <= payload <= _MOST_PAYLOAD_BYTES:
        return None
    return total if crc32(buffer[at : at + 8]) == checksum else None


def find_message(buffer: bytes | bytearray, at: int) -> int | None:
    """The first offset, from this one on, at which a sound prelude stands."""
    starts = (match.start() for match in _LIKELY_PRELUDE.finditer(buffer, at))
    return next((start for start in starts if message_bytes(buffer, start) is not None), None)


def is_sound(message: bytes) -> bool:
    """Whether the checksum of a whole message, whose prelude is sound, fits it."""
    return message[-_CHECKSUM_BYTES:] == _CHECKSUM.pack(crc32(message[:-_CHECKSUM_BYTES]))


def decode(message: bytes) -> tuple[Headers | None, bytes]:
    """Headers and payload of a sound message; None for headers that cannot be read."""
    end = PRELUDE_BYTES + _PRELUDE.unpack_from(message)[1]
    return _headers(message[PRELUDE_BYTES:end]), message[end:-_CHECKSUM_BYTES]


def encode(headers: Mapping[str, str], payload: bytes) -> bytes:
    """The message with these headers, all of them texts. Raises `ValueError` for what the format has no room for."""
    packed = bytearray()
    for name, value in headers.items():
        text = value.encode()
        try:
            packed += bytes((len(name.encode()),)) + name.encode() + bytes((_TEXT,)) + _LENGTH.pack(len(text)) + text
        except struct.error:
            raise ValueError(f"header {name} has {len(text)} bytes") from None
    total = PRELUDE_BYTES + len(packed) + len(payload) + _CHECKSUM_BYTES
    lengths = struct.pack("!II", total, len(packed))
    message = lengths + _CHECKSUM.pack(crc32(lengths)) + packed + payload
    return message + _CHECKSUM.pack(crc32(message))


def _headers(data: bytes) -> Headers | None:
    headers: Headers = {}
    at = 0
    try:
        while at < len(data):
            name_end = at + 1 + data[at]
            name, kind, at = data[at + 1 : name_end].decode(), data[name_end], name_end + 1
            if kind in (_TRUE, _FALSE):
                headers[name] = kind == _TRUE
            elif kind in _NUMBERS:
                headers[name] = _NUMBERS[kind].unpack_from(data, at)[0]
                at += _NUMBERS[kind].size
            elif kind in (_BYTES, _TEXT, _UUID):
                if kind == _UUID:
                    end = at + _UUID_BYTES
                else:
                    at, end = at + _LENGTH.size, at + _LENGTH.size + _LENGTH.unpack_from(data, at)[0]
                value = data[at:end]
                headers[name] = value.decode() if kind == _TEXT else value
                at = end
            else:
                return None
    except (IndexError, UnicodeDecodeError, struct.error):
        return None
    return headers if at == len(data) else None
