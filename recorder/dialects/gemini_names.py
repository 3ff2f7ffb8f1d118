"""Google's field names: JSON has `functionCall`, and every reader of it takes `function_call` too."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Any

from recorder.dialects.values import dict_of

_WORD_BREAK = re.compile(r"_+([a-z0-9])")


def named(value: object) -> dict[str, Any]:
    """The object's fields under their lowerCamelCase names; an empty one where it is no object.

    Protocol Buffers' "ProtoJSON format": parsers accept both the lowerCamelCase name and the original field name. Some
    clients send the latter, and dumps made with Google's SDK for Python have it in answers as well.
    """
    fields = dict_of(value)
    if not any("_" in name for name in fields):
        return fields
    return {_camel(name): item for name, item in fields.items()}


@lru_cache(maxsize=512)
def _camel(name: str) -> str:
    return _WORD_BREAK.sub(lambda match: match[1].upper(), name)
