"""Tendencies of a player: how often it does what poker players count, each with an interval and the
mark of an equilibrium, and its leaks by what they cost.

A tendency is a share of opportunities. VPIP: hands in which the player put in money before the flop
beyond the blind; PFR: those in which it raised there. Aggression: bets and raises among bets,
raises, calls and folds after the flop. Went to showdown: of the hands whose flop it saw. The mark
is the same share in hands of the equilibrium against itself. Intervals are Wilson's, of 95%.

A leak is a group of decisions (seat, street, what is faced) where an action's interval, at 95% for
all groups together, excludes the mark. Its cost is what the equilibrium wins per hand, the mean of
the seats, from a player who differs from it there only, by the frequencies that were counted, in
the game of few buckets (`poker/holdem/bucket_pairs.py`). `counted_locks` writes the frequencies as
locks, each with a trust by the number of decisions (Johanson & Bowling 2009, s-curve).
"""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

import numpy as np

from counterplay.core.forms.strategy import Strategy
from counterplay.core.responses.algorithms import confidence
from counterplay.poker.betting.betting import (
    ACTIONS,
    SEAT_NAMES,
    STREETS,
    BettingTree,
    betting_tree,
    nodes_and_buckets,
)
from counterplay.poker.histories.records import RULES, HandRecord
from counterplay.poker.holdem.bucket_pairs import value_against
from counterplay.poker.models.observe import seat_decisions

SEATS = ("dealer", "big blind")
NORMAL_95 = 1.959964
NOTHING, OPEN, BET, RAISED = range(4)  # what a player faces
LEAST = 20  # decisions of a group from which on it may be a leak
CURVE = 10.0  # decisions after which the trust is one half
FACED = {NOTHING: "nothing", BET: "bet", RAISED: "raise"}
FACED_PREFLOP = {NOTHING: "nothing", OPEN: "bet", BET: "raise", RAISED: "re-raise"}
Counts = Counter[tuple[str, int]]  # by tendency, and 1 where it was taken


class Share(NamedTuple):
    """A share of n opportunities with its 95% interval; NaN without any."""

    taken: int
    n: int
    share: float
    low: float
    high: float


class Tendency(NamedTuple):
    name: str
    seat: str  # dealer, big blind or both
    found: Share
    mark: float  # of the equilibrium


class Leak(NamedTuple):
    """Decisions of one group; shares of fold, call and raise."""

    seat: str
    street: str
    facing: str
    action: str  # that differs most
    found: Share  # of that action
    mark: float
    cost: float  # sb/h


def wilson(taken: int, n: int, z: float = NORMAL_95) -> Share:
    """The share with Wilson's interval."""
    if n == 0:
        return Share(0, 0, math.nan, math.nan, math.nan)
    share, spread = taken / n, z * z / n
    middle = (share + spread / 2) / (1 + spread)
    half = z * math.sqrt(share * (1 - share) / n + spread / (4 * n)) / (1 + spread)
    low = middle - half if taken > 0 else 0.0
    return Share(taken, n, share, low, middle + half if taken < n else 1.0)


@cache
def _facing(tree: BettingTree) -> np.ndarray:
    """int64[n]: what the player to act faces at each node."""
    found = np.zeros(len(tree.states), dtype=np.int64)
    for node, state in enumerate(tree.states):
        more = state.bets - (1 if state.round == 0 else 0)  # the big blind is a bet
        found[node] = (NOTHING, BET)[more] if more < 2 else RAISED
    found[0] = OPEN
    return found


def groups_of(tree: BettingTree) -> np.ndarray:
    """int64[n]: the group of each node: seat, street and what is faced as one number."""
    seat, street = np.maximum(tree.nodes.player, 0), tree.nodes.street
    groups: np.ndarray = (seat * len(STREETS) + street) * 4 + _facing(tree)
    return groups


