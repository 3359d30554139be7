"""Players for matches, and the two ways to play a list of deals: the kernel and the plain-Python
referee."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np
from reference.referee import play_hand

import counterplay as cp
from counterplay.core.kernels.jit import index
from counterplay.core.kernels.rng import check_seed, uniform
from counterplay.core.match.kernels import NumberedDeals, deal_state
from counterplay.poker.adaptive.play import AdaptiveBlock
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.cards.deal import new_deal
from counterplay.poker.match.deals import HandWorkspace, play_tables
from support.holdem import TREE, seldom_folding


@cache
def holdem(buckets: int = 10) -> cp.Game:
    return cp.load(f"holdem(buckets={buckets})")


@cache
def strategy(seed: int, buckets: int = 10) -> cp.Strategy:
    return seldom_folding(holdem(buckets), seed)


class Slow:
    """A table that hides being one, so that the Python referee plays it."""

    def __init__(self, strategy: cp.Strategy, name: str = "slow") -> None:
        self.name = name
        self._bot = strategy_bot(strategy)

    def start(self, seed: int) -> None:
        self._bot.start(seed)

    def act(self, view: View) -> str:
        return self._bot.act(view)


class Seeded(Slow):
    """The same, with random numbers of its own for every deal."""

    def seed(self, seed: int) -> None:
        self._bot.seed(seed)


class Caller:
    """The least a bot can be."""

    def act(self, view: View) -> str:
        return "call"


class Says(Bot):
    """Answers one word whatever happens."""

    name = "parrot"

    def __init__(self, word: Any) -> None:
        self.word = word

    def act(self, view: View) -> Any:
        return self.word


class Counter(Bot):
    """Remembers: raises in every third hand of a session, and notes what it saw."""

    name = "counter"

    def __init__(self) -> None:
        self.hands = 0
        self.views: list[View] = []
        self.endings: list[Ending] = []

    def start(self, seed: int) -> None:
        self.hands = 0

    def new_hand(self, seat: int) -> None:
        self.hands += 1

    def act(self, view: View) -> str:
        self.views.append(view)
        wanted = "raise" if self.hands % 3 == 0 else "fold" if self.hands % 7 == 0 else "call"
        return wanted if wanted in view.betting.actions() else "call"

    def end_hand(self, ending: Ending) -> None:
        self.endings.append(ending)


def exact(result: cp.MatchResult) -> cp.MatchResult:
    """Without the clock."""
    return replace(result, seconds=0.0)


def play_state(seed: int, deal: int) -> np.ndarray:
    """Random numbers of the players in a deal."""
    state = np.empty(4, dtype=np.uint64)
    with np.errstate(over="ignore"):
        deal_state(check_seed(seed), index(deal), state)
    return state


def by_kernel(
    a: cp.Strategy, b: cp.Strategy, cards: np.ndarray, seed: int, first: int, duplicate: bool
) -> np.ndarray:
    """float64[deals, 2]: what `a` wins of deals `first`, `first` + 1, ... as the dealer and as
    the big blind."""
    won, ends = np.empty((len(cards), 2)), np.empty((len(cards), 2), dtype=np.int32)
    workspace = HandWorkspace(new_deal(), np.zeros(2, dtype=np.int64), np.empty(4, dtype=np.uint64))
    tables = strategy_bot(a).table, strategy_bot(b).table
    deals = NumberedDeals(index(seed), index(first), duplicate)
    play_tables(TREE.nodes, *tables, deals, cards, workspace, won, ends)
    return won


def by_referee(
    a: Any, b: Any, cards: np.ndarray, seed: int, first: int, duplicate: bool
) -> np.ndarray:
    """The same by plain Python: each play of a deal begins with that deal's random numbers. `a`
    and `b`: policies."""
    won = np.full((len(cards), 2), np.nan)
    for k, dealt in enumerate(cards.tolist()):
        for seat, order in enumerate(((a, b), (b, a))):
            if duplicate or (first + k) % 2 == seat:
                rng = play_state(seed, first + k)
                result = play_hand(order, dealt, lambda seat, rng=rng: float(uniform(rng)))[0]
                won[k, seat] = result if seat == 0 else -result
    return won


def from_nothing(
    opponent: Any,
    hands: int = 20_000,
    seed: int = 0,
    *,
    game: cp.Game | None = None,
    every: int = 1_000,
    iterations: int | None = None,
    learner: Any = None,
    log: Any = None,
    observer: str | None = None,
    **options: Any,
) -> Iterator[AdaptiveBlock]:
    """Blocks of a player who starts from nothing, or with a learner; it learns after each."""
    player = cp.Adaptive(
        game or holdem(),
        learner=options if learner is None else learner,
        every=every,
        iterations=iterations,
        seed=seed,
    )
    return cp.play_adaptive(
        opponent, hands, seed, player=player, every=every, log=log, observer=observer
    )
