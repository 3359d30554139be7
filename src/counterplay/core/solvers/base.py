"""What every solver is: arrays that change by `step`, and a policy that can be read off them.

All state is in `arrays()`, so that saving is writing them and resuming is copying them back: bit
for bit.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from counterplay.core.base.errors import BadFile, BadParameter, shown
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.policy import normalise
from counterplay.core.kernels.rng import new_state
from counterplay.core.parallel.full_width import Replies
from counterplay.core.solvers.problem import Problem


class Solver(ABC):
    """An iterative solver of one problem, None: an equilibrium of the game. `options` are the
    algorithm's own parameters, as given or by default."""

    name: ClassVar[str]
    summary: ClassVar[str]  # one line for people
    sampled: ClassVar[bool] = True  # whether an iteration looks at a sample or at the whole game

    def __init__(
        self, game: Game, seed: int, problem: Problem | None = None, **options: Any
    ) -> None:
        self.game, self.problem = game, problem or Problem(game)
        self.rng = new_state(seed)
        self.seed = int(seed)
        self.options = options
        self.counters = np.zeros(2, dtype=np.int64)  # iterations, nodes touched
        self.replies: Replies | None = None  # who works out best replies, where not one thread

    @classmethod
    def plays(cls, game: Game) -> bool:
        """Whether it can be used on a game."""
        return True

    @property
    def finished(self) -> bool:
        """Whether more iterations would change nothing."""
        return False

    @property
    def iterations(self) -> int:
        return int(self.counters[0])

    @property
    def nodes_touched(self) -> int:
        """Decision and terminal nodes visited; for full-width methods the nodes a walk of the
        tree would visit."""
        return int(self.counters[1])

    def step(self, n: int) -> None:
        """Run n iterations."""
        nodes = self._run(n)
        self.counters[0] += n
        self.counters[1] += nodes

    @abstractmethod
    def _run(self, n: int) -> int:
        """n iterations; returns the number of nodes touched."""

    @abstractmethod
    def tables(self) -> dict[str, np.ndarray]:
        """The learned arrays, not copies."""

    @abstractmethod
    def weights(self) -> np.ndarray:
        """float64[n_slots]: what normalises to the policy."""

    def policy(self) -> np.ndarray:
        """float64[n_slots]: the strategy learned so far."""
        out = np.empty(self.game.n_slots)
        normalise(self.weights(), self.game.form.first, out)
        return out

    def strategy(self) -> Strategy:
        """What is to be played, and saved: the policy, as the problem completes it."""
        return self.problem.complete(Strategy(self.game, self.policy()))

    def measure(self, policy: np.ndarray) -> float:
        """How far a policy is from solving the problem."""
        return self.problem.measure(policy, self.replies)

    def discount(self, factor: float) -> None:
        """From now on what was learnt counts for this share, as when the game has changed a
        little."""
        raise BadParameter(f"{self.name} cannot forget a share of what it learnt; start it anew")

    def change_problem(self, problem: Problem) -> None:
        """Go on, with what was learnt, at another problem of the same game."""
        raise BadParameter(f"{self.name} cannot go on in another game; start it anew")

    def arrays(self) -> dict[str, np.ndarray]:
        """All state, not copies."""
        return {"rng": self.rng, "counters": self.counters, **self.tables()}

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        """Go on from what `arrays` gave. `source` names the file in errors."""
        mine = self.arrays()
        for name, array in mine.items():
            found = saved.get(name)
            if found is None or found.shape != array.shape or found.dtype != array.dtype:
                raise BadFile(
                    f"{source}: does not fit {self.name} on {self.game.name} (array {name!r})"
                )
        for name, array in mine.items():
            array[:] = saved[name]


def probability(value: Any, what: str) -> float:
    """`value` as a float in [0, 1], else `BadParameter`."""
    number = real(value, what)
    if not 0.0 <= number <= 1.0:
        raise BadParameter(f"{what} must be from 0 to 1, not {shown(value)}")
    return number


def real(value: Any, what: str) -> float:
    """`value` as a finite float, else `BadParameter`."""
    try:
        number = (
            float(value) if isinstance(value, int | float | np.integer | np.floating) else math.nan
        )
    except OverflowError:  # a whole number of over 300 digits
        number = math.inf
    if isinstance(value, bool) or not math.isfinite(number):
        raise BadParameter(f"{what} must be a number, not {shown(value)}")
    return number


def one_of(value: Any, choices: tuple[str, ...], what: str) -> str:
    """`value` if it is one of `choices`, else `BadParameter`."""
    if value not in choices:
        raise BadParameter(f"{what} must be one of {', '.join(choices)}, not {shown(value)}")
    return str(value)
