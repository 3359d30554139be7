"""The choice of the strategy for the next hands: a bandit over the equilibrium, the members of a
portfolio and the learnt response.

The gain of an arm is its payoff per hand above that of the equilibrium. Two estimates of it are
combined by their precision. The mean over what the opponent may be (`posterior.py`): low variance,
biased where none of the hypotheses is right. Importance sampling over all hands since the arm
exists (`OffPolicyEstimator`): unbiased, high variance. An arm is eligible when its gain is above 0
by more than one standard deviation, or by three where the hypotheses deny it: the largest of many
noisy estimates is soon above 0 by one. The best of these plays; the gain of the equilibrium is 0,
so that it plays when no arm is eligible. Since every hand is evidence for every arm, there is no
exploration.

`OffPolicyEstimator`: the payoff that each of k strategies would have had in a hand played by one of
them (Bowling, Johanson, Burch & Szafron 2008; Bard et al. 2013). Importance sampling over our own
actions only: chance and the opponent cancel. Imaginary observations remove most of the variance: a
hand is evidence for all our hole cards x, not only for those dealt, and at every decision where we
could have folded that outcome is known as well,

    Σ_x π_m(x, h·fold) v / Σ_x π(x, h)  +  Σ_x π_m(x, z) v(x, z) / Σ_x π(x, z),

π_m the probability of strategy m's own actions, π that of the strategy played: the mixture of the k
with the probabilities `mix`.

Deviations: without a showdown the opponent's cards are not removed from x, so the estimate is not
exactly unbiased there (tests/poker/adaptive/test_bandit.py measures it).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.betting.betting import NO_FOLD, row_of
from counterplay.poker.bots.bot import Ending
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.cards.deal import FIRST_OF_BOARD, N_DEALT
from counterplay.poker.cards.evaluator import strength_of_masks
from counterplay.poker.models.observe import SeatDecisions, seat_decisions
from counterplay.poker.models.predict import (
    NO_CARD,
    RangeWorkspace,
    StrategyStack,
    deal_streets,
    new_range_workspace,
    padded_board,
    remove_card,
    reset_ranges,
    strategy_stack,
    take_action,
)

PRIOR_HANDS, PRIOR_SPREAD = 50.0, 20.0  # prior of the variance of importance sampling
CAUTION, DENIED = 1.0, 3.0  # standard deviations; where the mean of the hypotheses is a loss
STAY = 0.03  # sb/h by which another arm must be better to replace the current one


@dataclass
class ArmStatistics:
    """The estimates of the gain of one arm."""

    name: str
    gain: float = 0.0  # over the equilibrium, the mean of the hypotheses
    error: float = float("inf")  # its standard deviation
    n: float = 0.0  # hands with an importance-sampling estimate
    mean: float = 0.0  # of these estimates
    squares: float = 0.0  # sum of squared deviations from the mean

    def add(self, gain: float) -> None:
        """Adds the estimate of one hand (Welford)."""
        self.n += 1.0
        delta = gain - self.mean
        self.mean += delta / self.n
        self.squares += delta * (gain - self.mean)

    @property
    def variance(self) -> float:
        """The variance of `mean`; its prior is a standard deviation of `PRIOR_SPREAD`."""
        if self.n == 0:
            return float("inf")
        spread = PRIOR_HANDS * PRIOR_SPREAD**2 + self.squares
        return float(spread / (PRIOR_HANDS + self.n) / self.n)


@dataclass(frozen=True)
class GainEstimate:
    """The gain of an arm over the equilibrium, per hand."""

    name: str
    gain: float
    error: float  # standard deviation


def combined_gain(arm: ArmStatistics) -> GainEstimate:
    """Both estimates combined."""
    if not np.isfinite(arm.error):
        return GainEstimate(arm.name, 0.0, float("inf"))
    weight = 1.0 / arm.error**2
    gain, total = arm.gain * weight, weight
    if arm.n > 0:
        gain += arm.mean / arm.variance
        total += 1.0 / arm.variance
    return GainEstimate(arm.name, gain / total, float(np.sqrt(1.0 / total)))


def choose(arms: list[ArmStatistics], playing: int) -> tuple[int, list[GainEstimate]]:
    """The next arm, and the estimates of all: the best of those that are surely above 0, else
    0, the equilibrium. `playing`: the current arm."""
    estimates = [GainEstimate(arms[0].name, 0.0, 0.0)]
    estimates += [combined_gain(arm) for arm in arms[1:]]
    better = []
    for k, (arm, one) in enumerate(zip(arms, estimates, strict=True)):
        caution = CAUTION if arm.gain > 0.0 else DENIED
        if k > 0 and one.gain > caution * one.error:
            better.append(k)
    best = max(better, key=lambda k: estimates[k].gain, default=0)
    if playing in better and estimates[best].gain < estimates[playing].gain + STAY:
        best = playing
    return best, estimates


@jit(inner=True)
def _total(ranges: RangeWorkspace, mix: np.ndarray) -> float:
    """Σ_x π(x)."""
    total = 0.0
    for b in range(index(len(ranges.mass))):
        for k in range(index(len(mix))):
            total += mix[k] * ranges.mass[b, k]
    return total


@jit(inner=True)
def _strength(ranges: RangeWorkspace, a: int, b: int) -> int:
    masks, deck = ranges.chance.masks, ranges.chance.deck
    for suit in range(index(4)):
        masks[suit] = 0
    for j in range(index(FIRST_OF_BOARD), index(N_DEALT)):
        masks[index(deck[j] & 3)] |= 1 << (deck[j] >> 2)
    masks[index(a & 3)] |= 1 << (a >> 2)
    masks[index(b & 3)] |= 1 << (b >> 2)
    return int(strength_of_masks(masks[0], masks[1], masks[2], masks[3]))


@jit
def estimate_hand(
    strategy_stack: StrategyStack,
    line: SeatDecisions,
    board: np.ndarray,
    shown: np.ndarray,
    stake: float,
    mix: np.ndarray,
    ranges: RangeWorkspace,
    out: np.ndarray,
) -> None:
    """Fills `out` (float64[k]) with the estimated payoff of each strategy in this hand.

    `board`: int64[5], NOT_SHOWN for cards not dealt; `shown`: the opponent's cards or NOT_SHOWN;
    `stake`: our payoff if the opponent folded, or the stake of the showdown.
    """
    n, buckets = index(len(mix)), index(len(ranges.mass))
    reset_ranges(ranges, board)
    out[:] = 0.0
    known = shown[ZERO] != NO_CARD
    if known:
        remove_card(ranges, shown[ZERO])
        remove_card(ranges, shown[ONE])
    street = -1
    for d in range(index(len(line.node))):
        street = deal_streets(strategy_stack, ranges, street, line.street[d])
        node, action = index(line.node[d]), index(line.action[d])
        if line.cost[d] == line.cost[d]:  # not NaN: folding is legal
            scale = -line.cost[d] / _total(ranges, mix)
            for b in range(index(strategy_stack.buckets[index(street)])):
                row = index(row_of(strategy_stack.first_row, node, np.int64(b)))
                for k in range(n):
                    out[k] += scale * ranges.mass[b, k] * strategy_stack.policy[row, ZERO, k]
            if action == ZERO:
                return
        take_action(strategy_stack, ranges, street, node, action, 0.0)
    dealt = 0
    for s in range(1, 4):
        dealt = s if board[index(1 + s)] != NO_CARD else dealt
    deal_streets(strategy_stack, ranges, street, dealt)
    total = _total(ranges, mix)
    if not known:
        for b in range(buckets):
            for k in range(n):
                out[k] += stake * ranges.mass[b, k] / total
        return
    theirs = _strength(ranges, shown[ZERO], shown[ONE])
    for h in range(index(N_HOLDINGS)):
        if not ranges.live[h]:
            continue
        ours = _strength(ranges, ranges.holdings[h, ZERO], ranges.holdings[h, ONE])
        won = stake * ((1 if ours > theirs else 0) - (1 if ours < theirs else 0)) / total
        bucket = index(ranges.bucket[h])
        for k in range(n):
            out[k] += won * ranges.weight[h, k] * ranges.factor[bucket, k]


class OffPolicyEstimator:
    """Payoff estimates for k strategies, hand by hand."""

    def __init__(self, game: Game, strategies: list[Strategy]) -> None:
        self._panel, self._k = strategy_stack(game, strategies), len(strategies)
        self._betting = game.rules.betting
        self._weighing = new_range_workspace(self._panel)

    def estimate(self, ending: Ending, mix: np.ndarray) -> np.ndarray:
        """float64[k]: the estimated payoff of each strategy; `mix`: the probability with which each
        was chosen to play the hand."""
        line = seat_decisions(self._betting, ending.betting.history, ending.seat)
        if not len(line.node) and ending.betting.folded != NO_FOLD:
            return np.full(self._k, float(ending.won))  # no decision of ours
        shown = np.array(ending.shown or (NO_CARD, NO_CARD), dtype=np.int64)
        stake, out = min(ending.betting.paid), np.empty(self._k)
        board = padded_board(ending.board)
        estimate_hand(self._panel, line, board, shown, stake, mix, self._weighing, out)
        return out
