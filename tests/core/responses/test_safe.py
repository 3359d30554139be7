"""Safe exploitation: nobody wins more than the budget, and within it the most is won."""

from __future__ import annotations

import numpy as np
import pytest
from support.ends import chances_of_ends

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.sequence import gradient
from counterplay.core.responses.safe import METHODS, central_plan
from counterplay.core.solvers.lp import best_plan_within

SAFE = [method for method in METHODS if method != "best-response"]


def loss_to_a_best_response(game: cp.Game, seat: int, hands: int, **options: object) -> float:
    """Expected loss below the value of the game, to somebody who knows every strategy."""
    player = cp.SafePlayer(game, seat, **options)  # type: ignore[arg-type]
    rng, lost = np.random.default_rng(1), 0.0
    for _ in range(hands):
        answer = cp.best_response(game, player.strategy, 1 - seat).strategy
        assert answer is not None
        lost += player.value - cp.expected_value(game, answer.replace(player.strategy, seat))[seat]
        player.play(answer, rng)
        assert player.bank >= 0.0
        assert player.risk <= player.bank + 1e-6
    return float(lost)


@pytest.mark.parametrize("seat", [0, 1])
@pytest.mark.parametrize("method", SAFE)
def test_the_budget_holds_in_kuhn(method: str, seat: int) -> None:
    lost = loss_to_a_best_response(cp.load("kuhn"), seat, 25, method=method, budget=0.3, every=5)
    assert -1e-9 <= lost <= 0.3 + 1e-6


@pytest.mark.slow
@pytest.mark.parametrize("seat", [0, 1])
def test_the_budget_holds_in_leduc(seat: int) -> None:
    assert loss_to_a_best_response(cp.load("leduc"), seat, 300, budget=2.0) <= 2.0 + 1e-5


def test_the_budget_holds_in_leduc_for_a_while() -> None:
    assert loss_to_a_best_response(cp.load("leduc"), 0, 12, budget=1.0, every=6) <= 1.0 + 1e-6


def check_bank(player: cp.SafePlayer, opponent: cp.Strategy) -> None:
    """The bank grows by no more than is won above the value of the game, in expectation, exactly:
    so whoever switches takes back gifts at most."""
    pair = opponent.replace(player.strategy, player.seat)
    reach, grown, worst = chances_of_ends(player._terminals, pair), 0.0, {}
    assert reach.sum() == pytest.approx(1.0)
    for k in np.flatnonzero(reach > 1e-12):
        alike = player._terminals.alike_to(player._terminals.node[k])
        key = alike.tobytes()
        if key not in worst:
            worst[key] = player._worst_consistent(alike)
        grown += reach[k] * (worst[key] - player.value)
    won = cp.expected_value(player.game, pair)[player.seat] - player.value
    assert grown <= won + 1e-9


def switches_on_purpose(game: cp.Game, seat: int, budget: float, phases: int, hands: int) -> None:
    """Gifts, then a best response to the current strategy, then gifts again."""
    player = cp.SafePlayer(game, seat, budget=budget, every=hands)
    rng, gifts = np.random.default_rng(2), 0.0
    for phase in range(phases):
        for _ in range(hands):
            foe = cp.Strategy.uniform(game)
            if phase % 2:
                answer = cp.best_response(game, player.strategy, 1 - seat).strategy
                assert answer is not None
                foe = answer.replace(player.strategy, seat)
            before = player.bank
            player.play(foe, rng)
            gifts += max(player.bank - before, 0.0)
            assert player.risk <= player.bank + 1e-6
            assert player.bank <= budget + gifts + 1e-9
        check_bank(player, foe)


@pytest.mark.parametrize("seat", [0, 1])
def test_switching_on_purpose_wins_no_more_in_kuhn(seat: int) -> None:
    switches_on_purpose(cp.load("kuhn"), seat, 0.2, 6, 5)


@pytest.mark.slow
def test_switching_on_purpose_wins_no_more_in_leduc() -> None:
    switches_on_purpose(cp.load("leduc"), 0, 1.0, 4, 10)


def test_gifts_are_risked_and_more_is_won_than_by_equilibria() -> None:
    """Against uniform play the order of Ganzfried & Sandholm's table: risking what was won beats
    the best equilibrium."""
    game = cp.load("kuhn")
    uniform = cp.Strategy.uniform(game)
    worth = {}
    for method in ("rwywe", "best-equilibrium"):
        player = cp.SafePlayer(game, 0, method=method, shown="always", every=10)
        rng = np.random.default_rng(5)
        for _ in range(200):
            player.play(uniform, rng)
        worth[method] = cp.expected_value(game, player.strategy.replace(uniform, 1))[0]
    assert worth["rwywe"] > worth["best-equilibrium"] + 0.05


def test_full_exploitation_begins_when_the_true_worst_case_is_covered() -> None:
    """A bound on it, such as the least payoff of the game, is covered too late."""
    game, hands = cp.load("kuhn"), 20
    uniform = cp.Strategy.uniform(game)
    best = cp.best_response(game, uniform, 0).value
    for method, left in (("beffe", hands), ("befewp", 1)):
        player = cp.SafePlayer(game, 0, method=method, hands=hands)
        player.counts = 1e6 * uniform.probabilities[game.slots(1)]
        player.bank = 100.0
        player._replan()
        risk = player.risk
        assert 0.0 < risk < 1.0
        for share, exploits in ((0.9, False), (1.1, True)):
            player.bank = share * left * risk
            player._replan()
            won = cp.expected_value(game, player.strategy.replace(uniform, 1))[0]
            assert (won > best - 1e-3) == exploits


def test_the_best_within_a_limit_lies_between_safety_and_a_best_response() -> None:
    game = cp.load("kuhn")
    mine, his = game.sequence_form.one, game.sequence_form.two
    value, plan = central_plan(mine, his)
    assert value == pytest.approx(-1 / 18)
    uniform = cp.Strategy.uniform(game)
    against = np.empty(mine.n_sequences)
    gradient(mine, uniform.plan(1), against)
    best = cp.best_response(game, uniform, 0).value
    won = []
    for risk in (0.0, 0.05, 0.2, 5.0):
        worst, found = best_plan_within(mine, his, against, value - risk - 1e-9)
        assert worst >= value - risk - 1e-6
        won.append(float(against @ found))
    assert won == sorted(won)
    assert won[-1] == pytest.approx(best, abs=1e-9)
    assert won[0] >= against @ plan - 1e-6
    near = best_plan_within(mine, his, np.zeros(mine.n_sequences), value - 1e-9, near=plan)[1]
    assert near == pytest.approx(plan, abs=1e-6)  # ties are broken towards it


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"game": "holdem(buckets=3)"}, "with a tree"),
        ({"method": "rwyw"}, "did you mean 'rwywe'"),
        ({"budget": -1.0}, "budget"),
        ({"shown": "never"}, "shown"),
        ({"seat": 2}, "player"),
    ],
)
def test_mistakes(options: dict[str, object], words: str) -> None:
    with pytest.raises(cp.CounterplayError, match=words):
        cp.SafePlayer(**{"game": "kuhn", **options})  # type: ignore[arg-type]
    with pytest.raises(BadParameter, match="no terminal node"):
        cp.SafePlayer("kuhn").observe(0)
