"""Full width and sampling by size: one run in a process of its own, whose memory is its own; the
experiment at toy size."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from support.experiments import make_small

import counterplay as cp
from counterplay.app.reproduction import by_size, size_run
from counterplay.app.reproduction.harness.reproduce import jobs_of, reproduce
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.size_run import (
    NO_TREE,
    SizeRun,
    SizeTask,
    measure,
    measure_in_process,
)
from counterplay.core.base.errors import CounterplayError

TASK = SizeTask("goofspiel(3)", "rnr", "cfr", True, 1e6)


def test_a_process_of_its_own_has_memory_of_its_own() -> None:
    """What the one who starts it holds is not counted, and it finds what would be found here."""
    held = np.ones(50_000_000)  # 0.4 GB, touched
    (found,) = measure_in_process([TASK], lambda share, what: None)
    here = measure(TASK)
    assert (found.note, found.iterations, found.gap) == (here.note, here.iterations, here.gap)
    assert here.peak_gb is not None
    assert found.peak_gb is not None
    assert here.peak_gb > held.nbytes / 1e9
    assert found.peak_gb < here.peak_gb - 0.9 * held.nbytes / 1e9


def test_a_process_that_fails_says_why_and_one_that_is_stopped_ends() -> None:
    with pytest.raises(CounterplayError, match=r"the measuring process failed: .*gofspiel"):
        measure_in_process([TASK._replace(game="gofspiel(3)")], lambda share, what: None)
    children = Path(f"/proc/self/task/{os.getpid()}/children")
    before = children.read_text() if children.exists() else ""

    def stop(share: float, what: str) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        measure_in_process([TASK._replace(game="goofspiel(9)", tree=False)], stop)
    assert (children.read_text() if children.exists() else "") == before


def test_without_a_tree_the_same_iterations_and_what_they_win() -> None:
    sampled = SizeTask("goofspiel(4)", "mcrnr", "mccfr", True, 1e8)
    tree = measure(sampled)
    alone = measure(sampled._replace(tree=False, iterations=int(tree.iterations or 0)))
    assert tree.reached
    assert alone.reached
    assert (alone.iterations, alone.gap, tree.won) == (tree.iterations, None, None)
    exact = cp.respond(
        "goofspiel(4)",
        cp.Strategy.uniform("goofspiel(4)"),
        0,
        size_run.P,
        "mcrnr",
        engine="mccfr",
        seed=1,
        iterations=tree.iterations,
    )
    assert alone.won_error is not None
    # 40,000 hands: five standard errors; uniform play wins nothing from uniform play
    assert alone.won == pytest.approx(exact.payoff, abs=2.5 * alone.won_error)
    assert measure(sampled._replace(game="goofspiel(9)")) == SizeRun(NO_TREE)


def test_the_experiment_writes_what_it_promises(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = by_size.picture
    make_small(monkeypatch)
    monkeypatch.setattr(by_size, "picture", draw)
    families = {"Goof(N)": ["goofspiel(3)", "goofspiel(4)"], "PAM(3,3,H)": ["pam(3,3,4)"]}
    monkeypatch.setitem(by_size.SCALES, "quick", by_size.BySizeScale(families, 2e4))
    outcome = reproduce("by-size", "quick", tmp_path)
    assert (tmp_path / "by-size.png").read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader((tmp_path / "by-size.csv").open()))
    assert [row["method"] for row in rows] == [*by_size.METHODS] * 3
    by_note = {note: [row for row in rows if row["note"] == note] for note in ("target", "nodes")}
    assert all(by_note.values())  # some are stopped before the gap, by nodes and not by a clock
    assert len(rows) == sum(map(len, by_note.values()))
    assert all(float(row["gap"]) <= size_run.GAP for row in by_note["target"] if row["gap"])
    assert all(float(row["gap"]) > size_run.GAP for row in by_note["nodes"] if row["gap"])
    assert len(outcome.tables[0].rows) == 3
    assert outcome.claims == []


def test_what_has_no_tree_is_asked_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """And jobs fill the same store as the experiment reads."""
    asked: list[SizeTask] = []

    def pretended(tasks: list[SizeTask], progress: object) -> list[SizeRun]:
        asked.extend(tasks)
        return [SizeRun(NO_TREE) if t.tree else SizeRun("seconds", 1.0, 7) for t in tasks]

    monkeypatch.setattr(size_run, "measure_in_process", pretended)
    monkeypatch.setitem(by_size.SCALES, "quick", by_size.BySizeScale({"f": ["a(1)", "b(2)"]}, 1.0))
    store = PieceStore(tmp_path)
    for job in jobs_of(by_size.EXPERIMENT, "quick", store):
        job.work(lambda share, what: None)
    measured = [(task.game, task.tree) for task in asked if task.game != size_run.WARM_UP_GAME]
    assert measured == [("a(1)", True), ("a(1)", False), ("b(2)", True), ("b(2)", False)]
    monkeypatch.setattr(by_size, "picture", lambda runs, path: None)
    asked.clear()
    by_size.run("quick", store, lambda share, what: None)
    assert asked == []


def test_a_run_depends_on_no_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ten times as slow a machine finds the same, reached or stopped."""
    ticks = iter(range(0, 10**9, 1_000))
    for nodes in (1e4, 1e7):
        task = SizeTask("goofspiel(4)", "mcrnr", "mccfr", True, nodes)
        there = measure(task)
        with monkeypatch.context() as patch:
            patch.setattr(size_run.time, "perf_counter", lambda: float(next(ticks)))
            slow = measure(task)
        assert (there.note, there.iterations, there.gap) == (slow.note, slow.iterations, slow.gap)
        assert there.note == ("nodes" if nodes == 1e4 else "target")


def test_the_gap_starts_at_that_of_uniform_play() -> None:
    """So no game is there before it has begun, as Princess and Monster was."""
    for game in ("pam(3,3,6)", "goofspiel(4)", "bluff(1,1,3)"):
        found = measure(SizeTask(game, "rnr", "cfr", True, 1.0))
        assert found.iterations == 1
        assert found.gap is not None
        assert found.gap > size_run.GAP
