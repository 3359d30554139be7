"""The one interface of a hold'em player. A bot of your own is a class with the method `act`; the
rest is optional.

A bot sees what a player at the table sees: his own cards, the board so far and the betting. Amounts
are in small bets.
"""

from __future__ import annotations

from typing import NamedTuple

from counterplay.poker.betting.betting import Betting


class View(NamedTuple):
    """What a player sees when it is his turn."""

    seat: int  # 0: dealer and small blind, 1: big blind
    cards: tuple[int, int]  # his own; a card is 4 · rank + suit
    board: tuple[int, ...]  # 0, 3, 4 or 5 cards
    # public state: round, bets, what each has paid, history; `betting.actions()` are the legal ones
    betting: Betting
    node: int  # the same as a number, a node of the `BettingTree`


class Ending(NamedTuple):
    """What a player sees when a hand is over."""

    seat: int
    cards: tuple[int, int]
    board: tuple[int, ...]
    betting: Betting
    won: float  # by this player, in small bets
    shown: tuple[int, int] | None  # the other player's cards, at a showdown only


class Bot:
    """Base class with nothing to remember. `act` answers fold, call (also: check) or raise
    (also: bet)."""

    name = "bot"

    def start(self, seed: int) -> None:
        """A new session: forget everything, seed your random numbers."""

    def seed(self, seed: int) -> None:
        """A new deal: draw from this seed from now on, and keep what you remember. Makes deals
        independent of each other."""

    def new_hand(self, seat: int) -> None:
        """A new hand is dealt."""

    def act(self, view: View) -> str:
        """What to do: one of `view.betting.actions()`."""
        raise NotImplementedError

    def end_hand(self, ending: Ending) -> None:
        """The hand is over."""
