"""Princess and Monster (Section 2.2): pursuit in a dark room, on a grid of R rows and C columns, H
moves in total.

Neither player sees the other or the other's moves. The payoff of the princess (player 1) is the
number of moves made when she is caught, or H. The exact rules of the published experiments are not
known; the defaults follow the wording of the paper, the options cover the alternatives.

A state: moves made + 1 (0 before the start is drawn), the cells of both, whether the princess is
caught, and what each player knows: start and own steps, `STEPS_IN_WORD` to a word.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, flag, one_of, whole_number
from counterplay.core.forms.registry import GameSpec
from counterplay.core.forms.rules import CHANCE, TERMINAL, CompiledRules

MOVE, CELL, CAUGHT, KEY = 0, 1, 3, 4
CELLS, MOVES, EITHER, SECOND, WORDS, STARTS, TABLE = range(7)  # constants
STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1), (0, 0))
STEP_LABELS = ("up", "down", "left", "right", "stay")
N_STEPS = len(STEPS)
STEPS_IN_WORD = 20
PRINCESS, MONSTER = 0, 1


class PrincessAndMonster(CompiledRules):
    """`stay`: players may stay on their cell. `same_start`: both may start on one cell (which is no
    capture). `capture`: "monster" (only a move of the monster catches) or "either". `first`: who
    moves first."""

    sorted_infosets = True

    def __init__(
        self,
        rows: int,
        columns: int,
        moves: int,
        stay: bool = False,
        same_start: bool = True,
        capture: str = "monster",
        first: str = "princess",
    ) -> None:
        self.rows = whole_number(rows, 1, 20, "rows")
        self.columns = whole_number(columns, 1, 20, "columns")
        self.moves = whole_number(moves, 1, 200, "moves")
        self.stay = flag(stay, "stay")
        self.same_start = flag(same_start, "same_start")
        if self.rows * self.columns < 2:
            raise BadParameter("pam needs a grid of at least two cells")
        self.capture = one_of(capture, ("monster", "either"), "capture")
        self.first = one_of(first, ("princess", "monster"), "first")
        self.payoff_table = [(float(made), -float(made)) for made in range(self.moves + 1)]
        self.step = self._steps()
        cells = self.rows * self.columns
        pairs = [(p, m) for p in range(cells) for m in range(cells) if same_start or p != m]
        self.starts = np.array(pairs, dtype=np.int16)
        words = max(1, -(-((self.moves + 1) // 2) // STEPS_IN_WORD))
        either, second = int(capture == "either"), int(first == "monster")
        head = (cells, self.moves, either, second, words, len(pairs))
        self.constants = (*head, *self.step.ravel().tolist(), *self.starts.ravel().tolist())
        self.state_size = KEY + 2 * words
        self.known_size = words
        self.max_actions = int((self.step >= 0).sum(axis=1).max())
        self.depth = self.moves

    def _steps(self) -> np.ndarray:
        """int16[cells, 5]: the cell a step leads to, -1 where it is not allowed."""
        step = np.full((self.rows * self.columns, len(STEPS)), -1, dtype=np.int16)
        for row in range(self.rows):
            for column in range(self.columns):
                for s, (down, right) in enumerate(STEPS):
                    r, c = row + down, column + right
                    if (
                        0 <= r < self.rows
                        and 0 <= c < self.columns
                        and (self.stay or (down, right) != (0, 0))
                    ):
                        step[row * self.columns + column, s] = r * self.columns + c
        return step

    def count_nodes(self) -> int:
        """Exact up to 10^15, where it stops counting."""
        cells = self.rows * self.columns
        alive = np.zeros((cells, cells), dtype=np.int64)  # histories by cells of both players
        alive[self.starts[:, 0], self.starts[:, 1]] = 1
        total = 1 + int(alive.sum())
        for move in range(self.moves):
            mover = (move + (self.first == "monster")) % 2
            alive = self._moved(alive) if mover == PRINCESS else self._moved(alive.T).T
            total += int(alive.sum())
            if total > 10**15:
                break
            if mover == MONSTER or self.capture == "either":
                np.fill_diagonal(alive, 0)
        return total

    def _moved(self, count: np.ndarray) -> np.ndarray:
        """Counts by cell (first axis) after every legal step."""
        after = np.zeros_like(count)
        for step in self.step.T:
            allowed = np.flatnonzero(step >= 0)
            after[step[allowed]] += count[allowed]  # a step is injective
        return after

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
        while action >= 0:  # the action-th legal step
            step += 1
            action -= c[row + step] >= 0
        state[CELL + player] = c[row + step]
        word = move // 2 // STEPS_IN_WORD
        key = KEY + player * c[WORDS] + word
        base = N_STEPS if word == 0 else N_STEPS + 1
        state[key] = state[key] * base + step + base - N_STEPS
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

    def _path(self, known: tuple[int, ...]) -> tuple[int, list[int]]:
        """The player's start and steps."""
        key, cells = known[0], self.rows * self.columns
        steps: list[int] = []
        while key >= 2 * cells:
            key, step = divmod(key, N_STEPS)
            steps.insert(0, step)
        for word in known[1:]:  # digits from 1 on
            more: list[int] = []
            while word > 0:
                word, digit = divmod(word, N_STEPS + 1)
                more.insert(0, digit - 1)
            steps += more
        return key - cells, steps

    def label(self, player: int, known: tuple[int, ...]) -> str:
        start, steps = self._path(known)
        row, column = divmod(start, self.columns)
        return " ".join([f"({row + 1},{column + 1})", *(STEP_LABELS[step] for step in steps)])

    def action_labels(self, player: int, known: tuple[int, ...], count: int) -> list[str]:
        cell, steps = self._path(known)
        for step in steps:
            cell = int(self.step[cell, step])
        return [STEP_LABELS[k] for k in np.flatnonzero(self.step[cell] >= 0)]


GAME = GameSpec(
    "pam",
    PrincessAndMonster,
    "Princess and Monster on an R x C grid, H moves",
    ("pam(3,3,8)", "pam(2,2,4,stay=True)"),
)
