"""`SpotGame`: the form that sampling kernels and matches play on.

Holdings are drawn from the ranges and the rest of the board from the deck, all at the start of a
hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.core.forms import access
from counterplay.core.forms.access import answers
from counterplay.core.kernels.jit import ONE, ZERO, index, jit
from counterplay.core.kernels.rng import uniform
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.cards.evaluator import strength_of_masks
from counterplay.poker.spots.betting import DECISION, FOLD, ONWARD
from counterplay.poker.spots.cards import pair_weights
from counterplay.poker.spots.columns import (
    CHILD,
    INFOSET,
    KIND,
    LEVEL,
    LOCAL,
    NEXT,
    NEXT_CARD,
    PLAYER,
    SUITS,
)
from counterplay.poker.spots.layout import SpotLayout
from counterplay.poker.spots.showdowns import KernelSide

TERMINAL = -1
_LEVELS = 3
_HOLDING, _BOARD = 0, 2 * _LEVELS  # positions in `Dealt.number`: by level
_SIZE = 3 * _LEVELS


class SpotGame(NamedTuple):
    """n nodes, m information sets."""

    nodes: np.ndarray  # int64[n, columns]
    boards: np.ndarray  # int64[b, columns]
    dealt: np.ndarray  # int64[b, 5]: the cards of each board
    payoff: np.ndarray  # float64[n, 2, 3]
    one: KernelSide
    two: KernelSide
    levels: int
    share: np.ndarray  # float64[holdings]: player 1's cumulative probabilities
    weight: np.ndarray  # float64[holdings]: player 2's cumulative weights
    first: np.ndarray  # int[m + 1]
    owner: np.ndarray  # int8[m]
    passive: np.ndarray  # int16[m]

    @property
    def n_nodes(self) -> int:
        """Number of public nodes, without boards."""
        return len(self.nodes)


class Dealt(NamedTuple):
    """One hand: each level's holdings, as they are on the board that is traversed, and boards."""

    number: np.ndarray  # int64[9]


def spot_game(layout: SpotLayout) -> SpotGame:
    one, two = layout.sides
    owner, passive = [], []
    for player in (0, 1):
        for k, _, (boards, _, holdings) in layout.blocks(player):
            many = boards * holdings
            owner.append(np.full(many, player, dtype=np.int8))
            passive.append(np.full(many, layout.named.actions[k][0] == "fold", dtype=np.int16))
    share = np.cumsum(pair_weights(one, two))
    return SpotGame(
        layout.form.nodes,
        layout.boards.columns,
        layout.boards.dealt,
        layout.tree.payoff,
        one.kernel,
        two.kernel,
        len(layout.boards.first) - 1,
        share / share[-1],
        np.cumsum(two.weight),
        layout.first_slots(),
        np.concatenate(owner),
        np.concatenate(passive),
    )


@answers(access.chance_buffer, SpotGame)
def _chance_buffer(form: Any) -> Any:
    return np.zeros(_SIZE, dtype=np.int64)


@answers(access.lane_buffer, SpotGame)
def _lane_buffer(form: Any, many: int) -> Any:
    return np.zeros(many * _SIZE, dtype=np.int64)


@answers(access.chance_workspace, SpotGame)
def _chance_on(form: Any, buffer: Any) -> Any:
    return Dealt(buffer if len(buffer) == _SIZE else buffer.reshape(-1, _SIZE))


@answers(access.lane_chance, SpotGame)
def _chance_in(form: Any, chance: Any, lane: Any) -> Any:
    return Dealt(chance.number[lane])


@jit(inner=True)
def _find(cumulative: np.ndarray, u: float) -> int:
    """Returns the first position whose cumulative number is above u."""
    low, high = ZERO, index(len(cumulative)) - ONE
    while low < high:
        middle = (low + high) >> ONE
        if cumulative[middle] > u:
            high = middle
        else:
            low = middle + ONE
    return low


@jit(inner=True)
def _holds(side: KernelSide, h: Any, card: Any) -> bool:
    return bool(side.cards[h, 0] == card or side.cards[h, 1] == card)


