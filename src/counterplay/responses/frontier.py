"""The exploitation-exploitability curve of a model (Section 4.3.1, Figure 6), and the best response within a limit on risk.

A restricted Nash response at p maximises p · (payoff against the model) + (1 - p) · (worst case), so the points for p in [0, 1]
bound from above everything that can be won at a given risk; mixing an equilibrium with a best response gives only the
straight line below.
"""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.base import files
from counterplay.base.errors import BadParameter, Interrupted
from counterplay.base.progress import untold
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.responses.respond import check_measurable, check_response, default_target, respond
from counterplay.responses.result import Response, assemble
from counterplay.solvers.base import probability, real
from counterplay.solvers.limits import DEFAULT_SECONDS, Progress

PAPER_PS = (0.0, 0.5, 0.7, 0.8, 0.9, 0.93, 0.97, 1.0)  # Figure 6
SEARCH_STEPS = 12


@dataclass(frozen=True)
class Point:
    """One response: what it wins from the model, and what it risks."""

    p: float
    exploitation: float  # as in Response: payoff against the model above the value of the game
    exploitability: float  # as in Response: how far below the value of the game it can be held; for both seats b1 + b2
    seconds: float
    response: Response = field(repr=False)


@dataclass(frozen=True)
class Frontier:
    """The curve, p rising."""

    game: Game
    player: int | None
    algorithm: str
    points: tuple[Point, ...]

    def line(self, exploitability: float) -> float:
        """What mixing the first and the last response wins at this exploitability."""
        first, last = self.points[0], self.points[-1]
        width = last.exploitability - first.exploitability
        share = (
            1.0
            if width <= 0
            else min(max((exploitability - first.exploitability) / width, 0.0), 1.0)
        )
        return (1.0 - share) * first.exploitation + share * last.exploitation

    def recommend(self, max_exploitability: float) -> Point:
        """The point that wins the most while risking at most this much."""
        real(max_exploitability, "max_exploitability")
        within = [point for point in self.points if point.exploitability <= max_exploitability]
        if not within:
            least = min(point.exploitability for point in self.points)
            raise BadParameter(
                f"no point risks at most {max_exploitability:g}; the safest risks {least:.3g}"
            )
        return max(within, key=lambda point: point.exploitation)

    def rows(self) -> list[tuple[float, float, float, float, float]]:
        """p, exploitation, exploitability, exploitation of the straight line there, seconds."""
        return [
            (q.p, q.exploitation, q.exploitability, self.line(q.exploitability), q.seconds)
            for q in self.points
        ]

    def table(self) -> str:
        """The curve as text."""
        head = f"{'p':>6}  {'exploitation':>12}  {'exploitability':>14}  {'straight line':>13}  {'seconds':>8}"
        return "\n".join(
            [
                head,
                *(
                    f"{p:6.3g}  {e:12.5f}  {x:14.5f}  {m:13.5f}  {s:8.2f}"
                    for p, e, x, m, s in self.rows()
                ),
            ]
        )

    def save_csv(self, path: str | Path) -> None:
        """The rows as a CSV file."""
        out = io.StringIO()
        writer = csv.writer(out, lineterminator="\n")
        writer.writerow(["p", "exploitation", "exploitability", "straight_line", "seconds"])
        writer.writerows(self.rows())
        files.write_text(Path(path), out.getvalue())

    def plot(self, path: str | Path) -> None:
        """The curve and the straight line as a picture."""
        from counterplay.base.plotting import new_figure, save_figure

        figure, axes = new_figure(1, 1, 6.5, 4.5)
        draw(axes[0, 0], self, "the model", 0)
        axes[0, 0].set_title(f"{self.game.name}: what trusting the model wins, and what it risks")
        save_figure(figure, Path(path))


def draw(axis: Any, curve: Frontier, label: str, series: int) -> None:
    """The curve with its values of p, and the straight line, on a matplotlib axis."""
    from counterplay.base.plotting import COLOURS, STYLES

    x = [point.exploitability for point in curve.points]
    y = [point.exploitation for point in curve.points]
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
    last = None
    for point in curve.points:
        here = (point.exploitability, point.exploitation)
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
    axis.set(
        xlabel="exploitability (payoff per game at risk)",
        ylabel="exploitation (payoff per game won)",
    )
    axis.legend(frameon=False, fontsize=8)


