"""The public betting tree of two-player limit hold'em, ACPC rules: 6,378 decisions, 10,206 ends.

Amounts are in small bets (a small bet is the big blind). Blinds are 1/2 and 1, bets 1 before and on the flop and 2 later, at
most four bets a round with the big blind counting as the first. Player 1 is the dealer: he has the small blind, acts first
before the flop and last afterwards. Nobody folds without facing a bet.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from counterplay.forms.tree import TERMINAL

ROUNDS = ("preflop", "flop", "turn", "river")
BET = (1.0, 1.0, 2.0, 2.0)
MAX_BETS = 4
FOLD, CALL, RAISE = "fold", "call", "raise"
ACTIONS = (FOLD, CALL, RAISE)
BOARD_CARDS = (0, 3, 4, 5)  # on the board, by round
NO_FOLD = -1  # `folded` where nobody did


class BettingTree(NamedTuple):
    """Public nodes, numbered level by level: n of them."""

    player: np.ndarray  # int8[n]: 0, 1 or TERMINAL
    first_child: np.ndarray  # int32[n + 1]
    round: np.ndarray  # int8[n]
    decision: (
        np.ndarray
    )  # int32[n]: number of the decision, player by player and parents first; -1 at ends
    folded: np.ndarray  # int8[n]: who folded at an end, or NO_FOLD for a showdown
    stake: np.ndarray  # float64[n]: what the loser of an end has put in
    passive: np.ndarray  # int16[decisions]: the action that checks or calls
    action_count: np.ndarray  # int32[decisions]
    node: np.ndarray  # int32[decisions]: where it stands


@dataclass(frozen=True)
class Betting:
    """The public state: a history of letters f, c, r, with / between rounds."""

    history: str = ""
    round: int = 0
    bets: int = 1  # this round; the big blind is one
    acted: int = 0  # actions this round
    paid: tuple[float, float] = (0.5, 1.0)
    folded: int = NO_FOLD
    over: bool = False

    def player(self) -> int:
        if self.over:
            return TERMINAL
        return self.acted % 2 if self.round == 0 else (self.acted + 1) % 2

    def actions(self) -> list[str]:
        mine = self.player()
        facing = [FOLD] if self.paid[mine] < self.paid[1 - mine] else []
        return [*facing, CALL, *([RAISE] if self.bets < MAX_BETS else [])]

    def child(self, action: str) -> Betting:
        mine = self.player()
        history = self.history + action[0]
        if action == FOLD:
            return Betting(history, self.round, self.bets, self.acted + 1, self.paid, mine, True)
        owed = max(self.paid)
        paid = list(self.paid)
        paid[mine] = owed + (BET[self.round] if action == RAISE else 0.0)
        if action == RAISE:
            return Betting(history, self.round, self.bets + 1, self.acted + 1, (paid[0], paid[1]))
        if self.acted == 0:  # a check or a limp opens the round
            return Betting(history, self.round, self.bets, 1, (paid[0], paid[1]))
        if self.round == len(ROUNDS) - 1:
            return Betting(
                history, self.round, self.bets, self.acted + 1, (paid[0], paid[1]), NO_FOLD, True
            )
        return Betting(history + "/", self.round + 1, 0, 0, (paid[0], paid[1]))


class _Built(NamedTuple):
    tree: BettingTree
    states: list[Betting]  # per node
    actions: list[list[str]]  # per node


@cache
def _build() -> _Built:
    level, nodes, children = [Betting()], [], []
    while level:
        nodes += level
        below = [
            [state.child(action) for action in state.actions()] if not state.over else []
            for state in level
        ]
        children += [len(group) for group in below]
        level = [state for group in below for state in group]
    player = np.array([state.player() for state in nodes], dtype=np.int8)
    order = [k for who in (0, 1) for k in range(len(nodes)) if player[k] == who]
    decision = np.full(len(nodes), -1, dtype=np.int32)
    decision[order] = np.arange(len(order), dtype=np.int32)
    actions = [state.actions() if not state.over else [] for state in nodes]
    first_child = np.ones(len(nodes) + 1, dtype=np.int32)
    first_child[1:] += np.cumsum(children, dtype=np.int32)
    tree = BettingTree(
        player=player,
        first_child=first_child,
        round=np.array([state.round for state in nodes], dtype=np.int8),
        decision=decision,
        folded=np.array([state.folded for state in nodes], dtype=np.int8),
        stake=np.array([min(state.paid) for state in nodes]),
        passive=np.array([actions[k].index(CALL) for k in order], dtype=np.int16),
        action_count=np.array([len(actions[k]) for k in order], dtype=np.int32),
        node=np.array(order, dtype=np.int32),
    )
    return _Built(tree, nodes, actions)


def betting_tree() -> BettingTree:
    """The tree, built once (0.1 s)."""
    return _build().tree


def betting_states() -> list[Betting]:
    """The public state of every node."""
    return _build().states


@cache
def betting_histories() -> list[str]:
    """Letters of every node, such as `rc/cr`."""
    return [state.history for state in betting_states()]


def betting_actions() -> list[list[str]]:
    """Names of the actions at every node."""
    return _build().actions
