"""`leduc(players=3)` against OpenSpiel's `leduc_poker(players=3)`."""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.forms.rules import CHANCE, TERMINAL

#: What a walk through all of OpenSpiel's histories counted (12 seconds): decisions, ends,
#: information sets, and the sum of the squares of all players' payoffs at all ends.
DECISIONS, ENDS, INFOSETS, SQUARES = 777_168, 1_043_952, 25_800, 338_395_896.0


def test_sizes() -> None:
    game = cp.load("leduc(players=3)")
    tree = game.tree
    ends = tree.player == TERMINAL
    assert (int(np.sum(tree.player >= 0)), int(ends.sum())) == (DECISIONS, ENDS)
    assert game.n_infosets == INFOSETS
    assert float((tree.payoff[tree.row[ends]] ** 2).sum()) == SQUARES
    assert game.zero_sum
    assert game.perfect_recall
    assert game.n_nodes == game.rules.count_nodes()


def test_random_histories() -> None:
    """Actions, information sets and payoffs are the same, with cards dealt one by one there."""
    pyspiel = pytest.importorskip("pyspiel")
    rules, theirs = cp.load("leduc(players=3)").rules, pyspiel.load_game("leduc_poker(players=3)")
    rng, infosets, labels = random.Random(1), dict[str, Any](), dict[Any, str]()
    for _ in range(400):
        state, other = rules.root(), theirs.new_initial_state()
        while state.player() != TERMINAL:
            if state.player() == CHANCE:
                action = rng.randrange(state.count())
                state = state.after(action)
                cards = rules.cards_and_bets(state.words)[0]
                while other.is_chance_node():
                    dealt = [rules.deck.index(card) for card in cards]
                    position = len([p for p in other.full_history() if p.player < 0])
                    other.apply_action(dealt[position])
                continue
            assert other.current_player() == state.player()
            assert len(other.legal_actions()) == state.count()
            label = other.information_state_string()
            known = (state.player(), state.known())
            assert infosets.setdefault(label, known) == known
            assert labels.setdefault(known, label) == label
            action = rng.randrange(state.count())
            state = state.after(action)
            other.apply_action(other.legal_actions()[action])
        assert other.is_terminal()
        np.testing.assert_allclose(state.payoffs(), other.returns(), atol=1e-12)


def test_names_and_limits() -> None:
    assert cp.load("leduc(ranks=4,players=3)").name == "leduc(players=3)"
    assert cp.load("leduc(ranks=3)").name == "leduc"
    assert cp.load("leduc(players=3)").rules.openspiel() == "leduc_poker(players=3)"
    for name in ("leduc(players=1)", "leduc(players=9)", "leduc(players=6,raises=12)"):
        with pytest.raises(cp.CounterplayError, match="players"):
            cp.load(name)
    with pytest.raises(cp.CounterplayError, match="7 cards for 6 players"):
        cp.load("leduc(players=6,ranks=3)")
    checked = cp.check("leduc(players=3,ranks=2,raises=1)")
    assert checked.with_tree
