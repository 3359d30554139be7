"""Ctrl-C: a library call gives what there is so far, a command says in one sentence what was
kept, with code 130."""

from __future__ import annotations

import itertools
import json
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.command import Done, typed

import counterplay as cp
from counterplay.core.responses import frontier as frontiers
from counterplay.core.responses import respond as searches
from counterplay.core.solvers import lower_bound as lower_bounds
from counterplay.core.solvers import run as runs
from counterplay.core.solvers.algorithms import ALGORITHMS

KUHN = cp.load("kuhn")
UNIFORM = cp.Strategy.uniform(KUHN)
Patch = pytest.MonkeyPatch


@pytest.fixture
def press(monkeypatch: Patch) -> Callable[[int], None]:
    """`press(k)`: Ctrl-C in the k-th chunk of solving from now on, counted over all runs."""
    step = runs._Loop._step

    def after(chunks: int) -> None:
        left = chunks

        def stepping(loop: Any) -> None:
            nonlocal left
            step(loop)
            left -= 1
            if left == 0:
                signal.raise_signal(signal.SIGINT)

        monkeypatch.setattr(runs._Loop, "_step", stepping)

    return after


def stopped(work: Callable[[], Any]) -> Any:
    with pytest.raises(cp.Interrupted) as stop:
        work()
    return stop.value.result


@pytest.mark.parametrize(
    "algorithm", [name for name in ALGORITHMS if name != "lp" and ALGORITHMS[name].plays(KUHN)]
)
def test_solve_gives_the_run_so_far(
    algorithm: str, press: Callable[[int], None], tmp_path: Path
) -> None:
    """It can be looked at, saved and gone on with: the same bits as if nobody had pressed
    anything."""
    press(3)
    run = stopped(lambda: cp.solve(KUHN, algorithm, iterations=10**9))
    assert isinstance(run, cp.Run)
    assert run.stopped_by == "interrupted"
    assert 0 < run.iterations < 10**9
    assert np.isfinite(run.exploitability)
    run.save(tmp_path / "run")
    press(-1)
    more = cp.resume(tmp_path / "run", iterations=run.iterations + 50)
    whole = cp.solve(KUHN, algorithm, iterations=run.iterations + 50)
    assert np.array_equal(more.strategy.probabilities, whole.strategy.probabilities)


def test_ctrl_c_during_the_last_measurement(monkeypatch: Patch, tmp_path: Path) -> None:
    """The run is over, measured and saved; whoever asked to stop is told so all the same."""
    measure = runs._Loop._measure

    def measuring(loop: Any, final: bool = False) -> None:
        if final:
            signal.raise_signal(signal.SIGINT)
        measure(loop, final)

    monkeypatch.setattr(runs._Loop, "_measure", measuring)
    run = stopped(
        lambda: cp.solve(KUHN, "mccfr", iterations=500, measure_every=400, folder=tmp_path / "run")
    )
    assert (run.iterations, run.stopped_by) == (500, "iterations")
    assert np.array_equal(
        cp.Strategy.load(tmp_path / "run").probabilities, run.strategy.probabilities
    )


def test_a_frontier_keeps_its_points(monkeypatch: Patch) -> None:
    """However far it was; and a moment between two runs counts as well."""
    answer, whole = (
        frontiers.compute_response,
        cp.frontier(KUHN, UNIFORM, (0, 0.5, 1), player=0, engine="lp"),
    )
    for done in range(3):
        calls = iter(range(10))

        def until(*given: Any, **named: Any) -> Any:
            if next(calls) == done:  # noqa: B023
                raise KeyboardInterrupt
            return answer(*given, **named)

        monkeypatch.setattr(frontiers, "compute_response", until)
        part = stopped(lambda: cp.frontier(KUHN, UNIFORM, (0, 0.5, 1), player=0, engine="lp"))
        if done == 0:
            assert part is None
        else:
            assert [row[:3] for row in part.rows()] == [row[:3] for row in whole.rows()[:done]]


def test_a_search_keeps_the_best_within_the_limit(monkeypatch: Patch) -> None:
    answer = searches.compute_response
    many: Any = {"iterations": 300, "max_exploitability": 0.1}
    result = []
    for done in (0, 1, 2, 5, 9):
        calls = iter(range(99))

        def until(*given: Any, **named: Any) -> Any:
            if next(calls) == done:  # noqa: B023
                raise KeyboardInterrupt
            return answer(*given, **named)

        monkeypatch.setattr(searches, "compute_response", until)
        part = stopped(lambda: cp.respond(KUHN, UNIFORM, 0, engine="cfr+", **many))
        assert (part is None) == (done < 2)  # p = 1 is tried first, and risks too much
        if part is not None:
            assert part.exploitability <= 0.1
            result.append(part.exploitation)
    assert result == sorted(result)


