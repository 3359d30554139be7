"""Places of the betting, as locks name them: a street, with or without a seat before it and what is
faced after it. `river`, `dealer river`, `bb flop facing bet`, `preflop facing re-raise`.

In a spot the player in position is the dealer. `facing raise` is a raise or a re-raise.
"""

from __future__ import annotations

from typing import NamedTuple

from counterplay.poker.betting.betting import STREETS

SEATS = {"dealer": 0, "button": 0, "sb": 0, "bb": 1}
SEAT_NAMES = ("dealer", "bb")
LONG_NAMES = {"big blind": "bb", "out of position": "bb", "in position": "dealer"}
#: The number of bets of the street that are faced: from the first to the last.
FACING = {"nothing": (0, 0), "bet": (1, 1), "raise": (2, 99), "re-raise": (3, 99)}


class Place(NamedTuple):
    """Decisions of both players (`seat` None) or one, facing anything (`facing` empty) or not."""

    street: int
    seat: int | None
    facing: str

    def has(self, street: int, seat: int, bets: int) -> bool:
        """Whether a decision is here; `bets`: how many are faced, the big blind is one."""
        low, high = FACING[self.facing] if self.facing else (0, 99)
        return street == self.street and self.seat in (None, seat) and low <= bets <= high


def find_place(text: str) -> Place | None:
    """The place that a text names, if it does."""
    text = " ".join(text.lower().split())
    for name, short in LONG_NAMES.items():
        text = text.replace(name, short)
    where, _, facing = text.partition(" facing ")
    words = where.split()
    seats = [SEATS[word] for word in words[:-1] if word in SEATS]
    known = words and words[-1] in STREETS and len(words) <= 2 and len(seats) == len(words) - 1
    if not known or facing not in ("", *FACING):
        return None
    return Place(STREETS.index(words[-1]), seats[0] if seats else None, facing)
