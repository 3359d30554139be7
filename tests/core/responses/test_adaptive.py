"""The adaptive player of games with a tree: what it may lose to anybody, exactly; what it learns;
and what it says."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.ends import chances_of_ends

import counterplay as cp
from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.core.responses.adaptive import ROUNDS, SeatLearner, TreeAdaptive, TypePosterior
from counterplay.core.responses.lines import LineEvidence
from counterplay.core.responses.terminals import ReachedTerminals


def answer_to(me: TreeAdaptive, seat: int) -> cp.Strategy:
    """A profile of its strategy, and a best response to that."""
    mine = me.strategy_for(seat)
    best = cp.best_response(me.game, mine, 1 - seat).strategy
    assert best is not None
    return best.replace(mine, seat)


def check_account(me: TreeAdaptive, seat: int, foe: cp.Strategy) -> float:
    """Before a hand, exactly, over all its ends: the bank is never below 0 after it, and its
    expectation grows by no more than what is won above the value. Returns that expectation."""
    learner = me.seats[seat]
    mine = me.strategy_for(seat)
    reach, tree = chances_of_ends(learner._terminals, foe.replace(mine, seat)), me.game.tree
    grown = 0.0
    for k in np.flatnonzero(reach > 1e-12):
        end = learner._terminals.node[k]
        won = float(tree.payoff[tree.row[end], seat])
        alike = learner._terminals.alike_to(end)
        proven = learner._proven(alike, won) - learner.value
        assert learner.bank + proven >= -1e-9
        grown += reach[k] * proven
    expected = cp.expected_value(me.game, foe.replace(mine, seat))[seat] - learner.value
    assert grown <= expected + 1e-9
    return float(grown)


def checked_match(name: str, budget: float, hands: int, seed: int, every: int = 1) -> float:
    """An opponent who switches on purpose: gifts, then best responses to the current strategy. What
    the player has lost below the value of the game, in expectation, given the hands before."""
    game, rng = cp.load(name), np.random.default_rng(seed)
    me = TreeAdaptive(game, budget=budget)
    uniform, lost = cp.Strategy.uniform(game), 0.0
    for hand in range(hands):
        seat = hand % 2
        foe = uniform if (hand // 20) % 2 == 0 else answer_to(me, seat)
        if hand % every == 0:
            check_account(me, seat, foe)
        pair = foe.replace(me.strategy_for(seat), seat)
        lost += me.seats[seat].value - cp.expected_value(game, pair)[seat]
        reach = chances_of_ends(me.seats[seat]._terminals, pair)
        me.end_hand(seat, int(rng.choice(me.seats[seat]._terminals.node, p=reach / reach.sum())))
        assert me.budget_left >= 0.0
    return lost


@pytest.mark.parametrize("budget", [0.4, 4.0])
def test_the_bank_counts_no_more_than_is_won_in_kuhn(budget: float) -> None:
    """With a budget below the largest loss of a hand, and with one above it."""
    checked_match("kuhn", budget, 80, 1)


@pytest.mark.slow
@pytest.mark.parametrize("budget", [2.0, 30.0])
def test_the_bank_counts_no_more_than_is_won_in_leduc(budget: float) -> None:
    checked_match("leduc", budget, 120, 1, every=8)


def always_answered(game: cp.Game, budget: float, hands: int, seed: int) -> float:
    """What is lost in a match to a best response to the current strategy, after some gifts."""
    me, rng, lost = TreeAdaptive(game, budget=budget), np.random.default_rng(seed), 0.0
    for hand in range(hands):
        seat = hand % 2
        foe = cp.Strategy.uniform(game) if hand < 10 else answer_to(me, seat)
        pair = foe.replace(me.strategy_for(seat), seat)
        lost += me.seats[seat].value - cp.expected_value(game, pair)[seat]
        reach = chances_of_ends(me.seats[seat]._terminals, pair)
        me.end_hand(seat, int(rng.choice(me.seats[seat]._terminals.node, p=reach / reach.sum())))
    return lost


def test_best_responses_win_no_more_than_the_budget_on_average() -> None:
    """Of ten matches; without luck in payoffs, with luck in what is dealt."""
    lost = [always_answered(cp.load("kuhn"), 0.5, 40, seed) for seed in range(10)]
    assert np.mean(lost) <= 0.5 + 2.0 * np.std(lost) / len(lost) ** 0.5


@pytest.mark.slow
def test_best_responses_win_no_more_than_the_budget_in_leduc() -> None:
    lost = [always_answered(cp.load("leduc"), 5.0, 150, seed) for seed in range(4)]
    assert np.mean(lost) <= 5.0 + 2.0 * np.std(lost) / len(lost) ** 0.5


def test_it_wins_most_of_what_a_best_response_wins() -> None:
    game = cp.load("kuhn")
    for foe, least in ((cp.Strategy.uniform(game), 0.9), (cp.Strategy.random(game, 3), 0.7)):
        result = cp.play_match(game, cp.Adaptive(game), foe, hands=1_000, seed=1)
        best = np.mean([cp.best_response(game, foe, seat).value for seat in (0, 1)])
        assert result.adjusted is not None
        assert result.adjusted.mean >= least * best
        assert not result.duplicate


def test_it_finds_out_what_nobody_has_shown_it() -> None:
    """Against uniform play it must bet to see that bets are called too little, which no equilibrium
    that passes will ever see."""
    game = cp.load("kuhn")
    uniform = cp.Strategy.uniform(game)
    result = cp.play_match(game, cp.Adaptive(game, portfolio=()), uniform, hands=1_000, seed=1)
    best = np.mean([cp.best_response(game, uniform, seat).value for seat in (0, 1)])
    assert result.adjusted is not None
    assert result.adjusted.mean >= 0.8 * best


def test_it_loses_nothing_to_an_equilibrium() -> None:
    game = cp.load("kuhn")
    me = TreeAdaptive(game)
    result = cp.play_match(game, me, me.portfolio.equilibrium, hands=1_000, seed=2)
    assert result.adjusted is not None
    assert result.adjusted.mean >= -0.002
    assert me.standing().confirmed == ()


@pytest.mark.slow
def test_three_thousand_hands_of_leduc_take_less_than_a_minute() -> None:
    game = cp.load("leduc")
    me, foe = cp.Adaptive("leduc"), cp.Strategy.random(game, 3)
    result = cp.play_match(game, me, foe, hands=3_000, seed=1)
    best = np.mean([cp.best_response(game, foe, seat).value for seat in (0, 1)])
    assert result.adjusted is not None
    assert result.adjusted.mean >= 0.7 * best
    assert result.seconds < 60.0


@pytest.mark.slow
@pytest.mark.parametrize("name", ["bluff(1,1,6)", "goofspiel(4)", "ocp(20)"])
def test_any_game_with_a_tree(name: str) -> None:
    game = cp.load(name)
    me, foe = cp.Adaptive(name), cp.Strategy.random(game, 1)
    result = cp.play_match(game, me, foe, hands=600, seed=1, luck_adjusted=True)
    safe = me.portfolio.equilibrium
    plain = cp.play_match(game, safe, foe, hands=600, seed=1, luck_adjusted=True)
    assert result.adjusted is not None
    assert plain.adjusted is not None
    assert result.adjusted.mean > plain.adjusted.mean


def test_it_plays_in_one_seat_and_against_other_learners() -> None:
    game = cp.load("kuhn")
    careful = cp.SafePlayer(game, 1, budget=1.0, every=10)
    result = cp.play_match(game, careful, "uniform", hands=20, seed=1, luck_adjusted=False)
    assert (result.seat, result.hands, careful.hands) == (1, 20, 20)
    result = cp.play_match(game, careful, "uniform", hands=60, seed=1, luck_adjusted=True)
    assert result.adjusted is not None  # the mean of what each hand was worth
    assert result.adjusted.standard_error < result.standard_error
    both = cp.play_match(game, cp.Adaptive("kuhn"), careful, hands=16, seed=1)
    assert (both.seat, careful.hands) == (0, 16)  # it began again
    again = cp.play_match(game, cp.Adaptive("kuhn"), careful, hands=16, seed=1)
    assert both.mean == again.mean
    me = cp.Adaptive("kuhn")
    with pytest.raises(cp.CounterplayError, match="cannot play itself"):
        cp.play_match(game, me, me, hands=10)
    with pytest.raises(cp.CounterplayError, match="cannot play leduc"):
        cp.play_match("leduc", me, "uniform", hands=10)


class OneActs:
    """Player 2 only watches."""

    n_players = 2

    def __init__(self, chosen: str = "") -> None:
        self._chosen = chosen

    def root(self) -> OneActs:
        return self

    def player(self) -> int:
        return cp.TERMINAL if self._chosen else 0

    def actions(self) -> list[str]:
        return ["win", "lose"]

    def child(self, action: str) -> OneActs:
        return OneActs(action)

    def infoset(self) -> str:
        return "alone"

    def chance(self) -> list[float]:
        return []

    def payoffs(self) -> list[float]:
        return [1.0, -1.0] if self._chosen == "win" else [-1.0, 1.0]


def test_nobody_to_learn_about() -> None:
    with pytest.raises(BadParameter, match="alone: player 2 never acts"):
        cp.Adaptive(cp.Game("alone", OneActs()))


class Learner:
    """A user's player that learns nothing; `parts` replace its own."""

    def __init__(self, **parts: Any) -> None:
        self.game, self.player = cp.load("kuhn"), None
        self.start = self.end_hand = lambda *_: None
        vars(self).update(parts)

    def strategy_for(self, seat: int) -> cp.Strategy:
        return cp.Strategy.uniform("kuhn")


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"game": None}, "Learner: a player that learns has an attribute game"),
        ({"player": 3}, "Learner: its attribute player is its only seat, 0 or 1, or None"),
        ({"start": None}, r"Learner: a player that learns has a method start\(seed\)"),
        ({"strategy_for": lambda seat: None}, "expected a Strategy"),
        (
            {"strategy_for": lambda seat: cp.Strategy.uniform("kuhn").for_player(1 - seat)},
            "Learner has answered with a strategy of the other seat",
        ),
    ],
)
def test_what_a_users_learner_lacks_is_said(parts: dict[str, Any], words: str) -> None:
    assert cp.play_match("kuhn", Learner(), "uniform", hands=4).hands == 4
    with pytest.raises(cp.CounterplayError, match=words):
        cp.play_match("kuhn", Learner(**parts), "uniform", hands=4)


