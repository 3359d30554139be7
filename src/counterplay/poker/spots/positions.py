"""Positions of whole limit hold'em as spots, solved again without a card abstraction.

`hold_position` takes the ranges with which a strategy comes to the beginning of a street, and what
it does from there on, the *blueprint*. `resolve` solves the spot again, in three ways:

- *unsafe*: an equilibrium of the spot, which assumes that the other player comes with the
  blueprint's range;
- *safe*: the CFR-D gadget (Burch, Johanson & Bowling 2014) for each player: before the spot begins,
  the other player may take, with each holding, what a best response to the blueprint gets with it
  there. So no holding gets more from the new strategy than from the blueprint.
- *max-margin* (Moravcik et al. 2016): the other player chooses a holding, and is paid what it gets
  above that. So every holding gets less by as large a margin as the worst of them allows.

Two numbers tell them apart. `exploitability` is that in the spot, between the blueprint's ranges.
`leak` is what the other player can gain in the whole game by coming with another range: the sum
over its holdings of what a best response gets above what it gets from the blueprint, per hand that
is dealt on this board and played to this position by the player who is resolved. It is zero for the
blueprint itself. Deviations: the gadget's alternative values are exact best responses in the spot
without abstraction.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterplay.core.base import memory
from counterplay.core.base.errors import BadParameter, BadStrategy, positive, shown, whole_number
from counterplay.core.evaluation.exact import exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.cfr_kernels import DISCOUNTED, IterationWeights, iteration_weights
from counterplay.core.solvers.run import solve
from counterplay.poker.betting.betting import ACTIONS, CALL, FOLD, RAISE, row_of
from counterplay.poker.betting.betting import STREETS as ROUNDS
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.holdem.table import Table, code_counts, strategy_table
from counterplay.poker.spots.betting import DECISION, ONWARD
from counterplay.poker.spots.cards import pair_weights, parse_board
from counterplay.poker.spots.engine import SpotTraversal, new_tables
from counterplay.poker.spots.game import spot
from counterplay.poker.spots.kernels import BEST, LEARN, Tables
from counterplay.poker.spots.layout import SpotLayout
from counterplay.poker.vector.chance import DealtBoard
from counterplay.poker.vector.learner_tables import BucketRows

DEFAULT_ITERATIONS = 500
DEFAULT_PERCENT = 0.1
LATER = "take a position of a later street"


@dataclass(frozen=True)
class HoldemPosition:
    """A position of a strategy of limit hold'em; chips are small bets."""

    game: Game  # the spot; its player 1 is the player who acts first after the flop
    betting: str
    blueprint: Strategy = field(repr=False)  # what the strategy does in the spot
    reached: tuple[float, float]  # the largest probability of a holding to come here, by player


@dataclass(frozen=True)
class Resolved:
    """A position solved again. Small bets per hand."""

    position: HoldemPosition
    strategies: dict[str, Strategy] = field(repr=False)  # blueprint, unsafe, safe, max-margin
    exploitability: dict[str, float]  # in the spot, between the blueprint's ranges
    leak: dict[str, tuple[float, float]]  # of each player's strategy, in the whole game


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
    game = spot(
        board, sum(state.paid), ranges=tuple(w / m for w, m in zip(reach, most, strict=True)),
        bets=sizes, limit=True, cap=caps.pop(), symmetric=False,
    )  # fmt: skip
    memory.require(game.rules.layout.bytes_needed("double"), "solving this position again", LATER)
    blueprint = _blueprint(game, tree, codes, node)
    return HoldemPosition(game, betting, blueprint, (most[0], most[1]))


