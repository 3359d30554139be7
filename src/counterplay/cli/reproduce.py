"""The command `reproduce`: the figures and tables of the paper."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from counterplay.base.errors import Interrupted
from counterplay.cli.cluster import Ray, use_ray
from counterplay.cli.display import overall_progress, print_campaign, print_outcome, share_progress
from counterplay.cli.facts import err, key_of, out, print_json
from counterplay.cli.support import AsJson, refuse_others

if TYPE_CHECKING:
    from counterplay.experiments.harness.base import Outcome


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
    from counterplay.experiments.harness.campaign import Campaign, reproduce_all
    from counterplay.experiments.harness.registry import experiments
    from counterplay.experiments.harness.registry import reproduce as run_experiment

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
            with overall_progress() as tell:
                campaign = reproduce_all(scale, folder, tell, again, seconds, processes)
        except Interrupted as stop:
            campaign, stopped = cast(Campaign, stop.result), True
        except KeyboardInterrupt:
            err.print("stopped before anything was begun; the same command starts again.")
            raise typer.Exit(130) from None
        if as_json:
            outcomes = [for_machines(outcome) for outcome in campaign.outcomes]
            found = {**asdict(campaign), "outcomes": outcomes, "report": str(campaign.report)}
            print_json({**found, "stopped": stopped})
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
                outcome = run_experiment(name, scale, folder, tell, again, seconds, processes)
        except KeyboardInterrupt:
            err.print(f"stopped: {name} is not finished; {_go_on(folder, again)}.")
            raise typer.Exit(130) from None
        if as_json:
            print_json(for_machines(outcome))
        else:
            print_outcome(outcome)
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
