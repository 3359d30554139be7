"""`Problem`: what a solver works on, given to it when it is made. The game itself, or a transform
of it, such as that of a response to a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.evaluation.exact import policy_exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import SequenceForm
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.full_width import Replies


class Problem:
    """An equilibrium of a game. `form`: what to work on instead of the game's own, as the solver
    takes it: a form for sampling, or a sequence form."""

    #: What else makes a run what it is, such as the model of a response.
    setting: Mapping[str, Any] = {}

    def __init__(self, game: Game, form: Any = None) -> None:
        self.game, self._form = game, form

    @property
    def transformed(self) -> bool:
        """Whether what is solved differs from the game."""
        return self._form is not None

    @property
    def form(self) -> Any:
        """What sampling solvers play on."""
        return self._form if self.transformed else self.game.form

    @property
    def sequence_form(self) -> SequenceForm:
        """What full-width solvers work on."""
        form: SequenceForm = self._form if self.transformed else self.game.sequence_form
        return form

    def measure(self, policy: np.ndarray, replies: Replies | None = None) -> float:
        """How far a policy is from solving it. `replies`: who works out best replies."""
        return policy_exploitability(self.game, policy, replies)

    def complete(self, learnt: Strategy) -> Strategy:
        """What is to be played, from what was learnt."""
        return learnt

    def save(self, folder: Path) -> None:
        """Write to a run folder what is needed to go on."""
