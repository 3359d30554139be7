"""Experiments by name; finds every module of this package that sets `EXPERIMENT`."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from pathlib import Path

import counterplay.experiments
from counterplay.base.errors import BadParameter, unknown
from counterplay.experiments.base import Experiment, Outcome, Tell

SCALES = ("quick", "paper")


@cache
def experiments() -> dict[str, Experiment]:
    found = {}
    for module in pkgutil.iter_modules(counterplay.experiments.__path__):
        experiment = getattr(importlib.import_module(f"counterplay.experiments.{module.name}"), "EXPERIMENT", None)
        if experiment is not None:
            found[experiment.name] = experiment
    return found


def reproduce(name: str, scale: str = "quick", folder: str | Path = "results", tell: Tell = lambda share, what: None) -> Outcome:
    """Run one experiment; its picture, CSV and verdict go to `folder`."""
    if name not in experiments():
        raise unknown("experiment", name, experiments())
    if scale not in SCALES:
        raise BadParameter(f"scale must be quick or paper, not {scale!r}")
    outcome = experiments()[name].run(scale, Path(folder), tell)
    outcome.save(Path(folder))
    return outcome
