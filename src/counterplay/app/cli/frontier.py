"""The command `frontier`: what trusting a model wins and risks."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from counterplay.app.cli import display
from counterplay.app.cli import options as opt
from counterplay.app.cli.display import err, out, print_json
from counterplay.app.cli.measured import announce_responses
from counterplay.app.cli.responses import (
    MODEL_HELP,
    check_seat,
    chosen_algorithm,
    risk_limit,
    seat_of,
)
from counterplay.core.base.errors import BadParameter


def frontier(
    context: typer.Context,
    model: Annotated[str | None, Argument(help=MODEL_HELP)] = None,
    game: opt.GameOf = None,
    player: opt.Responder = "both",
    ps: Annotated[
        str, Option(help="Values of p, separated by commas.")
    ] = "0,0.5,0.7,0.8,0.9,0.93,0.97,1",
    max_exploitability: Annotated[
        float | None,
        Option(help="Recommend the p that wins the most with at most this exploitability."),
    ] = None,
    max_risk: opt.MaxRisk = None,
    adversary: opt.Adversary = "abstract",
    algorithm: opt.ResponseName = None,
    engine: opt.Engine = None,
    iterations: Annotated[
        int | None, opt.iterations_option("Iterations for each p and seat.")
    ] = None,
    seconds: Annotated[float | None, opt.seconds_option("Seconds of solving for each p.")] = None,
    seed: opt.Seed = 0,
    option: opt.SolverOptions = None,
    folder: Annotated[
        Path, Option("--out", help="Folder for frontier.csv and frontier.png.")
    ] = Path("results"),
    resume: Annotated[
        Path | None, Option(help="Hold'em: go on with the points in this folder.")
    ] = None,
    backend: opt.Backend = None,
    flops: opt.Flops = None,
    ray: opt.Ray = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compute what trusting MODEL wins and risks. Points of the frontier, for several p.

    For example: counterplay frontier uniform --game kuhn --max-exploitability 0.2
    """
    from counterplay.core.responses.compute import QUERIES, model_of
    from counterplay.core.responses.frontier import frontier as compute
    from counterplay.core.responses.frontier_folder import check_free
    from counterplay.poker.players import game_of

    if resume is not None:
        _resume_frontier(context, resume, (max_exploitability, max_risk), as_json)
        return
    if model is None:
        raise BadParameter("whose model? For example: counterplay frontier uniform --game kuhn")
    try:
        values = [float(text) for text in ps.split(",")]
    except ValueError:
        raise BadParameter(f"--ps takes numbers separated by commas, not {ps!r}") from None
    seat, measure = seat_of(player), opt.measure_options(backend, flops)
    display.check_can_write(folder, "frontier.csv", "frontier.png")
    loaded = game_of(model, game)
    check_seat(loaded, seat)
    limit = risk_limit(loaded, max_exploitability, max_risk)
    chosen, solver = chosen_algorithm(context, (algorithm, engine), loaded, None)
    opponent = model_of(loaded, model, chosen, solver)
    opt.use_ray(ray)
    options: dict[str, Any] = {"player": seat, "algorithm": chosen, "engine": engine, "seed": seed}
    options |= {"adversary": adversary, **opt.read_options(option)}
    options |= {"iterations": iterations, "seconds": seconds, "measure": measure or None}
    kept = folder if loaded.evaluator.on_request and ray is None else None
    if kept is not None:
        check_free(kept)
    announce_responses(loaded, measure, QUERIES * len(values))
    work = partial(compute, loaded, opponent, values, folder=kept, **options)
    done = _run_frontier(work, folder, kept is not None, len(values))
    _show_frontier(*done, limit, folder, as_json)


def _resume_frontier(
    context: typer.Context, folder: Path, limits: tuple[float | None, float | None], as_json: bool
) -> None:
    """Goes on with the frontier in a folder."""
    from counterplay.core.responses.frontier import resume_frontier
    from counterplay.core.responses.frontier_folder import read_question

    allowed = ["resume", "max_exploitability", "max_risk", "as_json"]
    opt.refuse_others(context, allowed, "--resume takes everything but a limit from the folder")
    with display.status(f"loading {folder}"):
        question = read_question(folder)
        limit = risk_limit(question.parameters.game, *limits)
    work = partial(resume_frontier, folder)
    done = _run_frontier(work, folder, True, len(question.values))
    _show_frontier(*done, limit, folder, as_json)


