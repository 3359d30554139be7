"""Values by traversing boards: equal to those of the game tree where there is one, and to known
answers."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.stats
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
from counterplay.core.evaluation.estimate import FlopEstimate, stratified_half
from counterplay.core.kernels.simd import LANES
from counterplay.poker.betting.betting import LIMIT, BettingRules, betting_tree
from counterplay.poker.holdem.table import code_counts, strategy_table
from counterplay.poker.players import bot
from counterplay.poker.vector import flop_values
from counterplay.poker.vector.cuda_betting import tree_code
from counterplay.poker.vector.cuda_columns import columns_of
from counterplay.poker.vector.flop_sums import draw_flops, flop_sample
from counterplay.poker.vector.flop_values import PreparedQuery, ValueQuery
from counterplay.poker.vector.public_tree import streets_of
from counterplay.poker.vector.suit_permutations import (
    FULL_DECK,
    check_suits,
    find_stabilizer,
    flops_of,
    orbit_size,
    suit_permutations,
)


@pytest.mark.parametrize(
    "ranks", [False, pytest.param(True, marks=pytest.mark.slow)], ids=["all apart", "ranks only"]
)
@pytest.mark.parametrize(
    "betting", [RIVER_BETS, pytest.param(FLOP_BETS, marks=pytest.mark.slow)], ids=["river", "flop"]
)
def test_the_walk_gives_what_the_sequence_form_gives(betting: BettingRules, ranks: bool) -> None:
    game, tree = walked_game(betting, ranks), tree_game(betting)
    strategy = random_strategy(game, 1)
    twin = on_tree(strategy, betting, ranks)
    np.testing.assert_allclose(
        cp.expected_value(game, strategy), cp.expected_value(tree, twin), atol=1e-9
    )
    for player in (0, 1):
        found = cp.best_response(game, strategy, player)
        assert found.value == pytest.approx(cp.best_response(tree, twin, player).value, abs=1e-9)
        assert found.strategy is None
    assert cp.exploitability(game, strategy) == pytest.approx(
        cp.exploitability(tree, twin), abs=1e-9
    )


@pytest.mark.parametrize("best", [False, True])
def test_one_of_suit_isomorphic_boards_is_enough(best: bool) -> None:
    """A short deck with all its boards, and with one of each class."""
    game = walked_game(RIVER_BETS, True)
    table = strategy_table(random_strategy(game, 2))
    query = ValueQuery(1, table, None if best else table)
    every, some = (_prepared(game, query, symmetric=symmetric) for symmetric in (False, True))
    assert len(some.flops) < len(every.flops) == 84
    assert _value(some) == pytest.approx(_value(every), abs=1e-12)


def _prepared(game: cp.Game, query: ValueQuery, **options: Any) -> PreparedQuery:
    return PreparedQuery(query, game.rules.tree, game.rules.abstraction.deck, **options)


def _value(prepared: PreparedQuery) -> float:
    total = sum(
        prepared.weight[flop] * values
        for flop, (values,) in flop_values.values_on_cpu([prepared], range(len(prepared.flops)), 2)
    )
    return prepared.game_value(np.asarray(total))


@pytest.mark.slow
def test_single_precision_is_near() -> None:
    game = walked_game(RIVER_BETS)
    table = strategy_table(random_strategy(game, 3))
    found = []
    for dtype in (np.float32, np.float64):
        prepared = _prepared(game, ValueQuery(0, table), dtype=dtype)
        values = [v for _, (v,) in flop_values.values_on_cpu([prepared], [0, 5], 1)]
        found.append(np.array(values))
    np.testing.assert_allclose(found[0], found[1], atol=1e-5 * np.abs(found[1]).max())


@pytest.mark.slow
def test_a_mixed_pair_of_tables() -> None:
    """Either seat may see the cards in a way of its own."""
    fine, coarse = walked_game(RIVER_BETS), walked_game(RIVER_BETS, True)
    mine, his = random_strategy(fine, 4), random_strategy(coarse, 5)
    query = ValueQuery(0, strategy_table(his), strategy_table(mine))
    twins = on_tree(mine, RIVER_BETS), on_tree(his, RIVER_BETS, True)
    tree = tree_game(RIVER_BETS)
    wanted = cp.expected_value(tree, twins[1].replace(twins[0], 0))[0]
    assert _value(_prepared(fine, query)) == pytest.approx(wanted, abs=1e-9)


def test_decisions_may_share_their_rows() -> None:
    """Sparbot's do: he forgets some of the betting."""
    game = walked_game(RIVER_BETS, True)
    table = strategy_table(random_strategy(game, 1))
    nodes = game.rules.tree.nodes
    counts = code_counts(table, game.rules.tree)
    river = nodes.node[nodes.street[nodes.node] == 3]
    one, other = river[nodes.player[river] == 0][:2]
    first = table.first_row.copy()
    first[other] = first[one]
    assert code_counts(table._replace(first_row=first), game.rules.tree) == counts == (9,) * 4


