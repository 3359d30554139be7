"""Expected value, best response and exploitability (Section 2.1.2), exact for any game whose tree
fits into memory, and for hold'em.

For two players with perfect recall a full-width form is used: one product and one pass, with the
options `threads`, `backend` and `precision` (`core/parallel/full_width.py`); otherwise the tree.
Rules may name another evaluator. Hold'em's has the options `backend` ("cuda", "cpu" or "auto"),
`flops` (an estimate from that many), `seed` (of that sample) and `progress` (a callback). A
strategy is any player (`core/games/players.py`): an object, also a `Mixture`, `uniform`, the path
of a saved one, in hold'em the name of a bot, ...

`infoset_values` has the counterfactual values and regrets of every information set under one
profile. `action_value[slot]` is Σ_h π_-i(h) v_i(ha) / Σ_h π_-i(h) over the histories h of the
information set: the counterfactual value of an action over the counterfactual reach Σ_h π_-i(h) of
the set. The regret of an information set is the largest action value minus their mean under the
strategy. The tree is traversed level by level with NumPy.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Evaluator, Game
from counterplay.core.forms.mixture import Mixture, single_strategy
from counterplay.core.forms.registry import as_game
from counterplay.core.forms.sequence import (
    FullWidthForm,
    best_reply,
    payoff_gradient,
    plan_from_policy,
    tree_gradient,
    tree_value,
    treeplex,
)
from counterplay.core.forms.strategy import Strategy
from counterplay.core.forms.tree import CHANCE, HistoryTree, level_bounds
from counterplay.core.games.players import players_of
from counterplay.core.parallel.full_width import ComputeOptions, Replies

_COMPUTE = tuple(field.name for field in fields(ComputeOptions))


@dataclass(frozen=True)
class BestResponse:
    """`value`: the payoff of `player` in `strategy`, the profile of its best response and the
    others' strategies."""

    game: Game
    player: int
    value: float
    strategy: Strategy | None  # None in hold'em, where it is too large


def expected_value(game: Game | str, strategy: Any, **options: Any) -> np.ndarray:
    """Returns u_i(σ) for every player i: float64[n_players]; with `flops` an array of estimates."""
    game, strategy = _checked(game, strategy)
    return game.evaluator.value(strategy, **options)


def best_response(game: Game | str, strategy: Any, player: int, **options: Any) -> BestResponse:
    """Returns b_i(σ_-i), the best response of `player` to the others' part of `strategy`. Needs
    perfect recall; in hold'em the response is without card abstraction."""
    game, strategy = _checked(game, strategy)
    game.check_player(player)
    return BestResponse(game, player, *game.evaluator.best_response(strategy, player, **options))


def exploitability(game: Game | str, strategy: Any, **options: Any) -> float:
    """Returns ε = b_1(σ_2) + b_2(σ_1), the sum and not its half; `core/solvers/measures.py` has a
    lower bound by play.

    With more players, or a game that is not zero-sum: the sum over players of what each can gain by
    deviating.
    """
    game, strategy = _checked(game, strategy)
    return game.evaluator.exploitability(strategy, **options)


def _checked(game: Game | str, strategy: Any) -> tuple[Game, Any]:
    """Returns the game, and the strategy of a player as something that can be measured."""
    game = as_game(game, strategy)
    if type(strategy) is Strategy and strategy.game is game:
        return game, strategy
    return game, players_of(game).measurable(strategy)


