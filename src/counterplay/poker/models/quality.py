"""How good a model is: what it predicts of hands it has not seen, beside plain frequencies of
actions.

A model that is no better than plain frequencies need not be bad. Of a player whose cards do not
matter, such as one who always raises, plain frequencies say all there is to say; the model says the
same, and a response to it wins. So there are three verdicts, and the difference is judged by its
95% interval.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.poker.betting.betting import ACTIONS, BettingTree
from counterplay.poker.betting.rows import row_of
from counterplay.poker.models.model import (
    OpponentModel,
    count_shares,
    kind_of,
    predicted,
    rules_of,
)
from counterplay.poker.models.observe import UNSEEN, Observations, buckets_of

LEAST_SHARE = 1e-3  # under which no predicted probability counts in a log loss
BETTER, SAME, WORSE = "better", "same", "worse"
#: Nats per decision under which a loss against plain frequencies is that of smoothing, or of a
#: pattern too many: a tree for a player who acts at random is 0.02 worse after 2,000 hands.
SLACK = 0.05
NORMAL_95 = 1.96


@dataclass(frozen=True)
class Quality:
    """How well a model predicts decisions it has not seen, in nats per decision."""

    decisions: int
    log_loss: float
    baseline: float  # of the shares of actions by phase and legal actions
    accuracy: float  # how often the likeliest action is taken
    error: float = 0.0  # half the 95% interval of `gain`; hands are the independent pieces

    @property
    def gain(self) -> float:
        """What the model is better by."""
        return self.baseline - self.log_loss

    @property
    def verdict(self) -> str:
        """`better` than plain frequencies, the `same` (the player's cards and what was bet before
        do not matter, or nothing of it was found), or `worse`, which is a bad model."""
        if self.gain > self.error:
            return BETTER
        return WORSE if self.gain + self.error < 0 and self.gain < -SLACK else SAME


def predict(model: OpponentModel, seen: Observations) -> np.ndarray:
    """float64[n, 3]: the model's shares at observed decisions, bucket unseen or not; illegal
    actions taken out."""
    buckets, tree = buckets_of(seen, model.game), rules_of(model.game).tree
    if model.trees:
        shares = predicted(model.trees, tree, seen.node, buckets)
    else:
        form, table = model.game.form, count_shares(model.counts, model.game)
        shares = table[row_of(form.first_row, seen.node, np.maximum(buckets, 0))]
        dealt = rules_of(model.game).bucket_shares()
        for k in np.flatnonzero(buckets == UNSEEN):
            often = dealt[tree.nodes.street[seen.node[k]]]
            shares[k] = often @ table[row_of(form.first_row, seen.node[k], np.arange(len(often)))]
    return _clean(tree, shares, seen.node)


def _clean(tree: BettingTree, shares: np.ndarray, node: np.ndarray) -> np.ndarray:
    allowed = tree.legal[node]
    shares = np.where(allowed, np.maximum(shares, LEAST_SHARE), 0.0)
    cleaned: np.ndarray = shares / shares.sum(axis=1, keepdims=True)
    return cleaned


def assess(model: OpponentModel, trained_on: Observations, held_out: Observations) -> Quality:
    """Log loss on held-out decisions beside that of plain shares of actions by phase and legal
    actions."""
    if not len(trained_on.node) or not len(held_out.node):
        raise BadParameter(
            "too few decisions to learn from some and hold some out; give more hands"
        )
    rows, tree = np.arange(len(held_out.node)), rules_of(model.game).tree
    shares = predict(model, held_out)
    loss = -np.log(shares[rows, held_out.action])
    kinds = kind_of(tree, trained_on.node), kind_of(tree, held_out.node)
    plain = np.zeros((int(max(kinds[0].max(), kinds[1].max())) + 1, len(ACTIONS)))
    np.add.at(plain, (kinds[0], trained_on.action), 1.0)
    plain /= np.maximum(plain.sum(axis=1, keepdims=True), 1.0)
    base = _clean(tree, plain[kinds[1]], held_out.node)
    baseline = -np.log(base[rows, held_out.action])
    accuracy = float((shares.argmax(axis=1) == held_out.action).mean())
    error = _half_interval(baseline - loss, held_out.hand)
    return Quality(len(rows), float(loss.mean()), float(baseline.mean()), accuracy, error)


def _half_interval(gain: np.ndarray, hand: np.ndarray) -> float:
    """Of the mean of `gain`; decisions of one hand go together."""
    _, which = np.unique(hand, return_inverse=True)
    hands = int(which.max()) + 1
    if hands < 2:
        return math.inf
    apart = np.bincount(which, gain - gain.mean())
    spread = float((apart**2).sum()) * hands / (hands - 1)
    return NORMAL_95 * math.sqrt(spread) / len(gain)


def split(seen: Observations, every: int = 5) -> tuple[Observations, Observations]:
    """Every fifth hand held out."""
    held = seen.hand % every == every - 1
    return seen.part(~held), seen.part(held)
