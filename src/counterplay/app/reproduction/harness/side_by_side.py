"""Who makes the pieces of experiments before these are run, and for how long."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from counterplay.app.reproduction.harness.base import Experiment
from counterplay.app.reproduction.harness.store import Store
from counterplay.core.base.errors import BadParameter, whole_number
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import Slot
from counterplay.core.parallel.jobs import Job, run_jobs, without_duplicates
from counterplay.core.parallel.processes import cores
from counterplay.core.parallel.ray_cluster import current

#: With no more processors than one training uses, experiments do as well on their own.
FEW = 2
MAKING = 0.95  # share of the whole that making the pieces is


@dataclass(frozen=True)
class Makers:
    """So many processors until a time of the monotonic clock; None: until all is done."""

    processors: int
    deadline: float | None

    @classmethod
    def of(cls, seconds: float | None, processes: int | None) -> Makers:
        if seconds is not None and not (math.isfinite(seconds) and seconds > 0):
            raise BadParameter(f"seconds must be a number above 0, not {seconds!r}")
        if processes is not None:
            whole_number(processes, 1, None, "processes")
        until = None if seconds is None else time.monotonic() + seconds
        return cls(processes or cores(), until)

    @property
    def helps(self) -> bool:
        """Whether pieces are made before."""
        return current() is not None or self.processors > FEW or self.deadline is not None

    def parts(self, progress: ProgressCallback) -> tuple[ProgressCallback, ProgressCallback]:
        """Progress of making pieces, and of running experiments."""
        if not self.helps:
            return no_progress, progress
        return staged(progress, 0.0, MAKING), staged(progress, MAKING, 1.0)

    def make(
        self,
        experiments: Sequence[Experiment],
        scale: str,
        store: Store,
        progress: ProgressCallback,
    ) -> set[str]:
        """Make the pieces of these experiments; the names of those that lack some for want of time.

        A job that goes wrong is no matter here: the experiment will meet the same error.
        """
        if not self.helps:
            return set()
        remake = partial(jobs_of_all, experiments, scale, store)
        started = time.monotonic()

        def say(share: float, what: str) -> None:
            left = (time.monotonic() - started) * (1.0 - share) / max(share, 0.01)
            progress(share, f"about {left / 60:.0f} min left, pieces: {what}")

        cluster, jobs = current(), remake()
        if cluster is not None:
            remake = partial(_seen_there, str(store.folder.resolve()), remake)
        lacking = run_jobs(jobs, self.processors, say, self.deadline, remake, cluster)
        late = {name for name, why in lacking.items() if not why}
        return {
            one.name
            for one in experiments
            if any(job.name in late for job in jobs_of(one, scale, store))
        }


def jobs_of_all(experiments: Sequence[Experiment], scale: str, store: Store) -> list[Job]:
    """The pieces of these experiments, each once, the most important first; they note how long
    they take. Every process makes this list for itself."""
    order = sorted(experiments, key=lambda one: one.priority)
    jobs = without_duplicates(job for one in order for job in jobs_of(one, scale, store))
    return [job._replace(work=partial(_timed, job, scale, store)) for job in jobs]


def _seen_there(folder: str, remake: Callable[[], list[Job]]) -> list[Job]:
    """On a machine of a cluster."""
    if not Path(folder).is_dir():
        raise BadParameter(
            f"a machine of the cluster does not see {folder}, where pieces of experiments are "
            f"kept; put the results (--out) on a disk that all machines share"
        )
    return remake()


def _timed(job: Job, scale: str, store: Store, progress: ProgressCallback) -> None:
    """Do a job, and note how long its processors were at it."""
    begun = time.monotonic()
    try:
        job.work(progress)
    finally:
        note = _note(job, scale, store)
        before = note.read()
        took = (time.monotonic() - begun) * job.threads
        note.write((before.value if before else 0.0) + took, {})


def _note(job: Job, scale: str, store: Store) -> Slot:
    return store.draft("spent", {"job": job.name, "scale": scale})


def spent(experiment: Experiment, scale: str, store: Store) -> float:
    """Seconds that two processors would have been at the pieces that were made side by side."""
    notes = [
        _note(job, scale, store).read()
        for job in without_duplicates(jobs_of(experiment, scale, store))
    ]
    return float(sum(note.value for note in notes if note is not None)) / 2


def jobs_of(experiment: Experiment, scale: str, store: Store) -> list[Job]:
    return experiment.jobs(scale, store) if experiment.jobs else []


def staged(progress: ProgressCallback, low: float, high: float) -> ProgressCallback:
    """Tells of a part of the work, from `low` to `high` of the whole."""
    return lambda share, what: progress(low + (high - low) * min(max(share, 0.0), 1.0), what)
