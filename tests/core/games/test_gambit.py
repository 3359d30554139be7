"""Files of Gambit: what was written by hand, by us, and by Gambit itself."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.command import typed
from support.gambit import FEE, OUTCOMES, PLAIN, POKER
from support.games import BATTLE

import counterplay as cp


def read(folder: Path, text: str, name: str = "game.efg") -> cp.Game:
    (folder / name).write_text(text)
    return cp.load(str(folder / name))


def test_an_extensive_game(tmp_path: Path) -> None:
    """Fred wins 1/3: he raises with red, and with black in one of three cases; Alice meets two of
    three."""
    game = read(tmp_path, POKER)
    assert (game.n_players, game.n_nodes, game.n_infosets) == (2, 11, 3)
    assert (game.zero_sum, game.perfect_recall, game.seats) == (True, True, ("Fred", "Alice"))
    assert cp.game_value(game) == pytest.approx(1 / 3)
    strategy = cp.solve(game, "lp").strategy
    assert strategy.at("(1,1)")["Raise"] == pytest.approx(1.0)
    assert strategy.at("(1,2)")["Raise"] == pytest.approx(1 / 3)
    assert strategy.at("(2,1)")["Meet"] == pytest.approx(2 / 3)
    words = ("solve", str(tmp_path / "game.efg"), "-n", "50", "--out", "run")
    assert typed(tmp_path, *words).code == 0
    assert cp.Strategy.load(tmp_path / "run").game.n_infosets == 3  # found by its name


def test_outcomes_on_the_way_and_names_twice(tmp_path: Path) -> None:
    game = read(tmp_path, FEE)
    assert sorted(map(tuple, game.tree.payoff.tolist())) == [(-1.0, 0.5), (-0.5, -0.5), (2.0, 0.5)]
    assert game.labels.action == ["in", "in'", "x", "2"]
    assert game.infoset_names == ["player 1: s", "player 2: s"]
    assert game.seats == ("player 1", "player 2")


def test_tables(tmp_path: Path) -> None:
    one, two = read(tmp_path, PLAIN, "a.nfg"), read(tmp_path, OUTCOMES, "b.nfg")
    assert one.n_infosets == two.n_infosets == 2
    assert one.seats == ("Row", "Column")
    for row in range(3):
        for column in range(2):
            first = {one.infoset_names[0]: {str(row + 1): 1.0}}
            pure = first | {one.infoset_names[1]: {str(column + 1): 1.0}}
            cell = [(1, 2), (3, 4), (5, 6), (-1, -2), (-3, -4), (0.5, 0.25)][column * 3 + row]
            for game in (one, two):
                value = cp.expected_value(game, cp.Strategy.from_table(game, pure))
                assert value.tolist() == list(cell)


@pytest.mark.parametrize(
    "name", ["kuhn", "kuhn(players=3)", pytest.param("leduc(suits=False)", marks=pytest.mark.slow)]
)
def test_what_we_write_is_read_as_the_same_game(name: str, tmp_path: Path) -> None:
    """The same numbers for the same play, information set by information set."""
    game = cp.load(name)
    cp.save_game(game, tmp_path / "game.efg")
    back = cp.load(str(tmp_path / "game.efg"))
    assert (back.n_nodes, back.n_infosets) == (game.n_nodes, game.n_infosets)
    strategy = cp.Strategy.random(game, 3)
    table = {row.infoset: row.probabilities for row in strategy.table()}
    same = cp.Strategy.from_table(back, table)
    assert cp.exploitability(back, same) == pytest.approx(cp.exploitability(game, strategy))
    np.testing.assert_allclose(
        cp.expected_value(back, same), cp.expected_value(game, strategy), atol=1e-12
    )


def test_a_game_as_a_table(tmp_path: Path) -> None:
    """Kuhn has 27 pure strategies for player 1 and 64 for player 2 in reduced normal form; the
    value is that of the tree."""
    cp.save_game("kuhn", tmp_path / "kuhn.nfg")
    game = cp.load(str(tmp_path / "kuhn.nfg"))
    assert np.diff(game.form.first).tolist() == [27, 64]
    assert cp.game_value(game) == pytest.approx(-1 / 18)
    cp.save_game(BATTLE, tmp_path / "battle.nfg")
    lines = (tmp_path / "battle.nfg").read_text().splitlines()
    assert lines[-4:] == ["2 1", "0 0", "0 0", "1 2"]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", ":1: expected a word, not the end of the file"),
        ("HELLO 2 R", "begins with EFG or NFG"),
        ('EFG 3 R "x" { "a" }', "expected version 2 R"),
        ('EFG 2 R "x" { } "" t "" 0', "no players"),
        ('EFG 2 R "x" { "a" }\n\nx "" 0', ":3: a node begins with c, p or t"),
        ('EFG 2 R "x" { "a" }\np "" 2 1 "" { "l" } 0', "no player 2; there are 1"),
        ('EFG 2 R "x" { "a" }\np "" 1 1 0 t "" 0', "has no actions yet"),
        ('EFG 2 R "x" { "a" }\nt "" 3', "outcome 3 has no payoffs yet"),
        ('EFG 2 R "x" { "a" }\nt "" 1 "" { 1 2 }', "2 payoffs for 1 players"),
        ('EFG 2 R "x" { "a" }\nt "" 1 "" { 1/0 }', "'1/0' is not a number"),
        ('EFG 2 R "x" { "a" }\nt "" 1 "" { inf }', "not a number to count with"),
        ('EFG 2 R "x" { "a" }\nt "" 0 t "" 0', "behind the last node"),
        ('EFG 2 R "x" { "a" }\np "" 1 1 "" { "l" "r" } 0 t "" 0', "the end of the file"),
        ('EFG 2 R "x { "a" }', "expected"),
        ('NFG 1 R "x" { "a" "b" } { 2 2 } 1 2 3', "the end of the file"),
        ('NFG 1 R "x" { "a" "b" } { 2 } 1 2', "strategies of 1 players, and there are 2"),
        ('NFG 1 R "x" { "a" "b" } { 99999 99999 } 1', "combinations of strategies"),
        ('NFG 1 R "x" { "a" } { 1 } { { "" 1 } } 2', "no outcome 2"),
    ],
)
def test_mistakes_are_said_with_their_line(text: str, said: str, tmp_path: Path) -> None:
    with pytest.raises(cp.CounterplayError) as error:
        read(tmp_path, text)
    assert said in str(error.value)
    assert "game.efg:" in str(error.value)


def test_probabilities_that_are_none_are_refused(tmp_path: Path) -> None:
    with pytest.raises(cp.CounterplayError, match=r"sum to 1\.5"):
        _ = read(tmp_path, POKER.replace("0.500", "1.0")).tree


def test_no_depth_is_too_deep_for_the_reader(tmp_path: Path) -> None:
    text = 'EFG 2 R "deep" { "a" }\n' + 'p "" 1 1 "" { "l" } 0\n' * 5_000 + 't "" 0\n'
    assert read(tmp_path, text).n_nodes == 5_001


def test_what_cannot_be_written(tmp_path: Path) -> None:
    for game, name, said in (
        ("kuhn", "x.txt", ".efg or .nfg"),
        ("leduc", "x.nfg", "write .efg"),
        ("holdem(buckets=2)", "x.efg", "too large"),
    ):
        with pytest.raises(cp.CounterplayError, match=said):
            cp.save_game(game, tmp_path / name)
    with pytest.raises(cp.CounterplayError, match=r"x\.efg"):
        cp.load(str(tmp_path / "x.efg"))
