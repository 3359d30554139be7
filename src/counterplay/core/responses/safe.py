"""Safe exploitation of a repeated game (Ganzfried & Sandholm 2015), exact by linear programs.

k is what may be risked (`bank`), v* the value of the game. In each hand the player follows a
strategy that no opponent can hold below v* - k; then

    k += (worst payoff consistent with the observation, in expectation over our own chance) - v*,

the worst over opponents that took the observed actions, with the cards shown or with any they may
have held, and play a best response elsewhere. k never falls below 0, so the expected loss of a
whole match, to any opponent, is at most the initial k, the `budget`. Methods:

| name | strategy of a hand |
|---|---|
| `rwywe` | risk what you've won in expectation: the best against the model within k |
| `befewp` | a best response if it is within k, else the best equilibrium |
| `beffe` | the best equilibrium until best responses are within k for all remaining hands |
| `best-equilibrium` | the best against the model among equilibria |
| `best-response` | the best against the model, at any risk |
| `rnr` | a restricted Nash response with the largest p of a grid that is certified within k |

The model is a Dirichlet posterior with the equilibrium as its prior. Ties among optimal plans are
broken towards a central equilibrium (`central_plan`). Deviations: the program is solved every
`every` hands; in between its plan is mixed with the equilibrium that was then the best against the
model, so that the risk stays within k.
"""

from __future__ import annotations

import numpy as np

from counterplay.core.base.errors import BadParameter, positive, real, unknown, whole_number
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.forms.restricted import restricted_sequence_form
from counterplay.core.forms.sequence import Side, best_reply, gradient, plan_from_policy
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.forms.tree import CHANCE, TERMINAL
from counterplay.core.responses.terminals import ReachedTerminals
from counterplay.core.solvers.lp import best_plan_within, safest_plan

METHODS = ("rwywe", "befewp", "beffe", "best-equilibrium", "best-response", "rnr")
PRIOR = 5.0  # hands: the weight of the equilibrium in the model of the opponent
CENTRE = 8  # equilibria that are averaged by `central_plan`
SLACK = 1e-9  # tolerance of linear programs
ROUNDING = 1e-5  # part of the budget reserved for their rounding errors
GRID = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0)


