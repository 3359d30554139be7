"""Our rules against OpenSpiel's, and OpenSpiel's games through our loader."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field
from functools import cache
from typing import Any

import numpy as np
import pytest
from support.lp import lp_value

from counterplay.core.base.errors import BadParameter, CounterplayError, UnknownName
from counterplay.core.evaluation.exact import best_response, expected_value, exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.forms.tree import CHANCE, TERMINAL

pyspiel = pytest.importorskip("pyspiel")

GOOFSPIEL = (
    "goofspiel(imp_info=True,num_cards={},players=2,points_order=descending,returns_type=win_loss)"
)
#: Ours, OpenSpiel's, and whether OpenSpiel makes the same moves (it plays the last card of
#: Goofspiel by itself).
PAIRS = [
    ("kuhn", "kuhn_poker", True),
    ("kuhn(players=3)", "kuhn_poker(players=3)", True),
    ("leduc", "leduc_poker", True),
    ("bluff(1,1,3)", "liars_dice(numdice=1,dice_sides=3)", True),
    pytest.param(
        "bluff(1,1,6)", "liars_dice(numdice=1,dice_sides=6)", True, marks=pytest.mark.slow
    ),
    ("goofspiel(3)", GOOFSPIEL.format(3), False),
    ("goofspiel(4)", GOOFSPIEL.format(4), False),
]
pair = pytest.mark.parametrize(("ours", "theirs", "same_moves"), PAIRS)


@dataclass
class Match:
    """Two trees traversed side by side."""

    game: Game
    other: Any
    infoset: dict[str, int] = field(
        default_factory=dict
    )  # OpenSpiel's information state -> our information set
    legal: dict[str, list[int]] = field(default_factory=dict)
    n_decisions: int = 0
    payoffs: list[tuple[list[float], list[float]]] = field(default_factory=list)

    def walk(self, node: int, state: Any) -> None:
        tree = self.game.tree
        children = range(tree.first_child[node], tree.first_child[node + 1])
        if state.is_terminal():
            while tree.player[node] != TERMINAL:  # forced moves that OpenSpiel makes by itself
                assert tree.first_child[node + 1] - tree.first_child[node] == 1
                node = int(tree.first_child[node])
            self.payoffs.append((tree.payoff[tree.row[node]].tolist(), state.returns()))
        elif state.is_chance_node():
            assert tree.player[node] == CHANCE
            deals = list(_deals(state, 1.0))
            low = tree.chance_first[tree.row[node]]
            np.testing.assert_allclose(
                [p for _, p in deals],
                tree.chance_probability[low : low + len(children)],
                atol=1e-15,
            )
            for below, (dealt, _) in zip(children, deals, strict=True):
                self.walk(below, dealt)
        else:
            assert tree.player[node] == state.current_player()
            self.n_decisions += 1
            label, infoset = state.information_state_string(), int(tree.row[node])
            assert self.infoset.setdefault(label, infoset) == infoset
            actions = self.legal.setdefault(label, state.legal_actions())
            for below, action in zip(children, actions, strict=True):
                self.walk(below, state.child(action))

    def policy(self, strategy: Strategy) -> Any:
        """OpenSpiel's form of one of our strategies."""
        first = self.game.tree.first
        shares = {
            label: strategy.probabilities[first[i] : first[i + 1]].tolist()
            for label, i in self.infoset.items()
        }
        table = {
            label: list(zip(self.legal[label], shares[label], strict=True)) for label in shares
        }
        return pyspiel.TabularPolicy(table)


def _deals(state: Any, probability: float) -> Any:
    """OpenSpiel deals one card at a time; ours is one joint deal."""
    if not state.is_chance_node():
        yield state, probability
        return
    for outcome, share in state.chance_outcomes():
        yield from _deals(state.child(outcome), probability * share)


@cache
def matched(ours: str, theirs: str) -> Match:
    match = Match(load(ours), pyspiel.load_game_as_turn_based(theirs))
    match.walk(0, match.other.new_initial_state())
    return match


@pair
def test_same_information(ours: str, theirs: str, same_moves: bool) -> None:
    """One to one between information sets; the same number of decisions and endings."""
    match = matched(ours, theirs)
    assert len(set(match.infoset.values())) == len(match.infoset)
    tree = match.game.tree
    assert np.count_nonzero(tree.player == TERMINAL) == len(match.payoffs)
    if same_moves:
        assert np.count_nonzero(tree.player >= 0) == match.n_decisions
        assert match.game.n_infosets == len(match.infoset)
    else:
        forced = np.diff(tree.first) == 1
        assert match.game.n_infosets - np.count_nonzero(forced) == len(match.infoset)


