"""Princess and Monster (Section 2.2): pursuit in a dark room, on a grid of R rows and C columns, H
moves in total.

Neither player sees the other or his moves. The princess (player 1) gets the number of moves made
when she is caught, or H. The exact rules of the published experiments are not known; the defaults
follow the wording of the paper, the options cover the rest.
"""

from __future__ import annotations

import numpy as np

from counterplay.base.errors import BadParameter, whole_number
from counterplay.forms.rules import CHANCE, TERMINAL, Level, Rows
from counterplay.forms.spec import GameSpec, yes_or_no
from counterplay.games.pam_compiled import CompiledPam

STEPS = ((-1, 0), (1, 0), (0, -1), (0, 1), (0, 0))
STEP_LABELS = ("up", "down", "left", "right", "stay")
PRINCESS, MONSTER = 0, 1


class PrincessAndMonster:
    """`stay`: a player may stay where he is. `same_start`: both may start on one cell (which is no
    capture).

    `capture`: "monster" (only a move of the monster catches) or "either". `first`: who moves first.
    """

    n_players = 2

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
        self.stay = yes_or_no(stay, "stay")
        self.same_start = yes_or_no(same_start, "same_start")
        if self.rows * self.columns < 2:
            raise BadParameter("pam needs a grid of at least two cells")
        if capture not in ("monster", "either"):
            raise BadParameter(f"capture must be 'monster' or 'either', not {capture!r}")
        if first not in ("princess", "monster"):
            raise BadParameter(f"first must be 'princess' or 'monster', not {first!r}")
        self.capture, self.first = capture, first
        length = np.arange(self.moves + 1, dtype=np.float64)
        self.payoffs = np.stack([length, -length], axis=1)
        self._step = self._steps()
        cells = self.rows * self.columns
        pairs = [(p, m) for p in range(cells) for m in range(cells) if same_start or p != m]
        self._start = np.array(pairs, dtype=np.int16)

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

    def compiled(self) -> CompiledPam:
        """The same without a tree."""
        either, second = self.capture == "either", self.first == "monster"
        shape = (self.rows, self.columns, self.moves)
        return CompiledPam(shape, self._step, self._start, either, second)

    def _mover(self, move: int) -> int:
        """Who makes move 0, 1, ..."""
        return (move + (self.first == "monster")) % 2

    def _catches(self, mover: int) -> bool:
        return mover == MONSTER or self.capture == "either"

    def count_nodes(self) -> int:
        """Exact, except that it stops counting at a number no machine could hold."""
        cells = self.rows * self.columns
        alive = np.zeros(
            (cells, cells), dtype=np.int64
        )  # histories by cell of the princess and of the monster
        alive[self._start[:, 0], self._start[:, 1]] = 1
        total = 1 + int(alive.sum())
        for move in range(self.moves):
            mover = self._mover(move)
            alive = self._moved(alive) if mover == PRINCESS else self._moved(alive.T).T
            total += int(alive.sum())
            if total > 10**15:
                break
            if self._catches(mover):
                np.fill_diagonal(alive, 0)
        return total

    def _moved(self, count: np.ndarray) -> np.ndarray:
        """Counts by cell (first axis) after every step that is allowed."""
        after = np.zeros_like(count)
        for step in self._step.T:
            allowed = np.flatnonzero(step >= 0)
            after[step[allowed]] += count[
                allowed
            ]  # a step leads from different cells to different cells
        return after

    def first_level(self) -> Rows:
        zero = np.zeros(1, dtype=np.int64)
        cell = np.zeros(1, dtype=np.int16)
        return {
            "princess": cell,
            "monster": cell,
            "move": np.array([-1], dtype=np.int8),  # moves made; -1 before the start is drawn
            "caught": np.zeros(1, dtype=bool),
            "key1": zero,  # start and steps of the princess
            "key2": zero,
        }

    def level(self, rows: Rows) -> Level:
        move = int(rows["move"][0])  # the same in the whole level
        if move < 0:
            zero = np.zeros(1, dtype=np.int32)
            return Level(
                np.array([CHANCE], dtype=np.int8),
                np.ones((1, len(self._start)), dtype=bool),
                zero,
                zero,
            )
        mover = self._mover(move)
        over = rows["caught"] | (move == self.moves)
        player = np.where(over, TERMINAL, mover).astype(np.int8)
        legal = self._step[rows["princess" if mover == PRINCESS else "monster"]] >= 0
        legal[over] = False
        outcome = np.full(len(player), move, dtype=np.int32)
        return Level(player, legal, rows["key1" if mover == PRINCESS else "key2"], outcome)

    def children(self, rows: Rows, row: np.ndarray, action: np.ndarray) -> Rows:
        move = int(rows["move"][0])
        next_move = np.full(len(row), move + 1, dtype=np.int8)
        if move < 0:
            princess, monster = self._start[action].T
            return {
                "princess": princess,
                "monster": monster,
                "move": next_move,
                "caught": np.zeros(len(row), dtype=bool),
                "key1": princess.astype(np.int64),
                "key2": monster.astype(np.int64),
            }
        below = {name: column[row] for name, column in rows.items()}
        who, key = ("princess", "key1") if self._mover(move) == PRINCESS else ("monster", "key2")
        below[who] = self._step[below[who], action]
        below[key] = below[key] * len(STEPS) + action
        below["move"] = next_move
        if self._catches(self._mover(move)):
            below["caught"] = below["princess"] == below["monster"]
        return below

    def infoset_label(self, rows: Rows, k: int) -> str:
        move = int(rows["move"][k])
        mover = self._mover(move)
        key = int(rows["key1" if mover == PRINCESS else "key2"][k])
        steps: list[str] = []
        for _ in range(move // 2):
            key, step = divmod(key, len(STEPS))
            steps.insert(0, STEP_LABELS[step])
        row, column = divmod(key, self.columns)
        return " ".join([f"({row + 1},{column + 1})", *steps])

    def action_label(self, rows: Rows, k: int, action: int) -> str:
        return STEP_LABELS[action]


GAME = GameSpec(
    "pam",
    PrincessAndMonster,
    "Princess and Monster on an R x C grid, H moves",
    ("pam(3,3,8)", "pam(2,2,4,stay=True)"),
)
