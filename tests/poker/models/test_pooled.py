"""A model from few hands: frequencies of each line and bucket, shrunk to a prior."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.arena import holdem, strategy
from support.rule_bots import RuleBot, facing, rule_bot

import counterplay as cp
from counterplay.poker.betting.betting import nodes_and_buckets
from counterplay.poker.bots.bot import View
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.models.model import by_action
from counterplay.poker.models.observe import Observations, observe
from counterplay.poker.models.pooled import OWN, POOL, _Pools, line_of, pooled_model


def watched(path: Path, player: RuleBot, by: str, hands: int, shown: bool = True) -> Observations:
    """Hands of a player by rules against a bot."""
    log: dict[str, object] = {"log": path, "observer": None if shown else "a"}
    options = {"processes": 1, "duplicate": False, "luck_adjusted": False, **log}
    cp.play_match(holdem(), by, player, hands, 3, **options)
    return observe(read_parquet(path), player.name)


def test_a_line_is_a_street_its_bets_and_a_seat() -> None:
    tree = holdem().rules.tree
    lines = line_of(tree)
    found: dict[int, set[tuple[int, int, int]]] = {}
    legal: dict[int, set[tuple[str, ...]]] = {}
    for node, state in enumerate(tree.states):
        if not state.over:
            bets = tree.histories[node].rsplit("/", 1)[-1].count("r")
            found.setdefault(int(lines[node]), set()).add((state.round, bets, state.player()))
            legal.setdefault(int(lines[node]), set()).add(tuple(tree.actions[node]))
    assert all(len(one) == 1 for one in found.values())
    assert all(len(one) == 1 for one in legal.values())
    assert len({next(iter(one)) for one in found.values()}) == len(found)


def test_the_frequencies_of_a_pool_are_shrunk_to_the_priors() -> None:
    """One line and bucket by hand: the same base at every information set, where nothing of its
    own was seen; where something was, it counts against `OWN` observations of the base."""
    game, prior = holdem(), strategy(1)
    tree = game.rules.tree
    node, bucket = nodes_and_buckets(tree, game.rules.abstraction.counts)
    line = line_of(tree)
    flop = tree.histories.index("rc/r")
    pool = np.flatnonzero((line[node] == line[flop]) & (bucket == 4))
    assert len(pool) > 1
    counts = np.zeros((game.n_infosets, 3))
    counts[pool[0]] = (6.0, 3.0, 1.0)
    model = _Pools(game, prior).shrunk(counts)
    expected = by_action(prior.probabilities, game)[pool[0]]
    base = (counts[pool[0]] + POOL * expected) / (10.0 + POOL)
    assert model[pool[1]] == pytest.approx(base, abs=1e-4)
    own = (counts[pool[0]] + OWN * base) / (10.0 + OWN)
    assert model[pool[0]] == pytest.approx(own, abs=1e-4)
    assert model.sum(axis=1) == pytest.approx(1.0)
    assert (model[game.rules.slots() < 0] == 0.0).all()


def test_nothing_observed_leaves_the_mean_of_the_prior() -> None:
    game = holdem()
    uniform = simple_strategy("uniform", game)
    model = _Pools(game, uniform).shrunk(np.zeros((game.n_infosets, 3)))
    assert model == pytest.approx(by_action(uniform.probabilities, game), abs=1e-5)


@pytest.mark.parametrize("shown", [True, False])
def test_what_a_player_never_does_is_learnt_soon(shown: bool, tmp_path: Path) -> None:
    """A player who never folds, from a prior who often does, with and without his cards."""
    seen = watched(tmp_path / "hands.parquet", rule_bot("station"), "always-call", 300, shown)
    game, prior = holdem(), simple_strategy("uniform", holdem())
    model = by_action(pooled_model(seen, prior).probabilities, game)
    nodes = np.unique(seen.node)
    rows = np.concatenate([game.form.first_row[nodes] + k for k in range(10)])
    assert model[rows, 1].mean() > 0.8
    again = pooled_model(seen, prior, cp.Strategy(game, pooled_model(seen, prior).probabilities))
    assert again.probabilities == pytest.approx(
        pooled_model(seen, prior, rounds=12).probabilities, abs=1e-6
    )


def test_who_folds_to_a_bet_is_not_believed_to_fold_to_a_raise(tmp_path: Path) -> None:
    """On the flop, also at information sets that were never come to; the prior folds a third."""

    def stubborn(bot: RuleBot, view: View) -> str:
        if view.betting.round == 1 and facing(view) and view.betting.bets == 1:
            return "fold"
        return "raise" if view.betting.round == 1 and bot.often(0.5) else "call"

    seen = watched(tmp_path / "hands.parquet", RuleBot("stubborn", stubborn), "uniform", 1_000)
    game = holdem()
    model = by_action(pooled_model(seen, simple_strategy("uniform", game)).probabilities, game)
    tree = game.rules.tree
    node, _ = nodes_and_buckets(tree, game.rules.abstraction.counts)
    line, folds = line_of(tree)[node], game.rules.slots()[:, 0] >= 0
    for history, least, most in (("rc/r", 2 / 3, 1.0), ("rc/rr", 0.0, 1 / 3)):
        rows = (line == line_of(tree)[tree.histories.index(history)]) & folds
        assert least <= model[rows, 0].mean() <= most
