"""The traversal of a device, which is emulated where there is none, against the kernels."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.emulate import COMPILER, EmulatedDevice, has_device

import counterplay as cp
from counterplay.core.base.errors import CounterplayError
from counterplay.core.games.locks import read_locks
from counterplay.core.kernels.device import Device
from counterplay.core.parallel.full_width import ComputeOptions
from counterplay.core.solvers.cfr_kernels import DISCOUNTED
from counterplay.poker.spots import device
from counterplay.poker.spots.device import DeviceSpotRegrets, device_bytes, require_room
from counterplay.poker.spots.engine import SpotRegrets, biased_form
from counterplay.poker.spots.game import spot
from counterplay.poker.spots.layout import TwofoldLayout
from counterplay.poker.spots.locks import locked_player

pytestmark = pytest.mark.skipif(COMPILER is None, reason="needs a C++ compiler")
DEVICE: Any = Device if has_device() else EmulatedDevice
RANGES = ("22+,AKs:0.5,KTo,T2s", "QQ+,JTs,T9o:0.3,AhKh")
SPOTS: dict[str, dict[str, Any]] = {
    "river": {"board": "QsJh2c5d8s", "bets": "50,100"},
    "rake": {"board": "QsJh2c5d8s", "bets": "50", "rake": 0.05, "rake_cap": 2},
    "turn": {"board": "QsJs2s5d", "bets": "100", "cap": 2},
}


def engines(layout: Any, form: Any = None, locked: int = -1, precision: str = "double") -> Any:
    compute = ComputeOptions(precision=precision)
    ours = SpotRegrets(layout, DISCOUNTED, compute, form, locked)
    return ours, DeviceSpotRegrets(layout, DISCOUNTED, compute, form, locked, device=DEVICE())


def one_iteration(ours: Any, theirs: Any) -> None:
    """From the same regrets, without ties: all that is learnt, and the measure, are the same."""
    rng = np.random.default_rng(1)
    for key, array in ours.arrays().items():
        array[:] = rng.uniform(0.0 if "sum" in key else -1.0, 1.0, len(array))
        theirs.arrays()[key][:] = array
    theirs.changed()
    assert theirs.exploitability() == pytest.approx(ours.exploitability(), abs=1e-9)
    for engine in (ours, theirs):
        engine.run(6, 1)
    for key, array in ours.arrays().items():
        np.testing.assert_allclose(theirs.arrays()[key], array, rtol=1e-9, atol=1e-9)
    for name in ("weights", "regrets", "policy"):
        ours_now, theirs_now = getattr(ours, name)(), getattr(theirs, name)()
        np.testing.assert_allclose(theirs_now, ours_now, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", SPOTS)
def test_an_iteration_is_that_of_the_kernels(name: str) -> None:
    """On boards whose suits are alike, with unequal ranges and with rake."""
    game = spot(pot=20, stacks=45, ranges=RANGES, **SPOTS[name])
    one_iteration(*engines(game.rules.layout))


def test_a_long_list_of_nodes_takes_several_launches(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(device, "MOST_NODES", 3)
    game = spot(pot=20, stacks=45, ranges=RANGES, **SPOTS["turn"])
    one_iteration(*engines(game.rules.layout))


def test_locks_hold_and_single_precision_is_near() -> None:
    game = spot(pot=20, stacks=45, ranges=RANGES, **SPOTS["river"])
    locked = locked_player(game.rules, read_locks("bet 10 fold 0.7 trust 0.8"))
    layout = game.rules.layout
    form = biased_form(layout, locked.bound(cp.Strategy.uniform(game)))
    one_iteration(*engines(layout, form, locked.player))
    both = TwofoldLayout(layout, locked.player, 0.3)
    one_iteration(*engines(both, both.locked_form(form), locked.player))
    single = engines(layout, form, locked.player, "single")[1]
    single.run(0, 150)
    assert single.exploitability() < 0.01 * 20


@pytest.mark.slow  # a flop
def test_a_flop() -> None:
    game = spot("QsJh2h", 20, 45, ("AA,KK,T9s", "QQ,AKs,98s"), "100", cap=1)
    one_iteration(*engines(game.rules.layout))


def test_a_solver_runs_there_is_saved_and_resumed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to rounding it finds what the kernels find; a resumed run has the bits of a whole one."""
    monkeypatch.setattr(device, "Device", DEVICE)
    game = spot(pot=20, stacks=45, ranges=RANGES, **SPOTS["river"])
    whole = cp.solve(game, backend="cuda", iterations=9)
    cp.solve(game, backend="cuda", iterations=4, folder=tmp_path / "run")
    resumed = cp.resume(tmp_path / "run", iterations=9)
    assert resumed.parameters["backend"] == "cuda"
    np.testing.assert_array_equal(resumed.strategy.probabilities, whole.strategy.probabilities)
    np.testing.assert_array_equal(resumed.regrets, whole.regrets)
    near = cp.solve(game, iterations=60).exploitability
    assert cp.solve(game, backend="cuda", iterations=60).exploitability == pytest.approx(near, 0.02)
    answer = cp.respond_to_locks(game, "bet 10 fold 0.7", backend="cuda", percent=2.0)
    assert answer.risk > 1.0


def test_what_cannot_be_is_refused() -> None:
    game = spot(pot=20, stacks=45, ranges=RANGES, **SPOTS["river"])
    if not has_device():
        with pytest.raises(CounterplayError, match="backend=cpu"):
            cp.solve(game, backend="cuda", iterations=1)
    with pytest.raises(CounterplayError, match="leave out threads"):
        cp.solve(game, backend="cuda", threads=2, iterations=1)
    layout = game.rules.layout
    needed = device_bytes(layout, "single")
    assert 8.0 * sum(layout.n_slots) < needed < device_bytes(layout, "double")
    with pytest.raises(CounterplayError, match=r"^this spot takes about .* GB on the device"):
        require_room(0.9 * needed, layout, "single")
    require_room(1.1 * needed, layout, "single")
