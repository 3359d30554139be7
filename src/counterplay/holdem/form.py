"""`BettingGame`: hold'em as a form for sampling kernels.

All cards are dealt at the start; buckets are looked up when a round is reached. An information set is a decision of the
betting tree and the acting player's bucket: `decision · buckets + bucket`.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.forms.access import answers, child, infoset_at, new_hand, player_at, start, utility
from counterplay.holdem.betting import NO_FOLD, BettingTree
from counterplay.holdem.boards import compose, flop_number, rename
from counterplay.holdem.buckets import Buckets, look_up
from counterplay.holdem.evaluator import strength_of_masks
from counterplay.holdem.tables import board_links
from counterplay.kernels.jit import ONE, ZERO, index, jit
from counterplay.kernels.prefetch import prefetch
from counterplay.kernels.rng import uniform

# Places in `hand` (int64): the deck with the dealt cards in front, then what was looked up.
N_DEALT = 9  # player 1's two cards, player 2's two, five of the board
BUCKET = 52  # hand[BUCKET + 2 * round + player], or UNKNOWN
SHOWDOWN = 60  # +1, 0 or -1: who wins at a showdown, for player 1; or UNKNOWN
MASK = 61  # four suit masks, scratch
BOARD = 65  # class of the board so far, in `_look_up` that of the round after
RENAMING = 66  # what each suit is called in that class, two bits each
PAIR = 67  # both players' holdings as they are called there
HAND_SIZE = 69
UNKNOWN = -9


class BettingGame(NamedTuple):
    """n public nodes, m information sets."""

    player: np.ndarray  # int8[n]
    first_child: np.ndarray  # int32[n + 1]
    round: np.ndarray  # int8[n]
    decision: np.ndarray  # int32[n]
    folded: np.ndarray  # int8[n]
    stake: np.ndarray  # float64[n]
    flops: np.ndarray  # int32[22100]: of `Links`
    next_boards: np.ndarray  # int32[18187, 52]: of `Links`
    preflop: np.ndarray  # uint8[1326]: buckets; uint16 where there are more than 256
    early: np.ndarray  # uint8[18187, 1326]: buckets on flops and turns
    river: np.ndarray  # uint8: bucket of an entry of the next
    river_count: (
        np.ndarray
    )  # uint8[134459, 1326]: buckets on rivers; counts where there are more than 256
    first: np.ndarray  # int32[m + 1]
    owner: np.ndarray  # int8[m]
    passive: np.ndarray  # int16[m]
    n_buckets: int

    @property
    def n_nodes(self) -> int:
        """Public nodes: betting sequences."""
        return len(self.player)

    @property
    def n_infosets(self) -> int:
        return len(self.owner)

    @property
    def n_slots(self) -> int:
        return int(self.first[-1])


def betting_game(tree: BettingTree, buckets: Buckets, n_buckets: int) -> BettingGame:
    """The form for n buckets a round."""
    counts = np.repeat(tree.action_count, n_buckets)
    first = np.zeros(len(counts) + 1, dtype=np.int32)
    np.cumsum(counts, out=first[1:])
    public = (tree.player, tree.first_child, tree.round, tree.decision, tree.folded, tree.stake)
    return BettingGame(
        *public,
        *board_links(),
        *look_up(buckets),
        first,
        np.repeat(tree.player[tree.node], n_buckets),
        np.repeat(tree.passive, n_buckets),
        n_buckets,
    )


@answers(new_hand, BettingGame)
def _new_hand(form: Any) -> Any:
    hand = np.full(HAND_SIZE, UNKNOWN, dtype=np.int64)
    hand[:52] = np.arange(52)
    return hand


@jit
def deal(hand: np.ndarray, rng: np.ndarray) -> None:
    """Nine random cards to the front of the deck, whatever order the rest is in; nothing looked up yet."""
    for k in range(index(N_DEALT)):
        left = index(52) - k
        other = k + min(index(uniform(rng) * left), left - ONE)
        hand[k], hand[other] = hand[other], hand[k]
    for k in range(index(BUCKET), index(MASK)):
        hand[k] = UNKNOWN


@jit
def _set_masks(hand: np.ndarray, low: int, high: int) -> None:
    """Add the cards in places low .. high - 1 to the suit masks."""
    for k in range(index(low), index(high)):
        hand[index(MASK) + index(hand[k] & 3)] |= 1 << (hand[k] >> 2)


@jit
def _clear_masks(hand: np.ndarray) -> None:
    for suit in range(index(4)):
        hand[index(MASK) + suit] = 0


@jit
def _pair(hand: np.ndarray, player: int, renamed: bool) -> int:
    """Number of a player's holding, its suits renamed as in the class of the board."""
    a, b = hand[index(2 * player)], hand[index(2 * player + 1)]
    if renamed:
        a, b = rename(a, hand[index(RENAMING)]), rename(b, hand[index(RENAMING)])
    a, b = min(a, b), max(a, b)
    return int(b * (b - 1) // 2 + a)


@jit
def find_board(flops: np.ndarray, next_boards: np.ndarray, hand: np.ndarray, rounds: int) -> int:
    """Class of the board of a round after the first, flops before turns before rivers; the rounds before it come first."""
    if rounds == 1:
        link = flops[index(flop_number(hand[index(4)], hand[index(5)], hand[index(6)]))]
        renaming = link & 255
    else:
        card = rename(hand[index(5 + rounds)], hand[index(RENAMING)])
        link = next_boards[index(hand[index(BOARD)]), index(card)]
        renaming = compose(hand[index(RENAMING)], link & 255)
    hand[index(BOARD)] = link >> 8
    hand[index(RENAMING)] = renaming
    return int(link >> 8)


@jit(inline=True)
def bucket_of(tables: Any, hand: np.ndarray, board: int, player: int, rounds: Any) -> Any:
    """A player's bucket of a round; `board`: the class that `find_board` has just found. `tables`: a form or a bot's table."""
    pair = index(_pair(hand, player, rounds > 0))
    if rounds == 0:
        bucket = tables.preflop[pair]
    elif rounds < 3:
        bucket = tables.early[index(board), pair]
    else:
        bucket = tables.river[index(tables.river_count[index(board - len(tables.early)), pair])]
    return bucket


@jit
def _look_up(form: Any, hand: np.ndarray, rounds: Any) -> None:
    """Fill both players' buckets of a round, and start loading those of the next: memory is slow, betting is not."""
    board = hand[index(BOARD)]
    for player in range(2):
        if rounds == 0:
            bucket = form.preflop[index(_pair(hand, player, False))]
        elif rounds < 3:
            bucket = form.early[index(board), index(hand[index(PAIR + player)])]
        else:
            count = form.river_count[
                index(board - len(form.early)), index(hand[index(PAIR + player)])
            ]
            bucket = form.river[index(count)]
        hand[index(BUCKET + 2 * rounds + player)] = bucket
    if rounds < 3:
        board = find_board(form.flops, form.next_boards, hand, rounds + 1)
        for player in range(2):
            pair = _pair(hand, player, True)
            hand[index(PAIR + player)] = pair
            if rounds < 2:
                prefetch(form.early, index(board), index(pair))
            else:
                prefetch(form.river_count, index(board - len(form.early)), index(pair))


@jit
def compare(hand: np.ndarray) -> None:
    """Who wins at a showdown, by the real cards."""
    first = 0
    for player in range(2):
        _clear_masks(hand)
        _set_masks(hand, 4, 9)
        _set_masks(hand, 2 * player, 2 * player + 2)
        value = strength_of_masks(hand[MASK], hand[MASK + 1], hand[MASK + 2], hand[MASK + 3])
        if player == 0:
            first = value
        else:
            hand[index(SHOWDOWN)] = (1 if first > value else 0) - (1 if first < value else 0)


@answers(start, BettingGame)
def _start(form: Any, hand: Any, rng: Any) -> Any:
    deal(hand, rng)
    return ZERO


@answers(child, BettingGame)
def _child(form: Any, hand: Any, node: Any, action: Any, rng: Any) -> Any:
    return index(form.first_child[node]) + action


@answers(player_at, BettingGame)
def _player_at(form: Any, hand: Any, node: Any) -> Any:
    return form.player[node]


@answers(infoset_at, BettingGame)
def _infoset_at(form: Any, hand: Any, node: Any) -> Any:
    rounds = np.int64(form.round[node])
    place = index(BUCKET + 2 * rounds + form.player[node])
    if hand[place] == UNKNOWN:
        _look_up(form, hand, rounds)
    return index(form.decision[node]) * index(form.n_buckets) + index(hand[place])


@answers(utility, BettingGame)
def _utility(form: Any, hand: Any, node: Any, player: Any) -> Any:
    stake = form.stake[node]
    folded = form.folded[node]
    if folded != NO_FOLD:
        won = -1 if folded == player else 1
    else:
        if hand[index(SHOWDOWN)] == UNKNOWN:
            compare(hand)
        won = hand[index(SHOWDOWN)] if player == 0 else -hand[index(SHOWDOWN)]
    return stake * won
