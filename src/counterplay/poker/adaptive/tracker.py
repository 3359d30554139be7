"""The adaptive player's knowledge of its opponent, and its choice of the arm.

`OpponentTracker`: after every hand each model predicts the opponent's actions
(`poker/models/predict.py`); the predictions are evidence (`poker/models/tilted.py`) and show if the
opponent has changed (`ChangeDetector`); the payoff of each arm is estimated (`OffPolicyEstimator`).
Periodically (`learn`): the prior is the model with the best predictions, if it is significantly
better than the equilibrium, else the equilibrium; the confirmed evidence tilts it; a data-biased
response to that is computed; every arm is evaluated against it; and the bandit chooses the arm
(`bandit.py`). `LearnerTracker`: one arm, a `ResponseLearner`.

`ChangeDetector`: an e-detector (Shin, Ramdas & Rinaldo 2023) for a change of the opponent. The
current model predicts every hand before it is seen; so do rivals: the equilibrium, the models of
the portfolio, and the pooled recent frequencies. For each rival the ratio of its prediction to that
of the current model is an e-value, and

    C_t = max(0, C_{t-1} + log ratio_t)

its CUSUM. While the opponent plays as the model, a C above log(J/α), J the number of rivals, occurs
at most once in 1/α hands on average. At such an alarm everything before the hand where that C was
last 0 is discarded. Log ratios are clipped at `MOST`, which only makes alarms rarer.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import MOST_HANDS
from counterplay.core.parallel.processes import never
from counterplay.poker.adaptive.bandit import (
    ArmStatistics,
    GainEstimate,
    OffPolicyEstimator,
    choose,
)
from counterplay.poker.adaptive.belief import (
    EQUILIBRIUM,
    LEARNT,
    N_SPOTS,
    PROBING,
    arm_text,
    gain_text,
    spot_of,
)
from counterplay.poker.adaptive.portfolio import Portfolio
from counterplay.poker.adaptive.response import ResponseLearner, TiltedResponse
from counterplay.poker.betting.betting import ACTIONS
from counterplay.poker.bots.bot import Ending
from counterplay.poker.histories.records import HandRecord
from counterplay.poker.holdem.bucket_pairs import value_against
from counterplay.poker.models.model import decision_kind
from counterplay.poker.models.observe import observe
from counterplay.poker.models.predict import MIN_PROBABILITY, Predictor
from counterplay.poker.models.quality import NORMAL_95
from counterplay.poker.models.tilted import N_KINDS, Deviation, Evidence

Stop = Callable[[], bool]
OPPONENT = "opponent"  # name of the opponent in hand records
SIGNIFICANT = float(np.log(1_000.0))  # least log likelihood ratio of another prior
FIT = 0.05  # total variation between the opponent's actions and a known player's
EARLY = (60, 125, 250, 500)  # hands of additional updates
SETTLED = 400  # hands of a model before changes are detected
ALPHA = 1e-6  # bound on false alarms per hand
RECENT = 200.0  # decisions in the window of recent frequencies
MOST = 3.0  # log likelihood ratio of one hand: a single surprise is no change
SMALLEST = 1.0  # prior observations of the recent frequencies, uniform


class ChangeDetector:
    """CUSUMs of `others` rival predictions and of recent frequencies in g groups."""

    def __init__(self, others: int, groups: int, hand: int = 0) -> None:
        """`hand`: the number of the next hand."""
        self.sums = np.zeros(others + 1)
        self.since = np.full(others + 1, hand)  # the hand where a sum was last 0
        self._recent = np.zeros((groups, 3))

    @property
    def limit(self) -> float:
        return float(np.log(len(self.sums) / ALPHA))

    def recent(self, group: int, action: int, legal: np.ndarray) -> float:
        """The probability of an action by the recent frequencies, to which it is then added.
        `legal`: bool[3]."""
        counts = self._recent[group]
        even = SMALLEST * legal
        share = float((counts[action] + even[action]) / (counts.sum() + even.sum()))
        counts *= 1.0 - 1.0 / RECENT
        counts[action] += 1.0
        return share

    def add(self, hand: int, current: float, others: np.ndarray, recent: float) -> int | None:
        """Adds the log likelihoods of one hand. Returns the first hand after a change of the
        opponent; None without one. `recent` ignores the cards shown."""
        gains = np.append(others, recent) - current
        self.sums += np.minimum(gains, MOST)
        reset = self.sums <= 0.0
        self.sums[reset] = 0.0
        self.since[reset] = hand + 1
        best = int(self.sums.argmax())
        return int(self.since[best]) if self.sums[best] > self.limit else None


@dataclass(frozen=True)
class TrackerOptions:
    """The options of `Adaptive` that its tracker uses."""

    budget: float
    p_max: float
    every: int  # hands between two updates
    iterations: int
    seconds: float | None  # of training the response at an update
    probing: float
    seed: int
    relearn: bool = True  # of a `ResponseLearner`: also learn the model


class OpponentTracker:
    """Evidence about one opponent, and a bandit over the portfolio and the learnt response."""

    deferred = False  # updates at the end of a hand, not before the next one

    def __init__(self, portfolio: Portfolio, options: TrackerOptions) -> None:
        self.game, self.portfolio, self.options = portfolio.game, portfolio, options
        tree = self.game.rules.tree
        self._kind = decision_kind(tree, np.arange(len(tree.states)))
        self._spot = spot_of(tree)
        self._legal = tree.legal
        self._models = [portfolio.equilibrium, *(member.model for member in portfolio.members)]
        self._fixed = [portfolio.equilibrium, *(member.strategy for member in portfolio.members)]
        names = [EQUILIBRIUM, *(member.name for member in portfolio.members), LEARNT]
        self._extra: list[Strategy] = []
        if options.probing > 0:
            self._extra = [never_folding(portfolio.equilibrium)]
            names.append(PROBING)
        self.names = names
        self.changes: list[int] = []  # hands at which the opponent changed
        self._reset(0)

    def _reset(self, since: int) -> None:
        """Resets all evidence; the first hand of this opponent is number `since`."""
        self.since, self.hands, self.learnt_from = since, 0, 0
        self.log_likelihood = np.zeros(len(self._models))  # of each model
        self.evidence = [Evidence.none(N_KINDS, len(ACTIONS)) for _ in self._models]
        self.told = Evidence.none(N_SPOTS, len(ACTIONS))  # for `findings`; decides nothing
        self.arms = [ArmStatistics(name) for name in self.names]
        self.playing, self.prior, self.budget_left = 0, 0, self.options.budget
        self.response: Strategy = self.portfolio.equilibrium
        self._tilted: TiltedResponse | None = None
        self.estimates: list[GainEstimate] = []
        self._set_model(self.portfolio.equilibrium)

    def _set_model(self, model: Strategy) -> None:
        """Sets the model of the opponent, and what predicts and estimates by it."""
        self.model = model
        self.strategies = [*self._fixed, self.response, *self._extra]
        self._predictor = Predictor(self.game, [*self._models, model])
        self._estimator = OffPolicyEstimator(self.game, self.strategies)
        self._detector = ChangeDetector(len(self._models), N_KINDS, self.hands)

    def next_learning(self) -> int:
        """The number of hands at which the next update is due."""
        hands, every = self.hands, self.options.every
        return next((n for n in EARLY if hands < n < every), hands + every - hands % every)

    @property
    def iterations(self) -> int:
        """The iterations of the learnt response, both seats."""
        return 0 if self._tilted is None else self._tilted.iterations

    @property
    def mix(self) -> np.ndarray:
        """float64[arms]: the probability of each arm to play the next hand."""
        mix = np.zeros(len(self.arms))
        mix[self.playing] = 1.0 - self.options.probing
        if self._extra:
            mix[-1] = self.options.probing
        return mix

    def update(self, ending: Ending, mix: np.ndarray | None) -> int | None:
        """Adds a hand played by `mix` (None: by other strategies than the current ones). Returns
        the number of hands of this opponent before a change; None without one."""
        self.hands += 1
        changed = self._predict(ending)
        if mix is not None:
            won = self._estimator.estimate(ending, mix)
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
            self.told.add(int(self._spot[node]), action, shares[d, :, 0])
            recent += np.log(self._detector.recent(kind, action, self._legal[node]))
            actions += np.log(max(shares[d, action, -1], MIN_PROBABILITY))
        self.log_likelihood += likelihood[:-1]
        if self.learnt_from < SETTLED:
            return None
        current = float(likelihood[-1])
        return self._detector.add(
            self.hands - 1, current, likelihood[:-1], recent + current - actions
        )

    def restart_at(self, hands: int) -> None:
        """Resets the tracker after a change of the opponent at its hand `hands`."""
        self.changes.append(self.since + hands)
        self._reset(self.since + hands)

    def learn(self, memory: list[HandRecord], stop: Stop = never) -> None:
        """Updates prior, model, response and estimates from all hands; ignores `stop`."""
        prior = self._best_prior()
        evidence = self.evidence[prior]
        if not evidence.n.any():
            return
        model = self._models[prior]
        self.response = self._fixed[prior]
        if prior == 0 and evidence.confirmed.any():  # a known player that fits is not tilted
            if self._tilted is None:
                self._tilted = TiltedResponse(model, self.options.seed, self.options.p_max)
            self._tilted.learn(observe(memory, OPPONENT), evidence)
            self.response = self._tilted.train(self.options.iterations, self.options.seconds)
            model = self._tilted.tilted.strategy
        self.prior, self.learnt_from = prior, self.hands
        self._set_model(model)
        base = value_against(self.game, self._fixed[0].probabilities, model.probabilities)
        for arm, strategy in zip(self.arms, self.strategies, strict=True):
            wins = value_against(self.game, strategy.probabilities, model.probabilities)
            arm.gain = wins - base
        learnt = self.arms[self.names.index(LEARNT)]
        learnt.n, learnt.squares = learnt.n / 2, learnt.squares / 2  # its strategy has changed
        self.choose()

    def _best_prior(self) -> int:
        """The best prediction that fits and is significantly better than the equilibrium."""
        fit = [
            k
            for k, evidence in enumerate(self.evidence)
            if evidence.total_variation < FIT + 0.5 / np.sqrt(max(evidence.n.sum(), 1.0))
            and self.log_likelihood[k] > self.log_likelihood[0] + SIGNIFICANT
        ]
        return max(fit, key=lambda k: float(self.log_likelihood[k]), default=0)

    def choose(self) -> None:
        """Chooses the arm; without a budget the equilibrium."""
        arms = self.arms[: len(self.arms) - len(self._extra)]
        best, self.estimates = choose(arms, self.learnt_from, self.playing)
        self.playing = best if self.budget_left > 0.0 else 0

    def findings(self) -> list[Deviation]:
        """The confirmed deviations from the equilibrium, by spot (`belief.py`)."""
        return self.told.deviations()

    def why(self) -> str:
        """The reason for the current arm."""
        if not self.estimates:
            return "it has not learnt yet"
        if self.playing:
            won = gain_text(self.estimates[self.playing], NORMAL_95)
            return f"it wins {won} more than the equilibrium"
        if self.budget_left <= 0:
            return "the budget is used up"
        others = [
            one
            for k, one in enumerate(self.estimates)
            if self.strategies[k] is not self.portfolio.equilibrium
        ]
        if not others:
            return "there is no other response yet"
        if not self.learnt_from:
            return "it has seen too few hands to judge another response"
        best = max(others, key=lambda one: one.gain)
        if best.gain <= 0:
            return f"the best of the others, {arm_text(best.name)}, would win no more"
        more = gain_text(best, NORMAL_95)
        return f"the best of the others, {arm_text(best.name)}, would win {more} more"

    def warm_up(self, memory: list[HandRecord]) -> None:
        """Runs a short update to compile the kernels."""
        response = TiltedResponse(self.portfolio.equilibrium, 0, self.options.p_max)
        response.learn(observe(memory, OPPONENT), self.evidence[0])
        response.train(2)
        self.portfolio.values(self.portfolio.equilibrium)


class LearnerTracker:
    """The tracker of a `ResponseLearner`, whose response is the only arm."""

    deferred = True  # updates before the next hand, or earlier by `catch_up`
    names, playing, mix = (LEARNT,), 0, np.ones(1)
    since, budget_left = 0, 0.0
    changes: tuple[int, ...] = ()
    estimates: tuple[GainEstimate, ...] = ()

    def __init__(self, learner: ResponseLearner, options: TrackerOptions) -> None:
        self.learner, self.options = learner, options
        self.hands = self.learnt_from = 0
        self.strategies = [learner.strategy()]

    def next_learning(self) -> int:
        """The number of hands at which the next update is due; never if `every` is 0."""
        return self.hands + self.options.every if self.options.every else MOST_HANDS

    @property
    def iterations(self) -> int:
        return self.learner.iterations

    def update(self, ending: Ending, mix: np.ndarray | None) -> None:
        self.hands += 1

    def learn(self, memory: list[HandRecord], stop: Stop = never) -> None:
        """Learns a new model from all hands; trains the response for each of the new ones."""
        options, new = self.options, self.hands - self.learnt_from
        self.learnt_from = self.hands
        if options.relearn:
            self.learner.learn(memory, OPPONENT)
        end = None if options.seconds is None else time.monotonic() + options.seconds
        self.learner.train(
            options.iterations * new // 1_000,
            lambda: stop() or (end is not None and time.monotonic() > end),
        )
        self.strategies = [self.learner.strategy()]

    def choose(self) -> None:
        """There is one arm only."""

    def findings(self) -> list[Deviation]:
        return []

    def why(self) -> str:
        return f"it responds to a model of {self.learnt_from:,} hands"

    def warm_up(self, memory: list[HandRecord]) -> None:
        self.learn(memory)


def never_folding(strategy: Strategy) -> Strategy:
    """The strategy with every fold replaced by a call."""
    slots = strategy.game.rules.slots()
    policy = strategy.probabilities.copy()
    folds = slots[:, 0] >= 0
    policy[slots[folds, 1]] += policy[slots[folds, 0]]
    policy[slots[folds, 0]] = 0.0
    return Strategy(strategy.game, policy)
