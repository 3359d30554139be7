"""The command `show`: what a strategy does, as a table, a grid of starting hands, or at one
decision."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

import typer

from counterplay.base.errors import BadParameter, unknown
from counterplay.cli.display import seat_text
from counterplay.cli.facts import out, print_facts, print_json
from counterplay.cli.support import AsJson, read_strategy, refuse_given

MOST_SHOWN = 200  # rows of a game whose information sets were found while playing
FILTERS = ("player", "street", "infoset", "table")
OF_HOLDEM = ("street", "cards", "board", "betting", "picture")
HEADER = ("player", "infoset", "action", "probability")


def show(
    context: typer.Context,
    strategy: Annotated[str, typer.Argument(help="A strategy file or a run folder.")],
    player: Annotated[
        int | None, typer.Option(help="Only the rows of this player: 1, 2, ....")
    ] = None,
    infoset: Annotated[
        str | None,
        typer.Option(help="Only information sets of this name; * stands for anything."),
    ] = None,
    street: Annotated[
        str | None, typer.Option(help="Hold'em: only rows of preflop, flop, turn or river.")
    ] = None,
    cards: Annotated[
        str | None, typer.Option(help="Hold'em: what is done with these cards, such as AhKd.")
    ] = None,
    board: Annotated[str, typer.Option(help="With --cards: the board, such as Qs7d2c.")] = "",
    betting: Annotated[
        str, typer.Option(help="Hold'em: after these actions, such as r; with --cards also rc/.")
    ] = "",
    table: Annotated[
        Path | None, typer.Option("--csv", help="Write the rows there, one per action.")
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Hold'em: where the picture goes (default: beside the strategy)."
        ),
    ] = None,
    game: Annotated[str | None, typer.Option(help="The game, where the file does not say.")] = None,
    as_json: AsJson = False,
) -> None:
    """Show what a strategy does: its table, or in hold'em the grid of starting hands as a
    picture.

    For example: counterplay show mine --cards AhKd --board Qs7d2c --betting rc/
    """
    profile = read_strategy(strategy, game)
    if not profile.game.can("grid"):
        why = f"the strategy is for {profile.game.name}, which is no hold'em"
        refuse_given(context, OF_HOLDEM, why)
    if profile.player is not None and not as_json:
        seat = seat_text(profile.game, profile.player)
        out.print(f"Meant for {seat}; the other is the model it responds to.")
    if cards is not None:
        refuse_given(context, [*FILTERS, "picture"], "--cards ask for one decision")
        _one_decision(profile, cards, board, betting, as_json)
        return
    refuse_given(context, ["board"], "--board goes with --cards")
    filtered = any(given is not None for given in (player, street, infoset, table))
    if profile.game.can("grid") and not filtered:
        _grid(profile, Path(strategy), betting, picture, as_json)
        return
    refuse_given(context, ["betting", "picture"], "these are rows of a table")
    wanted = _rows(profile, player, street, infoset)
    first = next(wanted, None)
    if first is None:
        raise BadParameter(f"no information set of {profile.game.name} is like that")
    wanted = chain([first], wanted)
    if table is None and not as_json:
        _print(wanted, profile)
        return
    rows = list(wanted)
    if table is not None:
        _write_csv(rows, table)
    if as_json:
        found = [{**row._asdict(), "player": row.player + 1} for row in rows]
        print_json({"game": profile.game.name, "rows": found})
    else:
        out.print(f"{len(rows):,} information sets written to {table}")


def _print(rows: Iterator[Any], profile: Any) -> None:
    """Rows as they come; some of them where they were found while playing, which may be
    millions."""
    keyed = profile.game.abilities.keyed
    for row in islice(rows, MOST_SHOWN if keyed else None):
        out.print(str(row))
    if keyed and next(rows, None) is not None:
        out.print(
            f"... the first {MOST_SHOWN} of those, in order of discovery; {len(profile):,} "
            f"information sets were found; --infoset and --player choose, --csv writes all"
        )


def _rows(
    profile: Any, player: int | None, street: str | None, infoset: str | None
) -> Iterator[Any]:
    """The rows asked for."""
    game = profile.game
    if player is not None and not 1 <= player <= game.n_players:
        raise BadParameter(f"--player is a number from 1 to {game.n_players}, not {player}")
    if game.abilities.keyed:
        yield from profile.rows(None if player is None else player - 1, infoset)
        return
    wanted = range(game.n_infosets)
    if street is not None:
        wanted = _of_street(game, street)
    owner, names = game.form.owner, game.infoset_names
    for i in wanted:
        if player is not None and owner[i] != player - 1:
            continue
        if infoset is not None and infoset != names[i] and not fnmatchcase(names[i], infoset):
            continue
        yield profile.row(int(i))


def _of_street(game: Any, street: str) -> Any:
    """Information sets of a street of hold'em."""
    import numpy as np

    from counterplay.holdem.betting import STREETS
    from counterplay.holdem.rows import nodes_and_buckets

    if street not in STREETS:
        raise unknown("street", street, STREETS)
    tree = game.rules.tree
    node, _ = nodes_and_buckets(tree, game.rules.view.counts)
    return np.flatnonzero(tree.nodes.street[node] == STREETS.index(street))


def _write_csv(rows: list[Any], path: Path) -> None:
    from counterplay.base.files import write_text

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for row in rows:
        for action, share in row.probabilities.items():
            writer.writerow([row.player + 1, row.infoset, action, share])
    write_text(path, text.getvalue())


def _one_decision(profile: Any, cards: str, board: str, betting: str, as_json: bool) -> None:
    """What is done with these cards."""
    from counterplay.holdem.betting import LIMIT
    from counterplay.opponents.bots.table import strategy_bot
    from counterplay.opponents.bots.text import view

    game = profile.game
    if game.rules.betting != LIMIT:
        raise BadParameter(f"--cards is for the usual limit betting, and {game.name} has another")
    seen = view(betting, cards, board)
    shares = strategy_bot(profile).shares(seen)
    if as_json:
        facts = {"game": game.name, "player": seen.seat + 1, "cards": cards, "board": board}
        print_json({**facts, "betting": betting, "probabilities": shares})
        return
    print_facts({"to act": game.seat(seen.seat), **shares}, False)


def _grid(profile: Any, path: Path, betting: str, picture: Path | None, as_json: bool) -> None:
    """The 13 by 13 starting hands, as text and as a picture."""
    from counterplay.holdem.betting import ACTIONS
    from counterplay.holdem.grid import grid_label, plot_grid, preflop_grid

    name = path.name if path.is_dir() else path.stem
    place = path if path.is_dir() else path.parent
    picture = picture or place / f"{name}-preflop{'-' + betting if betting else ''}.png"
    plot_grid(profile, picture, betting, name)
    grid = preflop_grid(profile, betting)
    if as_json:
        hands = [
            {"hand": grid_label(r, c), **dict(zip(ACTIONS, grid[r, c].tolist(), strict=True))}
            for r in range(13)
            for c in range(13)
        ]
        found = {"game": profile.game.name, "betting": betting, "hands": hands}
        print_json({**found, "picture": str(picture)})
        return
    for row in range(13):
        cells = [
            f"{grid_label(row, column):>3} {_letter(grid[row, column])}" for column in range(13)
        ]
        out.print("  ".join(cells))
    out.print("r raise, c call, f fold: what is played most; capitals above 90%")
    out.print(f"Picture: {picture}")


def _letter(shares: Any) -> str:
    best = int(shares.argmax())
    letter = "fcr"[best]
    return letter.upper() if shares[best] > 0.9 else letter
