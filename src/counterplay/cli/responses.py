"""The commands about an opponent: `counterplay respond` and `counterplay frontier`."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from counterplay.base.errors import BadParameter, Interrupted
from counterplay.cli.display import (
    err,
    out,
    print_facts,
    progress,
    share_progress,
    status,
    unit_fact,
)
from counterplay.cli.support import (
    LIMITS,
    AsJson,
    check_can_write,
    check_new_run,
    interruptible,
    new_folder,
    nothing_new,
    read_options,
    read_strategy,
    refuse_given,
    refuse_others,
)

MODEL_HELP = "How the opponent plays: a strategy file, a run folder, or the word uniform."
GAME_HELP = "Which game; see `counterplay games`. Not needed where the model file says it."
PLAYER_HELP = "Who responds: 1, 2 or both."
ALGORITHM_HELP = "Full width: {full_width_responses}. Sampling: {sampling_responses}."
ENGINE_HELP = "The solver inside. Full width: {full_width_solvers}. Sampling: {sampling_solvers}."


def _seat(player: str) -> int | None:
    if player not in ("1", "2", "both"):
        raise BadParameter(f"--player must be 1, 2 or both, not {player!r}")
    return None if player == "both" else int(player) - 1


def _idle_seed(context: typer.Context, algorithm: str) -> None:
    from counterplay.responses.algorithms import RESPONSES

    if algorithm in RESPONSES and not RESPONSES[algorithm].sampled:
        refuse_given(context, ["seed"], f"{algorithm} draws nothing at random")


def respond(
    context: typer.Context,
    model: Annotated[str | None, typer.Argument(help=MODEL_HELP)] = None,
    game: Annotated[str | None, typer.Option(help=GAME_HELP)] = None,
    player: Annotated[str, typer.Option(help=PLAYER_HELP)] = "both",
    p: Annotated[
        float | None, typer.Option(help="How far the model is trusted, from 0 to 1 (default 0.75).")
    ] = None,
    confidence: Annotated[
        str | None,
        typer.Option(help="dbr, mcdbr: trust by observations ({confidences}), p at most."),
    ] = None,
    max_exploitability: Annotated[
        float | None,
        typer.Option(
            "--max-exploitability",
            help="Instead of p: win the most while risking at most this per game.",
        ),
    ] = None,
    algorithm: Annotated[str, typer.Option("-a", "--algorithm", help=ALGORITHM_HELP)] = "rnr",
    engine: Annotated[str | None, typer.Option(help=ENGINE_HELP)] = None,
    iterations: Annotated[
        int | None, typer.Option("-n", "--iterations", help="Stop after so many iterations.")
    ] = None,
    seconds: Annotated[
        float | None, typer.Option("-s", "--seconds", help="Stop after so many seconds of solving.")
    ] = None,
    target: Annotated[
        float | None,
        typer.Option("-t", "--target", help="Stop at this gap of the restricted game."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.")] = 0,
    option: Annotated[
        list[str] | None,
        typer.Option("-o", "--option", help="An option of the engine, as epsilon=0.6."),
    ] = None,
    folder: Annotated[
        Path | None,
        typer.Option("--out", help="Run folder to create (default: a new one under runs/)."),
    ] = None,
    resume: Annotated[
        Path | None, typer.Option(help="Go on with the response in this folder.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Win the most from an opponent who plays like MODEL, while risking little.

    For example: counterplay respond uniform --game kuhn --player 1 --max-exploitability 0.05
    """
    from counterplay.responses.respond import DEFAULT_P
    from counterplay.responses.respond import respond as compute
    from counterplay.responses.resume import resume_response

    limits: dict[str, Any] = {"iterations": iterations, "seconds": seconds, "target": target}
    if resume is not None:
        refuse_others(
            context,
            ("resume", *LIMITS, "as_json"),
            "--resume takes everything but the limits from the folder",
        )
        with progress(limits) as show:
            response = interruptible(
                resume, "respond", lambda: resume_response(resume, on_chunk=show, **limits)
            )
        idle = nothing_new(resume, response.runs)
        if idle is not None and not as_json:
            out.print(idle)
            return
        interruptible(resume, "respond", lambda: _report(response, resume, as_json))
        return
    if model is None:
        raise BadParameter("respond to whom? For example: counterplay respond uniform --game kuhn")
    if confidence is not None and max_exploitability is not None:
        raise BadParameter(
            "--max-exploitability searches for one p; --confidence gives one for each information "
            "set"
        )
    if p is not None and max_exploitability is not None:
        raise BadParameter("give --p or --max-exploitability, not both")
    _idle_seed(context, algorithm)
    seat, options = _seat(player), read_options(option)
    if folder is not None:
        check_new_run(folder)
    with status(f"loading {model}"):
        opponent = read_strategy(model, game)
        name = opponent.game.name
    arguments: dict[str, Any] = {
        "algorithm": algorithm,
        "engine": engine,
        "seed": seed,
        **limits,
        **options,
    }
    trust = DEFAULT_P if p is None else p
    how = f"p{trust:g}" if max_exploitability is None else f"within-{max_exploitability:g}"
    where = folder or new_folder(name, f"{algorithm}-{how}", seed)
    check_new_run(where)
    with progress(limits) as show:
        if max_exploitability is not None:
            arguments["max_exploitability"] = max_exploitability
            response = _within(
                where,
                lambda: compute(opponent.game, opponent, seat, on_chunk=show, **arguments),
                as_json,
            )
        else:
            believed = trust if confidence is None else _by_observations(model, confidence, trust)
            response = interruptible(
                where,
                "respond",
                lambda: compute(
                    opponent.game,
                    opponent,
                    seat,
                    believed,
                    folder=where,
                    on_chunk=show,
                    **arguments,
                ),
            )
    if max_exploitability is None:
        interruptible(where, "respond", lambda: _report(response, where, as_json))
    else:
        _report(response, where, as_json)


