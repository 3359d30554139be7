"""Jobs of experiments (`jobs.py`) on a cluster.

Pieces are kept in the folder of the results, so every machine has to see that folder, under the
same name. A job whose process or machine is lost is done again elsewhere; what it had drafted is
gone on with.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from counterplay.base.cluster import RETRIES, Cluster, identity
from counterplay.base.errors import BadParameter, CounterplayError
from counterplay.base.progress import Tell, untold
from counterplay.experiments.harness.jobs import Job

LOOK_SECONDS = 0.5


def run_far(
    cluster: Cluster, jobs: Sequence[Job], folder: Path, tell: Tell, deadline: float | None = None
) -> dict[str, str]:
    """What `run_jobs` does, by a cluster."""
    ray, names = cluster.ray, {job.name for job in jobs}
    task = ray.remote(_work)
    todo, running = list(jobs), dict[Any, Job]()
    done, failed = set[str](), dict[str, str]()
    place = str(folder.resolve())
    try:
        while todo or running:
            for job in [one for one in todo if not (names & set(one.after)) - done - set(failed)]:
                todo.remove(job)
                cpus = min(job.threads, cluster.processors)
                asked = task.options(num_cpus=cpus, max_retries=RETRIES)
                running[asked.remote(identity(), place, job.work)] = job
            if deadline is not None and time.monotonic() >= deadline:
                break
            ready, _ = ray.wait(list(running), num_returns=1, timeout=LOOK_SECONDS)
            for reference in ready:
                job = running.pop(reference)
                try:
                    cluster.get(reference)
                    done.add(job.name)
                except BadParameter:
                    raise
                except CounterplayError as error:
                    failed[job.name] = str(error)
            tell(len(done) / len(jobs), f"{len(done)} of {len(jobs)}, {len(running)} at work")
    finally:
        for reference in running:
            ray.cancel(reference, force=True)
    return {job.name: failed.get(job.name, "") for job in jobs if job.name not in done}


def _work(theirs: str, folder: str, work: Any) -> None:
    """In a process of the cluster."""
    if theirs != identity():
        raise BadParameter(
            f"a worker has {identity()} and this is {theirs}; install the same on all machines"
        )
    if not Path(folder).is_dir():
        raise BadParameter(
            f"a machine of the cluster does not see {folder}, where pieces of experiments are "
            f"kept; put the results (--out) on a disk that all machines share"
        )
    work(untold)