class SafePlayer:
    """Plays one seat of a two-player zero-sum game with a tree, hand after hand.

    `hands`: the length of the match, for `beffe`. `shown`: "showdown" (cards are seen where the
    payoff depends on them) or "always". `every`: hands between two linear programs. `equilibrium`:
    the strategy to fall back on, by default `central_plan`; with another one `value` is its worst
    case. In a match (`cp.play_match`) it plays its seat only.
    """

    name = "safe"

    def __init__(
        self,
        game: Game | str,
        seat: int = 0,
        *,
        budget: float = 0.0,
        method: str = "rwywe",
        hands: int = 1_000,
        prior: float = PRIOR,
        shown: str = "showdown",
        every: int | None = None,
        equilibrium: Strategy | None = None,
    ) -> None:
        game = as_game(game)
        check_safe(game)
        game.check_player(seat)
        if method not in METHODS:
            raise unknown("method", method, METHODS)
        if real(budget, "budget") < 0:
            raise BadParameter(f"a budget is 0 or more, not {budget!r}")
        positive(prior, "prior")
        whole_number(hands, 1, None, "hands")
        if every is not None:
            whole_number(every, 1, None, "every")
        if shown not in ("showdown", "always"):
            raise BadParameter(f"cards are shown 'always' or at a 'showdown', not {shown!r}")
        self.game, self.seat, self.method = game, seat, method
        self.every = every or (1 if game.n_nodes < 500 else 25)
        self._all_hands, self._budget, self._prior = hands, float(budget), prior
        form = game.sequence_form
        self._own, self._other = form[seat], form[1 - seat]
        if equilibrium is None:
            self.value, self._safe_plan = central_plan(self._own, self._other)
            _, other_plan = central_plan(self._other, self._own)
            equilibrium = _profile(game, seat, self._safe_plan, other_plan)
        else:
            check_same_game(game, equilibrium)
            self._safe_plan = equilibrium.plan(seat)
            self.value = self._worst_case(self._safe_plan)
        self.equilibrium = equilibrium
        self._terminals = ReachedTerminals(game, seat, shown == "always")
        self._slots = game.slots(1 - seat)
        self.start(0)

    @property
    def player(self) -> int:
        """Its only seat in a match."""
        return self.seat

    def start(self, seed: int) -> None:
        """Begins a match; it draws no random numbers itself."""
        self._hands_left = self._all_hands
        self.bank = max(self._budget - ROUNDING, 0.0)
        self.counts = self._prior * self.equilibrium.probabilities[self._slots]
        self.hands, self.won = 0, 0.0
        self._worst, self._target_plan, self._base_plan = self.value, *[self._safe_plan] * 2
        self._played: Strategy | None = None
        self._replan()

    def strategy_for(self, seat: int) -> Strategy:
        """The strategy of the next hand, in its seat."""
        return self.strategy

    def end_hand(self, seat: int, end: int) -> None:
        """Learns from a hand of a match that ended at node `end`."""
        self.observe(end)

    @property
    def model(self) -> Strategy:
        """The posterior mean of the opponent's strategy."""
        weights = self.equilibrium.probabilities.copy()
        weights[self._slots] = self.counts
        return Strategy.from_weights(self.game, weights)

    @property
    def risk(self) -> float:
        """How far below the value of the game the current strategy can be held."""
        return max(self.value - self._worst_case(self._plan), 0.0)

    @property
    def strategy(self) -> Strategy:
        """The strategy of the current hand; the model in the other seat."""
        if self._played is None:
            self._played = _profile(self.game, self.seat, self._plan, self._model_plan())
        return self._played

    def play(self, opponent: Strategy, rng: np.random.Generator) -> float:
        """Plays one hand against `opponent`; returns the payoff."""
        check_same_game(self.game, opponent)
        policy = opponent.probabilities.copy()
        own = self.game.slots(self.seat)
        policy[own] = self.strategy.probabilities[own]
        node, tree = 0, self.game.tree
        while tree.player[node] != TERMINAL:
            row, low = tree.row[node], tree.first_child[node]
            count = tree.first_child[node + 1] - low
            if tree.player[node] == CHANCE:
                first = tree.chance_first[row]
                shares = tree.chance_probability[first : first + count]
            else:
                shares = policy[tree.first[row] : tree.first[row] + count]
            node = int(low + rng.choice(count, p=shares / shares.sum()))
        return self.observe(node)

    def observe(self, end: int) -> float:
        """Updates bank, model and strategy after a hand that ended at node `end`; the payoff."""
        alike = self._terminals.alike_to(end)
        won = float(self.game.tree.payoff[self.game.tree.row[end], self.seat])
        self.bank = max(self.bank + self._proven(alike, won) - self.value, 0.0)
        self._count(alike)
        self.hands, self._hands_left = self.hands + 1, self._hands_left - 1
        self.won += won
        if self._is_due():
            self._replan()
        self._limit_risk()
        return won

    def _proven(self, alike: np.ndarray, won: float) -> float:
        """What the bank counts as won: its expectation is at most the expected payoff."""
        return self._worst_consistent(alike)

    def _is_due(self) -> bool:
        """Whether the target plan is computed again after this hand."""
        return self.hands % self.every == 0

    def _worst_consistent(self, alike: np.ndarray) -> float:
        """The worst expected payoff against an opponent consistent with the observation."""
        payoff = self._opponent_payoff(self._plan)
        most = -np.inf
        for slots in {self._terminals.slots(k) for k in alike}:
            floor = np.zeros(int(self._other.first[-1]))
            floor[list(slots)] = 1.0
            forced = self._other._replace(floor=floor)
            most = max(most, best_reply(forced, payoff.copy(), np.empty(len(floor))))
        return -most

    def _count(self, alike: np.ndarray) -> None:
        """Adds the opponent's actions to the counts, weighted by the posterior of its cards."""
        terminals = self._terminals
        weights = [terminals.chance[k] * self._model_share(terminals.slots(k)) for k in alike]
        total = sum(weights)
        for k, weight in zip(alike, weights, strict=True):
            for slot in terminals.slots(k):
                self.counts[slot] += weight / total if total > 0 else 1.0 / len(weights)

    def _model_share(self, slots: tuple[int, ...]) -> float:
        """The probability of these actions of the opponent in the model."""
        share, first = 1.0, self._other.first
        for slot in slots:
            infoset = int(np.searchsorted(first, slot, side="right")) - 1
            share *= self.counts[slot] / self.counts[first[infoset] : first[infoset + 1]].sum()
        return float(share)

    def _model_plan(self) -> np.ndarray:
        """The model as a realisation plan."""
        plan = np.empty(self._other.n_sequences)
        plan_from_policy(self._other, self.model.probabilities[self._slots], plan)
        return plan

    def _replan(self) -> None:
        """Computes the target plan of `method` from the model and the bank."""
        model = self._model_plan()
        payoff = np.empty(self._own.n_sequences)
        gradient(self._own, model, payoff)

        def best(least: float) -> np.ndarray:
            return best_plan_within(self._own, self._other, payoff, least, near=self._safe_plan)[1]

        lowest = float(self.game.tree.payoff[:, self.seat].min()) - 1.0
        if self.method == "rwywe":
            plan = best(self.value - self.bank - SLACK)
        elif self.method == "best-equilibrium":
            plan = best(self.value - SLACK)
        elif self.method == "rnr":
            plan = self._restricted(model)
        else:
            plan = best(lowest)
            hands = max(self._hands_left, 1) if self.method == "beffe" else 1
            safe = hands * (self.value - self._worst_case(plan)) <= self.bank
            if self.method != "best-response" and not safe:
                plan = best(self.value - SLACK)
        # The program's own worst case is a bound only, where nothing in it asks for more.
        self._worst, self._target_plan = self._worst_case(plan), plan
        if self.every > 1 and self.method != "best-response":
            risky = self.value - self._worst > 2 * SLACK
            self._base_plan = best(self.value - SLACK) if risky else plan
        self._limit_risk()

    def _restricted(self, model: np.ndarray) -> np.ndarray:
        """The restricted Nash response with the largest p that is certified within the bank."""
        for p in GRID:
            form = restricted_sequence_form(self.game.sequence_form, model, 1 - self.seat, p)
            _, plan = safest_plan(form[self.seat], form[1 - self.seat])
            if self._worst_case(plan) >= self.value - self.bank - SLACK:
                return plan
        return self._safe_plan

    def _limit_risk(self) -> None:
        """Mixes the target plan with an equilibrium so that the risk is within the bank."""
        risk, most = self.value - self._worst, self._most_risk()
        share = 1.0
        if self.method != "best-response" and risk > most:
            share = most / risk if risk > SLACK else 1.0
        self._plan = share * self._target_plan + (1.0 - share) * self._base_plan
        self._played = None

    def _most_risk(self) -> float:
        """What the next hand may risk."""
        return self.bank

    def _opponent_payoff(self, plan: np.ndarray) -> np.ndarray:
        """float64[n_sequences]: the payoff of each sequence of the opponent against `plan`."""
        payoff = np.empty(self._other.n_sequences)
        gradient(self._other, plan, payoff)
        return payoff

    def _worst_case(self, plan: np.ndarray) -> float:
        payoff = self._opponent_payoff(plan)
        return -float(best_reply(self._other, payoff, np.empty(len(payoff) - 1)))