def _within(folder: Path, work: Callable[[], Any], as_json: bool) -> Any:
    """A search for the best response within a limit, saved; after Ctrl-C the best that was found
    until then."""
    if (folder / "strategy.npz").exists():
        raise BadParameter(f"{folder} already holds a strategy; choose another folder")
    try:
        response = work()
    except KeyboardInterrupt as stop:
        found: Any = stop.result if isinstance(stop, Interrupted) else None
        if found is None:
            err.print("stopped before a response within the limit was found; nothing was kept.")
        else:
            found.strategy.save(folder / "strategy.npz")
            err.print(
                "stopped; this is the best response within the limit that was found until then."
            )
            _report(found, folder, as_json)
        raise typer.Exit(130) from None
    response.strategy.save(folder / "strategy.npz")
    return response


def _by_observations(model: str, kind: str, p_max: float) -> Any:
    """Pconf per information set from the counts in a model file."""
    from counterplay.opponents.models.file import load_model
    from counterplay.responses.confidence import confidence

    if Path(model).suffix != ".json":
        raise BadParameter(
            "--confidence needs a model learnt from hands (`counterplay model`), which knows its "
            "observations"
        )
    return confidence(load_model(model).observed, kind, p_max)


def _report(response: Any, folder: Path, as_json: bool) -> None:
    seat = "both seats, summed" if response.player is None else response.game.seat(response.player)
    facts = {
        "game": response.game.name,
        "responder": seat,
        "algorithm": f"{response.algorithm} ({response.engine})",
        "p": "by observations" if response.p is None else response.p,
        "iterations": response.iterations,
        "new iterations": max(run.iterations - run.started_at for run in response.runs),
        "seconds": response.seconds,
    }
    if response.game.abilities.exact:
        risk = "exploitability" + (
            " (b1 + b2)" if response.player is None else ", below the value of the game"
        )
        facts |= unit_fact(response.game) | {
            "payoff against the model": response.payoff,
            "worst case": response.worst_case,
            "exploitation, above the value of the game": response.exploitation,
            risk: response.exploitability,
        }
    print_facts(facts | {"saved in": str(folder)}, as_json)


def frontier(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    game: Annotated[str | None, typer.Option(help=GAME_HELP)] = None,
    player: Annotated[str, typer.Option(help=PLAYER_HELP)] = "both",
    ps: Annotated[
        str, typer.Option("--ps", help="Values of p, separated by commas.")
    ] = "0,0.5,0.7,0.8,0.9,0.93,0.97,1",
    max_exploitability: Annotated[
        float | None,
        typer.Option(
            "--max-exploitability", help="Recommend a p that risks at most this per game."
        ),
    ] = None,
    algorithm: Annotated[str, typer.Option("-a", "--algorithm", help=ALGORITHM_HELP)] = "rnr",
    engine: Annotated[str | None, typer.Option(help=ENGINE_HELP)] = None,
    iterations: Annotated[
        int | None, typer.Option("-n", "--iterations", help="Iterations for each p and seat.")
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("-s", "--seconds", help="Seconds of solving for each p and seat."),
    ] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.")] = 0,
    folder: Annotated[
        Path, typer.Option("--out", help="Where frontier.csv and frontier.png go.")
    ] = Path("results"),
    as_json: AsJson = False,
) -> None:
    """Show what trusting MODEL wins and what it risks, for several p.

    For example: counterplay frontier uniform --game kuhn --max-exploitability 0.2
    """
    from counterplay.responses.frontier import frontier as compute

    try:
        values = [float(text) for text in ps.split(",")]
    except ValueError:
        raise BadParameter(f"--ps takes numbers separated by commas, not {ps!r}") from None
    if max_exploitability is not None and not 0.0 < max_exploitability < math.inf:
        raise BadParameter(
            f"--max-exploitability must be a number above 0, not {max_exploitability:g}"
        )
    _idle_seed(context, algorithm)
    seat = _seat(player)
    check_can_write(folder, "frontier.csv", "frontier.png")
    opponent = read_strategy(model, game)
    try:
        with share_progress("frontier") as tell:
            curve = compute(
                opponent.game,
                opponent,
                values,
                player=seat,
                algorithm=algorithm,
                engine=engine,
                iterations=iterations,
                seconds=seconds,
                seed=seed,
                tell=tell,
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
    within = limit is not None and any(point.exploitability <= limit for point in curve.points)
    advice = curve.recommend(limit) if within else None
    if as_json:
        names = ("p", "exploitation", "exploitability", "straight line", "seconds")
        points = [dict(zip(names, row, strict=True)) for row in curve.rows()]
        print(
            json.dumps(
                {"game": curve.game.name, "points": points, "recommended p": advice and advice.p}
            )
        )
        return
    out.print(curve.table())
    if advice is not None:
        out.print(
            f"p = {advice.p:g} wins {advice.exploitation:.4g} and risks "
            f"{advice.exploitability:.4g} {curve.game.unit}."
        )
    elif limit is not None:
        least = min(point.exploitability for point in curve.points)
        out.print(
            f"No p here risks at most {limit:g} {curve.game.unit}; the safest risks {least:.4g}."
        )
    out.print(f"Files: {folder / 'frontier.csv'}, {folder / 'frontier.png'}")
