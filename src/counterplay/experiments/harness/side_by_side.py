"""Who makes the pieces of experiments before these are run, and for how long."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from counterplay.base.cluster import current
from counterplay.base.errors import BadParameter
from counterplay.base.processors import cores
from counterplay.base.progress import Tell, untold
from counterplay.experiments.harness.base import Experiment
from counterplay.experiments.harness.far_jobs import run_far
from counterplay.experiments.harness.jobs import Job, can_fork, one_each, run_jobs
from counterplay.experiments.harness.store import Slot, Store

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
        if processes is not None and (
            isinstance(processes, bool) or not isinstance(processes, int) or processes < 1
        ):
            raise BadParameter(f"processes must be a whole number above 0, not {processes!r}")
        until = None if seconds is None else time.monotonic() + seconds
        return cls(processes or cores(), until)

    @property
    def helps(self) -> bool:
        """Whether pieces are made before."""
        if current() is not None:
            return True
        return can_fork() and (self.processors > FEW or self.deadline is not None)

    def parts(self, tell: Tell) -> tuple[Tell, Tell]:
        """Progress of making pieces, and of running experiments."""
        if not self.helps:
            return untold, tell
        return staged(tell, 0.0, MAKING), staged(tell, MAKING, 1.0)

    def make(
        self, experiments: Sequence[Experiment], scale: str, store: Store, tell: Tell
    ) -> set[str]:
        """Make the pieces of these experiments; the names of those that lack some for want of time.

        A job that goes wrong is no matter here: the experiment will meet the same error.
        """
        if not self.helps:
            return set()
        jobs = {e.name: jobs_of(e, scale, store) for e in experiments}
        order = [e.name for e in sorted(experiments, key=lambda e: e.priority)]
        todo = [
            job._replace(work=_timed(job, scale, store))
            for job in one_each(job for name in order for job in jobs[name])
        ]
        started = time.monotonic()

        def say(share: float, what: str) -> None:
            left = (time.monotonic() - started) * (1.0 - share) / max(share, 0.01)
            tell(share, f"about {left / 60:.0f} min left, pieces: {what}")

        cluster = current()
        if cluster is None:
            lacking = run_jobs(todo, self.processors, say, self.deadline)
        else:
            lacking = run_far(cluster, todo, store.folder, say, self.deadline)
        late = {name for name, why in lacking.items() if not why}
        return {name for name, mine in jobs.items() if any(job.name in late for job in mine)}


def _timed(job: Job, scale: str, store: Store) -> Callable[[Tell], None]:
    """The work of a job, and a note of how long its processors were at it."""

    def work(tell: Tell) -> None:
        begun = time.monotonic()
        try:
            job.work(tell)
        finally:
            note = _note(job, scale, store)
            before = note.read()
            took = (time.monotonic() - begun) * job.threads
            note.write((before.value if before else 0.0) + took, {})

    return work


def _note(job: Job, scale: str, store: Store) -> Slot:
    return store.draft("spent", {"job": job.name, "scale": scale})


def spent(experiment: Experiment, scale: str, store: Store) -> float:
    """Seconds that two processors would have been at the pieces that were made side by side."""
    notes = [_note(job, scale, store).read() for job in one_each(jobs_of(experiment, scale, store))]
    return float(sum(note.value for note in notes if note is not None)) / 2


def jobs_of(experiment: Experiment, scale: str, store: Store) -> list[Job]:
    return experiment.jobs(scale, store) if experiment.jobs else []


def staged(tell: Tell, low: float, high: float) -> Tell:
    """Tells of a part of the work, from `low` to `high` of the whole."""
    return lambda share, what: tell(low + (high - low) * min(max(share, 0.0), 1.0), what)
