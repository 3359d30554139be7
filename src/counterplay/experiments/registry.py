"""Experiments by name; finds every module of this package that sets `EXPERIMENT`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

import counterplay.experiments
from counterplay.base.errors import BadParameter, unknown
from counterplay.experiments.base import Experiment, Outcome, Tell, failure_path
from counterplay.experiments.report import write_report

SCALES = ("quick", "paper")
#: The order of the report; what is not named here comes last.
ORDER = ("fig4-kuhn", "fig4-holdem", "bots", "table1", "table2", "fig6", "fig7", "fig8")


@cache
def experiments() -> dict[str, Experiment]:
    found = {}
    for module in pkgutil.iter_modules(counterplay.experiments.__path__):
        experiment = getattr(importlib.import_module(f"counterplay.experiments.{module.name}"), "EXPERIMENT", None)
        if experiment is not None:
            found[experiment.name] = experiment
    return in_order(found)


def in_order(found: dict[str, Experiment]) -> dict[str, Experiment]:
    """The same, in the order of the paper."""
    rank = {name: k for k, name in enumerate(ORDER)}
    return {name: found[name] for name in sorted(found, key=lambda name: (rank.get(name, len(ORDER)), name))}


def reproduce(name: str, scale: str = "quick", folder: str | Path = "results", tell: Tell = lambda share, what: None) -> Outcome:
    """Run one experiment; its picture, CSV and verdict go to `folder`, and the report there is renewed."""
    if name not in experiments():
        raise unknown("experiment", name, experiments())
    check_scale(scale)
    outcome = run_and_save(experiments()[name], scale, Path(folder), tell)
    write_report(Path(folder), list(experiments().values()))
    return outcome


def check_scale(scale: str) -> None:
    if scale not in SCALES:
        raise BadParameter(f"scale must be quick or paper, not {scale!r}")


def run_and_save(experiment: Experiment, scale: str, folder: Path, tell: Tell) -> Outcome:
    """The outcome, saved last of all its files."""
    outcome = experiment.run(scale, folder, tell).seal(folder)
    outcome.save(folder)
    failure_path(folder, experiment.name).unlink(missing_ok=True)
    return outcome
