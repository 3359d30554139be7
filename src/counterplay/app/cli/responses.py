"""The command `respond`: a robust counter-strategy to a model."""

from __future__ import annotations

import math
from collections.abc import Callable
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from counterplay.app.cli import display
from counterplay.app.cli import options as opt
from counterplay.app.cli.display import err, named, out, print_facts
from counterplay.app.cli.measured import announce_responses
from counterplay.core.base.errors import BadParameter

MOST_PLAYERS = 100
MODEL_HELP = f"The model of the opponent: {opt.PLAYER}."


def seat_of(player: str) -> int | None:
    if player != "both" and not (player.isdecimal() and 0 < int(player) < MOST_PLAYERS):
        raise BadParameter(f"--player must be 1, 2 or both, not {player!r}")
    return None if player == "both" else int(player) - 1


def check_seat(game: Any, seat: int | None) -> None:
    """Refuses a seat that the game does not have, counted as it was typed."""
    if seat is not None and seat >= game.n_players:
        raise BadParameter(f"--player is a number from 1 to {game.n_players}, not {seat + 1}")


def chosen_algorithm(
    context: typer.Context, given: tuple[str | None, str | None], game: Any, ray: str | None
) -> tuple[str, str | None]:
    """The given algorithm and engine, or the game's defaults for --adversary; refuses a seed where
    nothing is drawn, and --ray if the algorithm is not sampled."""
    from counterplay.core.responses.algorithms import (
        choose_adversary,
        default_response,
        faces_real_adversary,
        response_algorithm,
    )

    name, engine = choose_adversary(game, context.params["adversary"], *given)
    chosen = response_algorithm(name or default_response(game))
    if not chosen.sampled:
        if not faces_real_adversary(game, engine):
            opt.refuse_given(context, ["seed"], f"{chosen.name} draws nothing at random")
        if ray is not None:
            raise BadParameter(f"{chosen.name} is not sampled; leave out --ray")
    return chosen.name, engine


def risk_limit(
    game: Any, max_exploitability: float | None, max_risk: float | None, least: bool = False
) -> float | None:
    """The limit on exploitability, b1 + b2, from either option; a number above 0. `least`: may be
    0, where the answer is the best equilibrium."""
    if max_risk is not None and max_exploitability is not None:
        raise BadParameter("give --max-exploitability or --max-risk, not both")
    if max_risk is not None and str(game.unit) != display.SMALL_BETS:
        raise BadParameter(
            f"--max-risk is in mb/g, a unit of hold'em; for {game.name} give --max-exploitability"
        )
    name, limit = "--max-risk", max_risk
    if max_risk is None:
        name, limit = "--max-exploitability", max_exploitability
    if limit is None:
        return None
    if not (0.0 < limit < math.inf or (least and limit == 0.0)):
        bound = "of at least" if least else "above"
        raise BadParameter(f"{name} must be a number {bound} 0, not {limit:g}")
    return limit if max_risk is None else limit / display.MILLIBETS