@pair
def test_same_payoffs(ours: str, theirs: str, same_moves: bool) -> None:
    mine, other = zip(*matched(ours, theirs).payoffs, strict=True)
    np.testing.assert_allclose(mine, other, atol=1e-12)


@pair
def test_same_value_and_exploitability(ours: str, theirs: str, same_moves: bool) -> None:
    """OpenSpiel's NashConv is our exploitability: a sum, where its `exploitability` is half of
    it."""
    match = matched(ours, theirs)
    for seed in range(1 if match.game.n_nodes > 100_000 else 3):
        strategy = Strategy.random(match.game, seed)
        policy = match.policy(strategy)
        value = pyspiel.expected_returns(match.other.new_initial_state(), policy, -1, True)
        np.testing.assert_allclose(expected_value(match.game, strategy), value, atol=1e-9)
        epsilon = exploitability(match.game, strategy)
        assert epsilon > 0.01
        if match.game.n_players == 2:
            assert epsilon == pytest.approx(
                2 * pyspiel.exploitability(match.other, policy), abs=1e-9
            )
        else:
            assert epsilon == pytest.approx(pyspiel.nash_conv(match.other, policy), abs=1e-9)


# ---
# open_spiel:NAME
# ---

#: Value to player 1 (references as in test_games_facts.py), nodes.
LOADED = [
    ("open_spiel:kuhn_poker", -1 / 18, 1 + 3 + 6 * 9),
    ("open_spiel:leduc_poker", -0.085606424078, None),
    ("open_spiel:liars_dice(numdice=1,dice_sides=3)", 1 / 9, None),
    ("open_spiel:matrix_rps", 0.0, 1 + 3 + 9),  # simultaneous
    ("open_spiel:" + GOOFSPIEL.format(3), 0.0, None),  # simultaneous
    (
        "open_spiel:nim(pile_sizes=1;2)",
        1.0,
        None,
    ),  # perfect information; misère by default, and the first player wins
]


@pytest.mark.parametrize(("name", "value", "nodes"), LOADED)
def test_load(name: str, value: float, nodes: int | None) -> None:
    game = load(name)
    assert game.name == name
    assert game.perfect_recall
    assert game.zero_sum
    assert lp_value(game) == pytest.approx(value, abs=1e-9)
    assert nodes in (None, game.n_nodes)


def test_second_mover_does_not_see_a_simultaneous_move() -> None:
    game = load("open_spiel:matrix_rps")
    assert game.n_infosets == 2
    assert exploitability(game, Strategy.uniform(game)) == pytest.approx(0.0, abs=1e-12)


def test_labels_are_openspiels() -> None:
    game = load("open_spiel:kuhn_poker")
    assert Strategy.uniform(game).at("0pb") == {"Pass": 0.5, "Bet": 0.5}


def test_more_than_two_players() -> None:
    ours, theirs = load("kuhn(players=3)"), load("open_spiel:kuhn_poker(players=3)")
    uniform = Strategy.uniform(ours), Strategy.uniform(theirs)
    np.testing.assert_allclose(
        expected_value(ours, uniform[0]), expected_value(theirs, uniform[1]), atol=1e-12
    )
    assert exploitability(ours, uniform[0]) == pytest.approx(
        exploitability(theirs, uniform[1]), abs=1e-12
    )


def test_not_zero_sum() -> None:
    """The prisoner's dilemma: defection is the one equilibrium."""
    game = load("open_spiel:matrix_pd")
    assert not game.zero_sum
    both = {label: {"Defect": 1.0} for label in game.infoset_by_name}
    assert exploitability(game, Strategy.from_table(game, both)) == pytest.approx(0.0, abs=1e-12)
    assert exploitability(game, Strategy.uniform(game)) > 0.1


def test_imperfect_recall_is_still_playable() -> None:
    game = load("open_spiel:liars_dice_ir(dice_sides=3)")
    assert not game.perfect_recall
    uniform = Strategy.uniform(game)
    assert expected_value(game, uniform).sum() == pytest.approx(0.0, abs=1e-12)
    with pytest.raises(CounterplayError, match="recall"):
        best_response(game, uniform, 0)


def test_unknown_name_has_a_suggestion() -> None:
    with pytest.raises(UnknownName, match="did you mean 'kuhn_poker'"):
        load("open_spiel:kuhn_pokr")


@pytest.mark.parametrize(
    "text",
    [
        "kuhn_poker(players=1)",
        "kuhn_poker(players=x)",
        "kuhn_poker(colour=red)",
        "kuhn_poker(",
        "mfg_crowd_modelling",
        "",
    ],
)
def test_bad_parameters(text: str) -> None:
    with pytest.raises((BadParameter, UnknownName)):
        load("open_spiel:" + text)


def test_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(CounterplayError, match=r"pip install .*openspiel"):
        load("open_spiel:kuhn_poker")
