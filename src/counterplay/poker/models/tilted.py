"""Evidence about a player, and a model that equals a known strategy, the prior, except where a
deviation is confirmed.

Evidence: confidence sequences on a player's action frequencies, valid at any time.
A group pools decisions of one kind (street, facing a bet or not, whether a raise is legal). At each
decision a reference, such as an equilibrium, predicts action a with probability q_t. The indicator
of the action less q_t has mean zero under the reference and is sub-Gaussian with variance 1/4, so
by Robbins' normal mixture, with V = n/4,

    |Σ (1[a_t = a] - q_t)| < √((V + ρ) (log((V + ρ)/ρ) + 2 log(1/α)))   for all n at once

with probability 1 - α, also under optional stopping. The same half width holds for the mean of the
player's true probabilities, also when these depend on the past (Howard, Ramdas, McAuliffe & Sekhon
2021).

Model: in kinds of decisions with a confirmed deviation the prior's probabilities are tilted, bucket
by bucket, by the ratio of each action's frequency to its expectation under the prior, shrunk to 1
where data are scarce; the counts of each information set are added. Elsewhere the model is the
prior. Hidden cards are inferred as in `observe.py`: EM, started at the prior. A tilt leaves an
action that the prior never takes almost never taken. The other shape of the model, "frequencies",
therefore takes the frequencies of each kind and bucket, shrunk to the prior's, in place of its
tilted probabilities.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import STREETS, nodes_and_buckets
from counterplay.poker.models.model import by_action, by_slot, decision_kind
from counterplay.poker.models.observe import Observations, infer_counts

ALPHA = 0.05  # of all statements together
RHO = 10.0  # V at which the sequence is about tightest
_VARIANCE = 0.25
ROUNDS = 6  # of EM from the prior; fewer suffice from an earlier model
OWN = 4.0  # weight of the tilted prior at an information set, in observations
POOL = 20.0  # weight of no tilt in a pool, in observations
_EPSILON = 1e-3
N_KINDS = 4 * len(STREETS)
SHAPES = ("tilted", "frequencies")
MAX_HALF_WIDTH = 0.5  # at which the confidence is 0


def half_width(n: np.ndarray | float, alpha: float = ALPHA, rho: float = RHO) -> np.ndarray:
    """Half width of the interval for the mean of n numbers from 0 to 1, valid for all n at once."""
    if not 0.0 < alpha < 1.0 or not rho > 0.0:
        raise BadParameter(f"alpha is between 0 and 1 and rho above 0, not {alpha!r}, {rho!r}")
    n = np.asarray(n, dtype=np.float64)
    v = _VARIANCE * n
    square = (v + rho) * (np.log((v + rho) / rho) + 2.0 * np.log(1.0 / alpha))
    with np.errstate(divide="ignore"):
        half: np.ndarray = np.sqrt(square) / n
    return half


class Deviation(NamedTuple):
    """A confirmed deviation: in a group of decisions an action is more or less frequent than under
    the reference."""

    group: int
    action: int
    share: float  # frequency of the action
    half: float  # half width of the interval
    expected: float  # frequency under the reference
    n: int


@dataclass
class Evidence:
    """Counts in g groups of a actions, and their expectation under a reference."""

    n: np.ndarray  # float64[g]
    taken: np.ndarray  # float64[g, a]
    expected: np.ndarray  # float64[g, a]

    @classmethod
    def none(cls, groups: int, actions: int) -> Evidence:
        return cls(np.zeros(groups), np.zeros((groups, actions)), np.zeros((groups, actions)))

    def add(self, group: int, action: int, expected: np.ndarray) -> None:
        """Adds one decision and the probabilities (float64[a]) that the reference predicted."""
        self.n[group] += 1.0
        self.taken[group, action] += 1.0
        self.expected[group] += expected

    @property
    def _alpha(self) -> float:
        """Error probability of one statement."""
        return ALPHA / self.taken.size

    @property
    def confirmed(self) -> np.ndarray:
        """bool[g]: whether the deviation of some action is confirmed."""
        largest = np.abs(self.taken - self.expected).max(axis=1)
        n = np.maximum(self.n, 1.0)
        confirmed: np.ndarray = (self.n > 0) & (largest > half_width(n, self._alpha) * n)
        return confirmed

    @property
    def total_variation(self) -> float:
        """Distance of the counts from their expectation over all groups, from 0 to 1."""
        return float(np.abs(self.taken - self.expected).sum() / max(2.0 * self.n.sum(), 1.0))

    def deviations(self) -> list[Deviation]:
        """All confirmed deviations, the largest first."""
        confirmed = []
        half = half_width(self.n, self._alpha)  # simultaneously valid
        for group, action in np.argwhere(self.taken + self.expected > 0).tolist():
            n = float(self.n[group])
            share, expected = self.taken[group, action] / n, self.expected[group, action] / n
            if abs(share - expected) > half[group]:
                numbers = float(share), float(half[group]), float(expected), int(n)
                confirmed.append(Deviation(group, action, *numbers))
        return sorted(confirmed, key=lambda one: -abs(one.share - one.expected))


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
        taken, expected = np.zeros((self._n, 3)), np.zeros((self._n, 3))
        np.add.at(taken, self.pool, counts)
        np.add.at(expected, self.pool, n[:, None] * self.prior)
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
