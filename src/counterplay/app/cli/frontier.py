"""The command about what an opponent is worth: `counterplay frontier`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from counterplay.app.cli.display import MILLIBETS, err, out, print_json, share_progress
from counterplay.app.cli.options import (
    AsJson,
    Backend,
    Engine,
    Flops,
    GameOf,
    Ray,
    Responder,
    ResponseAlgorithm,
    Seed,
    iterations,
    use_ray,
    walk_options,
)
from counterplay.app.cli.responses import MODEL_HELP, chosen_algorithm, seat_of
from counterplay.app.cli.support import check_can_write
from counterplay.core.base.errors import BadParameter, Interrupted


def frontier(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    game: GameOf = None,
    player: Responder = "both",
    ps: Annotated[
        str, typer.Option("--ps", help="Values of p, separated by commas.")
    ] = "0,0.5,0.7,0.8,0.9,0.93,0.97,1",
    max_exploitability: Annotated[
        float | None,
        typer.Option(
            "--max-exploitability", help="Recommend a p that risks at most this per game."
        ),
    ] = None,
    algorithm: ResponseAlgorithm = None,
    engine: Engine = None,
    iterations: Annotated[int | None, iterations("Iterations for each p and seat.")] = None,
    seconds: Annotated[
        float | None,
        typer.Option("-s", "--seconds", help="Seconds of solving for each p."),
    ] = None,
    seed: Seed = 0,
    folder: Annotated[
        Path, typer.Option("--out", help="Where frontier.csv and frontier.png go.")
    ] = Path("results"),
    backend: Backend = None,
    flops: Flops = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Show what trusting MODEL wins and what it risks, for several p.

    For example: counterplay frontier uniform --game kuhn --max-exploitability 0.2
    """
    from counterplay.core.responses.frontier import frontier as compute
    from counterplay.poker.players import find_strategy

    try:
        values = [float(text) for text in ps.split(",")]
    except ValueError:
        raise BadParameter(f"--ps takes numbers separated by commas, not {ps!r}") from None
    if max_exploitability is not None and not 0.0 < max_exploitability < math.inf:
        raise BadParameter(
            f"--max-exploitability must be a number above 0, not {max_exploitability:g}"
        )
    seat, measure = seat_of(player), walk_options(backend, flops)
    check_can_write(folder, "frontier.csv", "frontier.png")
    opponent = find_strategy(model, game)
    chosen = chosen_algorithm(context, algorithm, opponent.game)
    use_ray(ray)
    try:
        with share_progress("frontier") as progress:
            curve = compute(
                opponent.game,
                opponent,
                values,
                player=seat,
                algorithm=chosen,
                engine=engine,
                iterations=iterations,
                seconds=seconds,
                seed=seed,
                progress=progress,
                measure=measure or None,
            )
    except KeyboardInterrupt as stop:
        found: Any = stop.result if isinstance(stop, Interrupted) else None
        if found is None:
            err.print("stopped before the first value of p was done; nothing was kept.")
        else:
            err.print(
                f"stopped; this is the curve of the {len(found.points)} of {len(values)} values "
                f"of p that were done."
            )
            _show_frontier(found, max_exploitability, folder, as_json)
        raise typer.Exit(130) from None
    _show_frontier(curve, max_exploitability, folder, as_json)


def _show_frontier(curve: Any, limit: float | None, folder: Path, as_json: bool) -> None:
    """Write the files, print the table, and say which p keeps to `limit`."""
    curve.save_csv(folder / "frontier.csv")
    curve.plot(folder / "frontier.png")
    advice = None if limit is None or curve.least_risk > limit else curve.recommend(limit)
    if as_json:
        points = _points(curve)
        best = advice and advice.p
        print_json({"game": curve.game.name, "points": points, "recommended_p": best})
        return
    out.print(curve.table())
    if curve.game.evaluator.on_request:
        _print_millibets(curve)
    if advice is not None:
        out.print(
            f"p = {advice.p:g} wins {float(advice.exploitation):.4g} and risks "
            f"{float(advice.exploitability):.4g} {curve.game.unit}."
        )
    elif limit is not None:
        out.print(
            f"No p here risks at most {limit:g} {curve.game.unit}; the safest risks "
            f"{curve.least_risk:.4g}{' at most' if curve.estimated else ''}."
        )
    out.print(f"Files: {folder / 'frontier.csv'}, {folder / 'frontier.png'}")


def _points(curve: Any) -> list[dict[str, float]]:
    """The curve for machines; of estimates with half their 95% intervals."""
    names = ("p", "exploitation", "exploitability", "straight_line", "seconds")
    points = [dict(zip(names, row, strict=True)) for row in curve.rows()]
    if curve.estimated:
        for point, (more, less) in zip(points, curve.intervals(), strict=True):
            point["exploitation_within"] = more
            point["exploitability_within"] = less
    return points


def _print_millibets(curve: Any) -> None:
    """The same in the unit of the literature."""
    out.print("in mb/g, averaged over the seats:")
    for (p, gain, risk, *_), (more, less) in zip(curve.rows(), curve.intervals(), strict=True):
        one, two = (
            f" ± {MILLIBETS * error:.2g}" if curve.estimated else "" for error in (more, less)
        )
        out.print(f"{p:6.3g}  wins {MILLIBETS * gain:.6g}{one}, risks {MILLIBETS * risk:.6g}{two}")
    if curve.estimated:
        walked = curve.points[0].exploitability.flops
        out.print(f"± is half a 95% interval, from {walked} flops.")
