"""Public chance sampling: unbiased, by enumeration of all boards; converges; one contract with the
other solvers."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.single_card import LABELS, rules_and_chance
from support.small_holdem import (
    CARDS,
    RIVER_BETS,
    on_tree,
    random_strategy,
    rows_of,
    tree_game,
    walked_game,
)

import counterplay as cp
from counterplay.core.base.errors import BadParameter, BadStrategy
from counterplay.core.evaluation.exact import _gradient
from counterplay.core.forms.restricted import OtherModel, data_biased_form, restricted_form
from counterplay.core.kernels.policy import normalise
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.sampling import SamplingTables
from counterplay.poker.betting.betting import betting_tree, first_rows, first_slots
from counterplay.poker.cards.deal import new_deal
from counterplay.poker.vector.board import fill_board, new_board
from counterplay.poker.vector.chance import DealtBoard
from counterplay.poker.vector.public_sampling import (
    DTYPE,
    UNRESTRICTED,
    other_model,
    restriction_of,
)
from counterplay.poker.vector.public_traversal import FollowedRows, Iteration, traverse_board
from counterplay.poker.vector.public_tree import streets_of, with_tilt
from counterplay.poker.vector.public_values import InfosetRows, form_counts, new_traversal_workspace


def _all_boards() -> list[tuple[int, ...]]:
    return [
        (*flop, turn, river)
        for flop in combinations(CARDS, 3)
        for turn in CARDS
        if turn not in flop
        for river in CARDS
        if river not in {*flop, turn}
    ]


def _summed(
    regret: np.ndarray, form: Any, game: cp.Game | None = None, tilt: float = 0.0
) -> tuple[np.ndarray, np.ndarray]:
    """Regrets and strategy sums that all boards add, each traversed from the same regrets."""
    game = game or walked_game(RIVER_BETS)
    streets, counts = streets_of(game.rules.tree, DTYPE), game.rules.abstraction.counts
    streets = tuple(with_tilt(street, tilt) for street in streets)
    other = other_model(form)
    model_counts = counts if other is None else form_counts(other.form)
    board, model_board = new_board(counts), new_board(model_counts)
    work = new_traversal_workspace(streets, tuple(map(max, counts, model_counts)), DTYPE, tilt)
    rows = InfosetRows(game.form.first_row, game.form.first)
    model = FollowedRows(rows, board)
    if other is not None:
        model = FollowedRows(InfosetRows(other.form.first_row, other.form.first), model_board)
    chance = new_deal()._replace(deck=np.array(CARDS))
    regrets, sums = np.zeros(game.n_slots), np.zeros(game.n_slots)
    for cards in _all_boards():
        rest = [card for card in CARDS if card not in cards]
        chance.deck[:] = [*rest, *cards]
        fill_board(game.form.cards, chance, 4, board)
        if other is not None:
            fill_board(other.form.cards, chance, 4, model_board)
        tables = SamplingTables(regret.copy(), np.zeros(game.n_slots))
        traverse_board(
            streets,
            board,
            Iteration(rows, tables, restriction_of(form), 1.0, 1.0, model),
            work,
        )
        regrets += tables.regret - regret
        sums += tables.strategy_sum
    return regrets, sums


def _policy(game: cp.Game, regret: np.ndarray) -> np.ndarray:
    out = np.empty(game.n_slots)
    normalise(np.maximum(regret, 0.0), game.form.first, out)
    return out


def _regrets_on_tree(
    policy: np.ndarray, faced: np.ndarray, tree: cp.Game | None = None
) -> np.ndarray:
    """Counterfactual regrets of both players, each of whom faces the other's half of `faced`."""
    tree = tree or tree_game(RIVER_BETS)
    found = np.zeros(tree.n_slots)
    for player in (0, 1):
        slots, plex = tree.slots(player), tree.treeplexes[player]
        value = _gradient(tree, faced, player).copy()
        sigma = policy[slots]
        regret = found[slots]
        for i in range(len(plex.parent) - 1, -1, -1):
            low, high = plex.first[i], plex.first[i + 1]
            here = value[low + 1 : high + 1]
            mean = sigma[low:high] @ here
            value[plex.parent[i]] += mean
            regret[low:high] = here - mean
    return found


