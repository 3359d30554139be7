"""Figure 6: what restricted Nash responses win from a model, and what they risk, for p from 0 to 1.

Exploitation is the payoff against the model, summed over both seats (the values of the game
cancel); exploitability is b1 + b2 of the responses. The paper's points are MCRNR: here by external
sampling, until the gap of the restricted games is a tenth of what can be won from the model, and at
paper scale by outcome sampling too, the paper's, for as long as `outcome` says; there it also
responds to the finer models, at the values of p that rules look at, for as long as `finer` says.
Lines are RNR at full width, the exact oracle. Models are profiles of MCCFR of three strengths, and
uniform play.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, write_csv
from counterplay.experiments.harness.store import Store
from counterplay.experiments.paper.models import (
    EPSILON,
    FINER,
    GAMES,
    RATES,
    TARGET,
    FixedProfile,
    game_of,
    label,
    model_job,
    uniform,
)
from counterplay.experiments.paper.models import model as fixed
from counterplay.experiments.paper.players import staged
from counterplay.experiments.paper.responses import Options, kept_curve
from counterplay.experiments.paper.rules import frontier as rules
from counterplay.experiments.paper.sizes import LIMITS, Limit
from counterplay.parallel.jobs import Job, in_parallel
from counterplay.responses.frontier import PAPER_PS

USUAL = 100_000  # rate of a game that has none
JUDGED_PS = (0.0, 0.5, 0.8, 0.97, 1.0)  # which rules look at
FOOTNOTE_PS = (0.5, 0.8)  # at which RNR and DBR are compared


class Scale(NamedTuple):
    gap: float  # of the restricted game, as a share of what can be won, at which RNR stops
    full: int  # iterations of one RNR at most
    units: float  # of one MCRNR at most, in RATES of the game, about seconds
    outcome: int  # of one MCRNR by outcome sampling; 0: none
    finer: float  # units of one MCRNR that responds to a finer model; 0: none does


SCALES = {
    "quick": Scale(1e-2, 4_000, 0.8, 0, 0.0),
    "paper": Scale(5e-3, 20_000, 40.0, 20_000_000, 10.0),
}


class Curve(NamedTuple):
    game: str
    model: FixedProfile
    how: str  # rnr, dbr, mcrnr or mcrnr (outcome)
    spots: list[rules.Seen]
    seconds: list[float]
    iterations: list[int]

    def judged(self) -> rules.Curve:
        return rules.Curve(self.spots, self.model.exploitability)


class Planned(NamedTuple):
    """A curve to be made: `target` is its model's, None uniform play."""

    how: str
    target: float | None
    ps: Sequence[float]

    def options(self, game: str, scale: Scale, model: FixedProfile) -> Options:
        """How its points are made: exactly enough, or for as long as the scale says."""
        bound = rules.CONVERGED * model.exploitability / 2  # for each seat
        if self.how == "mcrnr":
            units = scale.units if self.target == TARGET else scale.finer
            most = round(units * RATES.get(game, USUAL))
            return Options("mcrnr", "mccfr-external", most, bound, max(most // 40, 1))
        if self.how == "mcrnr (outcome)":
            return Options("mcrnr", "mccfr", scale.outcome, bound, max(scale.outcome // 10, 1))
        return Options(self.how, "dcfr", scale.full, scale.gap * model.exploitability, None)

    def model(self, game: str, limit: Limit, store: Store, tell: Tell) -> FixedProfile:
        if self.target is None:
            return uniform(game_of(game))
        return fixed(game, self.target, limit, store, tell)


def _plan(scale: Scale) -> list[Planned]:
    found = [Planned("mcrnr", TARGET, PAPER_PS)]
    found += [Planned("rnr", target, PAPER_PS) for target in (TARGET, *FINER, None)]
    found.append(Planned("dbr", TARGET, FOOTNOTE_PS))
    if scale.outcome:
        found.append(Planned("mcrnr (outcome)", TARGET, JUDGED_PS))
    if scale.finer:
        found += [Planned("mcrnr", target, JUDGED_PS) for target in FINER]
    return found


def _curves(name: str, scale: Scale, limit: Limit, store: Store, tell: Tell) -> list[Curve]:
    tell(0.0, f"building {name}")
    plan, curves = _plan(scale), []
    for k, one in enumerate(plan):
        part = staged(tell, k, len(plan))
        model = one.model(name, limit, store, part)
        options = one.options(name, scale, model)
        points = kept_curve(game_of(name), model, store, one.ps, options, part)
        spots = [rules.Seen(q.p, q.gain, q.risk, q.gap) for q in points]
        seconds, done = [q.seconds for q in points], [q.iterations for q in points]
        curves.append(Curve(name, model, one.how, spots, seconds, done))
    return curves


def _jobs(scale: str, store: Store) -> list[Job]:
    size, limit, names = SCALES[scale], LIMITS[scale], GAMES[scale]

    def job(name: str, one: Planned, p: float) -> Job:
        def work(tell: Tell) -> None:
            model = one.model(name, limit, store, tell)
            kept_curve(game_of(name), model, store, [p], one.options(name, size, model), tell)

        after: tuple[str, ...] = ()
        if one.target is not None:
            after = (model_job(name, one.target, limit, store).name,)
        what = "uniform play" if one.target is None else label(one.target)
        seconds = 20.0
        if one.how == "mcrnr":
            seconds = 2 * (size.units if one.target == TARGET else size.finer)
        return Job(f"Figure 6: {name}, {one.how}, {what}, p = {p:g}", work, seconds, 1, after)

    models = [model_job(name, t, limit, store) for t in (TARGET, *FINER) for name in names]
    return models + [job(name, one, p) for one in _plan(size) for p in one.ps for name in names]


def _claims(curves: list[Curve]) -> list[Claim]:
    def of(how: str, target: float) -> dict[str, rules.Curve]:
        return {
            curve.game: curve.judged()
            for curve in curves
            if curve.how == how and curve.model.label == label(target)
        }

    sampled = {label(target): of("mcrnr", target) for target in (TARGET, *FINER)}
    sampled = {name: found for name, found in sampled.items() if found}
    exact = {label(target): of("rnr", target) for target in (TARGET, *FINER)}
    made = rules.claims(sampled, exact)
    few = {
        game: curve._replace(spots=[curve.at(p) for p in FOOTNOTE_PS])
        for game, curve in exact[label(TARGET)].items()
    }
    return [*made, rules.similar(few, of("dbr", TARGET), label(TARGET))]


SHOWN = {"rnr": "RNR", "mcrnr": "MCRNR", "mcrnr (outcome)": "MCRNR, outcome sampling"}
Ends = tuple[rules.Seen, rules.Seen]


def _picture(curves: list[Curve], path: Path) -> None:
    names = list(dict.fromkeys(curve.game for curve in curves))
    figure, axes = new_figure(2, len(names), 4.2 * len(names), 7.6)
    for column, name in enumerate(names):
        mine = [curve for curve in curves if curve.game == name and curve.how != "dbr"]
        paper = [curve for curve in mine if curve.model.label == mine[0].model.label]
        others = [curve for curve in mine if curve not in paper]
        exploitable = f"{mine[0].model.exploitability:.2g}"
        _panel(axes[0, column], paper, f"{name}, model: MCCFR, exploitable by {exploitable}")
        axes[0, column].set(
            xlabel="exploitability b1 + b2", ylabel="exploitation (payoff against the model)"
        )
        ends = {c.model.label: (c.spots[0], c.spots[-1]) for c in others if c.how == "rnr"}
        _panel(axes[1, column], others, f"{name}, other models", ends)
        axes[1, column].set(
            xlabel="share of RNR's exploitability at p = 1",
            ylabel="share of what RNR gains by p = 1",
        )
    figure.suptitle(
        "What responses win from a model and what they risk (both seats, payoff per game)"
    )
    save_figure(figure, path)


def _panel(axis: Any, curves: list[Curve], title: str, ends: dict[str, Ends] | None = None) -> None:
    """`ends`: RNR's first and last point by model, of which shares are shown."""
    colours: dict[str, str] = {}
    for k, curve in enumerate(curves):
        colour = colours.setdefault(curve.model.label, COLOURS[len(colours) % len(COLOURS)])
        what = SHOWN[curve.how] + (f", {curve.model.label}" if ends else "")
        x, y = [q.risk for q in curve.spots], [q.gain for q in curve.spots]
        if ends is not None:
            first, last = ends[curve.model.label]
            x = [rules.share(risk, first.risk, last.risk) for risk in x]
            y = [rules.share(gain, first.gain, last.gain) for gain in y]
        if curve.how != "rnr":
            axis.plot(x, y, "x" if curve.how == "mcrnr" else "+", color=colour, label=what)
            continue
        style = STYLES[k % len(STYLES)]
        axis.plot(x, y, marker="o", markersize=4, color=colour, linestyle=style, label=what)
        axis.plot([x[0], x[-1]], [y[0], y[-1]], color=colour, linestyle=":", linewidth=1)
        before: tuple[float, float] | None = None
        for j in (0, 1, 4, -2, -1):
            here = (x[j], y[j])
            if before is None or _apart(here, before, x, y):
                offset = {"textcoords": "offset points", "xytext": (4, -10)}
                axis.annotate(f"{curve.spots[j].p:g}", here, fontsize=7, color=colour, **offset)
                before = here
    axis.set_title(title, fontsize=9)
    axis.legend(frameon=False, fontsize=7, loc="lower right")


def _apart(
    here: tuple[float, float], last: tuple[float, float], x: list[float], y: list[float]
) -> bool:
    """Whether two labels would not lie on each other."""
    wide, high = max(max(x) - min(x), 1e-12), max(max(y) - min(y), 1e-12)
    return abs(here[0] - last[0]) / wide + abs(here[1] - last[1]) / high > 0.1


def _straight(curve: Curve, risk: float) -> float:
    """What mixing the ends of the curve wins at this risk."""
    first, last = curve.spots[0], curve.spots[-1]
    way = rules.share(min(max(risk, first.risk), last.risk), first.risk, last.risk)
    return last.gain if way != way else (1.0 - way) * first.gain + way * last.gain


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    setting, limit, folder = SCALES[scale], LIMITS[scale], store.folder
    jobs = [partial(_curves, name, setting, limit, store) for name in GAMES[scale]]
    curves = [curve for found in in_parallel(jobs, tell) for curve in found]
    tell(1.0, "drawing")
    _picture(curves, folder / "fig6.png")
    rows = []
    for curve in curves:
        model = (curve.game, curve.model.label, curve.model.exploitability, curve.how)
        for spot, seconds, done in zip(curve.spots, curve.seconds, curve.iterations, strict=True):
            over = spot.gain - curve.spots[0].gain
            line = _straight(curve, spot.risk)
            numbers = (spot.p, spot.gain, over, spot.risk, line, spot.gap, done, seconds)
            rows.append((*model, *numbers))
    header = (
        "game",
        "model",
        "model_exploitability",
        "algorithm",
        "p",
        "exploitation",
        "gain_over_p0",
        "exploitability",
        "straight_line",
        "gap",
        "iterations",
        "seconds",
    )
    write_csv(folder / "fig6.csv", header, rows)
    details = {
        "games": list(GAMES[scale]),
        "p": list(PAPER_PS),
        "epsilon": EPSILON,
        **setting._asdict(),
        "converged": f"gap at most {rules.CONVERGED:g} of the model's exploitability",
        "MCRNR": "external sampling; seconds and iterations of each point in fig6.csv",
        "model iterations at most": limit.iterations,
    }
    return Outcome(
        EXPERIMENT.name,
        EXPERIMENT.title,
        scale,
        _claims(curves),
        details,
        time.perf_counter() - started,
        ["fig6.png", "fig6.csv"],
    )


EXPERIMENT = Experiment(
    "fig6",
    "Figure 6: exploitation against exploitability",
    run,
    {"quick": 75, "paper": 900},
    _jobs,
)
