"""Figure 6: what restricted Nash responses win from a model, and what they risk, for p from 0 to 1.

Exploitation is the payoff against the model, summed over both seats (the values of the game
cancel); exploitability is b1 + b2 of the responses. Lines are RNR at full width, run to
convergence; crosses are MCRNR, as in the paper. The paper's model is a profile of MCCFR; two weaker
models, from which there is something to win, are shown beside it.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.base.plotting import COLOURS, STYLES, new_figure, save_figure
from counterplay.base.progress import Tell
from counterplay.experiments.harness.base import Claim, Experiment, Outcome, write_csv
from counterplay.experiments.harness.parallel import in_parallel
from counterplay.experiments.harness.sources import file_version
from counterplay.experiments.harness.store import Store, digest
from counterplay.experiments.paper.models import (
    EPSILON,
    GAMES,
    LIMITS,
    FixedProfile,
    Limit,
    early,
    late,
    uniform,
)
from counterplay.experiments.paper.players import staged
from counterplay.forms.game import Game
from counterplay.games.registry import load
from counterplay.responses.frontier import PAPER_PS, Frontier, Point, frontier


class Scale(NamedTuple):
    gap: float  # of the restricted game, as a share of the payoff range, at which RNR stops
    full: int  # iterations of one RNR at most
    iterations: int  # of one MCRNR


SCALES = {"quick": Scale(2e-4, 4_000, 2_000_000), "paper": Scale(5e-5, 40_000, 200_000_000)}


class Curve(NamedTuple):
    game: str
    model: FixedProfile
    exact: Frontier  # RNR at full width
    sampled: Frontier | None  # MCRNR
    iterations: int  # of one MCRNR


def _curves(name: str, scale: Scale, limit: Limit, store: Store, tell: Tell) -> list[Curve]:
    stages = 5  # a model, the paper's curve twice, and those of two weaker models
    tell(0.0, f"building {name}")
    game = load(name)
    paper = late(game, limit, store, staged(tell, 0, stages))
    models = [paper, early(game, store, staged(tell, 0, stages)), uniform(game)]
    spread = float(game.tree.payoff.max() - game.tree.payoff.min())
    full = {"target": scale.gap * spread, "iterations": scale.full, "engine": "dcfr"}
    drawn = {"iterations": scale.iterations, "seed": 1, "epsilon": EPSILON}
    sampled = _kept_frontier(game, paper, store, "mcrnr", drawn, staged(tell, 1, stages))
    curves = []
    for k, model in enumerate(models):
        exact = _kept_frontier(game, model, store, "rnr", full, staged(tell, 2 + k, stages))
        curves.append(
            Curve(name, model, exact, sampled if model is paper else None, scale.iterations)
        )
    return curves


def _kept_frontier(
    game: Game,
    model: FixedProfile,
    store: Store,
    algorithm: str,
    options: dict[str, Any],
    tell: Tell,
) -> Frontier:
    """The curve, each of its points kept."""
    points = []
    for k, p in enumerate(PAPER_PS):
        what = f"{game.name}: {algorithm.upper()} against {model.label}, p = {p:g}"
        say = partial(staged(tell, k, len(PAPER_PS)), 0.0, what)
        say()

        def compute(p: float = p, say: Any = say) -> list[float]:
            show: dict[str, Any] = {"on_chunk": lambda progress: say()}
            one = frontier(
                game, model.strategy, [p], algorithm=algorithm, **options, **show
            ).points[0]
            return [one.p, one.exploitation, one.exploitability, one.seconds]

        recipe = {
            "game": [game.name, game.fingerprint],
            "model": digest(model.strategy.probabilities),
            "algorithm": algorithm,
            "p": p,
            "options": options,
            "file": file_version(__file__),
        }
        points.append(store.value("point", recipe, compute))
    nothing: Any = None  # the responses themselves are not kept
    return Frontier(
        game,
        None,
        algorithm,
        tuple(Point(p, gain, risk, seconds, nothing) for p, gain, risk, seconds in points),
    )


def _jump(curve: Frontier) -> float:
    """The share of all exploitability that comes between p = 0.97 and p = 1."""
    risk = {point.p: point.exploitability for point in curve.points}
    return (risk[1.0] - risk[0.97]) / max(risk[1.0] - risk[0.0], 1e-12)


def _boost(curve: Frontier, p: float) -> tuple[float, float]:
    """Shares of the whole gain and of the whole risk at p."""
    first, last = curve.points[0], curve.points[-1]
    point = next(point for point in curve.points if point.p == p)
    gain = (point.exploitation - first.exploitation) / max(
        last.exploitation - first.exploitation, 1e-12
    )
    return gain, (point.exploitability - first.exploitability) / max(
        last.exploitability - first.exploitability, 1e-12
    )


def _claims(curves: list[Curve]) -> list[Claim]:
    paper = [curve for curve in curves if curve.sampled is not None]
    boosts = {curve.game: _boost(curve.exact, 0.8) for curve in paper}
    jumps = {curve.game: _jump(curve.exact) for curve in paper}
    rising = [
        all(
            b.exploitation >= a.exploitation - 2e-3 and b.exploitability >= a.exploitability - 2e-3
            for a, b in zip(curve.exact.points, curve.exact.points[1:], strict=False)
        )
        for curve in curves
    ]
    return [
        Claim(
            "Both exploitation and exploitability grow with p.",
            "from each p to the next neither falls by more than 0.002, for every game and model "
            "(RNR)",
            f"in {sum(rising)} of {len(rising)} curves",
            all(rising),
        ),
        Claim(
            "For p from 0.5 to 0.8 much is won for a small loss of safety.",
            "at p = 0.8 the share of the whole gain is more than twice the share of the whole "
            "risk, against the MCCFR model",
            ", ".join(
                f"{game}: {gain:.0%} of the gain for {risk:.0%} of the risk"
                for game, (gain, risk) in boosts.items()
            ),
            all(gain > 2 * risk for gain, risk in boosts.values()),
        ),
        Claim(
            "In every game except Bluff the step from p = 0.97 to 1 has a high impact.",
            "more than a quarter of all exploitability comes with that step "
            "in every game but Bluff",
            ", ".join(f"{game}: {share:.0%}" for game, share in jumps.items()),
            all(share > 0.25 for game, share in jumps.items() if not game.startswith("bluff")),
        ),
    ]


def _picture(curves: list[Curve], path: Path) -> None:
    names = list(dict.fromkeys(curve.game for curve in curves))
    figure, axes = new_figure(2, len(names), 4.2 * len(names), 7.6)
    for column, name in enumerate(names):
        mine = [curve for curve in curves if curve.game == name]
        _panel(
            axes[0, column],
            mine[:1],
            f"{name}, model: MCCFR, exploitable by {mine[0].model.exploitability:.2g}",
        )
        _panel(axes[1, column], mine[1:], f"{name}, weaker models")
    figure.suptitle(
        "What responses win from a model and what they risk (both seats, payoff per game)"
    )
    save_figure(figure, path)


def _panel(axis: Any, curves: list[Curve], title: str) -> None:
    for k, curve in enumerate(curves):
        points = curve.exact.points
        colour = COLOURS[k]
        x, y = [q.exploitability for q in points], [q.exploitation for q in points]
        axis.plot(
            x,
            y,
            marker="o",
            markersize=4,
            color=colour,
            linestyle=STYLES[k],
            label=f"RNR, {curve.model.label}",
        )
        axis.plot(
            [x[0], x[-1]],
            [y[0], y[-1]],
            color=colour,
            linestyle=":",
            linewidth=1,
            label="mixing the ends",
        )
        if curve.sampled is not None:
            sampled = curve.sampled.points
            label = f"MCRNR, {curve.iterations / 1e6:g}M iterations"
            x, y = [q.exploitability for q in sampled], [q.exploitation for q in sampled]
            axis.plot(x, y, "x", color=COLOURS[1], label=label)
        last: tuple[float, float] | None = None
        for point in (points[0], points[1], points[4], points[-2], points[-1]):
            here = (point.exploitability, point.exploitation)
            if last is None or _apart(here, last, x, y):
                axis.annotate(
                    f"{point.p:g}",
                    here,
                    textcoords="offset points",
                    xytext=(4, -10),
                    fontsize=7,
                    color=colour,
                )
                last = here
    axis.set_title(title, fontsize=9)
    axis.set(xlabel="exploitability b1 + b2", ylabel="exploitation (payoff against the model)")
    axis.legend(frameon=False, fontsize=7)


def _apart(
    here: tuple[float, float], last: tuple[float, float], x: list[float], y: list[float]
) -> bool:
    """Whether two labels would not lie on each other."""
    wide, high = max(max(x) - min(x), 1e-12), max(max(y) - min(y), 1e-12)
    return abs(here[0] - last[0]) / wide + abs(here[1] - last[1]) / high > 0.1


def run(scale: str, store: Store, tell: Tell) -> Outcome:
    started = time.perf_counter()
    setting, limit, folder = SCALES[scale], LIMITS[scale], store.folder
    jobs = [partial(_curves, name, setting, limit, store) for name in GAMES[scale]]
    curves = [curve for found in in_parallel(jobs, tell) for curve in found]
    tell(1.0, "drawing")
    _picture(curves, folder / "fig6.png")
    rows = []
    for curve in curves:
        for algorithm, points in (("rnr", curve.exact), ("mcrnr", curve.sampled)):
            if points is not None:
                gain = points.points[0].exploitation
                model = (curve.game, curve.model.label, curve.model.exploitability, algorithm)
                rows += [(*model, p, e, e - gain, x, line, s) for p, e, x, line, s in points.rows()]
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
        "seconds",
    )
    write_csv(folder / "fig6.csv", header, rows)
    details = {
        "games": list(GAMES[scale]),
        "p": list(PAPER_PS),
        "epsilon": EPSILON,
        **setting._asdict(),
    }
    details |= {"model iterations at most": limit.iterations}
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
    "fig6", "Figure 6: exploitation against exploitability", run, {"quick": 55, "paper": 7000}
)
