"""Our files beside Gambit itself: values and equilibria are the same. Needs the extra [gambit]."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from support.gambit import OUTCOMES, PLAIN, POKER

import counterplay as cp

pygambit = pytest.importorskip("pygambit", reason="pip install 'counterplay[gambit]' for this")
pytestmark = pytest.mark.slow  # `make test-slow` installs the package


@pytest.mark.parametrize("name", ["kuhn", "ocp(4)", "bluff(1,1,2)", "goofspiel(3)"])
def test_values_and_equilibria_are_gambits(name: str, tmp_path: Path) -> None:
    """Each program measures the other's equilibrium: nobody gains by deviating from it."""
    cp.save_game(name, tmp_path / "game.efg")
    theirs = pygambit.read_efg(str(tmp_path / "game.efg"))
    solved = pygambit.nash.lp_solve(theirs, rational=False).equilibria[0]
    value = float(solved.payoff(next(iter(theirs.players))))
    assert value == pytest.approx(cp.game_value(name), abs=1e-9)
    assert cp.exploitability(name, _strategy(name, solved)) == pytest.approx(0.0, abs=1e-8)
    ours = cp.solve(name, "lp").strategy
    assert float(_profile(theirs, ours).max_regret()) == pytest.approx(0.0, abs=1e-8)
    uniform = cp.Strategy.uniform(name)  # the comparison can fail
    assert float(_profile(theirs, uniform).max_regret()) > 0.1
    assert cp.exploitability(name, _strategy(name, theirs.mixed_behavior_profile())) > 0.1


def _strategy(name: str, profile: Any) -> cp.Strategy:
    """A profile of Gambit as a strategy, by players and labels; uniform where it says nothing."""
    uniform = cp.Strategy.uniform(name)
    theirs = {_key(infoset): infoset for infoset in profile.game.infosets}
    rows = []
    for row in uniform.table():
        actions = theirs[f"player {row.player + 1}", row.infoset].actions
        shares = {action.label: max(0.0, float(profile[action])) for action in actions}
        known = abs(sum(shares.values()) - 1.0) < 1e-9
        rows += [(shares if known else row.probabilities)[action] for action in row.probabilities]
    return cp.Strategy(cp.load(name), rows)


def _profile(game: Any, strategy: cp.Strategy) -> Any:
    """A strategy as a profile of Gambit's game."""
    profile = game.mixed_behavior_profile()
    rows = {(f"player {row.player + 1}", row.infoset): row for row in strategy.table()}
    for infoset in game.infosets:
        for action in infoset.actions:
            profile[action] = rows[_key(infoset)].probabilities[action.label]
    return profile


def _key(infoset: Any) -> tuple[str, str]:
    return infoset.player.label, infoset.label


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
