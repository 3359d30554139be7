"""Numbers measured by walking the boards of hold'em, as commands print and ask for them."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

import typer

from counterplay.base.progress import TellShare
from counterplay.cli.display import progress, share_progress
from counterplay.cli.facts import key_of, named

Backend = Annotated[
    str | None,
    typer.Option(help="Hold'em: where boards are walked: cuda, cpu, or auto (the default)."),
]
Flops = Annotated[
    int | None,
    typer.Option(help="Hold'em: estimate it from so many flops, with a 95% interval."),
]
#: From small bets, summed over both seats, to thousandths of one, averaged over them.
MILLIBETS = 500.0
IN_MILLIBETS = "in mb/g, averaged over the seats"
MILLIBETS_KEY = "_mbg"  # behind a key


def walk_options(backend: str | None, flops: int | None, seed: int | None = None) -> dict[str, Any]:
    """What was asked for."""
    asked = {"backend": backend, "flops": flops, "seed": seed}
    return {name: value for name, value in asked.items() if value is not None}


@contextmanager
def walk_progress() -> Iterator[TellShare]:
    """Shows the share of the flops that are done."""
    with share_progress("walking the boards") as tell:
        yield lambda share: tell(share, f"{share:.0%} of the flops")


@contextmanager
def work_progress(name: str, limits: dict[str, Any], walk: dict[str, Any]) -> Iterator[Any]:
    """One display for work that solves and walks boards in turns: a callback for solvers, and the
    options of the walk, None where nobody asked for it."""
    if not walk:
        with progress(limits) as show:
            yield show, None
        return
    with share_progress(name) as tell:

        def solving(at: Any) -> None:
            shares = [
                done / limits[limit]
                for limit, done in (("iterations", at.iterations), ("seconds", at.seconds))
                if limits[limit]
            ]
            tell(min(max(shares, default=0.0), 1.0), f"solving, {at.iterations:,} iterations")

        yield solving, {**walk, "tell": lambda share: tell(share, "walking the boards")}


def measured_fact(name: str, value: float, too: str = "") -> dict[str, float]:
    """A number, with its interval where it was estimated. `too`: `high` or `low`, what a best
    response's choice before the flop makes it."""
    from counterplay.evaluation.estimate import FlopEstimate

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
