"""Quality of a model: its predictions on held-out hands, compared with plain action frequencies.

A model that is no better than plain frequencies need not be bad. For a player whose cards do not
matter, such as one that always raises, plain frequencies are a complete description, the model
agrees with them, and a response to it wins. Hence three verdicts, judged by the 95% interval of the
difference.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.poker.betting.betting import ACTIONS, BettingTree, row_of
from counterplay.poker.models.model import (
    OpponentModel,
    count_shares,
    decision_kind,
    tree_shares,
)
from counterplay.poker.models.observe import UNSEEN, Observations, buckets_of

MIN_SHARE = 1e-3  # of an action in the log loss
BETTER, SAME, WORSE = "better", "same", "worse"
#: Nats per decision that smoothing or overfitting may lose against plain frequencies: a tree for a
#: player that acts at random loses 0.02 after 2,000 hands.
SLACK = 0.05
NORMAL_95 = 1.96


@dataclass(frozen=True)
class Quality:
    """Predictive quality of a model on held-out decisions, in nats per decision."""

    decisions: int
    log_loss: float
    baseline: float  # log loss of action frequencies by street and legal actions
    accuracy: float  # frequency of the likeliest action
    error: float = 0.0  # half width of the 95% interval of `gain`; hands are independent

    @property
    def gain(self) -> float:
        """Improvement over plain frequencies."""
        return self.baseline - self.log_loss

    @property
    def verdict(self) -> str:
        """`better` than plain frequencies, the `same` (cards and earlier bets do not matter, or no
        effect of them was found), or `worse`, which is a bad model."""
        if self.gain > self.error:
            return BETTER
        return WORSE if self.gain + self.error < 0 and self.gain < -SLACK else SAME


def predict(model: OpponentModel, observations: Observations) -> np.ndarray:
    """float64[n, 3]: the model's probabilities of legal actions at observed decisions, averaged
    over hidden buckets."""
    buckets, tree = buckets_of(observations, model.game), model.game.rules.tree
    node = observations.node
    if model.trees:
        shares = tree_shares(model.trees, tree, node, buckets)
    else:
        form, table = model.game.form, count_shares(model.counts, model.game)
        shares = table[row_of(form.first_row, node, np.maximum(buckets, 0))]
        dealt = model.game.rules.bucket_shares()
        for k in np.flatnonzero(buckets == UNSEEN):
            prior = dealt[tree.nodes.street[node[k]]]
            shares[k] = prior @ table[row_of(form.first_row, node[k], np.arange(len(prior)))]
    return _legal(tree, shares, node)


def _legal(tree: BettingTree, shares: np.ndarray, node: np.ndarray) -> np.ndarray:
    allowed = tree.legal[node]
    shares = np.where(allowed, np.maximum(shares, MIN_SHARE), 0.0)
    normalised: np.ndarray = shares / shares.sum(axis=1, keepdims=True)
    return normalised


def assess(model: OpponentModel, trained_on: Observations, held_out: Observations) -> Quality:
    """Log loss on held-out decisions, compared with that of plain action frequencies by street and
    legal actions."""
    if not len(trained_on.node) or not len(held_out.node):
        raise BadParameter(
            "too few decisions to learn from some and hold some out; give more hands"
        )
    rows, tree = np.arange(len(held_out.node)), model.game.rules.tree
    shares = predict(model, held_out)
    loss = -np.log(shares[rows, held_out.action])
    kinds = decision_kind(tree, trained_on.node), decision_kind(tree, held_out.node)
    plain = np.zeros((int(max(kinds[0].max(), kinds[1].max())) + 1, len(ACTIONS)))
    np.add.at(plain, (kinds[0], trained_on.action), 1.0)
    plain /= np.maximum(plain.sum(axis=1, keepdims=True), 1.0)
    base = _legal(tree, plain[kinds[1]], held_out.node)
    baseline = -np.log(base[rows, held_out.action])
    accuracy = float((shares.argmax(axis=1) == held_out.action).mean())
    error = _half_width(baseline - loss, held_out.hand)
    return Quality(len(rows), float(loss.mean()), float(baseline.mean()), accuracy, error)


def _half_width(gain: np.ndarray, hand: np.ndarray) -> float:
    """Half width of the 95% interval of the mean gain, with hands as clusters."""
    _, which = np.unique(hand, return_inverse=True)
    hands = int(which.max()) + 1
    if hands < 2:
        return math.inf
    residual = np.bincount(which, gain - gain.mean())
    spread = float((residual**2).sum()) * hands / (hands - 1)
    return NORMAL_95 * math.sqrt(spread) / len(gain)


def split(observations: Observations, every: int = 5) -> tuple[Observations, Observations]:
    """Training and held-out decisions; every fifth hand is held out."""
    held = observations.hand % every == every - 1
    return observations.part(~held), observations.part(held)
