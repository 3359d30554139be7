"""Output of commands: facts, spinners and progress bars, and their run folders.

Facts are printed a line each, or with --json as one object with stable keys. A key is the name of
the fact in snake_case. Where the name depends on the game or contains a remark, `named` gives it a
key; where the printed text is more than the value, `Worded` has both.
"""

from __future__ import annotations

import json
import math
import os
import re
import shlex
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import typer
from rich.console import Console

from counterplay.core.base.errors import BadParameter, Interrupted
from counterplay.core.base.registry import runs_user_code

out = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False, emoji=False)
SHOW_AFTER_SECONDS = 1.0  # a progress display appears on anything longer than a moment
#: From small bets, summed over both seats, to thousandths of one, averaged over them.
MILLIBETS = 500.0
LONGEST_NAME = 60  # characters of a game in the name of a folder
IN_MILLIBETS = "in mb/g, averaged over the seats"
MILLIBETS_KEY = "_mbg"  # behind a key
SMALL_BETS = "sb/h"  # the unit whose thousandths are mb/g
TRAVERSING = "traversing the boards"


def suggested(*words: str, game: str | None = None) -> str:
    """A command to type next. A game of the user's code is named again, since no file may run
    code."""
    named = ["--game", str(game)] if runs_user_code(game) else []
    return shlex.join(["counterplay", *words, *named])


def resume_hint(command: str, folder: Path, game: str | None = None) -> str:
    """The command that continues a stopped run."""
    words = [command, "--resume", str(folder)]
    if command == "solve" and game is not None and runs_user_code(game):
        return f"continue with: {suggested(*words, game)}"
    return f"continue with: {suggested(*words, game=game)}"


class Name(str):
    """The printed name of a fact, with its JSON key."""

    key: str


def named(text: str, key: str) -> Name:
    name = Name(text)
    name.key = key
    return name


class Worded(NamedTuple):
    """A value and the text that is printed for it."""

    text: str
    value: Any


def key_of(name: str) -> str:
    """The key of a fact: its own, or its name in snake_case."""
    if isinstance(name, Name):
        return name.key
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_")


def print_facts(facts: dict[str, Any], as_json: bool) -> None:
    if as_json:
        plain = {n: v.value if isinstance(v, Worded) else v for n, v in facts.items()}
        print_json({key_of(name): value for name, value in plain.items()})
        return
    width = max(len(name) for name in facts)
    for name, value in facts.items():
        out.print(f"{name:<{width}}  {_text(value)}")


def _text(value: Any) -> str:
    if isinstance(value, Worded):
        return value.text
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if type(value) is int else str(value)


def print_json(data: Any) -> None:
    """Prints one line of JSON; numbers that are not finite are null."""
    from counterplay.core.base.display import finite

    print(json.dumps(finite(data), allow_nan=False))


def exploitability_name(game: Any) -> str:
    """What `exploitability` measures in this game."""
    both = game.n_players == 2 and game.zero_sum
    text = "exploitability (b1 + b2)" if both else "sum of gains by deviating"
    return named(text, "exploitability")


def unit_fact(game: Any) -> dict[str, str]:
    """The unit of payoffs, where the game has one of its own."""
    return {"unit": str(game.unit)} if game.unit != type(game.unit)() else {}


def seat_text(game: Any, player: int) -> str:
    """`player 1's seat`, with the game's name for it where it has one."""
    number = f"player {player + 1}"
    name = game.seats[player]
    return f"{number}'s seat" if name == number else f"{number}'s seat ({name})"


@contextmanager
def status(text: str) -> Iterator[None]:
    """A spinner, on a terminal only."""
    if err.is_terminal:
        with err.status(text):
            yield
    else:
        yield


@contextmanager
def share_progress(name: str, after: float = 0.0) -> Iterator[Any]:
    """A callback that shows the share done and what is running, on a terminal, `after` seconds.
    The library is imported when there is something to show."""
    start = time.monotonic() + after
    with ExitStack() as stack:
        shown: list[Any] = []  # the bar and its task

        def show(share: float, what: str) -> None:
            if not err.is_terminal or time.monotonic() < start:
                return
            if not shown:
                from rich import progress as rich

                bar = rich.Progress(
                    rich.TextColumn(name),
                    rich.BarColumn(),
                    rich.TimeElapsedColumn(),
                    rich.TimeRemainingColumn(),
                    rich.TextColumn("{task.description}", markup=False),
                    console=err,
                    transient=True,
                )
                shown.extend((stack.enter_context(bar), bar.add_task(what, total=1.0)))
            shown[0].update(shown[1], completed=share, description=what)

        show(0.0, "starting")
        yield show


