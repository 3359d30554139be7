"""`SeveralResponse`: the response of one seat in a game of more than two players, with what it gets
when the others follow their models, when one of them deviates for its own sake, and when they play
together against it.

The restricted game of MCRNR has a coin for each other player (`core/forms/restricted.py`).
Deviation from Algorithm 2, which is for two players: with more, no regret minimisation is known to
reach an equilibrium of the restricted game, so p is no guarantee; the payoffs are exact for the
strategy that was found, and with p = 1 it approaches a best response to the models.

**Selfish deviation** of one other player: a best response to the rest of the profile; of several
equally good ones, that which costs the responder the most.

**Coalition.** The others choose their strategies together and do not see each other's cards. The
least payoff of the responder is then a minimum over pairs of pure strategies, which is hard in
general. Two numbers enclose it: `found`, the least of what alternating best replies reach from
several starts, or in small games of three players of all pure strategies of one member (`exact`);
and `bound`, the least payoff against members who tell each other what they see whenever one of them
acts, which is one best response.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from counterplay.core.base.display import Columns
from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import Treeplex, best_reply, tree_gradient, treeplex
from counterplay.core.forms.strategy import Strategy
from counterplay.core.forms.tree import TERMINAL, HistoryTree, level_bounds
from counterplay.core.games.players import players_of
from counterplay.core.responses.result import Response


@dataclass(frozen=True, repr=False)
class SeveralResponse(Response):
    """A response of one of several players. `payoff`: when the others follow their models.
    `worst_case`: the bound of `coalition`. There is no exploitability, since a game of several
    players has no value."""

    #: What the responder gets when another player deviates for its own sake, by seat; NaN for its
    #: own seat.
    selfish: tuple[float, ...]
    coalition: Coalition  # what it gets when all others play together against it

    def __repr__(self) -> str:
        trust = "" if self.p is None else f", p {self.p:g}"
        return (
            f"SeveralResponse({self.game.name}, {self.algorithm} ({self.engine}), "
            f"{self.game.seat(self.seats[0])}{trust}, payoff {self.payoff:.4g}, least with one "
            f"selfish deviator {self.selfish_worst:.4g}, against a coalition "
            f"{self.coalition.found:.4g} {self.game.unit})"
        )

    @property
    def selfish_worst(self) -> float:
        """The least of `selfish`."""
        return min(payoff for payoff in self.selfish if not math.isnan(payoff))

    @property
    def _relative(self) -> bool:
        return False

    def columns(self) -> Columns:
        """One row, as of any response, with the three payoffs of deviations."""
        row = dict(super().columns())
        row |= {f"selfish_player_{k + 1}": [payoff] for k, payoff in enumerate(self.selfish)}
        found, bound = self.coalition.found, self.coalition.bound
        return row | {"coalition_found": [found], "coalition_bound": [bound]}


def several_risks(profile: Strategy, player: int) -> dict[str, Any]:
    """Returns what deviations of the others cost `player`, who plays its part of `profile`."""
    game = profile.game
    selfish = tuple(
        math.nan if other == player else selfish_payoff(game, profile, player, other)
        for other in range(game.n_players)
    )
    return {"selfish": selfish, "coalition": coalition_payoff(game, profile, player)}


def models_of_others(game: Game, models: Sequence[Any], player: int | None) -> Strategy:
    """Returns the profile of a list of models, one for each seat but that of `player`."""
    if player is None:
        raise BadParameter("a list of models needs the seat that responds: player=0")
    game.check_player(player)
    seats = [seat for seat in range(game.n_players) if seat != player]
    if len(models) != len(seats):
        raise BadParameter(
            f"{game.name} has {len(seats)} other players, and {len(models)} models are given"
        )
    players = players_of(game)
    profile = players.strategy(models[0])
    for seat, model in zip(seats, models, strict=True):
        profile = profile.replace(players.strategy(model), seat)
    return profile


# --- what deviations of others cost a player

MOST_PLANS = 50_000  # pure strategies that are enumerated
STARTS = 8  # of alternating best replies
MOST_ROUNDS = 50
TIE = 1e-12  # of the payoff range


@dataclass(frozen=True)
class Coalition:
    """The least payoff of a player against all others: between `bound` and `found`."""

    found: float  # reached by strategies of the others
    bound: float  # against others who tell each other what they see
    exact: bool  # `found` is the minimum


def selfish_payoff(game: Game, profile: Strategy, player: int, deviator: int) -> float:
    """Returns what `player` gets when `deviator` plays a best response for its own sake, the one
    that costs `player` the most."""
    _check(game, player)
    tree, policy = game.tree, profile.probabilities
    plex, sequence = treeplex(tree, deviator)
    own = _gradient(tree, policy, deviator, deviator, sequence)
    others = _gradient(tree, policy, deviator, player, sequence)
    tie = TIE * float(np.ptp(tree.payoff))
    for i in range(len(plex.parent) - 1, -1, -1):
        low, high = int(plex.first[i]) + 1, int(plex.first[i + 1]) + 1
        best = own[low:high].max()
        tied = np.flatnonzero(own[low:high] >= best - tie)
        chosen = low + int(tied[others[low:high][tied].argmin()])
        own[plex.parent[i]] += own[chosen]
        others[plex.parent[i]] += others[chosen]
    return float(others[0])


def coalition_payoff(game: Game, profile: Strategy, player: int) -> Coalition:
    """Returns the least payoff of `player`, who plays its part of `profile`, against a coalition of
    all others."""
    _check(game, player)
    members = [one for one in range(game.n_players) if one != player]
    policy = profile.probabilities.copy()
    found, exact = _alternating(game, policy, player, members), False
    if len(members) == 2:
        least = _enumerated(game, policy, player, members)
        found, exact = (found, False) if least is None else (least, True)
    return Coalition(found, _talking(game, policy, player, members), exact)


def _check(game: Game, player: int) -> None:
    game.check_player(player)
    if not game.perfect_recall:
        raise BadParameter(
            f"a best response needs perfect recall, and {game.name} has players who forget"
        )


def _gradient(
    tree: HistoryTree, policy: np.ndarray, mover: int, payee: int, sequence: np.ndarray
) -> np.ndarray:
    """Returns the payoff of `payee` for each sequence of `mover`, the others following `policy`."""
    payoff = tree.payoff.copy()
    payoff[:, mover] = tree.payoff[:, payee]
    out = np.zeros(int(sequence.max()) + 1)
    tree_gradient(
        tree._replace(payoff=payoff), policy, mover, sequence, np.empty(tree.n_nodes), out
    )
    return out


def _alternating(game: Game, policy: np.ndarray, player: int, members: list[int]) -> float:
    """Returns the least payoff that members reach who in turn reply to the others."""
    rng, least = np.random.default_rng(0), np.inf
    plexes = {member: treeplex(game.tree, member) for member in members}
    for start in range(STARTS):
        tried = policy.copy()
        if start > 0:
            shares = Strategy.random(game, int(rng.integers(2**31))).probabilities
            for member in members:
                tried[game.slots(member)] = shares[game.slots(member)]
        value = np.inf
        for _ in range(MOST_ROUNDS):
            before = value
            for member in members:
                plex, sequence = plexes[member]
                cost = -_gradient(game.tree, tried, member, player, sequence)
                out = np.empty(len(cost) - 1)
                value = -float(best_reply(plex, cost, out))
                tried[game.slots(member)] = out
            if value >= before - TIE:
                break
        least = min(least, value)
    return float(least)


def _enumerated(game: Game, policy: np.ndarray, player: int, members: list[int]) -> float | None:
    """Returns the minimum over all pure strategies of one of two members and best replies of the
    other; None where there are too many."""
    tree = game.tree
    plexes = {member: treeplex(tree, member) for member in members}
    counts = {member: _count_plans(plexes[member][0]) for member in members}
    first, other = sorted(members, key=lambda member: counts[member])
    if counts[first] > MOST_PLANS:
        return None
    free, weight = policy.copy(), np.empty(tree.n_nodes)
    free[game.slots(other)] = 1.0
    (plex_one, one), (plex, two) = plexes[first], plexes[other]
    tree_gradient(tree, free, first, one, weight, np.zeros(int(one.max()) + 1))
    ends = np.flatnonzero(tree.player == TERMINAL)
    shape = int(plex_one.first[-1]) + 1, int(plex.first[-1]) + 1
    cost = np.zeros(shape)
    np.add.at(cost, (one[ends], two[ends]), weight[ends] * tree.payoff[tree.row[ends], player])
    payoff = _plans(plex_one) @ cost
    for i in range(len(plex.parent) - 1, -1, -1):
        low, high = int(plex.first[i]) + 1, int(plex.first[i + 1]) + 1
        payoff[:, plex.parent[i]] += payoff[:, low:high].min(axis=1)
    return float(payoff[:, 0].min())


def _count_plans(plex: Treeplex) -> float:
    """Returns the number of reduced pure strategies."""
    below = np.ones(int(plex.first[-1]) + 1)
    for i in range(len(plex.parent) - 1, -1, -1):
        with np.errstate(over="ignore"):
            below[plex.parent[i]] *= below[
                int(plex.first[i]) + 1 : int(plex.first[i + 1]) + 1
            ].sum()
    return float(below[0])


def _plans(plex: Treeplex) -> np.ndarray:
    """Returns float64[plans, sequences]: the reduced pure strategies, 1 for what they play."""
    size = int(plex.first[-1]) + 1
    below = [np.eye(1, size, s) for s in range(size)]  # what is played from each sequence on
    for i in range(len(plex.parent) - 1, -1, -1):
        actions = range(int(plex.first[i]) + 1, int(plex.first[i + 1]) + 1)
        here = np.concatenate([below[action] for action in actions])
        above = below[int(plex.parent[i])]
        below[int(plex.parent[i])] = (above[:, None] + here[None]).reshape(-1, size)
    return below[0]


def _talking(game: Game, policy: np.ndarray, player: int, members: list[int]) -> float:
    """Returns the least payoff against members who act as one player: its information set is that
    of the member who acts, together with all sets and actions of members before."""
    tree, bounds = game.tree, level_bounds(game.tree)
    sequence = np.zeros(tree.n_nodes, dtype=np.int32)
    parent, counts, total = [np.empty(0, dtype=np.int64)], [np.empty(0, dtype=np.int64)], 0
    joint = np.isin(tree.player, members)
    for low, high in pairwise(bounds):
        nodes = np.arange(low, high)
        children = np.diff(tree.first_child[low : high + 1])
        inherited = np.repeat(sequence[low:high], children)
        acting = nodes[joint[low:high]]
        if len(acting):
            keys = np.stack([sequence[acting], tree.row[acting]])
            sets, which = np.unique(keys, axis=1, return_inverse=True)
            sizes = np.diff(tree.first)[sets[1]]
            first = 1 + total + np.concatenate([[0], np.cumsum(sizes)])
            parent.append(sets[0])
            counts.append(sizes)
            total += int(sizes.sum())
            start = np.zeros(high - low, dtype=np.int64)
            start[acting - low] = first[:-1][which.reshape(-1)]
            action = np.arange(len(inherited)) - np.repeat(np.cumsum(children) - children, children)
            moved = np.repeat(start, children)
            inherited = np.where(moved > 0, moved + action, inherited)
        begin = int(tree.first_child[low])
        sequence[begin : begin + len(inherited)] = inherited
    sizes = np.concatenate(counts)
    plex = Treeplex(
        np.concatenate(parent).astype(np.int32),
        np.concatenate([[0], np.cumsum(sizes)]).astype(tree.first.dtype),
    )
    free = policy.copy()
    for member in members:
        free[game.slots(member)] = 1.0
    cost = np.zeros(total + 1)
    cost[: int(sequence.max()) + 1] = -_gradient(tree, free, members[0], player, sequence)
    return -float(best_reply(plex, cost, np.empty(total)))
