"""What to write instead, where a command line is nearly right."""

from __future__ import annotations

import re
import shlex

_SURPLUS = re.compile(r"unexpected extra argument.*? \((.*)\)")
_ONE_TARGET = ("rec show", "rec replay", "rec diff")


def advice(message: str, command: str, arguments: list[str]) -> str | None:
    """The advice for a usage error of the parser, by its message; None where there is none but the help."""
    surplus = _SURPLUS.search(message)
    if command == "rec sql" and surplus:
        return 'quote the query: rec sql "SELECT …"'
    if command not in _ONE_TARGET:
        return None
    words = [word for word in arguments[1:] if not word.startswith("-")]
    if surplus and surplus[1].isdecimal() and (before := words[: words.index(surplus[1])]):
        return f"write {shlex.quote(f'{before[-1]}@{surplus[1]}')}"
    if "No such option: --at" in message:
        place = _value_of("--at", arguments) or "N"
        stream = next((word for word in words if word != place), "latest")
        return f"write {shlex.quote(f'{stream}@{place}')}"
    return None


def _value_of(option: str, arguments: list[str]) -> str | None:
    for word, after in zip(arguments, [*arguments[1:], None], strict=True):
        if word == option:
            return after
        if word.startswith(f"{option}="):
            return word.partition("=")[2]
    return None