def _slots_on_tree(ranks: bool = False) -> np.ndarray:
    """Returns the slot of the vector-form game for every slot of the tree."""
    tree, form = tree_game(RIVER_BETS), walked_game(RIVER_BETS, ranks).form
    counts = np.diff(tree.form.first)
    place = np.arange(tree.n_slots) - np.repeat(tree.form.first[:-1], counts)
    return np.asarray(np.repeat(form.first[rows_of(RIVER_BETS, ranks)], counts) + place)


def _to_tree(slots: np.ndarray) -> np.ndarray:
    """Returns numbers by slot of the vector-form game, by slot of the tree."""
    return slots[_slots_on_tree()]


DEALS = 36 * 21 * 10 * 2  # holdings, flops and turns; one card is left for the river


@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_kuhn_and_leduc_by_the_code_of_holdem(name: str) -> None:
    """One and two streets: all public cards together give the counterfactual regrets."""
    rules, chance = rules_and_chance(name)
    n, betting, game = chance.n_holdings, betting_tree(rules), cp.load(name)
    counts = (n, n * n)[: rules.n_streets]  # on the second street: public card, private card
    first_row, first = first_rows(betting, counts), first_slots(betting, counts)
    streets, board = streets_of(betting, DTYPE), new_board(counts)
    work = new_traversal_workspace(streets, counts, DTYPE)
    four = (*streets, *[streets[-1]] * (4 - len(streets)))  # compiled for hold'em
    regret = np.random.default_rng(1).normal(size=first[-1])
    regrets = np.zeros_like(regret)
    boards = [chance.root()] if rules.n_streets == 1 else list(chance.children(1, chance.root()))
    for dealt in (one if isinstance(one, DealtBoard) else one[0] for one in boards):
        chance.lay_out(board, dealt, True)
        board.n_buckets[:] = board.size[0]
        board.bucket[:, : n + 1] = np.arange(n + 1)
        board.global_bucket[:] = board.holding
        board.global_bucket[1] += dealt.number * n
        tables = SamplingTables(regret.copy(), np.zeros_like(regret))
        rows = InfosetRows(first_row, first)
        own = FollowedRows(rows, board)
        iteration = Iteration(rows, tables, UNRESTRICTED, 1.0, 1.0, own)
        traverse_board(four, board, iteration, work)
        regrets += tables.regret - regret
    slots = []
    for label in game.labels.infoset:
        history, public, private = LABELS[name](label)
        node = betting.histories.index(history)
        bucket = private + (public * n if betting.nodes.street[node] else 0)
        row = first_row[node] + bucket
        slots.append(np.arange(first[row], first[row + 1]))
    at = np.concatenate(slots)
    policy = np.empty(len(regret))
    normalise(np.maximum(regret, 0.0), first, policy)
    wanted = _regrets_on_tree(policy[at], policy[at], game)
    deals = chance.n_pairs * chance.n_deals[-1]
    np.testing.assert_allclose(regrets[at] / deals, wanted, atol=2e-6 * np.abs(wanted).max())


@pytest.mark.first
def test_all_boards_together_give_the_counterfactual_regrets() -> None:
    game = walked_game(RIVER_BETS)
    regret = np.random.default_rng(1).normal(size=game.n_slots)
    found, _ = _summed(regret, game.form)
    policy = _to_tree(_policy(game, regret))
    wanted = _regrets_on_tree(policy, policy)
    np.testing.assert_allclose(_to_tree(found) / DEALS, wanted, atol=2e-6 * np.abs(wanted).max())