def _run_frontier(
    work: Callable[..., Any], folder: Path, kept: bool, many: int
) -> tuple[Any, bool]:
    """Computes a frontier; after Ctrl-C the points that are done, and that it was stopped."""
    hint = f"; {display.resume_hint('frontier', folder)}" if kept else ""
    try:
        with display.share_progress("frontier") as progress:
            curve, stopped = display.until_stopped(partial(work, progress=progress))
    except KeyboardInterrupt:
        saved = hint or "; nothing was saved."
        err.print(f"stopped before the first value of p was done{saved}")
        raise typer.Exit(130) from None
    if stopped:
        done = f"{len(curve.points)} of {many} values of p that were done"
        err.print(f"stopped; this is the curve of the {done}{hint or '.'}")
    return curve, stopped


def _show_frontier(
    curve: Any, stopped: bool, limit: float | None, folder: Path, as_json: bool
) -> None:
    """Writes the files and prints the table, with a recommended p within `limit`."""
    _write_frontier(curve, limit, folder, as_json)
    if stopped:
        raise typer.Exit(130)


def _write_frontier(curve: Any, limit: float | None, folder: Path, as_json: bool) -> None:
    curve.save_csv(folder / "frontier.csv")
    curve.plot(folder / "frontier.png")
    advice = mixture = None
    if limit is not None:
        with suppress(BadParameter):
            advice, mixture = curve.recommend(limit), _mixture_text(curve, limit)
    if as_json:
        best = advice and advice.p
        facts = {"game": curve.game.name, "points": _points(curve), "recommended_p": best}
        facts |= {} if mixture is None else {"mixture": mixture}
        print_json(facts | ({} if curve.too_few is None else {"note": curve.too_few}))
        return
    out.print(curve.table())
    if str(curve.game.unit) == display.SMALL_BETS:
        _print_millibets(curve)
    if advice is not None:
        out.print(
            f"p = {advice.p:g} wins {float(advice.exploitation):.4g} and risks "
            f"{float(advice.exploitability):.4g} {curve.game.unit}."
        )
        if mixture is not None:
            out.print(mixture)
    elif limit is not None and curve.least_risk <= limit:
        out.print("No p is recommended: there were too few iterations.")
    elif limit is not None:
        out.print(
            f"No p here risks at most {limit:g} {curve.game.unit}; the safest risks "
            f"{curve.least_risk:.4g}{' at most' if curve.estimated else ''}."
        )
    out.print(f"Files: {folder / 'frontier.csv'}, {folder / 'frontier.png'}")


def _mixture_text(curve: Any, limit: float) -> str | None:
    """What a mixture of two points within a limit wins, where it wins more than any point."""
    found = curve.mixture(limit)
    if getattr(found.strategy, "weight", None) is None:
        return None
    shares = {id(found.strategy.one): found.strategy.weight}
    shares[id(found.strategy.other)] = 1.0 - found.strategy.weight
    parts = [
        f"p = {point.p:g} ({shares[id(point.response.strategy)]:.1%})"
        for point in curve.points
        if id(point.response.strategy) in shares
    ]
    return (
        f"{' or '.join(parts)}, drawn before every game, wins {float(found.exploitation):.4g} and "
        f"risks at most {limit:.4g} {curve.game.unit}."
    )


def _points(curve: Any) -> list[dict[str, float]]:
    """The points as dictionaries; of estimates with half their 95% intervals."""
    columns = curve.columns()
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def _print_millibets(curve: Any) -> None:
    """Prints the curve in mb/g, the unit of the literature."""
    unit = display.MILLIBETS
    out.print(f"{display.IN_MILLIBETS}:")
    for (p, gain, risk, *_), (more, less) in zip(curve.rows(), curve.intervals(), strict=True):
        one, two = (f" ± {unit * error:.2g}" if curve.estimated else "" for error in (more, less))
        out.print(f"{p:6.3g}  wins {unit * gain:.6g}{one}, risks {unit * risk:.6g}{two}")
    if curve.estimated:
        flops = curve.points[0].exploitability.flops
        out.print(f"± is half a 95% interval, from {flops} flops.")
