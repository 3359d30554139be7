"""solve and resume: limits, callbacks, metrics, run folders, damage."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import counterplay as cp
from counterplay.core.base import files
from counterplay.core.games.kuhn import Kuhn
from counterplay.core.solvers.run import Progress


def test_stops_by_time() -> None:
    run = cp.solve("leduc", "mccfr", seconds=0.3)
    assert run.stopped_by == "seconds"
    assert 0.3 <= run.seconds < 3.0


def test_stops_by_target() -> None:
    run = cp.solve("kuhn", "cfr+", target=1e-4, iterations=10**9)
    assert run.stopped_by == "target"
    assert run.exploitability <= 1e-4


def test_without_limits_it_stops_at_the_default_target() -> None:
    run = cp.solve("kuhn")
    assert run.stopped_by == "target"
    assert run.exploitability <= 1e-3


def test_callback_sees_each_measurement_and_can_stop() -> None:
    seen: list[Progress] = []

    def watch(progress: Progress) -> bool:
        seen.append(progress)
        return progress.iterations >= 5000

    run = cp.solve("kuhn", "mccfr", iterations=10_000, measure_every=1000, callback=watch)
    assert run.stopped_by == "callback"
    assert [p.iterations for p in seen] == [1000, 2000, 3000, 4000, 5000]
    assert all(math.isfinite(p.exploitability) for p in seen)
    soon = cp.solve("kuhn", "cfr", iterations=10**9, on_chunk=lambda progress: True)
    assert soon.stopped_by == "callback"
    assert 0 < soon.iterations < 10**9
    assert math.isfinite(soon.exploitability)
    assert seen[-1].strategy().game is run.game


def test_metrics_grow_and_end_at_the_end() -> None:
    run = cp.solve("leduc", "mccfr", iterations=50_000)
    iterations = [row.iterations for row in run.metrics]
    assert iterations == sorted(set(iterations))
    assert iterations[-1] == 50_000
    nodes = [row.nodes for row in run.metrics]
    assert nodes == sorted(nodes)
    assert nodes[-1] > 50_000 * 3


@pytest.mark.parametrize(
    "limits",
    [
        {"iterations": -1},
        {"iterations": 0},
        {"iterations": 2.5},
        {"iterations": True},
        {"seconds": 0},
        {"seconds": -1.0},
        {"target": 0.0},
        {"target": float("nan")},
        {"seconds": "long"},
        {"iterations": 10, "measure_every": 0},
    ],
)
def test_bad_limits_are_refused(limits: dict[str, object]) -> None:
    with pytest.raises(cp.CounterplayError):
        cp.solve("kuhn", "mccfr", **limits)


@pytest.mark.parametrize("seed", [-1, 1.5, "one", True])
def test_bad_seeds_are_refused(seed: object) -> None:
    with pytest.raises(cp.CounterplayError, match="seed"):
        cp.solve("kuhn", "mccfr", iterations=10, seed=seed)


def test_a_run_is_saved_and_resumed(tmp_path: Path) -> None:
    run = cp.solve("kuhn", "mccfr", iterations=1000, seed=5)
    run.save(tmp_path / "run")
    assert {path.name for path in (tmp_path / "run").iterdir()} == {
        "config.json",
        "metrics.csv",
        "strategy.npz",
        "checkpoint.npz",
    }
    more = cp.resume(tmp_path / "run", iterations=3000)
    whole = cp.solve("kuhn", "mccfr", iterations=3000, seed=5)
    assert np.array_equal(more.strategy.probabilities, whole.strategy.probabilities)
    assert more.metrics[0].iterations == run.metrics[0].iterations


def test_resuming_a_finished_run_changes_nothing(tmp_path: Path) -> None:
    run = cp.solve("kuhn", "mccfr", iterations=1000, folder=tmp_path / "run")
    again = cp.resume(tmp_path / "run", iterations=500)
    assert again.iterations == 1000
    assert np.array_equal(again.strategy.probabilities, run.strategy.probabilities)


def test_never_writes_over_a_run(tmp_path: Path) -> None:
    run = cp.solve("kuhn", "mccfr", iterations=1000, folder=tmp_path / "run")
    before = (tmp_path / "run" / "checkpoint.npz").read_bytes()
    with pytest.raises(cp.CounterplayError, match="already holds a run"):
        cp.solve("kuhn", "mccfr", iterations=10, folder=tmp_path / "run")
    with pytest.raises(cp.CounterplayError, match="already holds a run"):
        run.save(tmp_path / "run")
    assert (tmp_path / "run" / "checkpoint.npz").read_bytes() == before
    (tmp_path / "file").write_text("precious")
    with pytest.raises(cp.CounterplayError, match="is a file"):
        cp.solve("kuhn", "mccfr", iterations=10, folder=tmp_path / "file")
    assert (tmp_path / "file").read_text() == "precious"


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("runs") / "run"
    cp.solve("kuhn", "mccfr", iterations=1000, seed=2, folder=folder)
    return folder


def _copy(source: Path, target: Path) -> Path:
    target.mkdir(parents=True)
    for path in source.iterdir():
        (target / path.name).write_bytes(path.read_bytes())
    return target


@pytest.mark.parametrize(
    "change",
    ["missing folder", "no config", "no checkpoint", "other config", "foreign json", "newer"],
)
def test_damaged_folders_get_a_sentence(change: str, finished: Path, tmp_path: Path) -> None:
    folder = _copy(finished, tmp_path / "run")
    config = folder / "config.json"
    if change == "missing folder":
        folder = tmp_path / "nowhere"
    elif change == "no config":
        config.unlink()
    elif change == "no checkpoint":
        (folder / "checkpoint.npz").unlink()
    elif change == "other config":
        config.write_text(json.dumps({**json.loads(config.read_text()), "seed": 3}))
    elif change == "foreign json":
        config.write_text("[1, 2]")
    else:
        arrays, header = files.read_arrays(folder / "checkpoint.npz", "checkpoint")
        files.write_arrays(
            folder / "checkpoint.npz", "checkpoint", arrays, {**header, "format": files.FORMAT + 1}
        )
    with pytest.raises(cp.CounterplayError) as problem:
        cp.resume(folder, iterations=2000)
    assert str(folder) in str(problem.value)


@settings(max_examples=60, deadline=None)
@given(name=st.sampled_from(["config.json", "checkpoint.npz", "metrics.csv"]), data=st.data())
def test_random_damage_never_gives_a_wrong_answer(
    name: str, data: st.DataObject, finished: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = _copy(finished, tmp_path_factory.mktemp("damaged") / "run")
    content = bytearray((folder / name).read_bytes())
    for _ in range(data.draw(st.integers(1, 3))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    keep = data.draw(st.integers(1, len(content)))
    (folder / name).write_bytes(
        bytes(content[:keep]) if data.draw(st.booleans()) else bytes(content)
    )
    expected = cp.solve("kuhn", "mccfr", iterations=1500, seed=2).strategy.probabilities
    try:
        run = cp.resume(folder, iterations=1500)
    except cp.CounterplayError:
        return
    assert np.array_equal(run.strategy.probabilities, expected)


def test_a_full_disk_keeps_the_last_checkpoint(
    finished: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = _copy(finished, tmp_path / "run")
    before = (folder / "checkpoint.npz").read_bytes()

    def full(_descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(cp.CounterplayError, match="No space left on device"):
        cp.resume(folder, iterations=2000)
    assert (folder / "checkpoint.npz").read_bytes() == before
    assert not [path for path in folder.iterdir() if path.suffix == ".tmp"]
    monkeypatch.undo()
    assert cp.resume(folder, iterations=2000).iterations == 2000


def test_a_game_of_your_own_can_be_resumed(tmp_path: Path) -> None:
    from counterplay.core.games.kuhn import Kuhn

    game = cp.Game("my own", Kuhn())
    cp.solve(game, "mccfr", iterations=100, folder=tmp_path / "run")
    with pytest.raises(cp.CounterplayError):
        cp.resume(tmp_path / "run", iterations=200)
    assert cp.resume(tmp_path / "run", iterations=200, game=game).iterations == 200


class Scaled:
    """Kuhn poker with all payoffs multiplied by a number."""

    n_players = 2

    def __init__(self, factor: float) -> None:
        self._factor = factor

    def root(self) -> Any:
        return ScaledState(Kuhn().root(), self._factor)


class ScaledState:
    def __init__(self, state: Any, factor: float) -> None:
        self._state, self._factor = state, factor

    def __getattr__(self, name: str) -> Any:
        return getattr(self._state, name)

    def child(self, action: str) -> Any:
        return ScaledState(self._state.child(action), self._factor)

    def payoffs(self) -> list[float]:
        return [self._factor * payoff for payoff in self._state.payoffs()]


def test_the_default_stop_is_relative_to_the_payoffs() -> None:
    runs = {x: cp.solve(cp.Game(f"scaled-{x}", Scaled(x))) for x in (1.0, 1e-3, 1e3)}
    plain = cp.solve("kuhn")
    assert {run.iterations for run in runs.values()} == {plain.iterations}
    for factor, run in runs.items():
        assert run.stopped_by == "target"
        assert run.target == pytest.approx(4e-4 * factor)
        assert run.exploitability <= run.target
        assert "target=" in repr(run)


def test_equal_payoffs_stop_at_once() -> None:
    run = cp.solve(cp.Game("scaled-0", Scaled(0.0)))
    assert (run.stopped_by, run.exploitability) == ("target", 0.0)


def test_too_few_iterations_are_named() -> None:
    few = cp.solve("leduc", "mccfr", iterations=20)
    assert few.visits < 1.0
    assert few.too_few is not None
    assert "too few iterations" in few.too_few
    assert few.too_few in few._repr_html_()
    many = cp.solve("leduc", "mccfr", iterations=20_000)
    assert many.visits > 10.0
    assert many.too_few is None
    assert cp.solve("leduc", "cfr+", iterations=1).too_few is None  # visits everything
    for game in ("goofspiel(4,tree=False)", "goofspiel(4)"):
        assert cp.solve(game, "mccfr", iterations=20).too_few is not None


def test_a_frontier_recommends_no_point_of_too_few_iterations() -> None:
    few = cp.frontier("leduc", "uniform", (0.0, 1.0), algorithm="mcrnr", iterations=20)
    assert few.too_few is not None
    assert few.too_few.startswith("p = 0, 1: too few iterations")
    assert few.too_few in few.table()
    assert few.too_few in few._repr_html_()
    with pytest.raises(cp.CounterplayError, match="too few iterations"):
        few.recommend(100.0)
    enough = cp.frontier("leduc", "uniform", (0.5,), algorithm="mcrnr", iterations=20_000)
    assert enough.too_few is None
    mixed = replace(few, points=(*few.points, *enough.points))
    assert mixed.recommend(100.0).p == 0.5
