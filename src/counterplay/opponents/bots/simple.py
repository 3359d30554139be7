"""Opponents without cards in their head: always-call, always-raise, always-fold, uniform and
probe (call or raise, evenly)."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.holdem.betting import ACTIONS, CALL, FOLD, RAISE
from counterplay.holdem.game import HoldemRules
from counterplay.holdem.rows import nodes_and_buckets
from counterplay.opponents.bots.table import TableBot, strategy_table

Shares = Callable[[list[str]], dict[str, float]]


def _prefer(action: str) -> Shares:
    """That action where it is legal, else a call (a check)."""
    return lambda legal: {action if action in legal else CALL: 1.0}


#: Probabilities of the legal actions.
SIMPLE: dict[str, Shares] = {
    "always-call": _prefer(CALL),
    "always-raise": _prefer(RAISE),
    "always-fold": _prefer(FOLD),
    "uniform": lambda legal: {action: 1 / len(legal) for action in legal},
    "probe": lambda legal: {CALL: 0.5, RAISE: 0.5} if RAISE in legal else {CALL: 1.0},
}


@cache
def _blind_game() -> Game:
    return load("holdem(buckets=1)")


def simple_strategy(name: str, game: Game) -> Strategy:
    """One of `SIMPLE` as a strategy on a hold'em game."""
    assert isinstance(game.rules, HoldemRules)
    tree, slots = game.rules.tree, game.rules.slots()
    shares = np.zeros((len(tree.actions), len(ACTIONS)))
    for node in tree.nodes.node.tolist():
        wanted = SIMPLE[name](tree.actions[node])
        shares[node] = [wanted.get(action, 0.0) for action in ACTIONS]
    node_of, _ = nodes_and_buckets(tree, game.rules.view.counts)
    return Strategy(game, shares[node_of][slots >= 0])


def simple_bot(name: str) -> TableBot:
    """One of `SIMPLE` as a bot."""
    return TableBot(name, strategy_table(simple_strategy(name, _blind_game())))
