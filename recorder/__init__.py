"""Records what an LLM agent streamed, chunk by chunk, and gives back its state at any event.

`recorder.open(database)` opens a log. Importing the package imports nothing else: `open` is fetched when it is first
asked for (PEP 562), so that `rec --version` costs what starting Python costs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from recorder._version import __version__

if TYPE_CHECKING:
    from recorder.ledger import Ledger

    open = Ledger.open

__all__ = ["__version__", "open"]


def __getattr__(name: str) -> object:
    if name == "open":
        from recorder.ledger import Ledger

        return Ledger.open
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
