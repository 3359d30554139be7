"""The verdict on a model tells a player whose cards do not matter from a model that is bad."""

from __future__ import annotations

import numpy as np
import pytest

from counterplay.poker.models.quality import Quality, _half_width


@pytest.mark.parametrize(
    ("loss", "plain", "error", "verdict"),
    [
        (0.5, 0.8, 0.1, "better"),
        (0.5, 0.55, 0.1, "same"),  # not sure
        (0.002, 0.001, 1e-5, "same"),  # sure, and nothing but smoothing
        (0.94, 0.91, 0.01, "same"),  # a pattern too many of one who acts at random
        (0.9, 0.8, 0.2, "same"),  # not sure
        (0.9, 0.8, 0.05, "worse"),
    ],
)
def test_verdicts(loss: float, plain: float, error: float, verdict: str) -> None:
    assert Quality(100, loss, plain, 0.5, error).verdict == verdict


def test_decisions_of_one_hand_count_together() -> None:
    """Written out: every hand's decisions are copies of one, so the interval is that of one."""
    once = np.random.default_rng(1).normal(size=200)
    hand = np.arange(200)
    alone = 1.96 * once.std(ddof=1) / np.sqrt(200)
    assert _half_width(once, hand) == pytest.approx(alone)
    assert _half_width(np.repeat(once, 5), np.repeat(hand, 5)) == pytest.approx(alone)
    assert _half_width(once[:3], np.zeros(3)) == np.inf
