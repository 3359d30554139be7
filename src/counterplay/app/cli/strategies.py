"""The commands `evaluate`, how good a strategy is, and `show`, what it does."""

from __future__ import annotations

import csv
import io
import shlex
from collections.abc import Iterator
from fnmatch import fnmatchcase
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

import typer

from counterplay.app.cli.display import (
    IN_MILLIBETS,
    MILLIBETS,
    MILLIBETS_KEY,
    exploitability_name,
    flops_fact,
    measured_fact,
    named,
    out,
    print_facts,
    print_json,
    seat_text,
    share_progress,
    status,
    unit_fact,
    walk_progress,
)
from counterplay.app.cli.options import (
    PLAYER,
    AsJson,
    Backend,
    Flops,
    GameOf,
    Ray,
    refuse_given,
    use_ray,
    walk_options,
)
from counterplay.core.base.errors import BadParameter, unknown

MOST_SHOWN = 200  # rows of a game whose information sets were found while playing
FILTERS = ("player", "street", "infoset", "table")
OF_HOLDEM = ("street", "cards", "board", "betting", "picture")
HEADER = ("player", "infoset", "action", "probability")
Player = Annotated[str, typer.Argument(metavar="PLAYER", help=f"Who: {PLAYER}.")]


def evaluate(
    strategy: Player,
    game: GameOf = None,
    against: Annotated[
        str | None, typer.Option(help="Also play it against this player, in both seats.")
    ] = None,
    backend: Backend = None,
    flops: Flops = None,
    seed: Annotated[
        int | None, typer.Option(help="Hold'em: of the flops drawn. --method play: of it all.")
    ] = None,
    method: Annotated[
        str | None,
        typer.Option(help="exact, or play: a lower bound, for games of any size."),
    ] = None,
    seconds: Annotated[
        float | None, typer.Option(help="--method play: of learning best responses.")
    ] = None,
    ray: Ray = None,
    as_json: AsJson = False,
) -> None:
    """Say how good a strategy is: its value and its exploitability, exactly or from below."""
    from counterplay.core.games.players import players_of
    from counterplay.poker.players import game_of

    loaded = game_of(strategy, game)
    known = players_of(loaded)
    if method == "play" or (method is None and loaded.capabilities.discovered):
        if against is not None or backend is not None or flops is not None:
            raise BadParameter("--method play takes --seconds and --seed, and nothing else")
        print_facts(_by_play(known.strategy(strategy), seconds, seed), as_json)
        return
    if method not in (None, "exact"):
        raise BadParameter(f"--method is exact or play, not {method!r}")
    if seconds is not None:
        raise BadParameter("--seconds goes with --method play")
    options = walk_options(backend, flops, seed)
    if loaded.evaluator.on_request:
        if against is not None:
            words = shlex.join(["counterplay", "match", strategy, against])
            raise BadParameter(f"--against is not for hold'em; {words}")
        use_ray(ray)
        with share_progress("tables") as progress:
            profile = known.measurable(strategy, progress)
        print_facts(_by_boards(loaded, profile, options), as_json)
        return
    if ray is not None:
        raise BadParameter(f"--ray is for hold'em here; {loaded.name} is evaluated at once")
    if options:
        raise BadParameter(f"--{next(iter(options))} is for hold'em, not for {loaded.name}")
    if not loaded.evaluator.immediate:
        words = shlex.join(["counterplay", "match", strategy, "uniform", "--game", loaded.name])
        raise BadParameter(f"{loaded.name} is too large to evaluate exactly; play it: {words}")
    with status(f"evaluating {strategy}"):
        profile = known.strategy(strategy)
        facts = _exactly(profile)
        if against is not None:
            facts |= _between(profile, known.strategy(against), against)
    print_facts(facts, as_json)


