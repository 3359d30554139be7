"""Poki against its published descriptions: before the flop, the model of the opponent, rules,
whole hands."""

from __future__ import annotations

import random

import numpy as np
import pytest
from support.holdem import TREE

from counterplay.poker.betting.betting import Betting
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.poki.bot import Poki
from counterplay.poker.bots.poki.opponent import (
    BLOCKED,
    CALLED,
    FOLDED,
    RAISED,
    ActionFrequencies,
    bets_faced,
    new_opponent_strengths,
    quantile,
    reweight,
)
from counterplay.poker.bots.poki.strategy import (
    BettingContext,
    PokiSettings,
    choose_strategy,
    income_rates,
    preflop_action,
    triple,
)
from counterplay.poker.bots.poki.strength import HandStrength
from counterplay.poker.cards.cards import N_HOLDINGS, RANKS, card, holding
from counterplay.poker.cards.evaluator import strength

# Papp 1998, appendix A: IR_2, rows and columns 2 .. A, suited where the row is above the column.
IR_2 = """
7 -351 -334 -314 -318 -308 -264 -217 -166 -113 -53 10 98
-279 74 -296 -274 -277 -267 -251 -201 -148 -93 -35 27 116
-263 -225 142 -236 -240 -231 -209 -185 -130 -75 -17 46 134
-244 -206 -169 207 -201 -189 -169 -148 -114 -55 2 68 153
-247 -208 -171 -138 264 -153 -134 -108 -78 -43 19 85 154
-236 -200 -162 -125 -91 324 -99 -72 -43 -6 37 104 176
-192 -182 -143 -108 -75 -43 384 -39 -4 29 72 120 197
-152 -134 -122 -84 -50 -17 16 440 28 65 106 155 215
-104 -86 -69 -56 -19 12 47 81 499 102 146 195 254
-52 -35 -19 0 11 46 79 113 149 549 161 212 271
2 21 34 55 72 86 121 153 188 204 598 228 289
63 79 98 116 132 151 168 200 235 249 268 647 305
146 164 180 198 198 220 240 257 291 305 323 339 704
"""
NUMBERS = [[int(x) for x in line.split()] for line in IR_2.split("\n") if line]
DEFAULT = PokiSettings()
BOARD_SIZE = (0, 3, 4, 5)


# --- before the flop ---


def test_income_rates_are_papps_up_to_his_roll_outs() -> None:
    """IR_2 exact against the printed table of roll-outs."""
    rates, largest = income_rates(), 0.0
    for row in range(13):
        for column in range(13):
            suits = "cc" if row > column else "cd"
            pair = [card(RANKS[row] + suits[0]), card(RANKS[column] + suits[1])]
            largest = max(largest, abs(float(rates[holding(pair)]) - NUMBERS[row][column]))
    assert largest < 4.0  # 3.1


@pytest.mark.parametrize(
    ("rate", "seat", "strategy"),
    [
        (-1, 0, "Make0"),
        (0, 0, "Make2"),
        (299, 0, "Make2"),
        (300, 0, "Make4"),
        (-51, 1, "Make0"),
        (-50, 1, "Make1"),
        (-1, 1, "Make1"),
        (0, 1, "Make2"),
        (300, 1, "Make4"),
    ],
)
def test_strategy_of_an_income_rate(rate: float, seat: int, strategy: str) -> None:
    assert choose_strategy(rate, seat, DEFAULT) == strategy


def test_a_moderate_small_blind_limps() -> None:
    moderate = PokiSettings(make2=(50.0, 50.0))
    assert choose_strategy(50, 0, moderate) == "Make1"
    assert choose_strategy(100, 0, moderate) == "Make2"
    assert choose_strategy(50, 1, moderate) == "Make2"


@pytest.mark.parametrize(
    ("strategy", "bets", "to_call", "paid", "action"),
    [
        ("Make0", 1, 0, False, "call"),
        ("Make0", 2, 1, False, "fold"),
        ("Call1", 2, 1, False, "call"),
        ("Call1", 3, 2, False, "fold"),
        ("Call1", 3, 2, True, "call"),
        ("Make1", 0, 0, False, "raise"),
        ("Make1", 1, 0, False, "call"),
        ("Make1", 2, 1, False, "call"),
        ("Call2", 4, 2, False, "call"),
        ("Make2", 1, 1, False, "raise"),
        ("Make2", 2, 1, False, "call"),
        ("Make4", 3, 1, True, "raise"),
        ("Make4", 4, 1, True, "call"),
    ],
)
def test_actions_of_the_strategies(
    strategy: str, bets: int, to_call: int, paid: bool, action: str
) -> None:
    assert preflop_action(strategy, bets, to_call, paid) == action


