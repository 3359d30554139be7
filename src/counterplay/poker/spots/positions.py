"""Positions of whole limit hold'em as spots, solved again without a card abstraction.

`hold_position` takes the ranges with which a strategy comes to the beginning of a street, and what
it does from there on, the *blueprint*. `resolve` solves the spot again, in three ways:

- *unsafe*: an equilibrium of the spot, which assumes that the other player comes with the
  blueprint's range;
- *safe* and *max-margin*: by the gadget games of `gadgets.py` for each player. No holding of the
  other player gets more from the new strategy than from the blueprint; with max-margin every
  holding gets less by as large a margin as the worst of them allows.

Two numbers tell them apart. `exploitability` is that in the spot, between the blueprint's ranges.
`leak` is what the other player can gain in the whole game by coming with another range: the sum
over its holdings of what a best response gets above what it gets from the blueprint, per hand that
is dealt on this board and played to this position by the player who is resolved. It is zero for the
blueprint itself.

On the flop a number for every holding on every river would take a hundred times the memory of a
usual machine. There the blueprint is its own table, with the buckets of each board as rows, and the
new strategies have rows by strength on the river (`rows.py`), in single precision; suits that board
and ranges do not tell apart are treated alike. Both numbers are exact as on later streets: best
responses, of every holding on every board, to these strategies.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from counterplay.core.base import memory
from counterplay.core.base.errors import (
    BadParameter,
    BadStrategy,
    one_of,
    positive,
    shown,
    whole_number,
)
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.full_width import ComputeOptions
from counterplay.core.solvers.cfr_kernels import DISCOUNTED
from counterplay.poker.abstraction.abstraction import Cards
from counterplay.poker.betting.betting import ACTIONS, CALL, FOLD, RAISE, row_of
from counterplay.poker.betting.betting import STREETS as ROUNDS
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.holdem.table import Table, code_counts, strategy_table
from counterplay.poker.spots.betting import DECISION, ONWARD
from counterplay.poker.spots.cards import parse_board
from counterplay.poker.spots.columns import BASE
from counterplay.poker.spots.engine import SpotRegrets
from counterplay.poker.spots.gadgets import ENTRIES, Gadget
from counterplay.poker.spots.game import spot
from counterplay.poker.spots.layout import Rows, SpotLayout
from counterplay.poker.spots.parts import (
    Part,
    PositionStrategy,
    part_of,
    position_strategy,
    spot_exploitability,
)
from counterplay.poker.spots.rows import shared_rows, strength_rows
from counterplay.poker.vector.chance import DealtBoard
from counterplay.poker.vector.learner_tables import BucketRows
from counterplay.poker.vector.suit_permutations import check_suits

#: By default: iterations of each gadget game and percent of the pot, and on the flop.
DEFAULTS, ON_FLOP = (500, 0.1), (150, 1.0)
MOST_ITERATIONS = 100_000
FIRST, MORE = 20, 1.25  # iterations before measuring, and before measuring again
UNSAFE, BLUEPRINT = "unsafe", "blueprint"
KINDS = (UNSAFE, *ENTRIES)
LATER = "take a position of a later street"


@dataclass(frozen=True)
class HoldemPosition:
    """A position of a strategy of limit hold'em; chips are small bets."""

    game: Game  # the spot; its player 1 is the player who acts first after the flop
    betting: str
    blueprint: Strategy | PositionStrategy = field(repr=False)  # what the strategy does in the spot
    reached: tuple[float, float]  # the largest probability of a holding to come here, by player
    by_rows: bool = False  # whether new strategies have rows by strength on the river


@dataclass(frozen=True)
class Resolved:
    """A position solved again. Small bets per hand."""

    position: HoldemPosition
    #: blueprint, unsafe, safe, max-margin
    strategies: dict[str, Strategy | PositionStrategy] = field(repr=False)
    exploitability: dict[str, float]  # in the spot, between the blueprint's ranges
    leak: dict[str, tuple[float, float]]  # of each player's strategy, in the whole game
    iterations: dict[str, int]  # of each solution, in gadget games for each player


def hold_position(strategy: Any, betting: str, board: str) -> HoldemPosition:
    """A position of a strategy of limit hold'em as a spot: the beginning of a street after
    `betting`, such as "rc/cc/", on `board`, with the strategy's ranges."""
    strategy = getattr(strategy, "strategy", strategy)
    if not isinstance(strategy, Strategy) or not strategy.game.can("bots"):
        raise BadStrategy("a position is of a strategy of limit hold'em")
    rules, cards = strategy.game.rules, parse_board(board)
    tree = rules.tree
    node, state = _start(tree, betting, cards)
    codes = _Codes(strategy_table(strategy), tree)
    reach = _ranges(tree, codes, node, cards)
    reach = reach[::-1] if rules.betting.first[state.round] == 1 else reach
    most = tuple(float(weights.max()) for weights in reach)
    if min(most) <= 0.0:
        raise BadParameter(f"betting: the strategy never comes to {betting!r} on {board}")
    caps = set(rules.betting.most_bets[state.round :])
    if len(caps) > 1:
        raise BadParameter("betting: a spot has the same number of bets on every street")
    sizes = {ROUNDS[k]: rules.betting.bets[k] for k in range(state.round, 4)}
    by_rows = state.round == 1
    alike = by_rows and _suits_alike(codes.table.cards)
    game = spot(
        board, sum(state.paid), ranges=tuple(w / m for w, m in zip(reach, most, strict=True)),
        bets=sizes, limit=True, cap=caps.pop(), symmetric=alike,
    )  # fmt: skip
    layout: SpotLayout = game.rules.layout
    if not by_rows:
        memory.require(layout.bytes_needed("double"), "solving this position again", LATER)
    parts = [_blueprint(layout, player, tree, codes, node, by_rows) for player in (0, 1)]
    blueprint = position_strategy(game, *parts)
    return HoldemPosition(game, betting, blueprint, (most[0], most[1]), by_rows)


