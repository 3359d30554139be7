"""Output of commands: facts, spinners and progress bars.

Facts are printed a line each, or with --json as one object with stable keys. A key is the name of
the fact in snake_case. Where the name depends on the game or contains a remark, `named` gives it a
key; where the printed text is more than the value, `Worded` has both.
"""

from __future__ import annotations

import json
import math
import re
import shlex
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

from rich.console import Console

from counterplay.core.base.progress import ShareCallback
from counterplay.core.base.registry import runs_user_code

out = Console(soft_wrap=True, highlight=False, markup=False)
err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
SHOW_AFTER_SECONDS = 1.0  # a progress display appears on anything longer than a moment
#: From small bets, summed over both seats, to thousandths of one, averaged over them.
MILLIBETS = 500.0
IN_MILLIBETS = "in mb/g, averaged over the seats"
MILLIBETS_KEY = "_mbg"  # behind a key


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
        print_json({key_of(name): value for name, value in facts.items()})
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
    print(json.dumps(_json_value(data), allow_nan=False))


def _json_value(value: Any) -> Any:
    if isinstance(value, Worded):
        return _json_value(value.value)
    if isinstance(value, dict):
        return {str(key): _json_value(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [_json_value(part) for part in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


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
def bar(columns: tuple[Any, ...]) -> Iterator[Any]:
    from rich.progress import Progress

    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as progress:
        yield progress


@contextmanager
def run_progress(limits: dict[str, Any]) -> Iterator[Any]:
    """A callback for `solve` that shows iterations, rate, time left and exploitability of runs that
    take longer than a moment."""
    from rich.progress import BarColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[note]}"),
    )
    started = time.monotonic()
    with bar(columns) as shown:
        task: list[Any] = []

        def show(at: Any) -> None:
            if time.monotonic() - started < SHOW_AFTER_SECONDS:
                return
            if not task:
                task.append(shown.add_task("solving", total=1.0, note=""))
            rate = at.iterations / max(at.seconds, 1e-9)
            quality = (
                "" if math.isnan(at.exploitability) else f"  exploitability {at.exploitability:.2g}"
            )
            note = f"{at.iterations:,} iterations  {rate:,.0f}/s{quality}"
            shown.update(task[0], completed=_share_done(at, limits), note=note)

        yield show


def _share_done(at: Any, limits: dict[str, Any]) -> float:
    """The share of the iterations or of the seconds that is done, whichever is larger."""
    done = {"iterations": at.iterations, "seconds": at.seconds}
    return min(max((done[key] / limits[key] for key in done if limits[key]), default=0.0), 1.0)


@contextmanager
def share_progress(name: str) -> Iterator[Any]:
    """A callback that shows the share done and what is running."""
    from rich.progress import BarColumn, TextColumn, TimeElapsedColumn, TimeRemainingColumn

    columns = (
        TextColumn(name),
        BarColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.description}"),
    )
    with bar(columns) as shown:
        task = shown.add_task("starting", total=1.0)
        yield lambda share, what: shown.update(task, completed=share, description=what)


@contextmanager
def flops_progress() -> Iterator[ShareCallback]:
    """A callback that shows the share of the flops that are done."""
    with share_progress("traversing the boards") as progress:
        yield lambda share: progress(share, f"{share:.0%} of the flops")


@contextmanager
def respond_progress(limits: dict[str, Any], measure: dict[str, Any]) -> Iterator[Any]:
    """A callback for the solver, and the options of the evaluation with a callback of its own; None
    where nothing is to be measured."""
    if not measure:
        with run_progress(limits) as show:
            yield show, None
        return
    with share_progress("respond") as progress:

        def solving(at: Any) -> None:
            progress(_share_done(at, limits), f"solving, {at.iterations:,} iterations")

        def measuring(share: float) -> None:
            progress(share, "traversing the boards")

        yield solving, {**measure, "progress": measuring}


def measured_fact(name: str, value: float, too: str = "") -> dict[str, float]:
    """A number, with its interval where it was estimated. `too`: `high` or `low`, the direction of
    the bias of a best response chosen on the same flops."""
    from counterplay.core.evaluation.estimate import FlopEstimate

    key, facts = key_of(name), {name: float(value)}
    if isinstance(value, FlopEstimate):
        facts[named(f"{name}, 95% within", f"{key}_within")] = value.error
        if too:
            remark = f"{name}, of that too {too} by about"
            facts[named(remark, f"{key}_too_{too}_by")] = abs(value.bias)
    return facts


def flops_fact(value: float) -> dict[str, Any]:
    """The number of flops of a measurement."""
    return {"flops walked": getattr(value, "flops", "all 1,755")}
