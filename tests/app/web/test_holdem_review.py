"""The cost of moves in hold'em, compared on the turn and the river with a naive twin that asks the
bot holding by holding."""

from __future__ import annotations

import math
import time
from itertools import combinations
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.app.web.play.holdem import (
    BotLuckAdjustment,
    HoldemHand,
    HoldemSource,
    hand_name,
)
from counterplay.app.web.play.weighing import action_values, starting_hand
from counterplay.poker.betting.betting import LIMIT, NO_FOLD, betting_tree
from counterplay.poker.bots.bot import View
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.cards.cards import N_CARDS, cards
from counterplay.poker.cards.evaluator import strength
from counterplay.poker.holdem.holdings import BestActionSearch
from counterplay.poker.match.rollouts import rollout_values

TREE = betting_tree(LIMIT)
DEAL = tuple(cards("AhQd 9c8c 7h 2s Kd 9s 3h"))


class NoAdjustment(BotLuckAdjustment):
    """Never ready."""

    def __init__(self) -> None:
        pass

    def adjusted(self, hand: Any) -> float | None:
        return None


@pytest.fixture(autouse=True)
def _stand_in(equilibrium: Any) -> None:
    """In every test of this file."""


def _values(bot: Any, hand: HoldemHand, node: int) -> Any:
    path = hand.nodes[: hand.nodes.index(node) + 1]
    return action_values(bot, hand.seat, hand.holding(hand.seat), path, hand.cards[4:])[0]


@pytest.fixture(scope="module")
def bot() -> Any:
    return strategy_bot(cp.Strategy.random("holdem(buckets=10)", 7))


def _hand(bot: Any, seat: int, moves: str) -> HoldemHand:
    hand = HoldemHand(HoldemSource(bot, NoAdjustment()), seat, DEAL)
    hand.replay(list(moves))
    return hand


def _naive(bot: Any, hand: HoldemHand, node: int) -> list[float]:
    """Best response by recursion, the other's holdings one by one; the board is complete."""
    seat, own, board = hand.seat, hand.holding(hand.seat), hand.cards[4:9]
    left = [card for card in range(N_CARDS) if card not in (*own, *board)]
    weight = dict.fromkeys(combinations(left, 2), 1.0)

    def share(at: int, pair: tuple[int, int], action: str) -> float:
        state = TREE.states[at]
        view = View(state.player(), pair, board[: state.on_board], state, at)
        return float(bot.shares(view)[action])

    for at, after in zip(hand.nodes, hand.nodes[1:], strict=False):
        if at == node:
            break
        if TREE.nodes.player[at] != seat:
            name = TREE.actions[at][after - int(TREE.nodes.first_child[at])]
            weight = {pair: w * share(at, pair, name) for pair, w in weight.items()}

    def value(at: int, reach: dict[tuple[int, int], float]) -> float:
        state = TREE.states[at]
        if state.over:
            stake = min(state.paid)
            if state.folded != NO_FOLD:
                return sum(reach.values()) * (-stake if state.folded == seat else stake)
            mine, total = strength([*own, *board]), 0.0
            for pair, w in reach.items():
                theirs = strength([*pair, *board])
                total += w * stake * ((mine > theirs) - (mine < theirs))
            return total
        below = [int(TREE.nodes.first_child[at]) + k for k in range(len(TREE.actions[at]))]
        if state.player() == seat:
            return max(value(child, reach) for child in below)
        total = 0.0
        for child, name in zip(below, TREE.actions[at], strict=True):
            total += value(child, {pair: w * share(at, pair, name) for pair, w in reach.items()})
        return total

    first, paid = int(TREE.nodes.first_child[node]), TREE.states[node].paid[seat]
    total = sum(weight.values())
    return [value(first + k, weight) / total + paid for k in range(len(TREE.actions[node]))]


def test_each_step_says_where_it_is(bot: Any) -> None:
    steps = _hand(bot, 0, "ccccrccc").review()["steps"]
    assert [step["street"] for step in steps] == [
        street for street in ("preflop", "flop", "turn", "river") for _ in range(2)
    ]
    assert [len(step["board"]) for step in steps] == [0, 0, 3, 3, 4, 4, 5, 5]
    assert steps[-1]["board"] == ["7h", "2s", "Kd", "9s", "3h"]


@pytest.mark.parametrize(("seat", "moves"), [(1, "ccrcccc"), (0, "ccccccc")])
def test_costs_on_the_river_are_those_of_a_naive_twin(bot: Any, seat: int, moves: str) -> None:
    hand = _hand(bot, seat, moves)
    rivers = [node for node in hand.nodes if TREE.nodes.street[node] == 3]
    node = next(node for node in rivers if TREE.nodes.player[node] == seat)
    assert _values(bot, hand, node) == pytest.approx(_naive(bot, hand, node), abs=1e-9)


