"""The command about an opponent: `counterplay respond`."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from counterplay.base.errors import BadParameter, Interrupted
from counterplay.base.own import is_own
from counterplay.cli.cluster import Ray, use_ray
from counterplay.cli.display import status, unit_fact
from counterplay.cli.facts import err, key_of, named, out, print_facts
from counterplay.cli.measured import (
    IN_MILLIBETS,
    MILLIBETS,
    MILLIBETS_KEY,
    Backend,
    Flops,
    flops_fact,
    measured_fact,
    walk_options,
    work_progress,
)
from counterplay.cli.support import (
    LIMITS,
    AsJson,
    check_new_run,
    integer,
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
ALGORITHM_HELP = (
    "Full width: {full_width_responses}. Sampling: {sampling_responses}. Without it: rnr, in "
    "hold'em mcrnr."
)
ENGINE_HELP = (
    "The solver inside. Full width: {full_width_solvers}. Sampling: {sampling_solvers}. Without "
    "it: cfr+, for sampling mccfr, in hold'em what solve takes."
)


def seat_of(player: str) -> int | None:
    if player not in ("1", "2", "both"):
        raise BadParameter(f"--player must be 1, 2 or both, not {player!r}")
    return None if player == "both" else int(player) - 1


def chosen_algorithm(context: typer.Context, algorithm: str | None, game: Any) -> str:
    """As asked for, or that of the game; one that draws nothing takes no seed."""
    from counterplay.responses.algorithms import default_response, response_algorithm

    chosen = response_algorithm(algorithm or default_response(game))
    if not chosen.sampled:
        refuse_given(context, ["seed"], f"{chosen.name} draws nothing at random")
    return chosen.name


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
    algorithm: Annotated[str | None, typer.Option("-a", "--algorithm", help=ALGORITHM_HELP)] = None,
    engine: Annotated[str | None, typer.Option(help=ENGINE_HELP)] = None,
    iterations: Annotated[
        int | None,
        typer.Option("-n", "--iterations", help="Stop after so many iterations.", parser=integer),
    ] = None,
    seconds: Annotated[
        float | None,
        typer.Option("-s", "--seconds", help="Stop after so many seconds of solving in all."),
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
    backend: Backend = None,
    flops: Flops = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Win the most from an opponent who plays like MODEL, while risking little.

    For example: counterplay respond uniform --game kuhn --player 1 --max-exploitability 0.05
    """
    from counterplay.responses.respond import DEFAULT_P
    from counterplay.responses.respond import respond as compute

    limits: dict[str, Any] = {"iterations": iterations, "seconds": seconds, "target": target}
    measure = walk_options(backend, flops)
    if resume is not None:
        refuse_others(
            context,
            (
                "resume",
                *LIMITS,
                "backend",
                "flops",
                "ray",
                "as_json",
                *_own(game),
            ),
            "--resume takes everything but the limits from the folder",
        )
        use_ray(ray)
        _resume(resume, game, limits, measure, as_json)
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
    seat, options = seat_of(player), read_options(option)
    if folder is not None:
        check_new_run(folder)
    with status(f"loading {model}"):
        opponent = read_strategy(model, game)
        name = opponent.game.name
    chosen = chosen_algorithm(context, algorithm, opponent.game)
    options = {**_pool_of(chosen, opponent.game, use_ray(ray)), **options}
    arguments: dict[str, Any] = {
        "algorithm": chosen,
        "engine": engine,
        "seed": seed,
        **limits,
        **options,
    }
    trust = DEFAULT_P if p is None else p
    how = f"p{trust:g}" if max_exploitability is None else f"within-{max_exploitability:g}"
    where = folder or new_folder(name, f"{chosen}-{how}", seed)
    check_new_run(where)
    with work_progress("respond", limits, measure) as (show, asked):
        if max_exploitability is not None:
            response = _within(
                where,
                lambda: compute(
                    opponent.game,
                    opponent,
                    seat,
                    max_exploitability=max_exploitability,
                    on_chunk=show,
                    measure=asked,
                    **arguments,
                ),
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
                    measure=asked,
                    **arguments,
                ),
            )
    if max_exploitability is None:
        interruptible(where, "respond", lambda: _report(response, where, as_json))
    else:
        _report(response, where, as_json)


def _resume(
    folder: Path, game: str | None, limits: dict[str, Any], walk: dict[str, Any], as_json: bool
) -> None:
    """Go on with the response in a folder; where boards are to be walked and there is no limit,
    measure it as it is."""
    from counterplay.responses.resume import resume_response

    with work_progress("respond", limits, walk) as (show, asked):
        response = interruptible(
            folder,
            "respond",
            lambda: resume_response(folder, game=game, on_chunk=show, measure=asked, **limits),
        )
    idle = nothing_new(folder, response.runs)
    if idle is not None and not as_json and not walk:
        out.print(idle)
        return
    interruptible(folder, "respond", lambda: _report(response, folder, as_json))


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
    if response.game.abilities.exact or response.game.abilities.boards:
        facts |= unit_fact(response.game) | _worth(response, as_json)
    print_facts(facts | {"saved in": str(folder)}, as_json)
    if response.game.abilities.boards and math.isnan(response.payoff) and not as_json:
        out.print(
            "What it wins and risks was not measured, since that takes long. An estimate: "
            f"counterplay respond --resume {folder} --flops 40; exactly: --backend cuda instead."
        )


def _worth(response: Any, as_json: bool) -> dict[str, Any]:
    """What a response wins and risks. Numbers nobody measured are null in JSON, and left out
    otherwise."""
    both = response.player is None
    where = " (b1 + b2)" if both else ", below the value of the game"
    risk = named(f"exploitability{where}", "exploitability")
    gain = named("exploitation, above the value of the game", "exploitation")
    found: list[tuple[str, float, str]] = [
        (named("payoff against the model", "payoff"), response.payoff, ""),
        ("worst case", response.worst_case, "low"),
        (gain, response.exploitation, ""),
        (risk, response.exploitability, "high"),
    ]
    boards = response.game.abilities.boards
    if boards and both:
        for name, value, too in found[2:]:
            key = key_of(name)
            same = named(f"{key} {IN_MILLIBETS}", f"{key}{MILLIBETS_KEY}")
            found.append((same, MILLIBETS * value, too))
    facts: dict[str, Any] = {}
    for name, value, too in found:
        if not math.isnan(value):
            facts |= measured_fact(name, value, too)
        elif as_json:
            facts[name] = None
    if boards and not math.isnan(response.worst_case):
        facts |= flops_fact(response.worst_case)
    return facts


def _pool_of(algorithm: str | None, game: Any, pool: dict[str, Any]) -> dict[str, Any]:
    """The same for the engine of a response; `BadParameter` where it does not sample."""
    from counterplay.responses.algorithms import default_response, response_algorithm

    chosen = response_algorithm(algorithm or default_response(game))
    if pool and not chosen.sampled:
        raise BadParameter(f"{chosen.name} looks at the whole game at once; leave out --ray")
    return pool


def _own(game: str | None) -> list[str]:
    """A game of one's own is named also with --resume."""
    return ["game"] if is_own(game) else []