# --- the opponent ---


def test_frequencies_start_with_defaults_and_learn() -> None:
    frequencies = ActionFrequencies(DEFAULT)
    assert frequencies.triple(2, 1) == (0.5, 0.3, 0.2)
    for _ in range(10):
        frequencies.add(1, 1, RAISED)
    assert frequencies.triple(1, 1) == pytest.approx((0.25, 0.15, 0.6))  # half of twenty
    assert frequencies.triple(2, 1) == frequencies.triple(
        1, 1
    )  # nothing of its own: the round before
    assert frequencies.triple(0, 1) == (0.5, 0.3, 0.2)
    for _ in range(40):
        frequencies.add(1, 1, CALLED)
    assert frequencies.triple(1, 1) == pytest.approx((0.0, 1.0, 0.0))  # the last forty


@pytest.mark.parametrize(
    ("to_call", "bets", "faced"), [(0.0, 1, 0), (0.5, 1, 1), (1.0, 1, 1), (2.0, 2, 2), (1.0, 4, 2)]
)
def test_bets_faced(to_call: float, bets: int, faced: int) -> None:
    assert bets_faced(to_call, bets) == faced


def rated() -> tuple[np.ndarray, object]:
    strengths = new_opponent_strengths()
    strengths.ehs[:] = np.arange(N_HOLDINGS) / N_HOLDINGS
    strengths.ehs[:100] = BLOCKED
    for e in strengths.ehs[100:]:
        strengths.bins[int(e * 2048)] += 1
    strengths.bins[2048] = N_HOLDINGS - 100
    return np.ones(N_HOLDINGS), strengths


def test_thresholds_are_quantiles() -> None:
    _, strengths = rated()
    low = 100 / N_HOLDINGS
    for share in (0.2, 0.5, 0.9):
        assert quantile(strengths, share) == pytest.approx(1.0 - share * (1.0 - low), abs=2e-3)
    assert quantile(strengths, 1.0) <= low
    assert quantile(strengths, 0.0) > 0.999


@pytest.mark.parametrize("action", [FOLDED, CALLED, RAISED])
def test_weights_stay_in_range_and_follow_the_action(action: int) -> None:
    weights, strengths = rated()
    for _ in range(30):
        reweight(weights, strengths, 0.3, 0.3, 0.1, 0.0, 2.0, action, False, 0.4, 0.01)
        assert np.all(weights[:100] == 0.0)
        assert np.all((weights[100:] >= 0.01) & (weights[100:] <= 1.0))
    best = int(np.argmax(weights))
    assert {FOLDED: best < 500, CALLED: 400 < best < 1000, RAISED: best > 1000}[action]


@pytest.mark.parametrize(
    ("fold", "rise", "action"), [(0.0, 1.0, RAISED), (0.0, 0.0, CALLED), (1.0, 0.0, FOLDED)]
)
def test_an_action_that_was_certain_says_nothing(fold: float, rise: float, action: int) -> None:
    weights, strengths = rated()
    reweight(weights, strengths, fold, rise, 0.02, 0.4, 2.0, action, False, 0.4, 0.01)
    assert weights[100:] == pytest.approx(1.0)


def test_one_action_is_the_noisy_triple() -> None:
    """Far from the borders a raise is 1 for the best and 0 for the worst, before noise 0.4."""
    weights, strengths = rated()
    reweight(weights, strengths, 0.3, 0.3, 0.05, 0.0, 2.0, RAISED, False, 0.4, 0.01)
    low, high = 0.4 / 3, 1 - 0.4 + 0.4 / 3
    assert weights[1325] == 1.0
    assert weights[100] == pytest.approx(low / high)


# --- decisions after the flop ---


def test_triples_are_distributions() -> None:
    rng = random.Random(3)
    for _ in range(3000):
        faced = rng.randrange(3)
        context = BettingContext(
            rng.randrange(1, 4),
            faced,
            2.0,
            2.0 if faced else 0.0,
            rng.uniform(2, 30),
            rng.random() < 0.3,
            rng.random() < 0.5,
        )
        result = triple(
            context, HandStrength(rng.random(), rng.random() * 0.5, rng.random() * 0.5), DEFAULT
        )
        assert sum(result) == pytest.approx(1.0, abs=1e-12)
        assert min(result) >= 0.0
        assert result[2] >= DEFAULT.least - 1e-12
        assert faced or result[0] == 0.0


