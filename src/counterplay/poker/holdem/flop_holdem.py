"""`flop_holdem(buckets=10)`: limit hold'em of two betting rounds, with the showdown on the flop.

With `bets=4` the [2-4] hold'em of Johanson et al. (AAAI 2012), with real cards and abstract
strategies, as in `holdem`. Payoffs are in small bets (a small bet is the big blind).
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module
from typing import Any

from counterplay.core.base.errors import whole_number
from counterplay.core.forms.capabilities import SAMPLING_ONLY
from counterplay.core.forms.registry import GameSpec
from counterplay.poker.abstraction.abstraction import CardAbstraction, make_abstraction
from counterplay.poker.abstraction.numbered import DEFAULT_KIND
from counterplay.poker.betting.betting import BettingRules
from counterplay.poker.holdem.game import HoldemRules

BOARD = (0, 3)  # cards on the board
MOST_BETS = 8


class FlopHoldemRules(HoldemRules):
    """Rules of hold'em that ends on the flop."""

    capabilities = replace(SAMPLING_ONLY, also=frozenset({"flops"}))
    evaluator = "flops"
    sampler = "mccfr-external"
    players = "counterplay.poker.players:BoardResolver"  # in a higher layer

    def __init__(self, abstraction: CardAbstraction, bets: int = 4) -> None:
        whole_number(bets, 1, MOST_BETS, "bets")
        super().__init__(
            abstraction, BettingRules(bets=(1.0, 1.0), most_bets=(bets, bets), board=BOARD)
        )

    def match_runner(self) -> Any:
        """Returns the class that plays matches of strategies."""
        return import_module("counterplay.core.match.play").StrategyMatch

    @property
    def on_board(self) -> int:
        return BOARD[-1]

    @property
    def arguments(self) -> str:
        """Arguments in the name of the game."""
        bets = self.betting.most_bets[0]
        return self.abstraction.arguments + ("" if bets == 4 else f",bets={bets}")

    def key(self) -> bytes:
        return b"flop " + super().key()


def _make(
    buckets: int | None = None,
    kind: str = DEFAULT_KIND[BOARD[-1]],
    preflop: int | None = None,
    flop: int | None = None,
    bets: int = 4,
) -> Any:
    numbers = {"buckets": buckets, "preflop": preflop, "flop": flop, "turn": None, "river": None}
    return FlopHoldemRules(make_abstraction(kind, numbers, BOARD[-1]), bets)


GAME = GameSpec(
    "flop_holdem",
    _make,
    "limit hold'em of two rounds with the showdown on the flop, real cards seen through buckets",
    (
        "flop_holdem(buckets=10)",
        "flop_holdem(buckets=5,kind=nested)",
        "flop_holdem(buckets=100,kind=emd)",
    ),
    arguments=lambda rules: rules.arguments,
)
