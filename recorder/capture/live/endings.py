"""Ends of a process that Python's own exit does not pass through: signals, `os._exit`, another program in its place."""

from __future__ import annotations

import functools
import os
import signal
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from types import FrameType
from typing import Any

SECONDS = 1.0
"""How long such an end waits at most for what is not written yet."""

_FUNCTIONS = ("_exit", "abort", "execv", "execve")
"""Those of `os` by which the interpreter is left; the other forms of `exec` call these."""
_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))

_leave: Callable[[float], None] | None = None
_replaced: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {}
"""By name: what was there, and what stands there now."""


def install(leave: Callable[[float], None]) -> None:
    """Has `leave(SECONDS)` called before the process ends. A second call does nothing.

    A signal is only taken where its disposition is the default one, and in the main thread, which alone may. Where the
    program waits in foreign code, the handler waits with it.
    """
    global _leave
    if _leave is not None:
        return
    _leave = leave
    for name in _FUNCTIONS:
        if (original := getattr(os, name, None)) is not None:
            _replaced[name] = (original, _before(original))
            setattr(os, name, _replaced[name][1])
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) is signal.SIG_DFL:
                signal.signal(number, _on_signal)


def uninstall() -> None:
    """Puts back what was there, where nobody has put something else. A second call does nothing."""
    global _leave
    _leave = None
    for name, (original, mine) in _replaced.items():
        if getattr(os, name) is mine:
            setattr(os, name, original)
    _replaced.clear()
    if threading.current_thread() is threading.main_thread():
        for number in _SIGNALS:
            if signal.getsignal(number) is _on_signal:
                signal.signal(number, signal.SIG_DFL)


def stay_interrupted() -> None:
    """Has an exit that Ctrl-C began end as such, by the signal: called by what has run at the exit.

    CPython forgets that nobody handled the `KeyboardInterrupt` as soon as a text is evaluated, as some imports of the
    writer's thread do (`run_eval_code_obj`), and knows it again when such an evaluation ends with that error.
    """
    if getattr(sys, "last_type", None) is not KeyboardInterrupt or hasattr(sys, "ps1"):
        return
    outermost = getattr(sys, "last_traceback", None)
    if outermost is not None and outermost.tb_frame.f_code.co_name == "<module>":
        with suppress(KeyboardInterrupt):
            eval("interrupt()", {"interrupt": _interrupt})


def _interrupt() -> None:
    raise KeyboardInterrupt


def _before(original: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(original)
    def leaving(*args: Any, **kwargs: Any) -> Any:
        _leaving()
        return original(*args, **kwargs)

    return leaving


def _leaving() -> None:
    try:
        if _leave is not None:
            _leave(SECONDS)
    except Exception:
        # Nobody is left to count it.
        return


def _on_signal(number: int, frame: FrameType | None) -> None:
    _leaving()
    if signal.getsignal(number) is _on_signal:
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)
