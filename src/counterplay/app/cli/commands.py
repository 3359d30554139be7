"""The command line: `counterplay games | solve | respond | frontier | evaluate | match | model |
show | serve | holdem | acpc | reproduce`, `solve` and `serve` of them here.

Errors of the user end with one sentence and exit code 2; no traceback reaches him.
"""

from __future__ import annotations

import io
import os
import shlex
import sys
import warnings
from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import typer

from counterplay.app.cli import (
    acpc,
    frontier,
    games,
    matches,
    models,
    reproduce,
    responses,
    strategies,
)
from counterplay.app.cli.display import (
    err,
    exploitability_name,
    go_on,
    out,
    print_facts,
    run_progress,
    status,
)
from counterplay.app.cli.options import (
    AsJson,
    Command,
    Commands,
    NewRun,
    Ray,
    Seed,
    iterations,
    read_options,
    refuse_but_limits,
    refuse_given,
    use_ray,
)
from counterplay.app.cli.support import (
    check_can_write,
    check_new_run,
    interruptible,
    new_folder,
    nothing_new,
)
from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.progress import listen
from counterplay.core.base.registry import one_line, package_at_fault
from counterplay.core.base.user_code import is_user_defined, user_code_reason, user_file_at_fault

USUAL = ("runs", "results")  # served where nobody says what, if they are there
SHOWN_INFOSETS = 24  # strategies up to this size are printed
app = typer.Typer(
    cls=Commands,
    help="Equilibria and robust counter-strategies in imperfect-information games.",
    epilog="Start with: counterplay solve kuhn",
    add_completion=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

LESSON = """Equilibria and robust counter-strategies in imperfect-information games.

  an equilibrium, and how good it is     counterplay solve kuhn
  win from a weak player, at small risk  counterplay respond uniform --game kuhn --max-exploitability 0.05
  play bots at limit hold'em             counterplay match uniform always-call
  a model from a player's hands          counterplay model hands.parquet --player NAME
  play, look into it, watch it learn     counterplay serve
  the figures and tables of the paper    counterplay reproduce all

Type this first: counterplay solve kuhn      Every command: counterplay --help"""


@app.callback(invoke_without_command=True)
def _start(
    context: typer.Context,
    version: Annotated[
        bool, typer.Option("--version", help="Print the version and stop.", is_eager=True)
    ] = False,
) -> None:
    if version:
        from counterplay.core.base.version import version as installed

        print(f"counterplay {installed()}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        print(LESSON)


app.command()(games.games)


@app.command(cls=Command)
def solve(
    context: typer.Context,
    game: Annotated[
        str | None,
        typer.Argument(help="Which game, such as kuhn or 'ocp(500)'; see `counterplay games`."),
    ] = None,
    algorithm: Annotated[
        str | None,
        typer.Option(
            "-a",
            "--algorithm",
            help="Full width: {full_width_solvers}. Sampling: {sampling_solvers}. Without it: cfr+ "
            "for two players, mccfr-external where the game is too large for that, mccfr without a "
            "tree, mccfr-public in hold'em with many buckets.",
        ),
    ] = None,
    iterations: Annotated[int | None, iterations("Stop after so many iterations in total.")] = None,
    seconds: Annotated[
        float | None, typer.Option("-s", "--seconds", help="Stop after so many seconds of solving.")
    ] = None,
    target: Annotated[
        float | None, typer.Option("-t", "--target", help="Stop at this exploitability (b1 + b2).")
    ] = None,
    seed: Seed = 0,
    option: Annotated[
        list[str] | None,
        typer.Option(
            "-o", "--option", help="An option of the algorithm, such as epsilon=0.6 or c=2."
        ),
    ] = None,
    folder: NewRun = None,
    resume: Annotated[Path | None, typer.Option(help="Go on with the run in this folder.")] = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Find an equilibrium and say how good it is.

    Without -n, -s or -t it stops at an exploitability of 0.001, or after a minute. Ctrl-C saves
    before it stops.
    """
    from counterplay.core.forms.registry import load
    from counterplay.core.solvers import run as runs
    from counterplay.core.solvers.algorithms import ALGORITHMS, default_solver, find_solver

    limits: dict[str, Any] = {"iterations": iterations, "seconds": seconds, "target": target}
    if resume is not None:
        refuse_but_limits(context, game)
        use_ray(ray)
        folder, own = resume, load(game) if game is not None else None
        with status(f"loading {resume}"), run_progress(limits) as show:
            result = interruptible(
                go_on("solve", folder, game),
                folder,
                lambda: runs.resume(resume, on_chunk=show, game=own, **limits),
            )
        idle = nothing_new(folder, [result])
        if idle is not None and not as_json:
            out.print(idle)
            return
    else:
        if game is None:
            raise BadParameter("which game? For example: counterplay solve kuhn")
        if algorithm is not None:
            algorithm = find_solver(algorithm).name
        if folder is not None:
            check_new_run(folder)
        options = {**use_ray(ray), **read_options(option)}
        with status(f"building {game}"):
            loaded = load(game)
            loaded.form  # noqa: B018  built here, so that what follows is only solving
        chosen = algorithm or default_solver(loaded)
        if not ALGORITHMS[chosen].sampled:
            refuse_given(context, ["seed"], f"{chosen} draws nothing at random")
        if folder is None:
            folder = new_folder(loaded.name, chosen, seed)
            check_new_run(folder)
        where = folder
        with run_progress(limits) as show:
            result = interruptible(
                go_on("solve", where, game),
                where,
                lambda: runs.solve(
                    loaded, chosen, seed=seed, folder=where, on_chunk=show, **limits, **options
                ),
            )
    further, place = go_on("solve", folder, game), folder
    interruptible(further, place, lambda: _report(result, place, further, as_json))


def _report(result: Any, folder: Path, further: str, as_json: bool) -> None:
    from counterplay.core.evaluation.exact import expected_value

    exact = result.game.evaluator.immediate
    values = expected_value(result.game, result.strategy).tolist() if exact else None
    rate = result.iterations / max(result.seconds, 1e-9)
    if as_json:
        facts: dict[str, Any] = {
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
            **(
                {"information_sets_found": len(result.strategy.keys)}
                if result.game.capabilities.discovered
                else {}
            ),
            "folder": str(folder),
        }
        print_facts(facts, as_json)
        return
    out.print(
        f"{result.game.name}, {result.algorithm}: {result.iterations:,} iterations in "
        f"{result.seconds:.2f} s ({rate:,.0f} per second)",
    )
    if values is not None:
        out.print(
            f"{exploitability_name(result.game)} = {result.exploitability:.3g}   "
            f"value to {result.game.seats[0]} = {values[0]:+.6f}"
        )
    else:
        name = ["--game", result.game.name] if is_user_defined(result.game.name) else []
        if result.game.can("bots"):
            out.print(f"play it: counterplay match {shlex.quote(str(folder))} always-call")
        out.print(f"look at it: {shlex.join(['counterplay', 'show', str(folder), *name])}")
    found = (
        len(result.strategy.keys) if result.game.capabilities.discovered else result.game.n_infosets
    )
    if result.game.capabilities.discovered:
        out.print(f"{found:,} information sets were found, without a tree")
    if result.stopped_by == "memory":
        out.print(
            f"stopped because memory is full; all that was learnt is kept. Where there is more, "
            f"{further}"
        )
    if found <= SHOWN_INFOSETS:
        for row in result.strategy.table():
            out.print(f"  {row}")
    out.print(f"saved in {folder}")


@app.command()
def serve(
    places: Annotated[
        list[Path] | None,
        typer.Argument(
            metavar="[RUN|STRATEGY|FOLDER|FILE.PY:NAME]...",
            help="What to look into (default: runs and results, where they are), and bots of your "
            "own to play.",
        ),
    ] = None,
    host: Annotated[
        str,
        typer.Option(help="Address to listen at; any but this machine's own needs a token."),
    ] = "127.0.0.1",
    port: Annotated[
        int | None,
        typer.Option(min=1, max=65535, help="Port (default: 8642, or the next free one)."),
    ] = None,
    keep: Annotated[
        Path, typer.Option("--out", help="Where tables and the hands played at them are kept.")
    ] = Path("tables"),
    browser: Annotated[bool, typer.Option(help="Open the page in a browser.")] = True,
) -> None:
    """Open a page in the browser: play, watch it learn, explore strategies, exploit, follow runs.

    For example: counterplay serve runs
    """
    from counterplay.app.web.serve import ServeOptions
    from counterplay.app.web.serve import serve as start_server

    found = places or [Path(name) for name in USUAL if Path(name).is_dir()]
    for place in found:
        if is_user_defined(str(place)):
            from counterplay.poker.players import bot

            bot(str(place))  # says what is wrong with it
        elif not place.exists():
            raise BadParameter(f"{place}: no such file or folder")
    check_can_write(keep)
    start_server(ServeOptions(tuple(found), keep, host, port, browser))


app.command(cls=Command)(strategies.evaluate)
app.command(cls=Command)(reproduce.reproduce)
app.command(cls=Command)(matches.match)
app.command()(models.model)
app.command(cls=Command)(strategies.show)
app.add_typer(games.holdem, name="holdem")
app.add_typer(acpc.acpc, name="acpc")
app.command(cls=Command)(responses.respond)
app.command(cls=Command)(frontier.frontier)


def main() -> None:
    """Entry point: whatever a user can cause becomes one sentence and exit code 2."""
    warnings.showwarning = lambda message, *_, **__: err.print(f"warning: {message}")
    listen(lambda text: err.print(text))
    for stream in (sys.stdout, sys.stderr):
        if isinstance(
            stream, io.TextIOWrapper
        ):  # a file's name may hold what a terminal cannot show
            stream.reconfigure(errors="backslashreplace")
    sys.exit(_run())


def _run() -> int:
    """The command; its exit code."""
    try:
        try:
            app()
        except SystemExit as stop:
            sys.stdout.flush()
            return stop.code if isinstance(stop.code, int) else 0
        return 0
    except BrokenPipeError:  # whoever read our output has seen enough
        _close_quietly(sys.stdout)
        return 1
    except CounterplayError as error:
        return _complain(str(error))
    except OSError as error:
        where = f"{error.filename}: " if error.filename else ""
        return _complain(f"{where}{error.strerror or error}")
    except MemoryError:
        return _complain("not enough memory for this game; take a smaller one")
    except KeyboardInterrupt:
        return 130
    except Exception as error:
        package, file = package_at_fault(error), user_file_at_fault(error)
        if package is None and file is None:
            raise
        if file is not None:
            return _complain(f"{file} failed: {user_code_reason(error)}")
        return _complain(f"the package {package} failed: {one_line(error)}")


def _complain(sentence: str) -> int:
    """Say what is wrong, if anybody can still hear it."""
    _close_quietly(sys.stdout)
    try:
        err.print(f"error: {sentence}")
        sys.stderr.flush()
    except OSError:
        _close_quietly(sys.stderr)
    return 2


def _close_quietly(stream: Any) -> None:
    """Write what is left; if that fails, keep Python from trying, and complaining, at its end."""
    try:
        stream.flush()
    except OSError:
        with suppress(OSError, ValueError):
            os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


if __name__ == "__main__":
    main()
