"""Simple opponents: their actions depend on the legal actions only, not on the cards."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import (
    ACTIONS,
    CALL,
    FOLD,
    RAISE,
    BettingTree,
    nodes_and_buckets,
)
from counterplay.poker.bots.registry import BotSpec
from counterplay.poker.bots.table import TableBot, strategy_bot

Probabilities = Callable[[list[str]], dict[str, float]]


def _prefer(action: str) -> Probabilities:
    """The action where it is legal, else a call (a check)."""
    return lambda legal: {action if action in legal else CALL: 1.0}


#: Probabilities of the legal actions, by name of the bot.
SIMPLE: dict[str, Probabilities] = {
    "always-call": _prefer(CALL),
    "always-raise": _prefer(RAISE),
    "always-fold": _prefer(FOLD),
    "uniform": lambda legal: {action: 1 / len(legal) for action in legal},
    "probe": lambda legal: {CALL: 0.5, RAISE: 0.5} if RAISE in legal else {CALL: 1.0},
}


@cache
def _one_bucket_game() -> Game:
    return load("holdem(buckets=1)")


def simple_strategy(name: str, game: Game) -> Strategy:
    """One of `SIMPLE` as a strategy on a hold'em game."""
    tree, slots = game.rules.tree, game.rules.slots()
    node_of, _ = nodes_and_buckets(tree, game.rules.abstraction.counts)
    return Strategy(game, _by_node(name, tree)[node_of][slots >= 0])


@cache
def _by_node(name: str, tree: BettingTree) -> np.ndarray:
    """float64[nodes, 3]: probabilities of one of `SIMPLE` at every public node."""
    probabilities = np.zeros((len(tree.actions), len(ACTIONS)))
    for node in tree.nodes.node.tolist():
        chosen = SIMPLE[name](tree.actions[node])
        probabilities[node] = [chosen.get(action, 0.0) for action in ACTIONS]
    return probabilities


def simple_bot(name: str) -> TableBot:
    """One of `SIMPLE` as a bot."""
    return strategy_bot(simple_strategy(name, _one_bucket_game()), name)


def _spec(name: str, summary: str) -> BotSpec:
    make, strategy = partial(simple_bot, name), partial(simple_strategy, name)
    return BotSpec(name, make, summary, strategy=strategy)


BOT = (
    _spec("always-call", "checks and calls"),
    _spec("always-raise", "bets and raises while it may"),
    _spec("always-fold", "folds to any bet, the blind included"),
    _spec("uniform", "every legal action with the same probability"),
    _spec("probe", "calls or raises, evenly; never folds"),
)