def resolve(
    position: HoldemPosition,
    *,
    iterations: int = DEFAULT_ITERATIONS,
    percent: float = DEFAULT_PERCENT,
) -> Resolved:
    """A position solved again, unsafe to an exploitability of `percent` of the pot and otherwise in
    `iterations` of each gadget game, with the exploitability and the leak of each strategy."""
    if not isinstance(position, HoldemPosition):
        raise BadParameter(f"position: one of cp.hold_position, not {shown(position)}")
    whole_number(iterations, 1, None, "iterations")
    game, blueprint = position.game, position.blueprint
    target = positive(percent, "percent") / 100 * game.rules.pot
    unsafe = solve(game, "dcfr", target=target, iterations=100_000, threads="auto").strategy
    gadgets = [_Gadget(position, player) for player in (0, 1)]
    strategies = {"blueprint": blueprint, "unsafe": unsafe}
    for name, entry in ENTRIES.items():
        strategies[name] = blueprint
        for gadget in gadgets:
            strategies[name] = gadget.solve(strategies[name], iterations, entry)
    return Resolved(
        position,
        strategies,
        {name: exploitability(game, one) for name, one in strategies.items()},
        {name: (gadgets[0].leak(one), gadgets[1].leak(one)) for name, one in strategies.items()},
    )


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


class _Codes:
    """The rows of a table for all holdings on a board."""

    def __init__(self, table: Table, tree: Any) -> None:
        self.table = table
        self._rows = BucketRows(table.cards, code_counts(table, tree), table.carry)

    def shares(self, node: int, street: int, board: tuple[int, ...]) -> np.ndarray:
        """float64[1326, 3]: the probabilities of fold, call and raise at a node of a street."""
        codes = np.zeros(N_HOLDINGS, dtype=np.int64)
        self._rows.fill(street, DealtBoard(board, -1, np.zeros(1, dtype=np.int64)), codes)
        shares: np.ndarray = self.table.policy[row_of(self.table.first_row, node, codes)]
        return shares


def _ranges(tree: Any, codes: _Codes, node: int, cards: list[int]) -> list[np.ndarray]:
    """Each player's probability to come to a node with each holding."""
    reach = [np.ones(N_HOLDINGS), np.ones(N_HOLDINGS)]
    while node > 0:
        above = int(tree.parent[node])
        state = tree.states[above]
        action = ACTIONS.index(tree.actions[above][node - int(tree.nodes.first_child[above])])
        dealt = tuple(cards[: state.on_board])
        reach[state.player()] *= codes.shares(above, state.round, dealt)[:, action]
        node = above
    return reach


def _blueprint(game: Game, tree: Any, codes: _Codes, start: int) -> Strategy:
    """What a table does in a spot that begins at a node of its tree."""
    layout: SpotLayout = game.rules.layout
    in_tree = _matched(layout, tree, start)
    slots = np.zeros(sum(layout.n_slots))
    for player in (0, 1):
        own, side = slots[layout.n_slots[0] * player :], layout.sides[player]
        for k, where, (boards, actions, many) in layout.blocks(player):
            node = in_tree[k]
            state, first = tree.states[node], int(layout.boards.first[layout.tree.street[k]])
            columns = [ACTIONS.index(action) for action in tree.actions[node]]
            rows = own[where].reshape(boards, many, actions)
            for b in range(boards):
                dealt = layout.boards.dealt[first + b][: state.on_board].tolist()
                shares = codes.shares(node, state.round, tuple(dealt))[side.holding][:, columns]
                blocked = np.isin(side.kernel.cards[:, :2], dealt).any(axis=1)
                shares[blocked] = 1.0
                rows[b] = shares / shares.sum(axis=1, keepdims=True)
    return Strategy(game, slots)


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


class _MayLeave:
    """CFR-D: with each holding the other player enters the spot, or takes its alternative."""

    def __init__(self, alternative: np.ndarray, met: np.ndarray) -> None:
        self._alternative = alternative
        self._regret = np.zeros((2, len(alternative)))  # of entering, and of the alternative
        self.reach = np.full(len(alternative), 0.5)

    def update(self, played: np.ndarray, weights: IterationWeights) -> None:
        """Sets the probability to enter, from the values of playing the spot."""
        value = self.reach * played + (1.0 - self.reach) * self._alternative
        self._regret += np.stack([played, self._alternative]) - value
        self._regret *= np.where(self._regret > 0, weights.positive, weights.negative)
        self.reach = _matched_regrets(self._regret)[0]


