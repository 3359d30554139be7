"""AIVAT on games with a tree (Burch, Schmid, Moravčík, Morrill & Bowling 2018): unbiased payoffs
with less variance.

u(h) is any estimate of the value of a history. At chance nodes and at those of players with a known
strategy, the mean of u over the children minus u of the sampled child has mean zero, and is added
to the payoff:

    base(z) = v(z) + Σ_h (Σ_a p(a) u(ha) - u(h a_z))        over the known nodes h on the path to z.

If one player is unknown, the other's alternatives are averaged out (imaginary observations): A(z) =
Σ π(z') base(z') / Σ π(z') over the terminals z' with the same sequence of the unknown player, π the
reach probability of chance and the known player. Both steps keep the mean for any u. With exact
values and both players known, every terminal gets the value of the game.

Deviations: the average is over all terminals that the unknown player cannot distinguish, not only
over those with the same public cards, and base is averaged as a whole; both reduce the variance.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import treeplex
from counterplay.core.forms.strategy import Strategy
from counterplay.core.forms.tree import CHANCE, TERMINAL, HistoryTree
from counterplay.core.kernels.jit import jit

BOTH = (0, 1)


class PlayedDeals(NamedTuple):
    """The outcome of n deals."""

    cards: np.ndarray | None  # uint8[n, 9] in hold'em
    won: np.ndarray  # float64[n, 2]: by `a` as player 1 and as player 2, NaN where not played
    ends: np.ndarray  # int32[n, 2]: terminal nodes

    @classmethod
    def of_hand(cls, cards: Sequence[int], seat: int, won: float, end: int) -> PlayedDeals:
        """One deal that `a` played in `seat` alone."""
        ends = np.zeros((1, 2), dtype=np.int32)
        played = cls(np.array([cards], dtype=np.uint8), np.full((1, 2), np.nan), ends)
        played.won[0, seat], played.ends[0, seat] = won, end
        return played


@jit
def _fill_values(
    tree: HistoryTree, policies: np.ndarray, payoff: np.ndarray, value: np.ndarray
) -> None:
    """Fills `value` with the expected payoff of every node, children first."""
    for node in range(len(tree.player) - 1, -1, -1):
        player = tree.player[node]
        if player == TERMINAL:
            value[node] = payoff[tree.row[node]]
            continue
        low, total = tree.first_child[node], 0.0
        for c in range(low, tree.first_child[node + 1]):
            total += _share(tree, policies, node, c - low) * value[c]
        value[node] = total


@jit
def _share(tree: HistoryTree, policies: np.ndarray, node: int, action: int) -> float:
    player = tree.player[node]
    if player == CHANCE:
        return float(tree.chance_probability[tree.chance_first[tree.row[node]] + action])
    return float(policies[player, tree.first[tree.row[node]] + action])


@jit
def _fill_corrections(
    tree: HistoryTree,
    policies: np.ndarray,
    known: np.ndarray,
    value: np.ndarray,
    correction: np.ndarray,
    reach: np.ndarray,
) -> None:
    """Fills the corrections on the path to every node, and the reach of all known players."""
    correction[0], reach[0] = 0.0, 1.0
    for node in range(len(tree.player)):
        player = tree.player[node]
        low, high = tree.first_child[node], tree.first_child[node + 1]
        fixed = player == CHANCE or (player >= 0 and known[player])
        mean = 0.0
        if fixed:
            for c in range(low, high):
                mean += _share(tree, policies, node, c - low) * value[c]
        for c in range(low, high):
            correction[c] = correction[node] + (mean - value[c] if fixed else 0.0)
            reach[c] = reach[node] * (_share(tree, policies, node, c - low) if fixed else 1.0)


def tree_values(game: Game, policies: np.ndarray, seat: int) -> np.ndarray:
    """float64[nodes]: the expected payoff of `seat` at each node; `policies`: float64[2, slots]."""
    value = np.empty(game.tree.n_nodes)
    payoff = np.ascontiguousarray(game.tree.payoff[:, seat])
    _fill_values(game.tree, policies, payoff, value)
    return value


def adjusted_payoffs(
    game: Game,
    policies: np.ndarray,
    seat: int,
    known: tuple[int, ...] = BOTH,
    values: np.ndarray | None = None,
) -> np.ndarray:
    """float64[nodes]: the luck-adjusted payoff of `seat` at every terminal, NaN elsewhere.

    `policies`: float64[2, slots]; only those of the `known` players are used. `values`: u,
    float64[nodes]; by default the exact values of these policies.
    """
    if game.n_players != 2:
        raise BadParameter(f"matches are for two players, and {game.name} has {game.n_players}")
    tree = game.tree
    policies = np.ascontiguousarray(policies, dtype=np.float64)
    if values is None:
        values = tree_values(game, policies, seat)
    correction, reach = np.empty(tree.n_nodes), np.empty(tree.n_nodes)
    flags = np.array([player in known for player in BOTH])
    _fill_corrections(tree, policies, flags, np.ascontiguousarray(values), correction, reach)
    ends = np.flatnonzero(tree.player == TERMINAL)
    base = tree.payoff[tree.row[ends], seat] + correction[ends]
    if flags.sum() == 1:  # the mean over terminals with the same sequence of the unknown player
        sequence = treeplex(tree, int(np.flatnonzero(~flags)[0]))[1][ends]
        total = np.bincount(sequence, reach[ends])
        mean = np.bincount(sequence, reach[ends] * base) / np.where(total > 0, total, 1.0)
        base = np.where(total[sequence] > 0, mean[sequence], base)
    adjusted = np.full(tree.n_nodes, np.nan)
    adjusted[ends] = base
    return adjusted


class TreeLuckAdjustment:
    """Luck-adjusted payoffs of two strategies in a game with a tree."""

    def __init__(self, game: Game, a: Strategy, b: Strategy) -> None:
        pairs = ((a, b, 0), (b, a, 1))
        self._payoff = [
            adjusted_payoffs(game, np.stack([one.probabilities, two.probabilities]), seat)
            for one, two, seat in pairs
        ]

    def adjusted(self, raw: PlayedDeals) -> np.ndarray:
        """float64[n, 2]: the luck-adjusted payoff of `a`."""
        played = ~np.isnan(raw.won)
        ends = np.where(played, raw.ends, 0)
        payoffs = np.stack([self._payoff[seat][ends[:, seat]] for seat in (0, 1)], axis=1)
        return np.where(played, payoffs, np.nan)
