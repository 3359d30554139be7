"""The command line: all commands, of which `games`, `solve` and `serve` are here, and the entry
point.

A user's errors end with one sentence and exit code 2, without a traceback.
"""

from __future__ import annotations

import atexit
import gc
import io
import math
import os
import sys
import warnings
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from counterplay.app.cli import (
    acpc,
    display,
    exam,
    frontier,
    matches,
    models,
    reproduce,
    responses,
    spots,
    strategies,
)
from counterplay.app.cli import options as opt
from counterplay.app.cli.display import err, out, print_facts
from counterplay.core.base import registry
from counterplay.core.base.errors import BadParameter, CounterplayError, one_line
from counterplay.core.base.progress import listen

SERVED_FOLDERS = ("runs", "results")  # the default of `serve`
MOST_PRINTED = 24  # information sets of a strategy that is printed
app = typer.Typer(
    cls=opt.Commands,
    help="Equilibria and robust counter-strategies in imperfect-information games.",
    epilog="Start with: counterplay solve kuhn",
    add_completion=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

INTRODUCTION = """Equilibria and robust counter-strategies in imperfect-information games.

  an equilibrium and its exploitability  counterplay solve kuhn
  win from a weak player, at small risk  counterplay respond uniform --game kuhn --max-exploitability 0.05
  play bots at limit hold'em             counterplay match uniform always-call
  how good is my player                  counterplay exam my_bots.py:MyBot
  a model from a player's hands          counterplay model hands.parquet --player NAME
  a position of hold'em, any bet sizes   counterplay spot "Qs Jh 2c 5d 8s" --pot 20 --stacks 90
  play and explore in the browser        counterplay serve
  the figures and tables of the paper    counterplay reproduce all

Start with: counterplay solve kuhn      Every command: counterplay --help"""


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[
        bool, Option("--version", help="Print the version and exit.", is_eager=True)
    ] = False,
) -> None:
    if version:
        from counterplay.core.base.version import version as installed

        print(f"counterplay {installed()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(INTRODUCTION)


OTHER_GAMES = [
    (
        "open_spiel",
        "open_spiel:hex(board_size=2)",
        "any sequential or simultaneous game of OpenSpiel (extra [openspiel])",
    ),
    ("a file", "game.efg, game.nfg", "a game of Gambit"),
    ("user-defined", "my_game.py:MyGame", "a class with six methods, in a file of yours"),
]


def _sizes(game: Any) -> dict[str, Any]:
    if game.discovers_infosets:
        exact = game.form.shape.known == 1
        return {
            "tree": "none: information sets are discovered while sampling",
            "keys of information sets": "exact" if exact else "a hash of 128 bits",
            "most decisions of a history": game.depth,
            "most actions": game.max_actions,
        }
    return {
        "histories": game.n_nodes,
        "information sets": game.n_infosets,
        "action slots": game.n_slots,
        "longest history": game.depth,
        "perfect recall": game.perfect_recall,
    }


@app.command()
def games(
    game: Annotated[
        str | None, Argument(help="A game to describe, such as 'bluff(1,1,6)'.")
    ] = None,
    as_json: opt.AsJson = False,
) -> None:
    """List the games, or describe one. Prints its numbers of histories and information sets."""
    from counterplay.core.forms.registry import GAMES, load

    if game is not None:
        with display.status(f"building {game}"):
            loaded = load(game)
            facts = {"game": loaded.name, "players": loaded.n_players, **_sizes(loaded)}
        print_facts(facts | {"zero-sum": loaded.zero_sum}, as_json)
        return
    rows = [(spec.name, ", ".join(spec.examples), spec.summary) for spec in GAMES.values()]
    rows += OTHER_GAMES
    if as_json:
        names = ("name", "examples", "summary")
        display.print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    from rich.table import Table

    table = Table("game", "write it like", "what it is", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    out.print(table)
    out.print("\nDescribe one with: counterplay games 'bluff(1,1,6)'")


@app.command(cls=opt.Command)
def solve(
    context: typer.Context,
    game: Annotated[
        str | None, Argument(help="The game, such as kuhn or 'ocp(500)'; see `counterplay games`.")
    ] = None,
    algorithm: Annotated[
        str | None,
        Option(
            "-a",
            "--algorithm",
            help="Full width: {full_width_solvers}. Sampling: {sampling_solvers}. Default: cfr+ "
            "for two players, mccfr-external where the game is too large for that, mccfr without a "
            "tree, mccfr-public in hold'em with many buckets.",
        ),
    ] = None,
    iterations: opt.Iterations = None,
    seconds: opt.Seconds = None,
    target: Annotated[
        float | None, Option("-t", "--target", help="Stop at this exploitability (b1 + b2).")
    ] = None,
    seed: opt.Seed = 0,
    option: opt.SolverOptions = None,
    folder: opt.NewRun = None,
    resume: opt.Resume = None,
    ray: opt.Ray = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compute an equilibrium of a game and its exploitability.

    Without -n, -s or -t it stops at an exploitability of 0.01% of the payoff range, or after a
    minute. Ctrl-C saves the run before it stops.
    """
    from counterplay.core.forms.registry import load
    from counterplay.core.solvers import run as runs
    from counterplay.core.solvers.algorithms import ALGORITHMS, default_solver, find_solver

    limits: dict[str, Any] = {"iterations": iterations, "seconds": seconds, "target": target}
    if resume is not None:
        opt.refuse_but_limits(context, game)
        opt.use_ray(ray)
        folder, user_game = resume, load(game) if game is not None else None
        work = partial(runs.resume, resume, game=user_game)
    else:
        if game is None:
            raise BadParameter("which game? For example: counterplay solve kuhn")
        if algorithm is not None:
            algorithm = find_solver(algorithm).name
        if folder is not None:
            display.check_new_run(folder)
        options = {**opt.use_ray(ray), **opt.read_options(option)}
        with display.status(f"building {game}"):
            loaded = load(game)
            loaded.form  # noqa: B018  built here, so that the rest is only solving
        chosen = algorithm or default_solver(loaded)
        if not ALGORITHMS[chosen].draws(loaded):
            opt.refuse_given(context, ["seed"], f"{chosen} draws nothing at random")
        if folder is None:
            folder = display.new_folder(loaded.name, chosen, seed)
            display.check_new_run(folder)
        work = partial(runs.solve, loaded, chosen, seed=seed, folder=folder, **options)
    hint = display.resume_hint("solve", folder, game)
    report = partial(_report, folder=folder, hint=hint, as_json=as_json)
    resumed = resume is not None and not as_json
    display.run_in_folder(work, folder, hint, report, limits, resumed=resumed)


def _report(result: Any, folder: Path, hint: str, as_json: bool) -> None:
    from counterplay.core.evaluation.exact import expected_value
    from counterplay.core.solvers.limits import payoff_range

    exact = result.game.evaluator.immediate
    values = expected_value(result.game, result.strategy).tolist() if exact else None
    rate = result.iterations / max(result.seconds, 1e-9)
    discovered = result.game.discovers_infosets
    n_infosets = len(result.strategy.keys) if discovered else result.game.n_infosets
    if as_json:
        facts = {
            "game": result.game.name,
            "algorithm": result.algorithm,
            "options": result.parameters,
            "seed": result.seed,
            "iterations": result.iterations,
            "new_iterations": result.iterations - result.started_at,
            "seconds": result.seconds,
            "iterations_per_second": rate,
            "exploitability": result.exploitability,
            "values": values,
            "stopped_by": result.stopped_by,
            "target": result.target,
            "visits": result.visits,
            "too_few_iterations": result.too_few is not None,
            **({"information_sets_found": n_infosets} if discovered else {}),
            "folder": str(folder),
        }
        display.print_json(facts)
        return
    out.print(
        f"{result.game.name}, {result.algorithm}: {result.iterations:,} iterations in "
        f"{result.seconds:.2f} s ({rate:,.0f} per second)"
    )
    if result.too_few is not None:
        out.print(result.too_few)
    if values is not None:
        name, found = display.exploitability_name(result.game), result.exploitability
        measured = f"{name} = {found:.3g}   " if not math.isnan(found) else ""
        out.print(f"{measured}value to {result.game.seats[0]} = {values[0]:+.6f}")
    else:
        suggested = partial(display.suggested, game=result.game.name)
        if result.game.can("bots"):
            out.print(f"play it: {suggested('match', str(folder), 'always-call')}")
        out.print(f"look at it: {suggested('show', str(folder))}")
    if discovered:
        out.print(f"{n_infosets:,} information sets were discovered, without a tree")
    if result.stopped_by == "memory":
        out.print(
            f"stopped because memory is full; the run is saved. On a machine with more, {hint}"
        )
    if n_infosets <= MOST_PRINTED:
        for row in result.strategy.table():
            out.print(f"  {row}")
    if result.stopped_by == "target":
        share = result.target / payoff_range(result.game)
        out.print(f"stopped at {result.target:.3g}, {share:.2g} of the payoff range")
    out.print(f"saved in {folder}")


@app.command()
def serve(
    places: Annotated[
        list[Path] | None,
        Argument(
            metavar="[RUN|STRATEGY|FOLDER|FILE.PY:NAME]...",
            help="Files and folders to show (default: runs and results), and user-defined bots.",
        ),
    ] = None,
    host: Annotated[
        str, Option(help="Address to listen at; other machines need the printed token.")
    ] = "127.0.0.1",
    port: Annotated[
        int | None, Option(min=1, max=65535, help="Port (default: 8642, or the next free one).")
    ] = None,
    keep: Annotated[
        Path, Option("--out", help="Folder of the tables and the hands played at them.")
    ] = Path("tables"),
    browser: Annotated[bool, Option(help="Open the page in a browser.")] = True,
) -> None:
    """Serve the pages for the browser. Play, watch a learner, explore, exploit, follow runs.

    For example: counterplay serve runs
    """
    from counterplay.app.web.serve import serve as start_server

    sources = places or [Path(name) for name in SERVED_FOLDERS if Path(name).is_dir()]
    for place in sources:
        if registry.is_user_defined(str(place)):
            from counterplay.poker.players import bot

            bot(str(place))  # raises if it cannot be loaded
        elif not place.exists():
            raise BadParameter(f"{place}: no such file or folder")
    display.check_can_write(keep)
    start_server(list(sources), keep, host, port, browser)


app.command(cls=opt.Command)(strategies.evaluate)
app.command(cls=opt.Command)(reproduce.reproduce)
app.command(cls=opt.Command)(matches.match)
app.command(cls=opt.Command)(exam.exam)
app.command()(models.model)
app.command(cls=opt.Command)(strategies.show)
app.command(cls=opt.Command)(spots.spot)
app.add_typer(models.holdem, name="holdem")
app.add_typer(acpc.acpc, name="acpc")
app.command(cls=opt.Command)(responses.respond)
app.command(cls=opt.Command)(frontier.frontier)


def main() -> None:
    """Entry point: any error that a user can cause becomes one sentence and exit code 2."""
    gc.set_threshold(200_000)  # imports create nearly as many objects, and they stay
    atexit.register(gc.disable)  # no last search for cycles among them
    warnings.showwarning = lambda message, *_, **__: err.print(f"warning: {message}")
    listen(lambda text: err.print(text))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # file names may hold unprintable characters
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_run())


def _run() -> int:
    """Runs the command; returns its exit code."""
    try:
        try:
            app()
        except SystemExit as stop:
            sys.stdout.flush()
            return stop.code if isinstance(stop.code, int) else 0
        return 0
    except BrokenPipeError:  # the reader of the output closed it
        _close_quietly(sys.stdout)
        return 1
    except CounterplayError as error:
        return _print_error(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _print_error(f"{where}{error.strerror or error}")
    except MemoryError:
        return _print_error("not enough memory for this game; take a smaller one")
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        package, file = registry.package_at_fault(error), registry.user_file_at_fault(error)
        if file is not None:
            return _print_error(f"{file} failed: {registry.user_code_reason(error)}")
        if package is not None:
            return _print_error(f"the package {package} failed: {one_line(error)}")
        raise


def _print_error(sentence: str) -> int:
    """Prints the error if stderr is still open; returns the exit code."""
    _close_quietly(sys.stdout)
    try:
        err.print(f"error: {sentence}")
        sys.stderr.flush()
    except OSError:
        _close_quietly(sys.stderr)
    return 2


def _close_quietly(stream: Any) -> None:
    """Flushes a stream; if that fails, keeps Python from reporting it again at exit."""
    try:
        stream.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
