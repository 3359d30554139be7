"""The command line: `counterplay games | solve | respond | frontier | evaluate | match | model | show | holdem | reproduce`.

Errors of the user end with one sentence and exit code 2; no traceback reaches him.
"""

from __future__ import annotations

import json
import sys
import warnings
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.table import Table

from counterplay import cli_matches, cli_responses
from counterplay.base.errors import BadParameter, CounterplayError
from counterplay.cli_support import AsJson, interruptible, new_folder, read_options, read_strategy
from counterplay.display import (
    err,
    out,
    overall_progress,
    print_campaign,
    print_facts,
    print_outcome,
    progress,
    report_run,
    share_progress,
    status,
)

app = typer.Typer(
    help="Equilibria and robust counter-strategies in imperfect-information games.",
    epilog="Start with: counterplay solve kuhn",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)
ALGORITHM_HELP = "cfr, cfr+, dcfr, pcfr+, egt, lp, mccfr, mccfr-external, mccfr-chance or mcts."
OPTION_HELP = "An option of the algorithm, such as epsilon=0.6 (mccfr) or c=2 (mcts)."


LESSON = """Equilibria and robust counter-strategies in imperfect-information games.

  an equilibrium, and how good it is     counterplay solve kuhn
  win from a weak player, at small risk  counterplay respond uniform --game kuhn --max-exploitability 0.05
  play bots at limit hold'em             counterplay match always-call always-raise
  a model from a player's hands          counterplay model hands.parquet --player NAME
  the figures and tables of the paper    counterplay reproduce all

Type this first: counterplay solve kuhn      Every command: counterplay --help"""


@app.callback(invoke_without_command=True)
def _start(context: typer.Context) -> None:
    if context.invoked_subcommand is None:
        print(LESSON)