class _ChoosesHolding:
    """Max-margin: the other player chooses one holding, and gets what it gains there above its
    alternative, by hand that it meets."""

    def __init__(self, alternative: np.ndarray, met: np.ndarray) -> None:
        self._live, self._regret = met > 0, np.zeros((int((met > 0).sum()), 1))
        self._alternative, self._met = alternative[self._live], met[self._live]
        self.reach = np.zeros(len(met))
        self._set_reach()

    def _set_reach(self) -> None:
        self._share = _matched_regrets(self._regret)[:, 0]
        self.reach[self._live] = self._share / self._met

    def update(self, played: np.ndarray, weights: IterationWeights) -> None:
        """Sets the probability of each holding, from the values of playing the spot."""
        gain = (played[self._live] - self._alternative) / self._met
        self._regret[:, 0] += gain - self._share @ gain
        self._regret *= np.where(self._regret > 0, weights.positive, weights.negative)
        self._set_reach()


ENTRIES: dict[str, Any] = {"safe": _MayLeave, "max-margin": _ChoosesHolding}


def _matched_regrets(regret: np.ndarray) -> np.ndarray:
    """[actions, holdings]: regret matching."""
    share = np.maximum(regret, 0.0)
    total = share.sum(axis=0)
    return np.where(total > 0, share / np.where(total > 0, total, 1.0), 1.0 / len(share))


class _Gadget:
    """The gadget games that resolve one player, in which the other holds anything."""

    def __init__(self, position: HoldemPosition, player: int) -> None:
        rules = position.game.rules
        self.player, self._game, self._spot = player, position.game, rules.layout
        weights = [np.ones(N_HOLDINGS), np.ones(N_HOLDINGS)]
        weights[player] = rules.weights[player]
        one, two = weights
        self._layout = SpotLayout(rules.betting, rules.board, (one, two), symmetric=False)
        memory.require(self._layout.bytes_needed("double"), "solving this position again", LATER)
        self._traversal = SpotTraversal(self._layout, "double", cores())
        every = len(self._layout.sides[1 - player].holding)
        pairs = every * (every + 1 - 2 * (52 - len(rules.board)) + 2)
        #: From counterfactual values to payoffs per hand dealt on this board.
        self._scale = position.reached[player] / pairs
        self._alternative = self._best_values(position.blueprint)

    def _best_values(self, strategy: Strategy) -> np.ndarray:
        """[holdings]: what a best response gets with each holding of the other player."""
        tables = self._tables()
        own = self._spot.table(self.player, strategy.probabilities, np.float64)
        tables[self.player] = tables[self.player]._replace(source=own)
        values = self._traversal.run(1 - self.player, (tables[0], tables[1]), BEST)
        return values.copy()

    def _tables(self) -> list[Tables]:
        return [new_tables(self._layout, player, np.float64) for player in (0, 1)]

    def leak(self, strategy: Strategy) -> float:
        """What the other player can gain by its range, against this one."""
        above = np.maximum(self._best_values(strategy) - self._alternative, 0.0)
        return float(above.sum()) * self._scale

    def solve(self, strategy: Strategy, iterations: int, entry: Any) -> Strategy:
        """Returns `strategy` with the player's part replaced by that of a gadget game; `entry`: how
        the other player comes to the spot."""
        one, two = self._tables()
        met = pair_weights(self._layout.sides[1 - self.player], self._layout.sides[self.player])
        entered = entry(self._alternative, met)
        for t in range(1, iterations + 1):
            weights = iteration_weights(DISCOUNTED, t)
            self._traversal.set_weights(*weights)
            self._traversal.run(self.player, (one, two), LEARN, reach=entered.reach)
            entered.update(self._traversal.run(1 - self.player, (one, two), LEARN), weights)
        sums = (one, two)[self.player].strategy_sum
        new = self._layout.slots(one.strategy_sum, two.strategy_sum)
        low = self._layout.n_slots[0] * self.player
        slots = strategy.probabilities.copy()
        mine = self._game.slots(self.player)
        slots[mine] = new[low : low + len(sums)]
        return Strategy.from_weights(self._game, slots)
