"""The adaptive player's knowledge of its opponent, and its choice of the arm.

`OpponentTracker`: after every hand each hypothesis about the opponent predicts his actions
(`posterior.py`, `poker/models/predict.py`); the predictions are evidence
(`core/responses/evidence.py`); his own past shows if he has changed (`core/responses/changes.py`);
the payoff of each arm is estimated (`OffPolicyEstimator`). Periodically (`learn`): a model is made
from all hands (`poker/models/pooled.py`), with the known player as its prior who explains them; a
reply to all likely hypotheses is computed; and every arm is evaluated against them. The bandit
chooses the arm (`bandit.py`). `LearnerTracker`: one arm, a `ResponseLearner`.

A model that predicts badly is no change. A change is one of the opponent's actions against his own
earlier ones: streams of the first action of a hand in each kind of decision, apart by his seat and
by the strategy that we play, since his actions depend on the hands that we let reach them; and of
his first action of all as the dealer, which depends on nothing of ours. At an alarm the hands
before the dated change are discarded.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import MOST_HANDS
from counterplay.core.parallel.processes import never
from counterplay.core.responses.changes import FALSE_ALARMS, ChangeDetector
from counterplay.core.responses.evidence import Deviation, Evidence
from counterplay.poker.adaptive.bandit import (
    MOST_RATIO,
    ArmStatistics,
    GainEstimate,
    OffPolicyEstimator,
    choose,
)
from counterplay.poker.adaptive.belief import (
    EQUILIBRIUM,
    LEARNT,
    LEARNT_MODEL,
    N_SPOTS,
    OPENING,
    PROBING,
    arm_text,
    gain_text,
    spot_of,
)
from counterplay.poker.adaptive.portfolio_members import Portfolio
from counterplay.poker.adaptive.posterior import OpponentPosterior, unexplained_deviation
from counterplay.poker.adaptive.response import ResponseLearner
from counterplay.poker.betting.betting import ACTIONS
from counterplay.poker.bots.bot import Ending
from counterplay.poker.histories.records import HandRecord
from counterplay.poker.holdem.bucket_pairs import value_against
from counterplay.poker.holdem.bucket_replies import action_values, soft_reply
from counterplay.poker.models.model import decision_kind
from counterplay.poker.models.observe import Observations, observe
from counterplay.poker.models.pooled import N_KINDS, ROUNDS, pooled_model
from counterplay.poker.models.predict import Predictor
from counterplay.poker.models.quality import NORMAL_95

OPPONENT = "opponent"  # name of the opponent in hand records
EARLY = (60, 125, 200, 300, 400)  # hands of additional updates
EXPLAINS = 0.4  # the most that a known player leaves unexplained who is the prior of the learnt one
FURTHER_ROUNDS = 3  # of EM from an earlier model
LIKELY = 0.02  # least probability of a hypothesis that the learnt response is a reply to
TEMPERATURE, HAND_TEMPERATURE = 0.04, 1.5  # sb: of the reply; more of it, √hands times


@dataclass(frozen=True)
class TrackerOptions:
    """The options of `Adaptive` that its tracker uses."""

    budget: float
    p_max: float
    every: int  # hands between two updates
    iterations: int  # of a `ResponseLearner`, per 1,000 hands
    seconds: float | None  # of training its response at an update
    probing: float
    seed: int
    relearn: bool = True  # of a `ResponseLearner`: also learn the model
    false_alarms: float = FALSE_ALARMS  # probability of any, while the opponent does not change


class OpponentTracker:
    """Evidence about one opponent, and a bandit over the portfolio and the learnt response."""

    deferred = False  # updates at the end of a hand, not before the next one

    def __init__(self, portfolio: Portfolio, options: TrackerOptions) -> None:
        self.game, self.portfolio, self.options = portfolio.game, portfolio, options
        tree = self.game.rules.tree
        self._kind = decision_kind(tree, np.arange(len(tree.states)))
        self._spot = spot_of(tree)
        known = portfolio.players
        self._models = [portfolio.equilibrium, *(player.model for player in known)]
        self.hypotheses = [EQUILIBRIUM, *(player.name for player in known), LEARNT_MODEL]
        self._fixed = [portfolio.equilibrium, *(member.strategy for member in portfolio.members)]
        names = [EQUILIBRIUM, *(member.name for member in portfolio.members), LEARNT]
        self._extra: list[Strategy] = []
        if options.probing > 0:
            self._extra = [never_folding(portfolio.equilibrium)]
            names.append(PROBING)
        self.names = names
        self.changes: list[int] = []  # hands at which the opponent changed
        self.budget_left = options.budget  # of the whole match, whoever the opponent becomes
        self._stake = float(max(max(state.paid) for state in tree.states))  # of one hand, at most
        self._reset(0)

    def _reset(self, since: int) -> None:
        """Resets all evidence; the first hand of this opponent is number `since`."""
        self.since, self.hands, self.learnt_from = since, 0, 0
        self.posterior = OpponentPosterior(len(self._models) - 1)
        self._counted = Evidence.none(N_KINDS, len(ACTIONS))
        self._expected = np.zeros((len(self._models), *self._counted.taken.shape))
        self.pooled = Evidence.none(N_SPOTS, len(ACTIONS))  # for `findings`; decides nothing
        self.arms = [ArmStatistics(name) for name in self.names]
        self.playing, self.prior = 0, 0
        self.response: Strategy = self.portfolio.equilibrium
        self.estimates: list[GainEstimate] = []
        self._detector = ChangeDetector(self.options.false_alarms)
        self._played: list[Strategy] = []  # strategies of ours that the opponent has met
        self._set_model(None)

    def _set_model(self, model: Strategy | None) -> None:
        """Sets the learnt model of the opponent, if any, and what predicts and estimates by it."""
        self._learnt_model = model
        self.strategies = [*self._fixed, self.response, *self._extra]
        self._predictor = Predictor(self.game, [model]) if model else None
        self.posterior.learnt_from(self.hands if model else None)
        self._gains = np.zeros((len(self.arms), len(self.hypotheses)))
        learnt = self.names.index(LEARNT)
        self._gains[1:learnt, : len(self._models)] = self.portfolio.gains
        if model is None:
            values = self.portfolio.action_values
            others = np.zeros(len(self.strategies) - learnt, dtype=np.int64)  # as the equilibrium
            values = values[:, :, [*range(learnt), *others]]
        else:
            own = [strategy.probabilities for strategy in self.strategies]
            values, won = action_values(self.game, own, model.probabilities)
            self._gains[:, -1] = won - won[0]
            for k in np.flatnonzero(self.posterior.weights[:-1] > LIKELY).tolist():
                against = self._models[k]
                self._gains[learnt, k] = self._value(self.response, against)
                self._gains[learnt, k] -= self._value(self._fixed[0], against)
        self._estimator = OffPolicyEstimator(self.game, self.strategies, values, MOST_RATIO)

    @property
    def model(self) -> Strategy:
        """The model of the opponent; the equilibrium before one is learnt."""
        return self._learnt_model or self.portfolio.equilibrium

    def _value(self, strategy: Strategy, model: Strategy) -> float:
        return value_against(self.game, strategy.probabilities, model.probabilities)

    def next_learning(self) -> int:
        """The number of hands at which the next update is due."""
        hands, every = self.hands, self.options.every
        return next((n for n in EARLY if hands < n < every), hands + every - hands % every)

    @property
    def iterations(self) -> int:
        """Of the learnt response, which is computed without any."""
        return 0

    @property
    def mix(self) -> np.ndarray:
        """float64[arms]: the probability of each arm to play the next hand."""
        mix = np.zeros(len(self.arms))
        probing = self.options.probing if self.may_deviate else 0.0
        mix[self.playing] = 1.0 - probing
        if self._extra:
            mix[-1] = probing
        return mix

    @property
    def may_deviate(self) -> bool:
        """Whether the budget covers the largest loss of a hand."""
        return self.budget_left >= self._stake

    def update(self, ending: Ending, mix: np.ndarray | None) -> int | None:
        """Adds a hand played by `mix` (None: by other strategies than the current ones). Returns
        the number of hands of this opponent before a change; None without one."""
        self.hands += 1
        self._predict(ending, mix is not None)
        if mix is not None:
            won = self._estimator.estimate(ending, mix)
            for k, arm in enumerate(self.arms):
                arm.add(float(won[k] - won[0]), float(self._estimator.kept[k]))
            if mix[0] < 1.0:
                self.budget_left += ending.won
            if not self.may_deviate:
                self.playing = 0
        return self._detector.changed_at

    def _predict(self, ending: Ending, ours: bool) -> None:
        """Adds the opponent's decisions to the evidence and, if we played `ours`, one of the
        current strategies, to the streams of that strategy."""
        line, shares, likelihood = self.portfolio.predictor.predict(ending)
        first: dict[int, int] = {}
        for d, (node, action) in enumerate(
            zip(line.node.tolist(), line.action.tolist(), strict=True)
        ):
            kind, spot = int(self._kind[node]), int(self._spot[node])
            self._counted.add(kind, action, shares[d, :, 0])
            self._expected[:, kind] += shares[d].T
            self.pooled.add(spot, action, shares[d, :, 0])
            first.setdefault(spot, action)
        learnt = float(self._predictor.predict(ending)[2][0]) if self._predictor else None
        self.posterior.add(likelihood, learnt)
        hand, actions = self.hands - 1, len(ACTIONS)
        if OPENING in first:
            self._detector.add(hand, OPENING, 0.5, first.pop(OPENING), actions)
        if ours:
            number = self._met(self.strategies[self.playing])
            weight = 0.5 / (number * (number + 1)) / (2 * N_KINDS)
            for spot, action in first.items():
                key = number, ending.seat, spot
                self._detector.add(hand, key, weight, action, actions)

    def _met(self, strategy: Strategy) -> int:
        """The number of a strategy of ours in the order of its first hand, from 1."""
        known = (k for k, one in enumerate(self._played, 1) if one is strategy)
        number = next(known, 0)
        if not number:
            self._played.append(strategy)
        return number or len(self._played)

    def restart_at(self, hands: int) -> None:
        """Resets the tracker after a change of the opponent at its hand `hands`."""
        self.changes.append(self.since + hands)
        self._reset(self.since + hands)

    @property
    def _unexplained(self) -> np.ndarray:
        """float64[1 + players]: the part of the deviation that each hypothesis leaves."""
        return unexplained_deviation(self._counted.taken, self._expected)

    def learn(self, memory: list[HandRecord], stop: Callable[[], bool] = never) -> None:
        """Updates prior, model, response and estimates from all hands; ignores `stop`."""
        if not self._counted.n.any():
            return
        prior = self.posterior.best
        if self._unexplained[prior] > EXPLAINS:
            prior = 0
        self.prior, self.learnt_from = prior, self.hands
        self.response = self._fixed[0]
        leaks = prior > 0 or self._counted.confirmed.any()
        self._set_model(self._respond(observe(memory, OPPONENT)) if leaks else None)
        learnt = self.arms[self.names.index(LEARNT)]
        learnt.n, learnt.squares = learnt.n / 2, learnt.squares / 2  # its strategy has changed
        self.choose()

    def _respond(self, seen: Observations) -> Strategy:
        """The model of the opponent; sets the reply to it and to the known players who are likely
        and explain what was seen. The equilibrium has a weight of 1 - p_max at least."""
        rounds = FURTHER_ROUNDS if self._learnt_model else ROUNDS
        model = pooled_model(seen, self._models[self.prior], self._learnt_model, rounds)
        self.posterior.learnt_from(self.hands)
        weights, p_max = self.posterior.weights, self.options.p_max
        weights[:-1][self._unexplained > EXPLAINS] = 0.0
        weights[-1] = max(weights[-1], LIKELY)
        likely = np.flatnonzero(weights >= LIKELY).tolist()
        shares = p_max * weights[likely] / weights[likely].sum()
        models, safe = [*self._models, model], self.portfolio.equilibrium.probabilities
        replied = [*(models[k].probabilities for k in likely), safe]
        mixture = np.append(shares, 1.0 - p_max)
        temperature = TEMPERATURE + HAND_TEMPERATURE / np.sqrt(max(self.hands, 1))
        reply = soft_reply(self.game, replied, mixture, safe, temperature)
        self.response = Strategy(self.game, reply)
        return model

    def choose(self) -> None:
        """Chooses the arm: the equilibrium without a budget, and before the first update."""
        replies = np.array([name == LEARNT for name in self.names])
        gains, errors = self.posterior.mean_gains(self._gains, self._unexplained, replies)
        early = self.learnt_from == 0
        unknown = [early or strategy is self._fixed[0] for strategy in self.strategies]
        for arm, gain, error, idle in zip(self.arms, gains, errors, unknown, strict=True):
            arm.gain, arm.error = float(gain), float("inf") if idle else float(error)
        best, self.estimates = choose(self.arms[: len(self.arms) - len(self._extra)], self.playing)
        self.playing = best if self.may_deviate else 0

    @property
    def likely(self) -> list[tuple[str, float]]:
        """What the opponent may be, and how probable that is, the likeliest first."""
        found = zip(self.hypotheses, self.posterior.weights.tolist(), strict=True)
        return sorted(((name, share) for name, share in found if share > 0), key=lambda x: -x[1])

    def findings(self) -> list[Deviation]:
        """The confirmed deviations from the equilibrium, by spot (`belief.py`)."""
        return self.pooled.deviations()

    def why(self) -> str:
        """The reason for the current arm."""
        if not self.estimates:
            return "it has not learnt yet"
        if self.playing:
            won = gain_text(self.estimates[self.playing], NORMAL_95)
            return f"it wins {won} more than the equilibrium"
        if not self.may_deviate:
            return f"the budget left does not cover another hand, which may cost {self._stake:g} sb"
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
        self._respond(observe(memory, OPPONENT))
        self.portfolio.values(self.portfolio.equilibrium)


class LearnerTracker:
    """The tracker of a `ResponseLearner`, whose response is the only arm."""

    deferred = True  # updates before the next hand, or earlier by `catch_up`
    names, playing, mix = (LEARNT,), 0, np.ones(1)
    since, budget_left = 0, 0.0
    changes: tuple[int, ...] = ()
    estimates: tuple[GainEstimate, ...] = ()
    likely: tuple[tuple[str, float], ...] = ()

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

    def learn(self, memory: list[HandRecord], stop: Callable[[], bool] = never) -> None:
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
