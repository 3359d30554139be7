"""Sampled regrets equal counterfactual regrets in expectation, by enumeration (no seed, no loose
threshold).

Outcome sampling: the kernel's own update on every terminal history z, weighted by q(z). External
and chance sampling: every sequence of random choices of the twins, which test_twins.py ties to the
kernels number by number.
"""

from __future__ import annotations

from collections import defaultdict
from math import prod
from typing import Any

import numpy as np
import pytest
from reference.chance_sampling import ChanceSampling
from reference.common import Key, Node, Policy, every_outcome, from_slots, to_slots
from reference.evaluation import counterfactual_regrets, histories, share
from reference.external_sampling import ExternalSampling
from reference.games import game_and_root
from support.sampling import (
    EPSILON,
    HAND,
    arbitrary_regrets,
    expected_outcome_update,
    kernel_path,
    policy_of,
)

from counterplay.core.forms.game import Game
from counterplay.core.kernels.rng import new_state
from counterplay.core.solvers.history import (
    OutcomeTables,
    new_workspace,
    sample_history,
)

GAMES = ("toy", "kuhn", "kuhn(players=3)")


def expected_update(
    game: Game, root: Node, regret: np.ndarray, optimistic: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Σ_z q(z) times what the kernel adds to regrets and strategy sums after z, chance in q."""
    policy = policy_of(game, regret)
    paths = ((steps, kernel_path(game, policy, steps)) for steps, _ in histories(root))
    return expected_outcome_update(game, game.tree, HAND, regret, policy, paths, optimistic)


def strategy_increments(game: Game, root: Node, policy: Policy, counted: Any) -> np.ndarray:
    """π_i(I) σ(I, a) times the sum over h in I of the probability of the steps to h that
    `counted(step, player)` names."""
    weight: dict[Key, float] = defaultdict(float)
    own: dict[Key, float] = {}

    def walk(node: Node, steps: tuple[tuple[Node, int], ...]) -> None:
        if node.player >= 0:
            weight[node.key] += prod(
                share(policy, step) for step in steps if counted(step[0], node.player)
            )
            own[node.key] = prod(
                share(policy, step) for step in steps if step[0].player == node.player
            )
        for k, child in enumerate(node.children):
            walk(child, (*steps, (node, k)))

    walk(root, ())
    return to_slots(
        game, {key: [weight[key] * own[key] * p for p in policy[key]] for key in weight}
    )


def by_chance(node: Node, player: int) -> bool:
    return node.player < 0


@pytest.mark.parametrize("optimistic", [True, False])
@pytest.mark.parametrize("name", GAMES)
def test_outcome_sampling_regrets(name: str, optimistic: bool) -> None:
    game, root = game_and_root(name)
    regret = arbitrary_regrets(game)
    exact = to_slots(game, counterfactual_regrets(root, policy_of(game, regret)))
    assert np.abs(exact).max() > 0.1
    np.testing.assert_allclose(
        expected_update(game, root, regret, optimistic)[0], exact, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("name", GAMES)
def test_stochastic_averaging(name: str) -> None:
    """The expected increment is π_i(I) σ(I, a), times the probability that chance lets I happen."""
    game, root = game_and_root(name)
    regret = arbitrary_regrets(game)
    exact = strategy_increments(game, root, policy_of(game, regret), by_chance)
    np.testing.assert_allclose(
        expected_update(game, root, regret, optimistic=False)[1], exact, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("name", GAMES)
def test_sampler_writes_these_paths(name: str) -> None:
    """What `sample_history` writes is what the enumeration above builds, whichever history it
    draws."""
    game, root = game_and_root(name)
    regret = arbitrary_regrets(game)
    policy = policy_of(game, regret)
    paths = {
        built[1]: built
        for built in (kernel_path(game, policy, steps) for steps, _ in histories(root))
    }
    tables = OutcomeTables(
        regret, np.zeros(game.n_slots), np.zeros(game.n_infosets, dtype=np.int64)
    )
    path, rng = new_workspace(game.depth, game.max_actions, game.n_players), new_state(0)
    for _ in range(200):
        node, n_decisions, drawn, _ = sample_history(game.tree, HAND, tables, path, rng, EPSILON)
        built, _, length, probability = paths[int(node)]
        assert n_decisions == length
        assert drawn == pytest.approx(probability, rel=1e-14)
        for field in ("infoset", "slot", "actions", "player", "action", "own", "others", "drawn"):
            np.testing.assert_allclose(
                getattr(path, field)[:length], getattr(built, field)[:length], rtol=1e-14, atol=0
            )
        for k in range(length):
            low = k * game.max_actions
            count = int(np.diff(game.tree.first)[path.infoset[k]])
            np.testing.assert_allclose(
                path.policy[low : low + count], built.policy[low : low + count], rtol=1e-14, atol=0
            )


def expected_walks(game: Game, regret: np.ndarray, make: Any) -> tuple[np.ndarray, np.ndarray]:
    """Over every outcome of the random choices: the mean changes of regrets and strategy sums.
    `make()`: twin and experiment."""
    expected, total = [np.zeros(game.n_slots), np.zeros(game.n_slots)], 0.0

    def once(dice: Any) -> tuple[np.ndarray, np.ndarray]:
        twin, run = make()
        twin.regret = defaultdict(list, from_slots(game, regret))
        run(dice)
        return to_slots(game, twin.regret) - regret, to_slots(game, twin.strategy_sum)

    for probability, changes in every_outcome(once):
        total += probability
        for sums, change in zip(expected, changes, strict=True):
            sums += probability * change
    assert total == pytest.approx(1.0, abs=1e-12)
    return expected[0], expected[1]


@pytest.mark.parametrize("name", GAMES)
def test_external_sampling(name: str) -> None:
    """Each walk: exact regrets of its traverser and none of the others; with two players,
    averages weighted by π_i(I) σ(I, a)."""
    game, root = game_and_root(name)
    regret = arbitrary_regrets(game)
    policy = policy_of(game, regret)
    exact = to_slots(game, counterfactual_regrets(root, policy))
    increments = strategy_increments(game, root, policy, by_chance)
    owner = np.repeat(game.tree.owner, np.diff(game.tree.first))
    for traverser in range(game.n_players):

        def make(traverser: int = traverser) -> Any:
            twin = ExternalSampling(root, game.n_players)
            return twin, lambda dice: twin.walk(root, traverser, dice)

        regrets, sums = expected_walks(game, regret, make)
        np.testing.assert_allclose(
            regrets, np.where(owner == traverser, exact, 0.0), rtol=0, atol=1e-12
        )
        if game.n_players == 2:
            np.testing.assert_allclose(
                sums, np.where(owner == traverser, 0.0, increments), rtol=0, atol=1e-12
            )


@pytest.mark.parametrize("name", GAMES)
def test_chance_sampling(name: str) -> None:
    game, root = game_and_root(name)
    regret = arbitrary_regrets(game)
    policy = policy_of(game, regret)

    def make() -> Any:
        twin = ChanceSampling(root, game.n_players)
        return twin, lambda dice: twin.iterate(1, dice)

    regrets, sums = expected_walks(game, regret, make)
    np.testing.assert_allclose(
        regrets, to_slots(game, counterfactual_regrets(root, policy)), rtol=0, atol=1e-12
    )
    np.testing.assert_allclose(
        sums, strategy_increments(game, root, policy, by_chance), rtol=0, atol=1e-12
    )
