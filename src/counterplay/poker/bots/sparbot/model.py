"""The abstract games of PsOpti: their chance moves, three-round models over pairs of buckets with
perfect recall, and their solution.

Chance: transition probabilities between pairs of buckets, and expected-value tables. Published: for
each change of street one matrix from pairs of buckets to pairs of buckets, averaged over all cards;
pairs, because the two hands share the board. The original enumerated some characteristic flops;
here whole deals are sampled with a fixed seed. A deal counts twice, once for each seating of the
two hands, so that every matrix is symmetric between the players.

Published: at most three bets a round after the flop (13 sequences, 7 of which continue), blind and
three raises before it; a pre-flop model of pre-flop, flop and turn that ends in expected-value
tables, and seven post-flop models of flop, turn and river, one for each pre-flop sequence. Chosen
here: after the turn the pre-flop model rolls out the river with `LEAF_BETS` more bets. The original
solved a linear program; discounted CFR (`core/solvers/cfr.py`), the fastest of its family here, is
used instead. An equilibrium need not be unique, so the strategies could differ even with the
original's buckets.

A payoff is stake · weight[p, q]: the stake belongs to the public terminal node, the weight to the
pair of bucket paths of the players, where path = path · n + bucket. So the 30 million payoffs of a
post-flop model are 637 terminal nodes times one matrix of 216 x 216 for folds or showdowns, and the
product with a realisation plan is dense. `FactoredForm` is a full-width form like `SequenceForm`;
the solvers and exploitability of the core accept it.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.evaluation.exact import form_exploitability
from counterplay.core.forms.access import answers
from counterplay.core.forms.sequence import Treeplex, payoff_gradient
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import new_state
from counterplay.core.parallel.jobs import map_in_threads
from counterplay.core.parallel.processes import cores
from counterplay.core.solvers.cfr import RegretMinimiser
from counterplay.core.solvers.cfr_kernels import DISCOUNTED
from counterplay.poker.abstraction.abstraction import Buckets, cards_of
from counterplay.poker.betting.betting import CALL, FOLD, NO_FOLD, RAISE, Betting
from counterplay.poker.cards.deal import new_deal
from counterplay.poker.holdem.bucket_pairs import PairCounts, count_pairs, new_pair_counts

N_DEALS = 8_000_000
CHUNKS = 32  # with a random stream each, so that counts do not depend on the number of threads
SEED = 2003
MODEL_BETS = 3  # a round, after the flop
MODEL_ROUNDS = 3
LEAF_BETS = 0.0  # river bets that each player is assumed to pay after the pre-flop model
TARGET = 2e-4  # exploitability b_1 + b_2 as a share of the pot at the start of the model
MAX_ITERATIONS = 3_000
MEASURE_EVERY = 25
COLUMN = {FOLD: 0, CALL: 1, RAISE: 2}


class BucketChance(NamedTuple):
    """n buckets; pairs are (first seat's, second seat's)."""

    first: np.ndarray  # float64[n, n]: probability of each pair before the flop
    # float64[n, n, n, n] each, to flop, turn and river: probability of a pair after a pair
    transition: tuple[np.ndarray, ...]
    # float64[n, n] for each round: wins minus losses of the first seat at a showdown
    value: tuple[np.ndarray, ...]


def count_deals(
    buckets: Buckets, n: int, n_buckets: int, progress: ShareCallback = no_progress
) -> PairCounts:
    """Counts of n sampled deals, each also with the seats swapped; the same for the same n."""
    cards, total = cards_of(buckets), new_pair_counts(n_buckets)

    def count_chunk(chunk: int) -> PairCounts:
        counts = new_pair_counts(n_buckets)
        share = n * (chunk + 1) // CHUNKS - n * chunk // CHUNKS
        count_pairs(cards, share, n_buckets, new_state(SEED, chunk), new_deal(), counts)
        return counts

    # kernels release the interpreter lock
    for part in map_in_threads(count_chunk, range(CHUNKS), cores(), progress):
        for sums, more in zip(total, part, strict=True):
            sums += more
    swapped = np.arange(n_buckets**2).reshape(n_buckets, -1).T.ravel()
    first, step, won = total
    return PairCounts(
        first + first[swapped], step + step[:, swapped][:, :, swapped], won - won[:, swapped]
    )


def chance_from_counts(counts: PairCounts) -> BucketChance:
    """The chance moves of all eight models: relative frequencies of the counts. A pair of buckets
    without deals (none with millions) has no successors and value 0."""
    n = round(len(counts.first) ** 0.5)
    deals = [counts.first, *(counts.step[k].sum(axis=0) for k in range(3))]
    return BucketChance(
        (counts.first / counts.first.sum()).reshape(n, n),
        tuple(
            (counts.step[k] / np.maximum(deals[k], 1)[:, None]).reshape(n, n, n, n)
            for k in range(3)
        ),
        tuple((counts.won[k] / np.maximum(deals[k], 1)).reshape(n, n) for k in range(4)),
    )


class Decision(NamedTuple):
    """A public node: the player's slots first .. first + paths · actions - 1, path by path."""

    player: int
    first: int
    paths: int
    actions: tuple[str, ...]


