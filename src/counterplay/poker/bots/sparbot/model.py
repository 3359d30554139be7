"""A model: three rounds of betting over bucket pairs, with perfect recall, as two treeplexes and a
factored payoff matrix.

Published: at most three bets a round after the flop (13 sequences, 7 of which go on), blind and
three raises before it; a pre-flop model of pre-flop, flop and turn that ends in expected values,
and seven post-flop models of flop, turn and river, one for each pre-flop sequence. Chosen here:
after the turn the pre-flop model rolls out the river with `LEAF_BETS` more bets.

A payoff is stake · weight[p, q]: the stake belongs to the public end, the weight to the pair of
bucket paths that both players have behind them, where path = path · n + bucket. So the 30 million
payoffs of a post-flop model are 637 ends times one matrix of 216 x 216 for folds or showdowns, and
the product with a plan is a dense one: `FactoredForm` is a full-width form beside `SequenceForm`,
and the project's solvers and exploitability take it as it is.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms.access import answers
from counterplay.core.forms.sequence import Treeplex, payoff_gradient
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.betting.betting import CALL, FOLD, NO_FOLD, RAISE, Betting
from counterplay.poker.bots.sparbot.chance import Chance

MODEL_BETS = 3  # a round, after the flop
MODEL_ROUNDS = 3
LEAF_BETS = 0.0  # bets of the river that each player is taken to pay where the pre-flop model ends
COLUMN = {FOLD: 0, CALL: 1, RAISE: 2}


class Decision(NamedTuple):
    """A public node: the player's slots first .. first + paths · actions - 1, path by path."""

    player: int
    first: int
    paths: int
    actions: tuple[str, ...]


class Ends(NamedTuple):
    """Public ends of one kind in one round: e of them, p bucket paths per player."""

    sequence: tuple[
        np.ndarray, np.ndarray
    ]  # int32[e, p] per player: his sequence at the end, by his path
    stake: np.ndarray  # float64[e]: won by the first seat, before the weight
    weight: tuple[
        np.ndarray, np.ndarray
    ]  # float64[p, p] per player: [other's path, his path], his payoff for a stake of one


class FactoredForm(NamedTuple):
    """A full-width form whose payoff matrix is a sum of stakes times weights. For one thread at
    a time."""

    one: Treeplex
    two: Treeplex
    ends: tuple[Ends, ...]
    earned: np.ndarray  # float64[p], p the most paths of any end: scratch


class ThreeRounds(NamedTuple):
    """A form, and where its slots lie in the betting."""

    start: Betting
    decision: dict[str, Decision]  # by history
    form: FactoredForm


def model_actions(state: Betting) -> list[str]:
    """The legal actions, without the fourth bet of a round after the flop."""
    return [a for a in state.actions() if a != RAISE or state.round == 0 or state.bets < MODEL_BETS]


def path_weights(prior: np.ndarray, steps: tuple[np.ndarray, ...]) -> list[np.ndarray]:
    """float64[n^(t+1), n^(t+1)] for each round t: probability of a pair of bucket paths.
    `prior`: float64[n, n]."""
    n = len(prior)
    found = [prior]
    for step in steps:
        last = found[-1]
        earlier = len(last) // n
        # (path before, bucket, other's path before, other's bucket) and the step from both buckets
        longer = np.einsum("abcd,bdef->abecdf", last.reshape(earlier, n, earlier, n), step)
        found.append(longer.reshape(len(last) * n, len(last) * n))
    return found


