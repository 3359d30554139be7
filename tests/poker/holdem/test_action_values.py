"""Values of actions: on the river those of a recursion over pairs of holdings, on the turn equity
where nobody bets."""

from __future__ import annotations

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.poker.betting.betting import ACTIONS, LETTER, NO_FOLD
from counterplay.poker.bots.simple import simple_strategy
from counterplay.poker.cards.cards import HOLDING_CARDS, cards
from counterplay.poker.cards.evaluator import strength
from counterplay.poker.holdem import action_values as module
from counterplay.poker.holdem.action_values import action_values
from counterplay.poker.holdem.holdings import (
    action_probabilities,
    bucket_codes,
    canonical_board,
    strengths_on,
)
from counterplay.poker.holdem.table import strategy_table

GAME = cp.load("holdem(buckets=2)")
TREE = GAME.rules.tree


def path_of(history: str) -> list[int]:
    path = [0]
    for letter in history.replace("/", ""):
        path.append(TREE.moves[path[-1]][LETTER[letter]])
    return path


class Naive:
    """Two holdings at a time."""

    def __init__(self, own: cp.Strategy, other: cp.Strategy, seat: int, board: tuple[int, ...]):
        self.seat, self.board = seat, board
        self.tables = [strategy_table(s) for s in ((own, other) if seat == 0 else (other, own))]

    def share(self, node: int, holding: int, name: str) -> float:
        player, street = int(TREE.nodes.player[node]), int(TREE.nodes.street[node])
        codes = bucket_codes(self.tables[player], self.board[: (0, 3, 4, 5)[street]], street)
        rows = action_probabilities(self.tables[player], node, codes)
        return float(rows[holding, ACTIONS.index(name)])

    def value(self, node: int, held: tuple[int, int]) -> float:
        state = TREE.states[node]
        if state.over:
            stake = min(state.paid)
            if state.folded != NO_FOLD:
                return -stake if state.folded == self.seat else stake
            mine, theirs = (
                strength([*HOLDING_CARDS[k].tolist(), *self.board])
                for k in (held if self.seat == 0 else held[::-1])
            )
            return float(stake * np.sign(mine - theirs))
        names, first = TREE.actions[node], int(TREE.nodes.first_child[node])
        holding = held[int(TREE.nodes.player[node])]
        return sum(
            self.share(node, holding, name) * self.value(first + k, held)
            for k, name in enumerate(names)
        )


@pytest.mark.parametrize("history", ["cc/cc/cc/", "rc/crc/cc/r"])
def test_on_the_river_as_by_pairs_of_holdings(history: str) -> None:
    own, other = (cp.Strategy.random(GAME, seed) for seed in (1, 2))
    board, path = tuple(cards("AsKd7c2h9s")), path_of(history)
    node, seat = path[-1], int(TREE.nodes.player[path[-1]])
    first, paid = int(TREE.nodes.first_child[node]), TREE.states[node].paid[seat]
    tables = strategy_table(own), strategy_table(other)
    naive, holding = Naive(own, other, seat, board), 700
    theirs = [
        k
        for k in range(0, 1326, 60)
        if not {*HOLDING_CARDS[k].tolist()} & {*HOLDING_CARDS[holding].tolist(), *board}
    ]
    reach = np.zeros(1326)
    reach[theirs] = np.linspace(0.1, 1.0, len(theirs))
    search = module._Subgame(TREE, seat, *tables)
    for k in range(len(TREE.actions[node])):
        right = sum(
            reach[j] * naive.value(first + k, (holding, j) if seat == 0 else (j, holding))
            for j in theirs
        )
        got = search.values({first + k: reach}, board)[first + k][holding]
        assert got == pytest.approx(right, abs=1e-4)
    found = action_values(TREE, *tables, path, board)
    if "fold" in found.actions:
        assert found.value[0][found.weight > 0] == pytest.approx(0.0, abs=1e-12)
        free = canonical_board(board).free
        assert paid > 0
        assert (found.weight > 0).sum() <= free.sum()


@pytest.mark.slow
def test_on_the_turn_it_is_equity_where_nobody_bets() -> None:
    table = strategy_table(simple_strategy("always-call", GAME))
    board = tuple(cards("AsKd7c2h"))
    found = action_values(TREE, table, table, path_of("cc/cc/"), board)
    equity = strengths_on(canonical_board(board))
    free = found.weight > 0
    paid = 1.0  # of each player: the check wins or loses it
    assert found.value[0][free] == pytest.approx(paid * (2 * equity[free] - 1) + paid, abs=1e-4)


def test_before_the_turn_nothing_is_said() -> None:
    table = strategy_table(simple_strategy("always-call", GAME))
    with pytest.raises(BadParameter, match="on the turn and the river"):
        action_values(TREE, table, table, path_of("cc/"), tuple(cards("AsKd7c")))
