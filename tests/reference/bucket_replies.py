"""Twin of `poker/holdem/bucket_replies.py`: one recursion over the public tree."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.holdem.bucket_pairs import pair_chance


def reply(
    game: Any,
    models: list[np.ndarray],
    weights: list[float],
    base: np.ndarray,
    tau: float,
    seat: int,
) -> tuple[np.ndarray, float]:
    """The reply of one seat to a mixture (probabilities by slot), and what it wins."""
    chance, tree, nodes = pair_chance(game), game.rules.tree, game.rules.tree.nodes
    b, policy = chance.buckets, base.copy()
    step = chance.step.reshape(3, b, b, b, b)
    showdown = chance.showdown.reshape(b, b)

    def slot(node: int, bucket: int) -> int:
        return int(game.form.first[game.form.first_row[node] + bucket])

    def value(node: int, reach: list[np.ndarray]) -> list[np.ndarray]:
        """What the reply wins from each model, for every pair; `reach`: of each model."""
        sign = 1.0 if seat == 0 else -1.0
        if nodes.player[node] < 0:
            folded = int(nodes.folded[node])
            won = showdown if folded == NO_FOLD else np.full((b, b), -1.0 if folded == 0 else 1.0)
            return [sign * nodes.stake[node] * won for _ in models]
        player, children = int(nodes.player[node]), list(tree.moves[node].values())
        after = []
        for a, child in enumerate(children):
            shares = [
                np.array([1.0 if player == seat else model[slot(node, k) + a] for k in range(b)])
                for model in models
            ]
            there = [
                mass * (share[:, None] if player == 0 else share[None, :])
                for mass, share in zip(reach, shares, strict=True)
            ]
            street = int(nodes.street[node])
            if nodes.player[child] >= 0 and nodes.street[child] != street:
                moved = [np.einsum("ij,ijkl->kl", mass, step[street]) for mass in there]
                found = value(child, moved)
                after.append([np.einsum("ijkl,kl->ij", step[street], one) for one in found])
            else:
                after.append(value(child, there))
        for k in range(b) if player == seat else ():
            row = (lambda array, k=k: array[k]) if player == 0 else (lambda array, k=k: array[:, k])
            masses = [w * row(mass) for w, mass in zip(weights, reach, strict=True)]
            wins = np.array(
                [sum(m @ row(v) for m, v in zip(masses, one, strict=True)) for one in after]
            )
            wins /= max(sum(mass.sum() for mass in masses), 1e-300)
            here = slice(slot(node, k), slot(node, k) + len(children))
            share = base[here] * np.exp((wins - wins.max()) / tau)
            policy[here] = share / share.sum()
        mine = [[policy[slot(node, k) + a] for k in range(b)] for a in range(len(children))]
        total = []
        for h, model in enumerate(models):
            his = [[model[slot(node, k) + a] for k in range(b)] for a in range(len(children))]
            shares = np.array(mine if player == seat else his)
            weight = shares[:, :, None] if player == 0 else shares[:, None, :]
            total.append(sum(weight[a] * after[a][h] for a in range(len(children))))
        return total

    first = chance.first.reshape(b, b)
    won = value(0, [first.copy() for _ in models])
    return policy, float(sum(w * (first * v).sum() for w, v in zip(weights, won, strict=True)))
