"""The command about an opponent: `counterplay respond`."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer

from counterplay.app.cli.display import (
    IN_MILLIBETS,
    MILLIBETS,
    MILLIBETS_KEY,
    err,
    flops_fact,
    go_on,
    key_of,
    measured_fact,
    named,
    out,
    print_facts,
    status,
    unit_fact,
    work_progress,
)
from counterplay.app.cli.options import (
    PLAYER,
    AsJson,
    Backend,
    Engine,
    Flops,
    GameOf,
    NewRun,
    Ray,
    Responder,
    ResponseAlgorithm,
    Seed,
    iterations,
    read_options,
    refuse_but_limits,
    refuse_given,
    use_ray,
    walk_options,
)
from counterplay.app.cli.support import check_new_run, interruptible, new_folder, nothing_new
from counterplay.core.base.errors import BadParameter, Interrupted

MODEL_HELP = f"How the opponent plays: {PLAYER}."


def seat_of(player: str) -> int | None:
    if player not in ("1", "2", "both"):
        raise BadParameter(f"--player must be 1, 2 or both, not {player!r}")
    return None if player == "both" else int(player) - 1


def chosen_algorithm(context: typer.Context, algorithm: str | None, game: Any) -> str:
    """As asked for, or that of the game; one that draws nothing takes no seed."""
    from counterplay.core.responses.algorithms import default_response, response_algorithm

    chosen = response_algorithm(algorithm or default_response(game))
    if not chosen.sampled:
        refuse_given(context, ["seed"], f"{chosen.name} draws nothing at random")
    return chosen.name


def respond(
    context: typer.Context,
    model: Annotated[str | None, typer.Argument(help=MODEL_HELP)] = None,
    game: GameOf = None,
    player: Responder = "both",
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
    algorithm: ResponseAlgorithm = None,
    engine: Engine = None,
    iterations: Annotated[int | None, iterations("Stop after so many iterations.")] = None,
    seconds: Annotated[
        float | None,
        typer.Option("-s", "--seconds", help="Stop after so many seconds of solving in all."),
    ] = None,
    target: Annotated[
        float | None,
        typer.Option("-t", "--target", help="Stop at this gap of the restricted game."),
    ] = None,
    seed: Seed = 0,
    option: Annotated[
        list[str] | None,
        typer.Option("-o", "--option", help="An option of the engine, as epsilon=0.6."),
    ] = None,
    folder: NewRun = None,
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
    from counterplay.core.games.players import players_of
    from counterplay.core.responses.respond import DEFAULT_P
    from counterplay.core.responses.respond import respond as compute
    from counterplay.poker.players import game_of

    limits: dict[str, Any] = {"iterations": iterations, "seconds": seconds, "target": target}
    measure = walk_options(backend, flops)
    if resume is not None:
        refuse_but_limits(context, game, ("backend", "flops"), "folder")
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
        loaded = game_of(model, game)
        known = players_of(loaded)
        opponent = known.strategy(model)
    chosen = chosen_algorithm(context, algorithm, loaded)
    options = {**_pool_of(chosen, use_ray(ray)), **options}
    arguments: dict[str, Any] = {
        "algorithm": chosen,
        "engine": engine,
        "seed": seed,
        **limits,
        **options,
    }
    trust = DEFAULT_P if p is None else p
    how = f"p{trust:g}" if max_exploitability is None else f"within-{max_exploitability:g}"
    where = folder or new_folder(loaded.name, f"{chosen}-{how}", seed)
    check_new_run(where)
    further = go_on("respond", where, game)
    with work_progress("respond", limits, measure) as (show, asked):
        ask = partial(compute, loaded, opponent, seat, on_chunk=show, measure=asked, **arguments)
        if max_exploitability is not None:
            limit = max_exploitability
            response = _within(where, lambda: ask(max_exploitability=limit), game, as_json)
        else:
            believed: Any = trust
            if confidence is not None:
                believed = _by_observations(known.find(model), confidence, trust)
            response = interruptible(further, where, lambda: ask(p=believed, folder=where))
    if max_exploitability is None:
        interruptible(further, where, lambda: _report(response, where, game, as_json))
    else:
        _report(response, where, game, as_json)


def _resume(
    folder: Path, game: str | None, limits: dict[str, Any], walk: dict[str, Any], as_json: bool
) -> None:
    """Go on with the response in a folder; where boards are to be walked and there is no limit,
    measure it as it is."""
    from counterplay.core.responses.respond import resume_response

    further = go_on("respond", folder, game)
    with work_progress("respond", limits, walk) as (show, asked):
        response = interruptible(
            further,
            folder,
            lambda: resume_response(folder, game=game, on_chunk=show, measure=asked, **limits),
        )
    idle = nothing_new(folder, response.runs)
    if idle is not None and not as_json and not walk:
        out.print(idle)
        return
    interruptible(further, folder, lambda: _report(response, folder, game, as_json))


def _within(folder: Path, work: Callable[[], Any], game: str | None, as_json: bool) -> Any:
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
            _report(found, folder, game, as_json)
        raise typer.Exit(130) from None
    response.strategy.save(folder / "strategy.npz")
    return response


def _by_observations(model: Any, kind: str, p_max: float) -> Any:
    """Pconf per information set from the counts of a model."""
    from counterplay.core.responses.algorithms import confidence

    if not hasattr(model, "observed"):
        raise BadParameter(
            "--confidence needs a model learnt from hands (`counterplay model`), which knows its "
            "observations"
        )
    return confidence(model.observed, kind, p_max)


def _report(response: Any, folder: Path, game: str | None, as_json: bool) -> None:
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
    evaluator = response.game.evaluator
    if evaluator.immediate or evaluator.on_request:
        facts |= unit_fact(response.game) | _worth(response, as_json)
    print_facts(facts | {"saved in": str(folder)}, as_json)
    if evaluator.on_request and math.isnan(response.payoff) and not as_json:
        out.print(
            "What it wins and risks was not measured, since that takes long. An estimate: "
            f"{go_on('respond', folder, game).partition(': ')[2]} --flops 40; exactly: --backend "
            "cuda instead."
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
    boards = response.game.evaluator.on_request
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


def _pool_of(algorithm: str, pool: dict[str, Any]) -> dict[str, Any]:
    """The same for the engine of a response; `BadParameter` where it does not sample."""
    from counterplay.core.responses.algorithms import response_algorithm

    if pool and not response_algorithm(algorithm).sampled:
        raise BadParameter(f"{algorithm} looks at the whole game at once; leave out --ray")
    return pool
