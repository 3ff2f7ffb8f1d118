"""Records what an LLM agent streamed, chunk by chunk, and gives back its state at any event.

`recorder.open(database)` opens a log; `with recorder.capture("name"):` records what happens in the block, `callback`,
`record`, `transport` and `async_transport` what is given to them. Importing the package imports nothing else: each is
fetched when it is first asked for (PEP 562), so that `rec --version` costs what starting Python costs.
"""

from __future__ import annotations

from recorder._version import __version__

TYPE_CHECKING = False
"""As `typing` has it, without its import at every start; type checkers know the name."""

if TYPE_CHECKING:
    from recorder.capture.live.entry import async_transport as async_transport
    from recorder.capture.live.entry import callback as callback
    from recorder.capture.live.entry import record as record
    from recorder.capture.live.entry import transport as transport
    from recorder.capture.live.session import Session as capture
    from recorder.ledger import open as open

__all__ = ["__version__", "async_transport", "callback", "capture", "open", "record", "transport"]


def __getattr__(name: str) -> object:
    if name == "open":
        from recorder import ledger

        return ledger.open
    if name == "capture":
        from importlib import import_module

        # The package itself, which can be called.
        return import_module("recorder.capture")
    if name in ("async_transport", "callback", "record", "transport"):
        from recorder.capture.live import entry

        return getattr(entry, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
