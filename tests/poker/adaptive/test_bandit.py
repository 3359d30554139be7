"""Predictions and off-policy estimates beside naive twins, holding by holding."""

from __future__ import annotations

import numpy as np
import pytest
from support.arena import holdem, strategy

import counterplay as cp
from counterplay.poker.adaptive.bandit import OffPolicyEstimator
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.table import TableBot, strategy_bot
from counterplay.poker.cards.cards import HOLDING_CARDS
from counterplay.poker.cards.evaluator import strength
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


def naive_weights(bot: TableBot, ending: Ending, mix: np.ndarray, k: int, all_bots: list) -> float:
    """What strategy k would have won, as the formula says it."""
    seat, tree = ending.seat, holdem().rules.tree
    out, taken = 0.0, set(ending.shown or ())
    free = [tuple(pair) for pair in HOLDING_CARDS.tolist() if not taken & set(pair)]
    weight = {pair: np.ones(len(all_bots)) for pair in free}
    for node, action, dealt in decisions(ending, seat):
        lying = set(ending.board[:dealt])
        weight = {pair: w for pair, w in weight.items() if not lying & set(pair)}
        paid = tree.states[node].paid
        shares = {pair: [share(b, ending, seat, node, pair) for b in all_bots] for pair in weight}
        if paid[seat] < paid[1 - seat]:
            total = sum(mix @ w for w in weight.values())
            out -= sum(w[k] * shares[p][k]["fold"] for p, w in weight.items()) * paid[seat] / total
            if action == "fold":
                return out
        for pair in weight:
            weight[pair] = weight[pair] * [one[action] for one in shares[pair]]
    lying = set(ending.board)
    weight = {pair: w for pair, w in weight.items() if not lying & set(pair)}
    total, stake = sum(mix @ w for w in weight.values()), min(ending.betting.paid)
    for pair, w in weight.items():
        won = 1
        if ending.shown is not None:
            mine, his = (strength([*cards, *ending.board]) for cards in (pair, ending.shown))
            won = (mine > his) - (mine < his)
        out += stake * won * w[k] / total
    return out


def test_estimates_are_what_the_formula_says() -> None:
    me, mix = hands(30), np.array([0.7, 0.2, 0.1])
    estimator = OffPolicyEstimator(holdem(), [strategy(seed) for seed in SEEDS])
    folds = [ending for ending in me.seen if ending.shown is None][:2]
    shown = [ending for ending in me.seen if ending.shown is not None][:1]
    for ending in folds + shown:
        result = estimator.estimate(ending, mix)
        for k in (0, 2):
            right = naive_weights(me.bots[k], ending, mix, k, me.bots)
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


def test_the_bias_of_cards_that_were_not_shown_is_small() -> None:
    """Estimates from hands of one strategy, for it and for another, beside what they win: within
    four standard errors, and what is played at all is estimated with less noise than it is won."""
    me, foe = Witness(0), strategy_bot(strategy(9))
    start_bots((me, foe), (1, 2))
    won = play_hands((me, foe), session_deals(6, 0, 3_000))
    estimator = OffPolicyEstimator(holdem(), [strategy(seed) for seed in SEEDS])
    result = np.array([estimator.estimate(ending, np.array([1.0, 0.0, 0.0])) for ending in me.seen])
    assert result[:, 0].std() < won.std()
    for k in (0, 1):
        right = cp.play_match(
            holdem(), strategy(SEEDS[k]), strategy(9), 400_000, 1, luck_adjusted=False
        )
        error = np.hypot(result[:, k].std() / np.sqrt(len(result)), right.standard_error)
        assert abs(result[:, k].mean() - right.mean) < 4 * error
