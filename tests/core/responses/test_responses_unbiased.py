"""Sampled regrets of restricted games equal counterfactual regrets in expectation, by enumeration
on Kuhn and the toy game.

Every terminal history z of the game drawn out (tests/reference/restricted.py), coins, chance and
model's actions included, goes through the kernel's own update, weighted by q(z). A second test ties
the kernel's sampler to these histories.
"""

from __future__ import annotations

from math import prod
from typing import Any, NamedTuple

import numpy as np
import pytest
from reference.common import Node, Policy, from_slots, regret_matching, to_slots
from reference.evaluation import counterfactual_regrets, histories, share
from reference.games import game_and_root
from reference.restricted import dbr_rules, rnr_rules
from support.sampling import (
    EPSILON,
    Step,
    arbitrary_regrets,
    expected_outcome_update,
    explored,
    policy_of,
    record_decision,
)

import counterplay as cp
from counterplay.core.forms.access import new_chance
from counterplay.core.forms.game import Game
from counterplay.core.forms.restricted import data_biased_form, restricted_form
from counterplay.core.kernels.rng import new_state
from counterplay.core.solvers.history import (
    HistoryWorkspace,
    OutcomeTables,
    new_workspace,
    sample_history,
)

GAMES = ("kuhn", "toy")
SEATS = (0, 1)  # of the restricted player
TRUST = (0.0, 0.3, 1.0, "array")


class Case(NamedTuple):
    """A restricted game: as the kernel has it, and drawn out."""

    game: Game
    form: Any
    root: Node
    restricted: int
    fixed: Policy
    confidence: dict[tuple[int, str], float] | None
    p: float


def case(name: str, restricted: int, p: Any) -> Case:
    """`p` "array": DBR with zeros, ones and values between; "constant": DBR with 0.3; else RNR.
    The model has zeros."""
    game, _ = game_and_root(name)
    weights = 1.0 + np.arange(game.n_slots) * 5 % 7
    weights[game.tree.first[:-1:2]] = 0.0
    model = cp.Strategy.from_weights(game, weights)
    fixed = from_slots(game, model.probabilities)
    if not isinstance(p, str):
        form: Any = restricted_form(game.tree, model.probabilities, restricted, p)
        root = rnr_rules(game.rules, restricted, fixed, p).root()
        return Case(game, form, Node(root), restricted, fixed, None, p)
    trust = (
        np.full(game.n_infosets, 0.3)
        if p == "constant"
        else np.array([0.2, 1.0, 0.0, 0.7])[np.arange(game.n_infosets) % 4]
    )
    keys = [
        (int(owner), label)
        for owner, label in zip(game.tree.owner, game.labels.infoset, strict=True)
    ]
    confidence = dict(zip(keys, trust.tolist(), strict=True))
    form = data_biased_form(game.tree, model.probabilities, restricted, trust)
    root = dbr_rules(game.rules, restricted, fixed, confidence).root()
    return Case(game, form, Node(root), restricted, fixed, confidence, 0.0)


def kernel_path(
    this: Case, policy: Policy, steps: tuple[tuple[Node, int], ...]
) -> tuple[HistoryWorkspace, int, int, float]:
    """The history as the kernel's `Path`: path, terminal node in the original tree, decisions,
    π^σ'(z) of those decisions."""
    game, tree = this.game, this.game.tree
    path, sampling = new_workspace(game.depth, game.max_actions, 2), explored(policy)
    end, coin_fell, before = 0, False, list[Step]()
    for node, child in steps:
        restricted_here = tree.player[end] == this.restricted
        is_coin = not coin_fell and (this.confidence is None or restricted_here)
        coin_fell = is_coin or (coin_fell and this.confidence is None)
        if is_coin:
            continue  # coins are no nodes of the original tree
        end = int(tree.first_child[end]) + child
        if node.player < 0 or node.count == 1:  # chance, or forced
            continue
        record_decision(path, game, policy, before, (node, child))
    return path, end, len(before), prod(share(sampling, step) for step in before)


def expected_update(
    this: Case, regret: np.ndarray, optimistic: bool
) -> tuple[np.ndarray, np.ndarray]:
    """Σ_z q(z) times what the kernel adds to regrets and strategy sums after z."""
    game, hand = this.game, new_chance(this.form)
    policy = {key: regret_matching(values) for key, values in from_slots(game, regret).items()}
    paths = ((steps, kernel_path(this, policy, steps)) for steps, _ in histories(this.root))
    return expected_outcome_update(game, this.form, hand, regret, policy, paths, optimistic)


def blended(this: Case, policy: Policy) -> Policy:
    """Behaviour of both in the original game when the restricted player's set I is free with
    probability 1 - Pconf(I)."""
    assert this.confidence is not None
    mixed = dict(policy)
    for key, c in this.confidence.items():
        if key[0] == this.restricted:
            mixed[key] = [
                c * f + (1.0 - c) * s for f, s in zip(this.fixed[key], policy[key], strict=True)
            ]
    return mixed


