"""The commands `games`, the list of games and their sizes, and `holdem prepare`, its tables."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer
from typer import Argument

from counterplay.app.cli.display import out, print_facts, print_json, share_progress, status
from counterplay.app.cli.options import AsJson, Command, Ray, use_ray

holdem = typer.Typer(
    help="Build the tables of hold'em.", no_args_is_help=True, rich_markup_mode=None
)


OTHER_GAMES = [
    (
        "open_spiel",
        "open_spiel:hex(board_size=2)",
        "any sequential or simultaneous game of OpenSpiel (extra [openspiel])",
    ),
    ("a file", "game.efg, game.nfg", "a game of Gambit"),
    ("user-defined", "my_game.py:MyGame", "a class with six methods, in a file of yours"),
]


def _sizes(game: Any) -> dict[str, Any]:
    if game.capabilities.discovered:
        return {
            "tree": "none: information sets are discovered while sampling",
            "keys of information sets": "exact"
            if game.form.shape.known == 1
            else "a hash of 128 bits",
            "most decisions of a history": game.depth,
            "most actions": game.max_actions,
        }
    return {
        "histories": game.n_nodes,
        "information sets": game.n_infosets,
        "action slots": game.n_slots,
        "longest history": game.depth,
        "perfect recall": game.perfect_recall,
    }


def games(
    game: Annotated[
        str | None, Argument(help="A game to describe, such as 'bluff(1,1,6)'.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the games, or describe one. Prints its numbers of histories and information sets."""
    from counterplay.core.forms.registry import GAMES, load

    if game is not None:
        with status(f"building {game}"):
            loaded = load(game)
            facts = {"game": loaded.name, "players": loaded.n_players, **_sizes(loaded)}
        print_facts(facts | {"zero-sum": loaded.zero_sum}, as_json)
        return
    rows = [(spec.name, ", ".join(spec.examples), spec.summary) for spec in GAMES.values()]
    rows += OTHER_GAMES
    if as_json:
        names = ("name", "examples", "summary")
        print_json([dict(zip(names, row, strict=True)) for row in rows])
        return
    from rich.table import Table

    table = Table("game", "write it like", "what it is", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    out.print(table)
    out.print("\nDescribe one with: counterplay games 'bluff(1,1,6)'")


@holdem.callback()
def _holdem() -> None:
    """Build the tables of hold'em."""


@holdem.command(cls=Command)
def prepare(ray: Ray = None, as_json: AsJson = False) -> None:
    """Build the exact hand-strength tables now instead of at their first use."""
    from counterplay.poker.cards import tables

    use_ray(ray)
    before = time.perf_counter()
    ready = tables.TABLES.read() is not None
    with share_progress("hold'em tables") as progress:
        tables.strengths(progress)
    size = tables.TABLES.size_on_disk()
    facts = {
        "tables": "were ready" if ready else "built",
        "seconds": time.perf_counter() - before,
        "megabytes on disk": size / 1e6 if size else "none: the cache folder cannot be written",
        "folder": str(tables.TABLES.slot().path.parent),
    }
    print_facts(facts, as_json)