class Terminals(NamedTuple):
    """e public terminal nodes of one kind in one round, p bucket paths per player."""

    sequence: tuple[np.ndarray, np.ndarray]  # int32[e, p] per player: own sequence by own path
    stake: np.ndarray  # float64[e]: won by the first seat, before the weight
    # float64[p, p] per player: [opponent's path, own path], own payoff for a stake of one
    weight: tuple[np.ndarray, np.ndarray]


class FactoredForm(NamedTuple):
    """A full-width form for one thread: its payoff matrix is a sum of stakes times weights."""

    one: Treeplex
    two: Treeplex
    terminals: tuple[Terminals, ...]
    payoff: np.ndarray  # float64[p], p the most paths of any terminal: workspace


class ThreeRoundModel(NamedTuple):
    """A model as a form, with the slots of each public node."""

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
    weights = [prior]
    for step in steps:
        last = weights[-1]
        earlier = len(last) // n
        # (earlier path, bucket) of both players, and the transition from both buckets
        longer = np.einsum("abcd,bdef->abecdf", last.reshape(earlier, n, earlier, n), step)
        weights.append(longer.reshape(len(last) * n, len(last) * n))
    return weights


class _Builder:
    """Traverses the public tree, parents first, and collects decisions and terminal nodes."""

    def __init__(self, start: Betting, n_buckets: int, leaf_bets: float) -> None:
        self.start, self.n, self.leaf_bets = start, n_buckets, leaf_bets
        self.parents: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        self.counts: tuple[list[np.ndarray], list[np.ndarray]] = ([], [])
        self.slots = [0, 0]
        self.decision: dict[str, Decision] = {}
        self.terminals: dict[tuple[int, bool], list[tuple[float, np.ndarray, np.ndarray]]] = {}
        root = np.zeros(n_buckets, dtype=np.int32)
        self.traverse(start, (root, root))

    def traverse(self, state: Betting, sequence: tuple[np.ndarray, np.ndarray]) -> None:
        depth = state.round - self.start.round
        if state.folded != NO_FOLD:
            sign = -1.0 if state.folded == 0 else 1.0
            self.terminals.setdefault((depth, False), []).append(
                (sign * min(state.paid), *sequence)
            )
            return
        if state.over or depth == MODEL_ROUNDS:
            bets = 0.0 if state.over else self.leaf_bets * state.rules.bets[state.round]
            self.terminals.setdefault((MODEL_ROUNDS - 1, True), []).append(
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
            own = (here.first + 1 + k + np.arange(paths) * len(actions)).astype(np.int32)
            one, two = (own, sequence[1]) if player == 0 else (sequence[0], own)
            if child.round > state.round and depth + 1 < MODEL_ROUNDS:
                one, two = np.repeat(one, self.n), np.repeat(two, self.n)  # each path, each bucket
            self.traverse(child, (one, two))

    def treeplex(self, player: int) -> Treeplex:
        counts = np.concatenate(self.counts[player])
        first = np.zeros(len(counts) + 1, dtype=np.int32)
        np.cumsum(counts, out=first[1:])
        return Treeplex(np.concatenate(self.parents[player]), first)


def make_model(
    start: Betting, prior: np.ndarray, chance: BucketChance, leaf_bets: float | None = None
) -> ThreeRoundModel:
    """The model that begins at `start` with the joint probability `prior` of the first buckets
    (float64[n, n])."""
    built = _Builder(start, len(prior), LEAF_BETS if leaf_bets is None else leaf_bets)
    last = start.round + MODEL_ROUNDS - 1
    weights = path_weights(prior, chance.transition[start.round : last])
    # by the last bucket of each path
    value = np.tile(chance.value[last], (len(weights[-1]) // len(prior),) * 2)
    terminals = tuple(
        Terminals(
            (np.array([row[1] for row in rows]), np.array([row[2] for row in rows])),
            np.array([row[0] for row in rows]),
            _for_both(weights[depth] * value if showdown else weights[depth]),
        )
        for (depth, showdown), rows in built.terminals.items()
    )
    payoff = np.empty(len(weights[-1]))
    form = FactoredForm(built.treeplex(0), built.treeplex(1), terminals, payoff)
    return ThreeRoundModel(start, built.decision, form)


def _for_both(weight: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """`weight` is that of the first seat, [own path, opponent's path]."""
    return np.ascontiguousarray(weight.T), np.ascontiguousarray(-weight)


@jit
def _add_payoffs(
    own: np.ndarray,
    other: np.ndarray,
    stake: np.ndarray,
    weight: np.ndarray,
    plan: np.ndarray,
    payoff: np.ndarray,
    out: np.ndarray,
) -> None:
    """Adds the payoffs of all terminal nodes to `out`. `own`, `other`: int32[e, p]; `payoff`:
    workspace of at least p."""
    n = index(len(weight))
    two, three, four = index(2), index(3), index(4)
    for e in range(index(len(stake))):
        for p in range(n):
            payoff[p] = 0.0
        for q in range(ZERO, n - n % four, four):  # four rows at a time, for memory bandwidth
            a, b = plan[index(other[e, q])], plan[index(other[e, q + ONE])]
            c, d = plan[index(other[e, q + two])], plan[index(other[e, q + three])]
            if a + b + c + d > 0.0:
                for p in range(n):
                    payoff[p] += (
                        a * weight[q, p]
                        + b * weight[q + ONE, p]
                        + c * weight[q + two, p]
                        + d * weight[q + three, p]
                    )
        for q in range(n - n % four, n):
            for p in range(n):
                payoff[p] += plan[index(other[e, q])] * weight[q, p]
        for p in range(n):
            out[index(own[e, p])] += stake[e] * payoff[p]


@answers(payoff_gradient, FactoredForm)
def _factored_gradient(form: Any, player: Any, plan: Any, out: Any) -> Any:
    out[:] = 0.0
    for part in form.terminals:
        own, other, weight = part.sequence[player], part.sequence[1 - player], part.weight[player]
        _add_payoffs(own, other, part.stake, weight, plan, form.payoff, out)


def policy_rows(decision: Decision, policy: np.ndarray) -> np.ndarray:
    """float64[paths, 3]: fold, call, raise at a decision, from the slots of its player."""
    rows = np.zeros((decision.paths, len(COLUMN)))
    slots = slice(decision.first, decision.first + decision.paths * len(decision.actions))
    rows[:, [COLUMN[a] for a in decision.actions]] = policy[slots].reshape(decision.paths, -1)
    return rows


class ModelSolution(NamedTuple):
    """A strategy of a model, and how far it is from an equilibrium."""

    policy: np.ndarray  # float64[slots of both players], player 1's first
    pot: float  # when the model begins, in small bets; pre-flop with the small blind completed
    exploitability: float  # b_1 + b_2 in small bets
    iterations: int


def solve(
    model: ThreeRoundModel,
    target: float = TARGET,
    most: int = MAX_ITERATIONS,
    progress: ShareCallback = no_progress,
) -> ModelSolution:
    """Iterates until the exploitability is at most `target` times the pot."""
    pot = 2.0 * max(model.start.paid)
    regrets = RegretMinimiser(model.form, DISCOUNTED)
    t, epsilon, policy = 0, np.inf, regrets.average()
    while epsilon > target * pot and t < most:
        n = min(MEASURE_EVERY, most - t)
        regrets.run(t, n)
        t += n
        policy = regrets.average()
        epsilon = form_exploitability(model.form, policy)
        progress(min(1.0, target * pot / epsilon))
    return ModelSolution(policy, pot, epsilon, t)