def test_blocks_and_what_it_says() -> None:
    me = cp.Adaptive("kuhn", portfolio={"bets": always("bet")})
    blocks = list(cp.play_adaptive(always("bet"), 300, seed=1, player=me, every=100))
    assert [block.hands for block in blocks] == [100, 200, 300]
    standing = blocks[-1].standing
    assert standing.playing == "bets"
    assert standing.likely[0][0] == "bets"
    assert "as player 1 first to act: bet 100%" in " ".join(standing.confirmed)
    assert "against anybody" in standing.advice
    assert blocks[-1].adjusted is not None


def always(action: str) -> cp.Strategy:
    game = cp.load("kuhn")
    return cp.Strategy.from_table(game, {name: {action: 1.0} for name in game.infoset_names})


def test_a_memory_is_kept_and_checked(tmp_path: Path) -> None:
    me = cp.Adaptive("kuhn")
    with pytest.raises(BadParameter, match="no hands"):
        me.save(tmp_path / "none.npz")
    cp.play_match("kuhn", me, always("bet"), hands=200, seed=1)
    me.save(tmp_path / "memory.npz")
    again = cp.Adaptive("kuhn", memory=tmp_path / "memory.npz")
    assert again.standing().hands == 200
    assert again.standing().confirmed == me.standing().confirmed
    assert again.budget_left == cp.Adaptive("kuhn").budget_left
    with pytest.raises(BadFile, match="a memory of kuhn"):
        cp.Adaptive("leduc", memory=tmp_path / "memory.npz")