def group_names(group: int) -> tuple[str, str, str]:
    """Seat, street and what is faced, in words."""
    rest, facing = divmod(group, 4)
    seat, street = divmod(rest, len(STREETS))
    bet, more = ("raise", "re-raise") if street == 0 else ("bet", "raise")
    said = ("nobody has raised" if street == 0 else "nobody has bet", "first to act")
    return SEATS[seat], STREETS[street], (*said, f"facing a {bet}", f"facing a {more}")[facing]


class TendencyCounts:
    """Counts of the tendencies and of the actions of one player."""

    def __init__(self, hands: Iterable[HandRecord], player: str) -> None:
        self.hands = 0
        self.counts: Counts = Counter()
        self.actions = np.zeros((2 * len(STREETS) * 4, len(ACTIONS)), dtype=np.int64)
        groups = groups_of(betting_tree(RULES))
        for hand in hands:
            if player in (hand.dealer, hand.big_blind):
                self._add(hand, hand.seat(player), player, groups)

    def _add(self, hand: HandRecord, seat: int, player: str, groups: np.ndarray) -> None:
        self.hands += 1
        decisions = seat_decisions(RULES, hand.betting, seat)
        group = groups[decisions.node]
        np.add.at(self.actions, (group, decisions.action), 1)
        first = decisions.action[decisions.street == 0]
        paid = (decisions.node[decisions.street == 0] == 0) | (group[decisions.street == 0] % 4 > 0)
        if len(first):
            self._count("VPIP", seat, bool((first == 2).any() or ((first == 1) & paid).any()))
            self._count("PFR", seat, bool((first == 2).any()))
        later, faced = decisions.action[decisions.street > 0], ~np.isnan(decisions.cost)
        for action, facing in zip(later, faced[decisions.street > 0], strict=True):
            if action == 2 or facing:
                self._count("aggression", seat, bool(action == 2))
        if len(hand.board) >= 3:
            self._count("went to showdown", seat, hand.showdown)
            if hand.showdown:
                self._count("won at showdown", seat, hand.won(player) > 0)
        for at, action, facing in zip(group, decisions.action, faced, strict=True):
            if facing:
                _, street, what = group_names(int(at))
                self._count(f"folds {street}, {what}", seat, bool(action == 0))

    def _count(self, name: str, seat: int, taken: bool) -> None:
        for who in (SEATS[seat], "both"):
            self.counts[f"{name}|{who}", int(taken)] += 1

    def share(self, name: str, seat: str) -> Share:
        key = f"{name}|{seat}"
        return wilson(self.counts[key, 1], self.counts[key, 0] + self.counts[key, 1])

    def names(self) -> list[tuple[str, str]]:
        """Names and seats of what was counted, in the order of a sheet."""
        found = {tuple(key.split("|")) for key, _ in self.counts}
        first = ["VPIP", "PFR", "aggression", "went to showdown", "won at showdown"]
        order = {name: k for k, name in enumerate(first)}
        streets = {f"folds {street}": k for k, street in enumerate(STREETS)}
        seats = ("both", *SEATS)

        def place(one: tuple[str, ...]) -> tuple[int, int, str, int]:
            street = next((k for text, k in streets.items() if one[0].startswith(text)), -1)
            return order.get(one[0], len(order)), street, one[0], seats.index(one[1])

        return [(name, seat) for name, seat in sorted(found, key=place)]


def tendencies(player: TendencyCounts, equilibrium: TendencyCounts) -> list[Tendency]:
    """What was counted of a player, beside the equilibrium."""
    return [
        Tendency(name, seat, player.share(name, seat), equilibrium.share(name, seat).share)
        for name, seat in player.names()
    ]


