"""Evidence about a player, and a model that equals a known strategy, the prior, except where a
deviation is confirmed.

Evidence (`core/responses/evidence.py`): a group pools decisions of one kind (street, facing a bet
or not, whether a raise is legal).

Model: in kinds of decisions with a confirmed deviation the prior's probabilities are tilted, bucket
by bucket, by the ratio of each action's frequency to its expectation under the prior, shrunk to 1
where data are scarce; the counts of each information set are added. Elsewhere the model is the
prior. Hidden cards are inferred as in `observe.py`: EM, started at the prior. A tilt leaves an
action that the prior never takes almost never taken. The other shape of the model, "frequencies",
therefore takes the frequencies of each kind and bucket, shrunk to the prior's, in place of its
tilted probabilities.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.responses.evidence import ALPHA as ALPHA
from counterplay.core.responses.evidence import Deviation as Deviation
from counterplay.core.responses.evidence import Evidence as Evidence
from counterplay.core.responses.evidence import half_width as half_width
from counterplay.poker.betting.betting import STREETS, nodes_and_buckets
from counterplay.poker.models.model import by_action, by_slot, decision_kind
from counterplay.poker.models.observe import Observations, infer_counts

ROUNDS = 6  # of EM from the prior; fewer suffice from an earlier model
OWN = 4.0  # weight of the tilted prior at an information set, in observations
POOL = 20.0  # weight of no tilt in a pool, in observations
_EPSILON = 1e-3
N_KINDS = 4 * len(STREETS)
SHAPES = ("tilted", "frequencies")
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
    shape: str = SHAPES[0],
    start: Strategy | None = None,
    rounds: int = ROUNDS,
    everywhere: bool = False,
) -> TiltedModel:
    """Fits the model. `evidence`: by kind, with the prior as reference. `shape`: one of `SHAPES`.
    `start`: an earlier model of the player. `everywhere`: without confirmation too, for a prior
    that is a guess itself."""
    game = prior.game
    pools = _Pools(game, prior)
    confirmed = evidence.n > 0 if everywhere else evidence.confirmed
    policy = (start or prior).probabilities
    counts = np.zeros((game.n_infosets, 3))
    for _ in range(rounds):
        expected, _ = infer_counts(observations, game, policy)
        counts = by_action(expected, game)
        policy = by_slot(pools.tilt(counts, confirmed, shape), game)
    trust = p_max * np.clip(1.0 - half_width(evidence.n) / MAX_HALF_WIDTH, 0.0, 1.0)
    return TiltedModel(Strategy(game, policy), trust[pools.kind], counts.sum(axis=1))


class _Pools:
    """The information sets of a game by kind, and by kind and bucket."""

    def __init__(self, game: Game, prior: Strategy) -> None:
        tree = game.rules.tree
        self.legal = game.rules.slots() >= 0
        node, bucket = nodes_and_buckets(tree, game.rules.abstraction.counts)
        self.kind = decision_kind(tree, node)
        self.pool = self.kind * max(game.rules.abstraction.counts) + bucket
        self._n = int(self.pool.max()) + 1
        self.prior = by_action(prior.probabilities, game)

    def tilt(self, counts: np.ndarray, confirmed: np.ndarray, shape: str) -> np.ndarray:
        """The prior changed by expected counts, in confirmed kinds."""
        n = counts.sum(axis=1)
        taken, expected = self._pooled(counts), self._pooled(n[:, None] * self.prior)
        total = np.maximum(expected.sum(axis=1, keepdims=True), 1e-9)
        expected = (expected / total + _EPSILON) / (1.0 + 3.0 * _EPSILON)
        share = (taken + POOL * expected) / (taken.sum(axis=1, keepdims=True) + POOL)
        base = share if shape == SHAPES[1] else share / expected
        base = base[self.pool] * (1.0 if shape == SHAPES[1] else self.prior)
        tilted = np.where(self.legal, base + 1e-6, 0.0)
        tilted /= tilted.sum(axis=1, keepdims=True)
        own = counts + OWN * tilted
        own /= own.sum(axis=1, keepdims=True)
        return np.where(confirmed[self.kind][:, None], own, self.prior)

    def _pooled(self, counts: np.ndarray) -> np.ndarray:
        """float64[pools, 3]: the sums over the information sets of each pool."""
        return np.column_stack([np.bincount(self.pool, column, self._n) for column in counts.T])
