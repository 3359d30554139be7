"""`holdem(buckets=10)`: two-player limit Texas Hold'em with real cards and abstract strategies.

The game is a betting tree (`poker/betting`: ACPC limit rules) and a card abstraction
(`poker/abstraction`: buckets of effective hand strength, or others). An information set has the
current bucket alone, so there is no perfect recall. Payoffs are in small bets.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.store import cache_root
from counterplay.core.forms.capabilities import SAMPLING_ONLY
from counterplay.core.forms.registry import GameSpec
from counterplay.poker.abstraction.abstraction import (
    Buckets,
    CardAbstraction,
    bucket_shares,
    cards_of,
    make_abstraction,
)
from counterplay.poker.abstraction.ehs import EQUAL_WIDTH
from counterplay.poker.betting import rows
from counterplay.poker.betting.betting import LIMIT, BettingRules, BettingTree, betting_tree
from counterplay.poker.cards import tables
from counterplay.poker.holdem.form import BettingGame, betting_game

#: Buckets after the flop from which public chance sampling converges faster than external sampling
#: (`benchmarks/public.csv`).
MANY_BUCKETS = 50


class HoldemRules:
    """Rules of hold'em with a form of their own; the tables are loaded or built on first use.

    Betting may end before the river; at a showdown the rest of the board is dealt.
    """

    n_players = 2
    zero_sum = True
    #: `boards`: vector-form traversal of the public tree; `bots`: matches on dealt cards; `hands`:
    #: hand histories, and models learnt from them; `grid`: pictures of starting hands
    capabilities = replace(SAMPLING_ONLY, also=frozenset({"boards", "bots", "hands", "grid"}))
    evaluator = "boards"
    forgotten = "their earlier buckets"
    unit = ("small bets", "hand", "sb/h")
    seats = ("dealer", "big blind")
    players = "counterplay.poker.players:HoldemResolver"  # in a higher layer

    def __init__(self, abstraction: CardAbstraction, betting: BettingRules = LIMIT) -> None:
        if betting.board != LIMIT.board[: betting.n_streets]:
            raise BadParameter(
                f"hold'em has boards of {LIMIT.board} cards, one for each street and in that "
                f"order; got {betting.board}"
            )
        self.abstraction, self.betting = abstraction, betting

    def match_runner(self) -> Any:
        """Returns the class that plays matches on real cards, from a higher layer."""
        return import_module("counterplay.poker.match.match").HoldemMatch

    def cfr_br(self, game: Any, settings: Any) -> Any:
        """Returns the engine of CFR-BR, from a higher layer."""
        return import_module("counterplay.poker.vector.cfr_br").HoldemCfrBr(game, settings)

    @property
    def tree(self) -> BettingTree:
        return betting_tree(self.betting)

    @property
    def sampler(self) -> str:
        """Name of the default sampling solver."""
        many = max(self.abstraction.counts[1:]) >= MANY_BUCKETS
        return "mccfr-public" if many else "mccfr-external"

    @property
    def depth(self) -> int:
        return self.tree.depth

    @property
    def buckets(self) -> Buckets:
        return _made(self.abstraction, self.betting, self.on_board, cache_root())[0]

    def bucket_shares(self) -> tuple[np.ndarray, ...]:
        """Returns the frequency of each bucket, by street: float64[buckets] each."""
        return _shares(self.abstraction, self.betting, cache_root())

    @property
    def on_board(self) -> int:
        """Cards of the board at a showdown."""
        return LIMIT.board[-1]

    def form(self) -> BettingGame:
        return _made(self.abstraction, self.betting, self.on_board, cache_root())[1]

    def slots(self) -> np.ndarray:
        """Returns int64[information sets, 3]: slot of fold, call and raise, -1 where illegal."""
        return _slots(self.betting, self.abstraction.counts)

    def labels(self) -> tuple[list[str], list[str]]:
        infosets: list[str] = []
        slots: list[str] = []
        tree = self.tree
        counts = rows.buckets_at(tree, self.abstraction.counts).tolist()
        for node, n in zip(tree.nodes.node.tolist(), counts, strict=True):
            history = tree.histories[node] or "start"
            infosets += [f"{history} bucket {bucket}" for bucket in range(n)]
            slots += tree.actions[node] * n
        return infosets, slots

    def draw_grid(self, strategy: Any) -> Any:
        """Returns a figure of the strategy's starting hands."""
        from counterplay.poker.holdem.grid import draw_grid

        return draw_grid(strategy)

    def grid_html(self, strategy: Any) -> str:
        """Returns the starting hands as HTML for a notebook."""
        from counterplay.poker.holdem.grid import grid_html

        return grid_html(strategy)

    def key(self) -> bytes:
        betting = "" if self.betting == LIMIT else f" {self.betting}"
        return f"holdem {self.abstraction.key} ehs {tables.VERSION}{betting}".encode()


@lru_cache(maxsize=3)
def _made(
    abstraction: CardAbstraction, betting: BettingRules, on_board: int, folder: Path
) -> tuple[Buckets, BettingGame]:
    """Returns buckets and form, which are large, never change, and are shared by all games of the
    same abstraction."""
    buckets = abstraction.buckets()
    cards = cards_of(buckets, abstraction.deck)
    return buckets, betting_game(betting_tree(betting), cards, abstraction.counts, on_board)


@lru_cache(maxsize=3)
def _shares(
    abstraction: CardAbstraction, betting: BettingRules, folder: Path
) -> tuple[np.ndarray, ...]:
    buckets = _made(abstraction, betting, LIMIT.board[-1], folder)[0]
    shares = tuple(bucket_shares(buckets, abstraction.counts))
    for share in shares:
        share.setflags(write=False)
    return shares


@lru_cache(maxsize=3)
def _slots(betting: BettingRules, counts: tuple[int, ...]) -> np.ndarray:
    slots = rows.slots_of(betting_tree(betting), counts)
    slots.setflags(write=False)
    return slots


def _make(
    buckets: int | None = None,
    kind: str = EQUAL_WIDTH,
    abstraction: str = "ehs",
    preflop: int | None = None,
    flop: int | None = None,
    turn: int | None = None,
    river: int | None = None,
) -> Any:
    numbers = {"buckets": buckets, "preflop": preflop, "flop": flop, "turn": turn, "river": river}
    return HoldemRules(make_abstraction(abstraction, numbers, kind))


GAME = GameSpec(
    "holdem",
    _make,
    "two-player limit Texas Hold'em, real cards seen through EHS buckets (the paper's: 10 and 100)",
    (
        "holdem(buckets=10)",
        "holdem(buckets=100,kind=percentile)",
        "holdem(preflop=50,flop=20,turn=20,river=10)",
        "holdem(abstraction=sparbot)",
    ),
    arguments=lambda rules: rules.abstraction.arguments,
)
