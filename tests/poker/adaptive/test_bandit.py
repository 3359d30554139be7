"""Predictions and off-policy estimates beside naive twins, holding by holding."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from support.arena import holdem, strategy

import counterplay as cp
from counterplay.poker.adaptive.bandit import (
    ArmStatistics,
    GainEstimate,
    OffPolicyEstimator,
    combined_gain,
)
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.table import TableBot, strategy_bot
from counterplay.poker.cards.cards import HOLDING_CARDS
from counterplay.poker.cards.evaluator import strength
from counterplay.poker.holdem.bucket_pairs import pair_chance, pair_values, value_against
from counterplay.poker.holdem.bucket_replies import action_values
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.referee import play_hands, start_bots
from counterplay.poker.models.predict import MIN_PROBABILITY, Predictor

SEEDS = (1, 2, 3)


class Witness(Bot):
    """Plays one of the strategies and keeps what it saw."""

    def __init__(self, which: int) -> None:
        self.bots = [strategy_bot(strategy(seed)) for seed in SEEDS]
        self.now, self.seen = self.bots[which], list[Ending]()

    def seed(self, seed: int) -> None:
        self.now.seed(seed)

    def act(self, view: View) -> str:
        return self.now.act(view)

    def end_hand(self, ending: Ending) -> None:
        self.seen.append(ending)


def hands(n: int) -> Witness:
    me, foe = Witness(0), strategy_bot(strategy(9))
    start_bots((me, foe), (1, 2))
    play_hands((me, foe), session_deals(4, 0, n))
    return me


def decisions(ending: Ending, seat: int) -> list[tuple[int, str, int]]:
    """(node, action, cards on the board) of a seat, from the history."""
    tree, node, result = holdem().rules.tree, 0, []
    for letter in ending.betting.history.replace("/", ""):
        state = tree.states[node]
        action = next(name for name in tree.actions[node] if name[0] == letter)
        if state.player() == seat:
            result.append((node, action, state.on_board))
        node = tree.moves[node][action]
    return result


def share(bot: TableBot, ending: Ending, seat: int, node: int, cards: tuple[int, int]) -> dict:
    state = holdem().rules.tree.states[node]
    board = ending.board[: state.on_board]
    return bot.shares(View(seat, cards, board, state, node))


def naive_estimate(
    bots: list[TableBot], ending: Ending, mix: np.ndarray, k: int, values: np.ndarray, most: float
) -> float:
    """What strategy k would have won, as the formula says it, holding by holding."""
    seat, tree = ending.seat, holdem().rules.tree
    out, part, taken = 0.0, 1.0, set(ending.shown or ())
    free = [tuple(pair) for pair in HOLDING_CARDS.tolist() if not taken & set(pair)]
    weight = {pair: np.ones(len(bots)) for pair in free}

    def after(node: int, action: str, pair: tuple[int, int]) -> float:
        """Q: a fold's payoff, or a value by the bucket of the holding."""
        if action == "fold":
            return -float(tree.states[node].paid[seat])
        state, first = tree.states[node], int(bots[0].table.first_row[node])
        view = View(seat, pair, ending.board[: state.on_board], state, node)
        return float(values[tree.moves[node][action], bots[0]._row(view) - first, k])

    for node, action, dealt in decisions(ending, seat):
        lying = set(ending.board[:dealt])
        weight = {pair: w for pair, w in weight.items() if not lying & set(pair)}
        shares = {pair: [share(b, ending, seat, node, pair) for b in bots] for pair in weight}
        total = sum(mix @ w for w in weight.values())
        for pair, w in weight.items():
            for legal, probability in shares[pair][k].items():
                out += part * w[k] / total * probability * after(node, legal, pair)
        if action == "fold":
            return out
        for pair in weight:
            weight[pair] = weight[pair] * [one[action] for one in shares[pair]]
        total = sum(mix @ w for w in weight.values())
        part = min(1.0, most / (sum(w[k] for w in weight.values()) / total))
        out -= part * sum(w[k] / total * after(node, action, pair) for pair, w in weight.items())
    lying = set(ending.board)
    weight = {pair: w for pair, w in weight.items() if not lying & set(pair)}
    total, stake = sum(mix @ w for w in weight.values()), min(ending.betting.paid)
    for pair, w in weight.items():
        won = 1
        if ending.shown is not None:
            mine, his = (strength([*cards, *ending.board]) for cards in (pair, ending.shown))
            won = (mine > his) - (mine < his)
        out += part * stake * won * w[k] / total
    return out


