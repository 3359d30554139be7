"""`holdem(buckets=10)`: two-player limit Texas Hold'em with real cards, of which a strategy sees a
bucket.

Hold'em is betting (`betting.py`: ACPC limit rules) times a view of the cards (`views/`: buckets by
effective hand strength, or others); only the current bucket counts, so there is no perfect recall.
Payoffs are in small bets.
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
from counterplay.poker.betting import rows
from counterplay.poker.betting.betting import LIMIT, BettingRules, BettingTree, betting_tree
from counterplay.poker.cards import tables
from counterplay.poker.holdem.form import BettingGame, betting_game

#: Buckets after the flop from which public chance sampling is ahead of external sampling
#: (`benchmarks/public.csv`).
MANY_BUCKETS = 50


class HoldemRules:
    """Rules with a form of their own; the tables are loaded, or built, on first use.

    Betting may have fewer streets than there are; at a showdown the board is dealt out.
    """

    n_players = 2
    zero_sum = True
    #: `boards`: vector-form traversal of the public tree; `bots`: matches on dealt cards; `hands`:
    #: logs of hands, and models that learn from them; `grid`: pictures of starting hands
    capabilities = replace(SAMPLING_ONLY, also=frozenset({"boards", "bots", "hands", "grid"}))
    evaluator = "boards"
    forgotten = "their earlier buckets"
    unit = ("small bets", "hand", "sb/h")
    seats = ("dealer", "big blind")
    players = "counterplay.poker.players:HoldemResolver"  # bots, in a higher layer

    def __init__(self, view: CardAbstraction, betting: BettingRules = LIMIT) -> None:
        if betting.board != LIMIT.board[: betting.n_streets]:
            raise BadParameter(
                f"hold'em has boards of {LIMIT.board} cards, a street each, the first of them "
                f"first; got {betting.board}"
            )
        self.view, self.betting = view, betting

    def match_runner(self) -> Any:
        """Who plays matches: bots and tables on real cards, in a layer above this one."""
        return import_module("counterplay.poker.match.match").HoldemMatch

    @property
    def tree(self) -> BettingTree:
        return betting_tree(self.betting)

    @property
    def sampler(self) -> str:
        """Which solver samples it where nobody names one."""
        many = max(self.view.counts[1:]) >= MANY_BUCKETS
        return "mccfr-public" if many else "mccfr-external"

    @property
    def depth(self) -> int:
        return self.tree.depth

    @property
    def buckets(self) -> Buckets:
        return _made(self.view, self.betting, cache_root())[0]

    def bucket_shares(self) -> tuple[np.ndarray, ...]:
        """How often each bucket is dealt, by street: float64[buckets] each."""
        return _shares(self.view, self.betting, cache_root())

    def form(self) -> BettingGame:
        return _made(self.view, self.betting, cache_root())[1]

    def slots(self) -> np.ndarray:
        """int64[information sets, 3]: slot of fold, call and raise, -1 where it is illegal."""
        return _slots(self.betting, self.view.counts)

    def labels(self) -> tuple[list[str], list[str]]:
        infosets: list[str] = []
        slots: list[str] = []
        tree = self.tree
        counts = rows.buckets_at(tree, self.view.counts).tolist()
        for node, n in zip(tree.nodes.node.tolist(), counts, strict=True):
            history = tree.histories[node] or "start"
            infosets += [f"{history} bucket {bucket}" for bucket in range(n)]
            slots += tree.actions[node] * n
        return infosets, slots

    def draw_grid(self, strategy: Any) -> Any:
        """The starting hands of a strategy as a figure."""
        from counterplay.poker.holdem.grid import draw_grid

        return draw_grid(strategy)

    def grid_html(self, strategy: Any) -> str:
        """The same for a notebook."""
        from counterplay.poker.holdem.grid import grid_html

        return grid_html(strategy)

    def key(self) -> bytes:
        betting = "" if self.betting == LIMIT else f" {self.betting}"
        return f"holdem {self.view.key} ehs {tables.VERSION}{betting}".encode()


@lru_cache(maxsize=3)
def _made(
    view: CardAbstraction, betting: BettingRules, folder: Path
) -> tuple[Buckets, BettingGame]:
    """Buckets and form, shared by all games of the same abstraction: nobody changes them, and
    they are large."""
    buckets = view.buckets()
    return buckets, betting_game(betting_tree(betting), cards_of(buckets, view.deck), view.counts)


@lru_cache(maxsize=3)
def _shares(view: CardAbstraction, betting: BettingRules, folder: Path) -> tuple[np.ndarray, ...]:
    shares = tuple(bucket_shares(_made(view, betting, folder)[0], view.counts))
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
    kind: str = "width",
    view: str = "ehs",
    preflop: int | None = None,
    flop: int | None = None,
    turn: int | None = None,
    river: int | None = None,
) -> Any:
    numbers = {"buckets": buckets, "preflop": preflop, "flop": flop, "turn": turn, "river": river}
    return HoldemRules(make_abstraction(view, numbers, kind))


GAME = GameSpec(
    "holdem",
    _make,
    "two-player limit Texas Hold'em, real cards seen through EHS buckets (the paper's: 10 and 100)",
    (
        "holdem(buckets=10)",
        "holdem(buckets=100,kind=frequency)",
        "holdem(preflop=50,flop=20,turn=20,river=10)",
        "holdem(view=sparbot)",
    ),
    arguments=lambda rules: rules.view.arguments,
)
