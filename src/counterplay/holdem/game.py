"""`holdem(buckets=10)`: two-player limit Texas Hold'em with real cards, of which a strategy sees a bucket.

ACPC limit rules (`betting.py`). Buckets by effective hand strength (`buckets.py`), equal width as in the paper or equal
frequency; only the current one counts, so there is no perfect recall. Payoffs are in small bets.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.forms.abilities import SAMPLED_ONLY
from counterplay.games.spec import GameSpec, whole_number
from counterplay.holdem import tables
from counterplay.holdem.betting import betting_actions, betting_histories, betting_tree
from counterplay.holdem.buckets import KINDS, Buckets, bucket_shares, make_buckets
from counterplay.holdem.form import BettingGame, betting_game

MOST_BUCKETS = 1000


class HoldemRules:
    """Rules with a form of their own; the tables are loaded, or built, on first use."""

    n_players = 2
    zero_sum = True
    depth = 23  # decisions in the longest hand: five before the flop, six in each later round
    abilities = replace(SAMPLED_ONLY, bots=True, hands=True, grid=True)
    unit = ("small bets", "hand", "sb/h")
    seats = ("dealer", "big blind")

    def __init__(self, buckets: int = 10, kind: str = "width") -> None:
        self.n_buckets = whole_number(buckets, 1, MOST_BUCKETS, "buckets")
        if kind not in KINDS:
            raise BadParameter(f"kind must be one of {', '.join(KINDS)}, not {kind!r}")
        self.kind = kind

    @property
    def buckets(self) -> Buckets:
        return _made(self.n_buckets, self.kind, tables.table_folder())[0]

    def bucket_shares(self) -> list[np.ndarray]:
        """How often each bucket is dealt, by round: float64[buckets] each."""
        return bucket_shares(self.buckets, self.n_buckets)

    def form(self) -> BettingGame:
        return _made(self.n_buckets, self.kind, tables.table_folder())[1]

    def labels(self) -> tuple[list[str], list[str]]:
        histories, actions = betting_histories(), betting_actions()
        infosets: list[str] = []
        slots: list[str] = []
        for node in betting_tree().node.tolist():
            infosets += [
                f"{histories[node] or 'start'} bucket {bucket}" for bucket in range(self.n_buckets)
            ]
            slots += actions[node] * self.n_buckets
        return infosets, slots

    def key(self) -> bytes:
        return f"holdem {self.n_buckets} {self.kind} ehs {tables.VERSION}".encode()


@lru_cache(maxsize=3)
def _made(n: int, kind: str, folder: Path) -> tuple[Buckets, BettingGame]:
    """Buckets and form, shared by all games of the same abstraction: nobody changes them, and they are large."""
    buckets = make_buckets(tables.strengths(), n, kind)
    return buckets, betting_game(betting_tree(), buckets, n)


def _make(buckets: int = 10, kind: str = "width") -> Any:
    return HoldemRules(buckets, kind)


GAME = GameSpec(
    "holdem",
    _make,
    "two-player limit Texas Hold'em, real cards seen through EHS buckets (the paper's: 10 and 100)",
    ("holdem(buckets=10)", "holdem(buckets=100,kind=frequency)"),
    always_named=("buckets",),
)