@jit(inner=True)
def _draw(form: SpotGame, number: np.ndarray, rng: np.ndarray) -> None:
    one, two, boards = form.one, form.two, form.boards
    mine, last = _find(form.share, uniform(rng)), form.weight[index(len(form.weight)) - ONE]
    other = mine
    while True:
        other = _find(form.weight, uniform(rng) * last)
        if not (_holds(one, mine, two.cards[other, 0]) or _holds(one, mine, two.cards[other, 1])):
            break
    number[index(_HOLDING)], number[index(_HOLDING + 1)] = mine, other
    number[index(_BOARD)] = 0
    board = ZERO
    for level in range(index(form.levels) - ONE):
        while True:  # holdings are as on the board that is traversed, and so is the card
            card = min(index(uniform(rng) * N_CARDS), index(N_CARDS - 1))
            free = boards[board, index(NEXT_CARD) + card] >= 0
            if free and not (_holds(one, mine, card) or _holds(two, other, card)):
                break
        g = index(boards[board, index(SUITS) + card])
        mine, other = index(one.image[g, mine]), index(two.image[g, other])
        board = index(boards[board, index(NEXT_CARD) + card])
        at = index(_HOLDING) + (level + ONE) * index(2)
        number[at], number[at + ONE] = mine, other
        number[index(_BOARD) + level + ONE] = board


@jit(inner=True)
def _settled(form: SpotGame, node: Any) -> Any:
    """The next node after `node` at which someone acts or the hand is over."""
    while form.nodes[node, KIND] == ONWARD:
        node = index(form.nodes[node, NEXT])
    return node


@answers(access.start, SpotGame)
def _start(form: Any, chance: Any, rng: Any) -> Any:
    _draw(form, chance.number, rng)
    return _settled(form, ZERO)


@answers(access.start_lane, SpotGame)
def _start_in(form: Any, chance: Any, lane: Any, rng: Any) -> Any:
    _draw(form, chance.number[lane], rng)
    return _settled(form, ZERO)


@answers(access.prefetch_node, SpotGame)
def _ask_node(form: Any, chance: Any, node: Any) -> Any:
    return None  # the betting tree stays in the cache


@answers(access.child, SpotGame)
def _child(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    return _settled(form, index(form.nodes[node, CHILD]) + action)


@answers(access.player_at, SpotGame)
def _player_at(form: Any, chance: Any, node: Any) -> Any:
    return form.nodes[node, PLAYER] if form.nodes[node, KIND] == DECISION else TERMINAL


@jit(inner=True)
def _infoset(form: SpotGame, number: np.ndarray, node: Any) -> Any:
    level, player = index(form.nodes[node, LEVEL]), index(form.nodes[node, PLAYER])
    holding = index(number[index(_HOLDING) + index(2) * level + player])
    board = index(form.boards[index(number[index(_BOARD) + level]), LOCAL])
    many = index(len(form.one.cards) if player == ZERO else len(form.two.cards))
    return index(form.nodes[node, INFOSET]) + board * many + holding


@answers(access.infoset_at, SpotGame)
def _infoset_at(form: Any, chance: Any, node: Any) -> Any:
    return _infoset(form, chance.number, node)


@answers(access.lane_infoset, SpotGame)
def _infoset_in(form: Any, chance: Any, lane: Any, node: Any) -> Any:
    return _infoset(form, chance.number[lane], node)


@jit(inner=True)
def _strength(side: KernelSide, h: Any, board: Any) -> int:
    """Returns the strength of a holding on a board of the river."""
    packed = np.int64(0)
    for k in range(index(7)):
        card = side.cards[h, k] if k < index(2) else board[k - index(2)]
        packed |= np.int64(1) << (((card & 3) << 4) + (card >> 2))
    ranks = (1 << 13) - 1
    return int(
        strength_of_masks(
            packed & ranks, packed >> 16 & ranks, packed >> 32 & ranks, packed >> 48 & ranks
        )
    )


@answers(access.utility, SpotGame)
def _utility(form: Any, chance: Any, node: Any, player: Any) -> Any:
    if form.nodes[node, KIND] == FOLD:
        return form.payoff[node, index(player), 0]
    level = index(form.levels) - ONE
    at = index(_HOLDING) + index(2) * level
    board = form.dealt[index(chance.number[index(_BOARD) + level])]
    mine = _strength(form.one, index(chance.number[at]), board)
    other = _strength(form.two, index(chance.number[at + ONE]), board)
    ahead = (1 if mine > other else 0) - (1 if mine < other else 0)
    if player != 0:
        ahead = -ahead
    return form.payoff[node, index(player), index(ahead + 1)]
