"""Records what an LLM agent streamed, chunk by chunk, and gives back its state at any event.

`recorder.open(database)` opens a log. Importing the package imports nothing else: `open` is fetched when it is first
asked for (PEP 562), so that `rec --version` costs what starting Python costs.
"""

from __future__ import annotations

from recorder._version import __version__

TYPE_CHECKING = False
"""As `typing` has it, without its import at every start; type checkers know the name."""

if TYPE_CHECKING:
    from recorder.ledger import open as open

__all__ = ["__version__", "open"]


def __getattr__(name: str) -> object:
    if name == "open":
        from recorder import ledger

        return ledger.open
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
