"""A model of a player of whom little is known: frequencies, pooled, and shrunk to a prior strategy.

A line is a street, the number of its bets so far, and the seat. In each line and bucket the model's
base are the frequencies of the actions, shrunk to those that the prior would have had at the same
decisions by `POOL` observations; at each information set its own counts are shrunk to the base by
`OWN` observations. Hidden cards are inferred as in `observe.py`: EM, started at the prior.

Lines and not single information sets: a few hundred hands say little of most sets, and a response
comes to sets that the hands so far hardly came to, where the prior's own play would be believed.
Bets and not kinds of decisions: who folds to a bet may never fold to a raise.
"""

from __future__ import annotations

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import STREETS, BettingTree, nodes_and_buckets
from counterplay.poker.models.model import by_action, by_slot
from counterplay.poker.models.observe import Observations, infer_counts, node_features

ROUNDS = 6  # of EM from the prior; fewer suffice from an earlier model
OWN = 4.0  # weight of the base at an information set, in observations
POOL = 10.0  # weight of the prior in a pool, in observations
N_KINDS = 4 * len(STREETS)  # kinds of decisions (`decision_kind`)
_BETS = 2  # column of `node_features`: bets of the street
_LEAST = 1e-6  # of every legal action
_UNSEEN = 1e-3  # observations by which information sets count that were never come to


def pooled_model(
    observations: Observations, prior: Strategy, start: Strategy | None = None, rounds: int = ROUNDS
) -> Strategy:
    """Fits the model. `start`: an earlier model of the player."""
    game = prior.game
    pools = _Pools(game, prior)
    policy = (start or prior).probabilities
    for _ in range(rounds):
        expected, _ = infer_counts(observations, game, policy)
        policy = by_slot(pools.shrunk(by_action(expected, game)), game)
    return Strategy(game, policy)


def line_of(tree: BettingTree) -> np.ndarray:
    """int64[n]: the line of every public node."""
    bets = node_features(tree)[:, _BETS].astype(np.int64)
    seat = np.maximum(tree.nodes.player, 0).astype(np.int64)
    line: np.ndarray = (tree.nodes.street * (bets.max() + 1) + bets) * 2 + seat
    return line


class _Pools:
    """The information sets of a game by line and bucket."""

    def __init__(self, game: Game, prior: Strategy) -> None:
        tree, buckets = game.rules.tree, game.rules.abstraction.counts
        node, bucket = nodes_and_buckets(tree, buckets)
        self._pool = line_of(tree)[node] * max(buckets) + bucket
        self._n = int(self._pool.max()) + 1
        self._legal = game.rules.slots() >= 0
        self._prior = by_action(prior.probabilities, game)

    def shrunk(self, counts: np.ndarray) -> np.ndarray:
        """The model (float64[information sets, 3]) from expected counts."""
        n = counts.sum(axis=1, keepdims=True)
        taken, expected = self._sums(counts), self._sums((n + _UNSEEN) * self._prior)
        expected /= np.maximum(expected.sum(axis=1, keepdims=True), 1e-300)
        share = (taken + POOL * expected) / (taken.sum(axis=1, keepdims=True) + POOL)
        base = np.where(self._legal, share[self._pool] + _LEAST, 0.0)
        own = counts + OWN * base / base.sum(axis=1, keepdims=True)
        model: np.ndarray = own / own.sum(axis=1, keepdims=True)
        return model

    def _sums(self, values: np.ndarray) -> np.ndarray:
        """float64[pools, 3]: sums over the information sets of each pool."""
        return np.column_stack([np.bincount(self._pool, one, self._n) for one in values.T])
