"""One line of a dealer's log, taken apart, before anybody knows the blinds or who is who."""

from __future__ import annotations

import re
from math import isfinite
from typing import NamedTuple

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.histories.records import (
    DEALER,
    Holding,
    end_of,
    parse_cards,
    parse_holding,
)

MOST_IN_LINE = 10_000  # bytes
OTHER_GAME = "only two-player limit hold'em is read here"
_STAMP = re.compile(r"\s+#\s.*$")  # a time, say, that a program has added
_SIZED = re.compile(r"[rb]\d")


class LoggedHand(NamedTuple):
    """A STATE line. Pairs are by position."""

    number: int
    betting: str
    holes: tuple[Holding | None, Holding | None]
    board: tuple[int, ...]
    values: tuple[float, float]  # chips
    names: tuple[str, str]

    @property
    def chips(self) -> float | None:
        """Of a big blind, by what was won; None where that is nothing."""
        return abs(self.values[1]) / min(end_of(self.betting).paid) or None

    @property
    def dealer(self) -> int | None:
        """The position of the dealer, where a fold tells."""
        folded = end_of(self.betting).folded
        if folded == NO_FOLD:
            return None
        loser = 0 if self.values[0] < 0 else 1
        return loser if folded == DEALER else 1 - loser


class LoggedScore(NamedTuple):
    """A SCORE line."""

    totals: tuple[float, float]  # chips
    names: tuple[str, str]


def parse_line(raw: bytes) -> LoggedHand | LoggedScore:
    """A line that is no comment, or `BadParameter`."""
    line = _STAMP.sub("", _text(raw))
    if line.startswith("SCORE:"):
        return _score(line)
    parts = line.split(":", 5)
    if parts[0] != "STATE":
        raise BadParameter(f"neither a hand (STATE:...), a SCORE nor a comment: {line[:40]!r}")
    if len(parts) != 6:
        raise BadParameter(
            f"{len(parts)} parts; a hand has 6: STATE:number:betting:cards:values:names"
        )
    _, number, betting, shown, values, names = parts
    if not (number.isascii() and number.isdecimal() and len(number) <= 18):
        raise BadParameter(f"hand number {number[:40]!r}")
    if names.count("|") > 1:
        raise BadParameter(f"a hand of {names.count('|') + 1} players; {OTHER_GAME}")
    if _SIZED.search(betting):
        raise BadParameter(f"betting {betting[:40]!r} has sizes, as in no-limit; {OTHER_GAME}")
    end_of(betting)
    holes, board = _cards(shown)
    amounts = _amounts(values)
    if not abs(sum(amounts)) <= 1e-6 * max(1.0, abs(amounts[0])):
        raise BadParameter(f"values {values!r} do not sum to zero")
    return LoggedHand(int(number), betting, holes, board, amounts, _pair(names, "names"))


def _text(raw: bytes) -> str:
    if len(raw) > MOST_IN_LINE:
        raise BadParameter(f"a line of {len(raw):,} bytes; a hand has less than {MOST_IN_LINE:,}")
    try:
        return raw.decode().strip()
    except UnicodeDecodeError:
        raise BadParameter("not text") from None


def _score(line: str) -> LoggedScore:
    parts = line.split(":", 2)
    if len(parts) != 3:
        raise BadParameter(f"{line[:40]!r}: expected SCORE:totals:names")
    if parts[2].count("|") > 1:
        raise BadParameter(f"a SCORE of {parts[2].count('|') + 1} players; {OTHER_GAME}")
    return LoggedScore(_amounts(parts[1]), _pair(parts[2], "names"))


def _pair(text: str, what: str) -> tuple[str, str]:
    parts = text.split("|")
    if len(parts) != 2:
        raise BadParameter(f"{what} {text[:40]!r}: expected two, with | between")
    return parts[0], parts[1]


def _amounts(text: str) -> tuple[float, float]:
    try:
        one, two = (float(part) for part in _pair(text, "values"))
    except CounterplayError:
        raise
    except ValueError:
        raise BadParameter(f"values {text[:40]!r} are not numbers") from None
    if not (isfinite(one) and isfinite(two)):
        raise BadParameter(f"values {text[:40]!r} are not numbers")
    return one, two


def _cards(text: str) -> tuple[tuple[Holding | None, Holding | None], tuple[int, ...]]:
    """Hole cards by position, and the board."""
    private, *streets = text.split("/")
    one, two = (parse_holding(hole) if hole else None for hole in _pair(private, "hole cards"))
    sizes = [len(street) // 2 for street in streets]
    if sizes != [3, 1, 1][: len(sizes)]:
        raise BadParameter(
            f"board {'/'.join(streets)[:40]!r}: expected flop/turn/river with 3, 1 and 1 cards"
        )
    return (one, two), parse_cards("".join(streets))
