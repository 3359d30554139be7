"""Experiments by name: files of `app/reproduction/` that set `EXPERIMENT`, entry points of
installed packages (`counterplay.experiments`), and `my_figure.py:EXPERIMENT`."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import cache
from pathlib import Path

from counterplay.app.reproduction.harness.base import Experiment, Outcome, failure_path
from counterplay.app.reproduction.harness.report import write_report
from counterplay.app.reproduction.harness.side_by_side import Makers, spent
from counterplay.app.reproduction.harness.sources import result_version
from counterplay.app.reproduction.harness.store import Store
from counterplay.core.base.errors import BadParameter, Interrupted
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.registry import Registry

SCALES = ("quick", "paper")
EXPERIMENTS: Registry[Experiment] = Registry(
    "experiment", lambda spec: isinstance(spec, Experiment)
)


@cache
def experiments() -> dict[str, Experiment]:
    """By name, in the order of the report."""
    return in_order(list(EXPERIMENTS.values()))


def in_order(known: list[Experiment]) -> dict[str, Experiment]:
    """By name, in the order that they say; the others come last."""
    return {one.name: one for one in sorted(known, key=lambda one: (one.order, one.name))}


def reproduce(
    name: str,
    scale: str = "quick",
    folder: str | Path = "results",
    progress: ProgressCallback = no_progress,
    again: bool = False,
    seconds: float | None = None,
    processes: int | None = None,
) -> Outcome:
    """Run one experiment, by name or as `file.py:EXPERIMENT`; its picture, CSV and verdict go to
    `folder`, and the report there is renewed.

    What an earlier run left in `folder`/work, finished or stopped, is not done again, unless
    `again`. Its pieces are made side by side by so many `processes`, as many as there are cores.
    After `seconds` it stops, with `Interrupted`, unless it has finished; the same call goes on.
    """
    experiment = EXPERIMENTS.find(name)
    check_scale(scale)
    makers = Makers.of(seconds, processes)
    store = Store(folder, again)
    try:
        making, running = makers.parts(progress)
        if makers.make([experiment], scale, store, making):
            raise Interrupted(None)
        return run_and_save(experiment, scale, store, running)
    finally:
        listed = in_order([*experiments().values(), experiment])
        write_report(Path(folder), list(listed.values()))


def check_scale(scale: str) -> None:
    if scale not in SCALES:
        raise BadParameter(f"scale must be quick or paper, not {scale!r}")


def run_and_save(
    experiment: Experiment, scale: str, store: Store, progress: ProgressCallback
) -> Outcome:
    """The outcome, saved last of all its files."""
    started = time.perf_counter()
    outcome = experiment.run(scale, store, progress)
    took = outcome.seconds or time.perf_counter() - started
    outcome = replace(outcome, seconds=took + spent(experiment, scale, store))
    outcome = outcome.seal(store.folder, result_version(experiment.run))
    outcome.save(store.folder)
    failure_path(store.folder, experiment.name).unlink(missing_ok=True)
    return outcome