def test_rules() -> None:
    river = BettingContext(3, 1, 2.0, 2.0, 10.0, False, True)
    assert (
        triple(river, HandStrength(0.10, 0.0, 0.0), DEFAULT)[0] > 0.9
    )  # folds below the odds of 1 to 6
    assert triple(river, HandStrength(0.17, 0.0, 0.0), DEFAULT)[0] == 0.0  # calls above them
    assert triple(river, HandStrength(0.95, 0.0, 0.0), DEFAULT)[2] > 0.9  # raises
    flop = BettingContext(1, 0, 1.0, 0.0, 4.0, False, True)
    assert (
        triple(flop, HandStrength(0.2, 0.19, 0.0), DEFAULT)[2] < 0.1
    )  # 2 / (4 + 6) is not covered
    assert triple(flop, HandStrength(0.2, 0.21, 0.0), DEFAULT)[2] > 0.2  # semi-bluff
    unopened = BettingContext(3, 0, 2.0, 0.0, 10.0, True, True)
    assert (
        triple(unopened, HandStrength(0.2, 0.0, 0.0), DEFAULT)[2] > 0.9
    )  # and goes on with it on the river
    assert (
        triple(unopened._replace(semi_bluffing=False), HandStrength(0.2, 0.0, 0.0), DEFAULT)[2]
        == DEFAULT.river_bluff
    )


# --- whole hands ---


class Chance(Bot):
    """Any legal action."""

    def start(self, seed: int) -> None:
        self._random = random.Random(seed)

    def act(self, view: View) -> str:
        return self._random.choice(view.betting.actions())


class Always(Bot):
    """One action where it is legal, else call."""

    def __init__(self, action: str) -> None:
        self._action = action

    def act(self, view: View) -> str:
        return self._action if self._action in view.betting.actions() else "call"


def play(bots: tuple[Bot, Bot], dealt: list[int]) -> tuple[str, float]:
    """One hand: the history and what seat 0 wins."""
    states, tree, actions = TREE.states, TREE.nodes, TREE.actions
    hole, board, node = ((dealt[0], dealt[1]), (dealt[2], dealt[3])), tuple(dealt[4:9]), 0
    for seat, bot in enumerate(bots):
        bot.new_hand(seat)
    state: Betting = states[0]
    while not state.over:
        seat = state.player()
        action = bots[seat].act(
            View(seat, hole[seat], board[: BOARD_SIZE[state.round]], state, node)
        )
        assert action in actions[node]
        node = int(tree.first_child[node]) + actions[node].index(action)
        state = states[node]
    won = min(state.paid) * (1 if state.folded == 1 else -1)
    if state.folded < 0:
        values = [strength([*pair, *board]) for pair in hole]
        won = min(state.paid) * ((values[0] > values[1]) - (values[0] < values[1]))
    for seat, bot in enumerate(bots):
        bot.end_hand(
            Ending(
                seat,
                hole[seat],
                board[: BOARD_SIZE[state.round]],
                state,
                won if seat == 0 else -won,
                None,
            )
        )
    return state.history, won


def session(poki: Poki, hands: int, seed: int) -> list[str]:
    deck, chance = random.Random(seed), Chance()
    poki.start(seed)
    chance.start(seed)
    result = []
    for k in range(hands):
        result.append(
            play((poki, chance) if k % 2 else (chance, poki), deck.sample(range(52), 9))[0]
        )
        possible = poki.weights[poki.weights > 0.0]
        assert possible.min() >= DEFAULT.floor
        assert possible.max() <= 1.0
    return result


@pytest.mark.first
def test_many_legal_hands_and_the_same_ones_again() -> None:
    poki = Poki()
    first = session(poki, 900, 11)
    assert len(set(first)) > 90
    assert session(poki, 300, 11) == first[:300]  # start forgets everything
    assert session(Poki(), 300, 11) == first[:300]
    assert session(Poki(), 300, 12) != first[:300]


def test_poki_plays_itself() -> None:
    deck, bots = random.Random(2), (Poki(), Poki())
    for seat, bot in enumerate(bots):
        bot.start(seat)
    assert len({play(bots, deck.sample(range(52), 9))[0] for _ in range(500)}) > 30


@pytest.mark.slow
@pytest.mark.parametrize(
    ("action", "low", "high"), [("call", 0.51, 0.537), ("raise", 2.139, 2.285)]
)
def test_published_results_against_simple_bots(action: str, low: float, high: float) -> None:
    """Billings et al. 2003 and 2004, small bets a hand, each ±0.03; 100,000 hands here, every
    deal from both seats."""
    deck, poki, other, deals = random.Random(31), Poki(), Always(action), 50_000
    poki.start(31)
    won = np.empty(deals)
    for k in range(deals):
        dealt = deck.sample(range(52), 9)
        won[k] = (play((poki, other), dealt)[1] - play((other, poki), dealt)[1]) / 2
    slack = 2 * 0.03 + 2 * won.std() / deals**0.5
    assert low - slack < won.mean() < high + slack
