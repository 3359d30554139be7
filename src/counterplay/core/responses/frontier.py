"""The exploitation-exploitability curve of a model (Section 4.3.1, Figure 6).

A restricted Nash response at p maximises p · (payoff against the model) + (1 - p) · (worst case),
so the points for p in [0, 1] bound from above the exploitation at a given exploitability; mixtures
of an equilibrium and a best response give the straight line below.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import display, files
from counterplay.core.base.display import Columns, Tabular
from counterplay.core.base.errors import BadParameter, Interrupted, probability, real
from counterplay.core.base.progress import ProgressCallback, no_progress, part, progress_bar
from counterplay.core.evaluation.estimate import FlopEstimate, half_interval, upper_end
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game, load
from counterplay.core.parallel.ray_cluster import current
from counterplay.core.responses.algorithms import (
    choose_adversary,
    default_response,
    exact_engine,
    response_algorithm,
)
from counterplay.core.responses.compute import (
    TRAVERSING,
    ResponseParameters,
    check_measurable,
    compute_response,
    measure_response,
    model_of,
    solvers_to_continue,
    training_share,
)
from counterplay.core.responses.frontier_folder import (
    FrontierFolder,
    KeptPoint,
    create,
    question_of,
    read_question,
)
from counterplay.core.responses.result import Response, best_mixture, with_unit
from counterplay.core.solvers.limits import Limits, Progress, check_target, pop_limits

PAPER_PS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 1.0)  # Figure 6
#: Arguments of `respond` that a frontier refuses.
SINGLE_RUN = ("p", "max_exploitability")


@dataclass(frozen=True, repr=False)
class FrontierPoint:
    """One response: what it wins against the model, and what it risks."""

    p: float
    exploitation: float  # as in Response
    exploitability: float  # as in Response
    seconds: float
    response: Response
    too_few: str | None = None  # as in Response

    def __repr__(self) -> str:
        won, risk = (
            with_unit(x, self.response.game) for x in (self.exploitation, self.exploitability)
        )
        return f"FrontierPoint(p {self.p:g}, exploitation {won}, exploitability {risk})"


@dataclass(frozen=True, repr=False)
class Frontier(Tabular):
    """The curve, in rising order of p."""

    game: Game
    player: int | None
    algorithm: str
    points: tuple[FrontierPoint, ...]

    def __repr__(self) -> str:
        seat = "both seats" if self.player is None else self.game.seat(self.player)
        head = f"{self.game.name}, {self.algorithm}, {seat}, payoffs {self.game.unit}"
        return f"Frontier({head})\n{self.table()}"

    def line(self, exploitability: float) -> float:
        """The exploitation of the mixture of first and last response at this exploitability."""
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
        """The least exploitability of all points; for estimates the upper end of the interval."""
        return min(upper_end(point.exploitability) for point in self.points)

    @property
    def too_few(self) -> str | None:
        """A sentence about the points of too few iterations (`Run.too_few`); else None."""
        points = [point for point in self.points if point.too_few is not None]
        if not points:
            return None
        which = ", ".join(f"{point.p:g}" for point in points)
        return f"p = {which}: {points[0].too_few}"

    def recommend(self, max_exploitability: float) -> FrontierPoint:
        """The point with the most exploitation whose exploitability is at most this; for estimates
        the upper end of the interval counts. Points of too few iterations (`too_few`) are left
        out."""
        limit = real(max_exploitability, "max_exploitability")
        within = [point for point in self.points if upper_end(point.exploitability) <= limit]
        if not within:
            raise BadParameter(
                f"no point risks at most {limit:g}; the safest risks {self.least_risk:.3g}"
            )
        learnt = [point for point in within if point.too_few is None]
        if not learnt:
            raise BadParameter(f"no point can be recommended; {self.too_few}")
        return max(learnt, key=lambda point: point.exploitation)

    def mixture(self, max_exploitability: float) -> Response:
        """The mixture of two points that wins the most at this exploitability at most, or a single
        point where that is better (`best_mixture`). Points as in `recommend`."""
        point = self.recommend(max_exploitability)
        learnt = [one.response for one in self.points if one.too_few is None]
        if self.player is not None:
            return point.response
        return best_mixture(learnt, max_exploitability) or point.response

    def rows(self) -> list[tuple[float, float, float, float, float]]:
        """p, exploitation, exploitability, exploitation of the straight line there, seconds."""
        rows = []
        for point in self.points:
            won, risk = float(point.exploitation), float(point.exploitability)
            rows.append((point.p, won, risk, self.line(risk), point.seconds))
        return rows

    def intervals(self) -> list[tuple[float, float]]:
        """Half the 95% intervals of exploitation and exploitability; 0 where they are exact."""
        return [
            (half_interval(q.exploitation), half_interval(q.exploitability)) for q in self.points
        ]

    def table(self) -> str:
        """The curve as text; estimates with their intervals."""
        pad = f"{'± (95%)':>9}" if self.estimated else ""
        names = f"{'exploitation':>12}{pad}  {'exploitability':>14}{pad}  {'straight line':>13}"
        lines = [f"{'p':>6}  {names}  {'seconds':>8}"]
        for (p, e, x, m, s), (more, less) in zip(self.rows(), self.intervals(), strict=True):
            one, two = (f" ± {error:6.4f}" if pad else "" for error in (more, less))
            lines.append(f"{p:6.3g}  {e:12.5f}{one}  {x:14.5f}{two}  {m:13.5f}  {s:8.2f}")
        if self.estimated:
            lines.append(f"payoffs {self.game.unit}")
        return "\n".join(lines if self.too_few is None else [*lines, self.too_few])

    def save_csv(self, path: str | Path) -> None:
        """Writes `columns` as a CSV file."""
        columns = self.columns()
        rows = zip(*columns.values(), strict=True)
        files.write_text(Path(path), files.csv_text([list(columns), *rows]))

    def columns(self) -> Columns:
        """A row for each p; estimates with half their 95% intervals."""
        names = ("p", "exploitation", "exploitability", "straight_line", "seconds")
        columns = {name: list(column) for name, *column in zip(names, *self.rows(), strict=True)}
        if self.estimated:
            more, less = zip(*self.intervals(), strict=True)
            columns |= {"exploitation_within": list(more), "exploitability_within": list(less)}
        return columns

    def _figure(self) -> Any:
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
        head += "" if self.too_few is None else display.heading("", self.too_few)
        return head + body + display.picture(self._figure(), "exploitation against exploitability")


def draw(axis: Any, curve: Frontier, label: str, series: int) -> None:
    """The curve with its values of p, and the straight line, on a matplotlib axis."""
    from counterplay.core.base.plotting import COLOURS, STYLES

    x = [float(point.exploitability) for point in curve.points]
    y = [float(point.exploitation) for point in curve.points]
    colour, style = COLOURS[series % len(COLOURS)], STYLES[series % len(STYLES)]
    axis.plot(x, y, marker="o", color=colour, linestyle=style, label=f"robust responses to {label}")
    line = {"color": colour, "linewidth": 1, "alpha": 0.6, "linestyle": ":"}
    axis.plot([x[0], x[-1]], [y[0], y[-1]], label="mixing the two ends", **line)
    if curve.estimated:
        more, less = zip(*curve.intervals(), strict=True)
        axis.errorbar(x, y, xerr=less, yerr=more, fmt="none", ecolor=colour, alpha=0.5)
    text = {"textcoords": "offset points", "xytext": (5, -9), "fontsize": 8, "color": colour}
    labelled, apart = None, 0.04 * (abs(x[-1]) + abs(y[-1]))
    for point, at in zip(curve.points, zip(x, y, strict=True), strict=True):
        if labelled is None or abs(at[0] - labelled[0]) + abs(at[1] - labelled[1]) > apart:
            axis.annotate(f"{point.p:g}", at, **text)
            labelled = at
    unit = curve.game.unit.in_full
    axis.set(xlabel=f"exploitability ({unit} at risk)", ylabel=f"exploitation ({unit} won)")
    axis.legend(frameon=False, fontsize=8)


def frontier(
    game: Game | str,
    model: Any,
    ps: Sequence[float] = PAPER_PS,
    *,
    player: int | None = None,
    algorithm: str | None = None,
    adversary: str = "abstract",
    progress: ProgressCallback = no_progress,
    measure: Mapping[str, Any] | None = None,
    folder: str | Path | None = None,
    **arguments: Any,
) -> Frontier:
    """Responses to `model` for every p in `ps`; other arguments as in `respond`. `player` None:
    both seats, summed. With adversary="real" in hold'em each p starts from the strategies of the
    one before. Hold'em needs `measure`, as `{"flops": 40}` or `{"backend": "cuda"}`, and
    both seats. Finished points are kept in `folder`, where `resume_frontier` goes on.

    Ctrl-C raises `Interrupted`, whose `result` is the frontier of the finished points, or None.
    """
    game = as_game(game, model)
    if game.n_players != 2:
        raise BadParameter(
            f"a frontier is for two players, and {game.name} has {game.n_players}; cp.respond has "
            f"what one seat gets there"
        )
    algorithm, engine = choose_adversary(game, adversary, algorithm, arguments.pop("engine", None))
    model = model_of(game, model, algorithm, engine)
    for name in SINGLE_RUN:
        if arguments.pop(name, None) is not None:
            raise BadParameter(
                f"a frontier is many runs, one for each of ps; give {name} to respond instead"
            )
    limits = pop_limits(arguments)
    seed = arguments.pop("seed", 0)
    kind = response_algorithm(algorithm or default_response(game))
    engine = engine or exact_engine(game, kind, limits, bool(arguments))
    parameters = ResponseParameters(game, model, player, 0.0, kind.name, engine, seed, arguments)
    check_measurable(game, player, measure, "there is no curve to draw; respond with one p")
    check_target(game, limits.target)
    values, kept = _check_ps(ps), None
    if folder is not None:
        kept = _folder(Path(folder), parameters, limits, measure, values)
    with progress_bar(progress) as progress:
        return _curve(parameters, values, limits, progress, measure, kept)


def resume_frontier(
    folder: str | Path,
    *,
    game: Game | str | None = None,
    progress: ProgressCallback = no_progress,
    on_chunk: Callable[[Progress], None] | None = None,
) -> Frontier:
    """Goes on with the frontier in a folder of `frontier`: finished points are read, and the others
    have the same bits as without the interruption (if no limit is in seconds). Ctrl-C as there."""
    path = Path(folder)
    game = game if game is None or isinstance(game, Game) else load(game)
    parameters, limits, measure, values, question = read_question(path, game)
    values = _check_ps(values)
    kept = FrontierFolder(path, parameters, question, solvers_to_continue(parameters) is not None)
    with progress_bar(progress) as progress:
        until = replace(limits, on_chunk=on_chunk)
        return _curve(parameters, values, until, progress, measure, kept)


def _folder(
    path: Path,
    parameters: ResponseParameters,
    limits: Limits,
    measure: Mapping[str, Any] | None,
    values: list[float],
) -> FrontierFolder:
    """A new folder."""
    if current() is not None:
        raise BadParameter("on a cluster points are not kept; leave out the folder")
    question = question_of(parameters, limits, measure)
    create(path, parameters, values, question)
    chained = solvers_to_continue(parameters) is not None
    return FrontierFolder(path, parameters, question, chained)


def _curve(
    parameters: ResponseParameters,
    values: list[float],
    limits: Limits,
    progress: ProgressCallback,
    measure: Mapping[str, Any] | None,
    kept: FrontierFolder | None = None,
) -> Frontier:
    """The frontier at these values of p."""
    game, player, algorithm = parameters.game, parameters.player, parameters.algorithm
    points: list[FrontierPoint] = []
    cluster = current()
    if cluster is not None and "pool" not in parameters.options:  # one task per p
        quiet = replace(limits, callback=None, on_chunk=None)
        shared = (parameters, quiet, {k: v for k, v in (measure or {}).items() if k != "progress"})
        for p, response in zip(values, cluster.spread(_remote_point, values, shared), strict=True):
            points.append(frontier_point(response))
            progress(len(points) / len(values), f"p = {p:g} is done")
        return Frontier(game, player, algorithm, tuple(points))
    started = solvers_to_continue(parameters)
    trained: KeptPoint | None = None
    if kept is not None:
        finished, trained = kept.read_all(values, started)
        points += map(_as_point, finished)
    measured = measure is not None and game.evaluator.on_request
    try:
        for k, p in enumerate(values[len(points) :], len(points)):
            name, (low, middle, high) = f"p = {p:g}", (np.array([0, 0.5, 1]) + k) / len(values)
            progress(low, name)
            if trained is None:
                share = part(progress, low, middle if measured else high, name)
                on_chunk = training_share(limits, len(parameters.seats), share)
                until = replace(limits, on_chunk=on_chunk)
                response = compute_response(parameters.with_p(p), until, started=started)
                trained = KeptPoint.of(response)
                if kept is not None:
                    more = started if k + 1 < len(values) else None
                    kept.write_trained(values[: k + 1], trained, more)
            if measured:
                share = part(progress, middle, high, f"{name}, {TRAVERSING}")
                options = {"progress": share, **(measure or {})}
                trained = trained._replace(response=measure_response(trained.response, options))
            if kept is not None:
                kept.write(values[: k + 1], trained)
            points.append(_as_point(trained))
            trained = None
    except KeyboardInterrupt:
        partial = Frontier(game, player, algorithm, tuple(points)) if points else None
        raise Interrupted(partial) from None
    progress(1.0, "done")
    return Frontier(game, player, algorithm, tuple(points))


def _as_point(kept: KeptPoint) -> FrontierPoint:
    point = frontier_point(kept.response)
    return replace(point, seconds=kept.seconds, too_few=kept.too_few)


def _remote_point(shared: tuple[ResponseParameters, Limits, dict[str, Any]], p: float) -> Response:
    """The response at one p, in a worker process of a cluster."""
    parameters, limits, measure = shared
    response = compute_response(parameters.with_p(p), limits)
    on_request = measure and parameters.game.evaluator.on_request
    return measure_response(response, measure) if on_request else response


def _check_ps(ps: Sequence[float]) -> list[float]:
    """Values of p in rising order; each may occur once."""
    if not isinstance(ps, Sequence | np.ndarray) or isinstance(ps, str) or len(ps) == 0:
        raise BadParameter(f"ps must be a list of numbers from 0 to 1, not {ps!r}")
    values = sorted(probability(p, "p") for p in ps)
    for one, two in itertools.pairwise(values):
        if one == two:
            raise BadParameter(f"ps names p = {one:g} twice")
    return values


def frontier_point(response: Response) -> FrontierPoint:
    """A response as a point of the curve."""
    won, risk = response.exploitation, response.exploitability
    seconds, p = response.seconds, response.p or 0.0
    return FrontierPoint(p, won, risk, seconds, response, response.too_few)