def leaks(player: TendencyCounts, equilibrium: TendencyCounts, strategy: Strategy) -> list[Leak]:
    """The leaks of a player, dearest first. `strategy`: the equilibrium, of few buckets."""
    tree = strategy.game.rules.tree
    groups, all_groups = groups_of(tree), len(player.actions)
    z = _simultaneous(all_groups * len(ACTIONS))
    found = []
    for group in range(all_groups):
        taken, usual = player.actions[group], equilibrium.actions[group]
        n = int(taken.sum())
        if n < LEAST or not usual.sum():
            continue
        marks = usual / usual.sum()
        shares = [wilson(int(k), n, z) for k in taken]
        off = [not one.low <= mark <= one.high for one, mark in zip(shares, marks, strict=True)]
        if not any(off):
            continue
        nodes = np.flatnonzero((groups == group) & (tree.nodes.player >= 0))
        cost = group_cost(strategy, nodes, marks, taken / n)
        k = int(np.argmax(np.where(off, abs(taken / n - marks), -1.0)))
        counted = wilson(int(taken[k]), n)
        found.append(Leak(*group_names(group), ACTIONS[k], counted, float(marks[k]), cost))
    return sorted(found, key=lambda leak: -leak.cost)


def _simultaneous(statements: int) -> float:
    """The normal quantile of 95% for so many two-sided statements together."""
    from scipy.stats import norm

    return float(norm.ppf(1 - 0.025 / statements))


def group_cost(
    strategy: Strategy, nodes: np.ndarray, usual: np.ndarray, shares: np.ndarray
) -> float:
    """What a strategy wins per hand from itself with other frequencies of fold, call and raise at
    some nodes: `shares` in place of the `usual` ones."""
    game = strategy.game
    node, _ = nodes_and_buckets(game.rules.tree, game.rules.abstraction.counts)
    slots = game.rules.slots()[np.isin(node, nodes)]
    changed = strategy.probabilities.copy()
    for legal in np.unique(slots >= 0, axis=0):  # where no raise is left, others have its part
        some = slots[((slots >= 0) == legal).all(axis=1)][:, legal]
        mean, target = (_normalised(np.asarray(one)[legal]) for one in (usual, shares))
        changed[some] = shift_rows(strategy.probabilities[some], mean, target)
    return value_against(game, strategy.probabilities, Strategy(game, changed).probabilities)


def _normalised(shares: np.ndarray) -> np.ndarray:
    total = shares.sum()
    return shares / total if total > 0 else np.full(len(shares), 1 / len(shares))


def shift_rows(rows: np.ndarray, mean: np.ndarray, target: np.ndarray) -> np.ndarray:
    """float64[n, a]: rows of probabilities whose mean is `target` instead of `mean`, for any
    weights: what becomes rarer is scaled down, and what that frees goes to what does not."""
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.where(mean > target, target / mean, 1.0)
    kept = rows * scale
    more = np.maximum(target - mean, 0.0)
    if more.sum() > 0:
        kept = kept + (1.0 - kept.sum(axis=1, keepdims=True)) * more / more.sum()
    shifted: np.ndarray = kept / kept.sum(axis=1, keepdims=True)
    return shifted


def counted_locks(counts: TendencyCounts, player: str) -> str:
    """A file of locks (`core/games/locks.py`) of what was counted."""
    n = counts.actions.sum(axis=1)
    trust = confidence(n, "s-curve", s=CURVE)
    parts = [f"# {json.dumps(player)} in {counts.hands:,} hands"]
    for group in np.flatnonzero(n).tolist():
        rest, facing = divmod(group, len(FACED_PREFLOP))
        seat, street = divmod(rest, len(STREETS))
        faced = (FACED if street else FACED_PREFLOP)[facing]
        found = zip(ACTIONS, (counts.actions[group] / n[group]).tolist(), strict=True)
        shares = [f"{action} = {share:.6f}" for action, share in found if faced_has(faced, action)]
        parts.append(
            f"[[lock]]  # {n[group]:,} decisions\n"
            f'at = "{SEAT_NAMES[seat]} {STREETS[street]} facing {faced}"\n'
            f"frequency = {{{', '.join(shares)}}}\ntrust = {trust[group]:.4f}\n"
        )
    return "\n\n".join(part.rstrip() for part in parts) + "\n"


def faced_has(faced: str, action: str) -> bool:
    """Whether an action is legal: there is no fold without a bet."""
    return action != "fold" or faced != "nothing"
