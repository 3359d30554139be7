"""Figure 7's question by size: seconds and memory to a given gap, at full width and by sampling, up
to where full width no longer fits. Beyond the paper.

Each run is a process of its own (`own_process.py`), and a family's runs come one after the other,
so that no two of its largest trees are in memory at once. Without a tree sampling has the same
bits, so it reaches the gap in the iterations that it took on the tree; where there is no tree at
all, the gap cannot be measured, and what is measured is what the response wins.
"""

from __future__ import annotations

import math
import time
from collections.abc import Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.experiments.harness.base import Experiment, Outcome, Sheet, write_csv
from counterplay.experiments.harness.sources import file_version
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper import own_process
from counterplay.experiments.paper.own_process import GAP, WARM, P, Task
from counterplay.experiments.paper.players import staged
from counterplay.experiments.paper.rules import by_size as rules
from counterplay.experiments.paper.rules.by_size import SizeRun
from counterplay.parallel.jobs import Job, in_parallel

#: Algorithm, engine, and whether there is a tree.
METHODS = {
    rules.CFR: ("rnr", "cfr", True),
    rules.CFR_PLUS: ("rnr", "cfr+", True),
    rules.OUTCOME: ("mcrnr", "mccfr", True),
    rules.EXTERNAL: ("mcrnr", "mccfr-external", True),
    rules.OUTCOME_ALONE: ("mcrnr", "mccfr", False),
}
HEADER = ("family", "game", "method", *SizeRun._fields)
Family = dict[str, dict[str, SizeRun]]  # by game and method
STARTING = 1.5  # seconds of a process, about


class Scale(NamedTuple):
    games: Mapping[str, Sequence[str]]  # by family; at paper scale the last has no tree
    seconds: float  # of each run


SCALES = {
    "quick": Scale(
        {
            "Goof(N)": [f"goofspiel({n})" for n in (4, 5, 8)],
            "Bluff(1,1,F)": [f"bluff(1,1,{n})" for n in (4, 5)],
            "PAM(3,3,H)": [f"pam(3,3,{n})" for n in (6, 10)],
        },
        1.0,
    ),
    "paper": Scale(
        {
            "Goof(N)": [f"goofspiel({n})" for n in (4, 5, 6, 7, 8)],
            "Bluff(1,1,F)": [f"bluff(1,1,{n})" for n in (4, 5, 6, 7, 8, 11)],
            "Bluff(2,1,F)": [f"bluff(2,1,{n})" for n in (2, 3, 4, 5, 6, 7)],
            "PAM(3,3,H)": [f"pam(3,3,{n})" for n in (4, 6, 8, 10, 12, 14)],
        },
        180.0,
    ),
}


def _task(game: str, method: str, seconds: float, iterations: int = 0) -> Task:
    return Task(game, *METHODS[method], seconds, iterations)


def _kept(game: str, method: str, seconds: float, store: Store, tell: Tell) -> SizeRun:
    """One run, or what is known without it: whoever has no tree has none by any method."""
    iterations = 0
    if method == rules.OUTCOME_ALONE:
        on_tree = _kept(game, rules.OUTCOME, seconds, store, tell)
        iterations = int(on_tree.iterations or 0) if on_tree.reached else 0
    elif method != rules.CFR:
        first = _kept(game, rules.CFR, seconds, store, tell)
        if first.note == rules.NO_TREE:
            return first
    return _pieces("size", [_task(game, method, seconds, iterations)], store, tell)[0]


def _pieces(kind: str, tasks: Sequence[Task], store: Store, tell: Tell) -> list[SizeRun]:
    """Of one process."""
    recipe = {
        "tasks": [task._asdict() for task in tasks],
        "p": P,
        "gap": GAP,
        "fields": SizeRun._fields,
        "file": file_version(own_process.__file__),
    }

    def make() -> list[SizeRun]:
        if kind != "warm":
            _warm(store, tell)
        return own_process.apart(tasks, tell)

    return [SizeRun(*one) for one in store.value(kind, recipe, make)]


def _warm(store: Store, tell: Tell) -> None:
    """Have kernels compiled by a process that nobody measures: compiling takes memory."""
    _pieces("warm", [_task(WARM, method, 1.0, 1) for method in METHODS], store, tell)


def _family(games: Sequence[str], seconds: float, store: Store, tell: Tell) -> Family:
    """Its runs one after the other."""
    plan = [(game, method) for game in games for method in METHODS]
    found: Family = {game: {} for game in games}
    for k, (game, method) in enumerate(plan):
        say: Tell = partial(_say, staged(tell, k, len(plan)), f"{game}, {method}")
        found[game][method] = _kept(game, method, seconds, store, say)
    return found


def _say(tell: Tell, what: str, share: float, _: str) -> None:
    tell(share, what)