@pytest.mark.parametrize(
    ("tilt", "ranks"),
    [
        (0.25, True),
        pytest.param(0.25, False, marks=pytest.mark.slow),
        pytest.param(-0.6, False, marks=pytest.mark.slow),
        pytest.param(-1.0, True, marks=pytest.mark.slow),
        pytest.param(3.0, False, marks=pytest.mark.slow),
    ],
)
def test_what_is_won_counts_more(tilt: float, ranks: bool) -> None:
    """Against the tree of a game with tilted payoffs, with holdings as buckets (valued by sequence)
    and with few buckets (valued by bucket)."""
    game, tree = walked_game(RIVER_BETS, ranks), tree_game(RIVER_BETS, tilt)
    regret = np.random.default_rng(1).normal(size=game.n_slots)
    found, _ = _summed(regret, game.form, game, tilt)
    at = _slots_on_tree(ranks)
    policy = _policy(game, regret)[at]
    wanted = np.bincount(at, _regrets_on_tree(policy, policy, tree), game.n_slots)
    np.testing.assert_allclose(found / DEALS, wanted, atol=3e-6 * np.abs(wanted).max())


@pytest.mark.parametrize("tilt", [0.25, pytest.param(0.0, marks=pytest.mark.slow)])
@pytest.mark.parametrize("restricted", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_model_of_other_buckets(restricted: int, tilt: float) -> None:
    """The responder sees ranks, the model holdings: a mixture of both, by the coin."""
    game, p, tree = walked_game(RIVER_BETS, True), 0.7, tree_game(RIVER_BETS, tilt)
    regret = np.random.default_rng(2).normal(size=game.n_slots)
    model = random_strategy(walked_game(RIVER_BETS), 3)
    other = OtherModel(model.game.form, model.probabilities)
    form = restricted_form(game.form, other, restricted, p)
    found, _ = _summed(regret, form, game, tilt)
    at = _slots_on_tree(True)
    policy, fixed = _policy(game, regret)[at], on_tree(model, RIVER_BETS).probabilities
    free = _regrets_on_tree(policy, policy, tree)
    tied = policy.copy()
    tied[tree.slots(restricted)] = fixed[tree.slots(restricted)]
    against = _regrets_on_tree(policy, tied, tree)
    each, responder = free.copy(), tree.slots(1 - restricted)
    each[responder] = (1 - p) * free[responder] + p * against[responder]
    wanted = np.bincount(at, each, game.n_slots)
    np.testing.assert_allclose(found / DEALS, wanted, atol=3e-6 * np.abs(wanted).max())


@pytest.mark.slow
@pytest.mark.parametrize("restricted", [0, 1])
def test_the_same_with_one_coin(restricted: int) -> None:
    """Whoever responds faces the mixture of the model and the restricted player."""
    game, p = walked_game(RIVER_BETS), 0.7
    tree = tree_game(RIVER_BETS)
    regret = np.random.default_rng(2).normal(size=game.n_slots)
    model = random_strategy(game, 3)
    found, _ = _summed(regret, restricted_form(game.form, model.probabilities, restricted, p))
    policy, fixed = _to_tree(_policy(game, regret)), on_tree(model, RIVER_BETS).probabilities
    free = _regrets_on_tree(policy, policy)
    tied = policy.copy()
    tied[tree.slots(restricted)] = fixed[tree.slots(restricted)]
    against = _regrets_on_tree(policy, tied)
    wanted, responder = free.copy(), tree.slots(1 - restricted)
    wanted[responder] = (1 - p) * free[responder] + p * against[responder]
    np.testing.assert_allclose(_to_tree(found) / DEALS, wanted, atol=2e-6 * np.abs(wanted).max())


@pytest.mark.slow
def test_the_same_with_a_coin_at_each_information_set() -> None:
    """The responder faces the biased policy; so is the value handed up, and the restricted
    player learns for the share of his that is free."""
    game, tree = walked_game(RIVER_BETS), tree_game(RIVER_BETS)
    rng = np.random.default_rng(4)
    regret, trust = rng.normal(size=game.n_slots), rng.random(game.n_infosets)
    model = random_strategy(game, 5)
    found, _ = _summed(regret, data_biased_form(game.form, model.probabilities, 0, trust))
    policy = _policy(game, regret)
    share = np.repeat(trust, np.diff(game.form.first))
    mine = game.slots(0)
    biased = policy.copy()
    biased[mine] = share[mine] * model.probabilities[mine] + (1 - share[mine]) * policy[mine]
    wanted = _regrets_on_tree(_to_tree(policy), _to_tree(biased))
    responder = tree.slots(1)
    np.testing.assert_allclose(
        _to_tree(found)[responder] / DEALS,
        wanted[responder],
        atol=2e-6 * np.abs(wanted).max(),
    )


@pytest.mark.slow
def test_values_by_bucket_are_those_by_sequence() -> None:
    """Both ways to value the last street, on a real board."""
    game = cp.load("holdem(buckets=10)")
    solver = new_solver(game, "mccfr-public", 1, {})
    solver.step(12)
    regret = solver.tables()["regret"].copy()
    worker, rows = solver._pool.workers[0], InfosetRows(game.form.first_row, game.form.first)
    found = []
    for few in (True, False):
        tables = SamplingTables(regret.copy(), np.zeros(game.n_slots))
        restriction = restriction_of(solver.form)
        if not few:  # one coin that never falls on the model: the other way is taken
            restriction = restriction._replace(
                restricted=0, per_hand=True, fixed=np.zeros(game.n_slots)
            )
        own = FollowedRows(rows, worker.workspace.board)
        traverse_board(
            solver._streets,
            worker.workspace.board,
            Iteration(rows, tables, restriction, 1.0, 1.0, own),
            worker.workspace.work,
        )
        found.append(tables.regret - regret)
    np.testing.assert_allclose(found[0], found[1], atol=2e-5 * np.abs(found[1]).max())


@pytest.mark.slow
@pytest.mark.parametrize("averaging", ["linear", "uniform"])
def test_it_converges_to_an_equilibrium(averaging: str) -> None:
    game, tree = walked_game(RIVER_BETS), tree_game(RIVER_BETS)
    solver = new_solver(game, "mccfr-public", 1, {"averaging": averaging})
    gaps = []
    for n in (3_000, 97_000):  # there are 2,520 boards
        solver.step(n)
        gaps.append(cp.exploitability(tree, on_tree(solver.strategy(), RIVER_BETS)))
    uniform = cp.exploitability(tree, cp.Strategy.uniform(tree))
    assert gaps[0] < uniform
    assert gaps[1] < 0.1 * gaps[0]


@pytest.mark.slow
def test_responses_converge(tmp_path: Path) -> None:
    """What `mcrnr` maximises, beside the exact optimum of the tree."""
    game, tree, p = walked_game(RIVER_BETS), tree_game(RIVER_BETS), 0.6
    model = random_strategy(game, 7)
    twin = on_tree(model, RIVER_BETS)
    found = cp.respond(game, model, 0, p, "mcrnr", engine="mccfr-public", iterations=60_000, seed=1)
    best = cp.respond(tree, twin, 0, p, "rnr", iterations=300)
    reached, wanted = (
        _objective(tree, twin, profile, p)
        for profile in (on_tree(found.strategy, RIVER_BETS), best.strategy)
    )
    assert reached == pytest.approx(wanted, abs=0.02)


def _objective(tree: cp.Game, model: cp.Strategy, response: cp.Strategy, p: float) -> float:
    won = cp.expected_value(tree, model.replace(response, 0))[0]
    return float(p * won - (1 - p) * cp.best_response(tree, response, 1).value)


# --- the contract


def test_same_bits_however_it_is_cut(tmp_path: Path) -> None:
    game = cp.load("holdem(buckets=10)")
    whole = cp.solve(game, "mccfr-public", iterations=6, seed=3)
    cp.solve(game, "mccfr-public", iterations=4, seed=3, folder=tmp_path / "run")
    cut = cp.resume(tmp_path / "run", iterations=6)
    for name, array in whole._solver.arrays().items():
        assert np.array_equal(array, cut._solver.arrays()[name]), name


@pytest.mark.slow
def test_threads_give_the_same_bits_and_learn_as_well() -> None:
    game, tree = walked_game(RIVER_BETS), tree_game(RIVER_BETS)
    gaps = []
    for threads in (1, 2):
        solvers = [new_solver(game, "mccfr-public", 1, {"threads": threads}) for _ in range(2)]
        solvers[0].step(30_000)
        for n in (700, 1, 29_299):
            solvers[1].step(n)
        first, second = (solver.policy() for solver in solvers)
        assert np.array_equal(first, second)
        gaps.append(cp.exploitability(tree, on_tree(solvers[0].strategy(), RIVER_BETS)))
    assert gaps[1] < 1.6 * gaps[0]


def test_other_games_have_no_board() -> None:
    with pytest.raises(BadParameter, match="kuhn has none"):
        cp.solve("kuhn", "mccfr-public", iterations=1)
    with pytest.raises(BadParameter, match="averaging must be one of linear, uniform"):
        cp.solve("holdem(buckets=10)", "mccfr-public", iterations=1, averaging="quadratic")


@pytest.mark.parametrize(
    ("tilt", "message"),
    [
        (-1.5, "tilt must be from -1 to 30, not -1.5"),
        (1e9, "tilt must be from -1 to 30"),
        ("0.25", "tilt must be a number, not '0.25'"),
        (float("nan"), "tilt must be a number, not nan"),
        (True, "tilt must be a number, not True"),
    ],
)
def test_tilts_that_are_none(tilt: Any, message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        cp.solve("holdem(buckets=10)", "mccfr-public", iterations=1, tilt=tilt)


def test_a_tilt_is_an_option_of_a_run(tmp_path: Path) -> None:
    """It is recorded and resumed with the same bits; a tilt of 0 is none."""
    game, options = cp.load("holdem(buckets=10)"), {"seed": 3, "iterations": 5}
    whole = cp.solve(game, "mccfr-public", tilt=0.25, **options)
    assert whole.parameters == {"averaging": "linear", "tilt": 0.25}
    cp.solve(game, "mccfr-public", tilt=0.25, iterations=2, seed=3, folder=tmp_path / "run")
    cut = cp.resume(tmp_path / "run", iterations=5)
    plain, none = (cp.solve(game, "mccfr-public", **options, **one) for one in ({}, {"tilt": 0.0}))
    assert none.parameters == plain.parameters
    for name, array in whole._solver.arrays().items():
        assert np.array_equal(array, cut._solver.arrays()[name]), name
        assert np.array_equal(plain._solver.arrays()[name], none._solver.arrays()[name]), name
    assert not np.array_equal(whole._solver.policy(), plain._solver.policy())


def test_responses_to_a_model_of_other_buckets(tmp_path: Path) -> None:
    """From a name to the run folder; a coin at each information set needs the same buckets."""
    game, model = cp.load("holdem(buckets=10)"), cp.load("holdem(buckets=3)")
    opponent = cp.Strategy.random(model, 1)
    options: dict[str, Any] = {"p": 0.5, "engine": "mccfr-public", "seed": 1}
    found = cp.respond(game, opponent, algorithm="mcrnr", iterations=4, **options)
    folder = tmp_path / "run"
    cp.respond(game, opponent, algorithm="mcrnr", iterations=2, folder=folder, **options)
    cut = cp.resume_response(folder, iterations=4)
    assert np.array_equal(found.strategy.probabilities, cut.strategy.probabilities)
    uniform = cp.respond(
        game, cp.Strategy.uniform(model), algorithm="mcrnr", iterations=4, **options
    )
    assert not np.array_equal(found.strategy.probabilities, uniform.strategy.probabilities)
    for algorithm, engine in (("mcdbr", "mccfr-public"), ("mcrnr", "mccfr-external")):
        with pytest.raises(BadStrategy, match=r"not for|cannot play"):
            cp.respond(game, opponent, algorithm=algorithm, iterations=1, p=0.5, engine=engine)
