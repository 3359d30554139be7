"""`Problem`, what a solver works on, and `Solver`, the base class of all solvers: arrays that
`step` changes, and a policy that follows from them.

All state is in `arrays()`: saving writes these, resuming copies them back, bit for bit.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.core.evaluation.exact import policy_exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.restricted import RestrictedPlayer
from counterplay.core.forms.sequence import SequenceForm
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.policy import normalise
from counterplay.core.kernels.rng import new_state
from counterplay.core.parallel.full_width import Replies


class Problem:
    """An equilibrium of a game, or of a transform of it, such as the restricted game of a response
    to a model. `form`: the transformed form, of the kind that the solver takes: a form for sampling
    or a sequence form. None: the game's own."""

    #: What identifies a run besides game, algorithm, options and seed, such as the model.
    setting: Mapping[str, Any] = {}
    #: The restricted player of a response, for an engine that takes no transformed form.
    restriction: RestrictedPlayer | None = None

    def __init__(self, game: Game, form: Any = None) -> None:
        self.game, self._form = game, form

    @property
    def transformed(self) -> bool:
        """Whether the form differs from the game's."""
        return self._form is not None

    @property
    def form(self) -> Any:
        """The form of sampling solvers."""
        return self._form if self.transformed else self.game.form

    @property
    def sequence_form(self) -> SequenceForm:
        """The form of full-width solvers."""
        form: SequenceForm = self._form if self.transformed else self.game.sequence_form
        return form

    def measure(self, policy: np.ndarray, replies: Replies | None = None) -> float:
        """The exploitability of a policy in this problem. `replies`: what computes best replies."""
        return policy_exploitability(self.game, policy, replies)

    def complete(self, learnt: Strategy) -> Strategy:
        """Returns the strategy to be played, given the one that was learnt."""
        return learnt

    def save(self, folder: Path) -> None:
        """Writes to a run folder what resuming needs."""


class Solver(ABC):
    """An iterative solver of one problem."""

    name: ClassVar[str]
    summary: ClassVar[str]  # one line
    sampled: ClassVar[bool] = True  # or each iteration traverses the whole game
    stride = 1  # `step` keeps all threads busy to its end with a multiple of this many iterations

    #: Options with their defaults, besides the keyword arguments of the class.
    shared_options: ClassVar[Mapping[str, Any]] = {}

    def __init__(self, problem: Problem, seed: int, **options: Any) -> None:
        self.game, self.problem = problem.game, problem
        self.rng = new_state(seed)
        self.seed = int(seed)
        self.options = options
        self.counters = np.zeros(2, dtype=np.int64)  # iterations, nodes touched
        self.replies: Replies | None = None  # what computes best replies, unless one thread does

    @classmethod
    def plays(cls, game: Game) -> bool:
        """Whether it can solve a game."""
        return True

    @classmethod
    def draws(cls, game: Game) -> bool:
        """Whether it draws random numbers in a game, so that its result depends on the seed."""
        return cls.sampled

    @property
    def finished(self) -> bool:
        """Whether more iterations would change nothing."""
        return False

    @property
    def iterations(self) -> int:
        return int(self.counters[0])

    @property
    def nodes_touched(self) -> int:
        """Decision and terminal nodes visited; at full width, those of a traversal of the tree."""
        return int(self.counters[1])

    @property
    def visits(self) -> float:
        """How often an information set was visited, on average."""
        return float(self.iterations)

    def step(self, n: int) -> None:
        """Runs n iterations; 0 compiles the kernels, and changes nothing."""
        nodes = self._run(n)
        self.counters[0] += n
        self.counters[1] += nodes

    @abstractmethod
    def _run(self, n: int) -> int:
        """Runs n iterations; returns the number of nodes touched."""

    @abstractmethod
    def tables(self) -> dict[str, np.ndarray]:
        """The learnt arrays, not copies."""

    @abstractmethod
    def weights(self) -> np.ndarray:
        """float64[n_slots]: the policy before normalisation."""

    def policy(self) -> np.ndarray:
        """float64[n_slots]: the strategy learnt so far."""
        out = np.empty(self.game.n_slots)
        normalise(self.weights(), self.game.form.first, out)
        return out

    def strategy(self) -> Strategy:
        """The strategy to be played and saved: the policy, as the problem completes it."""
        return self.problem.complete(Strategy(self.game, self.policy()))

    def regrets(self) -> np.ndarray:
        """float64[n_slots]: the cumulative counterfactual regrets, slot by slot of `strategy()`."""
        raise BadParameter(f"{self.name} has no regrets; solvers of the CFR family have")

    def current_strategy(self) -> Strategy:
        """The last iterate: regret matching (Eq 5) on the regrets."""
        out = np.empty(self.game.n_slots)
        normalise(np.maximum(self.regrets(), 0.0), self.game.form.first, out)
        return Strategy(self.game, out)

    def measure(self, policy: np.ndarray) -> float:
        """Returns the exploitability of a policy in the problem."""
        return self.problem.measure(policy, self.replies)

    def exploitability(self) -> float:
        """Returns that of the strategy learnt so far, in the problem."""
        return self.measure(self.policy())

    def discount(self, factor: float) -> None:
        """Multiplies the weight of all earlier iterations by `factor`."""
        raise BadParameter(f"{self.name} cannot discount what it has learnt; start it anew")

    def change_problem(self, problem: Problem) -> None:
        """Continues from what was learnt with another problem of the same game."""
        raise BadParameter(f"{self.name} cannot continue with another problem; start it anew")

    def arrays(self) -> dict[str, np.ndarray]:
        """All state, not copies."""
        return {"rng": self.rng, "counters": self.counters, **self.tables()}

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        """Restores what `arrays` returned. `source`: the name of the file in errors."""
        mine = self.arrays()
        for name, array in mine.items():
            given = saved.get(name)
            if given is None or given.shape != array.shape or given.dtype != array.dtype:
                raise BadFile(
                    f"{source}: does not fit {self.name} on {self.game.name} (array {name!r})"
                )
        for name, array in mine.items():
            array[:] = saved[name]