def respond(
    context: typer.Context,
    model: Annotated[str | None, Argument(help=MODEL_HELP)] = None,
    others: Annotated[
        list[str] | None,
        Argument(help="The models of further opponents, in a game of more than two players."),
    ] = None,
    game: opt.GameOf = None,
    player: opt.Responder = "both",
    p: Annotated[
        float | None, Option(help="Trust in the model, from 0 to 1 (default 0.75).")
    ] = None,
    confidence: Annotated[
        str | None, Option(help="dbr, mcdbr: trust by observations ({confidences}), at most p.")
    ] = None,
    max_exploitability: Annotated[
        float | None, Option(help="Instead of p: win the most at this exploitability at most.")
    ] = None,
    max_risk: opt.MaxRisk = None,
    lock: Annotated[
        list[str] | None,
        Option(help="Change MODEL: WHERE ACTION SHARE, as 'river fold 0.85', or a file NAME.toml."),
    ] = None,
    adversary: opt.Adversary = "abstract",
    algorithm: opt.ResponseName = None,
    engine: opt.Engine = None,
    iterations: opt.Iterations = None,
    seconds: opt.Seconds = None,
    target: Annotated[
        float | None, Option("-t", "--target", help="Stop at this gap of the restricted game.")
    ] = None,
    seed: opt.Seed = 0,
    option: opt.SolverOptions = None,
    folder: opt.NewRun = None,
    resume: opt.Resume = None,
    backend: opt.Backend = None,
    flops: opt.Flops = None,
    ray: opt.Ray = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compute a robust counter-strategy. It wins the most from MODEL at a small risk.

    For example: counterplay respond uniform --game kuhn --player 1 --max-exploitability 0.05
    """
    from counterplay.core.games.locks import lock_model, read_locks
    from counterplay.core.games.players import players_of
    from counterplay.core.responses.algorithms import confidence as trust_by_counts
    from counterplay.core.responses.compute import QUERIES, check_measurable, model_of
    from counterplay.core.responses.respond import (
        DEFAULT_P,
        SEARCH_QUERIES,
        resume_response,
        searches_by_measuring,
    )
    from counterplay.core.responses.respond import respond as compute
    from counterplay.poker.players import game_of

    limits: dict[str, Any] = {"iterations": iterations, "seconds": seconds, "target": target}
    measure = opt.measure_options(backend, flops)
    if resume is not None:
        opt.refuse_but_limits(context, game, ("backend", "flops"), "folder")
        opt.use_ray(ray)
        report = partial(_report, folder=resume, game=game, as_json=as_json)
        hint, resumed = display.resume_hint("respond", resume, game), not (as_json or measure)
        work = partial(resume_response, resume, game=game)
        display.run_in_folder(work, resume, hint, report, limits, measure, resumed)
        return
    if model is None:
        raise BadParameter("respond to whom? For example: counterplay respond uniform --game kuhn")
    limited = max_exploitability is not None or max_risk is not None
    if confidence is not None and limited:
        raise BadParameter(
            "--max-exploitability and --max-risk search for one p; --confidence gives one for each "
            "information set"
        )
    if p is not None and limited:
        raise BadParameter("give --p or --max-exploitability, not both")
    if confidence is not None and lock:
        raise BadParameter("--confidence is by observations, and nobody has observed a --lock")
    believed = None  # how far locks are trusted
    seat, options = seat_of(player), opt.read_options(option)
    if folder is not None:
        display.check_new_run(folder)
    with display.status(f"loading {model}"):
        loaded = game_of(model, game)
        check_seat(loaded, seat)
        boards = searches_by_measuring(loaded)
        limit = risk_limit(loaded, max_exploitability, max_risk, least=not boards)
        chosen, solver = chosen_algorithm(context, (algorithm, engine), loaded, ray)
        models: Any = [model, *others] if others else model
        opponent = model_of(loaded, models, chosen, solver, seat)
        if lock:
            if others:
                raise BadParameter("--lock is for the model of one opponent")
            opponent, believed = lock_model(opponent, read_locks(lock))
    options = {**opt.use_ray(ray), **options}
    arguments: dict[str, Any] = {"algorithm": chosen, "engine": engine, "adversary": adversary}
    arguments |= {"seed": seed, **options}
    work = partial(compute, loaded, opponent, seat, **arguments)
    trust = DEFAULT_P if p is None else p
    how = f"p{trust:g}" if limit is None else f"within-{limit:g}"
    where = folder or display.new_folder(loaded.name, f"{chosen}-{how}", seed)
    display.check_new_run(where)
    report = partial(_report, folder=where, game=game, as_json=as_json)
    if limit is not None:
        if believed is not None and (believed < 1.0).any():
            raise BadParameter("--max-risk searches for one p; leave the trust out of the locks")
        check_measurable(loaded, seat, measure or None, "give --p")
        announce_responses(loaded, measure, SEARCH_QUERIES)
        _within(partial(work, max_exploitability=limit), where, report, limits, measure, boards)
        return
    trusted = trust if believed is None else _trust_of_locks(believed, trust, chosen)
    if confidence is not None:  # Pconf, from the counts of a model
        counts = getattr(players_of(loaded).find(model), "observed", None)
        if counts is None:
            raise BadParameter(
                "--confidence needs the counts of a model that was learnt from hands "
                "(`counterplay model`)"
            )
        trusted = trust_by_counts(counts, confidence, trust)
    announce_responses(loaded, measure, QUERIES if seat is None else QUERIES // 2)
    hint, work = display.resume_hint("respond", where, game), partial(work, p=trusted, folder=where)
    display.run_in_folder(work, where, hint, report, limits, measure)


def _trust_of_locks(believed: Any, p: float, algorithm: str) -> Any:
    """p at every information set: times the trust of a lock where there is one, else NaN."""
    import numpy as np

    from counterplay.core.responses.algorithms import response_algorithm

    if not (believed < 1.0).any():
        return p
    if response_algorithm(algorithm).once:
        raise BadParameter(
            f"{algorithm} trusts whole games; for locks with a trust take --algorithm dbr or mcdbr"
        )
    return np.where(np.isnan(believed), p, p * believed)


def _within(
    search: Callable[..., Any],
    folder: Path,
    report: Callable[[Any], None],
    limits: dict[str, Any],
    measure: dict[str, Any],
    boards: bool,
) -> None:
    """Searches for the best response within a limit and saves it; after Ctrl-C the best so far.
    `boards`: every value of p that is tried takes a traversal of the boards."""
    if (folder / "strategy.npz").exists():
        raise BadParameter(f"{folder} already holds a strategy; choose another folder")
    try:
        with ExitStack() as stack:
            if boards:
                progress = stack.enter_context(display.share_progress("searching"))
                how = {"progress": progress, "measure": measure or None}
            else:
                show, _ = stack.enter_context(display.solver_progress(limits))
                how = {"on_chunk": show}
            response, stopped = display.until_stopped(partial(search, **how, **limits))
    except KeyboardInterrupt:
        err.print("stopped before a response within the limit was found; nothing was saved.")
        raise typer.Exit(130) from None
    response.strategy.save(folder / "strategy.npz")
    if stopped:
        err.print("stopped; this is the best response within the limit so far.")
    report(response)
    if stopped:
        raise typer.Exit(130)


def _report(response: Any, folder: Path, game: str | None, as_json: bool) -> None:
    seat = "both seats" if response.player is None else response.game.seat(response.player)
    facts = {
        "game": response.game.name,
        "responder": seat,
        "algorithm": f"{response.algorithm} ({response.engine})",
        "p": "by observations" if response.p is None else response.p,
        "iterations": response.iterations,
        "new iterations": max(run.iterations - run.started_at for run in response.runs),
        "seconds": response.seconds,
    }
    if response.too_few is not None:
        facts["note"] = response.too_few
    facts |= _mixture_fact(response.strategy)
    evaluator = response.game.evaluator
    if evaluator.immediate or evaluator.on_request:
        facts |= display.unit_fact(response.game) | _values(response, as_json)
    print_facts(facts | {"saved in": str(folder)}, as_json)
    if evaluator.on_request and math.isnan(response.payoff) and not as_json:
        command = display.resume_hint("respond", folder, game).partition(": ")[2]
        out.print(
            "Exploitation and exploitability were not measured: that takes long. An estimate: "
            f"{command} --flops 40; exactly: --backend cuda instead."
        )


def _mixture_fact(strategy: Any) -> dict[str, Any]:
    """That one of two strategies is drawn for every hand, where that is so."""
    weight = getattr(strategy, "weight", None)
    if weight is None:
        return {}
    name = named("mixture: probability of the safer of two responses, in every hand", "mixture")
    return {name: weight}


def _values(response: Any, as_json: bool) -> dict[str, Any]:
    """What a response wins and risks. What was not measured is null in JSON, else left out."""
    both, game = response.player is None, response.game
    if game.n_players > 2:
        return _several_values(response)
    where = " (b1 + b2)" if both else ", below the value of the game"
    risk = named(f"exploitability{where}", "exploitability")
    above = "exploitation, both seats summed" if both else "exploitation"
    gain = named(f"{above}, above the value of the game", "exploitation")
    mean = ", mean of both seats" if both else ""
    values: list[tuple[str, float, str]] = [
        (named(f"payoff against the model{mean}", "payoff"), response.payoff, "")
    ]
    if both:
        for seat, payoff in zip(response.seats, response.payoffs, strict=True):
            as_seat = named(f"payoff as {game.seats[seat]}", f"payoff_as_player_{seat + 1}")
            values.append((as_seat, payoff, ""))
    sums: list[tuple[str, float, str]] = [
        (gain, response.exploitation, ""),
        (risk, response.exploitability, "high"),
    ]
    values += [(named(f"worst case{mean}", "worst_case"), response.worst_case, "low"), *sums]
    boards = game.evaluator.on_request
    if str(game.unit) == display.SMALL_BETS and both:
        for name, value, too in sums:
            key = display.key_of(name)
            same = named(f"{key} {display.IN_MILLIBETS}", f"{key}{display.MILLIBETS_KEY}")
            values.append((same, display.MILLIBETS * value, too))
    facts: dict[str, Any] = {}
    for name, value, too in values:
        if not math.isnan(value):
            facts |= display.measured_fact(name, value, too)
        elif as_json:
            facts[name] = None
    if boards and not math.isnan(response.worst_case):
        facts |= display.flops_fact(response.worst_case)
    return facts


def _several_values(response: Any) -> dict[str, Any]:
    """What a response of one of several players gets."""
    facts: dict[str, Any] = {
        named("payoff when the others follow their models", "payoff"): response.payoff
    }
    for seat, payoff in enumerate(response.selfish):
        if not math.isnan(payoff):
            text = f"payoff when {response.game.seats[seat]} deviates for its own sake"
            facts[named(text, f"selfish_player_{seat + 1}")] = payoff
    found, bound, exact = (getattr(response.coalition, k) for k in ("found", "bound", "exact"))
    how = "all pure strategies" if exact else "found by alternating best replies"
    facts[named(f"payoff against a coalition, {how}", "coalition_found")] = found
    facts[named("the same if its members tell what they see", "coalition_bound")] = bound
    return facts
