"""The commands `evaluate`, the value and exploitability of a strategy, and `show`, its
probabilities."""

from __future__ import annotations

from collections.abc import Iterator
from fnmatch import fnmatchcase
from functools import partial
from itertools import chain, islice
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from counterplay.app.cli import display
from counterplay.app.cli import options as opt
from counterplay.app.cli.display import named, out, print_facts, print_json
from counterplay.app.cli.measured import (
    best_response_name,
    certified_facts,
    holdem_facts,
    policy_facts,
    say_calls,
)
from counterplay.core.base.errors import BadParameter, unknown

MOST_SHOWN = 200  # rows of a game whose information sets were discovered while sampling
FILTERS = ("player", "street", "infoset", "table")
HOLDEM_OPTIONS = ("street", "cards", "board", "betting", "picture")
SPOT_IDLE = ("player", "street", "infoset", "picture")
HEADER = ("player", "infoset", "action", "probability")
Player = Annotated[str, Argument(metavar="PLAYER", help=f"The strategy: {opt.PLAYER}.")]
Against = Annotated[str | None, Option(help="Also its value against this player, in both seats.")]
SampleSeed = Annotated[
    int | None, Option(help="Seed of the sampled flops (hold'em), or of --method play.")
]
Method = Annotated[str | None, Option(help="exact, or play: a lower bound, for games of any size.")]
PlaySeconds = Annotated[
    float | None, Option(help="--method play: seconds of learning best responses.")
]
InfosetName = Annotated[
    str | None, Option(help="Only information sets of this name; * stands for any text.")
]
Street = Annotated[str | None, Option(help="Hold'em: only rows of preflop, flop, turn or river.")]
Cards = Annotated[
    str | None, Option(help="Hold'em, spots: the decision with these cards, such as AhKd.")
]
Board = Annotated[
    str, Option(help="With --cards: the board, such as Qs7d2c; in spots of a later street.")
]
BettingText = Annotated[
    str,
    Option(
        help="Hold'em: after these actions, such as r; with --cards also rc/. Spots: such as "
        "'check-bet 10/check'."
    ),
]
TableFile = Annotated[
    Path | None, Option("--csv", help="Write the rows to this file, one per action.")
]
PictureFile = Annotated[
    Path | None,
    Option("--out", help="Hold'em: file of the picture (default: beside the strategy)."),
]


def evaluate(
    strategy: Player,
    game: opt.GameOf = None,
    against: Against = None,
    backend: opt.Backend = None,
    flops: opt.Flops = None,
    seed: SampleSeed = None,
    method: Method = None,
    seconds: PlaySeconds = None,
    ray: opt.Ray = None,
    as_json: opt.AsJson = False,
) -> None:
    """Compute a strategy's value and exploitability. Exactly, from flops, or as a lower bound."""
    from counterplay.core.games.players import players_of
    from counterplay.poker.players import game_of, is_vector_policy

    loaded = game_of(strategy, game)
    players = players_of(loaded)
    if method == "play" or (method is None and loaded.discovers_infosets):
        if (against, backend, flops, ray) != (None,) * 4:
            raise BadParameter("--method play takes --seconds and --seed, and nothing else")
        facts, stopped = _lower_bound_facts(players.strategy(strategy), seconds, seed)
        print_facts(facts, as_json)
        if stopped:
            display.err.print("stopped: the bound is that of what was learnt so far.")
            raise typer.Exit(130)
        return
    if method not in (None, "exact"):
        raise BadParameter(f"--method is exact or play, not {method!r}")
    if seconds is not None:
        raise BadParameter("--seconds goes with --method play")
    options = opt.measure_options(backend, flops, seed)
    if loaded.evaluator.on_request:
        if against is not None:
            named = ["--game", game] if game is not None else []
            words = display.suggested("match", strategy, against, *named)
            raise BadParameter(f"--against is not available in hold'em; play a match: {words}")
        certified = getattr(players.find(strategy), "shipped", None)
        if certified is not None and not options and (ray, method) == (None, None):
            print_facts(certified_facts(loaded, certified), as_json)
            return
        opt.use_ray(ray)
        with display.share_progress("tables") as progress:
            profile = players.measurable(strategy, progress)
        say_calls(loaded, profile, flops)
        print_facts(holdem_facts(loaded, profile, options), as_json)
        return
    if ray is not None:
        raise BadParameter(f"--ray is for evaluations of hold'em; leave it out for {loaded.name}")
    if options:
        raise BadParameter(f"--{next(iter(options))} is for hold'em, not for {loaded.name}")
    if not loaded.evaluator.immediate:
        words = display.suggested("match", strategy, "uniform", "--game", loaded.name)
        raise BadParameter(f"{loaded.name} is too large to evaluate exactly; play it: {words}")
    if loaded.can("flops") and is_vector_policy(players.find(strategy)):
        if against is not None:
            raise BadParameter("--against is for tables, and a policy is a function of all cards")
        print_facts(policy_facts(loaded, players.measurable(strategy)), as_json)
        return
    with display.status(f"evaluating {strategy}"):
        profile = players.strategy(strategy)
        facts = _exact_facts(profile)
        if against is not None:
            facts |= _against_facts(profile, players.strategy(against), against)
    print_facts(facts, as_json)


