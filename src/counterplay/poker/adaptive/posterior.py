"""What the opponent may be, and how likely: the equilibrium, a known player, or a model learnt
from his hands.

Each hypothesis predicts every hand before it is seen (`poker/models/predict.py`, unseen cards
summed out), and its weight is multiplied by the likelihood of the hand to the power η. All
hypotheses are wrong in detail; with η < 1 the wrong ones are left more slowly (a generalised
posterior: Grünwald & van Ommen 2017). The learnt model is a hypothesis from the moment it is learnt
on, by its predictions of later hands; until then its weight changes as that of all others together.

The gain of an arm over the equilibrium is its mean over the hypotheses. Its variance is their
disagreement, and the error that each of them may make. Nobody plays exactly as a known player does:
the error of a known player about a gain is that gain times DOUBT times the part of the opponent's
deviation from the equilibrium, in total variation, that he leaves unexplained. At first, when all
frequencies are noise, that is about 1, and no gain is believed. The error of the learnt model is
what few hands leave open: little about a soft reply, which departs from the equilibrium only as far
as it pays; more about an arm that comes to decisions which the hands so far did not come to.
Buckets instead of cards make an error, too: a constant, and a part of the gain
(`benchmarks/members.py` shows how far all these hold).
"""

from __future__ import annotations

import numpy as np
from scipy.special import softmax

POWER = 0.5  # η
EQUILIBRIUM_SHARE, LEARNT_SHARE = 0.5, 0.1  # prior weights; the known players share the rest
MODEL_ERROR, MODEL_PART = 0.05, 0.2  # of a hypothesis about a gain: sb/h, and part of the gain
DOUBT = 2.0  # error of a gain, for each part of the deviation that is left unexplained
HAND_ERROR, REPLY_ERROR = 15.0, 1.5  # sb: of a model of one hand, about an arm; about a reply


class OpponentPosterior:
    """Weights of the equilibrium, of `players` known players, and of the learnt model."""

    def __init__(self, players: int) -> None:
        others = max(1.0 - EQUILIBRIUM_SHARE - LEARNT_SHARE, 0.0) / max(players, 1)
        self._known = np.log(np.array([EQUILIBRIUM_SHARE, *[others] * players]))
        self._learnt = float(np.log(LEARNT_SHARE))
        self._hands: int | None = None  # that the learnt model was learnt from

    def add(self, known: np.ndarray, learnt: float | None) -> None:
        """Adds the log likelihoods of a hand: float64[1 + players], and of the learnt model."""
        before = np.logaddexp.reduce(self._known)
        self._known += POWER * known
        after = np.logaddexp.reduce(self._known)
        self._learnt += float(after - before) if learnt is None else POWER * learnt

    def learnt_from(self, hands: int | None) -> None:
        """Says from how many hands the model was learnt; None: there is none."""
        self._hands = hands

    @property
    def best(self) -> int:
        """The likeliest of the equilibrium and the known players."""
        return int(self._known.argmax())

    @property
    def weights(self) -> np.ndarray:
        """float64[1 + players + 1]: the probability of each hypothesis."""
        learnt = self._learnt if self._hands else -np.inf
        weights: np.ndarray = softmax(np.append(self._known, learnt))
        return weights

    def mean_gains(
        self, gains: np.ndarray, unexplained: np.ndarray, replies: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """float64[arms] each: the mean and the standard deviation of `gains`, float64[arms, 1 +
        players + 1]. `unexplained`: float64[1 + players]; `replies`: bool[arms], which arms are
        soft replies to these hypotheses."""
        weights, known = self.weights, len(self._known)
        mean = gains @ weights
        error = MODEL_ERROR + MODEL_PART * np.abs(gains)
        error[:, :known] += DOUBT * unexplained * np.abs(gains[:, :known])
        hand_error = np.where(replies, REPLY_ERROR, HAND_ERROR)
        error[:, known:] += hand_error[:, None] / np.sqrt(self._hands or 1)
        variance = ((gains - mean[:, None]) ** 2 + error**2) @ weights
        return mean, np.sqrt(variance)


def unexplained_deviation(taken: np.ndarray, expected: np.ndarray) -> np.ndarray:
    """float64[hypotheses]: the distance of the counts (float64[groups, actions]) from those that
    each hypothesis expected (float64[hypotheses, groups, actions]), relative to the distance from
    those of the first, the equilibrium."""
    distance = np.abs(taken - expected).sum(axis=(1, 2))
    relative: np.ndarray = distance / max(float(distance[0]), 1e-9)
    return relative