def _exactly(profile: Any) -> dict[str, Any]:
    """What is to be said of a strategy for a game with a tree."""
    from counterplay.core.evaluation.exact import best_response, expected_value, exploitability
    from counterplay.core.evaluation.kuhn import kuhn_errors

    game = profile.game
    facts: dict[str, Any] = {"game": game.name} | unit_fact(game)
    for player, value in enumerate(expected_value(game, profile)):
        name = named(f"value to {game.seats[player]}", f"value_to_player_{player + 1}")
        facts[name] = float(value)
    for player in range(game.n_players):
        facts[_best_of(game, player)] = best_response(game, profile, player).value
    if profile.player is None:
        facts[exploitability_name(game)] = exploitability(game, profile)
    else:
        facts |= _one_seat(profile)
    if game.name == "kuhn":
        errors = kuhn_errors(profile)
        facts |= {
            "SQR-E": errors.squared,
            "DOM-E": errors.dominated,
            "nearest equilibrium gamma": errors.gamma,
        }
    return facts


def _between(one: Any, other: Any, against: str) -> dict[str, float]:
    """What a strategy gets from another, in each seat in which they can meet."""
    from counterplay.core.evaluation.exact import expected_value
    from counterplay.core.forms.strategy import seats_between

    facts: dict[str, float] = {}
    for player in seats_between(one, other):
        text = f"value as {one.game.seats[player]} against {against}"
        value = expected_value(one.game, other.replace(one, player))[player]
        facts[named(text, f"value_as_player_{player + 1}_against")] = float(value)
    return facts


def _by_play(profile: Any, seconds: float | None, seed: int | None) -> dict[str, Any]:
    """What play shows of a strategy."""
    from counterplay.core.solvers.lower_bound import lower_bound

    game = profile.game
    with status("learning best responses"):
        found = lower_bound(game, profile, seed=seed or 0, seconds=seconds)
    facts: dict[str, Any] = {"game": game.name} | unit_fact(game)
    for player, (value, half) in enumerate(found.best):
        text = f"a response of {game.seats[player]} wins"
        facts[named(text, f"learnt_response_of_player_{player + 1}")] = value
        facts[named(f"{text}, ± (95%)", f"learnt_response_of_player_{player + 1}_error")] = half
    name = f"at least: {exploitability_name(game)}"
    facts[named(name, "exploitability_lower_bound")] = float(found)
    facts[named("± (95%)", "exploitability_lower_bound_error")] = found.error
    facts["learnt by"] = f"{found.algorithm} in {found.seconds:.1f} s, {found.games:,} games each"
    return facts


