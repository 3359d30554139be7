"""Leduc hold'em: six cards (J, Q, K in two suits), two rounds with bets of 2 and 4, at most two
bets a round, ante 1. With more ranks, suits or bets it grows beyond a tree.

A pair with the public card wins, otherwise the higher card; equal ranks split the pot. Player 1
acts first in both rounds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import permutations

from counterplay.base.errors import BadParameter, whole_number
from counterplay.forms.rules import CHANCE, TERMINAL
from counterplay.forms.spec import GameSpec
from counterplay.games.leduc_compiled import CompiledLeduc

RANKS = "JQKA23456789T"  # the first ones are used, the first of them the lowest
SUITS = "shdc"
BET_SIZE = (2, 4)
FOLD, CALL, RAISE = "fold", "call", "raise"


@dataclass(frozen=True)
class LeducState:
    game: Leduc
    cards: tuple[str, ...] = ()  # player 1, player 2, public
    rounds: tuple[str, ...] = ("",)  # letters f, c, r per round

    @property
    def _closed(self) -> bool:
        """The last round of betting so far is over: a call that answers something."""
        bets = self.rounds[-1]
        return len(bets) >= 2 and bets[-1] == "c"

    def player(self) -> int:
        if len(self.cards) < 2:
            return CHANCE
        if self.rounds[-1].endswith("f"):
            return TERMINAL
        if self._closed:
            return TERMINAL if len(self.rounds) == 2 else CHANCE
        return len(self.rounds[-1]) % 2

    def actions(self) -> list[str]:
        if len(self.cards) < 2:
            return ["".join(deal) for deal in permutations(self.game.deck, 2)]
        if self._closed:
            return [card for card in self.game.deck if card not in self.cards]
        bets = self.rounds[-1]
        facing = [FOLD] if bets.endswith("r") else []
        return [*facing, CALL, *([RAISE] if bets.count("r") < self.game.raises else [])]

    def chance(self) -> list[float]:
        n = len(self.actions())
        return [1.0 / n] * n

    def child(self, action: str) -> LeducState:
        if len(self.cards) < 2:
            return LeducState(self.game, (action[:2], action[2:]))
        if self._closed:
            return LeducState(self.game, (*self.cards, action), (*self.rounds, ""))
        return LeducState(self.game, self.cards, (*self.rounds[:-1], self.rounds[-1] + action[0]))

    def infoset(self) -> str:
        shown = (self.cards[self.player()], *self.cards[2:])
        cards = "|".join(card if self.game.shown else card[0] for card in shown)
        return f"{cards} {'/'.join(self.rounds)}".rstrip()

    def passive(self) -> str:
        return CALL

    def _paid(self) -> list[float]:
        """Chips each player put in."""
        paid = [1.0, 1.0]
        for size, bets in zip(BET_SIZE, self.rounds, strict=False):
            for turn, action in enumerate(bets):
                if action in "cr":
                    paid[turn % 2] = max(paid) + (size if action == "r" else 0.0)
        return paid

    def payoffs(self) -> list[float]:
        paid = self._paid()
        if self.rounds[-1].endswith("f"):
            loser = (len(self.rounds[-1]) - 1) % 2
            gain = paid[loser] if loser == 1 else -paid[loser]
            return [gain, -gain]
        public = self.cards[2][0]
        strength = [(card[0] == public, self.game.ranks.index(card[0])) for card in self.cards[:2]]
        gain = paid[0] * ((strength[0] > strength[1]) - (strength[0] < strength[1]))
        return [gain, -gain]


class Leduc:
    """Leduc hold'em with cards of so many `ranks` and `suits` and at most `raises` bets a round.

    `suits=False`: two of them, and information sets that differ only in suits are one (288 instead
    of 936); True: two.
    """

    n_players = 2

    def __init__(self, suits: bool | int = True, ranks: int = 3, raises: int = 2) -> None:
        self.shown = suits is not False
        if not isinstance(suits, bool):
            suits = whole_number(suits, 2, len(SUITS), "suits")
        self.suits = SUITS[: 2 if isinstance(suits, bool) else suits]
        self.ranks = RANKS[: whole_number(ranks, 2, len(RANKS), "ranks")]
        self.raises = whole_number(raises, 1, 12, "raises")
        self.deck = tuple(rank + suit for rank in self.ranks for suit in self.suits)
        if len(self.deck) < 3:
            raise BadParameter("leduc needs at least three cards: give it more ranks or suits")

    def root(self) -> LeducState:
        return LeducState(self)

    def compiled(self) -> CompiledLeduc:
        """The same without a tree."""
        return CompiledLeduc(self.ranks, self.suits, self.raises, self.shown)

    def count_nodes(self) -> int:
        """Exact: deals times what can be done in a round, and after those that end by a call the
        public card and a second round."""
        m, cards = self.raises, len(self.deck)
        nodes = sum(1 for _ in _rounds(m))
        closed = sum(1 for bets in _rounds(m) if len(bets) >= 2 and bets.endswith("c"))
        return 1 + cards * (cards - 1) * (nodes + closed * (cards - 2) * nodes)

    def openspiel(self) -> str | None:
        """The same game there."""
        usual = self.shown and len(self.deck) == 6 and self.raises == 2 and len(self.suits) == 2
        return "leduc_poker" if usual else None


def _rounds(most: int) -> Iterator[str]:
    """All that can be done in a round so far, by letters f, c, r."""
    waiting = [""]
    while waiting:
        bets = waiting.pop()
        yield bets
        if bets.endswith("f") or (len(bets) >= 2 and bets.endswith("c")):
            continue
        facing = "f" if bets.endswith("r") else ""
        waiting += [bets + do for do in f"{facing}c{'r' if bets.count('r') < most else ''}"]


GAME = GameSpec(
    "leduc",
    Leduc,
    "Leduc hold'em: six cards, two rounds; or more ranks, suits and raises",
    ("leduc", "leduc(suits=False)", "leduc(ranks=5,suits=4)"),
)
