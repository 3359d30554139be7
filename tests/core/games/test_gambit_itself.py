"""Our files beside Gambit itself: values and equilibria are the same. Needs the extra [gambit]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.gambit import OUTCOMES, PLAIN, POKER

import counterplay as cp

pygambit = pytest.importorskip("pygambit", reason="pip install 'counterplay[gambit]' for this")


@pytest.mark.parametrize("name", ["kuhn", "bluff(1,1,2)", "goofspiel(2)"])
def test_gambit_solves_what_we_write(name: str, tmp_path: Path) -> None:
    cp.save_game(name, tmp_path / "game.efg")
    theirs = pygambit.read_efg(str(tmp_path / "game.efg"))
    profile = pygambit.nash.lp_solve(theirs, rational=False).equilibria[0]
    value = float(profile.payoff(next(iter(theirs.players))))
    assert value == pytest.approx(cp.game_value(name), abs=1e-9)


@pytest.mark.parametrize(("text", "ending"), [(POKER, "efg"), (PLAIN, "nfg"), (OUTCOMES, "nfg")])
def test_both_read_the_same_game(text: str, ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"game.{ending}"
    path.write_text(text)
    read = pygambit.read_efg if ending == "efg" else pygambit.read_nfg
    theirs, ours = read(str(path)), cp.load(str(path))
    profile = (
        theirs.mixed_behavior_profile() if ending == "efg" else theirs.mixed_strategy_profile()
    )
    uniform = cp.expected_value(ours, cp.Strategy.uniform(ours))
    for k, player in enumerate(theirs.players):
        assert float(profile.payoff(player)) == pytest.approx(uniform[k])


def test_every_game_of_their_catalogue(tmp_path: Path) -> None:
    """Read by us as they write it, written by us as they read it, and worth the same."""
    catalogue = pytest.importorskip("pygambit.catalog")
    names = list(catalogue.games()["Game"])
    assert len(names) > 20
    for name in names:
        theirs = catalogue.load(name)
        path = tmp_path / ("game.efg" if theirs.is_tree else "game.nfg")
        path.write_text(theirs.to_efg() if theirs.is_tree else theirs.to_nfg())
        ours = cp.load(str(path))
        paid = _uniform(theirs)
        value = cp.expected_value(ours, cp.Strategy.uniform(ours))
        assert value.tolist() == pytest.approx(paid, abs=1e-9), name
        if theirs.is_tree:
            cp.save_game(ours, tmp_path / "ours.efg")
            assert _uniform(pygambit.read_efg(str(tmp_path / "ours.efg"))) == pytest.approx(paid)
        if ours.n_players == 2 and ours.zero_sum and ours.perfect_recall:
            profile = pygambit.nash.lp_solve(theirs, rational=False).equilibria[0]
            value = float(profile.payoff(next(iter(theirs.players))))
            assert value == pytest.approx(cp.game_value(ours), abs=1e-8), name


def _uniform(game: Any) -> list[float]:
    """What each player gets where all play at random."""
    tree = game.is_tree
    profile = game.mixed_behavior_profile() if tree else game.mixed_strategy_profile()
    return [float(profile.payoff(player)) for player in game.players]
