"""What the adaptive player knows of its opponent, and how it decides who plays.

`OpponentTracker`: after every hand each model predicts what the opponent did
(`poker/models/predict.py`), which is evidence (`evidence.py`) and tells whether he has changed
(`ChangeDetector`); each arm's winnings are estimated (`HandWeigher`). Now and then (`learn`): the
prior is the model that predicted best, if it did so for certain, else the equilibrium; what is
confirmed tilts it; a data-biased response to that is computed; every arm is estimated against it;
and the bandit chooses who plays (`bandit.py`). `LearnerTracker`: one arm, a `ResponseLearner`.

`ChangeDetector`: whether the opponent is still the same, an e-detector (Shin, Ramdas & Rinaldo
2023). The model that is believed predicts every hand before it is seen; so do others: the
equilibrium, the models of the portfolio, and what was done lately, pooled. For each of these the
ratio of its prediction to that of the believed model is an e-value, and

    C_t = max(0, C_{t-1} + log ratio_t)

the CUSUM of it. While the opponent plays as is believed, a C above log(J/α), J the number of
others, comes once in 1/α hands at most, on average. Then everything before the hand where that C
was last 0 is forgotten: nothing is forgotten without evidence. Log ratios above `MOST` are cut,
which only makes alarms rarer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import MOST_HANDS
from counterplay.poker.adaptive.bandit import BanditArm, GainEstimate, HandWeigher, choose
from counterplay.poker.adaptive.portfolio import Portfolio
from counterplay.poker.adaptive.response import ResponseLearner, TiltedResponse
from counterplay.poker.betting.betting import ACTIONS
from counterplay.poker.bots.bot import Ending
from counterplay.poker.histories.records import HandRecord
from counterplay.poker.models.evidence import Deviation, Evidence
from counterplay.poker.models.model import decision_kind, slots_of
from counterplay.poker.models.observe import observe
from counterplay.poker.models.predict import MIN_PROBABILITY, Predictor
from counterplay.poker.models.tilted import N_KINDS
from counterplay.poker.vector.pairs import worth_against

Stop = Callable[[], bool]


def never() -> bool:
    return False


FOE = "opponent"  # what the player calls the other in its notes
SAFE, LEARNT, PROBING = "equilibrium", "learnt response", "probing"
SURE = float(np.log(1_000.0))  # by how much another prior must have predicted better
FIT = 0.05  # total variation between what is done and what a known player would do
EARLY = (60, 125, 250, 500)  # hands after which it learns besides
SETTLED = 400  # hands a model is learnt from before a change is looked for
ALPHA = 1e-6  # false alarms per hand, at most
RECENT = 200.0  # decisions that count among the recent ones
MOST = 3.0  # that one hand may say for another: no single surprise is a change
SMALLEST = 1.0  # observations that an even share is worth there


class ChangeDetector:
    """CUSUMs of `others` rival predictions and of recent frequencies in g groups."""

    def __init__(self, others: int, groups: int, hand: int = 0) -> None:
        """`hand`: the number of the next one."""
        self.sums = np.zeros(others + 1)
        self.since = np.full(others + 1, hand)  # the hand where a sum was last 0
        self._recent = np.zeros((groups, 3))

    @property
    def limit(self) -> float:
        return float(np.log(len(self.sums) / ALPHA))

    def recent(self, group: int, action: int, legal: np.ndarray) -> float:
        """How likely an action is by what was done lately; then it is counted. `legal`:
        bool[3]."""
        counts = self._recent[group]
        even = SMALLEST * legal
        share = float((counts[action] + even[action]) / (counts.sum() + even.sum()))
        counts *= 1.0 - 1.0 / RECENT
        counts[action] += 1.0
        return share

    def add(self, hand: int, believed: float, others: np.ndarray, recent: float) -> int | None:
        """One hand with its log likelihoods. The first hand of the new player, if the old one is
        gone. `recent` takes no account of cards that were shown."""
        gains = np.append(others, recent) - believed
        self.sums += np.minimum(gains, MOST)
        gone = self.sums <= 0.0
        self.sums[gone] = 0.0
        self.since[gone] = hand + 1
        best = int(self.sums.argmax())
        return int(self.since[best]) if self.sums[best] > self.limit else None


@dataclass(frozen=True)
class TrackerOptions:
    """As `Adaptive` takes them."""

    budget: float
    p_max: float
    every: int  # hands between two learnings
    iterations: int
    seconds: float | None  # that a learning may take beside the model
    probing: float
    seed: int
    relearn: bool = True  # a `ResponseLearner`: the model as well


class OpponentTracker:
    """Knowledge of one opponent, and a bandit over the portfolio and the learnt response."""

    deferred = False  # learns when a hand ends, not before the next one

    def __init__(self, portfolio: Portfolio, options: TrackerOptions) -> None:
        self.game, self.portfolio, self.options = portfolio.game, portfolio, options
        tree = self.game.rules.tree
        self._kind = decision_kind(tree, np.arange(len(tree.states)))
        self._legal = tree.legal
        self._models = [portfolio.equilibrium, *(member.model for member in portfolio.members)]
        self._fixed = [portfolio.equilibrium, *(member.strategy for member in portfolio.members)]
        names = [SAFE, *(member.name for member in portfolio.members), LEARNT]
        self._extra: list[Strategy] = []
        if options.probing > 0:
            self._extra = [never_folding(portfolio.equilibrium)]
            names.append(PROBING)
        self.names = names
        self.changes: list[int] = []  # hands at which the opponent was found to be another
        self._forget(0)

    def _forget(self, since: int) -> None:
        """Know nothing; the first hand of this opponent is number `since`."""
        self.since, self.hands, self.learnt_from = since, 0, 0
        self.log_likelihood = np.zeros(len(self._models))  # of each model
        self.evidence = [Evidence.none(N_KINDS, len(ACTIONS)) for _ in self._models]
        self.arms = [BanditArm(name) for name in self.names]
        self.playing, self.prior, self.budget_left = 0, 0, self.options.budget
        self.response: Strategy = self.portfolio.equilibrium
        self._tilted: TiltedResponse | None = None
        self.estimates: list[GainEstimate] = []
        self._predict_by(self.portfolio.equilibrium)

    def _predict_by(self, believed: Strategy) -> None:
        """Predict and weigh by these from now on."""
        self.believed = believed
        self.strategies = [*self._fixed, self.response, *self._extra]
        self._predictor = Predictor(self.game, [*self._models, believed])
        self._weigher = HandWeigher(self.game, self.strategies)
        self._detector = ChangeDetector(len(self._models), N_KINDS, self.hands)

    def next_learning(self) -> int:
        """The number of hands after which it learns."""
        hands, every = self.hands, self.options.every
        return next((n for n in EARLY if hands < n < every), hands + every - hands % every)

    @property
    def iterations(self) -> int:
        """Of the learnt response, in both seats."""
        return 0 if self._tilted is None else self._tilted.iterations

    @property
    def mix(self) -> np.ndarray:
        """float64[arms]: how likely each is to play the next hand."""
        mix = np.zeros(len(self.arms))
        mix[self.playing] = 1.0 - self.options.probing
        if self._extra:
            mix[-1] = self.options.probing
        return mix

    def update(self, ending: Ending, mix: np.ndarray | None) -> int | None:
        """One hand, played by `mix` (None: not by us as we are now). The hands, counted from the
        first of this opponent, that he may be another since; None: he is the same."""
        self.hands += 1
        changed = self._predict(ending)
        if mix is not None:
            won = self._weigher.weigh(ending, mix)
            for k, arm in enumerate(self.arms):
                arm.add(float(won[k] - won[0]))
            if self.playing:
                self.budget_left += float(won @ mix)
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
            actions += np.log(max(shares[d, action, -1], MIN_PROBABILITY))
        self.log_likelihood += likelihood[:-1]
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

    def learn(self, memory: list[HandRecord], stop: Stop = never) -> None:
        """All hands of this opponent so far: prior, model, response, estimates. That is not
        stopped halfway."""
        prior = self._best_prior()
        evidence = self.evidence[prior]
        if not evidence.n.any():
            return
        believed = self._models[prior]
        self.response = self._fixed[prior]
        if prior == 0 and evidence.confirmed.any():  # a known player who fits is taken as he is
            if self._tilted is None:
                seed, p_max = self.options.seed, self.options.p_max
                self._tilted = TiltedResponse(believed, seed, p_max)
            self._tilted.learn(observe(memory, FOE), evidence)
            self.response = self._tilted.think(self.options.iterations, self.options.seconds)
            believed = self._tilted.believed.strategy
        self.prior, self.learnt_from = prior, self.hands
        self._predict_by(believed)
        self._estimate_gains()

    def _best_prior(self) -> int:
        """The model that predicts best, if it fits and beats the equilibrium for certain."""
        fit = [
            k
            for k, evidence in enumerate(self.evidence)
            if evidence.total_variation < FIT + 0.5 / np.sqrt(max(evidence.n.sum(), 1.0))
            and self.log_likelihood[k] > self.log_likelihood[0] + SURE
        ]
        return max(fit, key=lambda k: float(self.log_likelihood[k]), default=0)

    def _estimate_gains(self) -> None:
        his = self.believed.probabilities
        safe = worth_against(self.game, self.portfolio.equilibrium.probabilities, his)
        for arm, strategy in zip(self.arms, self.strategies, strict=True):
            arm.gain = worth_against(self.game, strategy.probabilities, his) - safe
        learnt = self.arms[self.names.index(LEARNT)]
        learnt.n, learnt.squares = learnt.n / 2, learnt.squares / 2  # it is another one now
        self.choose()

    def choose(self) -> None:
        """Who plays."""
        arms = self.arms[: len(self.arms) - len(self._extra)]
        best, self.estimates = choose(arms, self.learnt_from, self.playing)
        self.playing = best if self.budget_left > 0.0 else 0

    def findings(self) -> list[Deviation]:
        """What is confirmed beside the equilibrium."""
        return self.evidence[0].deviations()

    def why(self) -> str:
        """Why the arm plays that does."""
        if not self.estimates:
            return "it has not learnt yet"
        best = max(self.estimates[1:], key=lambda one: one.gain, default=None)
        if self.playing == 0:
            if self.budget_left <= 0:
                return "the budget is used up"
            if best is None:
                return "there is nobody else"
            return (
                f"the best of the others, {best.name}, would win {best.gain:+.2f} ± "
                f"{best.error:.2f} sb/h more"
            )
        one = self.estimates[self.playing]
        return f"it wins {one.gain:+.2f} ± {one.error:.2f} sb/h more than the equilibrium"

    def warm_up(self, memory: list[HandRecord]) -> None:
        """Learn a little from some hands, so that all is compiled."""
        response = TiltedResponse(self.portfolio.equilibrium, 0, self.options.p_max)
        response.learn(observe(memory, FOE), self.evidence[0])
        response.think(2)
        self.portfolio.worth(self.portfolio.equilibrium)


class LearnerTracker:
    """The same questions to a `ResponseLearner`, whose response is the only arm."""

    deferred = True  # learns before the next hand, which whoever deals may do earlier
    names, playing, mix = (LEARNT,), 0, np.ones(1)
    since, budget_left = 0, 0.0
    changes: tuple[int, ...] = ()
    estimates: tuple[GainEstimate, ...] = ()

    def __init__(self, learner: ResponseLearner, options: TrackerOptions) -> None:
        self.learner, self.options = learner, options
        self.hands = self.learnt_from = 0
        self.strategies = [learner.strategy()]

    def next_learning(self) -> int:
        """The number of hands after which it learns; with 0 for `every` only when asked to."""
        return self.hands + self.options.every if self.options.every else MOST_HANDS

    @property
    def iterations(self) -> int:
        return self.learner.iterations

    def update(self, ending: Ending, mix: np.ndarray | None) -> None:
        self.hands += 1

    def learn(self, memory: list[HandRecord], stop: Stop = never) -> None:
        """A new model from all hands, and so many iterations for each new one."""
        options, new = self.options, self.hands - self.learnt_from
        self.learnt_from = self.hands
        if options.relearn:
            self.learner.learn(memory, FOE)
        end = None if options.seconds is None else time.monotonic() + options.seconds
        self.learner.think(
            options.iterations * new // 1_000,
            lambda: stop() or (end is not None and time.monotonic() > end),
        )
        self.strategies = [self.learner.strategy()]

    def choose(self) -> None:
        """There is nobody else."""

    def findings(self) -> list[Deviation]:
        return []

    def why(self) -> str:
        return f"it answers a model of {self.learnt_from:,} hands"

    def warm_up(self, memory: list[HandRecord]) -> None:
        self.learn(memory)


def never_folding(strategy: Strategy) -> Strategy:
    """The same, but calling where it would fold."""
    slots: Any = slots_of(strategy.game)
    policy = strategy.probabilities.copy()
    folds = slots[:, 0] >= 0
    policy[slots[folds, 1]] += policy[slots[folds, 0]]
    policy[slots[folds, 0]] = 0.0
    return Strategy(strategy.game, policy)