def resolve(
    position: HoldemPosition,
    *,
    iterations: int | None = None,
    percent: float | None = None,
    kinds: Sequence[str] = KINDS,
    progress: Callable[[float, str], None] = lambda share, what: None,
) -> Resolved:
    """A position solved again, unsafe to an exploitability of `percent` of the pot (0.1, on the
    flop 1) and otherwise in `iterations` (500, on the flop 150) of each gadget game, with the
    exploitability and the leak of each strategy. `kinds`: those of them that are wanted. Ctrl-C
    returns those that are done, if any."""
    if not isinstance(position, HoldemPosition):
        raise BadParameter(f"position: one of cp.hold_position, not {shown(position)}")
    usual = ON_FLOP if position.by_rows else DEFAULTS
    most = whole_number(usual[0] if iterations is None else iterations, 1, None, "iterations")
    share = positive(usual[1] if percent is None else percent, "percent") / 100
    for kind in kinds:
        one_of(kind, KINDS, "kinds")
    rules = position.game.rules
    if position.by_rows:
        memory.require(_bytes_by_rows(rules.layout), "solving this position again", LATER)
    old = [part_of(position.blueprint, player) for player in (0, 1)]
    gadgets = [Gadget(rules, player, old[player], position.reached[player]) for player in (0, 1)]
    strategies: dict[str, Strategy | PositionStrategy] = {}
    exploitability: dict[str, float] = {}
    leak: dict[str, tuple[float, float]] = {}
    used: dict[str, int] = {}

    def add(kind: str, strategy: Strategy | PositionStrategy) -> None:
        one, two = (gadget.leak(part_of(strategy, gadget.player)) for gadget in gadgets)
        exploitability[kind], leak[kind] = spot_exploitability(strategy), (one, two)
        strategies[kind] = strategy

    add(BLUEPRINT, position.blueprint)
    wanted = [kind for kind in KINDS if kind in kinds]
    for done, kind in enumerate(wanted):
        tell = partial(_tell, progress, done, len(wanted))
        try:
            if kind == UNSAFE:
                solved, used[kind] = _unsafe(position, share, tell)
            else:
                used[kind] = most
                parts = _gadget_parts(gadgets, kind, most, position.by_rows, tell)
                solved = position_strategy(position.game, *parts)
            add(kind, solved)
        except KeyboardInterrupt:
            if not done:
                raise
            break
    return Resolved(position, strategies, exploitability, leak, used)


def _tell(
    progress: Callable[[float, str], None], done: int, many: int, share: float, what: str
) -> None:
    """Reports the share of one of the strategies."""
    progress((done + share) / many, what)


def _unsafe(
    position: HoldemPosition, share: float, tell: Callable[[float, str], None]
) -> tuple[Strategy | PositionStrategy, int]:
    """An equilibrium of the spot, to an exploitability of a share of the pot, and the iterations
    that it took."""
    rules, rows = position.game.rules, list[Rows | None]([None, None])
    layout: SpotLayout = rules.layout
    if position.by_rows:
        rows = [strength_rows(side) for side in layout.sides]
        layout = layout.with_rows(*rows)
    compute = ComputeOptions("auto", precision="single" if position.by_rows else "double")
    engine, done, left = SpotRegrets(layout, DISCOUNTED, compute), 0, math.inf
    while done < MOST_ITERATIONS and left > share:
        after = max(done + 1, int(done * MORE)) if done else FIRST
        engine.run(done, after - done)
        done, left = after, engine.exploitability() / rules.pot
        tell(min(1.0, share / max(left, 1e-12)), f"unsafe: {100 * left:.3g}% of the pot")
    sums = engine.arrays()
    parts = [Part(sums[f"strategy_sum{k + 1}"], rows[k]) for k in (0, 1)]
    return position_strategy(position.game, *parts), done


def _gadget_parts(
    gadgets: list[Gadget], kind: str, most: int, by_rows: bool, tell: Callable[[float, str], None]
) -> list[Part]:
    """Both players' parts, each of its gadget game."""
    parts = []
    for gadget in gadgets:
        what = f"{kind}: player {gadget.player + 1}"

        def at(part: float, gadget: Gadget = gadget, what: str = what) -> None:
            tell((gadget.player + part) / 2, what)

        parts.append(gadget.solve(most, ENTRIES[kind], by_rows, at))
    return parts


