"""The commands `holdem ...`: its tables."""

from __future__ import annotations

import time

import typer

from counterplay.cli.cluster import Ray, use_ray
from counterplay.cli.display import share_progress
from counterplay.cli.facts import print_facts
from counterplay.cli.lists import Command
from counterplay.cli.support import AsJson

holdem = typer.Typer(help="Hold'em tables.", no_args_is_help=True, rich_markup_mode=None)


@holdem.callback()
def _holdem() -> None:
    """Tables of hand strength for hold'em."""


@holdem.command(cls=Command)
def prepare(ray: Ray = None, as_json: AsJson = False) -> None:
    """Build the exact hand-strength tables now (they are otherwise built on first use)."""
    from counterplay.holdem import tables

    use_ray(ray)
    before = time.perf_counter()
    ready = tables.TABLES.read() is not None
    with share_progress("hold'em tables") as tell:
        tables.strengths(tell)
    size = tables.TABLES.size_on_disk()
    facts = {
        "tables": "were ready" if ready else "built",
        "seconds": time.perf_counter() - before,
        "megabytes on disk": size / 1e6 if size else "none: the cache folder cannot be written",
        "folder": str(tables.TABLES.slot().path.parent),
    }
    print_facts(facts, as_json)
