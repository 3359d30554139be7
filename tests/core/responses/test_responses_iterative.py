"""Iterative engines reach the exact value of the restricted game, each within the gap that it
measures itself.

If x is the responder's strategy and W what it is sure of in the restricted game, then V - gap <= W
<= V, where V is the value and the gap is b1 + b2 of the pair that was found. V comes from the
linear program, W from the definitions below.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import pytest
from reference import evaluation as naive
from reference.common import from_slots
from reference.games import game_and_root

import counterplay as cp
from counterplay.core.solvers.algorithms import ALGORITHMS

GAMES = ("kuhn", "ocp(4)", "bluff(1,1,3)", "goofspiel(4)", "leduc")
SEATS = (0, 1)
ROUNDING = 1e-9

#: Full-width engines: iterations, and the gap to be below as a share of the payoff range. Regret
#: bounds fall with 1/sqrt(t); that of plain CFR is met as it stands, the others are faster.
FULL = {"cfr": (2000, 2e-2), "cfr+": (1000, 5e-4), "dcfr": (1000, 5e-4), "pcfr+": (1000, 5e-4)}

#: Sampled engines: options, iterations in small games and in Leduc. Standard deviations fall with
#: 1/sqrt(t); the gap of the uniform pair is 0.12 to 0.7 of the range in these games, and 0.02 is
#: far from anything but convergence, and twice what these iterations leave.
SAMPLED: dict[str, tuple[str, dict[str, Any], int, int]] = {
    "optimistic": ("mccfr", {}, 500_000, 1_500_000),
    "stochastic": ("mccfr", {"averaging": "stochastic"}, 500_000, 1_500_000),
    "external": ("mccfr-external", {}, 50_000, 50_000),
    "chance": ("mccfr-chance", {}, 30_000, 30_000),
}
SAMPLED_GAP = 0.02


def spread(game: cp.Game) -> float:
    return float(game.tree.payoff.max() - game.tree.payoff.min())


def some_model(game: cp.Game) -> cp.Strategy:
    """Random, and at every third information set one action is never played."""
    weights = np.random.default_rng(11).exponential(size=game.n_slots)
    weights[game.tree.first[:-1:3]] = 0.0
    return cp.Strategy.from_weights(game, weights)


def some_trust(game: cp.Game, algorithm: str) -> float | np.ndarray:
    """RNR: 0.6. DBR: zeros, values up to 0.9, and nowhere a certainty."""
    return 0.6 if algorithm.endswith("rnr") else np.arange(game.n_infosets) * 3 % 10 / 10.0


def least_biased(
    game: cp.Game, model: cp.Strategy, player: int, strategy: cp.Strategy, trust: np.ndarray
) -> float:
    """The least `player` gets when at each set of his opponent the model acts with probability
    Pconf, else the worst action."""
    side = game.sequence_form[1 - player]
    plan, fixed = strategy.plan(player), model.probabilities[game.slots(1 - player)]
    pconf = trust[game.tree.owner == 1 - player]
    worth = np.array(
        [
            side.value[low:high] @ plan[side.column[low:high]]
            for low, high in zip(side.row, side.row[1:], strict=False)
        ]
    )
    for i in reversed(range(len(side.parent))):
        slots = np.arange(side.first[i], side.first[i + 1])
        here = (
            pconf[i] * (fixed[slots] @ worth[slots + 1]) + (1.0 - pconf[i]) * worth[slots + 1].max()
        )
        worth[side.parent[i]] += here
    return -float(worth[0])


@cache
def exact_value(name: str, player: int, p: float | None, algorithm: str) -> float:
    """What the restricted game is worth to the responder, by a linear program; `p`: of every
    information set, or None for the trust of `some_trust`."""
    game = cp.load(name)
    trust = some_trust(game, algorithm) if p is None else p
    exact = cp.respond(game, some_model(game), player, trust, algorithm, engine="lp")
    return float(exact.runs[0]._solver.values[player])


def check(
    response: cp.Response, model: cp.Strategy, trust: float | np.ndarray, largest_gap: float
) -> None:
    game, player = response.game, response.player
    assert player is not None
    assert np.array_equal(model.probabilities, some_model(game).probabilities)
    p = None if isinstance(trust, np.ndarray) else trust
    value = exact_value(game.name, player, p, response.algorithm.removeprefix("mc"))
    gap = response.runs[0].exploitability
    if response.algorithm.endswith("rnr"):
        assured = trust * response.payoff + (1.0 - trust) * response.worst_case
    else:
        assured = least_biased(
            game, model, player, response.strategy, np.broadcast_to(trust, game.n_infosets)
        )
    assert -ROUNDING <= gap <= largest_gap
    assert value - gap - ROUNDING <= assured <= value + ROUNDING


@pytest.mark.parametrize("player", SEATS)
@pytest.mark.parametrize("algorithm", ["rnr", "dbr"])
@pytest.mark.parametrize("engine", FULL)
@pytest.mark.parametrize("name", GAMES)
def test_full_width(name: str, engine: str, algorithm: str, player: int) -> None:
    game = cp.load(name)
    model, trust = some_model(game), some_trust(game, algorithm)
    iterations, share = FULL[engine]
    response = cp.respond(
        game, model, player, trust, algorithm, engine=engine, iterations=iterations
    )
    check(response, model, trust, share * spread(game))


@pytest.mark.skipif("egt" not in ALGORITHMS, reason="no such engine")
@pytest.mark.parametrize("player", SEATS)
@pytest.mark.parametrize("name", ["kuhn", "bluff(1,1,3)", "leduc"])
def test_excessive_gap(name: str, player: int) -> None:
    game = cp.load(name)
    model = some_model(game)
    check(
        cp.respond(game, model, player, 0.6, engine="egt", iterations=2000),
        model,
        0.6,
        1e-3 * spread(game),
    )


def sampled_response(engine: str, game: cp.Game, *how: Any) -> cp.Response:
    """A response with the iterations and options of SAMPLED."""
    solver, options, small, large = SAMPLED[engine]
    n = large if game.name == "leduc" else small
    return cp.respond(game, *how, engine=solver, iterations=n, measure_every=n, **options)


@pytest.mark.parametrize("player", SEATS)
@pytest.mark.parametrize("algorithm", ["mcrnr", "mcdbr"])
@pytest.mark.parametrize("engine", SAMPLED)
@pytest.mark.parametrize("name", ["kuhn", "ocp(4)", "bluff(1,1,3)", "leduc"])
def test_sampled(name: str, engine: str, algorithm: str, player: int) -> None:
    game = cp.load(name)
    model, trust = some_model(game), some_trust(game, algorithm)
    response = sampled_response(engine, game, model, player, trust, algorithm)
    check(response, model, trust, SAMPLED_GAP * spread(game))


@pytest.mark.parametrize("p", [0.0, 1.0])
@pytest.mark.parametrize("algorithm", ["mcrnr", "mcdbr"])
@pytest.mark.parametrize("engine", SAMPLED)
def test_sampled_at_the_ends(engine: str, algorithm: str, p: float) -> None:
    """p = 0 looks for an equilibrium, p = 1 for a best response; here in the second seat of
    Kuhn."""
    game = cp.load("kuhn")
    model = some_model(game)
    response = sampled_response(engine, game, model, 1, p, algorithm)
    check(response, model, p, SAMPLED_GAP * spread(game))
    # the value of Kuhn to player 2 is 1/18
    goal = 1 / 18 if p == 0.0 else cp.best_response(game, model, 1).value
    assert (response.worst_case if p == 0.0 else response.payoff) == pytest.approx(
        goal, abs=SAMPLED_GAP * spread(game)
    )


@pytest.mark.parametrize("algorithm", ["rnr", "mcrnr", "dbr", "mcdbr"])
def test_both_seats(algorithm: str) -> None:
    """`player=None` is both single seats side by side."""
    game = cp.load("bluff(1,1,3)")
    model, trust = some_model(game), some_trust(game, algorithm)
    both = cp.respond(game, model, None, trust, algorithm, iterations=500)
    singles = [
        cp.respond(game, model, player, trust, algorithm, iterations=500) for player in SEATS
    ]
    assert both.player is None
    assert len(both.runs) == 2
    for player, single in enumerate(singles):
        mine, other = game.slots(player), game.slots(1 - player)
        assert np.array_equal(
            both.strategy.probabilities[mine], single.strategy.probabilities[mine]
        )
        assert np.array_equal(single.strategy.probabilities[other], model.probabilities[other])
    assert both.payoffs == tuple(single.payoff for single in singles)
    assert both.worst_cases == tuple(single.worst_case for single in singles)
    assert both.payoff == pytest.approx(sum(both.payoffs) / 2, abs=1e-15)  # as a match estimates it
    assert both.worst_case == pytest.approx(sum(both.worst_cases) / 2, abs=1e-15)
    assert both.exploitability == pytest.approx(cp.exploitability(game, both.strategy), abs=1e-12)
    assert both.exploitation == pytest.approx(sum(both.payoffs), abs=1e-15)


@pytest.mark.parametrize("player", SEATS)
def test_scores_by_hand(player: int) -> None:
    """Exploitation and worst case by recursion over the histories of Kuhn."""
    game, root = game_and_root("kuhn")
    model = some_model(game)
    response = cp.respond(game, model, player, 0.4, iterations=20)
    policy = from_slots(game, response.strategy.probabilities)
    assert response.payoff == pytest.approx(naive.expected_value(root, policy, player), abs=1e-12)
    assert response.worst_case == pytest.approx(
        -naive.best_response([(root, 1.0)], policy, 1 - player), abs=1e-12
    )
    assert (response.p, response.engine, response.iterations) == (0.4, "cfr+", 20)


@pytest.mark.parametrize("engine", FULL)
@pytest.mark.parametrize("name", ["kuhn", "goofspiel(4)", "leduc"])
def test_certainty_of_a_model_that_leaves_actions_out(name: str, engine: str) -> None:
    """Pconf = 1 and a model with zeros: nothing is left to the opponent, and the answer is a
    best response."""
    game = cp.load(name)
    model = some_model(game)
    response = cp.respond(game, model, 0, 1.0, "dbr", engine=engine, iterations=FULL[engine][0])
    check(response, model, 1.0, FULL[engine][1] * spread(game))