def _bytes_by_rows(layout: SpotLayout) -> float:
    """About the memory that solving by rows takes: of both players the regrets, the averages and
    those of two other strategies."""
    one, two = (strength_rows(side) for side in layout.sides)
    return 2 * layout.with_rows(one, two).bytes_needed("single")


def _start(tree: Any, betting: str, cards: list[int]) -> tuple[int, Any]:
    """The node of a history at which a street after the flop begins, and its state."""
    if betting not in tree.histories:
        raise BadParameter(f"betting: no history {betting!r} of this betting; write it like rc/cc/")
    node = tree.histories.index(betting)
    state = tree.states[node]
    if state.over or state.acted or state.round == 0:
        raise BadParameter(f"betting: {betting!r} is not the beginning of a street, such as rc/")
    if len(cards) != state.on_board:
        raise BadParameter(
            f"board: {len(cards)} cards, and after {betting!r} there are {state.on_board}"
        )
    return node, state


def _suits_alike(buckets: Cards) -> bool:
    """Whether suits that board and ranges do not tell apart have the same buckets."""
    try:
        check_suits(buckets)
    except BadParameter:
        return False
    return True


class _Codes:
    """The rows of a table for all holdings on a board."""

    def __init__(self, table: Table, tree: Any) -> None:
        self.table, self._counts = table, code_counts(table, tree)
        self._rows = BucketRows(table.cards, self._counts, table.carry)

    def count(self, street: int) -> int:
        """The number of codes on a street."""
        return self._counts[street]

    def on(self, street: int, board: Iterable[int]) -> np.ndarray:
        """int64[1326]: the code of each holding on a board."""
        codes = np.zeros(N_HOLDINGS, dtype=np.int64)
        dealt = DealtBoard(tuple(map(int, board)), -1, np.zeros(1, dtype=np.int64))
        self._rows.fill(street, dealt, codes)
        return codes

    def shares(self, node: int, codes: np.ndarray) -> np.ndarray:
        """float64[codes, 3]: the probabilities of fold, call and raise at a node."""
        shares: np.ndarray = self.table.policy[row_of(self.table.first_row, node, codes)]
        return shares


def _ranges(tree: Any, codes: _Codes, node: int, cards: list[int]) -> list[np.ndarray]:
    """Each player's probability to come to a node with each holding."""
    reach = [np.ones(N_HOLDINGS), np.ones(N_HOLDINGS)]
    while node > 0:
        above = int(tree.parent[node])
        state = tree.states[above]
        action = ACTIONS.index(tree.actions[above][node - int(tree.nodes.first_child[above])])
        held = codes.on(state.round, cards[: state.on_board])
        reach[state.player()] *= codes.shares(above, held)[:, action]
        node = above
    return reach


def _blueprint(
    layout: SpotLayout, player: int, tree: Any, codes: _Codes, start: int, by_rows: bool
) -> Part:
    """What a table does in a spot that begins at a node of its tree."""
    in_tree, side, rows = _matched(layout, tree, start), layout.sides[player], None
    if by_rows:
        rows = shared_rows(layout, player, partial(codes.on, 3), codes.count(3))
        layout = layout.with_rows(*((rows, None) if player == 0 else (None, rows)))
    table = np.zeros(layout.n_slots[player])
    for k in layout.decisions(player):
        node, first = in_tree[k], int(layout.boards.first[layout.tree.street[k]])
        state, low = tree.states[node], int(layout.form.nodes[k, BASE])
        columns = [ACTIONS.index(action) for action in tree.actions[node]]
        for b in range(1 if layout.by_row(player, k) else int(layout.n_boards[k])):
            dealt = layout.boards.dealt[first + b][: state.on_board]
            if layout.by_row(player, k):
                shares = codes.shares(node, np.arange(codes.count(state.round)))
            else:
                shares = codes.shares(node, codes.on(state.round, dealt)[side.holding])
                shares[np.isin(side.kernel.cards[:, :2], dealt).any(axis=1)] = 1.0
            shares = shares[:, columns]
            shares = (shares / shares.sum(axis=1, keepdims=True)).T.ravel()
            table[low : low + len(shares)] = shares
            low += len(shares)
    return Part(table, rows)


def _matched(layout: SpotLayout, tree: Any, start: int) -> dict[int, int]:
    """The node of the betting tree for each decision of a spot."""
    kind, waiting, found = layout.tree.kind, [(0, start)], {}
    while waiting:
        k, node = waiting.pop()
        if kind[k] == ONWARD:
            segment = int(layout.tree.next_segment[k])
            waiting.append((int(layout.tree.first_node[segment]), node))
        elif kind[k] == DECISION:
            found[k] = node
            for a, label in enumerate(layout.named.actions[k]):
                word = label.split()[0]
                action = {"fold": FOLD, "check": CALL, "call": CALL}.get(word, RAISE)
                waiting.append((int(layout.tree.first_child[k]) + a, tree.moves[node][action]))
    return found
