"""What somebody who knows a strategy wins from it, approximately, by pairs of buckets
(`bucket_pairs.py`).

The reply chooses an action at every public node for every bucket of its own: the one that is best
given the strategy's reach and all pairs of buckets, whatever the replier did before. It remembers
no earlier bucket and sees no card, so that this is the value of one reply: the best one, with all
cards, wins more. Two passes over the betting tree for each seat, some ten milliseconds.
"""

from __future__ import annotations

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.betting.betting import NO_FOLD, PublicNodes, row_of
from counterplay.poker.holdem.bucket_pairs import PairChance, mean_over_cards, pair_chance


@jit
def fill_reach(
    nodes: PublicNodes,
    first_row: np.ndarray,
    first: np.ndarray,
    own: np.ndarray,
    replier: int,
    chance: PairChance,
    reach: np.ndarray,
) -> None:
    """Fills `reach` (float64[n, b²]) with the probability of each pair of buckets at each public
    node where a player acts, if the replier plays to get there."""
    b = index(chance.buckets)
    pairs = b * b
    reach[:] = 0.0
    for p in range(pairs):
        reach[ZERO, p] = chance.first[p]
    for node in range(index(len(nodes.player))):
        player = nodes.player[node]
        low, high = index(nodes.first_child[node]), index(nodes.first_child[node + ONE])
        if player < 0:
            continue
        for p in range(pairs):
            mass = reach[node, p]
            if mass == 0.0:
                continue
            bucket = p // b if player == 0 else p % b
            slot = index(first[index(row_of(first_row, node, np.int64(bucket)))])
            for c in range(low, high):
                if nodes.player[c] < 0:
                    continue
                share = mass if player == replier else mass * own[slot + c - low]
                if nodes.street[c] == nodes.street[node]:
                    reach[c, p] += share
                elif share > 0.0:
                    step = chance.step[index(nodes.street[node])]
                    for q in range(pairs):
                        reach[c, q] += share * step[p, q]


@jit
def fill_replies(
    nodes: PublicNodes,
    starts_street: np.ndarray,
    first_row: np.ndarray,
    first: np.ndarray,
    own: np.ndarray,
    replier: int,
    chance: PairChance,
    reach: np.ndarray,
    value: np.ndarray,
    before: np.ndarray,
) -> None:
    """Fills `value` and `before` (float64[n, b²], as in `fill_values`) with what the replier wins
    by the reply. `reach`: of `fill_reach`."""
    b = index(chance.buckets)
    pairs = b * b
    sign = 1.0 if replier == 0 else -1.0
    node = index(len(nodes.player))
    while node > ZERO:
        node -= ONE
        player = nodes.player[node]
        low, high = index(nodes.first_child[node]), index(nodes.first_child[node + ONE])
        if player < 0:
            folded = nodes.folded[node]
            for p in range(pairs):
                won = chance.showdown[p] if folded == NO_FOLD else (-1.0 if folded == 0 else 1.0)
                value[node, p] = sign * nodes.stake[node] * won
            continue
        for mine in range(b):  # the bucket of whoever acts
            best, most = low, -np.inf
            if player == replier:
                for c in range(low, high):
                    new = nodes.player[c] >= 0 and nodes.street[c] != nodes.street[node]
                    total = 0.0
                    for other in range(b):
                        p = mine * b + other if player == 0 else other * b + mine
                        total += reach[node, p] * (before[c, p] if new else value[c, p])
                    if total > most:
                        best, most = c, total
            slot = index(first[index(row_of(first_row, node, np.int64(mine)))])
            for other in range(b):
                p = mine * b + other if player == 0 else other * b + mine
                total = 0.0
                for c in range(low, high):
                    share = own[slot + c - low]
                    if player == replier:
                        share = 1.0 if c == best else 0.0
                    new = nodes.player[c] >= 0 and nodes.street[c] != nodes.street[node]
                    total += share * (before[c, p] if new else value[c, p])
                value[node, p] = total
        street = nodes.street[node]
        if street > 0 and starts_street[node]:
            mean_over_cards(chance, street, value[node], before[node])


def reply_value(game: Game, own: np.ndarray) -> float:
    """Returns what the reply wins per hand from a strategy (probabilities by slot), a mean over
    both seats: approximately, and less than a best response."""
    chance, form = pair_chance(game), game.form
    street = form.nodes.street
    starts = street != street[game.rules.tree.parent]
    rows, shape = (form.first_row, form.first, own), (form.n_nodes, chance.buckets**2)
    won = []
    for replier in (0, 1):
        reach, value, before = np.zeros(shape), np.zeros(shape), np.zeros(shape)
        fill_reach(form.nodes, *rows, replier, chance, reach)
        fill_replies(form.nodes, starts, *rows, replier, chance, reach, value, before)
        won.append(float(chance.first @ value[0]))
    return float(np.mean(won))
