"""The report: one self-contained HTML page, made from the results in a folder.

It reads only what experiments saved there, so it can be written at any time; missing or damaged
results are named on the page.
"""

from __future__ import annotations

import base64
import re
import struct
import zlib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.app.reproduction.harness.base import (
    NOT_RUN,
    Experiment,
    ExperimentFailure,
    Outcome,
    changed_files,
    duration,
    headline,
    read_failure,
    read_outcome,
    summary,
)
from counterplay.app.reproduction.harness.store import result_version
from counterplay.core.base import files
from counterplay.core.base.errors import BadFile
from counterplay.core.base.version import version

if TYPE_CHECKING:
    from jinja2 import Template

PAGE = "report.html"
FAILED = "failed"
RECREATIONS = (
    "Poki and Sparbot are re-creations from published descriptions, not the original programs; "
    "numbers against them can be compared with the paper's only in tendency."
)
OTHER_CODE = "This result is of other code than what is installed now; run this experiment again."
MAX_DEPTH = 4  # of lists in a setting
#: Meaning of settings that several experiments have; others are in `Experiment.meaning`.
MEANING = {
    "C": "the constant of MCTS: how much it explores, in units of the payoff",
    "Pconf": "how far the model is trusted, from 0 to 1",
    "buckets": "of hand strength on each street; the number of them is the size of the abstraction",
    "epsilon": "the share of random exploration in outcome sampling",
    "external": "iterations of external sampling; two numbers: with 10 and with 100 buckets",
    "games": "what is played; as a number: how many hands",
    "hands": "of each match; in a list, of each of the matches in their order",
    "iterations": "of each run; in a list, of each of its variants in their order",
    "model iterations at most": "of the equilibrium that serves as a model",
    "outcome": "iterations of outcome sampling; two numbers: with 10 and with 100 buckets",
    "p": "how far the model is trusted, from 0 (an equilibrium) to 1 (a best response)",
    "poki": "hands of a match against Poki; 0: none",
    "public": "iterations of public chance sampling; 0: not at this scale",
    "scale": "quick takes minutes; paper is meant to decide",
    "seeds": "runs with different random numbers",
    "swept": "iterations of each of the variants that are only compared",
    "threads": "that share the work of one run",
    "time taken": "of the whole experiment, as far as it was not kept from before",
    "units": "of effort for each run, about seconds",
}
#: Settings that name a player: `MCCFR10, external`, `MCRNR100, outcome, for poki`.
PLAYER = re.compile(r"(MCCFR|MCRNR|MCTS)\d*\b.*,.*")
SIGNATURE = b"\x89PNG\r\n\x1a\n"
INCH = 0.0254  # metres
DOTS_PER_INCH = 150.0  # of a picture that does not declare it
READABLE = 66  # screen pixels per printed inch at which the labels can still be read


def meaning(name: str, experiments: Iterable[Experiment]) -> str:
    """Meaning of a setting; empty where none is given."""
    for meanings in (MEANING, *(experiment.meaning for experiment in experiments)):
        if name in meanings:
            return meanings[name]
    return "what this player's training took" if PLAYER.fullmatch(name) else ""


@dataclass(frozen=True)
class Picture:
    """A PNG file for embedding in HTML; sizes in pixels."""

    name: str
    data: str  # data URI
    width: int
    height: int
    least_width: int  # below this the labels cannot be read


@dataclass
class ReportItem:
    """One figure or table on the page."""

    name: str
    title: str
    outcome: Outcome | None = None
    failure: ExperimentFailure | None = None
    pictures: list[Picture] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)
    article: str = ""  # what it reports
    meaning: str = ""  # of the experiment

    @property
    def anchor(self) -> str:
        """Unique, and safe in a URL."""
        return "item-" + re.sub(r"[^a-z0-9-]", lambda match: f"_{ord(match[0]):x}", self.name)

    @property
    def state(self) -> str:
        """Failed, not run, or the verdicts of its claims; empty where it has none."""
        if self.failure:
            return FAILED
        return self.outcome.counts if self.outcome else NOT_RUN


def write_report(folder: Path, experiments: Sequence[Experiment], compare: bool = True) -> Path:
    """Write `report.html` from the results in `folder`, these `experiments` first. `compare`: mark
    results of other code than the installed one. Returns the path."""
    items, problems = _collect(folder, experiments, compare)
    path = folder / PAGE
    files.write_text(path, _render(items, problems, experiments))
    return path


def _collect(
    folder: Path, experiments: Sequence[Experiment], compare: bool
) -> tuple[list[ReportItem], list[str]]:
    outcomes: dict[str, Outcome] = {}
    failures: dict[str, ExperimentFailure] = {}
    problems = []
    for path in sorted(folder.glob("*.json")):
        try:
            if path.name.endswith(".failed.json"):
                failure = read_failure(path)
                failures[failure.name] = failure
            else:
                outcome = read_outcome(path)
                outcomes[outcome.name] = outcome
        except BadFile as error:
            problems.append(str(error))
    known = {experiment.name: experiment for experiment in experiments}
    titles = {name: experiment.title for name, experiment in known.items()}
    codes = {e.name: result_version(e.run) for e in experiments} if compare else {}
    for name in [*outcomes, *failures]:
        titles.setdefault(name, outcomes[name].title if name in outcomes else failures[name].title)
    items = [
        _item(folder, ReportItem(name, title, outcomes.get(name), failures.get(name)))
        for name, title in titles.items()
    ]
    for item in items:
        if item.name in known:
            item.article, _, item.meaning = known[item.name].story.partition("\n\n")
        if item.outcome and item.outcome.code != codes.get(item.name, item.outcome.code):
            item.problems.insert(0, OTHER_CODE)
    return items, problems


