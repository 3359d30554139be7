"""The value of each action at a decision of hold'em, estimated by rollouts: hands are dealt from
both players' ranges at the decision and played to their ends as their tables say, once after each
action on the same cards.

For decisions before the turn; from the turn on `poker/holdem/action_values.py` is exact. Values are
those of the player who acts, in small bets, from the decision on, as there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.core.kernels.rng import new_state, uniform
from counterplay.poker.betting.betting import BettingTree, PublicNodes
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import N_DEALT, new_deal
from counterplay.poker.holdem.holdings import reach_of
from counterplay.poker.holdem.table import Table
from counterplay.poker.match.deals import HandWorkspace, play_hand
from counterplay.poker.match.luck_adjustment import is_dealt
from counterplay.poker.models.quality import NORMAL_95

SEED = 7
ROUNDS = 40  # of drawing pairs of holdings, some of which share a card


class RolloutValues(NamedTuple):
    """Values of k actions, and the covariance of these estimates."""

    actions: list[str]
    value: np.ndarray  # float64[k]
    covariance: np.ndarray  # float64[k, k]

    def within(self, one: int, other: int | None = None) -> float:
        """Half the 95% interval of an action's value, or of the difference of two values."""
        c = self.covariance
        variance = c[one, one]
        if other is not None:
            variance += c[other, other] - 2 * c[one, other]
        return float(NORMAL_95 * np.sqrt(max(variance, 0.0)))


@jit
def play_rollouts(
    nodes: PublicNodes,
    one: Table,
    two: Table,
    start: int,
    known: int,
    cards: np.ndarray,
    hand: HandWorkspace,
    won: np.ndarray,
) -> None:
    """Fills `won` (float64[n, k]) with the payoff of player 1 after each action at the node
    `start`. `cards`: int64[n, 9], of which the first `known` are dealt, the others drawn."""
    deck = hand.chance.deck
    for j in range(index(len(cards))):
        for place in range(index(N_DEALT)):
            card = cards[j, place]
            while place >= index(known) and is_dealt(hand.chance, card, place):
                card = min(np.int64(uniform(hand.rng) * N_CARDS), N_CARDS - 1)
            deck[place] = card
        first = index(nodes.first_child[index(start)])
        for child in range(first, index(nodes.first_child[index(start) + ONE])):
            payoff, _ = play_hand(nodes, one, two, child, hand.chance, hand.code, hand.rng)
            won[j, child - first] = payoff


def rollout_values(
    tree: BettingTree,
    own: Table,
    other: Table,
    path: list[int],
    board: tuple[int, ...],
    holding: int | None = None,
    deals: int = 100_000,
    seed: int = SEED,
) -> RolloutValues | None:
    """The values at the last node of `path`, the public nodes of the hand so far; `own`, `other`:
    what the player who acts and the opponent play; `holding`: of the player who acts, by default
    drawn from its range. None where the players never come here."""
    node, rng = path[-1], np.random.default_rng(seed)
    seat = int(tree.nodes.player[node])
    mine = reach_of(tree, own, path, seat, board)
    if holding is not None:
        mine = np.where(np.arange(N_HOLDINGS) == holding, 1.0, 0.0)
    theirs = reach_of(tree, other, path, 1 - seat, board)
    pairs = _draw_pairs(mine, theirs, deals, rng)
    if pairs is None:
        return None
    cards = np.full((deals, N_DEALT), -1, dtype=np.int64)
    cards[:, 2 * seat : 2 * seat + 2] = HOLDING_CARDS[pairs[0]]
    cards[:, 2 - 2 * seat : 4 - 2 * seat] = HOLDING_CARDS[pairs[1]]
    known = 4 + len(board)
    cards[:, 4:known] = board
    cards[:, known:] = cards[:, :1]  # a card that is dealt: another one is drawn
    names = list(tree.actions[node])
    won = np.empty((deals, len(names)))
    tables = (own, other) if seat == 0 else (other, own)
    hand = HandWorkspace(new_deal(), np.zeros(2, dtype=np.int64), new_state(seed))
    play_rollouts(tree.nodes, *tables, node, known, cards, hand, won)
    gained = (won if seat == 0 else -won) + tree.states[node].paid[seat]
    return RolloutValues(names, gained.mean(axis=0), np.cov(gained.T) / deals)


def _draw_pairs(
    one: np.ndarray, two: np.ndarray, n: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray] | None:
    """n pairs of holdings that share no card, in proportion to the product of their weights; None
    where there is no such pair."""
    if one.sum() <= 0 or two.sum() <= 0:
        return None
    kept: list[np.ndarray] = []
    for _ in range(ROUNDS):
        pairs = np.stack([_draw(weight, n, rng) for weight in (one, two)])
        a, b = HOLDING_CARDS[pairs[0]], HOLDING_CARDS[pairs[1]]
        apart = (a[:, :, None] != b[:, None, :]).all(axis=(1, 2))
        kept.append(pairs[:, apart])
        if sum(part.shape[1] for part in kept) >= n:
            both = np.concatenate(kept, axis=1)[:, :n]
            return both[0], both[1]
    return None


def _draw(weight: np.ndarray, n: int, rng: np.random.Generator) -> np.ndarray:
    """n holdings in proportion to their weights."""
    total = np.cumsum(weight)
    drawn: np.ndarray = np.searchsorted(total, rng.random(n) * total[-1], side="right")
    return drawn
