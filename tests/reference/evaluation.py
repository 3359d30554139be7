"""Expected value, best response by recursion over information sets, and counterfactual regret
straight from Eq 3."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from math import prod

from .common import Key, Node, Policy

Step = tuple[Node, int]  # a node and the child taken


def histories(node: Node, steps: tuple[Step, ...] = ()) -> Iterator[tuple[tuple[Step, ...], Node]]:
    """All terminal histories z: what was done at every node on the way, and the terminal node."""
    if node.terminal:
        yield steps, node
    for k, child in enumerate(node.children):
        yield from histories(child, (*steps, (node, k)))


def share(policy: Policy, step: Step) -> float:
    """The probability of a step by its owner, chance included."""
    node, k = step
    return node.chance[k] if node.player < 0 else policy[node.key][k]


def expected_value(root: Node, policy: Policy, player: int) -> float:
    """Σ_z π(z) u(z)."""
    return sum(
        prod(share(policy, step) for step in steps) * end.payoffs[player]
        for steps, end in histories(root)
    )


def best_response(level: list[tuple[Node, float]], policy: Policy, player: int) -> float:
    """The most `player` gets from here on; `level`: what the player cannot tell apart or has not
    got to yet, with π_-i."""
    value, infosets = 0.0, defaultdict(list)
    waiting = list(level)
    while waiting:
        node, weight = waiting.pop()
        if node.terminal:
            value += weight * node.payoffs[player]
        elif node.player == player:
            infosets[node.key].append((node, weight))
        else:
            waiting += [
                (child, weight * share(policy, (node, k))) for k, child in enumerate(node.children)
            ]
    for members in infosets.values():
        after = [
            [(node.children[a], weight) for node, weight in members]
            for a in range(members[0][0].count)
        ]
        value += max(best_response(children, policy, player) for children in after)
    return value


def counterfactual_regrets(root: Node, policy: Policy) -> dict[Key, list[float]]:
    """r(I, a) = v(σ_I→a, I) - v(σ, I) with v from Eq 3, one terminal history at a time."""
    regrets: dict[Key, list[float]] = {}
    for steps, end in histories(root):
        for k, (node, action) in enumerate(steps):
            if node.player < 0:
                continue
            others = prod(
                share(policy, step) for step in steps[:k] if step[0].player != node.player
            )
            tail = prod(share(policy, step) for step in steps[k + 1 :])
            here = regrets.setdefault(node.key, [0.0] * node.count)
            for a in range(node.count):  # σ_I→a plays `action` with probability one or zero
                here[a] += (
                    others
                    * tail
                    * end.payoffs[node.player]
                    * ((a == action) - policy[node.key][action])
                )
    return regrets
