"""What `parse_partial_json` makes of the text after the first error in it.

The library computes the closing brackets once, over the whole text, and then cuts the text back until it parses with
those brackets put after it. So after the first error no character adds to the value any more, but every bracket outside
a string still moves it: the value is that of the longest error-free beginning whose open brackets are, by their kinds,
those that are open at the end of all the text. `{"a":[1 x ]` is `{}`, since only `{` is open now; another `[` gives
`{"a":[1]}` again.
"""

from __future__ import annotations

import re

from msgspec import Struct

_OUTSIDE = re.compile(r"[^\"{}\[\]]*")
_INSIDE = re.compile(r'[^"\\]*+(?:\\.[^"\\]*+)*+', re.DOTALL)
_MARKS = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|[{}\[\]]', re.DOTALL)
_OPENER = {"}": "{", "]": "["}


class View(Struct, frozen=True):
    """Which part of the error-free text is the value.

    `until`: the first `until` characters of it. Where that is None: all of it, but what is below the outermost `depth`
    of its open containers.
    """

    depth: int = 0
    until: int | None = None


class _Chain:
    """A chain of bracket kinds from the root, and where the last container with this chain was closed."""

    __slots__ = ("closed", "longer")

    def __init__(self) -> None:
        self.longer: dict[str, _Chain] = {}
        self.closed: int | None = None


class Brackets:
    """Follows strings and brackets after the first error, each character once.

    `good` is the text before it, `kinds` the brackets open there, `in_string` whether it ends inside a string.
    """

    __slots__ = ("_chains", "_escaped", "_extra", "_in_string", "_kept", "_kinds", "_tail", "good")

    def __init__(self, good: str, kinds: str, in_string: bool) -> None:
        self.good = good
        self._kinds = kinds
        self._in_string = in_string
        self._escaped = False
        # The brackets open now are kinds[:kept] and then the extra ones, with kept as large as it can be.
        self._kept = len(kinds)
        self._extra: list[tuple[str, _Chain | None]] = []
        self._chains: list[_Chain] | None = None
        self._tail = len(good.rstrip(" \t\n\r]}"))

    def take(self, text: str, at: int) -> bool:
        """Reads `text[at:]`. False: a closer does not match, for which the library gives None whatever follows."""
        end = len(text)
        while at < end:
            if self._escaped:
                self._escaped = False
                at += 1
            elif self._in_string:
                at = _INSIDE.match(text, at).end()  # type: ignore[union-attr]
                if at < end:
                    self._in_string = self._escaped = text[at] == "\\"
                    at += 1
            else:
                at = _OUTSIDE.match(text, at).end()  # type: ignore[union-attr]
                if at < end:
                    if text[at] == '"':
                        self._in_string = True
                    elif text[at] in _OPENER:
                        if not self._close(_OPENER[text[at]]):
                            return False
                    else:
                        self._open(text[at])
                    at += 1
        return True

    def view(self) -> View | None:
        """What the value is now; None: no beginning has these open brackets, the library raises."""
        if not self._extra:
            return View(depth=self._kept) if self._kept or not self._kinds else None
        chain = self._extra[-1][1]
        if chain is None or chain.closed is None:
            return None
        # Where nothing but closers follows, cutting them off and putting them back is no difference.
        return View(depth=len(self._kinds)) if chain.closed >= self._tail else View(until=chain.closed)

    def _open(self, kind: str) -> None:
        if not self._extra and self._kinds[self._kept : self._kept + 1] == kind:
            self._kept += 1
            return
        if self._chains is None:
            self._chains = _chains(self.good)
        above = self._extra[-1][1] if self._extra else self._chains[self._kept]
        self._extra.append((kind, above.longer.get(kind) if above else None))

    def _close(self, kind: str) -> bool:
        if self._extra:
            return self._extra.pop()[0] == kind
        self._kept -= 1
        return self._kept >= 0 and self._kinds[self._kept] == kind


def _chains(good: str) -> list[_Chain]:
    """The chains of what is open at the end of `good`, outermost first; all others hang below them."""
    chains = [_Chain()]
    for mark in _MARKS.finditer(good):
        kind = good[mark.start()]
        if kind in _OPENER:
            chains.pop().closed = mark.start()
        elif kind != '"':
            chains.append(chains[-1].longer.setdefault(kind, _Chain()))
    return chains
