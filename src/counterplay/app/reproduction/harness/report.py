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
from typing import TYPE_CHECKING, Any, NamedTuple

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

    @property
    def anchor(self) -> str:
        """Unique, and safe in a URL."""
        return "item-" + re.sub(r"[^a-z0-9-]", lambda match: f"_{ord(match[0]):x}", self.name)

    @property
    def story(self) -> Story:
        return STORIES.get(self.name, Story("", ""))

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
    titles = {experiment.name: experiment.title for experiment in experiments}
    codes = {e.name: result_version(e.run) for e in experiments} if compare else {}
    for name in [*outcomes, *failures]:
        titles.setdefault(name, outcomes[name].title if name in outcomes else failures[name].title)
    items = [
        _item(folder, ReportItem(name, title, outcomes.get(name), failures.get(name)))
        for name, title in titles.items()
    ]
    for item in items:
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


class Story(NamedTuple):
    """What the article reports, and what the experiment means, in about three sentences."""

    article: str
    meaning: str


_BOTS = "The bots are re-creations of commercial programs, so numbers compare in tendency only."
STORIES: dict[str, Story] = {
    "fig4-kuhn": Story(
        "MCCFR's squared and dominated errors are close to zero. MCTS (C = 2) has converged "
        "slightly off the equilibrium, plays dominated actions and is still unlearning them. No "
        "numbers are given.",
        "MCCFR's errors fall by about a factor of ten with each decade of iterations. MCTS stops "
        "at a distance from every equilibrium that depends on C, while its dominated actions "
        "become ever rarer. A best response exploits it; an equilibrium wins almost nothing from "
        "it.",
    ),
    "fig4-holdem": Story(
        "MCTS (C = 17) rises fast and stays where it is; MCCFR (ε = 0.6) rises slowly and "
        "surpasses it at about 45 million iterations (read from the curves; the text gives no "
        "number).",
        "MCTS is the stronger of the two for some tens of millions of iterations, then stops "
        "improving, while outcome sampling goes on. An iteration of it is not cheaper here, where "
        "both spend most of their time on cards and memory. External sampling, at which the "
        "article only guesses, is far ahead of both in iterations and in time.",
    ),
    "holdem-time": Story(
        "MCRNR achieves its performance in a fraction of the computation time required by previous "
        "algorithms; 20 million sampled iterations require much less time than as many full "
        "backups. No times are given.",
        "A full pass of CFR over the bucketed game takes long enough for every sampling engine to "
        "become strong. Against chance-sampled CFR, which Zinkevich et al. (2008) used in poker, "
        "external and public sampling need a small fraction of the time. Outcome sampling, the "
        "article's engine, needs more than chance-sampled CFR.",
    ),
    "table1": Story(
        "sb/h over 10,000 games, ± 0.12: MCTS10 +0.077 from Poki and -0.103 from Sparbot, MCCFR10 "
        "+0.059 and -0.091, MCCFR100 +0.191 and +0.046.",
        f"Equilibrium strategies of three abstractions play the two bots. {_BOTS} Players that "
        "have converged (public sampling) are judged; outcome sampling, the article's engine, is "
        "beside them at the iterations it got.",
    ),
    "table2": Story(
        "sb/h over 10,000 games, ± 0.12: MCRNR10 +0.369 from Poki and -0.039 from Sparbot, "
        "MCRNR100 +0.482 and +0.061; MCCFR as in Table 1. Models are learnt from about 20,000 "
        "games.",
        f"Robust responses to a model of each bot play against it. {_BOTS} How the model treats "
        "cards that were never shown decides what the response wins: taken literally, J48 "
        "cannot represent that weak hands fold.",
    ),
    "fig6": Story(
        "Curves of gain against risk for p = 0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97 and 1 in OCP(500), "
        "Goofspiel, Bluff and Princess and Monster. No numbers are given.",
        "Trust in the model buys winnings from the model at the price of being exploitable. RNR at "
        "full width, which is exact, is judged; MCRNR is beside it. How much the last step of p "
        "costs depends on the game and on how good the model is.",
    ),
    "fig7": Story(
        "MCRNR is below RNR in all four games, above all at the left end of the curves. No numbers "
        "are given.",
        "Both algorithms respond to the same model; the curves are the exploitability of the pair "
        "of responses by nodes and by seconds. Where a game has much chance, sampling reaches a "
        "good approximation before full width has ended its first pass. The verdict is game by "
        "game.",
    ),
    "fig8": Story(
        "An online MCRNR10 with 6 million iterations for every 1,000 games exploits Poki after "
        "about 20 million iterations; Table 2 has its final +0.369 sb/h.",
        "The response is learnt while it plays, to a model from 20,000 games observed before. It "
        "is compared with MCCFR10, which never adapts, on the same hands. The second panel has the "
        "winnings by number of observed games.",
    ),
    "bots": Story(
        "",
        "The bots of the article are commercial programs; these are re-creations from published "
        "descriptions. The table has what the originals were reported to win, and what the "
        "re-creations win.",
    ),
    "buckets": Story(
        "100 buckets are much better than 10, and less abstraction would be better still.",
        "MCCFR with 10 to 200 buckets is trained for about the same time, and measured by time "
        "(left) and by visits of information sets (right). Finer buckets can express more, and "
        "need longer to train. So the best number depends on the time there is.",
    ),
    "fig6-holdem": Story(
        "",
        "The curve of Figure 6 in limit hold'em, from committed points: trained on a GPU and not "
        "here. A response that learnt against an adversary who sees its cards risks far less.",
    ),
    "by-size": Story(
        "",
        "Each family of games grows until a tree no longer fits. Up to there the table compares "
        "the seconds, building included, and the memory that full width and sampling need to the "
        "same gap. Beyond it only sampling without a tree goes on.",
    ),
}
