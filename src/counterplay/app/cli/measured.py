"""What `evaluate` prints about strategies of hold'em: measured on flops, certified, or given by a
function."""

from __future__ import annotations

from typing import Any

from counterplay.app.cli import display
from counterplay.app.cli.display import named


def best_response_name(game: Any, player: int) -> str:
    return named(f"best response of {game.seats[player]}", f"best_response_of_player_{player + 1}")


def holdem_facts(game: Any, profile: Any, options: dict[str, Any]) -> dict[str, Any]:
    """The facts of a strategy for hold'em, or of the table of a bot."""
    from counterplay.poker.vector import evaluation

    seat = getattr(profile, "player", None)
    players = [0, 1] if seat is None else [1 - seat]
    known = _announced(game, profile, players, options) if "flops" in options else None
    with display.share_progress(display.TRAVERSING) as progress:
        options["progress"] = lambda share: progress(share, f"{share:.0%} of the flops")
        beside = {} if known is None else {"known": known}
        values = evaluation.best_response_values(game, profile, players, **options, **beside)
    total = sum(values)
    facts: dict[str, Any] = {"game": game.name} | display.unit_fact(game)
    for player, value in zip(players, values, strict=True):
        facts |= display.measured_fact(best_response_name(game, player), value, "high")
    if seat is None:
        facts |= display.measured_fact(display.exploitability_name(game), total, "high")
        same = named(f"the same {display.IN_MILLIBETS}", f"exploitability{display.MILLIBETS_KEY}")
        facts |= display.measured_fact(same, display.MILLIBETS * total, "high")
    else:
        facts["meant for"] = display.seat_text(game, seat)
        facts |= display.measured_fact("worst case", -values[0], "low")
    if known is not None:
        certified = f"{display.MILLIBETS * known.exploitability:g} mb/g over every board"
        facts["control variate"] = f"{known.name}, {certified}"
    return facts | display.flops_fact(values[0])


def _announced(game: Any, profile: Any, players: list[int], options: dict[str, Any]) -> Any:
    """Says how long an estimate takes and how wide it will be; the known player beside it."""
    from counterplay.core.games.players import players_of
    from counterplay.poker.bots.known import announcement
    from counterplay.poker.vector.evaluation import check_traversal, tables_of

    check_traversal(game, **options, queries=len(players))
    with display.status("reading the known player"):
        known = players_of(game).known_player(tables_of(profile)[0])
    backend = options.get("backend", "auto")
    display.err.print(announcement(game, backend, options["flops"], len(players), known))
    return known


def announce_responses(game: Any, options: dict[str, Any], queries: int) -> None:
    """Says how long the estimates of responses take, with so many queries in all."""
    from counterplay.core.games.players import players_of
    from counterplay.poker.bots.known import announcement_of_many

    if "flops" not in options or not game.evaluator.on_request:
        return
    game.evaluator.check(options, queries)
    with display.status("reading the known player"):
        known = players_of(game).known_player(None)
    backend = options.get("backend", "auto")
    display.err.print(announcement_of_many(game, backend, options["flops"], queries, known))


def certified_facts(game: Any, shipped: Any) -> dict[str, Any]:
    """The exploitability of a shipped strategy, which was measured when it was trained."""
    shipped.on(game)  # an error for another game or a damaged file
    facts: dict[str, Any] = {"game": game.name} | display.unit_fact(game)
    facts[display.exploitability_name(game)] = shipped.exploitability
    same = named(f"the same {display.IN_MILLIBETS}", f"exploitability{display.MILLIBETS_KEY}")
    facts[same] = shipped.mb_per_game
    trained = f"{shipped.algorithm}, {shipped.iterations:,} iterations, {shipped.date}"
    facts |= {"measured": "exact", "trained by": trained, "command": shipped.command}
    again = display.suggested("evaluate", shipped.name, "--method", "exact")
    facts["measure again"] = again
    return facts


def say_calls(game: Any, policy: Any, flops: int | None = None) -> None:
    """Says beforehand how often a policy is called; nothing for another player."""
    from counterplay.poker.players import is_vector_policy

    if is_vector_policy(policy):
        calls = policy.expected_calls(game, flops)
        display.err.print(f"{policy.name} is called about {calls:,} times")


def policy_facts(game: Any, policy: Any) -> dict[str, Any]:
    """The facts of a function of boards and betting, in a game that ends on the flop."""
    from counterplay.core.evaluation.exact import best_response

    say_calls(game, policy)
    facts: dict[str, Any] = {"game": game.name} | display.unit_fact(game)
    total = 0.0
    for player in range(2):
        with display.share_progress(f"best response of {game.seats[player]}") as progress:

            def report(share: float, show: Any = progress) -> None:
                show(share, f"{share:.0%} of the calls")

            value = best_response(game, policy, player, progress=report).value
        facts[best_response_name(game, player)] = value
        total += value
    facts[display.exploitability_name(game)] = total
    return facts | {"calls of the policy": policy.calls}
