"""The adaptive player of games with a tree: it learns its opponent while playing, and what it may
lose is bounded.

In each seat it is a `SafePlayer`, and both seats share its bank k, which begins at `budget`. Before
a hand is dealt it is decided how the bank will count it, G:

- where k covers the largest loss of a hand, `stake`, any strategy may play, and G is the payoff
  less v, the worst case of the equilibrium in that seat;
- else, and where next to nothing is risked, the strategy risks at most `SPENT` k, and G is the
  worst payoff consistent with the observation, less v (`safe.py`).

Given all hands before, the expectation of G is at most that of the payoff less v against whatever
opponent, and k + G is never below 0. So the expected loss of a whole match, against anybody who may
change at any time, is at most the `budget` plus what the equilibrium itself concedes (next to
nothing where it comes from linear programs).

Hypotheses about the opponent: the equilibrium, the known players, and three learnt models,
Dirichlet posteriors at every information set: of all hands and of recent hands (earlier ones fade),
with the equilibrium as their prior, and of all hands with uniform play as its prior. The last one
soon predicts somebody without a plan better than the others, and what it believes about decisions
that were never seen makes the player try them. Each predicts every hand before it is seen, with the
cards that stay hidden summed out, and its weight is multiplied by the likelihood; a share `SWITCH`
of all weight returns to the prior in every hand, since an opponent may become another (fixed share:
Herbster & Warmuth 1998). There are no alarms, and nothing is forgotten by mistake.

The strategy is a restricted Nash response. With weights w the payoff to be maximised is

    Σ_h w_h t_h u(x, h) + (1 - Σ_h w_h t_h) min_y u(x, y),

subject to min_y u(x, y) >= v - `SPENT` k where the bank asks for it;
t_h = n / (n + `HANDS`) for a learnt model of n hands, 1 for a known player, and 0 for the
equilibrium: whoever plays it is answered by the safest strategy. It is one linear program; in games
of more than `MOST_SLOTS` slots the restricted game is solved by `ENGINE`, its worst case computed
exactly and the answer mixed with the equilibrium until it is within that. Deviations from an exact
Bayesian response: the program is solved again when 5% more hands were seen, and in between its plan
is mixed with the equilibrium.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.forms.restricted import restricted_sequence_form
from counterplay.core.forms.sequence import add_up_sequences, gradient, plan_from_policy
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.forms.tree import TERMINAL
from counterplay.core.games.players import UNIFORM
from counterplay.core.responses.lines import LineEvidence
from counterplay.core.responses.safe import SLACK, SafePlayer, check_safe
from counterplay.core.responses.standing import EQUILIBRIUM, LEARNT, Standing, arm_text
from counterplay.core.responses.tree_portfolio import (
    ENGINE,
    MOST_SLOTS,
    TreePortfolio,
    tree_portfolio,
)
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.lp import best_plan_within

ME = "adaptive"
STAKES = 20.0  # the budget, in largest losses of a hand
SWITCH = 1e-3  # share of weight that returns to the prior in every hand
RECENT = 200.0  # hands after which an earlier hand counts 1/e in the model of recent hands
HANDS = 20.0  # of a learnt model that is half trusted
EQUILIBRIUM_SHARE, LEARNT_SHARE = 0.5, 0.1  # prior weights; the known players share the rest
NAMES = (LEARNT, "recent hands", "a player without a plan")
SURE = 0.5  # the weight from which on the opponent is called by a name
ROUNDS = 5  # of EM
UNIFORM_PRIOR = 2.0  # hands: the weight of uniform play in the third learnt model
MORE = 0.05  # of the hands so far, until the program is solved again
ITERATIONS = 150  # of an answer in a game of more than `MOST_SLOTS` slots
LOWER = (1.0, 0.5, 0.25)  # parts of the trust that are tried where a response risks too much
TINY = 1e-3  # part of a stake that is risked without counting on luck
SPENT = 1.0  # part of a small bank that a hand may risk
MOST_LIKELY, LEAST_TRUST = 3, 1e-3


class TypePosterior:
    """Weights of the equilibrium, of `players` known players, and of the learnt models."""

    def __init__(self, players: int) -> None:
        learnt = [LEARNT_SHARE] * len(NAMES)
        others = (1.0 - EQUILIBRIUM_SHARE - sum(learnt)) / max(players, 1)
        prior = np.array([EQUILIBRIUM_SHARE, *[others] * players, *learnt])
        self.prior = prior / prior.sum()
        self.weights = self.prior.copy()

    def add(self, likelihood: np.ndarray) -> None:
        """Adds a hand, float64[hypotheses]."""
        weights = self.weights * likelihood
        if weights.sum() > 0.0:
            self.weights = weights / weights.sum()
        self.weights = (1.0 - SWITCH) * self.weights + SWITCH * self.prior


class SeatLearner(SafePlayer):
    """One seat: what its hands say about the opponent, and the response to that."""

    def __init__(
        self, portfolio: TreePortfolio, seat: int, budget: float, posterior: TypePosterior
    ) -> None:
        self.posterior = posterior
        known = [portfolio.equilibrium, *portfolio.known.values()]
        self._plans = np.stack([one.plan(1 - seat) for one in known])
        self._lowest = float(portfolio.game.tree.payoff[:, seat].min())
        super().__init__(portfolio.game, seat, budget=budget, equilibrium=portfolio.equilibrium)
        self.evidence = LineEvidence(self._terminals, self.equilibrium)

    @property
    def stake(self) -> float:
        """The largest loss of a hand, below the value of the equilibrium."""
        return self.value - self._lowest

    def start(self, seed: int) -> None:
        self._mixed: np.ndarray = self._plans[0]
        self.trust, self._next = 0.0, 0
        n = int(self._terminals.group.max()) + 1
        self._seen = np.zeros((len(NAMES), n))  # hands by what was observed, of each learnt model
        first = self._other.first
        uniform = np.repeat(1.0 / np.diff(first), np.diff(first))
        safe = self._prior * self._prior_policy
        self._priors = np.stack([safe, safe, UNIFORM_PRIOR * uniform])
        self._learnt = self._priors.copy()
        super().start(seed)

    @property
    def _prior_policy(self) -> np.ndarray:
        """The equilibrium of the opponent's seat."""
        return self.equilibrium.probabilities[self._slots]

    def _is_due(self) -> bool:
        return self.hands >= self._next

    def _most_risk(self) -> float:
        """All where the bank covers the largest loss of a hand, else part of the bank."""
        self._by_payoff = self.bank >= self.stake and self.value - self._worst > TINY * self.stake
        return np.inf if self._by_payoff else SPENT * self.bank

    def _proven(self, alike: np.ndarray, won: float) -> float:
        return won if self._by_payoff else self._worst_consistent(alike)

    def _count(self, alike: np.ndarray) -> None:
        """Adds a hand to the weights of the hypotheses and to the learnt models."""
        terminals = self._terminals
        chance, sequence = terminals.chance[alike], terminals.other[terminals.node[alike]]
        likelihood = [*(self._plans[:, sequence] @ chance)]
        for learnt in self._learnt:
            self.counts = learnt
            shares = [self._model_share(terminals.slots(k)) for k in alike]
            likelihood.append(float(chance @ np.array(shares)))
            super()._count(alike)
        self.posterior.add(np.array(likelihood))
        self._seen[1] *= 1.0 - 1.0 / RECENT
        self._seen[:, terminals.group[alike[0]]] += 1.0

    def _infer(self) -> None:
        """Infers the hidden cards of all hands again, by EM from the present models."""
        terminals = self._terminals
        reached = np.flatnonzero(self._seen[0][terminals.group] > 0.0)
        group, sequence = terminals.group[reached], terminals.other[terminals.node[reached]]
        plan = np.empty(self._other.n_sequences)
        for learnt, prior, seen in zip(self._learnt, self._priors, self._seen, strict=True):
            for _ in range(ROUNDS):
                plan_from_policy(self._other, self._policy(learnt), plan)
                weight = terminals.chance[reached] * plan[sequence]
                total = np.bincount(group, weight, len(seen))[group]
                share = np.where(total > 0.0, weight / np.where(total > 0.0, total, 1.0), 0.0)
                count = np.bincount(sequence, share * seen[group], len(plan))
                add_up_sequences(self._other, count)
                learnt[:] = prior + count[1:]

    def _policy(self, counts: np.ndarray) -> np.ndarray:
        """Counts of the opponent's actions as probabilities."""
        first = self._other.first
        total = np.add.reduceat(counts, first[:-1])
        share: np.ndarray = counts / np.repeat(total, np.diff(first))
        return share

    def _model_plan(self) -> np.ndarray:
        """The hypotheses that are responded to, mixed."""
        return self._mixed

    def _mix(self) -> None:
        """Mixes the plans of all hypotheses but the equilibrium by weight times trust."""
        self._infer()
        plans = [*self._plans[1:]]
        for learnt in self._learnt:
            plans.append(np.empty(self._other.n_sequences))
            plan_from_policy(self._other, self._policy(learnt), plans[-1])
        seen = self._seen.sum(axis=1)
        known = np.ones(len(self._plans) - 1)
        part = self.posterior.weights[1:] * np.concatenate([known, seen / (seen + HANDS)])
        self.trust = float(part.sum())
        if self.trust > 0.0:
            self._mixed = (part / self.trust) @ np.stack(plans)

    def _replan(self) -> None:
        """The restricted Nash response to the mixture, within the bank."""
        self._next = self.hands + max(self.every, int(MORE * self.hands))
        if self.hands:
            self._mix()
        plan = self._safe_plan
        if self.hands and self.trust > LEAST_TRUST:
            payoff = np.empty(self._own.n_sequences)
            gradient(self._own, self._mixed, payoff)
            if self.game.n_slots <= MOST_SLOTS:
                rich = self.bank >= self.stake
                least = self._lowest - 1.0 if rich else self.value - SPENT * self.bank - SLACK
                plan = best_plan_within(self._own, self._other, payoff, least, trust=self.trust)[1]
            else:
                plan = self._iterated(payoff)
        self._worst, self._target_plan = self._worst_case(plan), plan
        self._limit_risk()

    def _iterated(self, payoff: np.ndarray) -> np.ndarray:
        """Of responses with different trust, the one that wins the most once it is mixed with the
        equilibrium to be within the bank."""
        best, won = self._safe_plan, -np.inf
        for part in LOWER:
            form = restricted_sequence_form(
                self.game.sequence_form, self._mixed, 1 - self.seat, part * self.trust
            )
            solver = new_solver(self.game, ENGINE, 0, {}, Problem(self.game, form))
            solver.step(ITERATIONS)
            plan = solver.strategy().plan(self.seat)
            risk = self.value - self._worst_case(plan)
            most = np.inf if self.bank >= self.stake else SPENT * self.bank
            share = min(most / risk, 1.0) if risk > SLACK else 1.0
            gain = share * float(payoff @ (plan - self._safe_plan))
            if gain > won:
                best, won = plan, gain
            if share == 1.0:
                break
        return best

    @property
    def gain(self) -> float:
        """What the strategy wins from the mixture more than the equilibrium."""
        payoff = np.empty(self._own.n_sequences)
        gradient(self._own, self._mixed, payoff)
        return float(payoff @ (self._plan - self._safe_plan))

    def remember(self, end: int) -> None:
        """Learns from a hand of an earlier match, which the bank does not see."""
        self._count(self._terminals.alike_to(end))
        self.hands += 1


