"""RNR and MCRNR by size of the game: seconds and memory to a given gap, at full width and by
sampling, up to sizes at which full width no longer fits. Beyond the article, whose games all fit.

Each run is a separate process (`size_run.py`), and the runs of a family are sequential, so that no
two of its largest trees are in memory at once. Sampling without a tree gives the same bits as with
one, so it reaches the gap in the same iterations; where no tree can be built, the gap cannot be
measured, and the winnings of the response are measured instead. There is one run of each.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.app.reproduction import size_run
from counterplay.app.reproduction.harness.base import Experiment, Outcome, ResultTable
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
from counterplay.core.base.progress import ProgressCallback, stage
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
START_SECONDS, WARM_UP_SECONDS = 1.5, 25.0  # of a process, of the first
SPEED = 1e7  # nodes a second
Methods = Mapping[str, SizeRun]
#: By family and game, the games from small to large.
Runs = Mapping[str, Mapping[str, Methods]]


class BySizeScale(NamedTuple):
    games: Mapping[str, Sequence[str]]  # by family; at paper scale the last has no tree
    nodes: float  # visited at most, by each run


SCALES = {
    "quick": BySizeScale(
        {
            "Goof(N)": [f"goofspiel({n})" for n in (5, 8)],
            "PAM(3,3,H)": ["pam(3,3,8)"],
        },
        1e7,
    ),
    "paper": BySizeScale(
        {
            "Goof(N)": [f"goofspiel({n})" for n in (4, 5, 6, 7, 8)],
            "Bluff(1,1,F)": [f"bluff(1,1,{n})" for n in (4, 5, 6, 7, 8, 11)],
            "PAM(3,3,H)": [f"pam(3,3,{n})" for n in (4, 6, 8, 10, 12, 14)],
        },
        1e8,
    ),
}


def beyond(by: Methods) -> bool:
    """Whether full width does not fit."""
    return any(by[m].note in (NO_TREE, OUT_OF_MEMORY) for m in (CFR, CFR_PLUS) if m in by)


# the runs


def _task(game: str, method: str, nodes: float, iterations: int = 0) -> SizeTask:
    return SizeTask(game, *METHODS[method], nodes, iterations)


def _cached_run(
    game: str, method: str, nodes: float, store: PieceStore, progress: ProgressCallback
) -> SizeRun:
    """One run. A game without a tree has none by any method, so it is tried once."""
    iterations = 0
    if method == OUTCOME_ALONE:
        on_tree = _cached_run(game, OUTCOME, nodes, store, progress)
        iterations = int(on_tree.iterations or 0) if on_tree.reached else 0
    elif method != CFR:
        first = _cached_run(game, CFR, nodes, store, progress)
        if first.note == NO_TREE:
            return first
    task = _task(game, method, nodes, iterations)
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
            _warm_up(store, progress)
        return size_run.measure_in_process(tasks, progress)

    return [SizeRun(*one) for one in store.value(kind, recipe, make)]


def _warm_up(store: PieceStore, progress: ProgressCallback) -> None:
    tasks = [_task(WARM_UP_GAME, method, 1e3, 1) for method in METHODS]
    _cached_measurements("warm", tasks, store, progress)


def _family(
    games: Sequence[str], nodes: float, store: PieceStore, progress: ProgressCallback
) -> dict[str, dict[str, SizeRun]]:
    """The runs of a family, sequentially, by game and method."""
    runs: dict[str, dict[str, SizeRun]] = {game: {} for game in games}
    plan = [(game, method) for game in games for method in METHODS]
    for k, (game, method) in enumerate(plan):
        shown = stage(progress, k, len(plan), f"{game}, {method}")
        runs[game][method] = _cached_run(game, method, nodes, store, shown)
    return runs


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    size = SCALES[scale]
    warm_up = Job("By size: kernels", partial(_warm_up, store), WARM_UP_SECONDS)
    jobs = [warm_up]
    for games in size.games.values():
        before = (warm_up.name,)
        for game in games:
            for method in METHODS:
                work = partial(_cached_run, game, method, size.nodes, store)
                name = f"By size: {game}, {method}"
                jobs.append(Job(name, work, START_SECONDS + size.nodes / SPEED, 1, before))
                before = (name,)
    return jobs


# picture and table


def _table(runs: Runs) -> ResultTable:
    rows = [
        [game, *(_cell(by[method]) for method in METHODS)]
        for games in runs.values()
        for game, by in games.items()
    ]
    title = "Seconds to the gap, building included (>: stopped before), and peak memory"
    return ResultTable(title, ["game", *METHODS], rows)


def _cell(one: SizeRun) -> str:
    if one.total is None:
        return one.note
    peak = "" if one.peak_gb is None else f", {one.peak_gb:.2f} GB"
    return f"{'' if one.reached else '> '}{one.total:.2g} s{peak}"


def picture(runs: Runs, path: Path) -> None:
    """A column for each family. Crosses: stopped before, or the gap cannot be measured."""
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
    figure.align_ylabels(axes[:, 0])
    labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(*labels, loc="outside lower center", ncols=3, frameon=False)
    title = f"A response to uniform play, p = {P:g}, to {GAP:.0%} of its gap, by size"
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
    lanes = [partial(_family, games, size.nodes, store) for games in size.games.values()]
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
        "nodes": size.nodes,
        "p": P,
        "target": GAP,
    }
    header = f"family game method {' '.join(SizeRun._fields)}"
    return EXPERIMENT.outcome(scale, folder, [], setting, header, rows, [_table(runs)])


TARGET = "the gap of the restricted game, as a share of that of uniform play, to be reached"
TITLE = "Beyond the article: time and memory of RNR and MCRNR by size"
SECONDS = {"quick": 18, "paper": 500}  # on two cores
MEANING = {"nodes": "visited at most, by each run", "target": TARGET}
STORY = """

Each family of games grows until a tree no longer fits. Up to there the table compares the seconds,
building included, and the memory that full width and sampling need to the same gap. Beyond it only
sampling without a tree goes on."""
EXPERIMENT = Experiment(
    "by-size", TITLE, run, SECONDS, _jobs, order=22, priority=22, meaning=MEANING, story=STORY
)
