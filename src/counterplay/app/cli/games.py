"""The commands `games`, which there are and how large they are, and `holdem ...`, its tables."""

from __future__ import annotations

import time
from typing import Annotated, Any

import typer

from counterplay.app.cli.display import out, print_facts, print_json, share_progress, status
from counterplay.app.cli.options import AsJson, Command, Ray, use_ray

holdem = typer.Typer(help="Hold'em tables.", no_args_is_help=True, rich_markup_mode=None)


def _counted(game: Any) -> dict[str, Any]:
    return {
        "histories": game.n_nodes,
        "information sets": game.n_infosets,
        "action slots": game.n_slots,
        "longest history": game.depth,
        "perfect recall": game.perfect_recall,
    }


def _without_tree(game: Any) -> dict[str, Any]:
    """What is known of a game before it is played."""
    rules = game.rules
    exact = rules.known_size == 1
    return {
        "tree": "none: information sets are found while playing",
        "keys of information sets": "exact" if exact else "a hash of 128 bits",
        "most decisions of a history": rules.depth,
        "most actions": rules.max_actions,
    }


def games(
    game: Annotated[
        str | None, typer.Argument(help="A game to describe, such as 'bluff(1,1,6)'.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """List the games, or describe one: how many histories and information sets it has."""
    from counterplay.core.forms.registry import GAMES, load

    if game is not None:
        with status(f"building {game}"):
            loaded = load(game)
            facts = {
                "game": loaded.name,
                "players": loaded.n_players,
                **(_without_tree(loaded) if loaded.capabilities.discovered else _counted(loaded)),
                "zero-sum": loaded.zero_sum,
            }
        print_facts(facts, as_json)
        return
    rows = [(spec.name, ", ".join(spec.examples), spec.summary) for spec in GAMES.values()]
    rows.append(
        (
            "open_spiel",
            "open_spiel:hex(board_size=2)",
            "any sequential or simultaneous game of OpenSpiel (extra [openspiel])",
        )
    )
    rows.append(("a file", "game.efg, game.nfg", "a game of Gambit"))
    rows.append(("your own", "my_game.py:MyGame", "a class with six methods, in a file of yours"))
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
    """Tables of hand strength for hold'em."""


@holdem.command(cls=Command)
def prepare(ray: Ray = None, as_json: AsJson = False) -> None:
    """Build the exact hand-strength tables now (they are otherwise built on first use)."""
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
