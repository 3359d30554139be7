"""Hold'em with a short deck as a tree, one state at a time, against which the traversal of the
public tree is checked. Each player knows its own cards and has perfect recall."""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace
from itertools import combinations

from counterplay.core.forms.rules import CHANCE
from counterplay.poker.betting.betting import Betting, BettingRules
from counterplay.poker.cards.evaluator import strength


@dataclass(frozen=True)
class Hand:
    deck: tuple[int, ...]
    betting: Betting
    holdings: tuple[tuple[int, ...], ...] = ()
    board: tuple[int, ...] = ()  # the flop in order of number, then turn and river
    tilt: float = 0.0

    def _left(self) -> list[int]:
        gone = {card for pair in self.holdings for card in pair} | set(self.board)
        return [card for card in self.deck if card not in gone]

    def _missing(self) -> int:
        """Cards of the board that are still to be dealt before anyone acts or wins."""
        wanted = 5 if self.betting.over and self.betting.folded < 0 else self.betting.on_board
        return (wanted if self.betting.folded < 0 else 0) - len(self.board)

    def player(self) -> int:
        if len(self.holdings) < 2 or self._missing() > 0:
            return CHANCE
        return self.betting.player()

    def actions(self) -> Sequence[object]:
        if len(self.holdings) < 2:
            return list(combinations(self._left(), 2))
        if self._missing() > 0:
            return list(combinations(self._left(), 1 if self.board else 3))
        return self.betting.actions()

    def chance(self) -> Sequence[float]:
        n = len(self.actions())
        return [1 / n] * n

    def child(self, action: object) -> Hand:
        if len(self.holdings) < 2:
            return replace(self, holdings=(*self.holdings, action))
        if self._missing() > 0:
            return replace(self, board=(*self.board, *action))
        return replace(self, betting=self.betting.child(action))

    def infoset(self) -> Hashable:
        me = self.betting.player()
        return self.holdings[me], self.board[:3], self.board[3:], self.betting.history

    def payoffs(self) -> Sequence[float]:
        stake = min(self.betting.paid)
        if self.betting.folded >= 0:
            won = -1 if self.betting.folded == 0 else 1
        else:
            mine, other = (strength([*pair, *self.board]) for pair in self.holdings)
            won = (mine > other) - (mine < other)
        return [stake * side * (1 + self.tilt if side > 0 else 1) for side in (won, -won)]


class SmallHoldem:
    """What is won counts 1 + `tilt` times."""

    n_players = 2

    def __init__(self, deck: tuple[int, ...], betting: BettingRules, tilt: float = 0.0) -> None:
        self.deck, self.betting, self.tilt = deck, betting, tilt
        self.zero_sum = tilt == 0.0

    def root(self) -> Hand:
        return Hand(self.deck, self.betting.start(), tilt=self.tilt)
