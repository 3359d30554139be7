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
actions only: chance and the opponent cancel. Imaginary observations: a hand is evidence for all our
hole cards x, not only for those dealt, and for all actions that we could have taken. With Q_m(h, x,
a) what strategy m is believed to win after action a (`values`), and the probability of x given our
actions,

    w_m(h, x) = π_m(x, h) / Σ_y π(y, h),    V_m(h) = Σ_x w_m(h, x) Σ_a π_m(a | x, h) Q_m(h, x, a),

the estimate is, over our decisions h_1 .. h_T, with the action a_t taken at h_t,

    V_m(h_1) + Σ_t [ V_m(h_t+1) - Σ_x w_m(h_t a_t, x) Q_m(h_t, x, a_t) ],

and V_m(h_T+1) = Σ_x w_m(z, x) v(x, z) at the end z. π_m is the probability of strategy m's own
actions, π that of the strategy played: the mixture of the k with the probabilities `mix`. Folds win
what they win; for everything else any Q leaves the mean as it is, since the mean of a bracket's
second term over our action is V_m(h_t). The nearer Q is to the truth, the less is left of our own
luck and of the ratios' (doubly robust: Jiang & Li 2016; AIVAT: Burch et al. 2018). The player takes
Q from the learnt model (`action_values`).

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

PRIOR_HANDS, PRIOR_SPREAD = 50.0, 10.0  # prior of the variance of importance sampling
MOST_RATIO = 10.0  # of the probability of our actions by an arm and as they were played
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
    kept: float = 1.0  # the part that is not left to the values, mean over hands

    def add(self, gain: float, kept: float = 1.0) -> None:
        """Adds the estimate of one hand (Welford)."""
        self.n += 1.0
        self.kept += (kept - self.kept) / self.n
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
    """Both estimates combined. With the error e of the hypotheses and the noise ν of importance
    sampling, which has the part c of e where ratios are cut off, weight w has the error (1 - w (1 -
    c)) e + w ν; w is the best, and 1 at most."""
    if not np.isfinite(arm.error):
        return GainEstimate(arm.name, 0.0, float("inf"))
    if arm.n == 0:
        return GainEstimate(arm.name, arm.gain, arm.error)
    kept, error = min(max(arm.kept, 0.0), 1.0), arm.error**2
    weight = min(error * kept / (error * kept**2 + arm.variance), 1.0)
    gain = (1.0 - weight) * arm.gain + weight * arm.mean
    variance = (1.0 - weight * kept) ** 2 * error + weight**2 * arm.variance
    return GainEstimate(arm.name, gain, float(np.sqrt(variance)))


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
    first_child: np.ndarray,
    values: np.ndarray,
    line: SeatDecisions,
    board: np.ndarray,
    shown: np.ndarray,
    stake: float,
    mix: np.ndarray,
    ranges: RangeWorkspace,
    most: float,
    part: np.ndarray,
    kept: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fills `out` (float64[k]) with the estimated payoff of each strategy in this hand.

    `first_child`: int32[n + 1]; `values`: float64[n, b, k], as `action_values` returns them;
    `board`: int64[5], NO_CARD for cards not dealt; `shown`: the opponent's cards, or NO_CARD;
    `stake`: our payoff if the opponent folded, or the stake of the showdown.
    """
    n, buckets = index(len(mix)), index(len(ranges.mass))
    reset_ranges(ranges, board)
    out[:] = 0.0
    part[:] = 1.0
    kept[:] = 1.0
    known = shown[ZERO] != NO_CARD
    if known:
        remove_card(ranges, shown[ZERO])
        remove_card(ranges, shown[ONE])
    street = -1
    for d in range(index(len(line.node))):
        street = deal_streets(strategy_stack, ranges, street, line.street[d])
        node, action = index(line.node[d]), index(line.action[d])
        facing = line.cost[d] == line.cost[d]  # not NaN: folding is legal
        child = index(first_child[node]) if facing else index(first_child[node]) - ONE  # of a fold
        total = _total(ranges, mix)
        for b in range(index(strategy_stack.buckets[index(street)])):
            row = index(row_of(strategy_stack.first_row, node, np.int64(b)))
            for a in range(index(3)):
                for k in range(n):
                    share = strategy_stack.policy[row, a, k]
                    if share > 0.0:
                        wins = -line.cost[d] if a == ZERO else values[child + a, b, k]
                        out[k] += part[k] * ranges.mass[b, k] / total * share * wins
        take_action(strategy_stack, ranges, street, node, action, 0.0)
        total = _total(ranges, mix)
        for k in range(n):
            ratio = 0.0
            for b in range(buckets):
                ratio += ranges.mass[b, k] / total
            part[k] = most / ratio if ratio > most else 1.0
            kept[k] = min(ratio, most)
        if action == ZERO:
            return
        for b in range(index(strategy_stack.buckets[index(street)])):
            for k in range(n):
                out[k] -= part[k] * ranges.mass[b, k] / total * values[child + action, b, k]
    dealt = 0
    for s in range(1, 4):
        dealt = s if board[index(1 + s)] != NO_CARD else dealt
    deal_streets(strategy_stack, ranges, street, dealt)
    total = _total(ranges, mix)
    if not known:
        for b in range(buckets):
            for k in range(n):
                out[k] += part[k] * stake * ranges.mass[b, k] / total
        return
    theirs = _strength(ranges, shown[ZERO], shown[ONE])
    for h in range(index(N_HOLDINGS)):
        if not ranges.live[h]:
            continue
        ours = _strength(ranges, ranges.holdings[h, ZERO], ranges.holdings[h, ONE])
        won = stake * ((1 if ours > theirs else 0) - (1 if ours < theirs else 0)) / total
        bucket = index(ranges.bucket[h])
        for k in range(n):
            out[k] += part[k] * won * ranges.weight[h, k] * ranges.factor[bucket, k]


class OffPolicyEstimator:
    """Payoff estimates for k strategies, hand by hand. `values`: what they are believed to win
    (`action_values`); by default 0."""

    def __init__(
        self,
        game: Game,
        strategies: list[Strategy],
        values: np.ndarray | None = None,
        most: float = np.inf,
    ) -> None:
        self._stack, self._k = strategy_stack(game, strategies), len(strategies)
        self._betting, self._ranges = game.rules.betting, new_range_workspace(self._stack)
        self._first_child = game.form.nodes.first_child
        shape = game.form.n_nodes, len(self._ranges.mass), self._k
        self._values = np.zeros(shape) if values is None else values
        self._most, self._part = most, np.ones(self._k)
        self.kept = np.ones(self._k)  # of the last hand: the ratio of each strategy, cut off

    def estimate(self, ending: Ending, mix: np.ndarray) -> np.ndarray:
        """float64[k]: the estimated payoff of each strategy; `mix`: the probability with which each
        was chosen to play the hand."""
        line = seat_decisions(self._betting, ending.betting.history, ending.seat)
        self.kept[:] = 1.0
        if not len(line.node) and ending.betting.folded != NO_FOLD:
            return np.full(self._k, float(ending.won))  # no decision of ours
        shown = np.array(ending.shown or (NO_CARD, NO_CARD), dtype=np.int64)
        stake, out = min(ending.betting.paid), np.empty(self._k)
        board = padded_board(ending.board)
        estimate_hand(
            self._stack, self._first_child, self._values, line, board, shown, stake, mix,
            self._ranges, self._most, self._part, self.kept, out,
        )  # fmt: skip
        return out
