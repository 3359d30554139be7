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
from counterplay.experiments.harness.store import Store
from counterplay.solvers.run import version

REPRODUCED, PARTLY, NOT_REPRODUCED, NO_CLAIMS = (
    "reproduced",
    "partly",
    "not reproduced",
    "no claims",
)
#: How long an experiment takes that does not say it.
SECONDS = {"quick": 90.0, "paper": 7200.0}


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, the rule that decides it, what was measured, and whether it
    holds."""

    text: str
    rule: str
    measured: str
    holds: bool


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

    @property
    def verdict(self) -> str:
        """All claims hold: reproduced; some: partly; none: not reproduced."""
        held = sum(claim.holds for claim in self.claims)
        if not self.claims:
            return NO_CLAIMS
        return REPRODUCED if held == len(self.claims) else PARTLY if held else NOT_REPRODUCED

    def seal(self, folder: Path, code: str = "") -> Outcome:
        """The same with the version of Counterplay, that of its code, and the checksums of its
        files."""
        sums = {file: checksum(folder / file) for file in self.files}
        return replace(self, version=version(), code=code, sums=sums)

    def save(self, folder: Path) -> None:
        """Write it as <name>.json, with a checksum over all of it."""
        files.write_json(folder / f"{self.name}.json", asdict(self))


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
    """`run(scale, store, tell)`; scale is "quick" or "paper". Its files go to `store.folder`."""

    name: str
    title: str
    run: Callable[[str, Store, Tell], Outcome]
    seconds: Mapping[str, float] = field(
        default_factory=lambda: dict(SECONDS)
    )  # expected, on two cores


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
