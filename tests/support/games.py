"""Small games written as a user would write them, and brute force over the histories of any
game."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.rules import CHANCE, TERMINAL


@dataclass(frozen=True)
class MatrixState:
    """Both choose a row or a column at the same time."""

    rules: MatrixGame
    played: tuple[str, ...] = ()

    def player(self) -> int:
        return len(self.played) if len(self.played) < 2 else TERMINAL

    def actions(self) -> list[str]:
        return list(self.rules.labels[len(self.played)])

    def child(self, action: str) -> MatrixState:
        return MatrixState(self.rules, (*self.played, action))

    def infoset(self) -> str:
        return f"player {len(self.played) + 1}"

    def payoffs(self) -> tuple[float, float]:
        row, column = (
            labels.index(action)
            for labels, action in zip(self.rules.labels, self.played, strict=True)
        )
        return self.rules.cells[row][column]


@dataclass(frozen=True)
class MatrixGame:
    labels: tuple[tuple[str, ...], tuple[str, ...]]
    cells: tuple[tuple[tuple[float, float], ...], ...]
    n_players: int = 2

    def root(self) -> MatrixState:
        return MatrixState(self)


#: Not zero-sum; two pure equilibria and a mixed one: (2/3, 1/3) against (1/3, 2/3), worth 2/3 to
#: each.
BATTLE = Game(
    "battle",
    MatrixGame((("opera", "fight"), ("Opera", "Fight")), (((2, 1), (0, 0)), ((0, 0), (1, 2)))),
)


class Ending(NamedTuple):
    """One finished history."""

    chance: float
    slots: tuple[tuple[int, ...], ...]  # per player: the slots of the own actions
    payoff: np.ndarray


def endings(game: Game) -> list[Ending]:
    """All finished histories, by recursion over the tree."""
    tree, ends = game.tree, []

    def visit(node: int, chance: float, slots: tuple[tuple[int, ...], ...]) -> None:
        player, row = int(tree.player[node]), int(tree.row[node])
        if player == TERMINAL:
            ends.append(Ending(chance, slots, tree.payoff[row]))
        for action, below in enumerate(range(tree.first_child[node], tree.first_child[node + 1])):
            if player == CHANCE:
                visit(
                    below, chance * tree.chance_probability[tree.chance_first[row] + action], slots
                )
            else:
                own = (*slots[player], int(tree.first[row]) + action)
                visit(below, chance, (*slots[:player], own, *slots[player + 1 :]))

    visit(0, 1.0, ((),) * game.n_players)
    return ends


def brute_value(ends: list[Ending], policy: np.ndarray) -> np.ndarray:
    """Payoff of every player: a sum over all finished histories."""
    return sum(
        z.chance * np.prod([policy[s] for own in z.slots for s in own]) * z.payoff for z in ends
    )  # type: ignore[return-value]


def pure_choices(game: Game, player: int) -> dict[int, np.ndarray]:
    """For each of the player's slots, in which pure strategies it is chosen: bool[number
    of pure strategies]."""
    tree = game.tree
    own = np.flatnonzero(tree.owner == player)
    every = np.array(list(product(*[range(tree.first[i], tree.first[i + 1]) for i in own])))
    return {
        int(s): every[:, k] == s
        for k, i in enumerate(own)
        for s in range(tree.first[i], tree.first[i + 1])
    }


def brute_best(
    ends: list[Ending], choices: dict[int, np.ndarray], policy: np.ndarray, player: int
) -> float:
    """The best of all pure strategies of `player` when the others follow `policy`."""
    total = np.zeros(len(next(iter(choices.values()))))
    for z in ends:
        others = np.prod(
            [policy[s] for who, own in enumerate(z.slots) if who != player for s in own]
        )
        plays_to = np.ones(len(total), dtype=bool)
        for slot in z.slots[player]:
            plays_to &= choices[slot]
        total += z.chance * others * z.payoff[player] * plays_to
    return float(total.max())
