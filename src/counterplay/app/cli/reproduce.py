"""The command `reproduce`: the figures and tables of the paper."""

from __future__ import annotations

import math
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer import Argument, Option

from counterplay.app.cli.display import err, key_of, out, print_json, share_progress, until_stopped
from counterplay.app.cli.options import AsJson, Ray, refuse_others, use_ray

if TYPE_CHECKING:
    from counterplay.app.reproduction.harness.base import Outcome

LINE_EVERY_SECONDS = 20.0  # of progress, without a terminal


def reproduce(
    name: Annotated[
        str | None, Argument(help="A figure or table, or all; without it, a list.")
    ] = None,
    scale: Annotated[str, Option(help="quick, or paper for the full size.")] = "quick",
    folder: Annotated[
        Path, Option("--out", help="Folder for pictures, CSVs, verdicts and report.html.")
    ] = Path("results"),
    again: Annotated[bool, Option("--again", help="Repeat what has been done before.")] = False,
    seconds: Annotated[
        float | None,
        Option("--seconds", help="Stop after so many seconds; the same command continues."),
    ] = None,
    processes: Annotated[
        int | None, Option(help="Number of processes (default: one per processor).")
    ] = None,
    ray: Ray = None,
    as_json: AsJson = False,
    *,
    context: typer.Context,
) -> None:
    """Run an experiment of the paper, or all, and check its claims. `all` skips what is done.

    It can be stopped at any time: the same command continues.
    """
    from counterplay.app.reproduction.harness.reproduce import experiments, reproduce_all
    from counterplay.app.reproduction.harness.reproduce import reproduce as run_experiment

    if name is None:
        refuse_others(context, ["as_json"], "without a name it only lists the experiments")
        if as_json:
            print_json([{"name": x.name, "title": x.title} for x in experiments().values()])
            return
        for experiment in experiments().values():
            out.print(f"{experiment.name:<12} {experiment.title}")
        out.print(f"{'all':<12} all of these that have not been done yet")
        return
    use_ray(ray)
    if name == "all":
        try:
            with _overall_progress() as progress:
                work = partial(reproduce_all, scale, folder, progress, again, seconds, processes)
                campaign, stopped = until_stopped(work)
        except KeyboardInterrupt:
            err.print("stopped before the first experiment; the same command starts again.")
            raise typer.Exit(130) from None
        if as_json:
            outcomes = [outcome_facts(outcome) for outcome in campaign.outcomes]
            facts = {**asdict(campaign), "outcomes": outcomes, "report": str(campaign.report)}
            print_json({**facts, "stopped": stopped})
        else:
            _print_campaign(campaign)
        if stopped:
            done = f"{len(campaign.outcomes)} of {len(experiments())} are finished"
            err.print(f"stopped: {done}; {_resume_text(folder, again)}.")
            raise typer.Exit(130)
        if campaign.failures:
            raise typer.Exit(1)
    else:
        try:
            with share_progress(name) as progress:
                outcome = run_experiment(name, scale, folder, progress, again, seconds, processes)
        except KeyboardInterrupt:
            err.print(f"stopped: {name} is not finished; {_resume_text(folder, again)}.")
            raise typer.Exit(130) from None
        if as_json:
            print_json(outcome_facts(outcome))
        else:
            _print_outcome(outcome)
            files = [str(folder / file) for file in [*outcome.files, "report.html"]]
            out.print(f"Files: {', '.join(files)}")


def outcome_facts(outcome: Outcome) -> dict[str, Any]:
    """The data of an outcome's file, the names of settings as keys."""
    data = asdict(outcome)
    return {**data, "setting": {key_of(name): value for name, value in data["setting"].items()}}


def _resume_text(folder: Path, again: bool) -> str:
    """What is saved after Ctrl-C, and how to continue."""
    then = "the same command goes on"
    if again:
        then = "without --again the same command runs only what is missing"
    saved = f"the results so far are in {folder}, with a page in {folder / 'report.html'}"
    return f"{saved}, and {then}"


@contextmanager
def _overall_progress() -> Iterator[Any]:
    """A callback for all experiments together; without a terminal it prints a line now and then."""
    last: dict[str, Any] = {"what": "", "when": -math.inf}
    with share_progress("reproduce") as bar:

        def show(share: float, what: str) -> None:
            bar(share, what)
            part, now = what.split(":")[0].rpartition(", ")[2], time.monotonic()
            late = now - last["when"] > LINE_EVERY_SECONDS
            if not err.is_terminal and (part != last["what"] or late):
                err.print(f"{share:4.0%}  {what}")
                last.update(what=part, when=now)

        yield show


def _print_outcome(outcome: Any) -> None:
    out.print(f"{outcome.title} ({outcome.scale} scale, {outcome.seconds:.1f} s)")
    for claim in outcome.claims:
        _print_claim(claim, claim.text)


def _print_claim(claim: Any, text: str, more: str = "") -> None:
    number = claim.number or ""
    out.print(f"{number:>3} {claim.verdict:<7}  {text}")
    out.print(f"{'':13}{claim.measured}{more}")


def _print_campaign(campaign: Any) -> None:
    """Failures, and last the article's claims."""
    from counterplay.app.reproduction.harness.base import headline, summary

    skipped = f", {len(campaign.skipped)} were there already" if campaign.skipped else ""
    out.print(f"{len(campaign.outcomes)} experiments in {campaign.seconds:.0f} s{skipped}.")
    for failure in campaign.failures:
        out.print(f"FAILED {failure.title}: {failure.message} ({failure.where})")
    rows = summary(campaign.outcomes)
    pictures = {file for outcome in campaign.outcomes for file in outcome.files}
    out.print(f"\n{headline(rows)}")
    for row in rows:
        picture = f"{row.experiment}.png"
        link = f" ({campaign.report.parent / picture})" if picture in pictures else ""
        known = f"; at paper scale, committed: {row.at_paper_scale}" if row.at_paper_scale else ""
        _print_claim(row.claim, f"{row.figure}: {row.claim.text}", known + link)
    out.print(f"\nOpen {campaign.report} in a browser.")
