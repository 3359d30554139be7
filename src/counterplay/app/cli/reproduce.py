"""The command `reproduce`: the figures and tables of the paper."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from counterplay.app.cli.display import bar, err, key_of, out, print_json, share_progress
from counterplay.app.cli.options import AsJson, Ray, refuse_others, use_ray
from counterplay.core.base.errors import Interrupted

if TYPE_CHECKING:
    from counterplay.app.reproduction.harness.base import Outcome

LINE_EVERY_SECONDS = 20.0  # of progress, where there is no terminal


def reproduce(
    name: Annotated[
        str | None, typer.Argument(help="Which figure or table, or all; without it, a list.")
    ] = None,
    scale: Annotated[str, typer.Option(help="quick, or paper for the full size.")] = "quick",
    folder: Annotated[
        Path, typer.Option("--out", help="Where pictures, CSVs, verdicts and report.html go.")
    ] = Path("results"),
    again: Annotated[
        bool, typer.Option("--again", help="Make everything anew, also what has been done before.")
    ] = False,
    seconds: Annotated[
        float | None,
        typer.Option("--seconds", help="Stop after so long; the same command goes on."),
    ] = None,
    processes: Annotated[
        int | None, typer.Option(help="How many processors to use; by default all.")
    ] = None,
    ray: Ray = None,
    as_json: AsJson = False,
    *,
    context: typer.Context,
) -> None:
    """Run an experiment of the paper, or all, and say which claims hold. `all` skips what is done.

    Stop it whenever you like: the same command goes on.
    """
    from counterplay.app.reproduction.harness.reproduce import (
        ReproductionResults,
        experiments,
        reproduce_all,
    )
    from counterplay.app.reproduction.harness.reproduce import reproduce as run_experiment

    if name is None:
        refuse_others(context, ["as_json"], "without a name it only lists what there is")
        if as_json:
            listed = experiments().values()
            print_json([{"name": one.name, "title": one.title} for one in listed])
            return
        for experiment in experiments().values():
            out.print(f"{experiment.name:<12} {experiment.title}")
        out.print(f"{'all':<12} everything above that has not been done yet")
        return
    use_ray(ray)
    if name == "all":
        stopped = False
        try:
            with _overall_progress() as progress:
                campaign = reproduce_all(scale, folder, progress, again, seconds, processes)
        except Interrupted as stop:
            campaign, stopped = cast(ReproductionResults, stop.result), True
        except KeyboardInterrupt:
            err.print("stopped before anything was begun; the same command starts again.")
            raise typer.Exit(130) from None
        if as_json:
            outcomes = [for_machines(outcome) for outcome in campaign.outcomes]
            found = {**asdict(campaign), "outcomes": outcomes, "report": str(campaign.report)}
            print_json({**found, "stopped": stopped})
        else:
            _print_campaign(campaign)
        if stopped:
            of = f"{len(campaign.outcomes)} of {len(experiments())} are finished"
            err.print(f"stopped: {of}; {_go_on(folder, again)}.")
            raise typer.Exit(130)
        if campaign.failures:
            raise typer.Exit(1)
    else:
        try:
            with share_progress(name) as progress:
                outcome = run_experiment(name, scale, folder, progress, again, seconds, processes)
        except KeyboardInterrupt:
            err.print(f"stopped: {name} is not finished; {_go_on(folder, again)}.")
            raise typer.Exit(130) from None
        if as_json:
            print_json(for_machines(outcome))
        else:
            _print_outcome(outcome)
            out.print(
                "Files: "
                + ", ".join(str(folder / file) for file in [*outcome.files, "report.html"])
            )


def for_machines(outcome: Outcome) -> dict[str, Any]:
    """An outcome as its file has it, the names of settings as keys."""
    data = outcome.as_data()
    return {**data, "setting": {key_of(name): value for name, value in data["setting"].items()}}


def _go_on(folder: Path, again: bool) -> str:
    """What is left after Ctrl-C, in words."""
    then = "the same command goes on"
    if again:
        then = "without --again the same command makes only what is missing"
    kept = f"what there is so far is kept in {folder}, with a page in {folder / 'report.html'}"
    return f"{kept}, and {then}"


@contextmanager
def _overall_progress() -> Iterator[Any]:
    """A callback for all experiments together, with the time left in the text; lines now and then
    where there is no terminal."""
    from rich.progress import BarColumn, TaskProgressColumn, TextColumn, TimeElapsedColumn

    columns = (
        BarColumn(12),
        TaskProgressColumn(),
        TimeElapsedColumn(),
        TextColumn("{task.description}", markup=False),
    )
    room = max(err.width - 30, 20)  # beside the other columns
    with bar(columns) as shown:
        task = shown.add_task("starting", total=1.0)
        last: dict[str, Any] = {"what": "", "when": -math.inf}

        def show(share: float, what: str) -> None:
            shown.update(
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


def _print_outcome(outcome: Any) -> None:
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


def _print_campaign(campaign: Any) -> None:
    for outcome in campaign.outcomes:
        before = "; was there already" if outcome.name in campaign.skipped else ""
        claims = outcome.counts or "no claims"
        out.print(f"{outcome.verdict:<15} {outcome.title} (claims: {claims}{before})")
    for failure in campaign.failures:
        out.print(f"{'FAILED':<15} {failure.title}: {failure.message} ({failure.where})")
    out.print(f"{campaign.seconds:.0f} s. Open {campaign.report} in a browser.")