def _item(folder: Path, item: ReportItem) -> ReportItem:
    """The item with its pictures, links, notes and problems."""
    outcome = item.outcome
    if outcome is None:
        return item
    item.title = outcome.title
    item.notes = list(outcome.notes)
    if re.search("poki|sparbot", str(asdict(outcome)), re.IGNORECASE) and not any(
        "re-creations" in note for note in item.notes
    ):
        item.notes.append(RECREATIONS)
    changed = set(changed_files(outcome, folder)) if outcome.sums else set()
    for file in outcome.files:
        try:
            data = (folder / file).read_bytes()
        except OSError:
            item.problems.append(f"{file} is missing; run this experiment again.")
            continue
        if file in changed:
            item.problems.append(
                f"{file} is not the file this verdict was made with; run this experiment again."
            )
        elif file.lower().endswith(".png"):
            try:
                item.pictures.append(picture(file, data))
            except ValueError:
                item.problems.append(f"{file} is damaged; run this experiment again.")
        item.links.append(file)
    return item


@cache
def _template() -> Template:
    from jinja2 import Environment, StrictUndefined, pass_context

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "value": _value,
        "duration": duration,
        "meaning": pass_context(lambda context, name: meaning(name, context["experiments"])),
        "label": lambda text: str(text).replace("_", " "),
        "css": lambda text: str(text).replace(" ", "-"),
    }
    folder = resources("counterplay.app.reproduction.harness") / "templates"
    return environment.from_string((folder / "report.html").read_text("utf-8"))


def _render(items: list[ReportItem], problems: list[str], experiments: Sequence[Experiment]) -> str:
    rows = summary(item.outcome for item in items if item.outcome)
    page = _template().render(
        items=items,
        anchors={item.name: item.anchor for item in items},
        problems=problems,
        experiments=experiments,
        rows=rows,
        headline=headline(rows),
        seconds=sum(item.outcome.seconds for item in items if item.outcome),
        notes=_shared_notes(items),
        version=version(),
    )
    # a hostile text may hold characters that no file can
    return page.encode("utf-8", "replace").decode().replace("\0", "\ufffd")


def _shared_notes(items: list[ReportItem]) -> list[str]:
    """Notes of several items, to be shown once at the top; they are removed from the items."""
    count = Counter(note for item in items for note in dict.fromkeys(item.notes))
    shared = [note for note, times in count.items() if times > 1]
    for item in items:
        item.notes = [note for note in dict.fromkeys(item.notes) if note not in shared]
    return shared


def _value(value: Any, depth: int = 0) -> str:
    """A setting as text."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**30 else "very large"
    if isinstance(value, float):
        return f"{value:g}"
    if depth == MAX_DEPTH and isinstance(value, list | dict):
        return "…"
    if isinstance(value, list):
        return ", ".join(_value(element, depth + 1) for element in value)
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_value(one, depth + 1)}" for key, one in value.items())
    return "–" if value is None else str(value)


def picture(name: str, data: bytes) -> Picture:
    """`data` as a picture; ValueError unless it is a complete PNG file."""
    chunks = _chunks(data)
    width, height = struct.unpack(">II", chunks[b"IHDR"][:8])
    dots = DOTS_PER_INCH
    if b"pHYs" in chunks:
        per_metre, _, unit = struct.unpack(">IIB", chunks[b"pHYs"])
        dots = per_metre * INCH if unit == 1 and per_metre else dots
    least = min(width, round(width / dots * READABLE))
    uri = "data:image/png;base64," + base64.b64encode(data).decode()
    return Picture(name, uri, width, height, least)


def _chunks(data: bytes) -> dict[bytes, bytes]:
    """The first chunk of each kind; ValueError unless every chunk up to IEND is complete."""
    if not data.startswith(SIGNATURE):
        raise ValueError("not a PNG file")
    chunks: dict[bytes, bytes] = {}
    at = len(SIGNATURE)
    while b"IEND" not in chunks:
        head = data[at : at + 8]
        if len(head) < 8:
            raise ValueError("cut off")
        length, kind = struct.unpack(">I4s", head)
        body, check = data[at + 8 : at + 8 + length], data[at + 8 + length : at + 12 + length]
        if len(check) < 4 or struct.unpack(">I", check)[0] != zlib.crc32(kind + body):
            raise ValueError("damaged")
        chunks.setdefault(kind, body)
        at += 12 + length
    if (
        len(chunks.get(b"IHDR", b"")) != 13
        or b"IDAT" not in chunks
        or len(chunks.get(b"pHYs", b"123456789")) != 9
    ):
        raise ValueError("damaged")
    return chunks
