"""An experiment and its outcome: pictures, a CSV, and which claims of the paper its data support.

Outcomes are saved with checksums. Reading a damaged, foreign or half-written one raises `BadFile`
and never gives a wrong verdict. `summary` has the 27 claims in one table: what this run found, and,
where it leaves a claim open, the verdict of the committed run at paper scale (`paper_scale.json`,
which tools/make_results.py writes).
"""

from __future__ import annotations

import hashlib
import inspect
import json
import math
import platform
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files as resources
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from counterplay.app.reproduction.harness.judge import (
    ARTICLE,
    Claim,
    Verdict,
    claim,
    count_verdicts,
)
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.core.base import files
from counterplay.core.base.errors import BadFile
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.version import version
from counterplay.core.parallel.jobs import Job
from counterplay.core.parallel.processes import initial_cores

#: Expected duration of an experiment that does not declare one.
SECONDS = {"quick": 90.0, "paper": 7200.0}
T = TypeVar("T")
_DAMAGE = (AttributeError, KeyError, TypeError, ValueError, OverflowError, RecursionError)


@dataclass(frozen=True)
class ResultTable:
    """A table of the report; cells are text."""

    title: str
    header: list[str]
    rows: list[list[str]]


class SolverVariant(NamedTuple):
    """An algorithm with its options, under the label of its curve."""

    label: str
    algorithm: str
    options: dict[str, Any]


@dataclass(frozen=True)
class Outcome:
    """The result of one experiment, and its files. `claims` are the article's; what goes beyond it
    is in `tables` and `notes`. `seal` fills in the last five fields."""

    name: str
    title: str
    scale: str
    claims: list[Claim]
    setting: dict[str, Any]
    seconds: float  # 0: to be measured by the caller of `run`
    files: list[str] = field(default_factory=list)
    tables: list[ResultTable] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)  # caveats, as sentences
    version: str = ""  # of Counterplay
    code: str = ""  # hash of the source files behind it
    sums: dict[str, str] = field(default_factory=dict)  # SHA-256 of each of `files`
    date: str = ""  # of the run
    machine: str = ""

    @property
    def counts(self) -> str:
        """Numbers of claims by verdict; empty if there are none."""
        return count_verdicts(self.claims) if self.claims else ""

    def seal(self, folder: Path, code: str = "") -> Outcome:
        """A copy with the versions of Counterplay and of the experiment's code, the checksums of
        the files, the date and the machine."""
        sums = {file: checksum(folder / file) for file in self.files}
        day = datetime.now(UTC).date().isoformat()
        return replace(self, version=version(), code=code, sums=sums, date=day, machine=machine())

    def save(self, folder: Path) -> None:
        """Write <name>.json, with a checksum over its contents."""
        files.write_json(folder / f"{self.name}.json", asdict(self))


@dataclass(frozen=True)
class ExperimentFailure:
    """Why an experiment did not finish; saved as <name>.failed.json until it does."""

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
    """A figure or table of the paper. `run(scale, store, progress)` writes its files to
    `store.folder`; scale is "quick" or "paper". `jobs(scale, store)` lists the pieces that can be
    computed before, in parallel, the most important first."""

    name: str
    title: str
    run: Callable[[str, PieceStore, ProgressCallback], Outcome]
    seconds: Mapping[str, float] = field(default_factory=lambda: dict(SECONDS))  # on two cores
    jobs: Callable[[str, PieceStore], list[Job]] | None = None
    order: float = math.inf  # position in the report
    priority: float = math.inf  # of its jobs under a time limit; lower comes first
    meaning: Mapping[str, str] = field(default_factory=dict)  # of its settings, for the report
    story: str = ""  # what the article reports, an empty line, and what the experiment means

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
        """The outcome of a run, after writing <name>.csv; `header` names its columns, separated by
        spaces. A picture <name>.png, if any, has been written before."""
        write_csv(folder / f"{self.name}.csv", header.split(), rows)
        pictures = [name for name in [f"{self.name}.png"] if (folder / name).exists()]
        written = [*pictures, f"{self.name}.csv"]
        result = (claims, setting, 0.0, written, list(tables), list(notes))
        return Outcome(self.name, self.title, scale, *result)


def duration(seconds: float) -> str:
    """A duration as text."""
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


def source_version(*functions: Callable[..., Any]) -> str:
    """Version of the functions that make a piece for one experiment only, so that another rule or
    sentence in the same file does not discard it. Constants that they use belong in the recipe."""
    text = "\n".join(inspect.getsource(function) for function in functions)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def machine() -> str:
    """Processor, cores, system and Python version, without the names of machine or user."""
    n = initial_cores()
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
    files.write_text(path, files.csv_text([header, *rows]))


# reading back