@pytest.mark.parametrize("valued", [False, True])
def test_estimates_are_what_the_formula_says(valued: bool) -> None:
    """Without values, and with values that mean nothing and ratios that are cut off."""
    me, mix = hands(30), np.array([0.7, 0.2, 0.1])
    shape = holdem().form.n_nodes, 10, len(SEEDS)
    values = np.random.default_rng(1).normal(size=shape) if valued else np.zeros(shape)
    most = 1.2 if valued else np.inf
    estimator = OffPolicyEstimator(holdem(), [strategy(seed) for seed in SEEDS], values, most)
    folds = [ending for ending in me.seen if ending.shown is None][:2]
    shown = [ending for ending in me.seen if ending.shown is not None][:1]
    for ending in folds + shown:
        result = estimator.estimate(ending, mix)
        for k in (0, 2):
            right = naive_estimate(me.bots, ending, mix, k, values, most)
            assert result[k] == pytest.approx(right, abs=1e-9)


def test_predictions_are_what_bayes_says() -> None:
    me = hands(30)
    predictor = Predictor(holdem(), [strategy(9), strategy(1)])
    shown = next(ending for ending in me.seen if ending.shown is not None)
    line, shares, likelihood = predictor.predict(shown)
    for k, seed in enumerate((9, 1)):
        bot, seat, log = strategy_bot(strategy(seed)), 1 - shown.seat, 0.0
        free = [tuple(p) for p in HOLDING_CARDS.tolist() if not set(shown.cards) & set(p)]
        weight = dict.fromkeys(free, 1.0)
        for d, (node, action, dealt) in enumerate(decisions(shown, seat)):
            lying = set(shown.board[:dealt])
            weight = {pair: w for pair, w in weight.items() if not lying & set(pair)}
            result = {pair: share(bot, shown, seat, node, pair) for pair in weight}
            total = sum(weight.values())
            expected = sum(w * result[pair][action] for pair, w in weight.items()) / total
            assert shares[d, line.action[d], k] == pytest.approx(expected, abs=1e-9)
            log += np.log(max(expected, MIN_PROBABILITY))
            weight = {
                pair: w * max(result[pair][action], MIN_PROBABILITY) for pair, w in weight.items()
            }
        cards = tuple(sorted(shown.shown))
        log += np.log(weight[cards] / sum(weight.values()))
        assert likelihood[k] == pytest.approx(log, abs=1e-9)


@cache
def played() -> tuple[Witness, np.ndarray, list[Any]]:
    """Hands of the first strategy, their payoffs, and what the first two win in long matches."""
    me, foe = Witness(0), strategy_bot(strategy(9))
    start_bots((me, foe), (1, 2))
    won = play_hands((me, foe), session_deals(6, 0, 3_000))
    right = [
        cp.play_match(holdem(), strategy(seed), strategy(9), 400_000, 1, luck_adjusted=False)
        for seed in SEEDS[:2]
    ]
    return me, won, right


def estimates(values: np.ndarray | None = None) -> np.ndarray:
    """float64[hands, 3]: of the hands of `played`."""
    estimator = OffPolicyEstimator(holdem(), [strategy(seed) for seed in SEEDS], values)
    mix = np.array([1.0, 0.0, 0.0])
    return np.array([estimator.estimate(ending, mix) for ending in played()[0].seen])


