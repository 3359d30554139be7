"""Several interleaved histories: sampled regrets are unbiased, by enumerating pairs of histories;
the sampler writes these histories; and nothing else depends on how they were kept."""

from __future__ import annotations

from itertools import product
from math import prod
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.common import to_slots
from reference.evaluation import counterfactual_regrets, histories, share
from reference.games import game_and_root
from support.sampling import EPSILON, HAND, arbitrary_regrets, kernel_path, policy_of

import counterplay as cp
from counterplay.core.base.errors import BadFile
from counterplay.core.kernels.jit import index
from counterplay.core.kernels.rng import new_state
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.history import (
    HistoryWorkspace,
    OutcomeTables,
    batch_on,
    batch_size,
    sample_histories,
    update_decision,
)
from counterplay.poker.betting.betting import row_of
from counterplay.poker.cards.deal import UNKNOWN, bucket_of, compare, find_board, new_deal


def side_by_side(one: HistoryWorkspace, two: HistoryWorkspace) -> HistoryWorkspace:
    """Two histories in one trail, as a batch has them."""
    joined = {
        name: np.concatenate([getattr(one, name), getattr(two, name)])
        for name in HistoryWorkspace._fields
        if name != "width"
    }
    return HistoryWorkspace(**joined, width=one.width)


@pytest.mark.parametrize("optimistic", [True, False])
def test_regrets_of_two_at_once_are_unbiased(optimistic: bool) -> None:
    """Σ q(z) q(z') times what both updates add, the second to tables that the first has changed, is
    twice the counterfactual regret."""
    game, root = game_and_root("kuhn")
    regret = arbitrary_regrets(game)
    policy = policy_of(game, regret)
    built = []
    for steps, _ in histories(root):
        path, end, made, drawn = kernel_path(game, policy, steps)
        q = drawn * prod(share(policy, step) for step in steps if step[0].player < 0)
        built.append((path, end, made, drawn, q))
    expected, total = np.zeros(game.n_slots), 0.0
    for one, two in product(built, repeat=2):
        tables = OutcomeTables(
            regret.copy(), np.zeros(game.n_slots), np.zeros(game.n_infosets, dtype=np.int64)
        )
        trail = side_by_side(one[0], two[0])
        for h, (_, end, made, drawn, _) in enumerate((one, two)):
            tail, base = 1.0, h * game.depth
            for k in range(base + made - 1, base - 1, -1):
                won = game.tree.payoff[game.tree.row[end], trail.player[k]]
                tail = update_decision(tables, trail, k, won, 1.0 / drawn, tail, 1 + h, optimistic)
        expected += one[4] * two[4] * (tables.regret - regret)
        total += one[4] * two[4]
    assert total == pytest.approx(1.0, abs=1e-12)
    exact = to_slots(game, counterfactual_regrets(root, policy))
    np.testing.assert_allclose(expected, 2.0 * exact, rtol=0, atol=1e-11)


@pytest.mark.parametrize("name", ["kuhn", "toy"])
def test_each_history_of_a_batch_is_in_the_enumeration(name: str) -> None:
    game, root = game_and_root(name)
    regret = arbitrary_regrets(game)
    policy = policy_of(game, regret)
    built = (kernel_path(game, policy, steps) for steps, _ in histories(root))
    paths = {path[1]: path for path in built}
    tables = OutcomeTables(
        regret, np.zeros(game.n_slots), np.zeros(game.n_infosets, dtype=np.int64)
    )
    many, depth, width = 5, game.depth, game.max_actions
    buffer = np.empty(batch_size(many, depth, width, 2), dtype=np.int64)
    trail, batch = batch_on(buffer, many, depth, width, 2)
    rng = new_state(0)
    for _ in range(30):
        sample_histories(game.tree, HAND, tables, trail, batch, rng, EPSILON, index(many))
        for h in range(many):
            path, _, length, drawn = paths[int(batch.node[h])]
            assert batch.made[h] == length
            assert batch.drawn[h] == pytest.approx(drawn, rel=1e-14)
            for field in (
                "infoset",
                "slot",
                "actions",
                "player",
                "action",
                "own",
                "others",
                "drawn",
            ):
                mine = getattr(trail, field)[h * depth : h * depth + length]
                np.testing.assert_allclose(mine, getattr(path, field)[:length], rtol=1e-14)


@pytest.mark.slow
def test_the_same_bits_without_a_tree_and_however_cut() -> None:
    ask = {"iterations": 3_000, "seed": 5, "interleave": 8}
    one = cp.solve("goofspiel(3)", "mccfr", **ask).strategy
    two = cp.solve("goofspiel(3,tree=False)", "mccfr", **ask).strategy
    assert np.array_equal(two.on("goofspiel(3)").probabilities, one.probabilities)