def _exact_facts(profile: Any) -> dict[str, Any]:
    """The facts of a strategy for a game with a tree."""
    from counterplay.core.evaluation.exact import best_response, expected_value, exploitability
    from counterplay.core.games.kuhn import kuhn_errors

    game = profile.game
    facts: dict[str, Any] = {"game": game.name} | display.unit_fact(game)
    for player, value in enumerate(expected_value(game, profile)):
        name = named(f"value to {game.seats[player]}", f"value_to_player_{player + 1}")
        facts[name] = float(value)
    for player in range(game.n_players):
        facts[best_response_name(game, player)] = best_response(game, profile, player).value
    if profile.player is None:
        gains = facts[display.exploitability_name(game)] = exploitability(game, profile)
        if game.can("spots"):
            facts["the same in percent of the pot"] = 100 * gains / game.rules.pot
    else:
        facts |= _seat_facts(profile)
    if game.name == "kuhn":
        errors = kuhn_errors(profile)
        facts |= {
            "SQR-E": errors.squared,
            "DOM-E": errors.dominated,
            "nearest equilibrium gamma": errors.gamma,
        }
    return facts


def _against_facts(one: Any, other: Any, against: str) -> dict[str, float]:
    """The value of a strategy against another, in each seat in which they can meet."""
    from counterplay.core.evaluation.exact import expected_value
    from counterplay.core.forms.strategy import seats_between

    facts: dict[str, float] = {}
    for player in seats_between(one, other):
        text = f"value as {one.game.seats[player]} against {against}"
        value = expected_value(one.game, other.replace(one, player))[player]
        facts[named(text, f"value_as_player_{player + 1}_against")] = float(value)
    return facts


def _lower_bound_facts(
    profile: Any, seconds: float | None, seed: int | None
) -> tuple[dict[str, Any], bool]:
    """A lower bound of the exploitability of a strategy, and whether it was stopped by Ctrl-C."""
    from counterplay.core.solvers.lower_bound import lower_bound

    game = profile.game
    with display.share_progress("learning best responses") as progress:
        options = {"seed": seed or 0, "seconds": seconds, "progress": progress}
        bound, stopped = display.until_stopped(partial(lower_bound, game, profile, **options))
    facts: dict[str, Any] = {"game": game.name} | display.unit_fact(game)
    for player, (value, half) in enumerate(bound.best):
        text = f"a response of {game.seats[player]} wins"
        facts[named(text, f"learnt_response_of_player_{player + 1}")] = value
        facts[named(f"{text}, ± (95%)", f"learnt_response_of_player_{player + 1}_error")] = half
    name = f"at least: {display.exploitability_name(game)}"
    text = f"{float(bound):.6g}" if bound.found else "nothing found, which proves nothing"
    facts[named(name, "exploitability_lower_bound")] = display.Worded(text, float(bound))
    facts[named("± (95%)", "exploitability_lower_bound_error")] = bound.error
    over_time = [f"{at.bound:.3g} after {at.seconds:.3g} s" for at in bound.history]
    facts["over time"] = display.Worded(", ".join(over_time), [list(at) for at in bound.history])
    facts["learnt by"] = f"{bound.algorithm} in {bound.seconds:.1f} s, {bound.games:,} games each"
    return facts, stopped


def _seat_facts(response: Any) -> dict[str, Any]:
    """The facts of a strategy for one seat."""
    from counterplay.core.evaluation.exact import best_response
    from counterplay.core.solvers.measures import game_value

    game, player = response.game, response.player
    value = game_value(game) * (1 if player == 0 else -1)
    worst = -best_response(game, response, 1 - player).value
    risk = max(value - worst, 0.0)
    return {
        "meant for": f"{display.seat_text(game, player)}; the other seat plays the model",
        "worst case": worst,
        named("exploitability, below the value of the game", "exploitability"): risk,
    }


