"""A model that equals a known strategy, the prior, except where a deviation is confirmed.

Decisions are pooled by kind (street, facing a bet, a raise legal). In kinds with a confirmed
deviation (`evidence.py`) the prior's probabilities are tilted, bucket by bucket, by the ratio of
each action's frequency to its expectation under the prior, shrunk to 1 where data are scarce; the
counts of each information set are added. Elsewhere the model is the prior. Hidden cards are
inferred as in `infer.py`: EM, started at the prior.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import STREETS
from counterplay.poker.betting.rows import nodes_and_buckets
from counterplay.poker.models.evidence import Evidence, half_width
from counterplay.poker.models.infer import infer_counts
from counterplay.poker.models.model import decision_kind, slots_of
from counterplay.poker.models.observe import Observations

ROUNDS = 6  # of EM from the prior; fewer suffice from an earlier model
OWN = 4.0  # weight of the tilted prior at an information set, in observations
POOL = 20.0  # weight of no tilt in a pool, in observations
_EPSILON = 1e-3
N_KINDS = 4 * len(STREETS)
MAX_HALF_WIDTH = 0.5  # at which the confidence is 0


class TiltedModel(NamedTuple):
    """A model of a player with its confidence."""

    strategy: Strategy
    trust: np.ndarray  # float64[information sets]: P_conf
    observed: np.ndarray  # float64[information sets]: expected observations


def tilted_model(
    observations: Observations,
    prior: Strategy,
    evidence: Evidence,
    p_max: float,
    start: Strategy | None = None,
    rounds: int = ROUNDS,
) -> TiltedModel:
    """Fits the model. `evidence`: by kind, with the prior as reference. `start`: an earlier model
    of the player."""
    game = prior.game
    pools = _Pools(game, prior)
    confirmed = evidence.confirmed
    policy = (start or prior).probabilities
    counts = np.zeros((game.n_infosets, 3))
    for _ in range(rounds):
        expected, _ = infer_counts(observations, game, pools.slots, policy)
        counts = pools.table(expected)
        policy = pools.flat(pools.tilt(counts, confirmed))
    trust = p_max * np.clip(1.0 - half_width(evidence.n) / MAX_HALF_WIDTH, 0.0, 1.0)
    return TiltedModel(Strategy(game, policy), trust[pools.kind], counts.sum(axis=1))


class _Pools:
    """The information sets of a game by kind, and by kind and bucket."""

    def __init__(self, game: Game, prior: Strategy) -> None:
        tree = game.rules.tree
        self.slots = slots_of(game)
        self.legal = self.slots >= 0
        node, bucket = nodes_and_buckets(tree, game.rules.abstraction.counts)
        self.kind = decision_kind(tree, node)
        self.pool = self.kind * max(game.rules.abstraction.counts) + bucket
        self._n = int(self.pool.max()) + 1
        self._n_slots = game.n_slots
        self.prior = self.table(prior.probabilities)

    def table(self, values: np.ndarray) -> np.ndarray:
        """float64[information sets, 3] from slots."""
        return np.where(self.legal, values[np.maximum(self.slots, 0)], 0.0)

    def flat(self, table: np.ndarray) -> np.ndarray:
        """Slots from float64[information sets, 3]."""
        out = np.zeros(self._n_slots)
        out[self.slots[self.legal]] = table[self.legal]
        return out

    def tilt(self, counts: np.ndarray, confirmed: np.ndarray) -> np.ndarray:
        """The prior tilted by expected counts, in confirmed kinds."""
        n = counts.sum(axis=1)
        taken, expected = np.zeros((self._n, 3)), np.zeros((self._n, 3))
        np.add.at(taken, self.pool, counts)
        np.add.at(expected, self.pool, n[:, None] * self.prior)
        total = np.maximum(expected.sum(axis=1, keepdims=True), 1e-9)
        expected = (expected / total + _EPSILON) / (1.0 + 3.0 * _EPSILON)
        share = (taken + POOL * expected) / (taken.sum(axis=1, keepdims=True) + POOL)
        tilted = np.where(self.legal, self.prior * (share / expected)[self.pool] + 1e-6, 0.0)
        tilted /= tilted.sum(axis=1, keepdims=True)
        own = counts + OWN * tilted
        own /= own.sum(axis=1, keepdims=True)
        return np.where(confirmed[self.kind][:, None], own, self.prior)
