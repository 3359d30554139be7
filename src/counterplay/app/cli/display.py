"""What commands say: facts, spinners and progress bars.

Facts are a line each for people, one object with stable keys for machines. A key is the name in
snake_case. Where the name for people changes with the game or holds a remark, `named` gives it a
key of its own; where the text for people is more than the value, `Said` has both.
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
from counterplay.core.base.registry import is_user_defined

out = Console(soft_wrap=True, highlight=False, markup=False)
err = Console(stderr=True, soft_wrap=True, highlight=False, markup=False)
SHOW_AFTER_SECONDS = 1.0  # a progress display appears on anything longer than a moment
#: From small bets, summed over both seats, to thousandths of one, averaged over them.
MILLIBETS = 500.0
IN_MILLIBETS = "in mb/g, averaged over the seats"
MILLIBETS_KEY = "_mbg"  # behind a key


def go_on(command: str, folder: Path, game: str | None = None) -> str:
    """How to go on with what was stopped; a user-defined game is not run because the folder names
    it."""
    words = ["counterplay", command, "--resume", str(folder)]
    if is_user_defined(game):
        words += ["--game", str(game)] if command == "respond" else [str(game)]
    return f"go on with: {shlex.join(words)}"


class Name(str):
    """A name for people with a key for machines."""

    key: str


def named(text: str, key: str) -> Name:
    """`named("exploitability (b1 + b2)", "exploitability")`."""
    name = Name(text)
    name.key = key
    return name


class Said(NamedTuple):
    """A value, and how it is said to people."""

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
    if isinstance(value, Said):
        return value.text
    if isinstance(value, float):
        return f"{value:.6g}"
    return f"{value:,}" if type(value) is int else str(value)


def print_json(data: Any) -> None:
    """One line; numbers that JSON does not know are null."""
    print(json.dumps(plain(data), allow_nan=False))


def plain(value: Any) -> Any:
    """For JSON, which knows no infinity: None instead."""
    if isinstance(value, Said):
        return plain(value.value)
    if isinstance(value, dict):
        return {str(key): plain(part) for key, part in value.items()}
    if isinstance(value, tuple | list):
        return [plain(part) for part in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value


def exploitability_name(game: Any) -> str:
    """What `exploitability` measures in this game, in words."""
    both = game.n_players == 2 and game.zero_sum
    text = "exploitability (b1 + b2)" if both else "sum of gains by deviating"
    return named(text, "exploitability")


def unit_fact(game: Any) -> dict[str, str]:
    """In what payoffs are counted, where the game says more than `per game`."""
    return {"unit": str(game.unit)} if game.unit != type(game.unit)() else {}


def seat_text(game: Any, player: int) -> str:
    """`player 1's seat`, and how the game calls it where it has a name of its own."""
    number = f"player {player + 1}"
    name = game.seats[player]
    return f"{number}'s seat" if name == number else f"{number}'s seat ({name})"


@contextmanager
def status(text: str) -> Iterator[None]:
    """A spinner while something long is made, on a terminal only."""
    if err.is_terminal:
        with err.status(text):
            yield
    else:
        yield


@contextmanager
def bar(columns: tuple[Any, ...]) -> Iterator[Any]:
    from rich.progress import Progress

    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as made:
        yield made


@contextmanager
def run_progress(limits: dict[str, Any]) -> Iterator[Any]:
    """A callback for `solve` that shows rate, time left and exploitability once a run takes
    longer than a moment."""
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
            shares = [0.0]
            if limits["iterations"]:
                shares.append(at.iterations / limits["iterations"])
            if limits["seconds"]:
                shares.append(at.seconds / limits["seconds"])
            rate = at.iterations / max(at.seconds, 1e-9)
            quality = (
                "" if math.isnan(at.exploitability) else f"  exploitability {at.exploitability:.2g}"
            )
            note = f"{at.iterations:,} iterations  {rate:,.0f}/s{quality}"
            shown.update(task[0], completed=min(max(shares), 1.0), note=note)

        yield show


@contextmanager
def share_progress(name: str) -> Iterator[Any]:
    """A callback for experiments: the share done and what is running."""
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
def walk_progress() -> Iterator[ShareCallback]:
    """Shows the share of the flops that are done."""
    with share_progress("walking the boards") as progress:
        yield lambda share: progress(share, f"{share:.0%} of the flops")


@contextmanager
def work_progress(name: str, limits: dict[str, Any], walk: dict[str, Any]) -> Iterator[Any]:
    """One display for work that solves and walks boards in turns: a callback for solvers, and the
    options of the walk, None where nobody asked for it."""
    if not walk:
        with run_progress(limits) as show:
            yield show, None
        return
    with share_progress(name) as progress:

        def solving(at: Any) -> None:
            shares = [
                done / limits[limit]
                for limit, done in (("iterations", at.iterations), ("seconds", at.seconds))
                if limits[limit]
            ]
            progress(min(max(shares, default=0.0), 1.0), f"solving, {at.iterations:,} iterations")

        yield solving, {**walk, "progress": lambda share: progress(share, "walking the boards")}


def measured_fact(name: str, value: float, too: str = "") -> dict[str, float]:
    """A number, with its interval where it was estimated. `too`: `high` or `low`, what a best
    response's choice before the flop makes it."""
    from counterplay.core.evaluation.estimate import FlopEstimate

    key, facts = key_of(name), {name: float(value)}
    if isinstance(value, FlopEstimate):
        facts[named(f"{name}, 95% within", f"{key}_within")] = value.error
        if too:
            remark = f"{name}, of that too {too} by about"
            facts[named(remark, f"{key}_too_{too}_by")] = abs(value.bias)
    return facts


def flops_fact(value: float) -> dict[str, Any]:
    """On how many flops it was measured."""
    return {"flops walked": getattr(value, "flops", "all 1,755")}
