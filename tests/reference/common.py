"""What the twins share: states unfolded into plain nodes, dice, regret matching, and the way
from dicts to slots."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.rules import CHANCE, TERMINAL
from counterplay.core.kernels.rng import new_state, uniform
from counterplay.core.solvers.mcts import VALUE, VISITS

Key = tuple[int, str]  # player, label of the information set
Policy = dict[Key, list[float]]


class Node:
    """A state of the protocol and all states below it."""

    def __init__(self, state: Any) -> None:
        self.player = state.player()
        self.terminal = self.player == TERMINAL
        self.payoffs = list(state.payoffs()) if self.terminal else []
        actions = [] if self.terminal else list(state.actions())
        self.count = len(actions)
        self.chance = list(state.chance()) if self.player == CHANCE else []
        self.key: Key = (self.player, str(state.infoset()) if self.player >= 0 else "")
        passive = state.passive() if self.player >= 0 and hasattr(state, "passive") else None
        self.passive = None if passive is None else actions.index(passive)
        self.children = [Node(state.child(action)) for action in actions]


class Dice:
    """Chooses by the numbers a kernel would draw from the same seed: the inverse of the
    distribution, in action order."""

    def __init__(self, seed: int) -> None:
        self.state = new_state(seed)

    def pick(self, probabilities: Sequence[float]) -> int:
        u, total = uniform(self.state), 0.0
        for k, p in enumerate(probabilities):
            total += p
            if u < total:
                return k
        return max(k for k, p in enumerate(probabilities) if p > 0)


class Script:
    """Dice that follow a script of choices, then take the first possible one; `probability` is
    that of all choices made."""

    def __init__(self, script: list[int]) -> None:
        self.script, self.taken, self.possible, self.probability = script, [], [], 1.0

    def pick(self, probabilities: Sequence[float]) -> int:
        possible = [k for k, p in enumerate(probabilities) if p > 0]
        choice = self.script[len(self.taken)] if len(self.taken) < len(self.script) else possible[0]
        self.taken.append(choice)
        self.possible.append(possible)
        self.probability *= probabilities[choice]
        return choice


def every_outcome(experiment: Callable[[Script], Any]) -> Iterator[tuple[float, Any]]:
    """Run a random experiment once for every sequence of choices: (its probability, its result)."""
    script: list[int] | None = []
    while script is not None:
        dice = Script(script)
        result = experiment(dice)
        yield dice.probability, result
        script = None
        for k in range(
            len(dice.taken) - 1, -1, -1
        ):  # the last choice that has a successor moves on
            later = [choice for choice in dice.possible[k] if choice > dice.taken[k]]
            if later:
                script = [*dice.taken[:k], later[0]]
                break


def table() -> dict[Key, list[float]]:
    """Information set -> numbers per action; `grow` makes an entry on first use."""
    return defaultdict(list)


def grow(numbers: dict[Key, list[float]], node: Node) -> list[float]:
    if not numbers[node.key]:
        numbers[node.key] = [0.0] * node.count
    return numbers[node.key]


def regret_matching(regrets: Sequence[float]) -> list[float]:
    """Eq 5."""
    positive = [max(r, 0.0) for r in regrets]
    total = sum(positive)
    return [p / total for p in positive] if total > 0 else [1.0 / len(regrets)] * len(regrets)


def normalised(weights: Sequence[float]) -> list[float]:
    total = sum(weights)
    return [w / total for w in weights] if total > 0 else [1.0 / len(weights)] * len(weights)


def to_slots(game: Game, numbers: dict[Key, list[float]]) -> np.ndarray:
    """A twin's table in the kernel's order; zero where the twin never was."""
    slots = np.zeros(game.n_slots)
    for i, label in enumerate(game.labels.infoset):
        here = numbers.get((int(game.tree.owner[i]), label))
        if here:
            slots[game.tree.first[i] : game.tree.first[i + 1]] = here
    return slots


def from_slots(game: Game, slots: np.ndarray) -> Policy:
    """The way back: a kernel's array as a twin's table."""
    owner, first = game.tree.owner, game.tree.first
    return {
        (int(owner[i]), label): slots[first[i] : first[i + 1]].tolist()
        for i, label in enumerate(game.labels.infoset)
    }


def learned(solver: Any, name: str) -> np.ndarray:
    """A table of a solver by the twin's name; those of MCTS are columns."""
    tables = solver.tables()
    return (
        tables[name]
        if name in tables
        else tables["stats"][:, {"visits": VISITS, "value": VALUE}[name]]
    )
