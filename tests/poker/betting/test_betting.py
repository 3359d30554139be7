"""The betting tree: published sizes, and OpenSpiel's universal_poker on random playouts."""

from __future__ import annotations

import numpy as np
import pytest
from support.holdem import TREE

from counterplay.core.forms.tree import TERMINAL
from counterplay.poker.betting.betting import CALL, FOLD, NO_FOLD, RAISE, Betting


def test_published_sizes() -> None:
    """facts/02: decision sequences 8 / 70 / 630 / 5670 by round, 16,583 sequence-actions, 10,206
    ends."""
    tree = TREE.nodes
    decisions = tree.player >= 0
    assert [int(np.sum(decisions & (tree.street == k))) for k in range(4)] == [8, 62 + 8, 630, 5670]
    assert int(decisions.sum()) == 6378
    assert int((tree.player == TERMINAL).sum()) == 10_206
    assert int(tree.action_count.sum()) == 16_583
    ends = tree.player == TERMINAL
    assert [int(np.sum(ends & (tree.street == k))) for k in range(4)] == [7, 56, 504, 9639]


def test_numbering() -> None:
    tree = TREE.nodes
    assert np.array_equal(np.sort(tree.decision[tree.player >= 0]), np.arange(6378))
    owner = tree.player[tree.node]
    assert np.all(np.diff(owner) >= 0)
    assert len(set(TREE.histories)) == len(tree.player)
    for k in (0, 1, 100, 6000):
        children = range(tree.first_child[k], tree.first_child[k + 1])
        for child, action in zip(children, TREE.actions[k], strict=True):
            assert TREE.histories[child].startswith(TREE.histories[k] + action[0])


def test_blinds_and_folding() -> None:
    start = Betting()
    assert start.player() == 0
    assert start.actions() == [FOLD, CALL, RAISE]
    folded = start.child(FOLD)
    assert (folded.folded, min(folded.paid)) == (0, 0.5)
    limped = start.child(CALL)
    assert limped.player() == 1
    assert limped.actions() == [CALL, RAISE]
    flop = limped.child(CALL)
    assert (flop.history, flop.player(), flop.paid) == ("cc/", 1, (1.0, 1.0))
    capped = start.child(RAISE).child(RAISE).child(RAISE)
    assert capped.actions() == [FOLD, CALL]
    assert max(capped.paid) == 4.0


UNIVERSAL = (
    "universal_poker(betting=limit,numPlayers=2,numRounds=4,blind=1 2,raiseSize=2 2 4 "
    "4,firstPlayer=1 2 2 2,maxRaises=3 4 4 4,"
    "numSuits=4,numRanks=13,numHoleCards=2,numBoardCards=0 3 1 1)"
)


def test_playouts_agree_with_openspiel() -> None:
    """Legal actions and who acts along random playouts; amounts at folds. OpenSpiel's player 0
    is our dealer here."""
    pyspiel = pytest.importorskip("pyspiel")
    game = pyspiel.load_game(UNIVERSAL)
    rng = np.random.default_rng(2)
    codes = {FOLD: 0, CALL: 1, RAISE: 2}
    for _ in range(300):
        state, ours = game.new_initial_state(), Betting()
        while not state.is_terminal():
            if state.is_chance_node():
                outcomes = [code for code, _ in state.chance_outcomes()]
                state.apply_action(int(rng.choice(outcomes)))
                continue
            assert state.current_player() == ours.player()
            theirs = set(state.legal_actions())
            # OpenSpiel allows a fold without facing a bet; the rules here do not
            assert {codes[action] for action in ours.actions()} == theirs - (
                {0} if FOLD not in ours.actions() else set()
            )
            action = ours.actions()[rng.integers(len(ours.actions()))]
            state.apply_action(codes[action])
            ours = ours.child(action)
        assert ours.over
        gain = 2 * min(ours.paid)  # OpenSpiel's chips are half small bets
        if ours.folded != NO_FOLD:
            assert state.returns()[ours.folded] == -gain
        else:
            assert abs(state.returns()[0]) in (0.0, gain)