class FormEvaluator(Evaluator):
    """Evaluation by the game's forms."""

    name = "exact"

    @property
    def immediate(self) -> bool:
        return self.game.capabilities.exact

    def value(self, strategy: Strategy | Mixture, **options: Any) -> np.ndarray:
        game, profile = self.game, self._strategy(strategy, options)
        if game.n_players == 2 and game.perfect_recall:
            values = []
            for player in (0, 1):
                payoff = _gradient(game, profile.probabilities, player)
                values.append(float(payoff @ profile.plan(player)))
            return np.array(values)
        values_by_tree = np.empty(game.n_players)
        tree_value(game.tree, profile.probabilities, np.empty(game.n_nodes), values_by_tree)
        return values_by_tree

    def best_response(
        self, strategy: Strategy | Mixture, player: int, **options: Any
    ) -> tuple[float, Strategy]:
        game, profile = self.game, self._strategy(strategy, options)
        probabilities = profile.probabilities.copy()
        out, replies = probabilities[game.slots(player)], _replies(game, options)
        value = _best_reply(game, profile.probabilities, player, out, replies)
        return value, Strategy(game, probabilities)

    def exploitability(self, strategy: Strategy | Mixture, **options: Any) -> float:
        if self.game.discovers_infosets:
            raise BadParameter(
                f"{self.game.name} is played without a tree, so its exploitability is only known "
                f"from below: method='play', on the command line --method play"
            )
        policy = self._strategy(strategy, options).probabilities
        return policy_exploitability(self.game, policy, _replies(self.game, options))

    def _strategy(self, strategy: Strategy | Mixture, options: dict[str, Any]) -> Strategy:
        unknown = sorted(set(options) - set(_COMPUTE))
        if unknown:
            raise BadParameter(
                f"{unknown[0]} is for games that are evaluated by traversing boards; "
                f"{self.game.name} is evaluated as a whole, with {', '.join(_COMPUTE)}"
            )
        return single_strategy(strategy)


def _replies(game: Game, options: dict[str, Any]) -> Replies | None:
    """Returns what computes best replies; cached in the game, since it takes time to prepare."""
    if not options:
        return None
    compute = ComputeOptions(**options)
    compute.check()
    if game.n_players != 2:
        raise BadParameter(
            f"{next(iter(compute.options))} is for two players, and {game.name} has "
            f"{game.n_players}; leave it out"
        )
    if compute not in game.cache:
        game.cache[compute] = compute.replies(game.sequence_form)
    replies: Replies | None = game.cache[compute]
    return replies


def policy_exploitability(game: Game, policy: np.ndarray, replies: Replies | None = None) -> float:
    """`exploitability` of an unchecked slot array, for solvers that measure often."""
    if not game.evaluator.needs_recall:
        return game.evaluator.exploitability(Strategy(game, policy))
    best = 0.0
    for player in range(game.n_players):
        out = np.empty(game.slots(player).stop - game.slots(player).start)
        best += _best_reply(game, policy, player, out, replies)
    if game.n_players == 2 and game.zero_sum:
        return best
    return best - float(expected_value(game, Strategy(game, policy)).sum())


def form_exploitability(
    form: FullWidthForm, policy: np.ndarray, replies: Replies | None = None
) -> float:
    """Returns b_1 + b_2 in any full-width form, such as a restricted game, whose floors bind best
    responses too. Zero at equilibrium."""
    plexes = (form.one, form.two)
    policies = np.split(policy, [int(form.one.first[-1])])
    total = 0.0
    for player, plex in enumerate(plexes):
        if replies is not None:
            out = np.empty(int(plex.first[-1]))
            total += replies.best_value(player, policies[1 - player], out)
            continue
        payoff = _form_gradient(form, player, policies[1 - player])
        total += best_reply(plex, payoff, np.empty(len(payoff) - 1))
    return total


def _form_gradient(form: FullWidthForm, player: int, policy: np.ndarray) -> np.ndarray:
    """Returns the payoff of each sequence of `player` against `policy`, the other's slots."""
    plexes = (form.one, form.two)
    plan = np.empty(len(policy) + 1)
    plan_from_policy(plexes[1 - player], policy, plan)
    payoff = np.empty(int(plexes[player].first[-1]) + 1)
    payoff_gradient(form, player, plan, payoff)
    return payoff


def _best_reply(
    game: Game, policy: np.ndarray, player: int, out: np.ndarray, replies: Replies | None = None
) -> float:
    """Returns the best response value; fills `out`, the player's slots, with a best response."""
    if not game.perfect_recall:
        raise BadParameter(
            f"a best response needs perfect recall, and {game.name} has players who forget"
        )
    if replies is not None:
        return replies.best_value(player, policy[game.slots(1 - player)], out)
    payoff = _gradient(game, policy, player)
    return float(best_reply(game.treeplexes[player], payoff, out))