@contextmanager
def solver_progress(
    limits: dict[str, Any], measure: dict[str, Any] | None = None
) -> Iterator[tuple[Any, dict[str, Any] | None]]:
    """A callback for a solver that shows iterations, rate and exploitability, and the options of
    the evaluation that follows with a callback of its own; None where nothing is to be measured."""
    with share_progress("solving", 0.0 if measure else SHOW_AFTER_SECONDS) as progress:

        def show(at: Any) -> None:
            rate = at.iterations / max(at.seconds, 1e-9)
            note = f"{at.iterations:,} iterations  {rate:,.0f}/s"
            if not math.isnan(at.exploitability):
                note += f"  exploitability {at.exploitability:.2g}"
            done = {"iterations": at.iterations, "seconds": at.seconds}
            shares = [done[key] / limits[key] for key in done if limits[key]]
            progress(min(max(shares, default=0.0), 1.0), note)

        traversing = {"progress": lambda share: progress(share, TRAVERSING)}
        yield show, {**measure, **traversing} if measure else None


def measured_fact(name: str, value: float, too: str = "") -> dict[str, float]:
    """A number, with its interval where it was estimated. `too`: `high` or `low`, the direction of
    the bias of a best response chosen on the same flops."""
    from counterplay.core.evaluation.estimate import FlopEstimate

    key, facts = key_of(name), {name: float(value)}
    if isinstance(value, FlopEstimate):
        facts[named(f"{name}, 95% within", f"{key}_within")] = value.error
        if too:
            wrong = {"high": "overestimated", "low": "underestimated"}[too]
            remark = f"{name}, {wrong} by about"
            facts[named(remark, f"{key}_too_{too}_by")] = abs(value.bias)
    return facts


def flops_fact(value: float) -> dict[str, Any]:
    """The number of flops of a measurement."""
    return {"flops traversed": getattr(value, "flops", "all 1,755")}


def check_can_write(folder: Path, *names: str) -> None:
    """Refuses a folder, or files in it, that cannot be written; leaves no trace."""
    place = folder
    try:
        while not _is_there(place):
            place = place.parent
        if not place.is_dir():
            raise BadParameter(f"cannot write {folder}: {place} is not a folder")
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise BadParameter(f"cannot write {folder}: {error.strerror or error}") from None
    for name in names:
        if (folder / name).is_dir():
            raise BadParameter(f"cannot write {folder / name}: it is a folder")


def _is_there(path: Path) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def check_new_run(folder: Path) -> None:
    """Refuses the folder of a new run if it cannot be created or holds another run."""
    from counterplay.core.solvers.folder import check_free

    check_can_write(folder)
    check_free(folder)


def new_folder(game: str, algorithm: str, seed: int) -> Path:
    """runs/<game>-<algorithm>-seed<n>, with a number behind it where that exists."""
    clean = "".join(c if c.isalnum() or c in "+=." else "-" for c in game)[:LONGEST_NAME].strip("-")
    base = f"{clean}-{algorithm}-seed{seed}"
    folder, k = Path("runs") / base, 1
    while folder.exists():
        k += 1
        folder = Path("runs") / f"{base}-{k}"
    return folder


def run_in_folder(
    work: Callable[..., Any],
    folder: Path,
    hint: str,
    report: Callable[[Any], None],
    limits: dict[str, Any],
    measure: dict[str, Any] | None = None,
    resumed: bool = False,
) -> None:
    """Runs a solver that saves its run in a folder, and reports the result. Ctrl-C prints `hint`,
    how to continue (`resume_hint`). Of a resumed run that did no iteration only that is said."""
    from counterplay.core.solvers.folder import has_checkpoint, possible_folders

    try:
        with solver_progress(limits, measure) as (show, measured):
            more = {"measure": measured} if measured else {}
            result = work(on_chunk=show, **limits, **more)
        idle = nothing_new(folder, getattr(result, "runs", [result])) if resumed else None
        if idle is None:
            report(result)
        else:
            out.print(idle)
    except KeyboardInterrupt:
        if any(has_checkpoint(place) for place in possible_folders(folder)):
            err.print(f"stopped; saved in {folder}; {hint}")
        else:
            err.print("stopped before the first iteration; nothing was saved.")
        raise typer.Exit(130) from None


def until_stopped(work: Callable[[], Any]) -> tuple[Any, bool]:
    """The result of `work`, and whether it is only that of what was done before Ctrl-C; a plain
    KeyboardInterrupt where there is none."""
    try:
        return work(), False
    except Interrupted as stop:
        if stop.result is None:
            raise KeyboardInterrupt from None
        return stop.result, True


def nothing_new(folder: Path, runs: Iterable[Any]) -> str | None:
    """The message of a resumed run whose limits were met before; None if it did any iteration."""
    runs = list(runs)
    if any(run.iterations > run.started_at for run in runs):
        return None
    iterations, seconds = max(run.iterations for run in runs), max(run.seconds for run in runs)
    if all(run.stopped_by == "solved" for run in runs):
        return f"nothing to do: the run in {folder} is solved, and more iterations change nothing."
    done = f"{iterations:,} iterations and {seconds:.3g} s already"
    return (
        f"nothing to do: the run in {folder} is at {done}; "
        f"give a limit beyond that, such as -n {2 * iterations}."
    )
