"""The commands about an opponent: `counterplay respond` and `counterplay frontier`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from counterplay.base.errors import BadParameter
from counterplay.cli_support import AsJson, interruptible, new_folder, read_options, read_strategy
from counterplay.display import out, print_facts, progress, share_progress, status

MODEL_HELP = "How the opponent plays: a strategy file, a run folder, or the word uniform."
GAME_HELP = "Which game; see `counterplay games`. Not needed where the model file says it."
PLAYER_HELP = "Who responds: 1, 2 or both."
ALGORITHM_HELP = "rnr or dbr (full width), mcrnr or mcdbr (sampling)."
ENGINE_HELP = "The solver inside: cfr+, cfr, dcfr, pcfr+, egt, lp; mccfr, mccfr-external, mccfr-chance, mcts."


def _seat(player: str) -> int | None:
    if player not in ("1", "2", "both"):
        raise BadParameter(f"--player must be 1, 2 or both, not {player!r}")
    return None if player == "both" else int(player) - 1


def respond(
    model: Annotated[str | None, typer.Argument(help=MODEL_HELP)] = None,
    game: Annotated[str | None, typer.Option(help=GAME_HELP)] = None,
    player: Annotated[str, typer.Option(help=PLAYER_HELP)] = "both",
    p: Annotated[float | None, typer.Option(help="How far the model is trusted, from 0 to 1 (default 0.75).")] = None,
    confidence: Annotated[
        str | None,
        typer.Option(help="dbr, mcdbr: trust by observations (1-step, 10-step, 0-10-linear, s-curve), p at most."),
    ] = None,
    max_exploitability: Annotated[
        float | None, typer.Option("--max-exploitability", help="Instead of p: win the most while risking at most this per game.")
    ] = None,
    algorithm: Annotated[str, typer.Option("-a", "--algorithm", help=ALGORITHM_HELP)] = "rnr",
    engine: Annotated[str | None, typer.Option(help=ENGINE_HELP)] = None,
    iterations: Annotated[int | None, typer.Option("-n", "--iterations", help="Stop after so many iterations.")] = None,
    seconds: Annotated[float | None, typer.Option("-s", "--seconds", help="Stop after so many seconds of solving.")] = None,
    target: Annotated[float | None, typer.Option("-t", "--target", help="Stop at this gap of the restricted game.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.")] = 0,
    option: Annotated[list[str] | None, typer.Option("-o", "--option", help="An option of the engine, as epsilon=0.6.")] = None,
    folder: Annotated[Path | None, typer.Option("--out", help="Run folder to create (default: a new one under runs/).")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the response in this folder.")] = None,
    as_json: AsJson = False,
) -> None:
    """Win the most from an opponent who plays like MODEL, while risking little.

    For example: counterplay respond uniform --game kuhn --player 1 --max-exploitability 0.05
    """
    from counterplay.responses.respond import respond as compute
    from counterplay.responses.resume import resume_response

    limits: dict[str, Any] = {"iterations": iterations, "seconds": seconds, "target": target}
    if resume is not None:
        if any(given is not None for given in (model, game, p, confidence, max_exploitability, engine, folder)) or option:
            raise BadParameter("--resume takes everything but the limits from the folder; leave the rest out")
        with progress(limits) as show:
            response = interruptible(resume, "respond", lambda: resume_response(resume, on_chunk=show, **limits))
        if response.player is None:
            response.strategy.save(resume / "strategy.npz")
        _report(response, resume, as_json)
        return
    if model is None:
        raise BadParameter("respond to whom? For example: counterplay respond uniform --game kuhn")
    if confidence is not None and max_exploitability is not None:
        raise BadParameter("--max-exploitability searches for one p; --confidence gives one for each information set")
    if p is not None and max_exploitability is not None:
        raise BadParameter("give --p or --max-exploitability, not both")
    seat, options = _seat(player), read_options(option)
    with status(f"loading {model}"):
        opponent = read_strategy(model, game)
        name = opponent.game.name
    arguments: dict[str, Any] = {"engine": engine, "seed": seed, **limits, **options}
    with progress(limits) as show:
        if max_exploitability is not None:
            response = compute(
                opponent.game,
                opponent,
                seat,
                algorithm=algorithm,
                max_exploitability=max_exploitability,
                on_chunk=show,
                **arguments,
            )
            folder = folder or new_folder(name, f"{algorithm}-within-{max_exploitability:g}", seed)
            response.strategy.save(folder / "strategy.npz")
        else:
            trust = 0.75 if p is None else p
            where = folder = folder or new_folder(name, f"{algorithm}-p{trust:g}", seed)
            believed = trust if confidence is None else _by_observations(model, confidence, trust)
            response = interruptible(
                where,
                "respond",
                lambda: compute(opponent.game, opponent, seat, believed, algorithm, folder=where, on_chunk=show, **arguments),
            )
            if seat is None:
                response.strategy.save(where / "strategy.npz")
    _report(response, folder, as_json)


def _by_observations(model: str, kind: str, p_max: float) -> Any:
    """Pconf per information set from the counts in a model file."""
    from counterplay.opponents.model_file import load_model
    from counterplay.responses.confidence import confidence

    if Path(model).suffix != ".json":
        raise BadParameter("--confidence needs a model learnt from hands (`counterplay model`), which knows its observations")
    return confidence(load_model(model).observed, kind, p_max)


def _report(response: Any, folder: Path, as_json: bool) -> None:
    seat = "both seats, summed" if response.player is None else f"player {response.player + 1}"
    facts = {
        "game": response.game.name,
        "responder": seat,
        "algorithm": f"{response.algorithm} ({response.engine})",
        "p": "by observations" if response.p is None else response.p,
        "iterations": response.iterations,
        "seconds": response.seconds,
    }
    if response.game.has_tree:
        from counterplay.responses.frontier import as_point

        point = as_point(response)
        risk = "exploitability" + (" (b1 + b2)" if response.player is None else ", below the value of the game")
        facts |= {
            "payoff against the model": response.exploitation,
            "worst case": response.worst_case,
            "exploitation, above the value of the game": point.exploitation,
            risk: point.exploitability,
        }
    print_facts(facts | {"saved in": str(folder)}, as_json)


def frontier(
    model: Annotated[str, typer.Argument(help=MODEL_HELP)],
    game: Annotated[str | None, typer.Option(help=GAME_HELP)] = None,
    player: Annotated[str, typer.Option(help=PLAYER_HELP)] = "both",
    ps: Annotated[str, typer.Option("--ps", help="Values of p, separated by commas.")] = "0,0.5,0.7,0.8,0.9,0.93,0.97,1",
    max_exploitability: Annotated[
        float | None, typer.Option("--max-exploitability", help="Recommend a p that risks at most this per game.")
    ] = None,
    algorithm: Annotated[str, typer.Option("-a", "--algorithm", help=ALGORITHM_HELP)] = "rnr",
    engine: Annotated[str | None, typer.Option(help=ENGINE_HELP)] = None,
    iterations: Annotated[int | None, typer.Option("-n", "--iterations", help="Iterations for each p and seat.")] = None,
    seconds: Annotated[float | None, typer.Option("-s", "--seconds", help="Seconds of solving for each p and seat.")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.")] = 0,
    folder: Annotated[Path, typer.Option("--out", help="Where frontier.csv and frontier.png go.")] = Path("results"),
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
    opponent = read_strategy(model, game)
    with share_progress("frontier") as tell:
        curve = compute(
            opponent.game, opponent, values, player=_seat(player), algorithm=algorithm, engine=engine, iterations=iterations,
            seconds=seconds, seed=seed, tell=tell,
        )  # fmt: skip
    curve.save_csv(folder / "frontier.csv")
    curve.plot(folder / "frontier.png")
    advice = None if max_exploitability is None else curve.recommend(max_exploitability)
    if as_json:
        names = ("p", "exploitation", "exploitability", "straight line", "seconds")
        points = [dict(zip(names, row, strict=True)) for row in curve.rows()]
        print(json.dumps({"game": curve.game.name, "points": points, "recommended p": advice and advice.p}))
        return
    out.print(curve.table())
    if advice is not None:
        out.print(f"p = {advice.p:g} wins {advice.exploitation:.4g} and risks {advice.exploitability:.4g} per game.")
    out.print(f"Files: {folder / 'frontier.csv'}, {folder / 'frontier.png'}")
