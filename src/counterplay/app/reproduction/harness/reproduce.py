"""Running experiments: one by name, or all in order.

An experiment's jobs, the pieces that can be computed independently, run first in several processes
(`JobRunner`); then its `run` assembles them, itself a job where all experiments run. Finished
results are skipped, and the failure of one experiment does not stop the others.
"""

from __future__ import annotations

import math
import os
import re
import time
import traceback
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from threading import Lock

from counterplay.app.reproduction.harness.base import (
    Experiment,
    ExperimentFailure,
    Outcome,
    duration,
    earlier_outcome,
    failure_path,
    finished_outcome,
)
from counterplay.app.reproduction.harness.report import write_report
from counterplay.app.reproduction.harness.store import PieceStore, result_version
from counterplay.core.base.errors import BadParameter, Interrupted, whole_number
from counterplay.core.base.progress import ProgressCallback, no_progress, part
from counterplay.core.base.registry import Registry
from counterplay.core.base.store import Slot
from counterplay.core.base.version import version
from counterplay.core.parallel.jobs import Job, run_jobs, without_duplicates
from counterplay.core.parallel.processes import cores
from counterplay.core.parallel.ray_cluster import current

SCALES = ("quick", "paper")
#: Modules of the reproduction that define `EXPERIMENT`, entry points of installed packages
#: (`counterplay.experiments`), and `my_figure.py:EXPERIMENT`.
EXPERIMENTS: Registry[Experiment] = Registry(
    "experiment", lambda spec: isinstance(spec, Experiment)
)
OUTCOME_SECONDS = 4.0  # of assembling an outcome and drawing its picture
JOBS_SHARE = 0.95  # of the work, where jobs run first
PRIOR_SECONDS = 20.0  # after so long the measured pace counts as much as the expected one
SHOWN_CALLS = 4  # of a failure's traceback
_FOLDERS = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][^\\/\s'\":]+)+[\\/]")


@cache
def experiments() -> dict[str, Experiment]:
    """Every registered experiment by name, in report order."""
    return in_order(list(EXPERIMENTS.values()))


def in_order(unsorted: list[Experiment]) -> dict[str, Experiment]:
    """By name, sorted by `Experiment.order`; those without one come last."""
    return {one.name: one for one in sorted(unsorted, key=lambda one: (one.order, one.name))}


def check_scale(scale: str) -> None:
    if scale not in SCALES:
        raise BadParameter(f"scale must be quick or paper, not {scale!r}")


def reproduce(
    name: str,
    scale: str = "quick",
    folder: str | Path = "results",
    progress: ProgressCallback = no_progress,
    again: bool = False,
    seconds: float | None = None,
    processes: int | None = None,
) -> Outcome:
    """Run one experiment; its picture, CSV and verdict go to `folder`, and the report there is
    renewed.

    Pieces that an earlier run left in `folder`/work, finished or stopped, are used again, unless
    `again`. They are computed by so many `processes`, by default as many as there are cores.
    After `seconds` an unfinished run stops with `Interrupted`; the same call continues it.
    """
    experiment = experiments().get(name) or EXPERIMENTS.find(name)
    check_scale(scale)
    runner = JobRunner.create(seconds, processes)
    store = PieceStore(folder, again)
    try:
        of_jobs, of_run = runner.split_progress(progress)
        if runner.run([experiment], scale, store, of_jobs):
            raise Interrupted(None)
        return run_and_save(experiment, scale, store, of_run)
    finally:
        listed = in_order([*experiments().values(), experiment])
        write_report(Path(folder), list(listed.values()))


def run_and_save(
    experiment: Experiment, scale: str, store: PieceStore, progress: ProgressCallback
) -> Outcome:
    """The outcome of a run. Its JSON file is written after all others."""
    started = time.perf_counter()
    outcome = experiment.run(scale, store, progress)
    took = outcome.seconds or time.perf_counter() - started
    outcome = replace(outcome, seconds=took + job_seconds(experiment, scale, store))
    outcome = outcome.seal(store.folder, result_version(experiment.run))
    outcome.save(store.folder)
    failure_path(store.folder, experiment.name).unlink(missing_ok=True)
    return outcome


@dataclass(frozen=True)
class ReproductionResults:
    """The results of `reproduce_all`: outcomes in the order of the paper, the names of those that
    were already there, and failures."""

    scale: str
    outcomes: list[Outcome]
    skipped: list[str]
    failures: list[ExperimentFailure]
    seconds: float
    report: Path


def reproduce_all(
    scale: str = "quick",
    folder: str | Path = "results",
    progress: ProgressCallback = no_progress,
    again: bool = False,
    seconds: float | None = None,
    processes: int | None = None,
) -> ReproductionResults:
    """Run every experiment, and write `report.html` with the results into `folder`.

    Results that the same code left there at the same scale are kept, and so are the pieces of
    unfinished experiments in `folder`/work, unless `again`; so the same call continues after an
    interruption. `progress` gets the share of the whole and the current step, with the time left.
    Ctrl-C and the end of `seconds` raise `Interrupted`, whose `result` has the results so far.
    Pieces are computed by so many `processes`, by default as many as there are cores.
    """
    check_scale(scale)
    runner = JobRunner.create(seconds, processes)
    started, folder = time.perf_counter(), Path(folder)
    planned = list(experiments().values())
    report = write_report(folder, planned)  # first: an unwritable folder shows at once
    store = PieceStore(folder, again)
    outcomes = {e.name: None if again else _finished(e, scale, folder) for e in planned}
    todo = [experiment for experiment in planned if outcomes[experiment.name] is None]
    skipped = [e.name for e in planned if e not in todo]
    failures: list[ExperimentFailure] = []

    def results() -> ReproductionResults:
        done = [outcome for outcome in outcomes.values() if outcome is not None]
        took = time.perf_counter() - started
        return ReproductionResults(scale, done, skipped, failures, took, report)

    try:
        of_jobs, of_runs = runner.split_progress(progress)
        try:
            unfinished = runner.run(todo, scale, store, of_jobs, outcomes=True)
        finally:
            outcomes |= {one.name: _made_now(one, scale, store) for one in todo}
        write_report(folder, planned)
        todo = [e for e in todo if e.name not in unfinished and outcomes[e.name] is None]
        overall = OverallProgress(
            {e.name: expected_seconds(e, scale, folder) for e in todo}, of_runs
        )
        for experiment in todo:
            try:
                part = overall.part(experiment.name)
                outcomes[experiment.name] = run_and_save(experiment, scale, store, part)
            except Exception as error:  # of any kind: the others still run
                failures.append(_failure(experiment, scale, folder, error))
                failures[-1].save(folder)
            overall.finish(experiment.name)
            write_report(folder, planned)
        if unfinished:
            raise Interrupted(results())
    except KeyboardInterrupt:
        write_report(folder, planned)
        raise Interrupted(results()) from None
    overall.end()
    return results()


def _finished(experiment: Experiment, scale: str, folder: Path) -> Outcome | None:
    return finished_outcome(experiment.name, scale, folder, result_version(experiment.run))


def _made_now(experiment: Experiment, scale: str, store: PieceStore) -> Outcome | None:
    """The outcome that a job has saved."""
    fresh = store.accepts(store.folder / f"{experiment.name}.json")
    return _finished(experiment, scale, store.folder) if fresh else None


def expected_seconds(experiment: Experiment, scale: str, folder: Path) -> float:
    """Duration of the last run in this folder, else the experiment's own estimate."""
    earlier = earlier_outcome(experiment.name, folder)
    if earlier is not None and earlier.scale == scale and earlier.seconds > 0:
        return earlier.seconds
    return max(float(experiment.seconds.get(scale, 0.0)), 1.0)


class OverallProgress:
    """Combines the progress of several parts into one share that never falls, with the time left.
    `seconds`: expected duration of each part."""

    def __init__(self, seconds: Mapping[str, float], progress: ProgressCallback) -> None:
        self._seconds = dict(seconds)
        self._total = sum(seconds.values()) or 1.0
        self._progress = progress
        self._done = 0.0  # expected seconds of the finished parts
        self._share = 0.0
        self._started = time.monotonic()
        self._lock = Lock()

    def part(self, name: str) -> ProgressCallback:
        """The progress callback of one part."""
        number = list(self._seconds).index(name) + 1
        label = f"{name} ({number} of {len(self._seconds)})"
        self._show(self._done, label)
        return lambda share, what: self._show(
            self._done + min(max(share, 0.0), 1.0) * self._seconds[name], f"{label}: {what}"
        )

    def finish(self, name: str) -> None:
        self._done += self._seconds[name]

    def end(self) -> None:
        self._progress(1.0, "done")

    def _show(self, done: float, what: str) -> None:
        with self._lock:
            self._share = min(max(self._share, done / self._total), 1.0)
            self._progress(self._share, f"about {duration(self.left())} left, {what}")

    def left(self) -> float:
        """Seconds left, from the expected durations and the pace so far."""
        return seconds_left(self._total, self._share, time.monotonic() - self._started)


def seconds_left(expected: float, share: float, spent: float) -> float:
    """Seconds left of work that was expected to take so long, by the pace so far."""
    done = share * expected
    return (expected - done) * (PRIOR_SECONDS + spent) / (PRIOR_SECONDS + done)


def _failure(
    experiment: Experiment, scale: str, folder: Path, error: Exception
) -> ExperimentFailure:
    """Message and last calls, without the folders of this machine."""
    lines = str(error).replace(str(folder.resolve()), "").strip().splitlines()
    kind = type(error).__name__
    message = _FOLDERS.sub("", f"{kind}: {lines[0]}" if lines else kind)
    calls = traceback.extract_tb(error.__traceback__)[-SHOWN_CALLS:]
    where = " → ".join(f"{Path(c.filename).name}:{c.lineno} in {c.name}" for c in calls)
    return ExperimentFailure(experiment.name, experiment.title, scale, message, where, version())


# jobs


@dataclass(frozen=True)
class JobRunner:
    """Runs the jobs of experiments on so many processors, until a time of the monotonic clock;
    None: until all are done."""

    processors: int
    deadline: float | None

    @classmethod
    def create(cls, seconds: float | None, processes: int | None) -> JobRunner:
        if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
            raise BadParameter(f"seconds must be a number above 0, not {seconds!r}")
        if processes is not None:
            whole_number(processes, 1, None, "processes")
        deadline = None if seconds is None else time.monotonic() + seconds
        return cls(processes or cores(), deadline)

    @property
    def active(self) -> bool:
        """Whether jobs run before their experiments; else each experiment computes its pieces."""
        return self.processors > 1 or current() is not None or self.deadline is not None

    def split_progress(
        self, progress: ProgressCallback
    ) -> tuple[ProgressCallback, ProgressCallback]:
        """Progress of the jobs, and of the experiments' runs."""
        if not self.active:
            return no_progress, progress
        of_jobs = part(progress, 0.0, JOBS_SHARE)
        return of_jobs, part(progress, JOBS_SHARE, 1.0)

    def run(
        self,
        experiments: Sequence[Experiment],
        scale: str,
        store: PieceStore,
        progress: ProgressCallback,
        outcomes: bool = False,
    ) -> set[str]:
        """Run the jobs of these experiments, and with `outcomes` assemble and save each outcome as
        soon as its pieces are there. Returns the names of experiments with jobs that the time did
        not suffice for.

        A job that fails is not reported here: the experiment's run meets the same error.
        """
        if not self.active:
            return set()
        assembled = outcomes and current() is None  # other machines do not assemble
        make_jobs = partial(jobs_of_all, experiments, scale, store, assembled)
        started, cluster, jobs = time.monotonic(), current(), make_jobs()
        expected = sum(job.seconds * job.threads for job in jobs) / self.processors

        def show(share: float, what: str) -> None:
            left = seconds_left(expected, share, time.monotonic() - started)
            progress(share, f"about {duration(left)} left, pieces: {what}")

        if cluster is not None:
            make_jobs = partial(jobs_on_cluster, str(store.folder.resolve()), make_jobs)
        unfinished = run_jobs(jobs, self.processors, show, self.deadline, make_jobs, cluster)
        late = {name for name, error in unfinished.items() if not error}
        return {
            one.name
            for one in experiments
            if any(job.name in late for job in jobs_of(one, scale, store))
        }


def jobs_of(experiment: Experiment, scale: str, store: PieceStore) -> list[Job]:
    return experiment.jobs(scale, store) if experiment.jobs else []


def jobs_of_all(
    experiments: Sequence[Experiment], scale: str, store: PieceStore, outcomes: bool = False
) -> list[Job]:
    """The jobs of these experiments, each once: first those that several others wait for, with more
    threads before those with fewer, while there is room; then by priority. Each records its
    duration. Every process makes this list for itself."""
    by_priority = sorted(experiments, key=lambda one: one.priority)
    jobs = without_duplicates(job for one in by_priority for job in jobs_of(one, scale, store))
    waiting = Counter(name for job in jobs for name in job.after)
    jobs.sort(key=lambda job: -job.threads if waiting[job.name] > 1 else 0)
    timed = [job._replace(work=partial(_timed, job, scale, store)) for job in jobs]
    ready = [one for one in by_priority if outcomes and one.jobs]  # assembled at once
    return [*(_outcome_job(one, scale, store) for one in ready), *timed]


def _outcome_job(experiment: Experiment, scale: str, store: PieceStore) -> Job:
    def work(progress: ProgressCallback) -> None:
        run_and_save(experiment, scale, store, progress)

    after = tuple(job.name for job in jobs_of(experiment, scale, store))
    return Job(f"outcome of {experiment.name}", work, OUTCOME_SECONDS, 1, after)


def jobs_on_cluster(folder: str, make_jobs: Callable[[], list[Job]]) -> list[Job]:
    """The jobs on a machine of a cluster, after a check that it sees the store."""
    if not Path(folder).is_dir():
        raise BadParameter(
            f"a machine of the cluster does not see {folder}, where pieces of experiments are "
            f"kept; put the results (--out) on a disk that all machines share"
        )
    return make_jobs()


def _timed(job: Job, scale: str, store: PieceStore, progress: ProgressCallback) -> None:
    """Do a job, and add its processor seconds to those of earlier attempts."""
    started = _processor_seconds()
    try:
        job.work(progress)
    finally:
        record = _time_record(job, scale, store)
        earlier = record.read()
        took = _processor_seconds() - started
        record.write((earlier.value if earlier else 0.0) + took, {})


def _processor_seconds() -> float:
    """Of this process and those that it started, whatever else the machine does."""
    return sum(os.times()[:4])


def _time_record(job: Job, scale: str, store: PieceStore) -> Slot:
    return store.draft("spent", {"job": job.name, "scale": scale})


def job_seconds(experiment: Experiment, scale: str, store: PieceStore) -> float:
    """Seconds that two processors would have needed for the experiment's jobs."""
    jobs = without_duplicates(jobs_of(experiment, scale, store))
    records = [_time_record(job, scale, store).read() for job in jobs]
    return float(sum(record.value for record in records if record is not None)) / 2
