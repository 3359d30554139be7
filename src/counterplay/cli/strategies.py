"""The commands that look at a strategy: `evaluate`, `show`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from counterplay.base.errors import BadParameter
from counterplay.cli.display import (
    exploitability_name,
    out,
    print_facts,
    seat_text,
    status,
    unit_fact,
)
from counterplay.cli.measured import (
    IN_MILLIBETS,
    MILLIBETS,
    Backend,
    Flops,
    flops_fact,
    measured_fact,
    walk_options,
    walk_progress,
)
from counterplay.cli.support import AsJson, read_strategy, refuse_given


def evaluate(
    strategy: Annotated[
        str,
        typer.Argument(help="A strategy file, a run folder, or the word uniform (with --game)."),
    ],
    game: Annotated[str | None, typer.Option(help="The game, where the file does not say.")] = None,
    against: Annotated[
        str | None, typer.Option(help="Also play it against this strategy, in both seats.")
    ] = None,
    backend: Backend = None,
    flops: Flops = None,
    seed: Annotated[int | None, typer.Option(help="Hold'em: of the flops drawn.")] = None,
    as_json: AsJson = False,
) -> None:
    """Say exactly how good a strategy is: its value and its exploitability."""
    from counterplay.evaluation.exact import best_response, expected_value, exploitability
    from counterplay.evaluation.kuhn import kuhn_errors
    from counterplay.forms.strategy import seats_between

    options = walk_options(backend, flops, seed)
    profile = read_strategy(strategy, game)
    if profile.game.abilities.boards:
        if against is not None:
            raise BadParameter(
                f"--against is not for hold'em; counterplay match {strategy} {against}"
            )
        print_facts(_by_boards(profile, options), as_json)
        return
    if options:
        raise BadParameter(f"--{next(iter(options))} is for hold'em, not for {profile.game.name}")
    with status(f"evaluating {strategy}"):
        loaded = profile.game
        if not loaded.abilities.exact:
            raise BadParameter(
                f"{loaded.name} is too large to evaluate exactly; "
                f"play it: counterplay match {strategy} {_somebody(loaded)}"
            )
        facts: dict[str, Any] = {"game": loaded.name} | unit_fact(loaded)
        for player, value in enumerate(expected_value(loaded, profile)):
            facts[f"value to {loaded.seats[player]}"] = float(value)
        for player, seat in enumerate(loaded.seats):
            facts[f"best response of {seat}"] = best_response(loaded, profile, player).value
        if profile.player is None:
            facts[exploitability_name(loaded)] = exploitability(loaded, profile)
        else:
            facts |= _one_seat(profile)
        if loaded.name == "kuhn":
            errors = kuhn_errors(profile)
            facts |= {
                "SQR-E": errors.squared,
                "DOM-E": errors.dominated,
                "nearest equilibrium gamma": errors.gamma,
            }
        if against is not None:
            other = read_strategy(against, loaded.name)
            for player in seats_between(profile, other):
                value = float(expected_value(loaded, other.replace(profile, player))[player])
                facts[f"value as {loaded.seats[player]} against {against}"] = value
    print_facts(facts, as_json)


def _by_boards(profile: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What is to be said of a strategy for hold'em."""
    from counterplay.evaluation.boards import best_values

    game = profile.game
    players = [0, 1] if profile.player is None else [1 - profile.player]
    with walk_progress() as tell:
        found = best_values(game, profile, players, **options, tell=tell)
    facts: dict[str, Any] = {"game": game.name} | unit_fact(game)
    for player, value in zip(players, found, strict=True):
        facts |= measured_fact(f"best response of {game.seats[player]}", value, "high")
    if profile.player is None:
        facts |= measured_fact(exploitability_name(game), sum(found), "high")
        facts |= measured_fact(f"the same {IN_MILLIBETS}", MILLIBETS * sum(found), "high")
    else:
        facts["meant for"] = seat_text(game, profile.player)
        facts |= measured_fact("worst case", -found[0], "low")
    return facts | flops_fact(found[0])


def _somebody(game: Any) -> str:
    """Whom to play: a bot where there are any, else another strategy."""
    return "always-call" if game.abilities.bots else f"OTHER --game '{game.name}'"


def _one_seat(response: Any) -> dict[str, Any]:
    """What is to be said of a strategy for one seat."""
    from counterplay.evaluation.exact import best_response
    from counterplay.solvers.value import game_value

    game, player = response.game, response.player
    value = game_value(game) * (1 if player == 0 else -1)
    worst = -best_response(game, response, 1 - player).value
    return {
        "meant for": f"{seat_text(game, player)}; the other is the model it responds to",
        "worst case": worst,
        "exploitability, below the value of the game": max(value - worst, 0.0),
    }


def show(
    context: typer.Context,
    strategy: Annotated[str, typer.Argument(help="A strategy file or a run folder.")],
    betting: Annotated[
        str, typer.Option(help="Hold'em: after these actions before the flop, such as r or cr.")
    ] = "",
    picture: Annotated[
        Path | None,
        typer.Option(
            "--out", help="Hold'em: where the picture goes (default: beside the strategy)."
        ),
    ] = None,
    game: Annotated[str | None, typer.Option(help="The game, where the file does not say.")] = None,
) -> None:
    """Show what a strategy does: its table, or in hold'em the grid of starting hands as a
    picture."""
    profile = read_strategy(strategy, game)
    if profile.player is not None:
        out.print(
            f"Meant for {seat_text(profile.game, profile.player)}; "
            "the other is the model it responds to."
        )
    if not profile.game.abilities.grid:
        refuse_given(
            context,
            ["betting", "picture"],
            f"the strategy is for {profile.game.name}, which has no picture",
        )
        for row in profile.table():
            out.print(str(row))
        return
    from counterplay.holdem.grid import grid_label, plot_grid, preflop_grid

    path = Path(strategy)
    name = path.name if path.is_dir() else path.stem
    picture = (
        picture
        or (path if path.is_dir() else path.parent)
        / f"{name}-preflop{'-' + betting if betting else ''}.png"
    )
    plot_grid(profile, picture, betting, name)
    grid = preflop_grid(profile, betting)
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
