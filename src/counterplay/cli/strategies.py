"""The command `evaluate`: how good a strategy is."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from counterplay.base.errors import BadParameter
from counterplay.cli.cluster import Ray, use_ray
from counterplay.cli.display import exploitability_name, seat_text, status, unit_fact
from counterplay.cli.facts import named, print_facts
from counterplay.cli.measured import (
    IN_MILLIBETS,
    MILLIBETS,
    MILLIBETS_KEY,
    Backend,
    Flops,
    flops_fact,
    measured_fact,
    walk_options,
    walk_progress,
)
from counterplay.cli.support import AsJson, read_strategy


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
    from counterplay.evaluation.exact import best_response, expected_value, exploitability
    from counterplay.evaluation.kuhn import kuhn_errors
    from counterplay.forms.strategy import seats_between

    profile = read_strategy(strategy, game)
    if method == "play" or (method is None and profile.game.abilities.keyed):
        if against is not None or backend is not None or flops is not None:
            raise BadParameter("--method play takes --seconds and --seed, and nothing else")
        print_facts(_by_play(profile, seconds, seed), as_json)
        return
    if method not in (None, "exact"):
        raise BadParameter(f"--method is exact or play, not {method!r}")
    if seconds is not None:
        raise BadParameter("--seconds goes with --method play")
    options = walk_options(backend, flops, seed)
    if profile.game.evaluator.on_request:
        if against is not None:
            raise BadParameter(
                f"--against is not for hold'em; counterplay match {strategy} {against}"
            )
        use_ray(ray)
        print_facts(_by_boards(profile, options), as_json)
        return
    if ray is not None:
        raise BadParameter(f"--ray is for hold'em here; {profile.game.name} is evaluated at once")
    if options:
        raise BadParameter(f"--{next(iter(options))} is for hold'em, not for {profile.game.name}")
    with status(f"evaluating {strategy}"):
        loaded = profile.game
        if not loaded.evaluator.immediate:
            raise BadParameter(
                f"{loaded.name} is too large to evaluate exactly; "
                f"play it: counterplay match {strategy} {_somebody(loaded)}"
            )
        facts: dict[str, Any] = {"game": loaded.name} | unit_fact(loaded)
        for player, value in enumerate(expected_value(loaded, profile)):
            facts[named(f"value to {loaded.seats[player]}", f"value_to_player_{player + 1}")] = (
                float(value)
            )
        for player in range(loaded.n_players):
            facts[_best_of(loaded, player)] = best_response(loaded, profile, player).value
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
                text = f"value as {loaded.seats[player]} against {against}"
                facts[named(text, f"value_as_player_{player + 1}_against")] = value
    print_facts(facts, as_json)


def _by_play(profile: Any, seconds: float | None, seed: int | None) -> dict[str, Any]:
    """What play shows of a strategy."""
    from counterplay.solvers.lower_bound import lower_bound

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


def _by_boards(profile: Any, options: dict[str, Any]) -> dict[str, Any]:
    """What is to be said of a strategy for hold'em."""
    from counterplay.evaluation.boards import best_values

    game = profile.game
    players = [0, 1] if profile.player is None else [1 - profile.player]
    with walk_progress() as tell:
        found = best_values(game, profile, players, **options, tell=tell)
    facts: dict[str, Any] = {"game": game.name} | unit_fact(game)
    for player, value in zip(players, found, strict=True):
        facts |= measured_fact(_best_of(game, player), value, "high")
    if profile.player is None:
        facts |= measured_fact(exploitability_name(game), sum(found), "high")
        same = named(f"the same {IN_MILLIBETS}", f"exploitability{MILLIBETS_KEY}")
        facts |= measured_fact(same, MILLIBETS * sum(found), "high")
    else:
        facts["meant for"] = seat_text(game, profile.player)
        facts |= measured_fact("worst case", -found[0], "low")
    return facts | flops_fact(found[0])


def _best_of(game: Any, player: int) -> str:
    return named(f"best response of {game.seats[player]}", f"best_response_of_player_{player + 1}")


def _somebody(game: Any) -> str:
    """Whom to play: a bot where there are any, else another strategy."""
    return "always-call" if game.can("bots") else f"OTHER --game '{game.name}'"


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
        named("exploitability, below the value of the game", "exploitability"): max(
            value - worst, 0.0
        ),
    }