@pytest.mark.parametrize("what", ["nothing", "the truth", "nonsense"])
def test_no_values_make_an_estimate_wrong(what: str) -> None:
    """Estimates from hands of one strategy, for it and for another, beside what they win: within
    four standard errors. (Cards that were not shown are not removed, so they are not quite
    unbiased.) What is played at all is estimated with less noise than it is won."""
    own, foe = [strategy(seed).probabilities for seed in SEEDS], strategy(9).probabilities
    values = None if what == "nothing" else action_values(holdem(), own, foe)[0]
    if what == "nonsense":
        values = np.random.default_rng(2).normal(size=values.shape)
    result, (_, won, right) = estimates(values), played()
    assert result[:, 0].std() < won.std()
    for k in (0, 1):
        error = np.hypot(result[:, k].std() / np.sqrt(len(result)), right[k].standard_error)
        assert abs(result[:, k].mean() - right[k].mean) < 4 * error


def test_values_that_are_right_leave_less_noise() -> None:
    """And where ratios are cut off they are the estimate, so that they have to be right: what is
    kept of the second strategy is less than all, and its mean is still what it wins."""
    own, foe = [strategy(seed).probabilities for seed in SEEDS], strategy(9).probabilities
    values, won = action_values(holdem(), own, foe)
    assert won[1] == pytest.approx(value_against(holdem(), own[1], foe), abs=1e-12)
    plain, less = estimates(), estimates(values)
    for k in (1, 2):
        before, after = (found[:, k] - found[:, 0] for found in (plain, less))
        assert after.var() < before.var()
    estimator = OffPolicyEstimator(holdem(), [strategy(seed) for seed in SEEDS], values, 1.5)
    me, _, right = played()
    found, kept = [], []
    for ending in me.seen:
        found.append(estimator.estimate(ending, np.array([1.0, 0.0, 0.0]))[1])
        kept.append(estimator.kept.copy())
    assert np.mean(kept, axis=0)[0] == pytest.approx(1.0)
    assert 0.1 < np.mean(kept, axis=0)[1] < 0.95
    assert np.std(found) < less[:, 1].std()
    error = np.hypot(np.std(found) / np.sqrt(len(found)), right[1].standard_error)
    assert abs(np.mean(found) - right[1].mean) < 4 * error + 0.05


def test_ratios_that_are_cut_off_leave_an_arm_to_the_hypotheses() -> None:
    """By the part that is cut off; in between the error is below both."""
    arm = ArmStatistics("", gain=1.0, error=0.2)
    assert combined_gain(arm) == GainEstimate("", 1.0, 0.2)
    arm.n, arm.mean, arm.squares, arm.kept = 10_000.0, 0.0, 1e6, 0.0
    found = combined_gain(arm)
    assert (found.gain, found.error) == pytest.approx((1.0, 0.2))
    arm.kept = 1.0  # nothing cut off: both by their precision
    found, weight = combined_gain(arm), 0.2**2 / (0.2**2 + arm.variance)
    assert found.gain == pytest.approx(1.0 - weight)
    assert found.error**2 == pytest.approx(1.0 / (1.0 / 0.2**2 + 1.0 / arm.variance))
    arm.kept = 0.5
    assert found.error < combined_gain(arm).error < 0.2


def test_a_value_is_that_of_the_action() -> None:
    """At the first decision: what the strategy wins from then on, by its probabilities, is the
    value of the game in that seat, for the mean bucket."""
    own, foe = strategy(1).probabilities, strategy(9).probabilities
    values, _ = action_values(holdem(), [own], foe)
    chance, tree, form = pair_chance(holdem()), holdem().rules.tree, holdem().form
    share = chance.first.reshape(10, 10).sum(axis=1)
    total = 0.0
    for bucket in range(10):
        slot = int(form.first[form.first_row[0] + bucket])
        for a, action in enumerate(tree.actions[0]):
            total += share[bucket] * own[slot + a] * values[tree.moves[0][action], bucket, 0]
    assert total == pytest.approx(pair_values(holdem(), own, foe).game_value, abs=1e-9)
