"""Pieces of experiments side by side: all are made, none twice, in the order of their needs; and
what a limit of time or a kill leaves is gone on with."""

from __future__ import annotations

import itertools
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from support import jobs as support
from support.jobs import note, noting
from support.toy_experiment import Solved, Toy

from counterplay.app.reproduction.harness import reproduce
from counterplay.app.reproduction.harness.base import machine
from counterplay.app.reproduction.harness.reproduce import JobRunner, job_seconds, reproduce_all
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.core.base.disk import file_lock
from counterplay.core.base.errors import BadParameter, Interrupted
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.parallel.jobs import Job, chain_seconds, run_jobs, without_duplicates
from counterplay.core.parallel.processes import FORK, SPAWN


@pytest.fixture(params=[FORK, SPAWN])
def start(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """How processes start."""
    if request.param == FORK and sys.platform != "linux":
        pytest.skip("forks on Linux only")
    monkeypatch.setenv("COUNTERPLAY_START", request.param)
    return str(request.param)


both_ways = pytest.mark.usefixtures("start")
forked = pytest.mark.skipif(sys.platform != "linux", reason="forks on Linux only")
signals = pytest.mark.skipif(os.name != "posix", reason="needs signals")


@both_ways
def test_all_are_done_once_and_after_what_they_need(tmp_path: Path) -> None:
    told: list[float] = []
    jobs = without_duplicates(noting(tmp_path, "abcdea", {"a": "e", "c": "d"}))
    assert [job.name for job in jobs] == list("abcde")
    assert run_jobs(jobs, 3, lambda share, what: told.append(share)) == {}
    order = (tmp_path / "order").read_text().split()
    assert sorted(order) == list("abcde")
    assert order.index("e") < order.index("a")
    assert order.index("d") < order.index("c")
    assert told[-1] == pytest.approx(1.0)


@both_ways
def test_a_job_has_the_processors_it_asks_for_and_no_two_share_one(tmp_path: Path) -> None:
    if not hasattr(os, "sched_getaffinity"):
        pytest.skip("no affinity here")
    mine = len(os.sched_getaffinity(0))

    jobs = [
        Job(n, partial(support.write_processors, tmp_path / n), threads=t)
        for n, t in (("a", 1), ("b", 2))
    ]
    assert run_jobs(jobs, mine, no_progress) == {}
    assert len((tmp_path / "a").read_text().split()) == 1
    assert len((tmp_path / "b").read_text().split()) == min(2, mine)


@both_ways
def test_an_outcome_names_all_processors_of_the_machine(tmp_path: Path) -> None:
    """Also if it is assembled in a job, which has one."""
    run_jobs([Job("a", partial(support.write_machine, tmp_path / "a"))], 1, no_progress)
    assert (tmp_path / "a").read_text() == machine()


@both_ways
def test_what_goes_wrong_is_said_and_stops_nothing_else(tmp_path: Path) -> None:
    jobs = [
        Job("bad", support.fails),
        Job("dead", support.dies),
        *noting(tmp_path, "ab", {"b": "x"}),
    ]
    jobs[-1] = jobs[-1]._replace(after=("bad",))
    lacking = run_jobs(jobs, 2, no_progress)
    assert lacking == {"bad": "ValueError: no luck", "dead": "its process ended"}
    assert sorted((tmp_path / "order").read_text().split()) == ["a", "b"]


@both_ways
@pytest.mark.parametrize("work", [support.endless, pytest.param(support.asleep, marks=signals)])
def test_time_is_kept_and_who_is_told_to_stop_may_still_write(tmp_path: Path, work: Any) -> None:
    """Whether it says how far it is or not."""
    for seconds in _limits():
        before = time.monotonic()
        lacking = run_jobs([Job("long", partial(work, tmp_path))], 1, no_progress, before + seconds)
        assert lacking == {"long": ""}
        assert time.monotonic() - before < seconds + 20
        if (tmp_path / "draft").exists():
            break
    assert (tmp_path / "draft").read_text() == "so far"


@both_ways
def test_with_little_time_left_shorter_jobs_come_first(tmp_path: Path) -> None:
    long, short = noting(tmp_path, "ls")
    jobs = [long._replace(seconds=1000.0), short._replace(seconds=0.1)]
    run_jobs(jobs, 1, no_progress, time.monotonic() + 60)
    assert (tmp_path / "order").read_text().split() == ["s", "l"]


@both_ways
def test_a_chain_as_long_as_all_other_work_comes_before_its_turn(tmp_path: Path) -> None:
    """Else it would run alone at the end; less urgent chains wait for their turn."""
    first, second, third, fourth = noting(tmp_path, "abcd", {"d": "c"})
    jobs = [first, second, third._replace(seconds=0.5), fourth]
    assert chain_seconds(jobs) == {"a": 1.0, "b": 1.0, "c": 1.5, "d": 1.0}
    run_jobs(jobs, 1, no_progress)
    assert (tmp_path / "order").read_text().split() == list("abcd")
    (tmp_path / "order").unlink()
    slow = [Job(name, partial(note, tmp_path, name, seconds=1.0)) for name in "ab"]
    run_jobs([*slow, third, fourth._replace(seconds=9.0)], 2, no_progress)
    assert (tmp_path / "order").read_text().split()[:2] == list("cd")


def _wide(jobs: list[Job]) -> list[Job]:
    return [job._replace(threads=2) if job.name in "zc" else job for job in jobs]


def test_what_several_jobs_need_comes_first(tmp_path: Path) -> None:
    several = {"b": "zx", "c": "zx", "d": "y"}
    one = replace(Toy(tmp_path, "a", "a").experiment, jobs=lambda *_: noting(tmp_path, "a"))
    other = replace(one, name="other", priority=9)
    other = replace(other, jobs=lambda *_: _wide(noting(tmp_path, "ybxzcd", several)))
    listed = reproduce.jobs_of_all([other, replace(one, priority=1)], "quick", PieceStore(tmp_path))
    assert [job.name for job in listed] == list("zxaybcd")


@both_ways
def test_an_outcome_is_there_before_the_pieces_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """So that a run that is killed leaves what was complete."""
    toys = [Toy(tmp_path, names, ready).experiment for names, ready in (("ab", "ab"), ("c", ""))]
    monkeypatch.setattr(reproduce, "experiments", lambda: reproduce.in_order(toys))
    saved: list[bool] = []

    def look(share: float, what: str) -> None:
        saved.append((tmp_path / "s" / "ab.json").exists())
        if saved[-1]:
            (tmp_path / "go").touch()

    done = reproduce_all("quick", tmp_path / "s", look, seconds=100, processes=2)
    assert [outcome.name for outcome in done.outcomes] == ["ab", "c"]
    assert saved[-1]
    assert _order(tmp_path)[-1] == "c"


def _limits() -> Iterator[float]:
    """Ever longer, so that a busy machine only makes it slower. A spawned process imports first."""
    first = 0.8 if os.environ["COUNTERPLAY_START"] == SPAWN else 0.2
    return itertools.takewhile(lambda x: x < 60, (first * 2**k for k in itertools.count()))


def _order(folder: Path) -> list[str]:
    file = folder / "order"
    return file.read_text().split() if file.exists() else []


@both_ways
def test_calls_with_limits_add_up_to_the_whole_and_make_nothing_twice(tmp_path: Path) -> None:
    experiment = Toy(tmp_path, "abcd", "ac").experiment
    for seconds in _limits():
        lacking = JobRunner.create(seconds, 2).run(
            [experiment], "quick", PieceStore(tmp_path / "s"), no_progress
        )
        assert lacking == {"abcd"}
        if len(list((tmp_path / "s").rglob("thing-*.piece"))) == 2:
            break
    before = _order(tmp_path)  # what was stopped between making and keeping is there twice
    assert set(before) == set("ac")
    (tmp_path / "go").touch()
    store = PieceStore(tmp_path / "s")
    assert JobRunner.create(None, 3).run([experiment], "quick", store, no_progress) == set()
    experiment.run("quick", store, no_progress)
    assert sorted(_order(tmp_path)[len(before) :]) == ["b", "d"]
    assert job_seconds(experiment, "quick", store) > 0.0


@forked
def test_two_processes_that_want_one_piece_make_it_once(tmp_path: Path) -> None:
    def work(progress: ProgressCallback) -> None:
        store = PieceStore(tmp_path / "s")
        store.value("thing", {}, lambda: note(tmp_path, "made", progress, 0.2))

    assert run_jobs([Job(f"{k}", work) for k in range(3)], 3, no_progress) == {}
    assert (tmp_path / "order").read_text().split() == ["made"]
    assert not list((tmp_path / "s").rglob("*.lock"))


@both_ways
def test_again_believes_what_helpers_made_and_nothing_older(tmp_path: Path) -> None:
    experiment = Toy(tmp_path, "ab", "ab").experiment
    JobRunner.create(30, 2).run([experiment], "quick", PieceStore(tmp_path / "s"), no_progress)
    time.sleep(0.05)
    store = PieceStore(tmp_path / "s", again=True)
    time.sleep(0.05)  # files' clocks are coarse
    JobRunner.create(30, 2).run([experiment], "quick", store, no_progress)
    experiment.run("quick", store, no_progress)
    assert sorted((tmp_path / "order").read_text().split()) == ["a", "a", "b", "b"]


def test_a_lock_ends_with_the_process_that_held_it(tmp_path: Path) -> None:
    code = (
        "import time\nfrom pathlib import Path\nfrom counterplay.core.base.disk import file_lock\n"
        f"with file_lock(Path({str(tmp_path / 'x')!r})):\n"
        "    print('held', flush=True)\n    time.sleep(60)"
    )
    holder = subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE)
    assert holder.stdout is not None
    assert holder.stdout.readline() == b"held\n"
    holder.kill()
    holder.wait()
    with file_lock(tmp_path / "x"):
        pass


