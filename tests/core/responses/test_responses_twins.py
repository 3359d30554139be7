"""Every engine on a restricted game does what it would do on that game drawn out
(tests/reference/restricted.py).

Sampled engines are compared with the naive twins on the same random numbers, full-width ones with
plain CFR. Tolerances as in test_twins.py.
"""

from __future__ import annotations

import os
from collections import defaultdict
from typing import Any

import numpy as np
import pytest
from reference.cfr import CFR as NaiveCFR
from reference.chance_sampling import ChanceSampling
from reference.common import Dice, Node, from_slots, learned, to_slots
from reference.external_sampling import ExternalSampling
from reference.games import game_and_root
from reference.mcts import TreeSearch
from reference.outcome_sampling import OutcomeSampling
from reference.restricted import RestrictedRules, dbr_rules, rnr_rules

import counterplay as cp
from counterplay.core.forms.game import Game
from counterplay.core.responses.solver import ResponseSolver

CAP = int(os.environ.get("COUNTERPLAY_TEST_ITERATIONS", "1000000"))
SEATS = (0, 1)
GAMES = ("toy", "kuhn")
LEDUC = "leduc(suits=False)"


def model_with_zeros(game: Game, seed: int = 3) -> cp.Strategy:
    """Random, with one action never played at every second information set."""
    weights = np.random.default_rng(seed).exponential(size=game.n_slots)
    weights[game.tree.first[:-1:2]] = 0.0
    return cp.Strategy.from_weights(game, weights)


def some_confidence(game: Game) -> np.ndarray:
    """Zeros, ones and values between."""
    return np.arange(game.n_infosets) * 7 % 11 / 10.0


def drawn_out(
    game: Game, model: cp.Strategy, player: int, p: float | np.ndarray
) -> RestrictedRules:
    policy = from_slots(game, model.probabilities)
    if np.ndim(p) == 0:
        return rnr_rules(game.rules, 1 - player, policy, float(p))
    keys = [
        (int(owner), label)
        for owner, label in zip(game.tree.owner, game.labels.infoset, strict=True)
    ]
    return dbr_rules(game.rules, 1 - player, policy, dict(zip(keys, p.tolist(), strict=True)))


SAMPLED: dict[str, tuple[str, dict[str, Any], Any, tuple[str, ...]]] = {
    "optimistic": ("mccfr", {}, OutcomeSampling, ("regret", "strategy_sum")),
    "stochastic": (
        "mccfr",
        {"averaging": "stochastic"},
        lambda root: OutcomeSampling(root, 0.6, "stochastic"),
        ("regret", "strategy_sum"),
    ),
    "external": (
        "mccfr-external",
        {},
        lambda root: ExternalSampling(root, 2),
        ("regret", "strategy_sum"),
    ),
    "chance": (
        "mccfr-chance",
        {},
        lambda root: ChanceSampling(root, 2),
        ("regret", "strategy_sum"),
    ),
    "mcts": ("mcts", {}, TreeSearch, ("value", "visits")),
}


CASES = [
    *(
        (name, engine, p, player)
        for name in GAMES
        for engine in SAMPLED
        for p in (0.0, 0.4, 1.0, "array")
        for player in SEATS
    ),
    *((LEDUC, engine, p, 0) for engine in ("optimistic", "external") for p in (0.4, "array")),
]