def read_outcome(path: Path) -> Outcome:
    """Reads what `Outcome.save` wrote."""
    try:
        data = _read(path, ".json")
        return Outcome(
            name=data["name"],
            title=_as(str, data["title"]),
            scale=_as(str, data["scale"]),
            claims=[_claim(claim) for claim in _as(list, data["claims"])],
            setting={_as(str, key): value for key, value in _as(dict, data["setting"]).items()},
            seconds=_seconds(data["seconds"]),
            files=[_file_name(name) for name in _as(list, data["files"])],
            tables=[_table(table) for table in _as(list, data.get("tables", []))],
            notes=_texts(data.get("notes", [])),
            sums={_as(str, k): _as(str, v) for k, v in _as(dict, data.get("sums", {})).items()},
            **{key: _as(str, data.get(key, "")) for key in ("version", "code", "date", "machine")},
        )
    except _DAMAGE:
        raise BadFile(f"{path.name}: damaged, or not a result of an experiment") from None


def read_failure(path: Path) -> ExperimentFailure:
    """Reads what `ExperimentFailure.save` wrote."""
    try:
        data = _read(path, ".failed.json")
        names = ("name", "title", "scale", "message", "where", "version")
        return ExperimentFailure(*(_as(str, data[name]) for name in names))
    except _DAMAGE:
        raise BadFile(f"{path.name}: damaged, or not a note of a failure") from None


def finished_outcome(name: str, scale: str, folder: Path, code: str) -> Outcome | None:
    """The outcome at this scale by this `code`, if its files are unchanged and no later run
    failed."""
    outcome = earlier_outcome(name, folder)
    if outcome is None or failure_path(folder, name).exists():
        return None
    same = outcome.scale == scale and outcome.version == version() and outcome.code == code
    return outcome if same and not changed_files(outcome, folder) else None


def earlier_outcome(name: str, folder: Path) -> Outcome | None:
    """The saved outcome of this experiment at any scale and by any code, if there is one."""
    try:
        return read_outcome(folder / f"{name}.json")
    except BadFile:
        return None


def changed_files(outcome: Outcome, folder: Path) -> list[str]:
    """Files that are missing, or differ from those that the outcome was made with."""
    return [
        file
        for file in outcome.files
        if not outcome.sums.get(file) or checksum(folder / file) != outcome.sums[file]
    ]


def _read(path: Path, suffix: str) -> dict[str, Any]:
    """A JSON object with a valid checksum, and the name of its file."""
    data, checked = files.read_checked_json(path)
    if not checked:
        raise BadFile(f"{path.name}: has no checksum")
    if data["name"] != path.name.removesuffix(suffix):
        raise ValueError("name differs from that of the file")
    return data


def _as(kind: type[T], value: Any) -> T:
    if not isinstance(value, kind):
        raise TypeError(f"expected {kind.__name__}")
    return value


def _seconds(value: Any) -> float:
    if type(value) not in (int, float) or not math.isfinite(value) or value < 0:
        raise ValueError("not a time")
    return float(value)


def _file_name(value: Any) -> str:
    name = _as(str, value)
    if not name or name.startswith(".") or set(name) & set("/\\:\0"):
        raise ValueError("not a plain file name")
    return name


def _texts(value: Any) -> list[str]:
    return [_as(str, text) for text in _as(list, value)]


def _claim(data: Any) -> Claim:
    number = _as(int, data["number"])
    if number and number not in ARTICLE:
        raise ValueError("no claim has this number")
    text, measured, rule = (_as(str, data[key]) for key in ("text", "measured", "rule"))
    return Claim(number, text, measured, Verdict(data["verdict"]), rule)


def _table(data: Any) -> ResultTable:
    rows = [_texts(row) for row in _as(list, data["rows"])]
    return ResultTable(_as(str, data["title"]), _texts(data["header"]), rows)


NOT_RUN = "not run"
COMMITTED = "paper_scale.json"


class SummaryRow(NamedTuple):
    figure: str
    experiment: str
    claim: Claim
    at_paper_scale: str = ""  # the committed verdict and number, where this run leaves it open


def summary(outcomes: Iterable[Outcome]) -> list[SummaryRow]:
    """A row for each of the article's claims, in order."""
    ran = list(outcomes)
    found = {one.number: one for outcome in ran for one in outcome.claims}
    large = {one.number for outcome in ran if outcome.scale == "paper" for one in outcome.claims}
    rows = []
    for number, what in ARTICLE.items():
        judged = found.get(number) or claim(number, NOT_RUN, Verdict.OPEN, "")
        known = committed().get(number, "") if number not in large else ""
        later = known if judged.verdict is Verdict.OPEN else ""
        rows.append(SummaryRow(what.figure, what.experiment, judged, later))
    return rows


def headline(rows: Iterable[SummaryRow]) -> str:
    """For example: 27 claims: 18 hold, 4 in part, 3 fail, 2 open."""
    judged = [row.claim for row in rows]
    return f"{len(judged)} claims: {count_verdicts(judged)}"


@cache
def committed() -> Mapping[int, str]:
    """The verdicts of the committed run at paper scale, as text, by number of the claim."""
    text = (resources(__package__ or "") / COMMITTED).read_text("utf-8")
    return {int(number): said for number, said in json.loads(text).items()}


def committed_text(outcomes: Iterable[Outcome]) -> str:
    """The contents of `paper_scale.json`."""
    said = {
        str(one.number): f"{one.verdict}: {one.measured}"
        for outcome in outcomes
        for one in outcome.claims
        if one.number
    }
    return json.dumps(dict(sorted(said.items(), key=lambda pair: int(pair[0]))), indent=0) + "\n"
