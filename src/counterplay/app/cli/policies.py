"""Policies given by functions, in the command `evaluate`."""

from __future__ import annotations

from typing import Any

from counterplay.app.cli import display
from counterplay.app.cli.measured import best_response_name


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