@both_ways
def test_a_campaign_in_slices_gives_what_is_complete_and_goes_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One experiment is assembled though the other lacks pieces, and what is kept is not made
    again."""
    known = {one.name: one for one in (Toy(tmp_path, n, "ab").experiment for n in ("ab", "xyz"))}
    monkeypatch.setattr(reproduce, "experiments", lambda: known)
    for seconds in _limits():
        with pytest.raises(Interrupted) as stop:
            reproduce_all("quick", tmp_path / "s", seconds=seconds, processes=2)
        if stop.value.result.outcomes:
            break
    assert [one.name for one in stop.value.result.outcomes] == ["ab"]
    before = _order(tmp_path)  # what was stopped between making and keeping is there twice
    assert set(before) == set("ab")
    (tmp_path / "go").touch()
    shares: list[float] = []
    done = reproduce_all(
        "quick", tmp_path / "s", lambda share, what: shares.append(share), processes=3
    )
    assert [one.name for one in done.outcomes] == ["ab", "xyz"]
    assert done.skipped == ["ab"]
    assert shares == sorted(shares)
    assert sorted(_order(tmp_path)[len(before) :]) == list("xyz")


def test_an_experiment_has_the_same_outcome_by_fork_and_by_spawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And two processes make it: each piece waits for a second one to have begun."""
    outcomes = []
    for method in (FORK, SPAWN) if sys.platform == "linux" else (SPAWN,):
        monkeypatch.setenv("COUNTERPLAY_START", method)
        folder = tmp_path / method
        folder.mkdir()
        experiment = Solved(folder, "abcd").experiment
        monkeypatch.setattr(reproduce, "experiments", lambda one=experiment: {one.name: one})
        outcome = reproduce.reproduce("abcd", "quick", folder / "s", seconds=300, processes=2)
        makers = {int(file.stem) for file in folder.glob("*.process")}
        assert len(makers) == 2
        assert os.getpid() not in makers
        outcomes.append(replace(outcome, seconds=0.0))
    assert len(set(map(repr, outcomes))) == 1
    assert all(gap > 0 for gap in outcomes[0].setting.values())