def test_the_turn_is_the_mean_of_its_rivers(bot: Any) -> None:
    """Folding is worth nothing more; a check through the turn is worth the mean over rivers."""
    hand = _hand(bot, 0, "ccccr")
    node = hand.nodes[-1]
    assert TREE.states[node].player() == 0
    fold, call, _ = _values(bot, hand, node)
    assert fold == 0.0
    board, own = hand.cards[4:8], hand.holding(0)
    search = BestActionSearch(bot.table, 0, own, hand.nodes, {})
    weight = search.reach(node, board)
    after, total = TREE.moves[node]["call"], 0.0
    for card in range(N_CARDS):
        if card not in (*board, *own):
            total += search.value(after, (*board, card), search.reach(node, (*board, card)))
    assert call == pytest.approx(total / 44 / weight.sum() + TREE.states[node].paid[0], abs=1e-9)


@pytest.mark.slow
def test_the_interval_of_the_flop_covers_all_turns(bot: Any, monkeypatch: Any) -> None:
    """What a call costs, from some turns (with their rivers sampled) and from all of them."""
    hand = _hand(bot, 0, "ccr")
    node, own, board = hand.nodes[-1], hand.holding(0), hand.cards[4:7]
    every = BestActionSearch(bot.table, 0, own, hand.nodes, {4: 8})
    fold, call, more = every.action_values(node, board)
    assert fold == 0.0
    assert every.within(node, board, 1, 0) is None
    covered = 0
    for seed in range(20):
        some = BestActionSearch(bot.table, 0, own, hand.nodes, {3: 6, 4: 8})
        some._rng = np.random.default_rng(seed)
        values = some.action_values(node, board)
        assert some.action_values(node, board) == values  # the same cards again
        for one, right in ((1, call - fold), (2, more - fold)):
            half = some.within(node, board, one, 0)
            assert half is not None
            assert half < 3.0
            covered += abs(values[one] - values[0] - right) <= half
    assert covered >= 34  # of 40, all with the same rivers after a turn or not


def test_a_review_says_all_and_comes_soon(bot: Any) -> None:
    hand = _hand(bot, 1, "crcrccrccc")
    before = time.monotonic()
    result = hand.review()
    assert time.monotonic() - before < 30
    mine = [step for step in result["steps"] if step["who"] == "you"]
    theirs = [step for step in result["steps"] if step["who"] == "other"]
    assert len(mine) + len(theirs) == 10
    assert all(sum(step["shares"]) == pytest.approx(1.0) for step in theirs)
    assert all(step["cost"] is None or step["cost"] >= 0 for step in mine)
    estimated = [step["street"] in ("preflop", "flop") for step in mine]
    assert [step["within"] is not None for step in mine] == estimated
    assert result["cards"] == ["Ah", "Qd"]
    known = [step["cost"] for step in mine if step["cost"] is not None]
    assert (result["weighed"], result["unweighed"]) == (len(known), 0)
    assert result["cost"] == pytest.approx(sum(known))
    halves = [step["within"] for step in mine if step["within"] is not None]
    assert result["within"] == pytest.approx(math.hypot(*halves))
    assert result["within"] > 0


def test_before_the_flop_moves_cost_what_they_lose_in_the_equilibrium(
    bot: Any, equilibrium: Any
) -> None:
    """The opponent does not matter; the same cards as in another draw of the rollouts."""
    ace = _hand(bot, 0, "f").review()
    other = _hand(Program(), 0, "f").review()
    assert ace["cost"] == other["cost"] == ace["steps"][0]["cost"]
    assert ace["steps"][0]["values"][0] == 0.0
    assert "Before the flop: what is lost where safe" in ace["note"]
    assert "From the flop" not in ace["note"]
    again = rollout_values(
        TREE, equilibrium, equilibrium, [0], (), starting_hand((50, 43)), deals=50_000, seed=99
    )
    assert again is not None
    right = again.value.max()
    assert ace["cost"] == pytest.approx(right, abs=2 * (ace["within"] + again.within(0)) + 0.1)
    assert starting_hand((51, 47)) == starting_hand((44, 48))  # suited, whichever suit
    assert starting_hand((51, 46)) == starting_hand((45, 48)) != starting_hand((51, 47))
    assert starting_hand((51, 50)) == starting_hand((48, 49))


