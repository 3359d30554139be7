"""The words of a file of Gambit: quoted texts, braces, and whatever stands between spaces."""

from __future__ import annotations

import math
import re
from fractions import Fraction

from counterplay.core.base.errors import BadFile

_WORD = re.compile(r'"((?:[^"\\]|\\.)*)"|([{}])|,|([^\s{},"]+)|("|\S)', re.DOTALL)
LONGEST = 400  # characters of a number


class Words:
    """Reads a text word by word; every mistake is a `BadFile` that says in which line."""

    def __init__(self, name: str, text: str) -> None:
        self.name = name
        self._text = text
        self._words = _WORD.finditer(text)
        self._next: re.Match[str] | None = None
        self._line_at = 0
        self._line = 1
        self._step()

    def _step(self) -> None:
        self._next = next((m for m in self._words if m[0] != ","), None)

    def more(self) -> bool:
        """Whether anything is left."""
        return self._next is not None

    def is_text(self) -> bool:
        return self._next is not None and self._next[1] is not None

    def is_number(self) -> bool:
        return self._next is not None and bool(re.match(r"[-+.\d]", self._next[3] or ""))

    def opens(self) -> bool:
        return self._next is not None and self._next[2] == "{"

    def closes(self) -> bool:
        return self._next is not None and self._next[2] == "}"

    def text(self) -> str:
        """A quoted text."""
        if not self.is_text():
            raise self.wrong(f"expected a text in quotes, not {self._shown()}")
        assert self._next is not None
        found = re.sub(r"\\(.)", r"\1", self._next[1])
        self._step()
        return found

    def texts(self) -> list[str]:
        """Texts in braces."""
        found = []
        self.open()
        while not self.closes():
            found.append(self.text())
        self.close()
        return found

    def numbers(self) -> list[float]:
        """Numbers in braces."""
        found = []
        self.open()
        while not self.closes():
            found.append(self.number())
        self.close()
        return found

    def open(self) -> None:
        if not self.opens():
            raise self.wrong(f"expected {{, not {self._shown()}")
        self._step()

    def close(self) -> None:
        if not self.closes():
            raise self.wrong(f"expected }}, not {self._shown()}")
        self._step()

    def word(self) -> str:
        """A word without quotes."""
        if self._next is None or not self._next[3]:
            raise self.wrong(f"expected a word, not {self._shown()}")
        found = self._next[3]
        self._step()
        return found

    def whole(self) -> int:
        """A whole number."""
        text = self.word()
        if not re.fullmatch(r"[-+]?\d{1,18}", text):
            raise self.wrong(f"{text[:40]!r} is not a whole number")
        return int(text)

    def number(self) -> float:
        """A whole number, a decimal or a fraction."""
        text = self.word()
        try:
            if len(text) > LONGEST:
                raise ValueError
            found = float(Fraction(text)) if "/" in text else float(text)
        except (ValueError, ZeroDivisionError, OverflowError):
            raise self.wrong(f"{text[:40]!r} is not a number") from None
        if not math.isfinite(found):
            raise self.wrong(f"{text[:40]!r} is not a number to count with")
        return found

    def _shown(self) -> str:
        return "the end of the file" if self._next is None else repr(self._next[0][:40])

    def wrong(self, why: str) -> BadFile:
        """An error with the line that was reached."""
        place = len(self._text) if self._next is None else self._next.start()
        line = self._text.count("\n", 0, place) + 1
        return BadFile(f"{self.name}:{line}: {why}")
