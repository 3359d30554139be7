"""Section 3.2.3, number by number, on the kernel: Kuhn, iteration 1, history (K|Q, bet, pass).

The kernel leaves chance out of π_-i and π^σ' alike, so that 1/12 and 1/24 are 1/2 and 1/4 here, and
w is the paper's.
"""

from __future__ import annotations

from itertools import count

import numpy as np
import pytest

from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.kernels.jit import index
from counterplay.core.kernels.policy import regret_matching
from counterplay.core.kernels.rng import new_state
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.history import (
    HistoryWorkspace,
    OutcomeTables,
    new_workspace,
    sample_history,
    update_history,
)
from counterplay.core.solvers.mccfr import OutcomeSampling, outcome_sampling

PASS, BET = 0, 1
HAND = np.empty(0, dtype=np.int32)


@pytest.fixture(scope="module")
def kuhn() -> Game:
    return load("kuhn")


def infosets(game: Game) -> tuple[int, int]:
    """I_1: player 1 holds the King and nothing happened. I_2: player 2 holds the Queen after a
    bet."""
    return game.infoset_by_name["K"], game.infoset_by_name["Q b"]


def end_node(game: Game) -> int:
    """The terminal history (K|Q, bet, pass)."""
    deal = game.rules.root().actions().index("KQ")
    node = int(game.tree.first_child[0]) + deal
    for action in (BET, PASS):
        node = int(game.tree.first_child[node]) + action
    return node


def paper_path(game: Game) -> HistoryWorkspace:
    path = new_workspace(game.depth, game.max_actions, game.n_players)
    path.infoset[:2] = infosets(game)
    path.slot[:2] = game.tree.first[list(infosets(game))]
    path.actions[:2] = 2
    path.player[:2] = 0, 1
    path.action[:2] = BET, PASS
    path.policy[:4] = 0.5  # U at both
    path.own[:2] = 1.0  # neither has acted before
    path.others[:2] = 1.0, 0.5  # (1/6), (1/6)(1/2) without chance
    path.drawn[:2] = 1.0, 0.5
    return path


def new_tables(game: Game) -> OutcomeTables:
    return OutcomeTables(
        np.zeros(game.n_slots), np.zeros(game.n_slots), np.zeros(game.n_infosets, dtype=np.int64)
    )


def check_tables(game: Game, tables: OutcomeTables) -> None:
    for i in infosets(game):
        slots = slice(game.tree.first[i], game.tree.first[i + 1])
        assert tables.regret[slots].tolist() == [-1.0, 1.0]
        assert tables.strategy_sum[slots].tolist() == [0.5, 0.5]
        assert tables.last_visit[i] == 1
        following = np.empty(2)
        regret_matching(tables.regret, index(slots.start), index(2), following, index(0))
        assert following.tolist() == [0.0, 1.0]
    assert np.count_nonzero(tables.regret) == 4  # nothing else was touched
    assert np.count_nonzero(tables.strategy_sum) == 4
    assert tables.last_visit.sum() == 2


def test_utility_of_the_history(kuhn: Game) -> None:
    # u_2 = -u_1 = -1
    assert kuhn.tree.payoff[kuhn.tree.row[end_node(kuhn)]].tolist() == [1.0, -1.0]


def updated_tables(kuhn: Game) -> OutcomeTables:
    """The tables after the update phase of the paper's history."""
    tables, end = new_tables(kuhn), index(end_node(kuhn))
    update_history(kuhn.tree, HAND, tables, paper_path(kuhn), end, index(2), 0.25, 1, True, 1.0)
    return tables


def test_update_phase(kuhn: Game) -> None:
    check_tables(kuhn, updated_tables(kuhn))


def test_weights(kuhn: Game) -> None:
    """w_I1 = 4 and w_I2 = -2: from Eq 6, r̃(a taken) - r̃(a not taken) = w π(z[I]a, z), with
    tails 1/2 and 1."""
    tables = updated_tables(kuhn)
    one, two = (int(kuhn.tree.first[i]) for i in infosets(kuhn))
    assert (tables.regret[one + BET] - tables.regret[one + PASS]) / 0.5 == 4.0
    assert (tables.regret[two + PASS] - tables.regret[two + BET]) / 1.0 == -2.0


@pytest.mark.parametrize("epsilon", [0.6, 0.1, 1.0])
def test_select_phase(kuhn: Game, epsilon: float) -> None:
    """The sampler writes that very path, whatever ε ("regardless of the value of ε"), and one
    iteration gives those tables."""
    for seed in count():
        path = new_workspace(kuhn.depth, kuhn.max_actions, kuhn.n_players)
        node, n_decisions, drawn, _ = sample_history(
            kuhn.tree, HAND, new_tables(kuhn), path, new_state(seed), epsilon
        )
        if node == end_node(kuhn):
            break
    assert n_decisions == 2
    assert drawn == 0.25
    for name in ("infoset", "player", "action", "policy", "own", "others", "drawn"):
        np.testing.assert_array_equal(
            getattr(path, name), getattr(paper_path(kuhn), name), err_msg=name
        )
    tables = new_tables(kuhn)
    outcome_sampling(kuhn.tree, HAND, tables, path, new_state(seed), 0, 1, epsilon, True, 1, 1.0)
    check_tables(kuhn, tables)
    solver = OutcomeSampling(Problem(kuhn), seed=seed, epsilon=epsilon)
    solver.step(1)
    check_tables(kuhn, OutcomeTables(**solver.tables()))