def show(
    context: typer.Context,
    strategy: Player,
    player: Annotated[int | None, Option(help="Only rows of this player: 1, 2, ...")] = None,
    infoset: InfosetName = None,
    street: Street = None,
    cards: Cards = None,
    board: Board = "",
    betting: BettingText = "",
    table: TableFile = None,
    picture: PictureFile = None,
    game: opt.GameOf = None,
    as_json: opt.AsJson = False,
) -> None:
    """Show the probabilities of a strategy. A table, or in hold'em the grid of starting hands.

    For example: counterplay show mine --cards AhKd --board Qs7d2c --betting rc/
    """
    from counterplay.core.forms.mixture import single_strategy
    from counterplay.core.games.players import players_of
    from counterplay.poker.players import game_of

    loaded = game_of(strategy, game)
    players = players_of(loaded)
    if loaded.can("spots"):
        from counterplay.app.cli.spots import show_decision

        opt.refuse_given(context, SPOT_IDLE, "a decision of a spot is chosen by --betting")
        show_decision(players.strategy(strategy), betting, board, cards, table, as_json)
        return
    if not loaded.can("grid"):
        opt.refuse_given(context, HOLDEM_OPTIONS, f"{loaded.name} is not hold'em")
    if cards is not None:
        opt.refuse_given(context, [*FILTERS, "picture"], "--cards shows one decision")
    else:
        opt.refuse_given(context, ["board"], "--board goes with --cards")
    filtered = any(given is not None for given in (player, street, infoset, table))
    grid = loaded.can("grid") and not filtered
    with display.share_progress("tables") as progress:
        profile = (players.measurable if grid else players.strategy)(strategy, progress)
    profile = single_strategy(profile)
    seat = getattr(profile, "player", None)
    if seat is not None and not as_json:
        out.print(f"Meant for {display.seat_text(loaded, seat)}; the other seat plays the model.")
    if cards is not None:
        _one_decision(loaded, profile, cards, board, betting, as_json)
        return
    if grid:
        _grid(loaded, profile, strategy, betting, picture, as_json)
        return
    opt.refuse_given(context, ["betting", "picture"], "a table of rows is shown")
    selected = _rows(profile, player, street, infoset)
    first = next(selected, None)
    if first is None:
        raise BadParameter(f"no information set of {profile.game.name} matches")
    selected = chain([first], selected)
    if table is None and not as_json:
        _print_rows(selected, profile)
        return
    rows = list(selected)
    if table is not None:
        from counterplay.core.base.files import csv_text, write_text

        cells = [
            (row.player + 1, row.infoset, action, share)
            for row in rows
            for action, share in row.probabilities.items()
        ]
        write_text(table, csv_text([HEADER, *cells]))
    if as_json:
        facts = [{**row._asdict(), "player": row.player + 1} for row in rows]
        print_json({"game": profile.game.name, "rows": facts})
    else:
        out.print(f"{len(rows):,} information sets written to {table}")


def _print_rows(rows: Iterator[Any], profile: Any) -> None:
    """Prints the rows; of discovered information sets, maybe millions, only the first ones."""
    discovered = profile.game.discovers_infosets
    for row in islice(rows, MOST_SHOWN if discovered else None):
        out.print(str(row))
    if discovered and next(rows, None) is not None:
        out.print(
            f"... the first {MOST_SHOWN} of those, in order of discovery; {len(profile):,} "
            f"information sets were discovered; --infoset and --player choose, --csv writes all"
        )


def _rows(
    profile: Any, player: int | None, street: str | None, infoset: str | None
) -> Iterator[Any]:
    """The rows of the given player, street and name."""
    game = profile.game
    if player is not None and not 1 <= player <= game.n_players:
        raise BadParameter(f"--player is a number from 1 to {game.n_players}, not {player}")
    if game.discovers_infosets:
        yield from profile.rows(None if player is None else player - 1, infoset)
        return
    infosets = range(game.n_infosets) if street is None else _of_street(game, street)
    owner, names = game.form.owner, game.infoset_names
    for i in infosets:
        if player is not None and owner[i] != player - 1:
            continue
        if infoset is not None and infoset != names[i] and not fnmatchcase(names[i], infoset):
            continue
        yield profile.row(int(i))


def _of_street(game: Any, street: str) -> Any:
    """Information sets of a street of hold'em."""
    import numpy as np

    from counterplay.poker.betting.betting import STREETS, nodes_and_buckets

    if street not in STREETS:
        raise unknown("street", street, STREETS)
    tree = game.rules.tree
    node, _ = nodes_and_buckets(tree, game.rules.abstraction.counts)
    return np.flatnonzero(tree.nodes.street[node] == STREETS.index(street))


def _one_decision(
    game: Any, profile: Any, cards: str, board: str, betting: str, as_json: bool
) -> None:
    """Prints the probabilities of one decision."""
    from counterplay.poker.betting.betting import LIMIT
    from counterplay.poker.bots.bot import view
    from counterplay.poker.bots.table import TableBot, strategy_bot
    from counterplay.poker.holdem.table import Table

    if game.rules.betting != LIMIT:
        raise BadParameter(f"--cards needs the usual limit betting, and {game.name} has another")
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
    """Prints the 13 by 13 starting hands and writes them as a picture."""
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
        cells = []
        for column, shares in enumerate(grid[row]):
            letter = "fcr"[int(shares.argmax())]
            shown = letter.upper() if shares.max() > 0.9 else letter
            cells.append(f"{grid_label(row, column):>3} {shown}")
        out.print("  ".join(cells))
    out.print("r raise, c call, f fold: the likeliest action; capitals above 90%")
    out.print(f"Picture: {picture}")
