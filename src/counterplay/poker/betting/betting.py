"""Two-player limit betting: `BettingRules`, and their public tree as a `BettingTree`.

`LIMIT` are the ACPC rules of limit hold'em: 6,378 decisions, 10,206 terminal nodes. Amounts are in
small bets (a small bet is the big blind). Player 1 is the dealer, who posts the small blind, acts
first on the first street and last on later streets. Folding is legal only when facing a bet.

A strategy has a row for each decision of the tree and each bucket of its street, numbered decision
by decision, bucket by bucket; rows are the information sets of the form. `row_of` is the only place
that computes a row, in kernels and outside of them.

A `Place` is what locks and tendencies name: a street, with or without a seat before it and what is
faced after it, as `river`, `dealer river`, `bb flop facing bet`, `preflop facing re-raise`. In a
spot the player in position is the dealer. `facing raise` is a raise or a re-raise.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import Any, NamedTuple

import numpy as np
from numba.extending import register_jitable

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.tree import TERMINAL

STREETS = ("preflop", "flop", "turn", "river")
FOLD, CALL, RAISE = "fold", "call", "raise"
ACTIONS = (FOLD, CALL, RAISE)
LETTER = {action[0]: action for action in ACTIONS}
UNIT = ("small bets", "hand", "sb/h")  # of payoffs
NO_FOLD = -1  # `folded` at a node without a fold


@dataclass(frozen=True)
class BettingRules:
    """Blinds, and for each street the size of a bet, the most bets, the number of cards on the
    board and the player who acts first."""

    blinds: tuple[float, float] = (0.5, 1.0)  # small and big; a larger big blind is a bet
    bets: tuple[float, ...] = (1.0, 1.0, 2.0, 2.0)
    most_bets: tuple[int, ...] = (4, 4, 4, 4)  # on the first street the big blind counts as one
    board: tuple[int, ...] = (0, 3, 4, 5)
    first: tuple[int, ...] = (0, 1, 1, 1)  # games with fewer streets use the first ones

    def __post_init__(self) -> None:
        streets = len(self.bets)
        if not 1 <= streets <= len(STREETS) or {len(self.most_bets), len(self.board)} != {streets}:
            raise BadParameter(
                f"betting has one to {len(STREETS)} streets, each with a bet, a number of bets and "
                f"a board; got {streets}, {len(self.most_bets)} and {len(self.board)} of them"
            )
        if min(self.bets) <= 0 or not 0 < self.blinds[0] <= self.blinds[1]:
            raise BadParameter(
                f"bets are above 0 and the small blind is above 0 and at most the big one; "
                f"got bets {self.bets} and blinds {self.blinds}"
            )
        if self.most_bets[0] < self.blind_bets or min(self.most_bets) < 0:
            raise BadParameter(
                f"a street has 0 bets or more, and the big blind is one; got {self.most_bets}"
            )

        if len(self.first) < streets or not {*self.first} <= {0, 1}:
            raise BadParameter(
                f"player 0 or 1 acts first on each of the {streets} streets; got {self.first}"
            )

    @property
    def n_streets(self) -> int:
        return len(self.bets)

    @property
    def blind_bets(self) -> int:
        """Bets on the first street before the first action."""
        return int(self.blinds[0] < self.blinds[1])

    def start(self) -> Betting:
        """Returns the state before the first action."""
        return Betting(bets=self.blind_bets, paid=self.blinds, rules=self)


LIMIT = BettingRules()


@dataclass(frozen=True)
class Betting:
    """A public state. `history`: letters f, c, r, with / between rounds."""

    history: str = ""
    round: int = 0
    bets: int = 1  # this round; the big blind is one
    acted: int = 0  # actions this round
    paid: tuple[float, float] = (0.5, 1.0)
    folded: int = NO_FOLD
    over: bool = False
    rules: BettingRules = field(default=LIMIT, repr=False)

    def player(self) -> int:
        if self.over:
            return TERMINAL
        return (self.acted + self.rules.first[self.round]) % 2

    def actions(self) -> list[str]:
        mine = self.player()
        facing = [FOLD] if self.paid[mine] < self.paid[1 - mine] else []
        return [*facing, CALL, *([] if self.capped else [RAISE])]

    @property
    def capped(self) -> bool:
        """Whether no more bets are allowed on this street."""
        return self.bets >= self.rules.most_bets[self.round]

    @property
    def on_board(self) -> int:
        """Cards on the board."""
        return self.rules.board[self.round]

    def child(self, action: str) -> Betting:
        mine = self.player()
        history, acted = self.history + action[0], self.acted + 1
        if action == FOLD:
            return self._next(history, self.round, self.bets, acted, self.paid, mine, True)
        owed = max(self.paid) + (self.rules.bets[self.round] if action == RAISE else 0.0)
        paid = (owed, self.paid[1]) if mine == 0 else (self.paid[0], owed)
        if action == RAISE:
            return self._next(history, self.round, self.bets + 1, acted, paid)
        if self.acted == 0:  # a check or a limp as the first action
            return self._next(history, self.round, self.bets, 1, paid)
        if self.round == self.rules.n_streets - 1:
            return self._next(history, self.round, self.bets, acted, paid, NO_FOLD, True)
        return self._next(history + "/", self.round + 1, 0, 0, paid)

    def _next(
        self,
        history: str,
        street: int,
        bets: int,
        acted: int,
        paid: tuple[float, float],
        folded: int = NO_FOLD,
        over: bool = False,
    ) -> Betting:
        return Betting(history, street, bets, acted, paid, folded, over, self.rules)


class PublicNodes(NamedTuple):
    """The tree in arrays for kernels: n nodes, numbered level by level; d decisions."""

    player: np.ndarray  # int8[n]: 0, 1 or TERMINAL
    first_child: np.ndarray  # int32[n + 1]
    street: np.ndarray  # int8[n]
    decision: np.ndarray  # int32[n]: its number, player by player, parents first; -1 at terminals
    folded: np.ndarray  # int8[n]: the player who folded at a terminal, or NO_FOLD for a showdown
    stake: np.ndarray  # float64[n]: what the loser has put into the pot
    passive: np.ndarray  # int16[d]: the action that checks or calls
    action_count: np.ndarray  # int32[d]
    node: np.ndarray  # int32[d]: the node of a decision


@dataclass(frozen=True, eq=False)
class BettingTree:
    """The public tree of some rules: arrays for kernels, and the state of each node."""

    rules: BettingRules
    nodes: PublicNodes
    states: list[Betting]  # per node
    actions: list[list[str]]  # per node: names of the actions

    @cached_property
    def histories(self) -> list[str]:
        """Betting history of every node, such as `rc/cr`."""
        return [state.history for state in self.states]

    @cached_property
    def moves(self) -> list[dict[str, int]]:
        """Per node: the child of each action."""
        first = self.nodes.first_child.tolist()
        return [
            {action: first[node] + k for k, action in enumerate(names)}
            for node, names in enumerate(self.actions)
        ]

    @cached_property
    def legal(self) -> np.ndarray:
        """bool[nodes, 3]: which of `ACTIONS` are legal."""
        return np.array([[action in names for action in ACTIONS] for names in self.actions])

    @cached_property
    def parent(self) -> np.ndarray:
        """int32[nodes]: the node before; 0 for the root."""
        parent = np.zeros(len(self.states), dtype=np.int32)
        parent[1:] = np.repeat(np.arange(len(self.states)), np.diff(self.nodes.first_child))
        return parent

    @cached_property
    def depth(self) -> int:
        """Most decisions in a hand."""
        return max(len(history.replace("/", "")) for history in self.histories)

    def __reduce__(self) -> tuple[object, ...]:
        """Pickles the rules alone; the tree is built again from them."""
        return betting_tree, (self.rules,)


@cache
def betting_tree(rules: BettingRules) -> BettingTree:
    """Returns the tree of some rules, built once (0.1 s for `LIMIT`)."""
    level, states, children = [rules.start()], [], []
    while level:
        states += level
        below = [
            [state.child(action) for action in state.actions()] if not state.over else []
            for state in level
        ]
        children += [len(group) for group in below]
        level = [state for group in below for state in group]
    player = np.array([state.player() for state in states], dtype=np.int8)
    order = [k for who in (0, 1) for k in range(len(states)) if player[k] == who]
    decision = np.full(len(states), -1, dtype=np.int32)
    decision[order] = np.arange(len(order), dtype=np.int32)
    actions = [state.actions() if not state.over else [] for state in states]
    first_child = np.ones(len(states) + 1, dtype=np.int32)
    first_child[1:] += np.cumsum(children, dtype=np.int32)
    nodes = PublicNodes(
        player=player,
        first_child=first_child,
        street=np.array([state.round for state in states], dtype=np.int8),
        decision=decision,
        folded=np.array([state.folded for state in states], dtype=np.int8),
        stake=np.array([min(state.paid) for state in states]),
        passive=np.array([actions[k].index(CALL) for k in order], dtype=np.int16),
        action_count=np.array([len(actions[k]) for k in order], dtype=np.int32),
        node=np.array(order, dtype=np.int32),
    )
    return BettingTree(rules, nodes, states, actions)


def row_of(first_row: Any, node: Any, bucket: Any) -> Any:
    """Returns the row of a (signed) bucket at a node; outside kernels also for arrays."""
    return first_row[node] + bucket


_in_kernels: Any = register_jitable  # untyped
_in_kernels(row_of)


def buckets_at(tree: BettingTree, counts: tuple[int, ...]) -> np.ndarray:
    """Returns int64[decisions]: the number of buckets on the street of each decision."""
    buckets: np.ndarray = np.array(counts, dtype=np.int64)[tree.nodes.street[tree.nodes.node]]
    return buckets


def first_rows(tree: BettingTree, counts: tuple[int, ...]) -> np.ndarray:
    """Returns int32[n]: the first row of every node, 0 at terminals. `counts`: by street."""
    n = buckets_at(tree, counts)
    rows = np.zeros(len(tree.nodes.player), dtype=np.int32)
    rows[tree.nodes.node] = np.cumsum(n) - n
    return rows


def nodes_and_buckets(tree: BettingTree, counts: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """Returns int32[m] and int64[m]: node and bucket of every row."""
    n = buckets_at(tree, counts)
    node = np.repeat(tree.nodes.node, n)
    return node, np.arange(len(node)) - np.repeat(np.cumsum(n) - n, n)


def first_slots(tree: BettingTree, counts: tuple[int, ...]) -> np.ndarray:
    """Returns int32[m + 1]: the first slot of every row, and the number of slots."""
    actions = np.repeat(tree.nodes.action_count, buckets_at(tree, counts))
    first = np.zeros(len(actions) + 1, dtype=np.int32)
    np.cumsum(actions, out=first[1:])
    return first


def action_slots(tree: BettingTree, counts: tuple[int, ...]) -> np.ndarray:
    """Returns int64[m, 3]: the slot of each of `ACTIONS` in every row, -1 where it is illegal."""
    legal = tree.legal[nodes_and_buckets(tree, counts)[0]]
    offset = np.cumsum(legal, axis=1) - 1
    slots: np.ndarray = np.where(legal, first_slots(tree, counts)[:-1, None] + offset, -1)
    return slots


# --- places of the betting, as locks name them

SEATS = {"dealer": 0, "button": 0, "sb": 0, "bb": 1}
SEAT_NAMES = ("dealer", "bb")
LONG_NAMES = {"big blind": "bb", "out of position": "bb", "in position": "dealer"}
#: The number of bets of the street that are faced: from the first to the last.
FACING = {"nothing": (0, 0), "bet": (1, 1), "raise": (2, 99), "re-raise": (3, 99)}


class Place(NamedTuple):
    """Decisions of both players (`seat` None) or one, facing anything (`facing` empty) or not."""

    street: int
    seat: int | None
    facing: str

    def has(self, street: int, seat: int, bets: int) -> bool:
        """Whether a decision is here; `bets`: how many are faced, the big blind is one."""
        low, high = FACING[self.facing] if self.facing else (0, 99)
        return street == self.street and self.seat in (None, seat) and low <= bets <= high


def find_place(text: str) -> Place | None:
    """The place that a text names, if it does."""
    text = " ".join(text.lower().split())
    for name, short in LONG_NAMES.items():
        text = text.replace(name, short)
    where, _, facing = text.partition(" facing ")
    words = where.split()
    seats = [SEATS[word] for word in words[:-1] if word in SEATS]
    known = words and words[-1] in STREETS and len(words) <= 2 and len(seats) == len(words) - 1
    if not known or facing not in ("", *FACING):
        return None
    return Place(STREETS.index(words[-1]), seats[0] if seats else None, facing)
