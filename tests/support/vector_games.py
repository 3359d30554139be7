"""Games for the vector-form traversal: Kuhn poker and Leduc hold'em, also with an abstraction."""

from __future__ import annotations

from functools import cache
from typing import NamedTuple

import numpy as np

import counterplay as cp
from counterplay.core.forms.game import Game
from counterplay.core.kernels.simd import LANES
from counterplay.poker.betting.betting import BettingRules, betting_tree
from counterplay.poker.vector.chance import Chance, DealtBoard
from counterplay.poker.vector.learner_tables import HoldingRows, RowMap, average_policy
from counterplay.poker.vector.public_tree import Street, streets_of
from counterplay.poker.vector.traversal import FixedSeat, Traversal
from support.single_card import rules_and_chance

Policy = tuple[np.ndarray, ...]


class Vector(NamedTuple):
    """A game for the vector-form traversal."""

    rules: BettingRules
    chance: Chance
    streets: tuple[Street, ...]
    rows: RowMap

    def random_policy(self, seed: int) -> Policy:
        rng = np.random.default_rng(seed)
        policies = []
        for k, street in enumerate(self.streets):
            shape = (self.rows.blocks(k), len(street.public_node), self.rows.count(k))
            weights = rng.random((*shape, len(street.player) * LANES)) ** 2
            policies.append(average_policy(street, weights))
        return tuple(policies)

    def seats(self, policy: Policy) -> list[FixedSeat]:
        return [FixedSeat(self.chance, self.streets, i, self.rows, policy) for i in (0, 1)]

    def values(self, policy: Policy) -> tuple[float, float, float]:
        """Player 0's expected value, and the values of best responses of both players."""
        first, second = self.seats(policy)
        value_against = Traversal(self.chance, self.streets).value_against
        return (
            value_against(second, first),
            value_against(second, None),
            value_against(first, None),
        )

    def exploitability(self, policy: Policy) -> float:
        """The sum of both best-response values."""
        return sum(self.values(policy)[1:])

    def on_tree(self, game: Game, policy: Policy, read_label: object) -> cp.Strategy:
        """The policy as a strategy of a game tree; `read_label` returns an information set's
        betting history, block and row."""
        histories = betting_tree(self.rules).histories
        positions = {}
        for k, street in enumerate(self.streets):
            for node in np.flatnonzero(street.player >= 0):
                for g, lane in np.argwhere(street.public_node[:, node] >= 0):
                    history = histories[street.public_node[g, node, lane]]
                    positions[history] = k, node, g, lane
        probabilities = np.zeros(game.n_slots)
        for i, label in enumerate(game.labels.infoset):
            history, block, row = read_label(label)  # type: ignore[operator]
            k, node, g, lane = positions[history]
            first = self.streets[k].first_child
            slots = slice(game.form.first[i], game.form.first[i + 1])
            probabilities[slots] = [
                policy[k][block, g, row, c * LANES + lane]
                for c in range(first[node], first[node + 1])
            ]
        return cp.Strategy(game, probabilities)


@cache
def single_card(name: str) -> Vector:
    rules, chance = rules_and_chance(name)
    streets = streets_of(betting_tree(rules))
    return Vector(rules, chance, streets, HoldingRows(chance, len(streets)))


class GroupRows:
    """Rows of Leduc hold'em: queens and kings are one group, and public cards are ranks."""

    def count(self, street: int) -> int:
        return 6 if street else 2

    def blocks(self, street: int) -> int:
        return 1

    def fill(self, street: int, board: DealtBoard, out: np.ndarray) -> None:
        group = np.minimum(np.arange(len(out)) // 2, 1)
        out[:] = 3 * group + board.cards[0] // 2 if street else group

    def copy(self) -> GroupRows:
        return self
