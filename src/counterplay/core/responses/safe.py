"""Safe exploitation of a repeated game (Ganzfried & Sandholm 2015), exact by linear programs.

k is what may be risked (`bank`), v* the value of the game. Each hand a strategy is played that no
opponent can hold below v* - k; then

    k += (worst payoff consistent with what was seen, in expectation over our own chance) - v*,

the worst over opponents who did what was seen, with the cards that were shown or with any they may
have had, and play best otherwise. k never falls below 0, so the expected loss of a whole match, to
anybody, is at most the `budget` that k began with. Methods:

| name | strategy of a hand |
|---|---|
| `rwywe` | risk what you've won in expectation: the best against the model within k |
| `befewp` | a best response if it is within k, else the best equilibrium |
| `beffe` | the best equilibrium until best responses are within k for all hands that are left |
| `best-equilibrium` | the best against the model among equilibria |
| `best-response` | the best against the model, whatever it risks |
| `rnr` | a restricted Nash response, the most trusting p of a grid that is certified within k |

The model is a Dirichlet posterior about the equilibrium. Ties among optimal plans are broken
towards an equilibrium from the middle of all (`central_plan`). Deviations: the program is solved
again only every `every` hands; in between its plan is mixed with the equilibrium so far that the
risk stays within k.
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, unknown
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.forms.restricted import restricted_sequence_form
from counterplay.core.forms.sequence import Side, best_reply, gradient, plan_from_policy, treeplex
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.forms.tree import CHANCE, TERMINAL
from counterplay.core.solvers.base import real
from counterplay.core.solvers.lp import best_plan_within, safest_plan

METHODS = ("rwywe", "befewp", "beffe", "best-equilibrium", "best-response", "rnr")
PRIOR = 5.0  # hands that the equilibrium is worth as a model of the opponent
CENTRE = 8  # equilibria whose mean is the one to stay near
SLACK = 1e-9  # of linear programs
ROUNDING = 1e-5  # of the budget that is left to them, hand by hand
GRID = (1.0, 0.95, 0.9, 0.8, 0.7, 0.6, 0.5, 0.4, 0.3, 0.2, 0.1, 0.05, 0.0)


class Seen(NamedTuple):
    """Ends of a game: e of them."""

    node: np.ndarray  # int64[e]
    paths: list[tuple[tuple[int, int], ...]]  # the opponent's (set, slot) on the way, his own
    chance: np.ndarray  # float64[e]
    mine: np.ndarray  # int32[e]: our sequence
    alike: list[np.ndarray]  # per end: those that we cannot tell from it


class SafePlayer:
    """Plays one seat of a two-player zero-sum game with a tree, hand after hand.

    `hands`: how many there will be, for `beffe`. `shown`: "showdown" (cards are seen where the
    payoff depends on them) or "always". `every`: hands between two linear programs.
    """

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
    ) -> None:
        game = as_game(game)
        if not game.capabilities.full_width or game.n_players != 2 or not game.zero_sum:
            raise BadParameter(
                f"safe exploitation is exact, for two-player zero-sum games with a tree, and "
                f"{game.name} is none"
            )
        game.check_player(seat)
        if method not in METHODS:
            raise unknown("method", method, METHODS)
        if real(budget, "budget") < 0 or real(prior, "prior") <= 0:
            raise BadParameter("a budget is 0 or more and a prior above 0")
        if shown not in ("showdown", "always"):
            raise BadParameter(f"cards are shown 'always' or at a 'showdown', not {shown!r}")
        self.game, self.seat, self.method = game, seat, method
        self.every = every or (1 if game.n_nodes < 500 else 25)
        self._left, self._prior = hands, prior
        form = game.sequence_form
        self._mine, self._his = form[seat], form[1 - seat]
        self.value, self._safe = central_plan(self._mine, self._his)
        _, his = central_plan(self._his, self._mine)
        self.equilibrium = _profile(game, seat, self._safe, his)
        self.bank = max(float(budget) - ROUNDING, 0.0)
        self._ends = _ends(game, seat, shown == "always")
        self._number = {int(node): k for k, node in enumerate(self._ends.node)}
        self._slots = game.slots(1 - seat)
        self.counts = prior * self.equilibrium.probabilities[self._slots]
        self.hands, self.won = 0, 0.0
        self._worst, self._plan = self.value, self._safe
        self._think()

    @property
    def model(self) -> Strategy:
        """How the opponent is taken to play."""
        weights = self.equilibrium.probabilities.copy()
        weights[self._slots] = self.counts
        return Strategy.from_weights(self.game, weights)

    @property
    def risk(self) -> float:
        """How far the strategy that is played can be held below the value of the game."""
        return max(self.value - self._worst_of(self._now), 0.0)

    @property
    def strategy(self) -> Strategy:
        """What it plays in this hand; the model in the other seat."""
        his = np.empty(self._his.n_sequences)
        plan_from_policy(self._his, self.model.probabilities[self._slots], his)
        return _profile(self.game, self.seat, self._now, his)

    def play(self, opponent: Strategy, rng: np.random.Generator) -> float:
        """One hand against `opponent`; what was won."""
        check_same_game(self.game, opponent)
        policy = opponent.probabilities.copy()
        mine = self.game.slots(self.seat)
        policy[mine] = self.strategy.probabilities[mine]
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
        """A hand ended at node `end`: bank, model, and the strategy of the next hand. What was
        won."""
        if end not in self._number:
            raise BadParameter(f"node {end!r} is no end of {self.game.name}")
        number = self._number[end]
        alike = self._ends.alike[number]
        self.bank = max(self.bank + self._consistent(alike) - self.value, 0.0)
        self._count(alike)
        self.hands, self._left = self.hands + 1, self._left - 1
        won = float(self.game.tree.payoff[self.game.tree.row[end], self.seat])
        self.won += won
        if self.hands % self.every == 0:
            self._think()
        self._hold()
        return won

    def _consistent(self, alike: np.ndarray) -> float:
        """The worst expected payoff against somebody who did what was seen."""
        payoff = self._to_him(self._now)
        most = -np.inf
        for path in {self._ends.paths[k] for k in alike}:
            floor = np.zeros(int(self._his.first[-1]))
            floor[[slot for _, slot in path]] = 1.0
            forced = self._his._replace(floor=floor)
            most = max(most, best_reply(forced, payoff.copy(), np.empty(len(floor))))
        return -most

    def _count(self, alike: np.ndarray) -> None:
        """What he did, spread over what he may have held."""
        model = self.model.probabilities[self._slots]
        likely = []
        for k in alike:
            weight = self._ends.chance[k] * self._now[self._ends.mine[k]]
            for _, slot in self._ends.paths[k]:
                weight *= model[slot]
            likely.append(weight)
        total = sum(likely)
        for k, weight in zip(alike, likely, strict=True):
            for _, slot in self._ends.paths[k]:
                self.counts[slot] += weight / total if total > 0 else 1.0 / len(likely)

    def _think(self) -> None:
        """A new plan by the model and the bank."""
        his = np.empty(self._his.n_sequences)
        plan_from_policy(self._his, self.model.probabilities[self._slots], his)
        against = np.empty(self._mine.n_sequences)
        gradient(self._mine, his, against)
        best = partial(self._best, against)
        free = -np.inf
        if self.method == "rwywe":
            self._take(*best(self.value - self.bank - SLACK))
        elif self.method == "best-equilibrium":
            self._take(*best(self.value - SLACK))
        elif self.method == "best-response":
            self._take(*best(self._lowest))
        elif self.method == "rnr":
            self._take(*self._restricted(his))
        else:
            free, plan = best(self._lowest)
            hands = max(self._left, 1) if self.method == "beffe" else 1
            fine = hands * (self.value - free) <= self.bank
            self._take(*((free, plan) if fine else best(self.value - SLACK)))
        self._hold()

    def _best(self, against: np.ndarray, least: float) -> tuple[float, np.ndarray]:
        """What it makes sure of, and the plan: the best by `against` that nobody can hold below
        `least`."""
        return best_plan_within(self._mine, self._his, against, least, near=self._safe)

    def _restricted(self, his: np.ndarray) -> tuple[float, np.ndarray]:
        """The restricted Nash response of the largest p that is certified within the bank."""
        form = self.game.sequence_form
        for p in GRID:
            tied = restricted_sequence_form(form, his, 1 - self.seat, p)
            _, plan = safest_plan(tied[self.seat], tied[1 - self.seat])
            worst = self._worst_of(plan)
            if worst >= self.value - self.bank - SLACK:
                return worst, plan
        return self.value, self._safe

    @property
    def _lowest(self) -> float:
        return float(self.game.tree.payoff[:, self.seat].min()) - 1.0

    def _take(self, worst: float, plan: np.ndarray) -> None:
        self._worst, self._plan = worst, plan

    def _hold(self) -> None:
        """Mix with the equilibrium so far that the risk is within the bank."""
        risk = self.value - self._worst
        share = 1.0
        if self.method != "best-response" and risk > self.bank:
            share = self.bank / risk if risk > SLACK else 1.0
        self._now = share * self._plan + (1.0 - share) * self._safe

    def _to_him(self, plan: np.ndarray) -> np.ndarray:
        """What each of his sequences gets against our plan."""
        payoff = np.empty(self._his.n_sequences)
        gradient(self._his, plan, payoff)
        return payoff

    def _worst_of(self, plan: np.ndarray) -> float:
        payoff = self._to_him(plan)
        return -float(best_reply(self._his, payoff, np.empty(len(payoff) - 1)))


def central_plan(mine: Side, other: Side) -> tuple[float, np.ndarray]:
    """The value of the game, and an equilibrium plan from the middle of them: the mean of those
    that are best for some payoffs drawn at random. Corners of the set never try some actions, and
    learn nothing of the answers to them."""
    value, plan = safest_plan(mine, other)
    rng, plans = np.random.default_rng(0), [plan]
    for _ in range(CENTRE):
        wish = rng.standard_normal(mine.n_sequences)
        plans.append(best_plan_within(mine, other, wish, value - SLACK)[1])
    centre: np.ndarray = np.mean(plans, axis=0)
    return value, centre


def _profile(game: Game, seat: int, mine: np.ndarray, his: np.ndarray) -> Strategy:
    """Two plans as a strategy."""
    plans = (mine, his) if seat == 0 else (his, mine)
    return Strategy.from_weights(game, np.concatenate([plan[1:] for plan in plans]))


def _ends(game: Game, seat: int, always: bool) -> Seen:
    """All ends, and which of them `seat` cannot tell apart.

    Cards are shown where the payoff depends on them: at ends with the same actions and unlike
    payoffs. Where they are not, ends with the same actions and the same own sequence are alike.
    """
    tree = game.tree
    mine, his = treeplex(tree, seat)[1], treeplex(tree, 1 - seat)[1]
    side: Side = game.sequence_form[1 - seat]
    owner = np.repeat(np.arange(len(side.parent)), np.diff(side.first))
    chance = np.ones(tree.n_nodes)
    actions: list[tuple[int, ...]] = [()] * tree.n_nodes
    for node in range(tree.n_nodes):
        low = int(tree.first_child[node])
        for c in range(low, int(tree.first_child[node + 1])):
            luck = tree.player[node] == CHANCE
            actions[c] = actions[node] if luck else (*actions[node], c - low)
            share = (
                tree.chance_probability[tree.chance_first[tree.row[node]] + c - low] if luck else 1
            )
            chance[c] = chance[node] * share
    ends = np.flatnonzero(tree.player == TERMINAL)
    paths = [_path(side, owner, int(his[node])) for node in ends]
    payoffs: dict[tuple[int, ...], set[float]] = {}
    groups: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for k, node in enumerate(ends.tolist()):
        payoffs.setdefault(actions[node], set()).add(float(tree.payoff[tree.row[node], seat]))
        groups.setdefault((actions[node], int(mine[node])), []).append(k)
    alike = []
    for k, node in enumerate(ends.tolist()):
        shown = always or len(payoffs[actions[node]]) > 1
        alike.append(np.array([k] if shown else groups[actions[node], int(mine[node])]))
    return Seen(ends, paths, chance[ends], mine[ends], alike)


def _path(side: Side, owner: np.ndarray, sequence: int) -> tuple[tuple[int, int], ...]:
    """The (information set, slot) pairs of a sequence, counted from the player's first."""
    found = []
    while sequence > 0:
        infoset = int(owner[sequence - 1])
        found.append((infoset, sequence - 1))
        sequence = int(side.parent[infoset])
    return tuple(found)
