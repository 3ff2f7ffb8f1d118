r"""Text that every database takes, so that a stream has the same hashes on each of them.

SQLite and Postgres want UTF-8, which has no lone surrogates, and Postgres has no NUL character. Both become their
escapes, six characters: `\ud83d`, `\u0000`.
"""

from __future__ import annotations

import re

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")


def is_storable(text: str) -> bool:
    """Whether the text is stored as it is."""
    return _UNSTORABLE.search(text) is None


def storable(text: str) -> str:
    """The text as it is stored."""
    return _UNSTORABLE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
