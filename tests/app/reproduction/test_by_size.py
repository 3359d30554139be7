"""Full width and sampling by size: one run in a process of its own, whose memory is its own; the
experiment at toy size."""

from __future__ import annotations

import csv
import os
from pathlib import Path

import numpy as np
import pytest
from support.experiments import make_small
from support.rules import Cases, says_all_three

import counterplay as cp
from counterplay.app.reproduction import by_size, size_run
from counterplay.app.reproduction.harness.judge import Claim
from counterplay.app.reproduction.harness.reproduce import jobs_of, reproduce
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.size_run import (
    NO_TREE,
    OUT_OF_MEMORY,
    REACHED,
    SizeRun,
    SizeTask,
    measure,
    measure_in_process,
)
from counterplay.core.base.errors import CounterplayError

CASES: Cases = {}
TASK = SizeTask("goofspiel(3)", "rnr", "cfr", True, 60.0)


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
    sampled = SizeTask("goofspiel(4)", "mcrnr", "mccfr", True, 60.0)
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
    outcome = reproduce("by-size", "quick", tmp_path)
    assert (tmp_path / "by-size.png").read_bytes()[:4] == b"\x89PNG"
    rows = list(csv.DictReader((tmp_path / "by-size.csv").open()))
    assert [row["method"] for row in rows] == [*by_size.METHODS, *by_size.METHODS]
    assert {row["note"] for row in rows} == {"target"}
    assert all(float(row["gap"]) <= size_run.GAP for row in rows if row["gap"])
    assert len(outcome.tables[0].rows) == 2
    assert all(claim.holds is None for claim in outcome.claims)  # nothing is decided at this size


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


def sized(
    seconds: float, peak: float = 1.0, note: str = REACHED, nodes: int = by_size.LARGE
) -> SizeRun:
    return SizeRun(note, seconds, 10, 0.01, 0.0, peak, nodes)


def races(sampled: SizeRun, full: SizeRun) -> by_size.Runs:
    """The last game has no tree, so that the one before is the largest that both can do."""
    none = SizeRun(NO_TREE)
    last = {by_size.CFR: none, by_size.OUTCOME_ALONE: WON}
    small = {by_size.CFR: FULL_SIZED, by_size.OUTCOME_ALONE: FULL_SIZED}
    return {"f": {"a": small, "b": {by_size.CFR: full, by_size.OUTCOME_ALONE: sampled}, "c": last}}


def sooner(sampled: SizeRun, full: SizeRun) -> Claim:
    return by_size.sooner(races(sampled, full), by_size.OUTCOME_ALONE, by_size.CFR)


def alone(won: float, note: str = NO_TREE) -> Claim:
    last = {by_size.CFR: SizeRun(note), by_size.OUTCOME_ALONE: WON._replace(won=won)}
    return by_size.goes_on({"f": {"c": last}})


FULL_SIZED = sized(10.0)
WON = sized(10.0, note="seconds")._replace(won=0.3, won_error=0.1)
CASES[by_size.sooner] = (
    lambda: sooner(sized(4.0), FULL_SIZED),
    lambda: sooner(sized(21.0), FULL_SIZED),
    lambda: sooner(sized(12.0), FULL_SIZED),
)
CASES[by_size.smaller] = (
    lambda: by_size.smaller(races(sized(1.0, 0.5), FULL_SIZED)),
    lambda: by_size.smaller(races(sized(1.0, 1.5), FULL_SIZED)),
    lambda: by_size.smaller(races(sized(1.0, 1.05), FULL_SIZED)),
)
CASES[by_size.goes_on] = (lambda: alone(0.3), lambda: alone(-0.3), lambda: alone(0.05))


def test_each_rule_can_say_all_three() -> None:
    says_all_three(by_size, CASES)


def test_sizes_decide_nothing_for_want_of_time_or_size() -> None:
    """Small games, runs that were stopped, and games that nobody could do."""
    stopped = sized(30.0, note="seconds")
    assert sooner(stopped, stopped).holds is None
    assert sooner(stopped, FULL_SIZED).holds is False  # RNR was there in less than half of it
    assert sooner(sized(12.0, note="seconds"), FULL_SIZED).holds is None
    assert sooner(sized(4.0), stopped).holds is True
    assert sooner(sized(30.0), sized(10.0, note="seconds")).holds is None
    for one in (sized(1.0), sized(90.0)):
        few = FULL_SIZED._replace(nodes=by_size.LARGE - 1)
        assert sooner(one, few).holds is None
        assert by_size.smaller(races(one._replace(peak_gb=9.0), few)).holds is None
    assert by_size.goes_on({"f": {}}).holds is None
    assert alone(0.3, OUT_OF_MEMORY).holds is True
    nobody = {by_size.CFR: SizeRun(NO_TREE)}
    for claim in by_size.claims({"f": {"c": nobody}}):
        assert claim.holds is None
        assert claim.measured
        assert claim.text.endswith("(beyond the paper).")