def _gradient(game: Game, policy: np.ndarray, player: int) -> np.ndarray:
    """Returns the payoff of each sequence of `player` against the others' `policy`."""
    if game.n_players == 2:
        return _form_gradient(game.sequence_form, player, policy[game.slots(1 - player)])
    slots = game.slots(player)
    payoff = np.empty(slots.stop - slots.start + 1)
    sequence = treeplex(game.tree, player)[1]
    tree_gradient(game.tree, policy, player, sequence, np.empty(game.n_nodes), payoff)
    return payoff


class InfosetValues(NamedTuple):
    """Values for the player who acts; NaN where the counterfactual reach is 0."""

    action_value: np.ndarray  # float64[slots]
    value: np.ndarray  # float64[information sets]
    regret: np.ndarray  # float64[information sets]
    reach: np.ndarray  # float64[information sets]: probability under the profile, all players


class _Edges(NamedTuple):
    """The edge that leads to each node; at the root slot -1 and probability 1."""

    parent: np.ndarray  # int64[n]
    slot: np.ndarray  # int64[n]: of the action; -1 after chance
    probability: np.ndarray  # float64[n]


def infoset_values(game: Game, policy: np.ndarray) -> InfosetValues:
    """Action values, values, regrets and reach probabilities under `policy`, float64[slots]."""
    tree = game.tree
    edges, bounds = _edges(tree, policy), level_bounds(tree)
    q, reach = np.zeros(tree.n_slots), np.zeros(tree.n_infosets)
    counterfactual_reach = np.zeros(tree.n_infosets)
    for player in range(tree.n_players):
        value = _node_values(tree, player, edges, bounds)
        reach_others = np.ones(tree.n_nodes)
        reach_all = np.ones(tree.n_nodes)
        own = tree.player[edges.parent] == player
        for low, high in pairwise(bounds[1:]):
            above, probability = edges.parent[low:high], edges.probability[low:high]
            factor = np.where(own[low:high], 1.0, probability)
            reach_others[low:high] = reach_others[above] * factor
            reach_all[low:high] = reach_all[above] * probability
        below = np.flatnonzero(own & (edges.slot >= 0))
        np.add.at(q, edges.slot[below], reach_others[edges.parent[below]] * value[below])
        here = np.flatnonzero(tree.player == player)
        np.add.at(counterfactual_reach, tree.row[here], reach_others[here])
        np.add.at(reach, tree.row[here], reach_all[here])
    weights = np.repeat(counterfactual_reach, np.diff(tree.first))
    with np.errstate(invalid="ignore", divide="ignore"):
        q = np.where(weights > 0, q / weights, np.nan)
    mean = np.add.reduceat(np.nan_to_num(q) * policy, tree.first[:-1])
    best = np.maximum.reduceat(np.where(np.isnan(q), -np.inf, q), tree.first[:-1])
    reached = counterfactual_reach > 0
    regret = np.where(reached, np.maximum(best - mean, 0.0), np.nan)
    return InfosetValues(q, np.where(reached, mean, np.nan), regret, reach)


def _edges(tree: HistoryTree, policy: np.ndarray) -> _Edges:
    parent = np.zeros(tree.n_nodes, dtype=np.int64)
    parent[1:] = np.repeat(np.arange(tree.n_nodes), np.diff(tree.first_child))
    action = np.arange(tree.n_nodes) - tree.first_child[parent]
    row, chance = tree.row[parent], tree.player[parent] == CHANCE
    slot = np.where(chance, -1, tree.first[np.where(chance, 0, row)] + action)
    slot[0] = -1
    probability = policy[np.maximum(slot, 0)]
    if chance.any():
        entry = tree.chance_first[row[chance]] + action[chance]
        probability[chance] = tree.chance_probability[entry]
    probability[0] = 1.0
    return _Edges(parent, slot, probability)


def _node_values(tree: HistoryTree, player: int, edges: _Edges, bounds: list[int]) -> np.ndarray:
    """float64[n]: expected payoff of `player` from each node on."""
    value = np.zeros(tree.n_nodes)
    terminal = np.diff(tree.first_child) == 0
    value[terminal] = tree.payoff[tree.row[terminal], player]
    for low, high in list(pairwise(bounds[1:]))[::-1]:
        parent = edges.parent[low:high]
        np.add.at(value, parent, edges.probability[low:high] * value[low:high])
    return value


EVALUATOR = FormEvaluator
