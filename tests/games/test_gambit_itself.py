"""Our files beside Gambit itself: values and equilibria are the same. Needs the extra [gambit]."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.gambit import OUTCOMES, PLAIN, POKER

import counterplay as cp

pygambit = pytest.importorskip("pygambit", reason="pip install 'counterplay[gambit]' for this")


@pytest.mark.parametrize("name", ["kuhn", "bluff(1,1,2)", "goofspiel(2)"])
def test_gambit_solves_what_we_write(name: str, tmp_path: Path) -> None:
    cp.save_game(name, tmp_path / "game.efg")
    theirs = pygambit.read_efg(str(tmp_path / "game.efg"))
    profile = pygambit.nash.lp_solve(theirs, rational=False).equilibria[0]
    value = float(profile.payoff(theirs.players[0]))
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
