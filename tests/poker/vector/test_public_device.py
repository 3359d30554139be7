"""Public chance sampling on a device: equal to the traversal on a processor, batch by batch; the
kernels are compiled for a processor here."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.emulate import COMPILER, EmulatedDevice, has_device
from support.small_holdem import (
    FLOP_BETS,
    RIVER_BETS,
    on_tree,
    random_strategy,
    tree_game,
    walked_game,
)

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.restricted import OtherModel, data_biased_form, restricted_form
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.sampling import SamplingTables
from counterplay.poker.vector import public_sampling as public
from counterplay.poker.vector.board import fill_board, new_board
from counterplay.poker.vector.dealt_boards import (
    LARGEST,
    deal_boards,
    new_boards,
    new_dealer,
)
from counterplay.poker.vector.public_sampling import DTYPE, other_model, restriction_of
from counterplay.poker.vector.public_traversal import FollowedRows, Iteration, traverse_board
from counterplay.poker.vector.public_tree import streets_of, with_tilt
from counterplay.poker.vector.public_values import InfosetRows, form_counts, new_traversal_workspace

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="needs g++, and there is none")


@pytest.fixture
def emulated(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(public, "NEW_DEVICE", EmulatedDevice)


def _form(game: Game, kind: str) -> Any:
    model = random_strategy(game, 3).probabilities
    if kind == "plain":
        return game.form
    if kind == "other cards":
        strange = random_strategy(walked_game(RIVER_BETS), 3)
        return restricted_form(
            game.form, OtherModel(strange.game.form, strange.probabilities), 1, 0.7
        )
    if kind.startswith("one coin"):
        return restricted_form(game.form, model, int(kind[-1]), 0.7)
    trust = np.random.default_rng(1).random(game.n_infosets)
    return data_biased_form(game.form, model, 0, trust)


def _on_processor(
    game: Game, form: Any, seed: int, batch: int, n: int, tilt: float
) -> SamplingTables:
    """The same boards, each traversed with the tables as they were before its batch."""
    own, counts = game.form, game.rules.abstraction.counts
    streets = tuple(with_tilt(street, tilt) for street in streets_of(game.rules.tree, DTYPE))
    left = len(own.cards.deck) - 5
    dealer, out = (
        new_dealer(counts, own.cards.deck),
        new_boards(batch, left * (left - 1) // 2, max(counts)),
    )
    rows, other = InfosetRows(own.first_row, own.first), other_model(form)
    model_counts = counts if other is None else form_counts(other.form)
    model_board, most = new_board(model_counts), tuple(map(max, counts, model_counts))
    work = new_traversal_workspace(streets, most, DTYPE, tilt)
    tables = SamplingTables(np.zeros(game.n_slots), np.zeros(game.n_slots))
    scale = 1.0 / ((left - 2) * (left - 3) // 2)
    for t in range(1, n + 1):
        before, learnt = tables.regret.copy(), np.zeros(game.n_slots)
        for k in range(batch):
            deal_boards(own.cards, None, np.uint64(seed), 1 + t * batch, k, k + 1, dealer, out)
            here = SamplingTables(before.copy(), tables.strategy_sum)
            model = FollowedRows(rows, dealer.board)
            if other is not None:
                fill_board(other.form.cards, dealer.chance, 4, model_board)
                other_rows = InfosetRows(other.form.first_row, other.form.first)
                model = FollowedRows(other_rows, model_board)
            iteration = Iteration(rows, here, restriction_of(form), scale, float(t), model)
            traverse_board(streets, dealer.board, iteration, work)
            learnt += here.regret - before
        tables.regret[:] = before + learnt
    return tables


def _check(game: Game, form: Any, batch: int, n: int, near: float, tilt: float = 0.0) -> None:
    options = {"backend": "cuda", "batch": batch, "tilt": tilt}
    solver = new_solver(game, "mccfr-public", 5, options, Problem(game, form))
    solver.step(n)
    wanted = _on_processor(game, form, 5, batch, n, tilt)
    for name, array in wanted._asdict().items():
        found = solver.tables()[name]
        np.testing.assert_allclose(found, array, atol=near * np.abs(array).max(), err_msg=name)


@needs_compiler
@pytest.mark.parametrize(
    "kind", ["plain", "one coin 0", "one coin 1", "a coin at each", "other cards"]
)
def test_a_batch_gives_the_sum_of_its_boards(kind: str, emulated: None) -> None:
    game = walked_game(RIVER_BETS, True)
    _check(game, _form(game, kind), 3, 4, 2e-6)


@needs_compiler
@pytest.mark.parametrize(
    ("tilt", "n", "near"),
    [
        (0.25, 4, 2e-6),
        (-1.0, 1, 2e-6),  # then actions tie, and rounding decides
        pytest.param(30.0, 4, 2e-6, marks=pytest.mark.slow),
        pytest.param(-0.3, 1, 5e-4, marks=pytest.mark.slow),  # no number of half precision
    ],
)
def test_what_is_won_counts_more(tilt: float, n: int, near: float, emulated: None) -> None:
    game = walked_game(RIVER_BETS, True)
    _check(game, _form(game, "other cards"), 3, n, near, tilt)


@needs_compiler
@pytest.mark.slow
def test_the_same_where_buckets_are_forgotten(emulated: None) -> None:
    game = walked_game(FLOP_BETS, "forgetful")
    _check(game, game.form, 2, 4, 2e-6)


@needs_compiler
@pytest.mark.slow
@pytest.mark.parametrize(("tilt", "near"), [(0.0, 1e-4), (0.25, 3e-4)])  # 45 x 45 x 5/4: rounded
def test_the_same_on_the_full_deck(tilt: float, near: float, emulated: None) -> None:
    game = cp.load("holdem(buckets=10)")
    _check(game, game.form, 2, 3, near, tilt)


@pytest.mark.parametrize(
    ("own", "other"),
    [
        ("holdem(buckets=10)", "holdem(buckets=3)"),
        pytest.param(  # perfect recall: buckets depend on those before
            "holdem(buckets=3,kind=nested)", "holdem(buckets=2,kind=nested)", marks=pytest.mark.slow
        ),
    ],
)
def test_classes_have_the_buckets_of_both(own: str, other: str) -> None:
    """All holdings of a class have the same buckets, the player's and the model's."""
    game, model = cp.load(own), cp.load(other)
    counts, model_counts = (one.rules.abstraction.counts for one in (game, model))
    cards, deck = game.form.cards, game.form.cards.deck
    dealer, out = new_dealer(counts, deck, model_counts), new_boards(4, 1081, max(counts))
    deal_boards(cards, model.form.cards, np.uint64(7), 1, 0, 4, dealer, out)
    for row in range(4):
        deal_boards(cards, model.form.cards, np.uint64(7), 1, row, row + 1, dealer, out)
        board, sizes = dealer.board, out.classes[row]
        place = {(board.low[k], board.high[k]): k for k in range(board.size[0])}
        for seen, code in ((board, out.code), (dealer.model_board, out.model_code)):
            for c in range(sizes):
                for at in range(out.first[row, c], out.first[row, c + 1]):
                    word = int(out.word[row, at])
                    k = place[word & 63, word >> 6 & 63]
                    found = [int(seen.global_bucket[s, seen.bucket[s, k]]) for s in range(4)]
                    assert found == code[:, row, c].tolist()
        pairs = np.concatenate([out.code[:, row, :sizes], out.model_code[:, row, :sizes]])
        assert len(np.unique(pairs, axis=1).T) >= sizes - board.size[0] // LARGEST
        assert len(np.unique(out.code[:, row, :sizes], axis=1).T) < sizes


@pytest.mark.skipif(not has_device(), reason="needs a CUDA device, and there is none")
def test_the_same_on_a_device() -> None:
    game = cp.load("holdem(buckets=10)")
    _check(game, game.form, 2, 3, 1e-4)


@needs_compiler
@pytest.mark.slow
def test_batches_converge(emulated: None) -> None:
    game, tree = walked_game(RIVER_BETS), tree_game(RIVER_BETS)
    solver = new_solver(game, "mccfr-public", 1, {"backend": "cuda", "batch": 16})
    gaps = []
    for n in (100, 1_900):
        solver.step(n)
        gaps.append(cp.exploitability(tree, on_tree(solver.strategy(), RIVER_BETS)))
    assert gaps[1] < 0.2 * gaps[0]


@needs_compiler
def test_same_bits_on_a_device_however_it_is_cut(emulated: None, tmp_path: Path) -> None:
    game = walked_game(RIVER_BETS, True)
    options = {"backend": "cuda", "batch": 70}  # traversed in two parts
    whole = new_solver(game, "mccfr-public", 2, options)
    whole.step(5)
    cut = cp.solve(game, "mccfr-public", iterations=2, seed=2, folder=tmp_path / "run", **options)
    assert cut.parameters == {"averaging": "linear", **options}
    resumed = cp.resume(tmp_path / "run", iterations=5, game=game)
    for name, array in whole.arrays().items():
        assert np.array_equal(array, resumed._solver.arrays()[name]), name


@needs_compiler
def test_a_device_forgets_a_share(emulated: None) -> None:
    solver = new_solver(
        walked_game(RIVER_BETS, True), "mccfr-public", 2, {"backend": "cuda", "batch": 4}
    )
    solver.step(2)
    before = {name: solver.tables()[name].copy() for name in ("regret", "strategy_sum")}
    solver.discount(0.5)
    solver._pool._fetched = False  # what the device has now
    for name, array in before.items():
        np.testing.assert_allclose(solver.tables()[name], 0.5 * array)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"backend": "gpu"}, "backend must be one of cpu, cuda, not 'gpu'"),
        ({"batch": 0}, "batch must be a whole number from 1 to 4096, not 0"),
        ({"batch": 2.5}, "batch must be a whole number"),
        ({"backend": "cuda", "threads": 2}, "leave out threads"),
    ],
)
def test_options_of_a_device(options: dict[str, Any], message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        new_solver(walked_game(RIVER_BETS, True), "mccfr-public", 1, options)


@pytest.mark.skipif(has_device(), reason="there is a CUDA device")
def test_without_a_device_it_says_so() -> None:
    with pytest.raises(BadParameter, match=r"CuPy|CUDA device"):
        new_solver(walked_game(RIVER_BETS, True), "mccfr-public", 1, {"backend": "cuda"})
