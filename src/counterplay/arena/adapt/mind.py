"""What the adaptive player knows, and how it decides who plays.

After every hand: each model predicts what the opponent did (`opponents/models/predict.py`), which
is evidence (`evidence.py`) and tells whether he has changed (`change.py`); each arm's winnings are
estimated (`offpolicy.py`). Now and then (`learn`): the prior is the model that predicted best, if
it did so for certain, else the equilibrium; what is confirmed tilts it; a data-biased response to
that is computed; every arm is judged against it; and the bandit chooses who plays (`bandit.py`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from counterplay.arena.adapt.bandit import Arm, Verdict, choose
from counterplay.arena.adapt.change import ChangeDetector
from counterplay.arena.adapt.learnt import LearntResponse
from counterplay.arena.adapt.offpolicy import HandWeigher
from counterplay.arena.adapt.portfolio import Portfolio
from counterplay.evaluation.pairs import worth_against
from counterplay.forms.strategy import Strategy
from counterplay.holdem.betting import ACTIONS
from counterplay.opponents.bots.bot import Ending
from counterplay.opponents.hands.records import HandRecord
from counterplay.opponents.models.evidence import Evidence, Finding
from counterplay.opponents.models.model import kind_of, slots_of
from counterplay.opponents.models.observe import observe
from counterplay.opponents.models.predict import LEAST, Predictor
from counterplay.opponents.models.tilted import N_KINDS

FOE = "opponent"
SAFE, LEARNT, PROBING = "equilibrium", "learnt response", "probing"
SURE = float(np.log(1_000.0))  # by how much another prior must have predicted better
FIT = 0.05  # total variation between what is done and what a known player would do
SETTLED = 400  # hands a model is learnt from before a change is looked for


@dataclass(frozen=True)
class MindOptions:
    """As `Adaptive` takes them."""

    budget: float
    p_max: float
    iterations: int
    seconds: float | None  # that a learning may take beside the model
    probing: float
    seed: int


class Mind:
    """Knowledge of one opponent."""

    def __init__(self, company: Portfolio, options: MindOptions) -> None:
        self.game, self.company, self.options = company.game, company, options
        tree = self.game.rules.tree
        self._kind = kind_of(tree, np.arange(len(tree.states)))
        self._legal = tree.legal
        self._models = [company.equilibrium, *(member.model for member in company.members)]
        self._fixed = [company.equilibrium, *(member.strategy for member in company.members)]
        names = [SAFE, *(member.name for member in company.members), LEARNT]
        self._extra: list[Strategy] = []
        if options.probing > 0:
            self._extra = [never_folding(company.equilibrium)]
            names.append(PROBING)
        self.names = names
        self.changes: list[int] = []  # hands at which the opponent was found to be another
        self._forget(0)

    def _forget(self, since: int) -> None:
        """Know nothing; the first hand of this opponent is number `since`."""
        self.since, self.hands, self.learnt_from = since, 0, 0
        self.log = np.zeros(len(self._models))  # log likelihood of each model
        self.evidence = [Evidence.none(N_KINDS, len(ACTIONS)) for _ in self._models]
        self.arms = [Arm(name) for name in self.names]
        self.playing, self.prior, self.bank = 0, 0, self.options.budget
        self.response: Strategy = self.company.equilibrium
        self._learner: LearntResponse | None = None
        self.verdicts: list[Verdict] = []
        self._set(self.company.equilibrium)

    def _set(self, believed: Strategy) -> None:
        """Predict and weigh by these from now on."""
        self.believed = believed
        self.strategies = [*self._fixed, self.response, *self._extra]
        self._predictor = Predictor(self.game, [*self._models, believed])
        self._weigher = HandWeigher(self.game, self.strategies)
        self._detector = ChangeDetector(len(self._models), N_KINDS, self.hands)

    @property
    def mix(self) -> np.ndarray:
        """float64[arms]: how likely each is to play the next hand."""
        mix = np.zeros(len(self.arms))
        mix[self.playing] = 1.0 - self.options.probing
        if self._extra:
            mix[-1] = self.options.probing
        return mix

    def hear(self, ending: Ending, mix: np.ndarray | None) -> int | None:
        """One hand, played by `mix` (None: not by us as we are now). The hands, counted from the
        first of this opponent, that he may be another since; None: he is the same."""
        self.hands += 1
        changed = self._predict(ending)
        if mix is not None:
            won = self._weigher.weigh(ending, mix)
            for k, arm in enumerate(self.arms):
                arm.add(float(won[k] - won[0]))
            if self.playing:
                self.bank += float(won @ mix)
        return changed

    def _predict(self, ending: Ending) -> int | None:
        line, shares, likelihood = self._predictor.predict(ending)
        recent, actions = 0.0, 0.0
        for d, (node, action) in enumerate(
            zip(line.node.tolist(), line.action.tolist(), strict=True)
        ):
            kind = int(self._kind[node])
            for j, evidence in enumerate(self.evidence):
                evidence.add(kind, action, shares[d, :, j])
            recent += np.log(self._detector.recent(kind, action, self._legal[node]))
            actions += np.log(max(shares[d, action, -1], LEAST))
        self.log += likelihood[:-1]
        if self.learnt_from < SETTLED:
            return None
        believed = float(likelihood[-1])
        return self._detector.add(
            self.hands - 1, believed, likelihood[:-1], recent + believed - actions
        )

    def start_anew(self, hands: int) -> None:
        """The opponent is another since so many hands."""
        self.changes.append(self.since + hands)
        self._forget(self.since + hands)

    def learn(self, memory: list[HandRecord]) -> None:
        """All hands of this opponent so far: prior, model, response, verdicts."""
        prior = self._best_prior()
        evidence = self.evidence[prior]
        if not evidence.n.any():
            return
        believed = self._models[prior]
        self.response = self._fixed[prior]
        if prior == 0 and evidence.confirmed.any():  # a known player who fits is taken as he is
            if self._learner is None:
                seed, p_max = self.options.seed, self.options.p_max
                self._learner = LearntResponse(believed, seed, p_max)
            self._learner.learn(observe(memory, FOE), evidence)
            self.response = self._learner.think(self.options.iterations, self.options.seconds)
            believed = self._learner.believed.strategy
        self.prior, self.learnt_from = prior, self.hands
        self._set(believed)
        self._judge()

    def _best_prior(self) -> int:
        """The model that predicts best, if it fits and beats the equilibrium for certain."""
        fit = [
            k
            for k, evidence in enumerate(self.evidence)
            if evidence.apart < FIT + 0.5 / np.sqrt(max(evidence.n.sum(), 1.0))
            and self.log[k] > self.log[0] + SURE
        ]
        return max(fit, key=lambda k: float(self.log[k]), default=0)

    def _judge(self) -> None:
        his = self.believed.probabilities
        safe = worth_against(self.game, self.company.equilibrium.probabilities, his)
        for arm, strategy in zip(self.arms, self.strategies, strict=True):
            arm.gain = worth_against(self.game, strategy.probabilities, his) - safe
        learnt = self.arms[self.names.index(LEARNT)]
        learnt.n, learnt.squares = learnt.n / 2, learnt.squares / 2  # it is another one now
        self.choose()

    def choose(self) -> None:
        """Who plays."""
        arms = self.arms[: len(self.arms) - len(self._extra)]
        best, self.verdicts = choose(arms, self.learnt_from, self.playing)
        self.playing = best if self.bank > 0.0 else 0

    def findings(self) -> list[Finding]:
        """What is confirmed beside the equilibrium."""
        return self.evidence[0].findings()


def never_folding(strategy: Strategy) -> Strategy:
    """The same, but calling where it would fold."""
    slots: Any = slots_of(strategy.game)
    policy = strategy.probabilities.copy()
    folds = slots[:, 0] >= 0
    policy[slots[folds, 1]] += policy[slots[folds, 0]]
    policy[slots[folds, 0]] = 0.0
    return Strategy(strategy.game, policy)
