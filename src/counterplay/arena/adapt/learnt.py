"""The learnt response: what is believed of the opponent, and a data-biased response to it that goes
on from where it was."""

from __future__ import annotations

import time

import numpy as np

from counterplay.forms.strategy import Strategy
from counterplay.opponents.models.evidence import Evidence
from counterplay.opponents.models.observe import Observations
from counterplay.opponents.models.tilted import ROUNDS, Tilted, tilted_model
from counterplay.responses.solver import ResponseSolver

ENGINE, ALGORITHM = "mccfr-external", "mcdbr"
FADE = 0.5  # of what was learnt against the last model
CHUNKS = 20  # between looks at the clock
AGAIN = 3  # rounds of EM that go on from an earlier model


class LearntResponse:
    """Both seats. `prior`: what the opponent is taken to be where nothing is confirmed."""

    def __init__(self, prior: Strategy, seed: int, p_max: float) -> None:
        self.prior, self.p_max = prior, p_max
        self.believed = Tilted(prior, np.zeros(prior.game.n_infosets), np.zeros(0))
        self._solvers = [
            ResponseSolver(prior.game, prior, seat, 0.0, ALGORITHM, ENGINE, (seed + seat) % 2**64)
            for seat in (0, 1)
        ]
        self._begun = False

    def learn(self, seen: Observations, evidence: Evidence) -> None:
        """A new model from all that was seen; what was learnt against the old one fades."""
        start = self.believed.strategy if self._begun else None
        rounds = AGAIN if self._begun else ROUNDS
        self.believed = tilted_model(seen, self.prior, evidence, self.p_max, start, rounds)
        for solver in self._solvers:
            solver.replace_model(self.believed.strategy, self.believed.trust)
            solver.discount(FADE)
        self._begun = True

    def think(self, iterations: int, seconds: float | None = None) -> Strategy:
        """The response after so many more iterations of each seat, or so many seconds."""
        end = None if seconds is None else time.monotonic() + seconds
        chunk = iterations if end is None else max(iterations // CHUNKS, 1)
        left = iterations
        while left > 0 and (end is None or left == iterations or time.monotonic() < end):
            for solver in self._solvers:
                solver.engine.step(min(chunk, left))
            left -= chunk
        one, two = (solver.strategy() for solver in self._solvers)
        return one.replace(two, 1)
