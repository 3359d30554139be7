"""The report: one HTML page that needs nothing but itself, made from the results in a folder.

It reads what experiments saved there, so it can be written at any time; what is missing or damaged
is said on the page.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from functools import cache
from importlib.resources import files as resources
from pathlib import Path
from typing import TYPE_CHECKING, Any

from counterplay.base import files
from counterplay.base.errors import BadFile
from counterplay.base.version import version
from counterplay.experiments.harness.base import (
    NO_CLAIMS,
    NOT_REPRODUCED,
    OPEN,
    PARTLY,
    REPRODUCED,
    Experiment,
    Failure,
    Outcome,
    duration,
)
from counterplay.experiments.harness.judge import FAILS, HOLDS, UNDECIDED, counted
from counterplay.experiments.harness.outcomes import changed_files, read_failure, read_outcome
from counterplay.experiments.harness.report_pictures import Picture, picture
from counterplay.experiments.harness.settings import meaning
from counterplay.experiments.harness.sources import result_version

if TYPE_CHECKING:
    from jinja2 import Template

PAGE = "report.html"
FAILED, NOT_RUN = "failed", "not run"
VERDICTS = (REPRODUCED, PARTLY, OPEN, NOT_REPRODUCED, NO_CLAIMS, FAILED, NOT_RUN)
RECREATIONS = (
    "Poki and Sparbot are re-creations from published descriptions, not the original programs; "
    "numbers against them can be compared with the paper's only in tendency."
)
OTHER_CODE = "This result is of other code than what is installed now; run this experiment again."
DEEPEST = 4  # of lists in a setting


@dataclass
class Item:
    """One figure or table on the page."""

    name: str
    title: str
    verdict: str
    outcome: Outcome | None = None
    failure: Failure | None = None
    pictures: list[Picture] = field(default_factory=list)
    links: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)

    @property
    def anchor(self) -> str:
        """Unique, as names are, and safe in an address."""
        return "item-" + re.sub(r"[^a-z0-9-]", lambda match: f"_{ord(match[0]):x}", self.name)

    @property
    def css(self) -> str:
        return self.verdict.replace(" ", "-")

    @property
    def counts(self) -> str:
        return (self.outcome.counts if self.outcome else "") or "–"


def write_report(folder: Path, known: Sequence[Experiment], compare: bool = True) -> Path:
    """Write `report.html` from the results in `folder`; `known` experiments come first, in their
    order. `compare`: say which results are of other code than this. Returns its path."""
    items, problems = _collect(folder, known, compare)
    path = folder / PAGE
    files.write_text(path, _render(items, problems))
    return path


def _collect(
    folder: Path, known: Sequence[Experiment], compare: bool
) -> tuple[list[Item], list[str]]:
    outcomes: dict[str, Outcome] = {}
    failures: dict[str, Failure] = {}
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
    titles = {experiment.name: experiment.title for experiment in known}
    codes = {e.name: result_version(e.run) for e in known} if compare else {}
    for name in [*outcomes, *failures]:
        titles.setdefault(name, outcomes[name].title if name in outcomes else failures[name].title)
    items = [
        _item(folder, name, title, outcomes.get(name), failures.get(name))
        for name, title in titles.items()
    ]
    for item in items:
        if item.outcome and item.outcome.code != codes.get(item.name, item.outcome.code):
            item.problems.insert(0, OTHER_CODE)
    return items, problems


def _item(
    folder: Path, name: str, title: str, outcome: Outcome | None, failure: Failure | None
) -> Item:
    verdict = FAILED if failure else outcome.verdict if outcome else NOT_RUN
    item = Item(name, outcome.title if outcome else title, verdict, outcome, failure)
    if outcome is None:
        return item
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
    from jinja2 import Environment, StrictUndefined

    environment = Environment(
        autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters |= {
        "value": _value,
        "duration": duration,
        "meaning": meaning,
        "label": lambda text: str(text).replace("_", " "),
    }
    return environment.from_string(
        (resources("counterplay.experiments.harness") / "templates" / "report.html").read_text(
            "utf-8"
        )
    )


def _render(items: list[Item], problems: list[str]) -> str:
    counts = Counter(item.verdict for item in items)
    claims = [claim for item in items if item.outcome for claim in item.outcome.claims]
    page = _template().render(
        items=items,
        problems=problems,
        counts=[(verdict, counts[verdict]) for verdict in VERDICTS if counts[verdict]],
        seconds=sum(item.outcome.seconds for item in items if item.outcome),
        claims=counted([claim.holds for claim in claims]) or "none yet",
        n_claims=len(claims),
        notes=_shared_notes(items),
        version=version(),
        signs={HOLDS: "✓ holds", FAILS: "✗ fails", UNDECIDED: "? undecided"},
    )
    return (
        page.encode("utf-8", "replace").decode().replace("\0", "\ufffd")
    )  # a hostile text may hold what no file can


def _shared_notes(items: list[Item]) -> list[str]:
    """Notes of several items, which are said once, at the top; they are taken out of the items."""
    count = Counter(note for item in items for note in dict.fromkeys(item.notes))
    shared = [note for note, times in count.items() if times > 1]
    for item in items:
        item.notes = [note for note in dict.fromkeys(item.notes) if note not in shared]
    return shared


def _value(value: Any, depth: int = 0) -> str:
    """A setting for people."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        return f"{value:,}" if abs(value) < 10**30 else "very large"
    if isinstance(value, float):
        return f"{value:g}"
    if depth == DEEPEST and isinstance(value, list | dict):
        return "…"
    if isinstance(value, list):
        return ", ".join(_value(one, depth + 1) for one in value)
    if isinstance(value, dict):
        return "; ".join(f"{key}: {_value(one, depth + 1)}" for key, one in value.items())
    return "–" if value is None else str(value)