def test_a_response_in_both_seats(press: Callable[[int], None]) -> None:
    """Stopped in the first seat it is a response of that seat; in the second, of both."""
    cp.respond(KUHN, UNIFORM, None, 0.5, "mcrnr", iterations=10)
    press(1)
    first = stopped(
        lambda: cp.respond(KUHN, UNIFORM, None, 0.5, "mcrnr", iterations=10, measure_every=1)
    )
    assert (first.player, first.iterations) == (0, 1)
    press(11)
    both = stopped(
        lambda: cp.respond(KUHN, UNIFORM, None, 0.5, "mcrnr", iterations=10, measure_every=1)
    )
    assert both.player is None
    assert [run.iterations for run in both.runs] == [10, 1]


def said(done: Done, words: str) -> None:
    """One line that says what was kept, and no traceback."""
    assert done.code == 130
    assert len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert words in done.stderr


def test_commands_with_a_folder(press: Callable[[int], None], tmp_path: Path) -> None:
    press(2)
    said(
        typed(tmp_path, "solve", "kuhn", "-a", "mccfr", "-n", "100000000", "--out", "run"),
        "counterplay solve --resume run",
    )
    press(2)
    command = "respond uniform --game kuhn -a mcrnr -n 100000000 --out answer"
    words = command.split()
    said(typed(tmp_path, *words), "counterplay respond --resume answer")
    press(-1)
    for command, folder in (("solve", "run"), ("respond", "answer")):
        assert typed(tmp_path, command, "--resume", folder, "-s", "0.01").code == 0


def test_the_frontier_command(press: Callable[[int], None], tmp_path: Path) -> None:
    command = "frontier uniform --game kuhn --player 1 -a mcrnr -n 1 --ps 0,0.5,1 --out f"
    words = command.split()
    press(1)
    done = typed(tmp_path, *words)
    said(done, "nothing was saved")
    assert not (tmp_path / "f").exists()
    press(3)
    done = typed(tmp_path, *words, "--json")
    said(done, "2 of 3 values of p")
    assert [point["p"] for point in json.loads(done.stdout)["points"]] == [0.0, 0.5]
    assert len((tmp_path / "f" / "frontier.csv").read_text().splitlines()) == 3
    assert (tmp_path / "f" / "frontier.png").exists()


def test_the_search_command(
    press: Callable[[int], None], tmp_path: Path, monkeypatch: Patch
) -> None:
    command = "respond uniform --game kuhn --player 1 --max-exploitability 0.1 -n 500 --out r"
    words = command.split()
    press(1)
    said(typed(tmp_path, *words), "nothing was saved")
    assert not (tmp_path / "r").exists()
    answer, calls = searches.compute_response, iter(range(99))

    def third_time(*given: Any, **named: Any) -> Any:
        if next(calls) == 2:  # p = 1 and p = 0 are done
            press(1)
        return answer(*given, **named)

    press(-1)
    monkeypatch.setattr(searches, "compute_response", third_time)
    done = typed(tmp_path, *words, "--json")
    said(done, "best response within the limit")
    assert json.loads(done.stdout)["exploitability"] <= 0.1
    assert cp.Strategy.load(tmp_path / "r").player == 0


QUIET = {
    "games": (["games", "kuhn"], "counterplay.core.forms.registry.load"),
    "evaluate": (
        ["evaluate", "uniform", "--game", "kuhn"],
        "counterplay.core.evaluation.exact.expected_value",
    ),
    "show": (["show", "x.npz"], "counterplay.poker.players.game_of"),
    "model": (
        ["model", "x.parquet", "--player", "y"],
        "counterplay.poker.histories.read.read_hands",
    ),
    "solve": (["solve", "kuhn"], "counterplay.core.forms.registry.load"),
    "respond": (["respond", "uniform", "--game", "kuhn"], "counterplay.core.forms.registry.load"),
    "frontier": (["frontier", "uniform", "--game", "kuhn"], "counterplay.core.forms.registry.load"),
    "prepare": (["holdem", "prepare", "--tables"], "counterplay.poker.cards.strength.strengths"),
}


@pytest.mark.parametrize("name", QUIET)
def test_before_there_is_anything(name: str, tmp_path: Path, monkeypatch: Patch) -> None:
    def stop(*_given: Any, **_named: Any) -> None:
        raise KeyboardInterrupt

    words, where = QUIET[name]
    monkeypatch.setattr(where, stop)
    said(typed(tmp_path, *words), "nothing was saved")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(("after", "kept"), [(1, False), (7, False), (8, True), (12, True)])
def test_a_lower_bound_is_that_of_what_was_learnt(
    after: int, kept: bool, tmp_path: Path, monkeypatch: Patch
) -> None:
    """Three learners of each player, two rounds of all and one of the best: seven calls. Before
    both players have learnt there is no bound."""
    learn, calls = lower_bounds._Learner.learn, itertools.count(1)

    def pressed(learner: Any, *limits: Any) -> None:
        learn(learner, *limits)
        if next(calls) == after:
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr(lower_bounds._Learner, "learn", pressed)
    ask = ("evaluate", "uniform", "--game", "kuhn", "--method", "play", "--seconds", "0.1")
    done = typed(tmp_path, *ask, "--json")
    assert done.code == 130
    if kept:
        assert "so far" in done.stderr
        assert 0.0 <= json.loads(done.stdout)["exploitability_lower_bound"] < 1.0
    else:
        assert done.stdout == ""
        assert "stopped; nothing was saved." in done.stderr