def test_what_was_not_weighed_has_no_cost(bot: Any) -> None:
    """A program; a decision that the strategy never reaches."""
    against = _hand(Program(), 1, "ccccc").review()
    assert _costs(against)[1:] == [None, None]
    assert (against["weighed"], against["unweighed"]) == (1, 2)
    assert "poker face is a program" in against["note"]
    assert against["learn"] is None  # of a user's own program no model is learnt
    never = strategy_bot(simple_strategy("always-fold", cp.load("holdem(buckets=10)")))
    hand = _hand(never, 1, "rc" + "cc" * 3)  # it has never raised
    assert _costs(hand.review())[1:] == [None] * 3


def _costs(review: Any) -> list[Any]:
    return [step["cost"] for step in review["steps"] if step["who"] == "you"]


def test_a_program_is_weighed_by_a_model_of_it_which_is_said(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    game = cp.load("holdem(buckets=10)")
    model = simple_strategy("always-call", game)
    asked: list[str] = []

    def learnt(name: str) -> Any:
        asked.append(name)
        return model if name == "poki" else None

    monkeypatch.setattr("counterplay.poker.adaptive.portfolio.learnt_model", learnt)
    program = Program()
    program.made_from = "poki"  # type: ignore[attr-defined]
    line = "ccccc"
    found, right = _hand(program, 1, line).review(), _hand(strategy_bot(model), 1, line).review()
    assert _costs(found) == pytest.approx(_costs(right))
    assert (found["learn"], _hand(program, 1, line).review()["learn"]) == (None, None)
    assert found["cost"] == pytest.approx(right["cost"])
    assert found["note"].startswith("poker face is a program; a model of it")
    assert all(step["shares"] is None for step in found["steps"] if step["who"] != "you")
    program.made_from = "mine.py:poki"  # type: ignore[attr-defined]
    assert _costs(_hand(program, 1, line).review())[1:] == [None, None]
    assert {*asked} == {"poki", "mine.py:poki"}
    program.made_from = "sparbot"  # type: ignore[attr-defined]
    assert _hand(program, 1, line).review()["learn"] == "sparbot"


def test_who_learns_is_weighed_by_what_he_played_in_the_hand(bot: Any) -> None:
    learner = Program()
    learner.hand_strategy = cp.Strategy.random("holdem(buckets=10)", 7)  # type: ignore[attr-defined]
    learner.made_from = "adaptive"  # type: ignore[attr-defined]
    hand = _hand(learner, 1, "ccccc")
    learner.hand_strategy = cp.Strategy.uniform("holdem(buckets=10)")  # type: ignore[attr-defined]
    found, right = hand.review(), _hand(bot, 1, "ccccc").review()
    assert found["steps"] == right["steps"]
    assert (found["unweighed"], found["learn"]) == (0, None)
    assert found["note"].startswith("poker face learns; moves are weighed by the strategy")


class Program:
    name = "poker face"

    def act(self, view: View) -> str:
        return "call"


def test_the_pot_has_the_last_bets_and_the_hands_have_names(bot: Any) -> None:
    hand = _hand(bot, 0, "rc" + "cc" * 2 + "crc")  # 2 each before the flop and on the river
    assert hand.showdown
    view = hand.view()
    assert (view["pot"], view["bets"]) == (8.0, [0.0, 0.0])
    assert view["hands"] == ["ace high", "a pair of nines"]
    assert hand.won == -4.0
    before = _hand(bot, 0, "rc" + "cc" * 2 + "cr").view()
    assert (before["pot"], before["bets"], before["hands"]) == (4.0, [2.0, 0.0], [None, None])
    folded = _hand(bot, 1, "rf").view()
    assert (folded["pot"], folded["hands"]) == (3.0, [None, None])


NAMES = {
    "As Kd 9c 7h 5s 3d 2c": "ace high",
    "As Ad 9c 7h 5s 3d 2c": "a pair of aces",
    "6s 6d 2c 2h Ks 9d 8c": "two pair, sixes and deuces",
    "6s 6d 2c 2h Ks Kd 8c": "two pair, kings and sixes",
    "Ts Td Tc 2h Ks 9d 8c": "three tens",
    "As 2d 3c 4h 5s 9d 9c": "a straight, five high",
    "As 2s 3s 4h 9s Kd Ks": "a flush, ace high",
    "Js Jd Jc Qh Qs Qd 2c": "a full house, queens full of jacks",
    "Js Jd Jc Jh Qs Qd 2c": "four jacks",
    "9h 8h 7h 6h 5h Ah Ad": "a straight flush, nine high",
}


@pytest.mark.parametrize("text", NAMES)
def test_names_of_hands(text: str) -> None:
    assert hand_name(cards(text)) == NAMES[text]
