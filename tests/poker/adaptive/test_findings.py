"""What the adaptive player says of its opponent is true, and the leak is named: opponents with one
known leak, whose strategy is a table, so that the true frequencies are known."""

from __future__ import annotations

from functools import cache

import numpy as np
import pytest
from support.arena import holdem

import counterplay as cp
from benchmarks.statements import NOBODY, Watcher, names, statements
from counterplay.core.responses.evidence import Deviation
from counterplay.poker.adaptive.belief import OPENING
from counterplay.poker.adaptive.field import CALL, FOLD, RAISE, TYPES, type_strategy
from counterplay.poker.adaptive.player import ending_of
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.referee import play_hands, start_bots

STRENGTH, MATCHES = 0.85, 3


@cache
def equilibrium() -> cp.Strategy:
    return cp.solve(holdem(), "mccfr-external", iterations=400_000, seed=1).strategy


def test_a_leak_is_named_and_what_is_said_is_true() -> None:
    safe = simple_strategy("uniform", holdem(3))
    moves = TYPES["too-loose"]
    found = statements(safe, type_strategy(safe, "too-loose", 0.9), moves, 3, 300)
    assert found.named_at in (100, 200, 300)
    assert found.said > 0
    assert found.false == 0
    assert statements(safe, safe, moves, 3, 300) == (0, 0, 0)


def test_which_statements_name_a_leak() -> None:
    def said(group: int, action: int, more: bool) -> Deviation:
        return Deviation(group, action, 0.6 if more else 0.4, 0.05, 0.5, 100)

    moves = TYPES["too-loose"]  # calls before the flop where it should fold
    assert names(said(OPENING, FOLD, False), moves)
    assert names(said(3, CALL, True), moves)
    assert not names(said(OPENING, FOLD, True), moves)
    assert not names(said(OPENING, RAISE, False), moves)
    assert not names(said(4, FOLD, False), moves)  # on the flop


def test_a_statement_is_false_outside_of_its_interval_and_on_the_other_side() -> None:
    safe = simple_strategy("uniform", holdem(3))
    watcher, foe = Watcher(safe, safe), strategy_bot(safe)
    start_bots((watcher, foe), (1, 2))
    play_hands((watcher, foe), session_deals(3, 0, 20, 20))
    third = Deviation(OPENING, FOLD, 0.34, 0.05, 0.2, 10)  # the truth is 1/3
    assert watcher.holds(third)
    assert not watcher.holds(third._replace(share=0.4))
    assert not watcher.holds(third._replace(expected=0.335))


@pytest.mark.slow  # an equilibrium is trained
def test_leaks_of_an_equilibrium_are_named_and_hardly_anything_false_is_said() -> None:
    """Every type, and nobody; `python -m benchmarks.statements` plays more matches."""
    safe, false = equilibrium(), []
    for name in (*TYPES, NOBODY):
        moves = TYPES.get(name, ())
        truth = safe if name == NOBODY else type_strategy(safe, name, STRENGTH)
        found = [statements(safe, truth, moves, seed) for seed in range(MATCHES)]
        false += [one.false for one in found]
        assert all(one.named_at > 0 for one in found) or name == NOBODY, name
    assert np.mean(np.array(false) == 0) >= 0.95


@pytest.mark.slow
def test_a_player_that_learns_says_the_same() -> None:
    """Its own strategies decide which hands it sees; what it says of them is as true."""
    safe = equilibrium()
    truth = type_strategy(safe, "folds-the-river", STRENGTH)
    me = cp.Adaptive(portfolio=cp.Portfolio(safe.game, safe, ()))
    watcher, foe = Watcher(safe, truth), strategy_bot(truth)
    start_bots((me, foe), (1, 2))
    play_hands((me, foe), session_deals(3, 0, 1_000, 1_000))
    for record in me.memory:
        watcher.end_hand(ending_of(record))
    assert any(names(said, TYPES["folds-the-river"]) for said in me.tracker.findings())
    assert all(watcher.holds(said) for said in me.tracker.findings())
