"""What an experiment is: it writes a picture and a CSV and says which claims of the paper its
data support."""

from __future__ import annotations

import csv
import hashlib
import io
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from counterplay.base import files
from counterplay.base.progress import Tell
from counterplay.base.version import version
from counterplay.experiments.harness.judge import UNDECIDED, Verdict, counted, word
from counterplay.experiments.harness.machine import machine, today
from counterplay.experiments.harness.store import Store
from counterplay.parallel.jobs import Job

REPRODUCED, PARTLY, NOT_REPRODUCED, NO_CLAIMS = (
    "reproduced",
    "partly",
    "not reproduced",
    "no claims",
)
#: The others are REPRODUCED, PARTLY, NOT_REPRODUCED and NO_CLAIMS.
OPEN = UNDECIDED
#: How long an experiment takes that does not say it.
SECONDS = {"quick": 90.0, "paper": 7200.0}


@dataclass(frozen=True)
class Reading:
    """What another rule says of a claim: the rule it had before numbers were seen."""

    rule: str
    measured: str
    holds: Verdict

    @property
    def verdict(self) -> str:
        return word(self.holds)


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, the rule that decides it, what was measured, and whether it holds;
    None: undecided."""

    text: str
    rule: str
    measured: str
    holds: Verdict
    before: Reading | None = None  # by an earlier rule, where numbers were seen before this one
    also: tuple[Reading, ...] = ()  # without a cut-off that was set after numbers had been seen

    @property
    def verdict(self) -> str:
        """holds, fails or undecided."""
        return word(self.holds)


@dataclass(frozen=True)
class Sheet:
    """A table for people: cells as text."""

    title: str
    header: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Outcome:
    """What one experiment found, and where its files are."""

    name: str
    title: str
    scale: str
    claims: list[Claim]
    setting: dict[str, Any]
    seconds: float
    files: list[str] = field(default_factory=list)
    tables: list[Sheet] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # sentences a reader of the result must know
    version: str = ""  # of Counterplay; `seal` fills it in
    code: str = ""  # hash of the sources that it was made with; `seal` fills it in
    sums: dict[str, str] = field(
        default_factory=dict
    )  # SHA-256 of each of `files`; `seal` fills it in
    date: str = ""  # the day it was made; `seal` fills it in
    machine: str = ""  # on what; `seal` fills it in

    @property
    def verdict(self) -> str:
        """All claims hold: reproduced. None fails, and some are undecided: undecided. Some fail and
        some hold: partly; some fail and none holds: not reproduced."""
        found = [claim.holds for claim in self.claims]
        if not found:
            return NO_CLAIMS
        if False not in found:
            return OPEN if None in found else REPRODUCED
        return PARTLY if True in found else NOT_REPRODUCED

    @property
    def counts(self) -> str:
        """How many claims hold, fail and are undecided."""
        return counted([claim.holds for claim in self.claims])

    def as_data(self) -> dict[str, Any]:
        """All of it as JSON has it, with the verdicts in words beside what they follow from."""
        data = asdict(self)
        for one, claim in zip(data["claims"], self.claims, strict=True):
            one["verdict"] = claim.verdict
        return {**data, "verdict": self.verdict}

    def seal(self, folder: Path, code: str = "") -> Outcome:
        """The same with the version of Counterplay, that of its code, the checksums of its files,
        the day and the machine."""
        sums = {file: checksum(folder / file) for file in self.files}
        return replace(
            self, version=version(), code=code, sums=sums, date=today(), machine=machine()
        )

    def save(self, folder: Path) -> None:
        """Write it as <name>.json, with a checksum over all of it."""
        files.write_json(folder / f"{self.name}.json", self.as_data())


@dataclass(frozen=True)
class Failure:
    """Why an experiment did not finish. Kept as <name>.failed.json until it does."""

    name: str
    title: str
    scale: str
    message: str
    where: str  # the last calls, without folders
    version: str

    def save(self, folder: Path) -> None:
        files.write_json(failure_path(folder, self.name), asdict(self))


@dataclass(frozen=True)
class Experiment:
    """`run(scale, store, tell)`; scale is "quick" or "paper". Its files go to `store.folder`.
    `jobs(scale, store)`: pieces that may be made side by side before, the most important first."""

    name: str
    title: str
    run: Callable[[str, Store, Tell], Outcome]
    seconds: Mapping[str, float] = field(
        default_factory=lambda: dict(SECONDS)
    )  # expected, on two cores
    jobs: Callable[[str, Store], list[Job]] | None = None


def duration(seconds: float) -> str:
    """A time for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def failure_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.failed.json"


def checksum(path: Path) -> str:
    """SHA-256 of a file in hex; empty when it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    files.write_text(path, out.getvalue())