@pytest.mark.parametrize("optimistic", [True, False])
@pytest.mark.parametrize("p", TRUST)
@pytest.mark.parametrize("restricted", SEATS)
@pytest.mark.parametrize("name", GAMES)
def test_regrets(name: str, restricted: int, p: Any, optimistic: bool) -> None:
    this = case(name, restricted, p)
    regret = arbitrary_regrets(this.game)
    exact = to_slots(this.game, counterfactual_regrets(this.root, policy_of(this.game, regret)))
    assert np.abs(exact[this.game.slots(1 - restricted)]).max() > 1e-4
    assert bool(np.abs(exact[this.game.slots(restricted)]).max() > 1e-4) is (p != 1.0)
    np.testing.assert_allclose(
        expected_update(this, regret, optimistic)[0], exact, rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("p", TRUST)
@pytest.mark.parametrize("restricted", SEATS)
@pytest.mark.parametrize("name", GAMES)
def test_regrets_against_the_original_game(name: str, restricted: int, p: Any) -> None:
    """The same regrets without coins: those of the original game where the opponent behaves as a
    mixture.

    RNR: the responder's are p times those against the model plus 1 - p times those against σ, the
    restricted player's 1 - p times those of the game. DBR: the responder's are those against
    behaviour Pconf σ_fix + (1 - Pconf) σ.
    """
    this = case(name, restricted, p)
    game, root = game_and_root(name)
    regret = arbitrary_regrets(game)
    policy = policy_of(game, regret)
    found = expected_update(this, regret, True)[0]
    mine, his = game.slots(1 - restricted), game.slots(restricted)
    modelled = {
        key: this.fixed[key] if key[0] == restricted else shares for key, shares in policy.items()
    }
    if this.confidence is None:
        against_model = to_slots(game, counterfactual_regrets(root, modelled))
        plain = to_slots(game, counterfactual_regrets(root, policy))
        np.testing.assert_allclose(
            found[mine], (p * against_model + (1.0 - p) * plain)[mine], rtol=0, atol=1e-12
        )
        np.testing.assert_allclose(found[his], (1.0 - p) * plain[his], rtol=0, atol=1e-12)
    else:
        mixed = to_slots(game, counterfactual_regrets(root, blended(this, policy)))
        np.testing.assert_allclose(found[mine], mixed[mine], rtol=0, atol=1e-12)


@pytest.mark.parametrize("p", [*TRUST, "constant"])
@pytest.mark.parametrize("restricted", SEATS)
@pytest.mark.parametrize("name", GAMES)
def test_stochastic_averaging(name: str, restricted: int, p: Any) -> None:
    """Expected increments at I are proportional to σ(I, ·), weighted by the player's own reach:
    blended for a biased player.

    With the weight's constant (chance and coins) taken out by the increments under uniform regrets,
    where reach is known.
    """
    this = case(name, restricted, p)
    game = this.game
    regret, flat = arbitrary_regrets(game), np.zeros(game.n_slots)

    def own_reach(policy: Policy) -> np.ndarray:
        """π_i(I) σ(I, a) per slot."""
        behaviour = policy if this.confidence is None else blended(this, policy)
        strategy = cp.Strategy(game, to_slots(game, behaviour))
        reach = [
            strategy.plan(player)[np.repeat(side.parent, np.diff(side.first))]
            for player, side in enumerate(game.sequence_form)
        ]
        return np.concatenate(reach) * to_slots(game, policy)

    uneven, even = (expected_update(this, values, False)[1] for values in (regret, flat))
    reach = own_reach(
        {key: [1.0 / len(shares)] * len(shares) for key, shares in from_slots(game, flat).items()}
    )
    assert not even[reach == 0.0].any()  # sure to follow a model that never plays to I
    constant = np.divide(even, reach, out=np.zeros_like(even), where=reach > 0.0)
    assert constant.max() > 0.0
    np.testing.assert_allclose(
        uneven, constant * own_reach(policy_of(game, regret)), rtol=0, atol=1e-12
    )


@pytest.mark.parametrize("p", TRUST)
@pytest.mark.parametrize("restricted", SEATS)
@pytest.mark.parametrize("name", GAMES)
def test_sampler_writes_these_paths(name: str, restricted: int, p: Any) -> None:
    """What `sample_history` writes is one of the paths above with a coin that is possible, never
    one of probability zero."""
    this = case(name, restricted, p)
    game = this.game
    regret = arbitrary_regrets(game)
    policy = policy_of(game, regret)
    known: dict[tuple[Any, ...], tuple[HistoryWorkspace, int, float]] = {}
    for steps, _ in histories(this.root):
        if prod(share(policy, step) for step in steps if step[0].player < 0) > 0.0:
            path, end, length, drawn = kernel_path(this, policy, steps)
            known[end, tuple(path.infoset[:length])] = path, length, drawn
    tables = OutcomeTables(
        regret, np.zeros(game.n_slots), np.zeros(game.n_infosets, dtype=np.int64)
    )
    path, rng, hand = (
        new_workspace(game.depth, game.max_actions, 2),
        new_state(0),
        new_chance(this.form),
    )
    for _ in range(200):
        node, n_decisions, drawn, _ = sample_history(this.form, hand, tables, path, rng, EPSILON)
        built, length, probability = known[int(node), tuple(path.infoset[: int(n_decisions)])]
        assert drawn == pytest.approx(probability, rel=1e-14)
        for field in ("player", "action", "own", "others", "drawn"):
            np.testing.assert_allclose(
                getattr(path, field)[:length], getattr(built, field)[:length], rtol=1e-14, atol=0
            )
