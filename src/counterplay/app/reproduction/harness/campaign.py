"""All experiments one after the other: what is done is skipped, what fails does not stop the
rest."""

from __future__ import annotations

import re
import time
import traceback
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock

from counterplay.app.reproduction.harness import registry
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Failure,
    Outcome,
    duration,
    earlier,
    finished,
)
from counterplay.app.reproduction.harness.report import write_report
from counterplay.app.reproduction.harness.side_by_side import Makers
from counterplay.app.reproduction.harness.sources import result_version
from counterplay.app.reproduction.harness.store import Store
from counterplay.core.base.errors import Interrupted
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.version import version

PRIOR_SECONDS = 20.0  # so long the expected pace counts as much as the measured one
SHOWN_CALLS = 4  # of a failure
_FOLDERS = re.compile(r"(?<![\w.])(?:[A-Za-z]:)?(?:[\\/][^\\/\s'\":]+)+[\\/]")


@dataclass(frozen=True)
class Campaign:
    """What `reproduce_all` found: outcomes in the order of the paper, those among them that were
    there before, failures."""

    scale: str
    outcomes: list[Outcome]
    skipped: list[str]
    failures: list[Failure]
    seconds: float
    report: Path


def reproduce_all(
    scale: str = "quick",
    folder: str | Path = "results",
    progress: ProgressCallback = no_progress,
    again: bool = False,
    seconds: float | None = None,
    processes: int | None = None,
) -> Campaign:
    """Run every experiment, and write `report.html` with the results into `folder`.

    Results that the same code left there at the same scale are kept, and so is what an unfinished
    experiment has in `folder`/work, unless `again`; so after an interruption the same call goes on.
    `progress` gets the share of the whole and what is running, with the time left. Ctrl-C raises
    `Interrupted`, whose `result` is what there is; so does the end of `seconds`. Pieces are made
    side by side by so many `processes`, as many as there are cores.
    """
    registry.check_scale(scale)
    makers = Makers.of(seconds, processes)
    started, where = time.perf_counter(), Path(folder)
    known = list(registry.experiments().values())
    report = write_report(where, known)  # first: a folder that cannot be written shows at once
    store = Store(where, again)
    found = {e.name: None if again else _done(e, scale, where) for e in known}
    todo = [experiment for experiment in known if found[experiment.name] is None]
    skipped = [e.name for e in known if e not in todo]
    failures: list[Failure] = []

    def so_far() -> Campaign:
        outcomes = [outcome for outcome in found.values() if outcome is not None]
        return Campaign(scale, outcomes, skipped, failures, time.perf_counter() - started, report)

    try:
        making, running = makers.parts(progress)
        lacking = makers.make(todo, scale, store, making)
        todo = [experiment for experiment in todo if experiment.name not in lacking]
        overall = Overall({e.name: expected_seconds(e, scale, where) for e in todo}, running)
        for experiment in todo:
            try:
                part = overall.part(experiment.name)
                found[experiment.name] = registry.run_and_save(experiment, scale, store, part)
            except Exception as error:  # whatever it is, the others still run
                failures.append(_failure(experiment, scale, where, error))
                failures[-1].save(where)
            overall.finish(experiment.name)
            write_report(where, known)
        if lacking:
            raise Interrupted(so_far())
    except KeyboardInterrupt:
        write_report(where, known)
        raise Interrupted(so_far()) from None
    overall.end()
    return so_far()


def _done(experiment: Experiment, scale: str, folder: Path) -> Outcome | None:
    return finished(experiment.name, scale, folder, result_version(experiment.run))


def expected_seconds(experiment: Experiment, scale: str, folder: Path) -> float:
    """What it took the last time here, else what it says itself."""
    before = earlier(experiment.name, folder)
    if before is not None and before.scale == scale and before.seconds > 0:
        return before.seconds
    return max(float(experiment.seconds.get(scale, 0.0)), 1.0)


class Overall:
    """One share of the whole, never falling, from the shares of the parts; `seconds` are the
    parts' expected times."""

    def __init__(self, seconds: Mapping[str, float], progress: ProgressCallback) -> None:
        self._seconds = dict(seconds)
        self._total = sum(seconds.values()) or 1.0
        self._tell = progress
        self._done = 0.0  # expected seconds of what is finished
        self._share = 0.0
        self._started = time.monotonic()
        self._lock = Lock()

    def part(self, name: str) -> ProgressCallback:
        """The `progress` of one part."""
        number = list(self._seconds).index(name) + 1
        label = f"{name} ({number} of {len(self._seconds)})"
        self._say(self._done, label)
        return lambda share, what: self._say(
            self._done + min(max(share, 0.0), 1.0) * self._seconds[name], f"{label}: {what}"
        )

    def finish(self, name: str) -> None:
        self._done += self._seconds[name]

    def end(self) -> None:
        self._tell(1.0, "done")

    def _say(self, done: float, what: str) -> None:
        with self._lock:
            self._share = min(max(self._share, done / self._total), 1.0)
            self._tell(self._share, f"about {duration(self.left())} left, {what}")

    def left(self) -> float:
        """Seconds left, from the expected ones and the pace so far."""
        done = self._share * self._total
        pace = (PRIOR_SECONDS + time.monotonic() - self._started) / (PRIOR_SECONDS + done)
        return (self._total - done) * pace


def _failure(experiment: Experiment, scale: str, folder: Path, error: Exception) -> Failure:
    """Message and last calls, without the folders of this machine."""
    lines = str(error).replace(str(folder.resolve()), "").strip().splitlines()
    kind = type(error).__name__
    message = _FOLDERS.sub("", f"{kind}: {lines[0]}" if lines else kind)
    calls = traceback.extract_tb(error.__traceback__)[-SHOWN_CALLS:]
    where = " → ".join(f"{Path(c.filename).name}:{c.lineno} in {c.name}" for c in calls)
    return Failure(experiment.name, experiment.title, scale, message, where, version())
