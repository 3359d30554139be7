"""Locks: the frequency that was asked for is met exactly, other decisions stay, and a response to a
locked strategy wins by it."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.command import typed

import counterplay as cp
from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.games.locks import locked, parse_lock, read_locks
from counterplay.poker.betting.betting import nodes_and_buckets
from counterplay.poker.holdem.locks import _nodes, lock_decisions


def test_a_small_game_by_names_of_information_sets() -> None:
    uniform = cp.Strategy.uniform("kuhn")
    found = locked(uniform, ["K bet 0.9", "J* pass 1"])
    assert found.at("K") == pytest.approx({"pass": 0.1, "bet": 0.9})
    assert found.at("J b") == pytest.approx({"pass": 1.0, "bet": 0.0})
    assert found.at("Q") == pytest.approx({"pass": 0.5, "bet": 0.5})
    equilibrium = cp.solve("kuhn", "lp").strategy
    folds = locked(equilibrium, ["K b pass 1"])  # kings, to a bet
    assert cp.respond("kuhn", equilibrium, p=1.0).payoff == pytest.approx(0.0, abs=1e-6)
    assert cp.respond("kuhn", folds, p=1.0).payoff > 0.1


def test_whose_strategy_is_locked() -> None:
    run = cp.solve("kuhn", "cfr+", iterations=10)
    assert locked(run, "K bet 0.9").at("K")["bet"] == pytest.approx(0.9)
    for nothing in ("kuhn", None):
        with pytest.raises(CounterplayError, match="expected a Strategy, or what has one"):
            locked(nothing, "K bet 0.9")


def test_holdem_by_street_seat_and_betting() -> None:
    game = cp.load("holdem(buckets=2)")
    random = cp.Strategy.random(game, 3)
    tree, slots = game.rules.tree, game.rules.slots()
    node = nodes_and_buckets(tree, game.rules.abstraction.counts)[0]
    for where, action, share in (
        ("bb flop", "raise", 0.4),
        ("rc/cr", "fold", 0.0),
        ("dealer preflop", "call", 1.0),
    ):
        found = locked(random, [f"{where} {action} {share}"])
        changed = np.flatnonzero(np.abs(found.probabilities - random.probabilities) > 1e-12)
        decisions = lock_decisions(random, parse_lock(f"{where} {action} {share}"))
        infosets = np.concatenate([one.infosets for one in decisions])
        assert set(changed) <= set(slots[infosets].reshape(-1).tolist())
        column = ("fold", "call", "raise").index(action)
        for rows, weight, _ in decisions:
            assert len(set(node[rows].tolist())) == 1
            assert weight @ found.probabilities[slots[rows, column]] == pytest.approx(
                share, abs=1e-8
            )

    def places(text: str) -> list[int]:
        return sorted(_nodes(tree, parse_lock(text)))

    assert len(places("rc/cr fold 1")) == 1
    assert places("big blind flop bet 1") == places("bb flop raise 1")
    parts = [places(f"flop facing {what} call 1") for what in ("nothing", "bet", "raise")]
    assert sorted(one for part in parts for one in part) == places("flop call 1")
    assert all(parts)


@pytest.mark.parametrize(
    "text",
    ["", "river", "river fold", "river fold 1.2", "river fold nan", "river fold x", "riverr fold 1",
     "river jump 0.5", "dealer dealer river fold 0.5", "rc/c fold 0.5", "xx fold 0.5"],
)  # fmt: skip
def test_what_is_no_lock_is_refused_in_a_sentence(text: str) -> None:
    with pytest.raises(CounterplayError) as refused:
        locked(cp.Strategy.uniform("holdem(buckets=2)"), [text])
    assert 10 < len(str(refused.value)) < 300


def test_a_folding_lock_that_is_not_legal_says_what_is() -> None:
    with pytest.raises(BadParameter, match="fold is not legal at 'rc/'; there one may call, raise"):
        locked(cp.Strategy.uniform("holdem(buckets=2)"), ["rc/ fold 0.5"])
    lock = parse_lock("big blind  river   FOLD .85 trust 0.5")
    assert (lock.at, lock.play, lock.trust) == ("big blind river", {"fold": 0.85}, 0.5)
    lock = parse_lock("check-bet 10 raise 30 0.5")
    assert (lock.at, lock.play) == ("check-bet 10", {"raise 30": 0.5})
    assert read_locks(["K bet 1", {"lock": [{"at": "K", "frequency": {"bet": 1}}]}])[1].in_all


def test_the_command(tmp_path: Path) -> None:
    words = ("respond", "uniform", "--game", "kuhn", "--p", "1", "--json", "--out")
    plain = typed(tmp_path, *words, "one")
    lock = typed(tmp_path, *words, "two", "--lock", "* bet 1")
    assert (plain.code, lock.code) == (0, 0), lock.stderr
    assert plain.stdout != lock.stdout
    half = typed(tmp_path, *words, "four", "--lock", "* bet 1 trust 0.5", "-a", "dbr")
    assert half.code == 0, half.stderr
    assert half.stdout not in (plain.stdout, lock.stdout)
    once = typed(tmp_path, *words, "five", "--lock", "* bet 1 trust 0.5")
    assert "take --algorithm dbr or mcdbr" in once.stderr
    wrong = typed(tmp_path, *words, "three", "--lock", "* bett 1")
    assert wrong.code != 0
    assert "did you mean 'bet'" in wrong.stderr
    again = typed(tmp_path, "respond", "--resume", "two", "--lock", "* bet 1")
    assert again.code != 0


@pytest.mark.slow
def test_players_do_what_the_lock_says_at_the_table(tmp_path: Path) -> None:
    """Hands of an unlocked opponent who bets: the frequency of folds on the river."""
    from counterplay.poker.histories.parquet import read_parquet
    from counterplay.poker.histories.records import RULES
    from counterplay.poker.models.observe import seat_decisions

    game = cp.load("holdem(buckets=10)")
    strategy = locked(cp.Strategy.random(game, 1), ["river fold 0.85"])
    log = {"log": tmp_path / "hands.parquet", "duplicate": False, "luck_adjusted": False}
    cp.play_match(game, "always-raise", strategy, 20_000, **log)
    folds = []
    for hand in read_parquet(tmp_path / "hands.parquet"):
        seat = 1 if hand.dealer == "always-raise" else 0
        taken = seat_decisions(RULES, hand.betting, seat)
        faced = (taken.street == 3) & ~np.isnan(taken.cost)
        folds += (taken.action[faced] == 0).tolist()
    error = (0.85 * 0.15 / len(folds)) ** 0.5
    assert np.mean(folds) == pytest.approx(0.85, abs=4 * error + 0.01)  # 0.01: sampled boards