def check_safe(game: Game) -> None:
    """`BadParameter` unless safe play is defined: the value of a game is that of two players."""
    if not game.capabilities.full_width or game.n_players != 2 or not game.zero_sum:
        raise BadParameter(
            f"safe exploitation is exact, for two-player zero-sum games with a tree, and "
            f"{game.name} is none"
        )


def central_plan(own: Side, other: Side) -> tuple[float, np.ndarray]:
    """The value of the game, and a central equilibrium plan: the mean of those that are best for
    random payoffs. A vertex of the set of equilibria never plays some actions, and so never
    observes the replies to them."""
    value, plan = safest_plan(own, other)
    rng, plans = np.random.default_rng(0), [plan]
    for _ in range(CENTRE):
        payoff = rng.standard_normal(own.n_sequences)
        plans.append(best_plan_within(own, other, payoff, value - SLACK)[1])
    centre: np.ndarray = np.mean(plans, axis=0)
    return value, centre


def central_equilibrium(game: Game) -> Strategy:
    """The central equilibrium of both players."""
    one, two = game.sequence_form
    return _profile(game, 0, central_plan(one, two)[1], central_plan(two, one)[1])


def _profile(game: Game, seat: int, own: np.ndarray, other: np.ndarray) -> Strategy:
    """Two realisation plans as a strategy."""
    plans = (own, other) if seat == 0 else (other, own)
    return Strategy.from_weights(game, np.concatenate([plan[1:] for plan in plans]))