class _Builder:
    """Walks the public tree, parents first, and collects decisions and ends."""

    def __init__(self, start: Betting, n_buckets: int, leaf_bets: float) -> None:
        self.start, self.n, self.leaf_bets = start, n_buckets, leaf_bets
        self.parents: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        self.counts: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        self.slots = [0, 0]
        self.decision: dict[str, Decision] = {}
        self.ends: dict[tuple[int, bool], list[tuple[float, np.ndarray, np.ndarray]]] = {}
        root = np.zeros(n_buckets, dtype=np.int32)
        self.walk(start, (root, root))

    def walk(self, state: Betting, sequence: tuple[np.ndarray, np.ndarray]) -> None:
        depth = state.round - self.start.round
        if state.folded != NO_FOLD:
            sign = -1.0 if state.folded == 0 else 1.0
            self.ends.setdefault((depth, False), []).append((sign * min(state.paid), *sequence))
            return
        if state.over or depth == MODEL_ROUNDS:
            bets = 0.0 if state.over else self.leaf_bets * state.rules.bets[state.round]
            self.ends.setdefault((MODEL_ROUNDS - 1, True), []).append(
                (state.paid[0] + bets, *sequence)
            )
            return
        player, actions = state.player(), model_actions(state)
        paths = self.n ** (depth + 1)
        here = Decision(player, self.slots[player], paths, tuple(actions))
        self.decision[state.history] = here
        self.parents[player].append(sequence[player])
        self.counts[player].append(np.full(paths, len(actions)))
        self.slots[player] += paths * len(actions)
        for k, action in enumerate(actions):
            child = state.child(action)
            mine = (here.first + 1 + k + np.arange(paths) * len(actions)).astype(np.int32)
            below = [mine if who == player else sequence[who] for who in (0, 1)]
            if (
                child.round > state.round and depth + 1 < MODEL_ROUNDS
            ):  # every path goes on with every bucket
                below = [np.repeat(own, self.n) for own in below]
            self.walk(child, (below[0], below[1]))

    def treeplex(self, player: int) -> Treeplex:
        counts = np.concatenate(self.counts[player])
        first = np.zeros(len(counts) + 1, dtype=np.int32)
        np.cumsum(counts, out=first[1:])
        return Treeplex(np.concatenate(self.parents[player]), first)


def make_model(
    start: Betting, prior: np.ndarray, chance: Chance, leaf_bets: float | None = None
) -> ThreeRounds:
    """The model that begins at `start` with a joint probability of the first buckets (float64[n,
    n], adding up to one)."""
    built = _Builder(start, len(prior), LEAF_BETS if leaf_bets is None else leaf_bets)
    last = start.round + MODEL_ROUNDS - 1
    weights = path_weights(prior, chance.step[start.round : last])
    worth = np.tile(
        chance.value[last], (len(weights[-1]) // len(prior),) * 2
    )  # by the last bucket of each path
    ends = tuple(
        Ends(
            (np.array([row[1] for row in found]), np.array([row[2] for row in found])),
            np.array([row[0] for row in found]),
            _for_both(weights[depth] * worth if showdown else weights[depth]),
        )
        for (depth, showdown), found in built.ends.items()
    )
    form = FactoredForm(built.treeplex(0), built.treeplex(1), ends, np.empty(len(weights[-1])))
    return ThreeRounds(start, built.decision, form)


def _for_both(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`weight` is the first seat's, [his path, other's path]."""
    return np.ascontiguousarray(weight.T), np.ascontiguousarray(-weight)


@jit
def _add_payoffs(
    mine: np.ndarray,
    other: np.ndarray,
    stake: np.ndarray,
    weight: np.ndarray,
    plan: np.ndarray,
    earned: np.ndarray,
    out: np.ndarray,
) -> None:
    """Add the payoffs of all ends to `out`. `mine`, `other`: int32[e, p]; `earned`: scratch, at
    least p."""
    n = index(len(weight))
    two, three, four = index(2), index(3), index(4)
    for e in range(index(len(stake))):
        for p in range(n):
            earned[p] = 0.0
        for q in range(
            ZERO, n - n % four, four
        ):  # four rows at a time: `earned` is read and written less often
            a, b = plan[index(other[e, q])], plan[index(other[e, q + ONE])]
            c, d = plan[index(other[e, q + two])], plan[index(other[e, q + three])]
            if a + b + c + d > 0.0:
                for p in range(n):
                    earned[p] += (
                        a * weight[q, p]
                        + b * weight[q + ONE, p]
                        + c * weight[q + two, p]
                        + d * weight[q + three, p]
                    )
        for q in range(n - n % four, n):
            for p in range(n):
                earned[p] += plan[index(other[e, q])] * weight[q, p]
        for p in range(n):
            out[index(mine[e, p])] += stake[e] * earned[p]


@answers(payoff_gradient, FactoredForm)
def _factored_gradient(form: Any, player: Any, plan: Any, out: Any) -> Any:
    out[:] = 0.0
    for ends in form.ends:
        mine, other, weight = ends.sequence[player], ends.sequence[1 - player], ends.weight[player]
        _add_payoffs(mine, other, ends.stake, weight, plan, form.earned, out)


def policy_rows(decision: Decision, policy: np.ndarray) -> np.ndarray:
    """float64[paths, 3]: fold, call, raise at a decision, from the slots of its player."""
    rows = np.zeros((decision.paths, len(COLUMN)))
    slots = slice(decision.first, decision.first + decision.paths * len(decision.actions))
    rows[:, [COLUMN[a] for a in decision.actions]] = policy[slots].reshape(decision.paths, -1)
    return rows
