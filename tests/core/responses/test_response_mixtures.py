"""Mixtures of two responses: within a limit, in files, and in matches."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.small_holdem import RIVER_BETS, random_strategy, walked_game

import counterplay as cp
from counterplay.core.base.errors import BadFile, BadStrategy
from counterplay.core.evaluation.estimate import FlopEstimate, upper_end
from counterplay.core.forms.game import Payoff
from counterplay.core.forms.mixture import load_strategy
from counterplay.core.responses.frontier import Frontier, frontier_point
from counterplay.core.responses.result import Response, best_mixture, mix_responses


def response(p: float, won: float, risk: float, strategy: cp.Strategy | None = None) -> Response:
    """With known numbers, each of a seat."""
    game = cp.load("kuhn") if strategy is None else strategy.game
    strategy = strategy or cp.Strategy.random(game, int(100 * p))
    values = (won / 2, won / 2), (-risk / 2, -risk / 2)
    return Response(game, "rnr", "cfr-br", None, p, strategy, *values, (), strategy)


def test_the_bound_of_a_mixture_is_the_limit() -> None:
    safe, risky = response(0.4, 0.9, 0.4), response(0.6, 1.3, 0.8)
    mixed = mix_responses(safe, risky, 0.5)
    assert mixed.exploitability == pytest.approx(0.5)
    assert mixed.exploitation == pytest.approx(0.75 * 0.9 + 0.25 * 1.3)
    assert mixed.p == pytest.approx(0.45)
    assert isinstance(mixed.strategy, cp.Mixture)
    assert mixed.strategy.weight == pytest.approx(0.75)
    assert mixed.strategy.one is safe.strategy
    assert mix_responses(safe, risky, 0.4) is safe
    assert mix_responses(safe, risky, 0.8) is risky


def test_an_estimate_counts_with_the_upper_end_of_its_interval() -> None:
    def sampled(risk: float, error: float) -> Response:
        value = FlopEstimate(-risk / 2, error / 2, 0.0, 48)
        plain = response(0.5, 1.0 + risk, risk)
        return Response(**{**vars(plain), "worst_cases": (value, value)})

    safe, risky = sampled(0.4, 0.02), sampled(0.48, 0.1)  # the interval of one contains the limit
    assert best_mixture([risky], 0.5) is None
    best = best_mixture([safe, risky], 0.5)
    assert best is not None
    assert upper_end(best.exploitability) == pytest.approx(0.5)
    mixed = mix_responses(sampled(0.4, 0.02), sampled(0.8, 0.1), 0.5)
    assert upper_end(mixed.exploitability) == pytest.approx(0.5)
    assert float(mixed.exploitability) < 0.49


def test_of_several_points_the_best_pair_is_mixed() -> None:
    points = [(0.0, 0.2, 0.2), (0.3, 0.5, 0.4), (0.6, 0.65, 0.6), (1.0, 1.2, 1.0)]
    all_ = [response(*point) for point in points]
    mixed = best_mixture(all_, 0.5)  # of the second and the last: more than beside the limit
    assert mixed is not None
    assert isinstance(mixed.strategy, cp.Mixture)
    assert (mixed.strategy.one, mixed.strategy.other) == (all_[1].strategy, all_[3].strategy)
    assert mixed.exploitation == pytest.approx(0.5 * 5 / 6 + 1.2 / 6)
    assert best_mixture(all_, 2.0) is all_[3]
    bolder = response(0.4, 0.4, 0.45)  # more trust that wins less, as of too few iterations
    points_ = tuple(map(frontier_point, [*all_[:2], bolder]))
    assert Frontier(all_[0].game, None, "rnr", points_).recommend(0.5).p == 0.3
    assert best_mixture(all_, 0.1) is None
    curve = Frontier(all_[0].game, None, "rnr", tuple(map(frontier_point, all_)))
    assert [point.p for point in curve.points] == [0.0, 0.3, 0.6, 1.0]


@pytest.mark.slow
def test_the_bound_holds_where_players_forget() -> None:
    """No strategy plays the mixture; its exact values are those of `Payoff`."""
    game = walked_game(RIVER_BETS, "forgetful")
    one, other, model = (random_strategy(game, seed) for seed in (3, 4, 5))
    asked = [
        payoff
        for strategy in (one, other, cp.Mixture(one, other, 0.25))
        for seat in (0, 1)
        for payoff in (Payoff(seat, model, strategy), Payoff(seat, strategy))
    ]
    won, risk = (np.array(game.evaluator.payoffs(asked)[k::2]).reshape(3, 2) for k in (0, 1))
    np.testing.assert_allclose(won[2], 0.25 * won[0] + 0.75 * won[1], atol=1e-12)
    bound = 0.25 * risk[0] + 0.75 * risk[1]
    assert (risk[2] < bound + 1e-12).all()
    assert risk[2].sum() < bound.sum() - 0.005
    assert risk[2].sum() == pytest.approx(cp.exploitability(game, cp.Mixture(one, other, 0.25)))


def test_a_mixture_is_saved_and_read(tmp_path: Path) -> None:
    game = cp.load("kuhn")
    one, other = (cp.Strategy.random(game, seed) for seed in (1, 2))
    mixture, path = cp.Mixture(one, other, 0.3), tmp_path / "run" / "strategy.npz"
    mixture.save(path)
    for where in (path, path.parent):
        found = load_strategy(where)
        assert isinstance(found, cp.Mixture)
        assert found.weight == 0.3
        assert np.array_equal(found.other.probabilities, other.probabilities)
        assert cp.exploitability(game, where) == cp.exploitability(game, mixture)
    with pytest.raises(BadFile, match="holds a mixture, expected a strategy"):
        cp.Strategy.load(path)
    with pytest.raises(BadStrategy, match="not for leduc"):
        load_strategy(path, cp.load("leduc"))
    data = path.read_bytes()
    for cut in (len(data) // 2, len(data) - 1):
        path.write_bytes(data[:cut])
        with pytest.raises(BadFile):
            load_strategy(path)


def test_a_mixture_plays_a_match() -> None:
    """Of a strategy that raises and one that calls, drawn for every hand, against a caller."""
    game = cp.load("holdem(buckets=10)")
    raises, calls = (cp.bot(f"always-{action}", game=game).strategy for action in ("raise", "call"))
    bot = cp.bot(cp.Mixture(raises, calls, 0.75))
    bot.start(1)
    begun = cp.view("", "AhKd")
    chosen = []
    for hand in range(400):
        bot.seed(hand)
        bot.new_hand(0)
        actions = {bot.act(begun) for _ in range(3)}
        assert len(actions) == 1, "one strategy plays the whole hand"
        chosen.append(actions.pop())
    assert chosen.count("raise") / 400 == pytest.approx(0.75, abs=0.09)  # four standard errors
    result = cp.play_match(game, cp.Mixture(calls, raises, 0.5), "always-call", 200, 1)
    assert result.hands == 200
    with pytest.raises(BadStrategy, match="one seat"):
        cp.bot(cp.Mixture(raises.for_player(0), calls, 0.5))
