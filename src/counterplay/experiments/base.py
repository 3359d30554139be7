"""What an experiment is: it writes a picture and a CSV and says which claims of the paper its data support."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from counterplay.base import files

#: Called with the share of the work done, in [0, 1], and what is running.
Tell = Callable[[float, str], None]


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, the rule that decides it, what was measured, and whether it holds."""

    text: str
    rule: str
    measured: str
    holds: bool


@dataclass(frozen=True)
class Table:
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
    tables: list[Table] = field(default_factory=list)

    def save(self, folder: Path) -> None:
        files.write_json(folder / f"{self.name}.json", asdict(self))


@dataclass(frozen=True)
class Experiment:
    """`run(scale, folder, tell)`; scale is "quick" or "paper"."""

    name: str
    title: str
    run: Callable[[str, Path, Tell], Outcome]


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    files.write_text(path, out.getvalue())