def test_hidden_cards_are_inferred_as_by_a_naive_em() -> None:
    game = cp.load("kuhn")
    me = TreeAdaptive(game, portfolio=())
    cp.play_match(game, me, cp.Strategy.random(game, 1), hands=60, seed=3)
    learner: SeatLearner = me.seats[0]
    learner._learnt[0] = learner._priors[0]
    ends = [end for seat, end in me.memory if seat == 0]
    counts = naive_em(learner, ends)
    learner._infer()
    assert learner._learnt[0] == pytest.approx(counts, abs=1e-9)


def naive_em(learner: SeatLearner, ends: list[int]) -> np.ndarray:
    """The counts after the same rounds, hand by hand."""
    prior, terminals = learner._priors[0], learner._terminals
    counts = prior.copy()
    for _ in range(ROUNDS):
        policy, new = learner._policy(counts), prior.copy()
        for end in ends:
            alike = terminals.alike_to(end)
            weight = [
                terminals.chance[k] * np.prod([policy[s] for s in terminals.slots(k)])
                for k in alike
            ]
            for k, share in zip(alike, np.array(weight) / sum(weight), strict=True):
                for slot in terminals.slots(k):
                    new[slot] += share
        counts = new
    return counts


def test_weights_return_to_the_prior_a_little() -> None:
    posterior = TypePosterior(1)
    for _ in range(200):
        posterior.add(np.array([0.1, 0.9, 0.1, 0.1, 0.1]))
    assert posterior.weights[1] > 0.99
    assert posterior.weights.min() > 0.0
    assert posterior.weights.sum() == pytest.approx(1.0)
    for _ in range(10):
        posterior.add(np.array([0.1, 0.1, 0.9, 0.1, 0.1]))
    assert posterior.weights[2] > 0.9


