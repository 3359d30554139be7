"""Two tables, or two policies of one game, against each other: whole blocks of hands in one call.

In a duplicate the random numbers of the second play are those of the first, seat by seat, so that a strategy against itself
comes to exactly zero, deal by deal.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.forms.access import child, infoset_at, player_at, start, utility
from counterplay.holdem.betting import NO_FOLD, BettingTree
from counterplay.holdem.form import N_DEALT, SHOWDOWN, bucket_of, compare, find_board
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.policy import sample_epsilon_greedy
from counterplay.kernels.rng import uniform
from counterplay.opponents.table import Table


@jit(inline=True)
def _reach_round(table: Table, hand: np.ndarray, board: int, player: int, rounds: int, code: np.ndarray) -> None:
    """Update what a player remembers of his buckets."""
    bucket = np.int64(bucket_of(table, hand, board, player, rounds))
    code[player] = code[player] * table.carry[rounds] + bucket


@jit
def _draw(table: Table, row: int, facing: bool, rng: np.ndarray) -> int:
    """The child an action of a row leads to: folding comes first where it is possible."""
    u = uniform(rng)
    fold, call = table.policy[index(row), index(0)], table.policy[index(row), index(1)]
    if u < fold:
        return 0
    shift = 1 if facing else 0
    return shift if u < fold + call or table.policy[index(row), index(2)] == 0.0 else shift + 1


@jit
def _play_hand(
    tree: BettingTree, flops: np.ndarray, next_boards: np.ndarray, one: Table, two: Table, hand: np.ndarray, code: np.ndarray,
    rng: np.ndarray,
) -> tuple[float, int]:  # fmt: skip
    """One hand with the cards in `hand`; what player 1 wins, and the node where it ends."""
    code[0] = code[1] = 0
    rounds = -1
    node = ZERO
    player = tree.player[node]
    while player >= 0:
        if tree.round[node] != rounds:
            rounds = int(tree.round[node])
            board = find_board(flops, next_boards, hand, rounds) if rounds > 0 else 0
            _reach_round(one, hand, board, 0, rounds, code)
            _reach_round(two, hand, board, 1, rounds, code)
        facing = tree.passive[index(tree.decision[node])] == 1
        if player == 0:
            action = _draw(one, one.first_row[node] + code[0], facing, rng)
        else:
            action = _draw(two, two.first_row[node] + code[1], facing, rng)
        node = index(tree.first_child[node]) + index(action)
        player = tree.player[node]
    folded = tree.folded[node]
    if folded != NO_FOLD:
        return float(tree.stake[node] * (-1 if folded == 0 else 1)), node
    compare(hand)
    return float(tree.stake[node] * hand[index(SHOWDOWN)]), node


@jit
def play_tables(
    tree: BettingTree, flops: np.ndarray, next_boards: np.ndarray, a: Table, b: Table, deals: np.ndarray, hand: np.ndarray,
    code: np.ndarray, rng: np.ndarray, kept: np.ndarray, duplicate: bool, won: np.ndarray,
    ends: np.ndarray,
) -> None:  # fmt: skip
    """Play every deal. Fills `won` (float64[deals, 2]): what `a` wins as player 1 and as player 2, NaN where it is not played;
    and `ends` (int32[deals, 2]): the nodes where the hands end."""
    for k in range(index(len(deals))):
        for j in range(index(N_DEALT)):
            hand[j] = deals[k, j]
        even = k & ONE == ZERO
        for j in range(index(4)):
            kept[j] = rng[j]
        won[k, ZERO] = won[k, ONE] = np.nan
        if duplicate or even:
            won[k, ZERO], ends[k, ZERO] = _play_hand(tree, flops, next_boards, a, b, hand, code, rng)
        if duplicate:
            for j in range(index(4)):
                rng[j] = kept[j]
        if duplicate or not even:
            lost, ends[k, ONE] = _play_hand(tree, flops, next_boards, b, a, hand, code, rng)
            won[k, ONE] = -lost


@jit(inline=True)
def _play_once(form: Any, hand: np.ndarray, one: np.ndarray, two: np.ndarray, rng: np.ndarray) -> Any:
    """One game of any two-player form; where it ends."""
    node = start(form, hand, rng)
    player = player_at(form, hand, node)
    while player >= 0:
        infoset = infoset_at(form, hand, node)
        first = index(form.first[infoset])
        count = index(form.first[infoset + ONE]) - first
        if player == 0:
            action, _ = sample_epsilon_greedy(one, first, count, 0.0, uniform(rng))
        else:
            action, _ = sample_epsilon_greedy(two, first, count, 0.0, uniform(rng))
        node = child(form, hand, node, action, rng)
        player = player_at(form, hand, node)
    return node


@jit
def play_policies(
    form: Any, hand: np.ndarray, a: np.ndarray, b: np.ndarray, rng: np.ndarray, kept: np.ndarray, duplicate: bool, won: np.ndarray
) -> None:
    """As `play_tables`, for two policies of one game; chance is drawn while playing."""
    for k in range(index(len(won))):
        even = k & ONE == ZERO
        for j in range(index(4)):
            kept[j] = rng[j]
        won[k, ZERO] = won[k, ONE] = np.nan
        if duplicate or even:
            won[k, ZERO] = utility(form, hand, _play_once(form, hand, a, b, rng), 0)
        if duplicate:
            for j in range(index(4)):
                rng[j] = kept[j]
        if duplicate or not even:
            won[k, ONE] = utility(form, hand, _play_once(form, hand, b, a, rng), 1)
