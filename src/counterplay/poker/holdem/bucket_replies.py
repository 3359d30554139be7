"""Replies to known strategies, approximately, by pairs of buckets (`bucket_pairs.py`).

The reply chooses at every public node for every bucket of its own, given what each strategy of a
mixture would have done to get there, and all pairs of buckets, whatever the replier did before. It
remembers no earlier bucket and sees no card. Two passes over the betting tree for each strategy
and each seat, some ten milliseconds.

`reply_value`: what somebody who knows a strategy wins from it. That is the value of one reply: the
best one, with all cards, wins more. `soft_reply`: a reply that departs from a base strategy only as
far as it pays; with Q the expected win of an action in small bets and τ the temperature,

    π(a) ∝ base(a) · exp(Q(a) / τ).

Where two actions win the same it is the base, so that it stays an equilibrium's mixture wherever a
model says nothing of the opponent.

`action_values`: what given strategies win from a model after each action, in the same chain.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.poker.betting.betting import NO_FOLD, PublicNodes, row_of
from counterplay.poker.holdem.bucket_pairs import (
    PairChance,
    fill_policy_values,
    mean_over_cards,
    pair_chance,
)

FLOOR = 2e-3  # of uniform play in the base, so that no action is out of reach


@jit
def fill_reach(
    nodes: PublicNodes,
    first_row: np.ndarray,
    first: np.ndarray,
    own: np.ndarray,
    replier: int,
    chance: PairChance,
    reach: np.ndarray,
) -> None:
    """Fills `reach` (float64[n, b²]) with the probability of each pair of buckets at each public
    node where a player acts, if the replier plays to get there."""
    b = index(chance.buckets)
    pairs = b * b
    reach[:] = 0.0
    for p in range(pairs):
        reach[ZERO, p] = chance.first[p]
    for node in range(index(len(nodes.player))):
        player = nodes.player[node]
        low, high = index(nodes.first_child[node]), index(nodes.first_child[node + ONE])
        if player < 0:
            continue
        for p in range(pairs):
            mass = reach[node, p]
            if mass == 0.0:
                continue
            bucket = p // b if player == 0 else p % b
            slot = index(first[index(row_of(first_row, node, np.int64(bucket)))])
            for c in range(low, high):
                if nodes.player[c] < 0:
                    continue
                share = mass if player == replier else mass * own[slot + c - low]
                if nodes.street[c] == nodes.street[node]:
                    reach[c, p] += share
                elif share > 0.0:
                    step = chance.step[index(nodes.street[node])]
                    for q in range(pairs):
                        reach[c, q] += share * step[p, q]


@jit
def fill_action_values(
    nodes: PublicNodes,
    seat: int,
    chance: PairChance,
    reach: np.ndarray,
    value: np.ndarray,
    out: np.ndarray,
) -> None:
    """Fills `out` (float64[n, b]) at each public node that an action of a seat leads to with what
    it wins from then on, for each bucket of its own before the action. `reach`: of the opponent's
    strategy (`fill_reach`); `value`: float64[n, b²], of player 1, before cards are dealt."""
    b, sign = index(chance.buckets), 1.0 if seat == 0 else -1.0
    for node in range(index(len(nodes.player))):
        if nodes.player[node] != seat:
            continue
        for mine in range(b):
            for c in range(index(nodes.first_child[node]), index(nodes.first_child[node + ONE])):
                mass, won = 0.0, 0.0
                for other in range(b):
                    pair = mine * b + other if seat == 0 else other * b + mine
                    mass += reach[node, pair]
                    won += reach[node, pair] * value[c, pair]
                out[c, mine] = sign * won / mass if mass > 0.0 else 0.0


def action_values(
    game: Game, strategies: Sequence[np.ndarray], model: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Returns what k strategies (probabilities by slot) win from a model: float64[n, b, k], after
    the action that leads to each public node, in the seat of whoever acts, by the bucket; and
    float64[k], per hand, a mean over both seats."""
    chance, form = pair_chance(game), game.form
    shape = form.n_nodes, chance.buckets**2
    out = np.zeros((len(strategies), form.n_nodes, chance.buckets))
    won, value, reach = np.zeros(len(strategies)), np.empty(shape), np.empty(shape)
    for seat in (0, 1):
        fill_reach(form.nodes, form.first_row, form.first, model, seat, chance, reach)
        for k, own in enumerate(strategies):
            pair = (own, model) if seat == 0 else (model, own)
            fill_policy_values(game, *pair, chance, value, value)
            fill_action_values(form.nodes, seat, chance, reach, value, out[k])
            won[k] += (0.5 - seat) * float(chance.first @ value[0])
    return np.ascontiguousarray(out.transpose(1, 2, 0)), won


class ModelMixture(NamedTuple):
    """h strategies, one of which the opponent plays: n public nodes, b² pairs of buckets."""

    policy: np.ndarray  # float64[h, slots]
    weight: np.ndarray  # float64[h]
    reach: np.ndarray  # float64[h, n, b²]: of `fill_reach`
    value: np.ndarray  # float64[h, n, b²]: what the reply wins from each strategy
    before: np.ndarray  # float64[h, n, b²]: the same before the cards of the street are dealt


class Reply(NamedTuple):
    """Who replies, and how."""

    seat: int
    base: np.ndarray  # float64[slots]
    temperature: float  # sb; 0: the best action, whatever the base
    policy: np.ndarray  # float64[slots]: the reply
    wins: np.ndarray  # float64[3]: workspace, of each action


