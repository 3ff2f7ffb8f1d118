"""When a handler is inline: always, but to one function of LangChain's.

`AsyncCallbackManager.on_llm_start` calls no handler that is not inline once one is (langchain#39633, there in
langchain-core 1.8): a program's own handlers, `astream_events` among them, would miss the starts of text models because
the recorder listens. To that function the handler is like those; `ahandle_event`, to which it gives them, asks again
and calls it inline. Where the program has an inline handler itself, ours is one more, or it would be missed as well.
"""

from __future__ import annotations

import functools
import sys
from types import CodeType, FrameType
from typing import Any


class Inline:
    """The attribute `run_inline` of a handler's class."""

    def __get__(self, handler: Any, owner: type | None = None) -> bool:
        frame = sys._getframe(1)
        if handler is None or frame.f_code not in _asking():
            return True
        try:
            return _has_inline_handler(frame, type(handler))
        except Exception:
            return True


def _has_inline_handler(frame: FrameType, ours: type) -> bool:
    """Whether the manager that asks has one that is not ours."""
    manager = (_manager_of(frame) or _manager_of(frame.f_back)).handlers
    return any(each.run_inline for each in manager if not isinstance(each, ours))


def _manager_of(frame: FrameType | None) -> Any:
    return None if frame is None else frame.f_locals.get("self")


@functools.cache
def _asking() -> frozenset[CodeType]:
    """The function's code, and that of the comprehensions in it, which have their own up to Python 3.11."""
    from langchain_core.callbacks.manager import AsyncCallbackManager

    code = AsyncCallbackManager.on_llm_start.__code__
    return frozenset((code, *(each for each in code.co_consts if isinstance(each, CodeType))))
