"""What the command line shows: facts, strategies, spinners and progress bars."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from counterplay.cli.facts import err, go_on, named, out, print_facts

SHOW_AFTER_SECONDS = 1.0  # a progress display appears on anything longer than a moment
LINE_EVERY_SECONDS = 20.0  # of progress, where there is no terminal
SHOWN_INFOSETS = 24  # strategies up to this size are printed


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
def _bar(columns: tuple[Any, ...]) -> Iterator[Any]:
    from rich.progress import Progress

    with Progress(*columns, console=err, transient=True, disable=not err.is_terminal) as bar:
        yield bar


@contextmanager
def progress(limits: dict[str, Any]) -> Iterator[Any]:
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
    with _bar(columns) as bar:
        task: list[Any] = []

        def show(progress: Any) -> None:
            if time.monotonic() - started < SHOW_AFTER_SECONDS:
                return
            if not task:
                task.append(bar.add_task("solving", total=1.0, note=""))
            shares = [0.0]
            if limits["iterations"]:
                shares.append(progress.iterations / limits["iterations"])
            if limits["seconds"]:
                shares.append(progress.seconds / limits["seconds"])
            rate = progress.iterations / max(progress.seconds, 1e-9)
            quality = (
                ""
                if math.isnan(progress.exploitability)
                else f"  exploitability {progress.exploitability:.2g}"
            )
            note = f"{progress.iterations:,} iterations  {rate:,.0f}/s{quality}"
            bar.update(task[0], completed=min(max(shares), 1.0), note=note)

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
    with _bar(columns) as bar:
        task = bar.add_task("starting", total=1.0)
        yield lambda share, what: bar.update(task, completed=share, description=what)


@contextmanager
def overall_progress() -> Iterator[Any]:
    """The same for all experiments together, with the time left in the text; lines now and then
    where there is no terminal."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(12),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    room = max(err.width - 30, 20)  # beside the other columns
    with _bar(columns) as bar:
        task = bar.add_task("starting", total=1.0)
        last: dict[str, Any] = {"what": "", "when": -math.inf}

        def show(share: float, what: str) -> None:
            bar.update(
                task,
                completed=share,
                description=what if len(what) <= room else what[: room - 1] + "…",
            )
            part, now = what.split(":")[0].rpartition(", ")[2], time.monotonic()
            if not err.is_terminal and (
                part != last["what"] or now - last["when"] > LINE_EVERY_SECONDS
            ):
                err.print(f"{share:4.0%}  {what}")
                last.update(what=part, when=now)

        yield show


def print_outcome(outcome: Any) -> None:
    out.print(
        f"{outcome.title}: {outcome.verdict} ({outcome.scale} scale, {outcome.seconds:.1f} s)"
    )
    for claim in outcome.claims:
        out.print(
            f"  {claim.verdict.upper() if claim.holds is False else claim.verdict:<9}  {claim.text}"
        )
        out.print(f"             {claim.measured}")
        if claim.before is not None:
            rule = f"by the rule used before ({claim.before.rule})"
            said = f"; {claim.before.measured}" if claim.before.measured else ""
            out.print(f"             {rule}: {claim.before.verdict}{said}")
        for other in claim.also:
            out.print(f"             {other.rule}: {other.verdict}")


def print_campaign(campaign: Any) -> None:
    for outcome in campaign.outcomes:
        before = "; was there already" if outcome.name in campaign.skipped else ""
        claims = outcome.counts or "no claims"
        out.print(f"{outcome.verdict:<15} {outcome.title} (claims: {claims}{before})")
    for failure in campaign.failures:
        out.print(f"{'FAILED':<15} {failure.title}: {failure.message} ({failure.where})")
    out.print(f"{campaign.seconds:.0f} s. Open {campaign.report} in a browser.")


def report_run(result: Any, folder: Path, as_json: bool) -> None:
    from counterplay.evaluation.exact import expected_value

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
                if result.game.abilities.keyed
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
        if result.game.can("bots"):
            out.print(f"play it: counterplay match {folder} always-call")
        out.print(f"look at it: counterplay show {folder}")
    found = len(result.strategy.keys) if result.game.abilities.keyed else result.game.n_infosets
    if result.game.abilities.keyed:
        out.print(f"{found:,} information sets were found, without a tree")
    if result.stopped_by == "memory":
        out.print(
            f"stopped because memory is full; all that was learnt is kept. Where there is more, "
            f"{go_on('solve', folder)}"
        )
    if found <= SHOWN_INFOSETS:
        for row in result.strategy.table():
            out.print(f"  {row}")
    out.print(f"saved in {folder}")
