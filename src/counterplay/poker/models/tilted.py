"""A model that is a known strategy but for what has been confirmed: the prior, tilted.

Decisions are pooled by kind (street, facing a bet, a raise left). In kinds whose evidence confirms
a deviation (`evidence.py`) the prior's probabilities are tilted, bucket by bucket, by how much more
often each action was taken than the prior would have taken it there, shrunk to no tilt where data
are thin; information sets that were seen often have their own counts on top. Everywhere else the
model is the prior. Cards that were not shown are inferred as in `infer.py`: EM, begun at the prior.
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
from counterplay.poker.models.model import kind_of, slots_of
from counterplay.poker.models.observe import Observations

ROUNDS = 6  # of EM, from the prior; begun at an earlier model fewer do
OWN = 4.0  # observations that the tilted prior is worth at an information set
POOL = 20.0  # observations that no tilt is worth in a pool
_LITTLE = 1e-3
N_KINDS = 4 * len(STREETS)
WIDEST = 0.5  # half width that is worth no trust


class Tilted(NamedTuple):
    """What is believed of a player."""

    strategy: Strategy
    trust: np.ndarray  # float64[information sets]: Pconf
    observed: np.ndarray  # float64[information sets]: expected observations


def tilted_model(
    seen: Observations,
    prior: Strategy,
    evidence: Evidence,
    p_max: float,
    start: Strategy | None = None,
    rounds: int = ROUNDS,
) -> Tilted:
    """`evidence`: by kind, with the prior as reference. `start`: an earlier model of the player."""
    game = prior.game
    pools = _Pools(game, prior)
    confirmed = evidence.confirmed
    policy = (start or prior).probabilities
    counts = np.zeros((game.n_infosets, 3))
    for _ in range(rounds):
        found, _ = infer_counts(seen, game, pools.slots, policy)
        counts = pools.table(found)
        policy = pools.flat(pools.tilt(counts, confirmed))
    trust = p_max * np.clip(1.0 - half_width(evidence.n) / WIDEST, 0.0, 1.0)
    return Tilted(Strategy(game, policy), trust[pools.kind], counts.sum(axis=1))


class _Pools:
    """The information sets of a game by kind, and by kind and bucket."""

    def __init__(self, game: Game, prior: Strategy) -> None:
        tree = game.rules.tree
        self.slots = slots_of(game)
        self.legal = self.slots >= 0
        node, bucket = nodes_and_buckets(tree, game.rules.abstraction.counts)
        self.kind = kind_of(tree, node)
        self.pool = self.kind * max(game.rules.abstraction.counts) + bucket
        self._n = int(self.pool.max()) + 1
        self._slots_in_all = game.n_slots
        self.prior = self.table(prior.probabilities)

    def table(self, values: np.ndarray) -> np.ndarray:
        """float64[information sets, 3] from slots."""
        return np.where(self.legal, values[np.maximum(self.slots, 0)], 0.0)

    def flat(self, table: np.ndarray) -> np.ndarray:
        """Slots from float64[information sets, 3]."""
        out = np.zeros(self._slots_in_all)
        out[self.slots[self.legal]] = table[self.legal]
        return out

    def tilt(self, counts: np.ndarray, confirmed: np.ndarray) -> np.ndarray:
        """The prior tilted by expected counts, where that is confirmed."""
        n = counts.sum(axis=1)
        done, expected = np.zeros((self._n, 3)), np.zeros((self._n, 3))
        np.add.at(done, self.pool, counts)
        np.add.at(expected, self.pool, n[:, None] * self.prior)
        total = np.maximum(expected.sum(axis=1, keepdims=True), 1e-9)
        expected = (expected / total + _LITTLE) / (1.0 + 3.0 * _LITTLE)
        share = (done + POOL * expected) / (done.sum(axis=1, keepdims=True) + POOL)
        tilted = np.where(self.legal, self.prior * (share / expected)[self.pool] + 1e-6, 0.0)
        tilted /= tilted.sum(axis=1, keepdims=True)
        own = counts + OWN * tilted
        own /= own.sum(axis=1, keepdims=True)
        return np.where(confirmed[self.kind][:, None], own, self.prior)