@pytest.mark.parametrize("seat", [0, 1])
def test_what_is_said_of_an_equilibrium_is_true(seat: int) -> None:
    """The prediction of each decision is the equilibrium's frequency there, by enumeration."""
    game = cp.load("kuhn")
    me = TreeAdaptive(game)
    evidence = LineEvidence(ReachedTerminals(game, seat), me.portfolio.equilibrium)
    reach = chances_of_ends(me.seats[seat]._terminals, me.portfolio.equilibrium)
    taken: dict[int, np.ndarray] = {}
    for k, end in enumerate(me.seats[seat]._terminals.node.tolist()):
        path = evidence._terminals.path(end)
        for node, child in pairwise(path):
            group = int(evidence._group[node])
            if group >= 0:
                row = taken.setdefault(group, np.zeros(2))
                row[child - game.tree.first_child[node]] += reach[k]
    for group, row in taken.items():
        if row.sum() > 0:
            assert evidence._expected[group] == pytest.approx(row / row.sum(), abs=1e-12)


def test_a_portfolio_of_known_strategies() -> None:
    known = cp.portfolio("kuhn", {"bets": always("bet"), "passes": always("pass")}, p=1.0)
    assert known.names == ["bets", "passes"]
    best = [cp.best_response("kuhn", always("bet"), seat).value for seat in (0, 1)]
    assert known["bets"].payoff == pytest.approx(np.mean(best))
    assert known.without("bets").names == ["passes"]
    with pytest.raises(cp.CounterplayError, match="did you mean 'bets'"):
        known.without("bet")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"game": "kuhn(players=3)"}, "two-player"),
        ({"game": "bluff(2,2,6)"}, "with a tree"),
        ({"learner": {}}, "learner is an option in hold'em, not for kuhn"),
        ({"probing": 0.1}, "probing is an option in hold'em"),
        ({"budget": -1.0}, "budget"),
        ({"portfolio": "poki"}, "unknown player 'poki'"),
        ({"portfolio": None}, "expected a Strategy"),
        ({"portfolio": 5}, "expected a Strategy"),
        ({"game": 5}, "a game is named by a string such as .kuhn., not 5"),
        ({"equilibrium": cp.Strategy.uniform("kuhn").for_player(0)}, "strategy of both players"),
    ],
)
def test_mistakes(options: dict[str, Any], words: str) -> None:
    with pytest.raises(cp.CounterplayError, match=words):
        cp.Adaptive(**{"game": "kuhn", **options})


def test_mistakes_of_portfolios_and_matches() -> None:
    with pytest.raises(BadParameter, match="for hold'em, not for kuhn"):
        cp.portfolio("kuhn", iterations=10)
    with pytest.raises(BadParameter, match="logged in hold'em only"):
        next(cp.play_adaptive("uniform", 20, player=cp.Adaptive("kuhn"), every=10, log="x.log"))
    known = cp.portfolio("kuhn")
    with pytest.raises(BadParameter, match="every block is luck-adjusted"):
        next(
            cp.play_adaptive(
                "uniform", 20, player=cp.Adaptive("kuhn"), every=10, luck_adjusted=False
            )
        )
    with pytest.raises(cp.CounterplayError, match="cannot play leduc"):
        cp.Adaptive("leduc", portfolio=known)
    assert cp.Adaptive(portfolio=known).game.name == "kuhn"
    with pytest.raises(BadParameter, match="p must be from 0 to 1, not 2"):
        cp.portfolio("kuhn", p=2)


def test_every_known_player_has_a_name(tmp_path: Path) -> None:
    """Two of one name are not one player."""
    assert cp.portfolio("kuhn", always("bet")).names == ["player 1 of the portfolio"]
    assert len(cp.portfolio("kuhn", [always("bet"), always("pass")]).known) == 2
    assert cp.portfolio("kuhn", ["uniform", "uniform"]).names == ["uniform"]
    files = [tmp_path / name / "same.npz" for name in ("a", "b")]
    for file, action in zip(files, ("bet", "pass"), strict=True):
        file.parent.mkdir()
        always(action).save(file)
    with pytest.raises(BadParameter, match="two known players are called 'same'"):
        cp.portfolio("kuhn", files)


def test_hands_of_a_memory_take_no_thinking(tmp_path: Path) -> None:
    me = cp.Adaptive("kuhn")
    cp.play_match("kuhn", me, "uniform", hands=100, seed=1)
    me.save(tmp_path / "memory.npz")
    again = cp.Adaptive("kuhn", memory=tmp_path / "memory.npz")
    cp.play_match("kuhn", again, "uniform", hands=2, seed=1)
    assert again.standing().hands == 102
    assert again.standing().thinking == pytest.approx(1e3 * again.seconds / 2)


@pytest.mark.parametrize("name", ["every", "hands"])
@pytest.mark.parametrize("value", [0, -1, 1.5, "x"])
def test_hands_of_a_safe_player_are_counted(name: str, value: Any) -> None:
    with pytest.raises(BadParameter, match=f"{name} must be a whole number of at least 1"):
        cp.SafePlayer("kuhn", 0, **{name: value})
