"""What an experiment is, and its outcome: pictures, a CSV, and which claims of the paper its data
support. Outcomes are saved with checksums and read back with care: a damaged, foreign or
half-written one gives `BadFile`, never a wrong verdict."""

from __future__ import annotations

import csv
import hashlib
import inspect
import io
import math
import platform
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

from counterplay.app.reproduction.harness.judge import (
    UNDECIDED,
    Claim,
    RuleVariant,
    Verdict,
    counted,
)
from counterplay.app.reproduction.harness.store import Store
from counterplay.core.base import files
from counterplay.core.base.errors import BadFile
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.version import version
from counterplay.core.parallel.jobs import Job
from counterplay.core.parallel.processes import cores

REPRODUCED, PARTLY, NOT_REPRODUCED = "reproduced", "partly", "not reproduced"
OPEN, NO_CLAIMS = UNDECIDED, "no claims"
#: How long an experiment takes that does not say it.
SECONDS = {"quick": 90.0, "paper": 7200.0}
T = TypeVar("T")
_DAMAGE = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)


@dataclass(frozen=True)
class ResultTable:
    """A table for people: cells as text."""

    title: str
    header: list[str]
    rows: list[list[str]]


@dataclass(frozen=True)
class Outcome:
    """What one experiment found, and where its files are. `seal` fills in the last five."""

    name: str
    title: str
    scale: str
    claims: list[Claim]
    setting: dict[str, Any]
    seconds: float  # 0: whoever runs the experiment takes the time
    files: list[str] = field(default_factory=list)
    tables: list[ResultTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # sentences a reader of the result must know
    version: str = ""  # of Counterplay
    code: str = ""  # hash of the sources that it was made with
    sums: dict[str, str] = field(default_factory=dict)  # SHA-256 of each of `files`
    date: str = ""  # the day it was made
    machine: str = ""  # on what

    @property
    def verdict(self) -> str:
        """All claims hold: reproduced. None fails, and some are undecided: undecided. Some fail and
        some hold: partly; some fail and none holds: not reproduced."""
        verdicts = [claim.holds for claim in self.claims]
        if not verdicts:
            return NO_CLAIMS
        if False not in verdicts:
            return OPEN if None in verdicts else REPRODUCED
        return PARTLY if True in verdicts else NOT_REPRODUCED

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
        day = datetime.now(UTC).date().isoformat()
        return replace(self, version=version(), code=code, sums=sums, date=day, machine=machine())

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
    """`run(scale, store, progress)`; scale is "quick" or "paper". Its files go to `store.folder`.
    `jobs(scale, store)`: pieces that may be made side by side before, the most important first."""

    name: str
    title: str
    run: Callable[[str, Store, ProgressCallback], Outcome]
    seconds: Mapping[str, float] = field(default_factory=lambda: dict(SECONDS))  # on two cores
    jobs: Callable[[str, Store], list[Job]] | None = None
    order: float = math.inf  # place in the report
    priority: float = math.inf  # whose pieces come first where time may not do for all
    meaning: Mapping[str, str] = field(default_factory=dict)  # of its settings, for the report

    def outcome(
        self,
        scale: str,
        folder: Path,
        claims: list[Claim],
        setting: dict[str, Any],
        header: str,
        rows: Sequence[Sequence[Any]],
        tables: Sequence[ResultTable] = (),
        notes: Sequence[str] = (),
    ) -> Outcome:
        """What a run of this experiment has found, after writing <name>.csv; `header` names its
        columns, with spaces between. The picture <name>.png is there, if there is one."""
        write_csv(folder / f"{self.name}.csv", header.split(), rows)
        pictures = [name for name in [f"{self.name}.png"] if (folder / name).exists()]
        found = (claims, setting, 0.0, [*pictures, f"{self.name}.csv"], list(tables), list(notes))
        return Outcome(self.name, self.title, scale, *found)


def duration(seconds: float) -> str:
    """A time for people."""
    if seconds < 90:
        return f"{seconds:.0f} s"
    if seconds < 90 * 60:
        return f"{seconds / 60:.0f} min"
    return f"{seconds / 3600:.1f} h" if seconds < 48 * 3600 else f"{seconds / 86400:.1f} days"


def staged(progress: ProgressCallback, k: int, n: int) -> ProgressCallback:
    """Progress of stage k of n as a share of the whole."""
    return lambda share, what: progress((k + min(max(share, 0.0), 1.0)) / n, what)


def titled(progress: ProgressCallback, title: str) -> ProgressCallback:
    """Progress under one title, whatever the work itself says."""
    return lambda share, _: progress(share, title)


def failure_path(folder: Path, name: str) -> Path:
    return folder / f"{name}.failed.json"


def checksum(path: Path) -> str:
    """SHA-256 of a file in hex; empty when it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError:
        return ""


def code_version(*makers: Callable[..., Any]) -> str:
    """Of the functions that make a piece for one experiment only, so that another rule or sentence
    in the same file does not discard it. Constants that they use belong into the recipe."""
    text = "\n".join(inspect.getsource(maker) for maker in makers)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def machine() -> str:
    """Processor, cores, system and Python; no name of the machine or its user."""
    n = cores()
    parts = [_processor(), f"{n} core{'s' if n > 1 else ''}", platform.system()]
    return ", ".join([*(part for part in parts if part), f"Python {platform.python_version()}"])


def _processor() -> str:
    try:
        text = Path("/proc/cpuinfo").read_text(errors="replace")
    except OSError:
        return platform.processor() or platform.machine()
    model = re.search(r"^model name\s*:\s*(.+)$", text, re.MULTILINE)
    return model[1].strip() if model else platform.machine()


def write_csv(path: Path, header: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(header)
    writer.writerows(rows)
    files.write_text(path, out.getvalue())


# reading back


def read_outcome(path: Path) -> Outcome:
    """What `Outcome.save` wrote."""
    try:
        data = _read(path, ".json")
        return Outcome(
            name=data["name"],
            title=_a(str, data["title"]),
            scale=_a(str, data["scale"]),
            claims=[_claim(claim) for claim in _a(list, data["claims"])],
            setting={_a(str, key): value for key, value in _a(dict, data["setting"]).items()},
            seconds=_seconds(data["seconds"]),
            files=[_file_name(name) for name in _a(list, data["files"])],
            tables=[_table(table) for table in _a(list, data.get("tables", []))],
            notes=_texts(data.get("notes", [])),
            sums={_a(str, k): _a(str, v) for k, v in _a(dict, data.get("sums", {})).items()},
            **{key: _a(str, data.get(key, "")) for key in ("version", "code", "date", "machine")},
        )
    except _DAMAGE:
        raise BadFile(f"{path.name}: damaged, or not a result of an experiment") from None


def read_failure(path: Path) -> Failure:
    """What `Failure.save` wrote."""
    try:
        data = _read(path, ".failed.json")
        names = ("name", "title", "scale", "message", "where", "version")
        return Failure(*(_a(str, data[name]) for name in names))
    except _DAMAGE:
        raise BadFile(f"{path.name}: damaged, or not a note of a failure") from None


def finished(name: str, scale: str, folder: Path, code: str) -> Outcome | None:
    """The outcome at this scale by this `code`, if all its files are as it left them and no
    later run failed."""
    outcome = earlier(name, folder)
    if outcome is None or failure_path(folder, name).exists():
        return None
    same = outcome.scale == scale and outcome.version == version() and outcome.code == code
    return outcome if same and not changed_files(outcome, folder) else None


def earlier(name: str, folder: Path) -> Outcome | None:
    """Whatever outcome of this experiment there is."""
    try:
        return read_outcome(folder / f"{name}.json")
    except BadFile:
        return None


def changed_files(outcome: Outcome, folder: Path) -> list[str]:
    """Files that are missing, or are not those that the outcome was made with."""
    return [
        file
        for file in outcome.files
        if not outcome.sums.get(file) or checksum(folder / file) != outcome.sums[file]
    ]


def _read(path: Path, suffix: str) -> dict[str, Any]:
    """An object that carries its checksum, and the name of its file; one without them was written
    by nobody here."""
    data, checked = files.read_checked_json(path)
    if not checked:
        raise BadFile(f"{path.name}: has no checksum")
    if data["name"] != path.name.removesuffix(suffix):
        raise ValueError("another name than that of its file")
    return data


def _a(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}")
    return value


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise ValueError("not a time")
    return float(value)


def _file_name(value: Any) -> str:
    name = _a(str, value)
    if not name or name.startswith(".") or set(name) & set("/\\:\0"):
        raise ValueError("not a plain file name")
    return name


def _texts(value: Any) -> list[str]:
    return [_a(str, text) for text in _a(list, value)]


def _claim(data: Any) -> Claim:
    before = data.get("before")
    return Claim(
        _a(str, data["text"]),
        *_judged(data),
        None if before is None else RuleVariant(*_judged(before)),
        tuple(RuleVariant(*_judged(one)) for one in _a(list, data.get("also", []))),
    )


def _judged(data: Any) -> tuple[str, str, Verdict]:
    """Rule, what was measured, and yes, no or None for undecided."""
    holds = None if data["holds"] is None else _a(bool, data["holds"])
    return _a(str, data["rule"]), _a(str, data["measured"]), holds


def _table(data: Any) -> ResultTable:
    rows = [_texts(row) for row in _a(list, data["rows"])]
    return ResultTable(_a(str, data["title"]), _texts(data["header"]), rows)