@app.command()
def games(
    game: Annotated[str | None, typer.Argument(help="A game to describe, such as 'bluff(1,1,6)'.")] = None,
    as_json: AsJson = False,
) -> None:
    """List the games, or describe one: how many histories and information sets it has."""
    from counterplay.games.registry import load, specs

    if game is not None:
        with status(f"building {game}"):
            loaded = load(game)
            facts = {
                "game": loaded.name,
                "players": loaded.n_players,
                "histories": loaded.n_nodes,
                "information sets": loaded.n_infosets,
                "action slots": loaded.n_slots,
                "longest history": loaded.depth,
                "zero-sum": loaded.zero_sum,
                "perfect recall": loaded.perfect_recall,
            }
        print_facts(facts, as_json)
        return
    rows = [(spec.name, ", ".join(spec.examples), spec.summary) for spec in specs().values()]
    rows.append(
        ("open_spiel", "open_spiel:hex(board_size=2)", "any sequential or simultaneous game of OpenSpiel (extra [openspiel])")
    )
    if as_json:
        print(json.dumps([{"name": name, "examples": examples, "summary": summary} for name, examples, summary in rows]))
        return
    table = Table("game", "write it like", "what it is", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    out.print(table)
    out.print("\nDescribe one with: counterplay games 'bluff(1,1,6)'")


@app.command()
def solve(
    game: Annotated[str | None, typer.Argument(help="Which game, such as kuhn or 'ocp(500)'; see `counterplay games`.")] = None,
    algorithm: Annotated[str, typer.Option("-a", "--algorithm", help=ALGORITHM_HELP)] = "cfr+",
    iterations: Annotated[int | None, typer.Option("-n", "--iterations", help="Stop after so many iterations in total.")] = None,
    seconds: Annotated[float | None, typer.Option("-s", "--seconds", help="Stop after so many seconds of solving.")] = None,
    target: Annotated[float | None, typer.Option("-t", "--target", help="Stop at this exploitability (b1 + b2).")] = None,
    seed: Annotated[int, typer.Option(help="The same seed gives the same bits.")] = 0,
    option: Annotated[
        list[str] | None, typer.Option("-o", "--option", help="An option of the algorithm, such as epsilon=0.6 or c=2.")
    ] = None,
    folder: Annotated[Path | None, typer.Option("--out", help="Run folder to create (default: a new one under runs/).")] = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.")] = None,
    as_json: AsJson = False,
) -> None:
    """Find an equilibrium and say how good it is.

    Without -n, -s or -t it stops at an exploitability of 0.001, or after a minute. Ctrl-C saves before it stops.
    """
    from counterplay.solvers import run as runs

    limits: dict[str, Any] = {"iterations": iterations, "seconds": seconds, "target": target}
    if resume is not None:
        if game is not None or option or folder is not None:
            raise BadParameter("--resume takes the game, the options and the folder from the run; leave them out")
        folder = resume
        with status(f"loading {resume}"), progress(limits) as show:
            result = interruptible(folder, "solve", lambda: runs.resume(resume, on_chunk=show, **limits))
    else:
        if game is None:
            raise BadParameter("which game? For example: counterplay solve kuhn")
        options = read_options(option)
        with status(f"building {game}"):
            from counterplay.games.registry import load

            loaded = load(game)
            loaded.form  # noqa: B018  built here, so that what follows is only solving
        folder = folder or new_folder(loaded.name, algorithm, seed)
        target_folder = folder
        with progress(limits) as show:
            result = interruptible(
                folder,
                "solve",
                lambda: runs.solve(loaded, algorithm, seed=seed, folder=target_folder, on_chunk=show, **limits, **options),
            )
    report_run(result, folder, as_json)


@app.command()
def evaluate(
    strategy: Annotated[str, typer.Argument(help="A strategy file, a run folder, or the word uniform (with --game).")],
    game: Annotated[str | None, typer.Option(help="The game, where the file does not say.")] = None,
    against: Annotated[str | None, typer.Option(help="Also play it against this strategy, in both seats.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say exactly how good a strategy is: its value and its exploitability."""
    from counterplay.evaluation.exact import best_response, expected_value, exploitability
    from counterplay.evaluation.kuhn import kuhn_errors

    with status(f"evaluating {strategy}"):
        profile = read_strategy(strategy, game)
        loaded = profile.game
        if not loaded.has_tree:
            raise BadParameter(
                f"{loaded.name} is too large to evaluate exactly; play it: counterplay match {strategy} always-call"
            )
        facts: dict[str, Any] = {"game": loaded.name}
        for player, value in enumerate(expected_value(loaded, profile), 1):
            facts[f"value to player {player}"] = float(value)
        for player in range(loaded.n_players):
            facts[f"best response of player {player + 1}"] = best_response(loaded, profile, player).value
        facts["exploitability (b1 + b2)" if loaded.n_players == 2 else "sum of gains by deviating"] = exploitability(
            loaded, profile
        )
        if loaded.name == "kuhn":
            errors = kuhn_errors(profile)
            facts |= {"SQR-E": errors.squared, "DOM-E": errors.dominated, "nearest equilibrium gamma": errors.gamma}
        if against is not None:
            other = read_strategy(against, loaded.name)
            for player in range(loaded.n_players):
                value = float(expected_value(loaded, other.replace(profile, player))[player])
                facts[f"value as player {player + 1} against {against}"] = value
    print_facts(facts, as_json)


@app.command()
def reproduce(
    name: Annotated[str | None, typer.Argument(help="Which figure or table, or all; without it, a list.")] = None,
    scale: Annotated[str, typer.Option(help="quick, or paper for the full size.")] = "quick",
    folder: Annotated[Path, typer.Option("--out", help="Where pictures, CSVs, verdicts and report.html go.")] = Path("results"),
    again: Annotated[bool, typer.Option("--again", help="Make everything anew, also what has been done before.")] = False,
    as_json: AsJson = False,
) -> None:
    """Run an experiment of the paper, or all, and say which claims hold. `all` skips what is done.

    Stop it whenever you like: the same command goes on.
    """
    from dataclasses import asdict

    from counterplay.experiments.campaign import Interrupted, reproduce_all
    from counterplay.experiments.registry import experiments
    from counterplay.experiments.registry import reproduce as run_experiment

    if name is None:
        for experiment in experiments().values():
            out.print(f"{experiment.name:<12} {experiment.title}")
        out.print(f"{'all':<12} everything above that has not been done yet")
    elif name == "all":
        stopped = False
        try:
            with overall_progress() as tell:
                campaign = reproduce_all(scale, folder, tell, again)
        except Interrupted as stop:
            campaign, stopped = stop.campaign, True
        except KeyboardInterrupt:
            err.print("stopped before anything was begun; the same command starts again.")
            raise typer.Exit(130) from None
        if as_json:
            print(json.dumps({**asdict(campaign), "report": str(campaign.report), "stopped": stopped}))
        else:
            print_campaign(campaign)
        if stopped:
            of = f"{len(campaign.outcomes)} of {len(experiments())} are finished"
            err.print(f"stopped: {of}; {_go_on(folder, again)}.")
            raise typer.Exit(130)
        if campaign.failures:
            raise typer.Exit(1)
    else:
        try:
            with share_progress(name) as tell:
                outcome = run_experiment(name, scale, folder, tell, again)
        except KeyboardInterrupt:
            err.print(f"stopped: {name} is not finished; {_go_on(folder, again)}.")
            raise typer.Exit(130) from None
        if as_json:
            print(json.dumps(asdict(outcome)))
        else:
            print_outcome(outcome)
            out.print("Files: " + ", ".join(str(folder / file) for file in [*outcome.files, "report.html"]))


def _go_on(folder: Path, again: bool) -> str:
    """What is left after Ctrl-C, in words."""
    then = "the same command goes on"
    if again:
        then = "without --again the same command makes only what is missing"
    kept = f"what there is so far is kept in {folder}, with a page in {folder / 'report.html'}"
    return f"{kept}, and {then}"


app.command()(cli_matches.match)
app.command()(cli_matches.model)
app.command()(cli_matches.show)
app.add_typer(cli_matches.holdem, name="holdem")
app.command()(cli_responses.respond)
app.command()(cli_responses.frontier)


def main() -> None:
    """Entry point: user errors become one sentence and exit code 2."""
    warnings.showwarning = lambda message, *_, **__: err.print(f"warning: {message}")
    try:
        app()
    except CounterplayError as error:
        err.print(f"error: {error}")
        sys.exit(2)
    except MemoryError:
        err.print("error: not enough memory for this game; take a smaller one")
        sys.exit(2)
    except BrokenPipeError:
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


if __name__ == "__main__":
    main()