def frontier(
    game: Game | str,
    model: Strategy,
    ps: Sequence[float] = PAPER_PS,
    *,
    player: int | None = None,
    algorithm: str = "rnr",
    tell: Callable[[float, str], None] = untold,
    **arguments: Any,
) -> Frontier:
    """Responses to `model` for every p in `ps`; other arguments as in `respond`. `player` None: both seats, summed.

    Ctrl-C raises `Interrupted`, whose `result` is the frontier of the points that were done, or None.
    """
    game = game if isinstance(game, Game) else load(game)
    check_response(game, model, player, algorithm)
    check_measurable(game, "there is no curve to draw; respond with one p")
    for name in ("folder", "p", "max_exploitability"):
        if arguments.get(name) is not None:
            raise BadParameter(
                f"a frontier is many runs, one for each of ps; give {name} to respond instead"
            )
    values = _check_ps(ps)
    points: list[Point] = []
    try:
        for k, p in enumerate(values):
            tell(k / len(values), f"p = {p:g}")
            points.append(as_point(respond(game, model, player, p, algorithm, **arguments)))
    except KeyboardInterrupt:
        done = Frontier(game, player, algorithm, tuple(points)) if points else None
        raise Interrupted(done) from None
    tell(1.0, "done")
    return Frontier(game, player, algorithm, tuple(points))


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


def safest_best(
    game: Game,
    model: Strategy,
    player: int | None,
    limit: float,
    algorithm: str,
    engine: str | None,
    seed: int,
    bounds: dict[str, Any],
    on_chunk: Callable[[Progress], None] | None,
    options: dict[str, Any],
) -> Response:
    """Win the most while risking at most `limit`: bisection over p, then a mixture of the two responses around the limit.

    Between the last p that is safe enough and the first that is not lies an edge of the curve; mixing the two moves along it.
    """
    if real(limit, "max_exploitability") <= 0:
        raise BadParameter(f"max_exploitability must be above 0, not {limit!r}")
    if all(bound is None for bound in bounds.values()):
        bounds = {"target": min(default_target(game), limit / 4.0), "seconds": DEFAULT_SECONDS}

    def at(p: float) -> Point:
        return as_point(
            respond(
                game,
                model,
                player,
                p,
                algorithm,
                engine=engine,
                seed=seed,
                on_chunk=on_chunk,
                **bounds,
                **options,
            )
        )

    safe: Point | None = None
    try:
        risky = at(1.0)
        if risky.exploitability <= limit:
            return risky.response
        found = at(0.0)
        if found.exploitability > limit:
            raise BadParameter(
                f"even the safest strategy found risks {found.exploitability:.3g} per game, more than {limit:g}; "
                "allow more, or give more iterations"
            )
        safe = found
        for _ in range(SEARCH_STEPS):
            middle = at((safe.p + risky.p) / 2.0)
            if middle.exploitability <= limit:
                safe = middle
            else:
                risky = middle
        return _mix_to(limit, safe, risky, model)
    except KeyboardInterrupt:
        raise Interrupted(safe and safe.response) from None


def _mix_to(limit: float, safe: Point, risky: Point, model: Strategy) -> Response:
    """The mixture of two responses that risks `limit`; exploitability is convex in the weight, exploitation linear."""
    best = safe
    low, high = 0.0, 1.0  # weight of the risky response
    for _ in range(40):
        weight = (low + high) / 2.0
        mixed = _mixture(safe.response, risky.response, weight, model)
        point = as_point(mixed)
        if point.exploitability <= limit:
            low = weight
            if point.exploitation > best.exploitation:
                best = point
        else:
            high = weight
    return best.response


def _mixture(safe: Response, risky: Response, weight: float, model: Strategy) -> Response:
    runs = []
    for one, two in zip(safe.runs, risky.runs, strict=True):
        seat = one.strategy.player
        assert seat is not None
        mixed = model.replace(two.strategy.mix(one.strategy, weight), seat).for_player(seat)
        runs.append(replace(one, strategy=mixed))
    p = (safe.p or 0.0) * (1.0 - weight) + (risky.p or 0.0) * weight
    return assemble(safe.game, model, safe.player, np.float64(p), safe.algorithm, runs)
