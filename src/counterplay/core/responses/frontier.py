"""The exploitation-exploitability curve of a model (Section 4.3.1, Figure 6).

A restricted Nash response at p maximises p · (payoff against the model) + (1 - p) · (worst case),
so the points for p in [0, 1] bound from above everything that can be won at a given risk; mixing an
equilibrium with a best response gives only the straight line below.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import display, files
from counterplay.core.base.display import Columns, Tabular
from counterplay.core.base.errors import BadParameter, Interrupted
from counterplay.core.base.progress import no_progress, part
from counterplay.core.evaluation.estimate import FlopEstimate, half_interval, upper_end
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.games.players import as_strategy
from counterplay.core.parallel.ray_cluster import current
from counterplay.core.responses.algorithms import default_response, response_algorithm
from counterplay.core.responses.question import Question, answer, check_measurable, measured
from counterplay.core.responses.result import Response
from counterplay.core.solvers.base import probability, real
from counterplay.core.solvers.limits import Limits, check_target, pop_limits

PAPER_PS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 1.0)  # Figure 6
NOT_HERE = ("folder", "p", "max_exploitability")  # arguments of `respond` for one run


@dataclass(frozen=True)
class Point:
    """One response: what it wins from the model, and what it risks."""

    p: float
    exploitation: float  # as in Response: payoff against the model above the value of the game
    # as in Response: how far below the value of the game it can be held; for both seats b1 + b2
    exploitability: float
    seconds: float
    response: Response = field(repr=False)


@dataclass(frozen=True)
class Frontier(Tabular):
    """The curve, p rising."""

    game: Game
    player: int | None
    algorithm: str
    points: tuple[Point, ...]

    def line(self, exploitability: float) -> float:
        """What mixing the first and the last response wins at this exploitability."""
        first, last = self.points[0], self.points[-1]
        low, high = float(first.exploitability), float(last.exploitability)
        share = 1.0 if high <= low else min(max((exploitability - low) / (high - low), 0.0), 1.0)
        return (1.0 - share) * float(first.exploitation) + share * float(last.exploitation)

    @property
    def estimated(self) -> bool:
        """Whether its numbers come from a sample of flops, with intervals."""
        return any(isinstance(point.exploitability, FlopEstimate) for point in self.points)

    @property
    def least_risk(self) -> float:
        """Of the safest point; of estimates the upper end."""
        return min(upper_end(point.exploitability) for point in self.points)

    def recommend(self, max_exploitability: float) -> Point:
        """The point that wins the most while risking at most this much; of estimates the upper end
        of the interval counts."""
        limit = real(max_exploitability, "max_exploitability")
        within = [point for point in self.points if upper_end(point.exploitability) <= limit]
        if not within:
            raise BadParameter(
                f"no point risks at most {limit:g}; the safest risks {self.least_risk:.3g}"
            )
        return max(within, key=lambda point: point.exploitation)

    def rows(self) -> list[tuple[float, float, float, float, float]]:
        """p, exploitation, exploitability, exploitation of the straight line there, seconds."""
        return [
            (
                q.p,
                float(q.exploitation),
                float(q.exploitability),
                self.line(float(q.exploitability)),
                q.seconds,
            )
            for q in self.points
        ]

    def intervals(self) -> list[tuple[float, float]]:
        """Half the 95% intervals of exploitation and exploitability; 0 where they are exact."""
        return [
            (half_interval(q.exploitation), half_interval(q.exploitability)) for q in self.points
        ]

    def table(self) -> str:
        """The curve as text; of estimates with their intervals."""
        room = (9 if self.estimated else 0) * " "
        names = f"{'exploitation':>12}{room}  {'exploitability':>14}{room}  {'straight line':>13}"
        lines = [f"{'p':>6}  {names}  {'seconds':>8}"]
        for (p, e, x, m, s), (more, less) in zip(self.rows(), self.intervals(), strict=True):
            one, two = (f" ± {error:6.4f}" if room else "" for error in (more, less))
            lines.append(f"{p:6.3g}  {e:12.5f}{one}  {x:14.5f}{two}  {m:13.5f}  {s:8.2f}")
        return "\n".join(lines)

    def save_csv(self, path: str | Path) -> None:
        """The rows as a CSV file, of estimates with half their 95% intervals."""
        out, columns = io.StringIO(), self.columns()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
        files.write_text(Path(path), out.getvalue())

    def columns(self) -> Columns:
        """A row for each p; of estimates with half their 95% intervals."""
        names = ("p", "exploitation", "exploitability", "straight_line", "seconds")
        found = {name: list(column) for name, *column in zip(names, *self.rows(), strict=True)}
        if self.estimated:
            more, less = zip(*self.intervals(), strict=True)
            found |= {"exploitation_within": list(more), "exploitability_within": list(less)}
        return found

    def _drawn(self) -> Any:
        from counterplay.core.base.plotting import new_figure

        figure, axes = new_figure(1, 1, 6.5, 4.5)
        draw(axes[0, 0], self, "the model", 0)
        axes[0, 0].set_title(f"{self.game.name}: what trusting the model wins, and what it risks")
        return figure

    def _repr_html_(self) -> str:
        columns = self.columns()
        rows = zip(*columns.values(), strict=True)
        body = display.table([name.replace("_", " ") for name in columns], rows)
        head = display.heading(self.game.name, f"{self.algorithm}: what is won and risked, by p")
        return head + body + display.picture(self._drawn(), "exploitation against exploitability")


def draw(axis: Any, curve: Frontier, label: str, series: int) -> None:
    """The curve with its values of p, and the straight line, on a matplotlib axis."""
    from counterplay.core.base.plotting import COLOURS, STYLES

    x = [float(point.exploitability) for point in curve.points]
    y = [float(point.exploitation) for point in curve.points]
    colour = COLOURS[series % len(COLOURS)]
    axis.plot(
        x,
        y,
        marker="o",
        color=colour,
        linestyle=STYLES[series % len(STYLES)],
        label=f"robust responses to {label}",
    )
    axis.plot(
        [x[0], x[-1]],
        [y[0], y[-1]],
        color=colour,
        linewidth=1,
        alpha=0.6,
        linestyle=":",
        label="mixing the two ends",
    )
    if curve.estimated:
        more, less = zip(*curve.intervals(), strict=True)
        axis.errorbar(x, y, xerr=less, yerr=more, fmt="none", ecolor=colour, alpha=0.5)
    last = None
    for point in curve.points:
        here = (float(point.exploitability), float(point.exploitation))
        if last is None or abs(here[0] - last[0]) + abs(here[1] - last[1]) > 0.04 * (
            abs(x[-1]) + abs(y[-1])
        ):
            axis.annotate(
                f"{point.p:g}",
                here,
                textcoords="offset points",
                xytext=(5, -9),
                fontsize=8,
                color=colour,
            )
            last = here
    unit = curve.game.unit.in_full
    axis.set(
        xlabel=f"exploitability ({unit} at risk)",
        ylabel=f"exploitation ({unit} won)",
    )
    axis.legend(frameon=False, fontsize=8)


def frontier(
    game: Game | str,
    model: Any,
    ps: Sequence[float] = PAPER_PS,
    *,
    player: int | None = None,
    algorithm: str | None = None,
    progress: Callable[[float, str], None] = no_progress,
    measure: Mapping[str, Any] | None = None,
    **arguments: Any,
) -> Frontier:
    """Responses to `model` for every p in `ps`; other arguments as in `respond`. `player` None:
    both seats, summed. In hold'em give `measure`, as `{"flops": 40}` or `{"backend": "cuda"}`, and
    both seats.

    Ctrl-C raises `Interrupted`, whose `result` is the frontier of the points that were done, or
    None.
    """
    game = as_game(game, model)
    model = as_strategy(game, model)
    for name in NOT_HERE:
        if arguments.pop(name, None) is not None:
            raise BadParameter(
                f"a frontier is many runs, one for each of ps; give {name} to respond instead"
            )
    limits = pop_limits(arguments)
    engine, seed = arguments.pop("engine", None), arguments.pop("seed", 0)
    algorithm = response_algorithm(algorithm or default_response(game)).name
    question = Question(game, model, player, 0.0, algorithm, engine, seed, arguments)
    check_measurable(game, player, measure, "there is no curve to draw; respond with one p")
    check_target(game, limits.target)
    values = _check_ps(ps)
    points: list[Point] = []
    cluster = current()
    if cluster is not None and "pool" not in arguments:  # each p by a worker
        quiet = replace(limits, callback=None, on_chunk=None)
        sent = (question, quiet, {k: v for k, v in (measure or {}).items() if k != "progress"})
        for p, response in zip(values, cluster.spread(_far_point, values, sent), strict=True):
            points.append(as_point(response))
            progress(len(points) / len(values), f"p = {p:g} is done")
        return Frontier(game, player, algorithm, tuple(points))
    try:
        for k, p in enumerate(values):
            low, high, name = k / len(values), (k + 1) / len(values), f"p = {p:g}"
            progress(low, name)
            response = answer(question.at(p), limits)
            if measure is not None and game.evaluator.on_request:
                walked = part(progress, low, high, f"{name}, walking the boards")
                response = measured(response, {"progress": walked, **measure})
            points.append(as_point(response))
    except KeyboardInterrupt:
        done = Frontier(game, player, algorithm, tuple(points)) if points else None
        raise Interrupted(done) from None
    progress(1.0, "done")
    return Frontier(game, player, algorithm, tuple(points))


def _far_point(sent: tuple[Question, Limits, dict[str, Any]], p: float) -> Response:
    """One p, in a process of a cluster."""
    question, limits, measure = sent
    response = answer(question.at(p), limits)
    return (
        measured(response, measure) if measure and question.game.evaluator.on_request else response
    )


def _check_ps(ps: Sequence[float]) -> list[float]:
    """Values of p, rising, each once."""
    if not isinstance(ps, Sequence | np.ndarray) or isinstance(ps, str) or len(ps) == 0:
        raise BadParameter(f"ps must be a list of numbers from 0 to 1, not {ps!r}")
    values = sorted(probability(p, "p") for p in ps)
    for one, two in itertools.pairwise(values):
        if one == two:
            raise BadParameter(f"ps names p = {one:g} twice")
    return values


def as_point(response: Response) -> Point:
    """A response as a point of the curve."""
    return Point(
        response.p or 0.0,
        response.exploitation,
        response.exploitability,
        response.seconds,
        response,
    )
