"""The interface of a hold'em player. A user-defined bot is a class with the method `act`; the other
methods are optional.

A bot sees what a player at the table sees: its own cards, the board so far and the betting. Amounts
are in small bets.
"""

from __future__ import annotations

from typing import NamedTuple

from counterplay.poker.betting.betting import Betting


class View(NamedTuple):
    """What the player to act sees."""

    seat: int  # 0: dealer and small blind, 1: big blind
    cards: tuple[int, int]  # own; a card is 4 · rank + suit
    board: tuple[int, ...]  # 0, 3, 4 or 5 cards
    # public state: round, bets, amounts paid, history; `betting.actions()` lists the legal actions
    betting: Betting
    node: int  # number of the public state in the `BettingTree`


class Ending(NamedTuple):
    """What a player sees at the end of a hand."""

    seat: int
    cards: tuple[int, int]
    board: tuple[int, ...]
    betting: Betting
    won: float  # by this player, in small bets
    shown: tuple[int, int] | None  # the opponent's cards, at a showdown only


class Bot:
    """Base class of bots without memory. `act` returns fold, call (also: check) or raise (also:
    bet)."""

    name = "bot"

    def start(self, seed: int) -> None:
        """A new session: clears all memory and seeds the random numbers."""

    def seed(self, seed: int) -> None:
        """A new deal: seeds the random numbers and keeps the memory. Makes deals independent."""

    def new_hand(self, seat: int) -> None:
        """A new hand is dealt."""

    def act(self, view: View) -> str:
        """The action: one of `view.betting.actions()`."""
        raise NotImplementedError

    def end_hand(self, ending: Ending) -> None:
        """The hand is over."""
