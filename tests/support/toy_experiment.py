"""An experiment of small pieces that spawned processes can make."""

from __future__ import annotations

import os
import time
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import counterplay as cp
from counterplay.app.reproduction.harness.base import Experiment, Outcome
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.parallel.jobs import Job
from support.jobs import note


@dataclass(frozen=True)
class Toy:
    """Its pieces are kept. Those of `names` that are not `ready` are never finished while there
    is no file "go"."""

    folder: Path
    names: str
    ready: str = ""

    @property
    def experiment(self) -> Experiment:
        return Experiment(self.names, "X", self.run, {"quick": 1.0}, self.jobs)

    def make(self, name: str, progress: ProgressCallback) -> None:
        while name not in self.ready and not (self.folder / "go").exists():
            progress(0.5, name)
            time.sleep(0.01)
        end = time.process_time() + 0.03  # the seconds of a job are those of a processor
        while time.process_time() < end:
            pass
        note(self.folder, name, progress)

    def piece(self, name: str, store: PieceStore, progress: ProgressCallback) -> None:
        store.value("thing", {"name": name}, partial(self.make, name, progress))

    def jobs(self, scale: str, store: PieceStore) -> list[Job]:
        return [Job(n, lambda progress, n=n: self.piece(n, store, progress)) for n in self.names]

    def run(self, scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
        for name in self.names:
            self.piece(name, store, progress)
        return Outcome(self.names, "X", scale, [], {}, 1.0)


@dataclass(frozen=True)
class Solved(Toy):
    """Kuhn poker by so many seeds. A piece waits until another process makes one too."""

    def piece(self, name: str, store: PieceStore, progress: ProgressCallback) -> float:
        return float(store.value("gap", {"name": name}, partial(self.gap, name, progress)))

    def gap(self, name: str, progress: ProgressCallback) -> float:
        (self.folder / f"{os.getpid()}.process").touch()
        while len(list(self.folder.glob("*.process"))) < 2:
            progress(0.1, name)
            time.sleep(0.01)
        run = cp.solve("kuhn", "mccfr", iterations=500, seed=ord(name))
        return run.exploitability

    def run(self, scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
        gaps = {name: self.piece(name, store, progress) for name in self.names}
        return Outcome(self.names, "X", scale, [], gaps, 0.0)
