"""Figure 7 by size of the game: seconds and memory to a given gap, at full width and by sampling,
up to sizes at which full width no longer fits. Beyond the paper, whose games all fit.

Each run is a separate process (`size_run.py`), and the runs of a family are sequential, so that no
two of its largest trees are in memory at once. Sampling without a tree gives the same bits as with
one, so it reaches the gap in the same iterations; where no tree can be built, the gap cannot be
measured, and the winnings of the response are measured instead.

There is one run of each, so the rules take seconds, building included, as known to a factor of two
either way, and peak memory to a tenth. A run that was stopped needs at least as long as it ran.
Sampling is meant for large games: below five million histories there is no verdict.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.app.reproduction import size_run
from counterplay.app.reproduction.harness import old_judge as judge
from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    stage_progress,
    titled_progress,
)
from counterplay.app.reproduction.harness.old_judge import Claim, Interval, Verdict
from counterplay.app.reproduction.harness.store import PieceStore, file_version
from counterplay.app.reproduction.size_run import (
    GAP,
    NO_TREE,
    OUT_OF_MEMORY,
    WARM_UP_GAME,
    P,
    SizeRun,
    SizeTask,
)
from counterplay.core.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.parallel.jobs import Job, in_parallel

CFR, CFR_PLUS = "RNR, CFR", "RNR, CFR+"
OUTCOME, EXTERNAL = "MCRNR, outcome", "MCRNR, external"
OUTCOME_ALONE = "MCRNR, outcome, no tree"
#: Algorithm, engine, and whether there is a tree.
METHODS = {
    CFR: ("rnr", "cfr", True),
    CFR_PLUS: ("rnr", "cfr+", True),
    OUTCOME: ("mcrnr", "mccfr", True),
    EXTERNAL: ("mcrnr", "mccfr-external", True),
    OUTCOME_ALONE: ("mcrnr", "mccfr", False),
}
START_SECONDS = 1.5  # of a process
Methods = Mapping[str, SizeRun]
#: By family and game, the games from small to large.
Runs = Mapping[str, Mapping[str, Methods]]


class BySizeScale(NamedTuple):
    games: Mapping[str, Sequence[str]]  # by family; at paper scale the last has no tree
    seconds: float


SCALES = {
    "quick": BySizeScale(
        {
            "Goof(N)": [f"goofspiel({n})" for n in (4, 5, 8)],
            "Bluff(1,1,F)": [f"bluff(1,1,{n})" for n in (4, 5)],
            "PAM(3,3,H)": [f"pam(3,3,{n})" for n in (6, 10)],
        },
        1.0,
    ),
    "paper": BySizeScale(
        {
            "Goof(N)": [f"goofspiel({n})" for n in (4, 5, 6, 7, 8)],
            "Bluff(1,1,F)": [f"bluff(1,1,{n})" for n in (4, 5, 6, 7, 8, 11)],
            "Bluff(2,1,F)": [f"bluff(2,1,{n})" for n in (2, 3, 4, 5, 6, 7)],
            "PAM(3,3,H)": [f"pam(3,3,{n})" for n in (4, 6, 8, 10, 12, 14)],
        },
        180.0,
    ),
}

# the rules

LARGE = 5_000_000  # histories
TIMES, PEAKS = 2.0, 1.1  # factors to which seconds and memory are known


def claims(runs: Runs) -> list[Claim]:
    pairs = [(some, full) for full in (CFR, CFR_PLUS) for some in (EXTERNAL, OUTCOME_ALONE)]
    return [smaller(runs), goes_on(runs), *(sooner(runs, *pair) for pair in pairs)]


def largest(games: Mapping[str, Methods], *methods: str) -> str | None:
    """The largest game on which all of these methods ran."""
    ran = [
        game
        for game, by in games.items()
        if all(m in by and by[m].total is not None for m in methods)
    ]
    return ran[-1] if ran else None


def ratio(sampled: SizeRun, full: SizeRun) -> Interval | None:
    """Seconds to the gap, of sampling over full width; None where neither reached it."""
    if not sampled.total or not full.total or not (sampled.reached or full.reached):
        return None
    value = sampled.total / full.total
    low = value / TIMES if full.reached else 0.0
    return Interval(value, low, value * TIMES if sampled.reached else math.inf)


def sooner(runs: Runs, sampled: str, full: str) -> Claim:
    verdicts: list[Verdict] = []
    details = []
    for family, games in runs.items():
        game = largest(games, sampled, full)
        if game is None:
            verdicts.append(None)
            details.append(f"{family}: nothing to compare")
            continue
        mine, other = games[game][sampled], games[game][full]
        quotient = ratio(mine, other)
        verdicts.append(
            quotient and judge.only_if((other.nodes or 0) >= LARGE, judge.below(quotient, 1.0))
        )
        details.append(f"{game}: {_compared(mine, other, quotient)}")
    return Claim(
        f"In the largest games that both can do {sampled} comes to the gap sooner than {full} "
        f"(beyond the paper).",
        f"seconds to the gap, building included, over those of {full} are below 1 by more than "
        f"a factor of {TIMES:g}, in every family; it fails where they are above 1 by as much, and "
        f"no verdict under {LARGE:,} histories, or where neither came to the gap",
        "; ".join(details),
        judge.all_hold(verdicts),
    )


def _compared(mine: SizeRun, other: SizeRun, quotient: Interval | None) -> str:
    if quotient is None:
        return "neither came to the gap in its time"
    late = "" if mine.reached else ", at least"
    early = "" if other.reached else ", at most"
    return f"{quotient.value:.2g}{late}{early}"


def smaller(runs: Runs) -> Claim:
    verdicts: list[Verdict] = []
    details = []
    for family, games in runs.items():
        game = largest(games, OUTCOME_ALONE, CFR)
        peaks = [games[game][m].peak_gb for m in (OUTCOME_ALONE, CFR)] if game else []
        if game is None or not all(peaks):
            verdicts.append(None)
            details.append(f"{family}: nothing to compare")
            continue
        mine, other = (float(peak or 0.0) for peak in peaks)
        quotient = Interval(mine / other, mine / other / PEAKS, mine / other * PEAKS)
        enough = (games[game][CFR].nodes or 0) >= LARGE
        verdicts.append(judge.only_if(enough, judge.below(quotient, 1.0)))
        details.append(f"{game}: {mine:.2g} GB, full width {other:.2g} GB")
    return Claim(
        "In the largest games that both can do sampling without a tree needs less memory than "
        "full width (beyond the paper).",
        f"peak memory of the process over that of {CFR} is below 1 by more than a factor of "
        f"{PEAKS:g}, whether or not the two came to the gap, in every family; no verdict under "
        f"{LARGE:,} histories",
        "; ".join(details),
        judge.all_hold(verdicts),
    )


def goes_on(runs: Runs) -> Claim:
    verdicts: list[Verdict] = []
    details = []
    for game, by in ((game, by) for games in runs.values() for game, by in games.items()):
        if OUTCOME_ALONE not in by or not beyond(by):
            continue
        one = by[OUTCOME_ALONE]
        if one.won is None or one.won_error is None:
            verdicts.append(None)
            details.append(f"{game}: {one.note}")
            continue
        won = judge.around(one.won, one.won_error)
        verdicts.append(judge.above(won, 0.0))
        details.append(
            f"{game}: {one.won:+.3f} ± {one.won_error:.3f} after {one.iterations:,} iterations"
        )
    return Claim(
        "Where full width no longer fits, sampling goes on (beyond the paper).",
        "wherever RNR has no tree or no memory, the response of MCRNR without a tree wins more "
        "from the model than the model itself does in that seat, by the whole 95% interval",
        "; ".join(details) or "full width fits everywhere",
        judge.all_hold(verdicts),
    )


def beyond(by: Methods) -> bool:
    """Whether full width does not fit."""
    return any(by[m].note in (NO_TREE, OUT_OF_MEMORY) for m in (CFR, CFR_PLUS) if m in by)


# the runs


def _task(game: str, method: str, seconds: float, iterations: int = 0) -> SizeTask:
    return SizeTask(game, *METHODS[method], seconds, iterations)


def _cached_run(
    game: str, method: str, seconds: float, store: PieceStore, progress: ProgressCallback
) -> SizeRun:
    """One run. A game without a tree has none by any method, so it is tried once."""
    iterations = 0
    if method == OUTCOME_ALONE:
        on_tree = _cached_run(game, OUTCOME, seconds, store, progress)
        iterations = int(on_tree.iterations or 0) if on_tree.reached else 0
    elif method != CFR:
        first = _cached_run(game, CFR, seconds, store, progress)
        if first.note == NO_TREE:
            return first
    task = _task(game, method, seconds, iterations)
    return _cached_measurements("size", [task], store, progress)[0]


def _cached_measurements(
    kind: str, tasks: Sequence[SizeTask], store: PieceStore, progress: ProgressCallback
) -> list[SizeRun]:
    """The measurements of one process. Kernels are compiled before, in an unmeasured process, as
    compiling takes memory."""
    recipe = {
        "tasks": [task._asdict() for task in tasks],
        "p": P,
        "gap": GAP,
        "fields": SizeRun._fields,
        "file": file_version(size_run.__file__),
    }

    def make() -> list[SizeRun]:
        if kind != "warm":
            warm_up = [_task(WARM_UP_GAME, method, 1.0, 1) for method in METHODS]
            _cached_measurements("warm", warm_up, store, progress)
        return size_run.measure_in_process(tasks, progress)

    return [SizeRun(*one) for one in store.value(kind, recipe, make)]


def _family(
    games: Sequence[str], seconds: float, store: PieceStore, progress: ProgressCallback
) -> dict[str, dict[str, SizeRun]]:
    """The runs of a family, sequentially, by game and method."""
    runs: dict[str, dict[str, SizeRun]] = {game: {} for game in games}
    plan = [(game, method) for game in games for method in METHODS]
    for k, (game, method) in enumerate(plan):
        shown = titled_progress(stage_progress(progress, k, len(plan)), f"{game}, {method}")
        runs[game][method] = _cached_run(game, method, seconds, store, shown)
    return runs


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    size, jobs = SCALES[scale], []
    for games in size.games.values():
        before: tuple[str, ...] = ()
        for game in games:
            for method in METHODS:
                work = partial(_cached_run, game, method, size.seconds, store)
                name = f"By size: {game}, {method}"
                jobs.append(Job(name, work, START_SECONDS + 0.3 * size.seconds, 1, before))
                before = (name,)
    return jobs


# picture and table


def _table(runs: Runs) -> ResultTable:
    rows = [
        [game, *(_cell(by[method]) for method in METHODS)]
        for games in runs.values()
        for game, by in games.items()
    ]
    title = "Seconds to the gap, building included (>: the time ran out), and peak memory"
    return ResultTable(title, ["game", *METHODS], rows)


def _cell(one: SizeRun) -> str:
    if one.total is None:
        return one.note
    peak = "" if one.peak_gb is None else f", {one.peak_gb:.2f} GB"
    return f"{'' if one.reached else '> '}{one.total:.2g} s{peak}"


def picture(runs: Runs, path: Path) -> None:
    """A column for each family. Crosses: the time ran out, or the gap cannot be measured."""
    figure, axes = new_figure(2, len(runs), 3.4 * len(runs), 6.4)
    rows = (("total", "seconds to the gap"), ("peak_gb", "peak memory, GB"))
    for column, (family, games) in enumerate(runs.items()):
        sizes = [name.rstrip(")").replace("(", ",").split(",")[-1] for name in games]
        for axis, (what, label) in zip(axes[:, column], rows, strict=True):
            for k, method in enumerate(METHODS):
                _line(axis, [by.get(method) for by in games.values()], what, method, k)
            axis.set(yscale="log", title=family, xticks=range(len(sizes)))
            axis.yaxis.set_major_formatter("{x:g}")
            axis.yaxis.set_minor_formatter("")
            axis.set_ylabel(label if column == 0 else "")
            axis.set_xlim(-0.4, len(sizes) - 0.6)
            axis.set_xticklabels(sizes)
            _shade(axis, games)
    for line in axes:  # the same limits, powers of ten, for all families
        ends = [math.log10(end) for axis in line for end in axis.get_ylim()]
        for axis in line:
            axis.set_ylim(10 ** math.floor(min(ends)), 10 ** math.ceil(max(ends)))
    labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(*labels, loc="outside lower center", ncols=len(METHODS), frameon=False)
    title = f"A response to uniform play, p = {P:g}, to a gap of {GAP:.0%}, by size"
    save_figure(figure, path, title)


def _shade(axis: Any, games: Mapping[str, Methods]) -> None:
    """Shade the sizes at which full width no longer fits."""
    for x, by in enumerate(games.values()):
        if beyond(by):
            axis.axvspan(x - 0.4, x + 0.4, color="0.9")
            axis.text(x, 0.02, "no tree", ha="center", transform=axis.get_xaxis_transform())


def _line(axis: Any, ran: Sequence[SizeRun | None], what: str, label: str, series: int) -> None:
    """Runs that reached the gap as a line, others as crosses."""
    there = [(x, one, getattr(one, what)) for x, one in enumerate(ran) if one is not None]
    colour, style = COLOURS[series], STYLES[series]
    how: dict[str, Any] = {"color": colour, "linestyle": style, "marker": ".", "label": label}
    for reached, drawn in ((True, how), (False, {"color": colour, "linestyle": "", "marker": "x"})):
        dots = [(x, y) for x, one, y in there if one.reached == reached and y is not None]
        axis.plot([x for x, _ in dots], [y for _, y in dots], **drawn)


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    size, folder = SCALES[scale], store.folder
    lanes = [partial(_family, games, size.seconds, store) for games in size.games.values()]
    runs: Runs = dict(zip(size.games, in_parallel(lanes, progress), strict=True))
    progress(1.0, "drawing")
    picture(runs, folder / "by-size.png")
    rows = [
        (family, game, method, *("" if x is None else x for x in one))
        for family, games in runs.items()
        for game, by in games.items()
        for method, one in by.items()
    ]
    setting = {
        "games": {family: list(games) for family, games in size.games.items()},
        "seconds": size.seconds,
        "p": P,
        "target": GAP,
    }
    header = f"family game method {' '.join(SizeRun._fields)}"
    return EXPERIMENT.outcome(scale, folder, [], setting, header, rows, [_table(runs)])


TARGET = "the gap of the restricted game, as a share of the range of payoffs, to be reached"
TITLE = "By size: time and memory of RNR and MCRNR (beyond the paper)"
SECONDS = {"quick": 30, "paper": 2700}  # on two cores
MEANING = {"seconds": "of solving at most, of each run", "target": TARGET}
EXPERIMENT = Experiment("by-size", TITLE, run, SECONDS, _jobs, order=9, priority=9, meaning=MEANING)