def test_it_converges() -> None:
    """The mean of seeds falls as iterations grow; docs/explanation/lower-bounds.md compares it with
    one by one."""
    means = [
        np.mean(
            [
                cp.solve(
                    "goofspiel(4)", "mccfr", iterations=n, seed=seed, interleave=16
                ).exploitability
                for seed in range(3)
            ]
        )
        for n in (10_000, 160_000)
    ]
    assert means[1] < 0.5 * means[0]


def test_what_cannot_be_interleaved_is_refused() -> None:
    for interleave in (0, 257, True, 1.5):
        with pytest.raises(cp.CounterplayError, match="interleave must be"):
            cp.solve("kuhn", "mccfr", iterations=1, interleave=interleave)
    model = cp.Strategy.uniform("kuhn")
    with pytest.raises(cp.CounterplayError, match="leave out interleave"):
        cp.respond("kuhn", model, 0, algorithm="mcrnr", iterations=1, interleave=4)


def test_interleaved_holdem_sees_the_cards_of_its_own_deal() -> None:
    """Every information set of a history is that of its betting and its cards."""
    game = cp.load("holdem(buckets=10)")
    form, many = game.form, 7
    solver = new_solver(game, "mccfr", 3, {"interleave": many})
    solver.step(3 * many)  # the workspace has the last batch
    worker = solver._pool.workers[0]
    trail, batch = worker.workspace
    decks = {tuple(deck[:9]) for deck in worker.chance.deck.tolist()}
    assert len(decks) == many
    for h in range(many):
        deal = new_deal()
        deal.deck[:9] = worker.chance.deck[h][:9]
        node, street, board = index(0), -1, 0
        for k in range(int(batch.made[h])):
            while street < form.nodes.street[node]:
                street += 1
                board = find_board(form.cards, deal, street)
            bucket = bucket_of(form.cards, deal, board, int(form.nodes.player[node]), street, 0)
            place = h * batch.depth + k
            assert trail.infoset[place] == row_of(form.first_row, node, bucket)
            node = index(form.nodes.first_child[node] + trail.action[place])
        assert node == batch.node[h]
        compare(deal)
        assert worker.chance.winner[h, 0] in (UNKNOWN, deal.winner[0])


@pytest.mark.parametrize(
    ("name", "threads"),
    [
        ("goofspiel(4)", 1),
        ("goofspiel(5)", 2),
        ("goofspiel(4,tree=False)", 1),
        pytest.param("holdem(buckets=10)", 2, marks=pytest.mark.slow),
    ],
)
def test_however_a_run_is_cut(name: str, threads: int, tmp_path: Path) -> None:
    """In the middle of a batch too: what was sampled and is pending is kept."""
    options: dict[str, Any] = {"seed": 4, "interleave": 8, "threads": threads}
    whole = cp.solve(name, "mccfr", iterations=3_001, **options)
    run = tmp_path / "run"
    cp.solve(name, "mccfr", iterations=1_003, folder=run, **options)
    cp.resume(run, iterations=1_004)
    again = cp.resume(run, iterations=3_001)
    one, two = (run._solver.arrays() for run in (whole, again))
    for key, array in one.items():
        np.testing.assert_array_equal(two[key], array, err_msg=key)


def test_tables_that_are_merged_by_key_are_played_one_by_one() -> None:
    with pytest.raises(cp.CounterplayError, match="one thread only; leave out interleave"):
        cp.solve("goofspiel(6,tree=False)", "mccfr", iterations=1, interleave=4, threads=2)


@pytest.mark.parametrize("name", ["goofspiel(4)", "goofspiel(4,tree=False)"])
@pytest.mark.parametrize(
    "field", ["pending", "made", "infoset", "slot", "actions", "action", "player"]
)
def test_a_forged_pending_history_is_refused(name: str, field: str) -> None:
    """A kernel would write where it says."""
    solver = new_solver(cp.load(name), "mccfr", 1, {"interleave": 8})
    solver.step(5)
    trail, batch = solver._pool.workers[0].workspace
    array = getattr(batch if field in ("pending", "made") else trail, field)
    good = int(array[0])
    for bad in (10**9, -1):
        array[0] = bad
        forged = {key: value.copy() for key, value in solver.arrays().items()}
        array[0] = good
        with pytest.raises(BadFile, match="pending histories"):
            new_solver(cp.load(name), "mccfr", 1, {"interleave": 8}).restore(forged, "file")


def test_forged_histories_of_workers_elsewhere_are_refused() -> None:
    options = {"interleave": 8, "pool": "local", "workers": 2}
    solver = new_solver(cp.load("goofspiel(4)"), "mccfr", 1, options)
    solver.step(4_000)
    saved = {key: value.copy() for key, value in solver.arrays().items()}
    new_solver(cp.load("goofspiel(4)"), "mccfr", 1, options).restore(saved, "file")
    saved["threads.hand"][1] = 10**9
    with pytest.raises(BadFile, match="pending histories"):
        new_solver(cp.load("goofspiel(4)"), "mccfr", 1, options).restore(saved, "file")
