"""Princess and Monster as compiled rules, on a grid of any size. A state: moves made + 1 (0 before
the start is drawn), the cells of both, whether she is caught, and what each player knows: his start
and his steps, `STEPS_IN_WORD` to a word."""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.forms.compiled import CompiledRules
from counterplay.forms.rules import CHANCE, TERMINAL

MOVE, CELL, CAUGHT, KEY = 0, 1, 3, 4
CELLS, MOVES, EITHER, SECOND, WORDS, STARTS, TABLE = range(7)  # of the constants
N_STEPS = 5
STEPS_IN_WORD = 20
STEP_LABELS = ("up", "down", "left", "right", "stay")


class CompiledPam(CompiledRules):
    """`step`: the cell after each step, -1 where it is not allowed; `starts`: pairs of cells.
    `either`: a move of the princess catches too; `second`: she moves second."""

    def __init__(
        self,
        shape: tuple[int, int, int],
        step: np.ndarray,
        starts: np.ndarray,
        either: bool,
        second: bool,
    ) -> None:
        self.rows, self.columns, moves = shape
        cells = self.rows * self.columns
        words = max(1, -(-((moves + 1) // 2) // STEPS_IN_WORD))
        table = (*step.ravel().tolist(), *starts.ravel().tolist())
        head = (cells, moves, int(either), int(second), words, len(starts))
        self.constants = (*head, *table)
        self.state_size = KEY + 2 * words
        self.known_size = words
        self._step = step
        self.max_actions = int((step >= 0).sum(axis=1).max())
        self.depth = moves

    @staticmethod
    def player(c: Any, state: Any) -> int:
        if state[MOVE] == 0:
            return CHANCE
        if state[CAUGHT] == 1 or state[MOVE] == c[MOVES] + 1:
            return TERMINAL
        return int((state[MOVE] - 1 + c[SECOND]) % 2)

    @staticmethod
    def actions(c: Any, state: Any) -> int:
        if state[MOVE] == 0:
            return int(c[STARTS])
        cell = state[CELL + (state[MOVE] - 1 + c[SECOND]) % 2]
        count = 0
        for step in range(N_STEPS):
            count += c[TABLE + cell * N_STEPS + step] >= 0
        return count

    @staticmethod
    def apply(c: Any, state: Any, action: int) -> None:
        if state[MOVE] == 0:
            pair = TABLE + c[CELLS] * N_STEPS + 2 * action
            for player in range(2):
                state[CELL + player] = c[pair + player]
                state[KEY + player * c[WORDS]] = c[CELLS] + c[pair + player]
            state[MOVE] = 1
            return
        move = state[MOVE] - 1
        player = (move + c[SECOND]) % 2
        row, step = TABLE + state[CELL + player] * N_STEPS, -1
        while action >= 0:  # the action-th step that is allowed
            step += 1
            action -= c[row + step] >= 0
        state[CELL + player] = c[row + step]
        word = move // 2 // STEPS_IN_WORD
        place = KEY + player * c[WORDS] + word
        base = N_STEPS if word == 0 else N_STEPS + 1
        state[place] = state[place] * base + step + base - N_STEPS
        state[MOVE] += 1
        if (player == 1 or c[EITHER] == 1) and state[CELL] == state[CELL + 1]:
            state[CAUGHT] = 1

    @staticmethod
    def key(c: Any, state: Any, known: Any) -> None:
        player = (state[MOVE] - 1 + c[SECOND]) % 2
        for k in range(c[WORDS]):
            known[k] = state[KEY + player * c[WORDS] + k]

    @staticmethod
    def payoff(c: Any, state: Any, payoff: Any) -> None:
        payoff[0] = float(state[MOVE] - 1)
        payoff[1] = -payoff[0]

    def _walked(self, known: tuple[int, ...]) -> tuple[int, list[int]]:
        """Where he began, and his steps."""
        key, cells = known[0], self.rows * self.columns
        steps: list[int] = []
        while key >= 2 * cells:
            key, step = divmod(key, N_STEPS)
            steps.insert(0, step)
        return key - cells, steps

    def label(self, player: int, known: tuple[int, ...]) -> str:
        if len(known) > 1:
            return super().label(player, known)
        start, steps = self._walked(known)
        row, column = divmod(start, self.columns)
        return " ".join([f"({row + 1},{column + 1})", *(STEP_LABELS[step] for step in steps)])

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        if len(known) > 1:
            return super().action_labels(player, known, count)
        cell, steps = self._walked(known)
        for step in steps:
            cell = int(self._step[cell, step])
        return [STEP_LABELS[k] for k in np.flatnonzero(self._step[cell] >= 0)]