def test_seconds_are_kept_under_spawn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPLAY_START", SPAWN)
    experiment = Toy(tmp_path, "ab").experiment
    monkeypatch.setattr(reproduce, "experiments", lambda: {"ab": experiment})
    before = time.monotonic()
    with pytest.raises(Interrupted):
        reproduce.reproduce("ab", "quick", tmp_path / "s", seconds=2.0, processes=2)
    assert time.monotonic() - before < 20
    assert _order(tmp_path) == []


@pytest.mark.parametrize("options", [{"seconds": 0.0}, {"seconds": float("nan")}, {"processes": 0}])
def test_nonsense_is_refused(options: dict[str, float], tmp_path: Path) -> None:
    with pytest.raises(BadParameter, match="must be a"):
        reproduce_all("quick", tmp_path, **options)


@both_ways
@signals
def test_ctrl_c_stops_all_helpers(tmp_path: Path) -> None:
    """They leave what they have, and nobody stays behind."""

    def interrupt(share: float, what: str) -> None:
        if len(list(tmp_path.glob("*.running"))) == 2:  # both are at work
            os.kill(os.getpid(), signal.SIGINT)

    work = partial(support.endless, tmp_path)
    with pytest.raises(KeyboardInterrupt):
        run_jobs([Job("a", work), Job("b", work)], 2, interrupt)
    assert [file.name for file in tmp_path.iterdir()] == ["draft"]