@jit(inner=True)
def _after(
    nodes: PublicNodes, mixture: ModelMixture, h: int, node: int, c: int, pair: int
) -> float:
    """What the reply wins from strategy h after the action that leads from `node` to c."""
    if nodes.player[c] >= 0 and nodes.street[c] != nodes.street[node]:
        return float(mixture.before[h, c, pair])
    return float(mixture.value[h, c, pair])


@jit(inner=True)
def _choose(
    nodes: PublicNodes, mixture: ModelMixture, reply: Reply, buckets: int, node: int, mine: int,
    slot: int,
) -> None:  # fmt: skip
    """Fills the probabilities of the reply at a node, for one bucket."""
    b, wins, mass, most = index(buckets), reply.wins, 0.0, -np.inf
    low, high = index(nodes.first_child[node]), index(nodes.first_child[node + ONE])
    wins[:] = 0.0
    for h in range(index(len(mixture.weight))):
        for other in range(b):
            pair = mine * b + other if reply.seat == 0 else other * b + mine
            weight = mixture.weight[h] * mixture.reach[h, node, pair]
            mass += weight
            for c in range(low, high):
                wins[c - low] += weight * _after(nodes, mixture, h, node, c, pair)
    for a in range(high - low):
        wins[a] = wins[a] / mass if mass > 0.0 else 0.0
        most = max(most, wins[a])
    total = 0.0
    for a in range(high - low):
        if reply.temperature > 0.0:
            share = reply.base[slot + a] * np.exp((wins[a] - most) / reply.temperature)
        else:
            share = 1.0 if wins[a] == most and total == 0.0 else 0.0
        reply.policy[slot + a] = share
        total += share
    for a in range(high - low):
        reply.policy[slot + a] /= total


@jit
def fill_replies(
    nodes: PublicNodes,
    starts_street: np.ndarray,
    first_row: np.ndarray,
    first: np.ndarray,
    mixture: ModelMixture,
    reply: Reply,
    chance: PairChance,
) -> None:
    """Fills `reply.policy`, and `value` and `before` of the mixture (as in `fill_values`) with what
    the replier wins by it."""
    b, hypotheses = index(chance.buckets), index(len(mixture.weight))
    sign = 1.0 if reply.seat == 0 else -1.0
    node = index(len(nodes.player))
    while node > ZERO:
        node -= ONE
        player, folded = nodes.player[node], nodes.folded[node]
        low, high = index(nodes.first_child[node]), index(nodes.first_child[node + ONE])
        if player < 0:
            for p in range(b * b):
                won = chance.showdown[p] if folded == NO_FOLD else (-1.0 if folded == 0 else 1.0)
                for h in range(hypotheses):
                    mixture.value[h, node, p] = sign * nodes.stake[node] * won
            continue
        for mine in range(b):  # the bucket of whoever acts
            slot = index(first[index(row_of(first_row, node, np.int64(mine)))])
            if player == reply.seat:
                _choose(nodes, mixture, reply, chance.buckets, node, mine, slot)
            for h in range(hypotheses):
                policy = reply.policy if player == reply.seat else mixture.policy[h]
                for other in range(b):
                    p = mine * b + other if player == 0 else other * b + mine
                    total = 0.0
                    for c in range(low, high):
                        total += policy[slot + c - low] * _after(nodes, mixture, h, node, c, p)
                    mixture.value[h, node, p] = total
        street = nodes.street[node]
        if street > 0 and starts_street[node]:
            for h in range(hypotheses):
                mean_over_cards(chance, street, mixture.value[h, node], mixture.before[h, node])


def _reply(
    game: Game, models: np.ndarray, weights: np.ndarray, base: np.ndarray, temperature: float
) -> tuple[np.ndarray, float]:
    """The reply in both seats (probabilities by slot), and what it wins per hand."""
    chance, form = pair_chance(game), game.form
    street = form.nodes.street
    starts = street != street[game.rules.tree.parent]
    shape, policy, won = (len(weights), form.n_nodes, chance.buckets**2), base.copy(), 0.0
    rows = form.first_row, form.first
    for seat in (0, 1):
        mixture = ModelMixture(models, weights, np.zeros(shape), np.zeros(shape), np.zeros(shape))
        for model, reach in zip(models, mixture.reach, strict=True):
            fill_reach(form.nodes, *rows, model, seat, chance, reach)
        reply = Reply(seat, base, float(temperature), policy, np.zeros(3))
        fill_replies(form.nodes, starts, *rows, mixture, reply, chance)
        won += 0.5 * float(weights @ (mixture.value[:, 0] @ chance.first))
    return policy, won


def reply_value(game: Game, own: np.ndarray) -> float:
    """Returns what the reply wins per hand from a strategy (probabilities by slot), a mean over
    both seats: approximately, and less than a best response."""
    return _reply(game, own[None], np.ones(1), own, 0.0)[1]


def soft_reply(
    game: Game,
    models: Sequence[np.ndarray],
    weights: np.ndarray,
    base: np.ndarray,
    temperature: float,
) -> np.ndarray:
    """Returns the reply of both seats to a mixture of strategies: probabilities by slot. It departs
    from `base`; at a `temperature` of 0 sb it is the best one."""
    weights = np.asarray(weights, dtype=np.float64) / np.sum(weights)
    actions = np.diff(game.form.first)
    base = (1.0 - FLOOR) * base + FLOOR * np.repeat(1.0 / actions, actions)
    return _reply(game, np.stack(models), weights, base, temperature)[0]