class TreeAdaptive:
    """`cp.Adaptive` in a game with a tree: plays an equilibrium until there is evidence for another
    strategy, in both seats.

    `portfolio`: of `cp.portfolio`, or the known players for it. `budget`: what it may lose in a
    match, in the unit of the game; by default twenty times the largest loss of a hand. `memory`: a
    file of `save` with the hands of an earlier match.
    """

    name = ME
    player: int | None = None

    def __init__(
        self,
        game: Game | str,
        *,
        portfolio: Any = (UNIFORM,),
        equilibrium: Strategy | None = None,
        budget: float | None = None,
        memory: str | Path | None = None,
        **others: Any,
    ) -> None:
        self.game = as_game(game)
        if others:
            raise BadParameter(
                f"{next(iter(others))} is an option in hold'em, not for {self.game.name}, where "
                f"the adaptive player has portfolio, equilibrium, budget and memory"
            )
        check_safe(self.game)
        if isinstance(portfolio, TreePortfolio):
            check_same_game(self.game, portfolio.equilibrium)
        else:
            portfolio = tree_portfolio(self.game, portfolio, equilibrium=equilibrium)
        self.portfolio: TreePortfolio = portfolio
        if budget is None:
            budget = STAKES * float(np.abs(self.game.tree.payoff).max())
        self.posterior = TypePosterior(len(portfolio.known))
        self.hypotheses = [EQUILIBRIUM, *portfolio.names, *NAMES]
        self.seats = [SeatLearner(portfolio, seat, budget, self.posterior) for seat in (0, 1)]
        self._known = np.zeros((0, 2), np.int64) if memory is None else _read(memory, self.game)
        self.start(0)

    def start(self, seed: int) -> None:
        """Begins a match against a new opponent; only the given `memory` is kept."""
        self.memory: list[tuple[int, int]] = []  # seat and terminal node of each hand
        self.seconds = 0.0  # of computation
        self.posterior.weights = self.posterior.prior.copy()
        for learner in self.seats:
            learner.start(seed)
            learner.evidence.clear()
        self.budget_left = self.seats[0].bank
        for seat, end in self._known.tolist():
            self.seats[seat].remember(end)
            self.seats[seat].evidence.add(end)
            self.memory.append((seat, end))
        if self._known.size:
            for learner in self.seats:
                learner._replan()

    def strategy_for(self, seat: int) -> Strategy:
        """The strategy of the next hand in a seat."""
        learner = self.seats[seat]
        if learner.bank != self.budget_left:
            learner.bank = self.budget_left
            learner._limit_risk()
        return learner.strategy

    def end_hand(self, seat: int, end: int) -> None:
        """Learns from a hand that ended at node `end`."""
        before = time.perf_counter()
        learner = self.seats[seat]
        learner.bank = self.budget_left
        learner.observe(end)
        learner.evidence.add(end)
        self.budget_left = learner.bank
        self.memory.append((seat, end))
        self.seconds += time.perf_counter() - before

    @property
    def strategy(self) -> Strategy:
        """What it plays now, in both seats."""
        return self.strategy_for(0).replace(self.strategy_for(1), 1)

    @property
    def likely(self) -> list[tuple[str, float]]:
        """What the opponent may be, and how probable that is, the likeliest first."""
        found = zip(self.hypotheses, self.posterior.weights.tolist(), strict=True)
        return sorted(found, key=lambda one: -one[1])

    def standing(self) -> Standing:
        """The state of the player."""
        gain = float(np.mean([learner.gain for learner in self.seats]))
        risk = float(np.mean([learner.risk for learner in self.seats]))
        likely, playing = self.likely, EQUILIBRIUM
        if gain > SLACK:
            name, weight = likely[0]
            playing = name if weight > SURE and name in self.portfolio.known else LEARNT
        advice = (
            f"play {arm_text(playing)}; it wins {gain:.4f} {self.game.unit} more than the "
            f"equilibrium from the opponent as believed, and risks {max(risk, 0.0):.4f} against "
            f"anybody"
        )
        found = [text for one in self.seats for text in one.evidence.findings()]
        return Standing(
            hands=len(self.memory),
            playing=playing,
            why=f"the likeliest of what the opponent may be is {likely[0][0]}, {likely[0][1]:.0%}",
            confirmed=tuple(text for _, text in sorted(found, reverse=True)),
            likely=tuple(likely[:MOST_LIKELY]),
            budget=self.budget_left,
            changes=(),
            thinking=1e3 * self.seconds / max(len(self.memory) - len(self._known), 1),
            advice=advice,
        )

    def save(self, path: str | Path) -> None:
        """Writes the hands of the current opponent (.npz), the `memory` of a later match."""
        if not self.memory:
            raise BadParameter("there are no hands to save yet")
        header = {"game": self.game.name, "fingerprint": self.game.fingerprint}
        hands = np.array(self.memory, dtype=np.int64)
        files.write_arrays(Path(path), "memory", {"hands": hands}, header)


def _read(path: str | Path, game: Game) -> np.ndarray:
    """The hands of a file of `save`: seat and terminal node of each."""
    arrays, header = files.read_arrays(Path(path), "memory")
    hands = arrays.get("hands")
    if header.get("fingerprint") != game.fingerprint:
        raise BadFile(f"{path}: a memory of {header.get('game')}, not of {game.name}")
    if hands is None or hands.dtype != np.int64 or hands.ndim != 2 or hands.shape[1] != 2:
        raise BadFile(f"{path}: damaged (no hands in it)")
    ends = game.tree.player[np.clip(hands[:, 1], 0, game.n_nodes - 1)]
    seats = np.isin(hands[:, 0], (0, 1)).all() and (hands[:, 1] < game.n_nodes).all()
    if not seats or (hands[:, 1] < 0).any() or (ends != TERMINAL).any():
        raise BadFile(f"{path}: damaged (hands that cannot be)")
    return hands
