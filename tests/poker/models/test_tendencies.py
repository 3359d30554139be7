"""Tendencies: counted by hand, intervals that cover, and a leak that is found where it was put."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.games.locks import lock_model, locked, read_locks
from counterplay.poker.betting.betting import betting_tree
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.histories.records import RULES, HandRecord, settle
from counterplay.poker.holdem.bucket_pairs import value_against
from counterplay.poker.models.tendencies import (
    TendencyCounts,
    counted_locks,
    group_cost,
    group_names,
    groups_of,
    leaks,
    shift_rows,
    tendencies,
    wilson,
)

BOARD = (40, 45, 50, 3, 6)
CARDS = (0, 1), (8, 9)


def hand(betting: str, dealer: str = "me") -> HandRecord:
    streets = betting.count("/")
    board = BOARD[: (0, 3, 4, 5)[streets]]
    names = (dealer, "other") if dealer == "me" else ("other", "me")
    won = settle(betting, board, *CARDS)
    assert won is not None
    return HandRecord(1, *names, betting, board, *CARDS, won)


HANDS = [
    hand("f"),  # open-fold
    hand("cc/cc/cc/cc"),  # limps, and checks to a showdown
    hand("rc/cr" + "f"),  # raises, bets the flop
    hand("rrf"),  # raises and folds to a re-raise
    hand("cc/rf", "other"),  # in the big blind: checks, bets the flop
    hand("rf", "other"),  # folds to a raise
    hand("rc/crf", "other"),  # calls, checks, folds to a bet
]


def test_what_poker_players_count() -> None:
    found = TendencyCounts(HANDS, "me")
    assert found.hands == 7
    counted = {(name, seat): found.share(name, seat)[:2] for name, seat in found.names()}
    assert counted["VPIP", "dealer"] == (3, 4)
    assert counted["VPIP", "big blind"] == (1, 3)  # a check is free
    assert counted["PFR", "both"] == (2, 7)
    assert counted["went to showdown", "both"] == (1, 4)
    assert counted["aggression", "dealer"] == (1, 1)
    assert counted["aggression", "big blind"] == (1, 2)  # a bet and a fold; a check is neither
    assert counted["folds preflop, first to act", "dealer"] == (1, 4)
    assert counted["folds preflop, facing a re-raise", "dealer"] == (1, 1)
    assert counted["folds preflop, facing a raise", "big blind"] == (1, 2)
    assert counted["folds flop, facing a bet", "big blind"] == (1, 1)
    assert ("folds flop, facing a bet", "dealer") not in counted
    assert [name for name, _ in found.names()][:3] == ["VPIP"] * 3
    assert TendencyCounts(HANDS, "nobody").hands == 0


def test_every_decision_has_one_group_with_a_name() -> None:
    tree = betting_tree(RULES)
    groups = groups_of(tree)[tree.nodes.node]
    names = {group_names(int(group)) for group in groups}
    assert ("dealer", "preflop", "first to act") in names
    assert ("big blind", "preflop", "nobody has raised") in names
    assert ("dealer", "preflop", "nobody has raised") not in names
    assert ("big blind", "river", "facing a raise") in names
    assert len(names) == len(set(groups.tolist()))


def test_intervals_cover_as_often_as_they_say() -> None:
    """By enumeration of the binomial, for every n and p: 95% on the mean, nowhere much less."""
    from scipy.stats import binom

    coverage = []
    for n in (20, 60):
        spans = [wilson(k, n)[3:] for k in range(n + 1)]
        for p in np.linspace(0.03, 0.97, 48):
            inside = [low <= p <= high for low, high in spans]
            coverage.append(float(binom.pmf(np.arange(n + 1), n, p) @ inside))
    assert 0.945 < np.mean(coverage) < 0.965
    assert min(coverage) > 0.85
    assert wilson(0, 10).low == 0.0
    assert wilson(10, 10).high == 1.0
    assert np.isnan(wilson(0, 0).share)


@pytest.mark.slow
def test_no_change_costs_nothing() -> None:
    game = cp.load("holdem(buckets=2)")
    strategy = cp.Strategy.random(game, 2)
    nodes = np.flatnonzero(groups_of(game.rules.tree) == 13)
    usual = np.array([0.2, 0.5, 0.3])
    base = value_against(game, strategy.probabilities, strategy.probabilities)
    assert group_cost(strategy, nodes, usual, usual) == pytest.approx(base, abs=1e-12)


@pytest.mark.slow
def test_a_leak_is_found_where_it_was_put_and_costs_what_it_loses(tmp_path: Path) -> None:
    game = cp.load("holdem(buckets=10)")
    strategy = cp.solve(game, "mccfr-external", iterations=150_000, seed=1).strategy

    def played(one: cp.Strategy, name: str, hands: int) -> TendencyCounts:
        log = tmp_path / f"{name}.parquet"
        pair = strategy_bot(strategy, "other"), strategy_bot(one, name)
        options = {"duplicate": False, "luck_adjusted": False, "log": log}
        cp.play_match(game, *pair, hands, **options)
        return TendencyCounts(read_parquet(log), name)

    usual = played(strategy, "usual", 10_000)
    folder = locked(strategy, ["river fold 0.9"])
    found = played(folder, "folder", 4_000)
    confirmed = leaks(found, usual, strategy)
    assert {(leak.street, leak.action) for leak in confirmed[:2]} == {("river", "fold")}
    for leak in confirmed[:2]:
        assert leak.found.share == pytest.approx(0.9, abs=0.06)
    whole = value_against(game, strategy.probabilities, folder.probabilities)
    assert sum(leak.cost for leak in confirmed) == pytest.approx(whole, rel=0.35)
    assert leaks(played(strategy, "same", 4_000), usual, strategy) == []
    marks = {(t.name, t.seat): t.mark for t in tendencies(found, usual)}
    assert marks["VPIP", "both"] == usual.share("VPIP", "both").share


@pytest.mark.parametrize("seed", range(5))
def test_rows_get_the_mean_and_stay_probabilities(seed: int) -> None:
    rng = np.random.default_rng(seed)
    rows, target = rng.dirichlet(np.ones(3), 20), rng.dirichlet(np.ones(3))
    rows[0], rows[1] = [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]
    weight = rng.dirichlet(np.ones(20))
    for wanted in (target, np.array([1.0, 0.0, 0.0]), weight @ rows):
        shifted = shift_rows(rows, weight @ rows, wanted)
        assert shifted.sum(axis=1) == pytest.approx(1.0)
        assert shifted.min() >= 0
        assert weight @ shifted == pytest.approx(wanted)
    assert shift_rows(rows, weight @ rows, weight @ rows) == pytest.approx(rows)


def test_counts_are_a_file_of_locks(tmp_path: Path) -> None:
    path = tmp_path / "me.toml"
    path.write_text(counted_locks(TendencyCounts(HANDS, "me"), 'm"e'))
    locks = {lock.at: lock for lock in read_locks(path)}
    opening = locks["dealer preflop facing bet"]
    assert opening.play == pytest.approx({"fold": 0.25, "call": 0.25, "raise": 0.5})
    assert opening.trust == pytest.approx(4 / 14, abs=1e-4)
    assert locks["bb flop facing nothing"].play == pytest.approx({"call": 0.5, "raise": 0.5})
    assert locks["dealer preflop facing re-raise"].play["fold"] == 1.0
    random = cp.Strategy.random(cp.load("holdem(buckets=2)"), 1)
    found = lock_model(random, read_locks(path))
    rows = np.unique(found.trust[~np.isnan(found.trust)])
    assert set(rows.round(4)) == {lock.trust for lock in locks.values()}
    open_slots = random.game.rules.slots()[random.game.form.first_row[0] + np.arange(2)]
    assert np.ptp(found.strategy.probabilities[open_slots].mean(axis=0) - [0.25, 0.25, 0.5]) < 0.2