def _jobs(scale: str, store: Store) -> list[Job]:
    size, jobs = SCALES[scale], []
    for games in size.games.values():
        before: tuple[str, ...] = ()
        for game in games:
            for method in METHODS:

                def work(tell: Tell, game: str = game, method: str = method) -> None:
                    _kept(game, method, size.seconds, store, tell)

                name = f"By size: {game}, {method}"
                jobs.append(Job(name, work, STARTING + 0.3 * size.seconds, 1, before))
                before = (name,)
    return jobs


def _rows(runs: rules.Runs) -> list[tuple[Any, ...]]:
    return [
        (family, game, method, *("" if x is None else x for x in one))
        for family, games in runs.items()
        for game, by in games.items()
        for method, one in by.items()
    ]


def _sheet(runs: rules.Runs) -> Sheet:
    rows = [
        [game, *(_cell(by[method]) for method in METHODS)]
        for games in runs.values()
        for game, by in games.items()
    ]
    title = "Seconds to the gap, building included (>: the time ran out), and peak memory"
    return Sheet(title, ["game", *METHODS], rows)


def _cell(one: SizeRun) -> str:
    if one.total is None:
        return one.note
    peak = "" if one.peak_gb is None else f", {one.peak_gb:.2f} GB"
    return f"{'' if one.reached else '> '}{one.total:.2g} s{peak}"


def picture(runs: rules.Runs, path: Path) -> None:
    """A column for each family. Crosses: the time ran out, or the gap cannot be measured."""
    figure, axes = new_figure(2, len(runs), 3.4 * len(runs), 6.4)
    for column, (family, games) in enumerate(runs.items()):
        names = list(games)
        for line, (what, label) in enumerate(
            (("total", "seconds to the gap"), ("peak_gb", "peak memory, GB"))
        ):
            axis = axes[line, column]
            for k, method in enumerate(METHODS):
                _line(axis, [games[name].get(method) for name in names], what, method, k)
            axis.set(yscale="log", title=family, xticks=range(len(names)))
            axis.yaxis.set_major_formatter("{x:g}")
            axis.yaxis.set_minor_formatter("")
            axis.set_ylabel(label if column == 0 else "")
            axis.set_xlim(-0.4, len(names) - 0.6)
            axis.set_xticklabels(
                [name.rstrip(")").replace("(", ",").split(",")[-1] for name in names]
            )
            _shade(axis, games)
    for line in axes:
        _alike(line)
    named = axes[0, 0].get_legend_handles_labels()
    figure.legend(*named, loc="outside lower center", ncols=len(METHODS), frameon=False)
    figure.suptitle(f"A response to uniform play, p = {P:g}, to a gap of {GAP:.0%}, by size")
    save_figure(figure, path)


def _alike(axes: Sequence[Any]) -> None:
    """The same powers of ten on all of them."""
    ends = [math.log10(end) for axis in axes for end in axis.get_ylim()]
    for axis in axes:
        axis.set_ylim(10 ** math.floor(min(ends)), 10 ** math.ceil(max(ends)))


def _shade(axis: Any, games: Mapping[str, rules.Methods]) -> None:
    """Where full width no longer fits."""
    for x, by in enumerate(games.values()):
        if rules.beyond(by):
            axis.axvspan(x - 0.4, x + 0.4, color="0.9")
            axis.text(x, 0.02, "no tree", ha="center", transform=axis.get_xaxis_transform())


def _line(axis: Any, ran: Sequence[SizeRun | None], what: str, label: str, series: int) -> None:
    """What came to the gap as a line, what did not as crosses."""
    seen = [(x, one, getattr(one, what)) for x, one in enumerate(ran) if one is not None]
    done = [(x, y) for x, one, y in seen if one.reached and y is not None]
    short = [(x, y) for x, one, y in seen if not one.reached and y is not None]
    colour, style = COLOURS[series], STYLES[series]
    xs, ys = [x for x, _ in done], [y for _, y in done]
    axis.plot(xs, ys, color=colour, linestyle=style, marker=".", label=label)
    axis.plot([x for x, _ in short], [y for _, y in short], "x", color=colour)


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    size, folder = SCALES[scale], store.folder
    lanes = [partial(_family, games, size.seconds, store) for games in size.games.values()]
    found = in_parallel(lanes, tell)
    runs = dict(zip(size.games, found, strict=True))
    tell(1.0, "drawing")
    picture(runs, folder / "by-size.png")
    write_csv(folder / "by-size.csv", HEADER, _rows(runs))
    details = {
        "games": {family: list(games) for family, games in size.games.items()},
        "seconds": size.seconds,
        "p": P,
        "target": GAP,
    }
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        rules.claims(runs),
        details,
        time.perf_counter() - started,
        ["by-size.png", "by-size.csv"],
        [_sheet(runs)],
    )


EXPERIMENT = Experiment(
    "by-size",
    "By size: time and memory of RNR and MCRNR (beyond the paper)",
    run,
    {"quick": 30, "paper": 2700},
    _jobs,
)
