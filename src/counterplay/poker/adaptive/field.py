"""A field of weak opponents: the mistakes of people and programs, made from any strategy of hold'em
without training.

A type is a list of moves. A move takes a share of the probability of one action and gives it to
another, on some streets and for some hands, where both actions are legal. The share is the strength
of the type. `TYPES` is the whole field; `type_strategy` applies a type to a table, `TypeBot` to a
bot of any card abstraction.

A hand's level is the middle of its bucket of ten (or of those of a table) by expected hand
strength, from 0 to 1.
"""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import unknown
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import ACTIONS, nodes_and_buckets
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.bots.table import TableBot, strategy_bot
from counterplay.poker.models.model import by_action, by_slot

FOLD, CALL, RAISE = range(len(ACTIONS))  # a check is a call, a bet a raise
PREFLOP, FLOP, RIVER = (0,), (1,), (3,)
POSTFLOP, EVERY = (1, 2, 3), (0, 1, 2, 3)
STRENGTHS = (0.25, 0.5, 0.85)


class Shift(NamedTuple):
    """A share of `source` becomes `target`, for hands of some levels."""

    streets: tuple[int, ...]
    source: int
    target: int
    low: float = 0.0
    high: float = 1.0


LOOSE = (Shift(PREFLOP, FOLD, CALL),)
TIGHT = (Shift(PREFLOP, CALL, FOLD, 0.0, 0.85), Shift(PREFLOP, RAISE, FOLD, 0.0, 0.7))
STATION = (Shift(POSTFLOP, FOLD, CALL),)
PASSIVE = (Shift(EVERY, RAISE, CALL),)
FOLDS = (Shift(POSTFLOP, CALL, FOLD, 0.0, 0.8),)
HONEST = (Shift(POSTFLOP, RAISE, CALL, 0.0, 0.6),)
BLUFFS = (Shift(POSTFLOP, FOLD, RAISE, 0.0, 0.5), Shift(POSTFLOP, CALL, RAISE, 0.0, 0.5))
RAISES = (Shift(EVERY, CALL, RAISE), Shift(EVERY, FOLD, RAISE))

#: The field: the moves of each type.
TYPES: dict[str, tuple[Shift, ...]] = {
    "too-loose": LOOSE,
    "too-tight": TIGHT,
    "calling-station": STATION,
    "passive": PASSIVE,
    "maniac": RAISES,
    "aggressive": (*LOOSE, Shift(EVERY, CALL, RAISE)),
    "never-bluffs": HONEST,
    "over-bluffs": BLUFFS,
    "folds-to-bets": FOLDS,
    "fit-or-fold": (Shift(FLOP, CALL, FOLD, 0.0, 0.6), Shift(FLOP, RAISE, FOLD, 0.0, 0.5)),
    "folds-the-river": (Shift(RIVER, CALL, FOLD, 0.0, 0.9), Shift(RIVER, RAISE, FOLD, 0.0, 0.6)),
    "calls-the-river": (Shift(RIVER, FOLD, CALL),),
    "slow-plays": (Shift(EVERY, RAISE, CALL, 0.6, 1.0),),
    "loose-passive": (*LOOSE, *STATION, *PASSIVE),
    "nit": (*TIGHT, *FOLDS, *HONEST),
}
TILTS = "tilts"  # has memory, and therefore no table
LOSS, UPSET = 4.0, 15  # small bets, hands
LEVELS = 10


def type_name(name: str, strength: float) -> str:
    """`too-loose 50%`."""
    return f"{name} {strength:.0%}"


def apply_moves(
    moves: tuple[Shift, ...],
    strength: float,
    shares: np.ndarray,
    legal: np.ndarray,
    street: np.ndarray,
    level: np.ndarray,
) -> np.ndarray:
    """The probabilities (float64[n, 3]) after the moves. `legal`: bool[n, 3]; `street`, `level`:
    of each of the n decisions."""
    moved = shares.copy()
    for move in moves:
        where = np.isin(street, move.streets) & (move.low <= level) & (level <= move.high)
        where &= legal[:, move.source] & legal[:, move.target]
        taken = np.where(where, strength * shares[:, move.source], 0.0)
        moved[:, move.source] -= taken
        moved[:, move.target] += taken
    return moved


def type_strategy(base: Strategy, name: str, strength: float) -> Strategy:
    """A strategy with the mistakes of a type; its buckets are in order of strength."""
    game = base.game
    node, bucket = nodes_and_buckets(game.rules.tree, game.rules.abstraction.counts)
    street = game.rules.tree.nodes.street[node]
    level = (bucket + 0.5) / np.array(game.rules.abstraction.counts)[street]
    shares, legal = by_action(base.probabilities, game), game.rules.slots() >= 0
    moved = apply_moves(moves_of(name), strength, shares, legal, street, level)
    return Strategy(game, by_slot(moved, game))


def moves_of(name: str) -> tuple[Shift, ...]:
    """The moves of a type."""
    if name not in TYPES:
        raise unknown("type of opponent", name, TYPES)
    return TYPES[name]


class TypeBot(Bot):
    """Plays a table of any cards with the mistakes of a type."""

    def __init__(self, base: TableBot, name: str, strength: float) -> None:
        self.name, self._base = type_name(name, strength), base
        self.betting, self._moves, self._strength = base.betting, moves_of(name), strength
        self._rng = np.random.default_rng(0)
        self._after: dict[Any, list[list[float]]] = {}  # each action's shares after the moves

    def start(self, seed: int) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        self._rng = np.random.default_rng(seed)

    def shares(self, view: View) -> dict[str, float]:
        """The probability of each legal action."""
        shares = self._base.shares(view)
        key = view.betting.round, _level(view), tuple(shares)
        if key not in self._after:
            street, level = np.full(len(ACTIONS), key[0]), np.full(len(ACTIONS), key[1])
            legal = np.array([[action in shares for action in ACTIONS]] * len(ACTIONS))
            certain = np.eye(len(ACTIONS))
            after = apply_moves(self._moves, self._strength, certain, legal, street, level)
            self._after[key] = after.T.tolist()
        taken = [shares.get(action, 0.0) for action in ACTIONS]
        return {
            action: sum(x * share for x, share in zip(taken, row, strict=True))
            for action, row in zip(ACTIONS, self._after[key], strict=True)
            if action in shares
        }

    def act(self, view: View) -> str:
        shares = self.shares(view)
        drawn = self._rng.random() * sum(shares.values())
        for action, share in shares.items():
            drawn -= share
            if drawn < 0.0:
                return action
        return max(shares, key=lambda action: shares[action])


class TiltingBot(TypeBot):
    """Plays its table, and after a loss of `LOSS` or more for `UPSET` hands as a maniac."""

    def __init__(self, base: TableBot, strength: float) -> None:
        super().__init__(base, "maniac", strength)
        self.name = type_name(TILTS, strength)

    def start(self, seed: int) -> None:
        super().start(seed)
        self._upset = 0

    def shares(self, view: View) -> dict[str, float]:
        return super().shares(view) if self._upset > 0 else self._base.shares(view)

    def end_hand(self, ending: Ending) -> None:
        self._upset = UPSET if ending.won <= -LOSS else max(self._upset - 1, 0)


@cache
def _meter() -> TableBot:
    """A table whose rows number the levels of hands."""
    return strategy_bot(simple_strategy("always-call", load(f"holdem(buckets={LEVELS})")))


def _level(view: View) -> float:
    meter = _meter()
    bucket = meter._row(view) - int(meter.table.first_row[view.node])
    return (bucket + 0.5) / LEVELS