def _by_boards(game: Any, profile: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What is to be said of a strategy for hold'em, or of the table of a bot."""
    from counterplay.poker.vector.evaluation import best_response_values

    seat = getattr(profile, "player", None)
    players = [0, 1] if seat is None else [1 - seat]
    with walk_progress() as progress:
        found = best_response_values(game, profile, players, **options, progress=progress)
    facts: dict[str, Any] = {"game": game.name} | unit_fact(game)
    for player, value in zip(players, found, strict=True):
        facts |= measured_fact(_best_of(game, player), value, "high")
    if seat is None:
        facts |= measured_fact(exploitability_name(game), sum(found), "high")
        same = named(f"the same {IN_MILLIBETS}", f"exploitability{MILLIBETS_KEY}")
        facts |= measured_fact(same, MILLIBETS * sum(found), "high")
    else:
        facts["meant for"] = seat_text(game, seat)
        facts |= measured_fact("worst case", -found[0], "low")
    return facts | flops_fact(found[0])


def _best_of(game: Any, player: int) -> str:
    return named(f"best response of {game.seats[player]}", f"best_response_of_player_{player + 1}")


def _one_seat(response: Any) -> dict[str, Any]:
    """What is to be said of a strategy for one seat."""
    from counterplay.core.evaluation.exact import best_response
    from counterplay.core.solvers.value import game_value

    game, player = response.game, response.player
    value = game_value(game) * (1 if player == 0 else -1)
    worst = -best_response(game, response, 1 - player).value
    risk = max(value - worst, 0.0)
    return {
        "meant for": f"{seat_text(game, player)}; the other is the model it responds to",
        "worst case": worst,
        named("exploitability, below the value of the game", "exploitability"): risk,
    }


def show(
    context: typer.Context,
    strategy: Player,
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
    game: GameOf = None,
    as_json: AsJson = False,
) -> None:
    """Show what a strategy does: its table, or in hold'em the grid of starting hands as a
    picture.

    For example: counterplay show mine --cards AhKd --board Qs7d2c --betting rc/
    """
    from counterplay.core.forms.mixture import Mixture
    from counterplay.core.games.players import players_of
    from counterplay.poker.players import game_of

    loaded = game_of(strategy, game)
    known = players_of(loaded)
    if not loaded.can("grid"):
        why = f"the strategy is for {loaded.name}, which is no hold'em"
        refuse_given(context, OF_HOLDEM, why)
    if cards is not None:
        refuse_given(context, [*FILTERS, "picture"], "--cards ask for one decision")
    else:
        refuse_given(context, ["board"], "--board goes with --cards")
    filtered = any(given is not None for given in (player, street, infoset, table))
    grid = loaded.can("grid") and not filtered
    with share_progress("tables") as progress:
        profile = (known.measurable if grid else known.strategy)(strategy, progress)
    if isinstance(profile, Mixture):
        profile = profile.strategy()
    seat = getattr(profile, "player", None)
    if seat is not None and not as_json:
        out.print(f"Meant for {seat_text(loaded, seat)}; the other is the model it responds to.")
    if cards is not None:
        _one_decision(loaded, profile, cards, board, betting, as_json)
        return
    if grid:
        _grid(loaded, profile, strategy, betting, picture, as_json)
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
    discovered = profile.game.capabilities.discovered
    for row in islice(rows, MOST_SHOWN if discovered else None):
        out.print(str(row))
    if discovered and next(rows, None) is not None:
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
    if game.capabilities.discovered:
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

    from counterplay.poker.betting.betting import STREETS
    from counterplay.poker.betting.rows import nodes_and_buckets

    if street not in STREETS:
        raise unknown("street", street, STREETS)
    tree = game.rules.tree
    node, _ = nodes_and_buckets(tree, game.rules.abstraction.counts)
    return np.flatnonzero(tree.nodes.street[node] == STREETS.index(street))


def _write_csv(rows: list[Any], path: Path) -> None:
    from counterplay.core.base.files import write_text

    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(HEADER)
    for row in rows:
        for action, share in row.probabilities.items():
            writer.writerow([row.player + 1, row.infoset, action, share])
    write_text(path, text.getvalue())


def _one_decision(
    game: Any, profile: Any, cards: str, board: str, betting: str, as_json: bool
) -> None:
    """What is done with these cards."""
    from counterplay.poker.betting.betting import LIMIT
    from counterplay.poker.bots.table import TableBot, strategy_bot
    from counterplay.poker.bots.text import view
    from counterplay.poker.holdem.table import Table

    if game.rules.betting != LIMIT:
        raise BadParameter(f"--cards is for the usual limit betting, and {game.name} has another")
    seen = view(betting, cards, board)
    bot = TableBot("", profile) if isinstance(profile, Table) else strategy_bot(profile)
    shares = bot.shares(seen)
    if as_json:
        facts = {"game": game.name, "player": seen.seat + 1, "cards": cards, "board": board}
        print_json({**facts, "betting": betting, "probabilities": shares})
        return
    print_facts({"to act": game.seat(seen.seat), **shares}, False)


def _grid(
    game: Any, profile: Any, word: str, betting: str, picture: Path | None, as_json: bool
) -> None:
    """The 13 by 13 starting hands, as text and as a picture."""
    from counterplay.poker.betting.betting import ACTIONS
    from counterplay.poker.holdem.grid import grid_label, plot_grid, preflop_grid

    path = Path(word)
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
        facts = {"game": game.name, "betting": betting, "hands": hands}
        print_json({**facts, "picture": str(picture)})
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