@pytest.mark.parametrize(("name", "engine", "p", "player"), CASES)
def test_sampled(name: str, engine: str, p: Any, player: int) -> None:
    """Coins, chance, the model's actions and the players' are drawn in the same order, and
    tables are the same."""
    game, _ = game_and_root(name)
    trust = some_confidence(game) if p == "array" else p
    algorithm, iterations = "mcdbr" if p == "array" else "mcrnr", 30 if name == LEDUC else 150
    kernel, options, make, names = SAMPLED[engine]
    model = model_with_zeros(game)
    solver = ResponseSolver(game, model, player, trust, algorithm, kernel, 9, options).engine
    twin, dice = make(Node(drawn_out(game, model, player, trust).root())), Dice(9)
    for t in range(1, min(iterations, CAP) + 1):
        solver.step(1)
        twin.iterate(t, dice)
        assert np.array_equal(solver.rng, dice.state)  # both drew equally often
        for table in names:
            theirs, ours = to_slots(game, getattr(twin, table)), learned(solver, table)
            np.testing.assert_allclose(
                ours, theirs, rtol=0, atol=1e-12 * max(1.0, np.abs(theirs).max())
            )
            setattr(twin, table, defaultdict(list, from_slots(game, ours)))


VARIANTS = {
    "cfr": ("cfr", {}),
    "cfr-alternating": ("cfr", {"alternating": True}),
    "cfr+": ("cfr+", {}),
    "dcfr": ("dcfr", {}),
    "pcfr+": ("pcfr+", {}),
}


@pytest.mark.parametrize("player", SEATS)
@pytest.mark.parametrize("p", [0.1, 0.75])
@pytest.mark.parametrize(
    ("name", "variant"),
    [*((name, variant) for name in GAMES for variant in VARIANTS), (LEDUC, "cfr")],
)
def test_figure_5_is_an_ordinary_game(name: str, variant: str, p: float, player: int) -> None:
    """rnr equals the same solver on G' as a game of one's own: average strategies of both
    players after the same iterations."""
    game, _ = game_and_root(name)
    engine, options = VARIANTS[variant]
    model = cp.Strategy.random(game, 4)
    ordinary = Game("G'", drawn_out(game, model, player, p))
    ours = (
        cp.respond(game, model, player, p, engine=engine, iterations=60, **options)
        .runs[0]
        ._solver.policy()
    )
    theirs = cp.solve(ordinary, engine, iterations=60, **options).strategy
    expected = to_slots(game, from_slots(ordinary, theirs.probabilities))
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("player", SEATS)
@pytest.mark.parametrize("alternating", [False, True])
@pytest.mark.parametrize("name", GAMES)
def test_a_coin_before_each_information_set(name: str, alternating: bool, player: int) -> None:
    """dbr equals recursive CFR on the game with all coins: the responder's average strategy.

    The restricted player has no perfect recall there (he forgets which actions were the model's),
    and only the twin takes such a game. His regrets at I are those of the treeplex with floors
    times the chance that coins and model let him get to I and be free, a constant that regret
    matching does not see; but the twin cannot average for him, so only the responder is compared.
    """
    game, _ = game_and_root(name)
    model, trust = cp.Strategy.random(game, 4), some_confidence(game)
    twin = NaiveCFR(Node(drawn_out(game, model, player, trust).root()), "cfr", alternating)
    for t in range(1, 61):
        twin.iterate(t)
    ours = cp.respond(
        game, model, player, trust, "dbr", engine="cfr", iterations=60, alternating=alternating
    ).strategy
    mine = game.slots(player)
    np.testing.assert_allclose(
        ours.probabilities[mine], to_slots(game, twin.policy())[mine], rtol=0, atol=1e-9
    )


@pytest.mark.parametrize("player", SEATS)
def test_drawn_out_games_have_the_known_sizes(player: int) -> None:
    """Figure 5: two subtrees and a coin; information sets only of the responder and of the free
    restricted player."""
    game, _ = game_and_root("kuhn")
    ordinary = Game("G'", drawn_out(game, cp.Strategy.uniform(game), player, 0.5))
    assert ordinary.n_nodes == 2 * game.n_nodes + 1
    assert sorted(ordinary.labels.infoset) == sorted(game.labels.infoset)
    assert ordinary.perfect_recall
    trust = np.full(game.n_infosets, 0.5)
    many = Game("G''", drawn_out(game, cp.Strategy.uniform(game), player, trust))
    assert many.n_infosets == game.n_infosets
    assert many.perfect_recall is (player == 0)  # only player 1 acts twice