def test_who_stops_waits_for_no_flop(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is under way is told, and a walk that is told ends."""
    game = walked_game(RIVER_BETS, True)
    table = strategy_table(random_strategy(game, 1))
    query = _prepared(game, ValueQuery(0, table))
    traversal = query.new_traversal()
    monkeypatch.setattr(PreparedQuery, "new_traversal", lambda _: traversal)
    values = flop_values.values_on_cpu([query], range(len(query.flops)), 1)
    next(values)
    assert not traversal.stopped
    values.close()  # type: ignore[attr-defined]  # as Ctrl-C does
    assert traversal.stopped
    traversal.stopped = False
    assert query.value(0, traversal).any()
    traversal.stopped = True
    assert not query.value(0, traversal).any()


# --- boards


def test_kinds_of_flops() -> None:
    group = suit_permutations(tuple(range(52)))
    found, weight = flops_of(tuple(range(52)), group)
    assert len(found) == 1755
    assert weight.sum() == 22_100
    assert np.array_equal(np.sort(group.card[0]), np.arange(52))
    for holdings in group.holding:
        assert np.array_equal(np.sort(holdings), np.arange(1326))


def _count_boards() -> tuple[int, int, int]:
    """Returns the numbers of flops, turns and rivers that are not suit-isomorphic."""
    deck = FULL_DECK
    group = suit_permutations(deck)
    flops, _ = flops_of(deck, group)
    turns = rivers = 0
    every = np.arange(len(group.card))
    on_flop, on_turn = np.zeros_like(every), np.zeros_like(every)
    for flop in flops:
        n = find_stabilizer(group.card, every, flop, len(every), on_flop)
        for turn in deck:
            if turn not in flop and orbit_size(group.card, on_flop, n, turn):
                turns += 1
                m = find_stabilizer(group.card, on_flop, np.array([turn]), n, on_turn)
                board = {*flop.tolist(), turn}
                rivers += sum(
                    orbit_size(group.card, on_turn, m, k) > 0 for k in deck if k not in board
                )
    return len(flops), turns, rivers


@pytest.mark.slow
def test_kinds_of_turns_and_rivers() -> None:
    assert _count_boards() == (1_755, 63_193, 2_554_656)


def test_an_abstraction_that_tells_suits_apart_is_refused() -> None:
    cards = cp.load("holdem(buckets=10)").form.cards
    check_suits(cards)
    for name in ("preflop", "early", "river_entry"):
        table = getattr(cards, name).copy()
        row = table if name == "preflop" else table[3]
        row[1000] = row[1000] + 1
        with pytest.raises(BadParameter, match="tells suits apart"):
            check_suits(
                cards._replace(
                    **{name: table, "early": table if name == "early" else cards.early.copy()}
                )
            )


# --- estimates


def test_strata_are_drawn_by_weight() -> None:
    prepared = PreparedQuery(ValueQuery(0, bot("always-call").table), betting_tree(LIMIT))
    drawn = draw_flops(prepared, 40, 1)
    assert sum(len(members) for members, _ in drawn) == 40
    assert sum(share for _, share in drawn) == pytest.approx(1.0)
    assert all(len(members) >= 2 for members, _ in drawn)
    again = draw_flops(prepared, 40, 1)
    assert all(np.array_equal(a, b) for (a, _), (b, _) in zip(drawn, again, strict=True))


def test_intervals_of_strata_are_students() -> None:
    """One stratum is the textbook's interval; two that are alike have the freedom of both; one
    without spread adds nothing."""
    sample = np.array([1.0, 4.0, 2.0, 7.0, 5.0])
    textbook = scipy.stats.t.interval(0.95, 4, loc=0.0, scale=scipy.stats.sem(sample))[1]
    assert stratified_half([(sample, 1.0)]) == pytest.approx(textbook, rel=1e-12)
    both = scipy.stats.t.ppf(0.975, 8) * scipy.stats.sem(sample) / np.sqrt(2)
    assert stratified_half([(sample, 0.5), (sample + 3, 0.5)]) == pytest.approx(both, rel=1e-12)
    still = np.zeros(2)
    assert stratified_half([(sample, 0.5), (still, 0.5)]) == pytest.approx(textbook / 2)
    assert stratified_half([(still, 1.0)]) == 0.0


@pytest.mark.slow
def test_an_estimate_covers_the_truth_as_often_as_it_says() -> None:
    """Flops of made-up values: about 95% of intervals hold the sum over all flops, and choosing
    before the flop by the sample makes it too high, by about what is measured."""
    prepared = PreparedQuery(ValueQuery(0, bot("always-call").table), betting_tree(LIMIT))
    rng = np.random.default_rng(5)
    base, slope = (
        np.mean([values[:, holdings] for holdings in prepared.permuted], axis=0)
        for values in rng.normal(size=(2, 1, 1326, LANES))
    )
    noise = rng.normal(size=len(prepared.flops))
    values = 2000 * base + (noise * 500)[:, None, None] * (2.0 + slope)
    truth = prepared.game_value(np.tensordot(prepared.weight, values, 1)[None])
    covered, above, bias = [], [], []
    for seed in range(80):
        drawn = draw_flops(prepared, 40, seed)
        strata = [(values[members][:, None], share) for members, share in drawn]
        found = flop_sample(prepared, strata).estimate()
        covered.append(abs(found - truth) <= found.error)
        above.append(found - truth)
        bias.append(found.bias)
    assert 0.87 <= np.mean(covered) <= 1.0
    assert abs(np.mean(bias) - np.mean(above)) < 4 * np.std(above) / np.sqrt(len(above))


def test_an_estimate_says_what_it_is() -> None:
    found = FlopEstimate(0.25, 0.031, 0.002, 40)
    assert str(found) == "0.25 ± 0.031 (95%, from 40 flops)"
    assert found + 1 == 1.25


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"backend": "tpu"}, "backend must be one of auto, cpu, cuda"),
        ({"flops": 3}, "at least 12 flops"),
        ({}, "hours on .* processors"),
        ({"flops": True}, "whole number"),
        ({"flops": 2.5}, "whole number"),
    ],
)
def test_wrong_options(options: dict[str, object], sentence: str) -> None:
    game = cp.load("holdem(buckets=10)")
    with pytest.raises(BadParameter, match=sentence):
        cp.exploitability(game, cp.Strategy.uniform(game), **options)


def test_other_games_take_no_such_options() -> None:
    game = cp.load("kuhn")
    with pytest.raises(BadParameter, match="flops is for games that are evaluated by traversing"):
        cp.exploitability(game, cp.Strategy.uniform(game), flops=40)


# --- the device


def test_what_a_device_runs_is_the_betting() -> None:
    """The straight code of a street, read as Python, gives what its tree gives."""
    (*_, street) = streets_of(betting_tree(LIMIT))
    code = "\n".join(tree_code(street, 1, None, str))
    assert code.count("fmaxf") == sum(
        int(street.first_child[k + 1] - street.first_child[k]) - 1
        for k in np.flatnonzero(street.player == 1)
    )
    columns = columns_of(street, 1)
    assert columns.counts == (5, 4, 4)  # thirteen instead of seventeen
    assert sorted(columns.terminals) == street.terminals.tolist()
    assert code.count("fold(") == code.count("-fold(") == 4  # his own folds
    assert (code.count("showdown("), code.count("both(")) == (5, 4)


def test_a_device_that_is_not_there_is_said_so() -> None:
    game = cp.load("holdem(buckets=10)")
    try:
        import cupy

        if cupy.cuda.runtime.getDeviceCount() > 0:
            pytest.skip("there is a CUDA device here")
    except Exception:
        pass
    with pytest.raises(BadParameter, match="backend=cpu"):
        cp.exploitability(game, cp.Strategy.uniform(game), backend="cuda")


@pytest.mark.skipif(COMPILER is None, reason="needs g++, and there is none")
@pytest.mark.parametrize("best", [False, True])
@pytest.mark.parametrize(
    "betting", [RIVER_BETS, pytest.param(FLOP_BETS, marks=pytest.mark.slow)], ids=["river", "flop"]
)
def test_kernels_of_a_device_give_what_processors_give(betting: BettingRules, best: bool) -> None:
    """Both seats, on boards of a short deck."""
    game = walked_game(betting, True)
    table = strategy_table(random_strategy(game, 6))
    asked = [
        _prepared(game, ValueQuery(player, table, None if best else table)) for player in (0, 1)
    ]
    cpu, gpu = (
        list(flop_values.values_on_cpu(asked, [0, 5], 1)),
        list(flop_values.values_on_device(asked, [0, 5], 1, EmulatedDevice())),
    )
    for (flop, wanted), (same, found) in zip(cpu, gpu, strict=True):
        assert flop == same
        np.testing.assert_allclose(found, wanted, atol=1e-6 * np.abs(wanted).max())


@pytest.mark.skipif(not has_device(), reason="needs a CUDA device, and there is none")
def test_a_device_gives_what_processors_give() -> None:
    game = cp.load("holdem(buckets=10)")
    table = strategy_table(cp.solve(game, "mccfr-external", iterations=20_000, seed=1).strategy)
    for player in (0, 1):
        for by in (None, table):
            prepared = PreparedQuery(ValueQuery(player, table, by), game.rules.tree)
            ((_, (cpu,)),) = flop_values.values_on_cpu([prepared], [0])
            ((_, (gpu,)),) = flop_values.values_on_device([prepared], [0])
            np.testing.assert_allclose(gpu, cpu, atol=1e-5 * np.abs(cpu).max())
