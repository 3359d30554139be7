"""All 1,326 holdings on one board: card removal, buckets, hand strengths, the action probabilities
of a player given as a `Table`, and the best response of one holding to it.

`BestActionSearch`: the opponent's holdings are weighted by the probability with which its strategy
reaches the decision. From a decision on, every holding of the opponent is followed at once; where
next cards are dealt, all of them or a sample are averaged.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.evaluation.estimate import half_width
from counterplay.poker.betting.betting import ACTIONS, LIMIT, NO_FOLD, BettingTree, betting_tree
from counterplay.poker.cards import strength
from counterplay.poker.cards.canonical import SIZES, flop_number, permute_suit
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import remembers
from counterplay.poker.cards.evaluator import strengths_of_hands
from counterplay.poker.cards.strength import FLOP_TOTAL, PREFLOP_TOTAL, RIVER_TOTAL, TURN_TOTAL
from counterplay.poker.holdem.table import Table

BOARD_SIZE = (0, 3, 4, 5)
TOTALS = (PREFLOP_TOTAL, FLOP_TOTAL, TURN_TOTAL, RIVER_TOTAL)
_CARDS = HOLDING_CARDS.astype(np.int64)


class CanonicalBoard(NamedTuple):
    """A board as the tables know it: up to a permutation of the suits."""

    street: int
    number: int  # of the canonical board, flops before turns before rivers; 0 before the flop
    pair: np.ndarray  # int64[1326]: each holding after the suit permutation
    free: np.ndarray  # bool[1326]: the holding shares no card with the board


@lru_cache(maxsize=256)
def canonical_board(board: tuple[int, ...]) -> CanonicalBoard:
    """Returns the canonical form of a board of 0, 3, 4 or 5 cards."""
    street = BOARD_SIZE.index(len(board))
    if street == 0:
        return CanonicalBoard(0, 0, np.arange(N_HOLDINGS), np.ones(N_HOLDINGS, dtype=bool))
    links = strength.board_links()
    link = int(links.flops[flop_number(*board[:3])])
    suits = [permute_suit(suit, link & 255) for suit in range(4)]
    for card in board[3:]:
        link = int(links.next_boards[link >> 8, (card & ~3) | suits[card & 3]])
        suits = [permute_suit(suit, link & 255) for suit in suits]
    permuted = (_CARDS & ~3) | np.array(suits, dtype=np.int64)[_CARDS & 3]
    low, high = permuted.min(axis=1), permuted.max(axis=1)
    blocked = np.isin(_CARDS, board).any(axis=1)
    return CanonicalBoard(street, link >> 8, high * (high - 1) // 2 + low, np.logical_not(blocked))


def _buckets_on(cards: Any, board: CanonicalBoard, before: np.ndarray) -> np.ndarray:
    """int64[1326]: the bucket of every holding in a card abstraction; any number where the board
    blocks the holding. `before`: buckets on the street before, which matter with perfect recall."""
    recall = remembers(cards)
    if board.street == 0:
        buckets = cards.preflop[board.pair]
    elif board.street < 3:
        entry = cards.early[board.number, board.pair]
        buckets = cards.turn_after[before, entry] if recall and board.street == 2 else entry
    else:
        entry = cards.river_entry[board.number - len(cards.early), board.pair]
        buckets = cards.river[before, entry] if recall else cards.river[entry]
    return np.asarray(buckets).astype(np.int64)


def strengths_on(board: CanonicalBoard) -> np.ndarray:
    """float64[1326]: expected hand strength, the probability of winning a showdown against a
    random holding over all boards to come."""
    counts = strength.strengths()
    if board.street == 0:
        row = counts.preflop
    else:
        first = sum(SIZES[size] for size in BOARD_SIZE[1 : board.street])
        row = (counts.flop, counts.turn, counts.river)[board.street - 1][board.number - first]
    shares: np.ndarray = row[board.pair].astype(np.float64) / TOTALS[board.street]
    return shares


def bucket_codes(table: Table, board: tuple[int, ...], street: int) -> np.ndarray:
    """int64[1326]: the code of each holding's buckets up to a street (`Table`)."""
    code = np.zeros(N_HOLDINGS, dtype=np.int64)
    for k in range(street + 1):
        buckets = _buckets_on(table.cards, canonical_board(board[: BOARD_SIZE[k]]), code)
        code = code * int(table.carry[k]) + buckets
    return code


def action_probabilities(table: Table, node: int, codes: np.ndarray) -> np.ndarray:
    """float64[1326, 3]: fold, call and raise of every holding at a public node."""
    probabilities: np.ndarray = table.policy[int(table.first_row[node]) + codes]
    return probabilities


def reach_of(
    tree: BettingTree, table: Table, path: list[int], player: int, board: tuple[int, ...]
) -> np.ndarray:
    """float64[1326]: the probability that a player makes its moves of `path` with each holding;
    0 where the board blocks it. The board may go on after the last node of `path`."""
    reach = canonical_board(board).free.astype(np.float64)
    for at, child in pairwise(path):
        if tree.nodes.player[at] == player:
            codes = bucket_codes(table, board, int(tree.nodes.street[at]))
            action = tree.actions[at][child - int(tree.nodes.first_child[at])]
            reach *= action_probabilities(table, at, codes)[:, ACTIONS.index(action)]
    return reach


class BestActionSearch:
    """Best-response values of the holding `own` in `seat` against `table`, in small bets.

    `path`: the public nodes of the hand so far. `samples`: by number of cards on the board, how
    many next cards are sampled, the same after all actions; all of them where it has no entry.
    Values are sums over the opponent's holdings, weighted, and count from the start of the hand.
    """

    def __init__(
        self,
        table: Table,
        seat: int,
        own: tuple[int, int],
        path: list[int],
        samples: dict[int, int],
    ) -> None:
        self._table, self._seat, self._own = table, seat, own
        self._path, self._samples = path, samples
        self._tree = betting_tree(LIMIT)
        self._codes: dict[tuple[tuple[int, ...], int], np.ndarray] = {}
        self._outcomes: dict[tuple[int, ...], np.ndarray] = {}
        self._rng = np.random.default_rng(1)
        self._next: dict[tuple[int, ...], list[int]] = {}  # sampled cards, by board
        self._values: dict[tuple[int, int], float] = {}  # of nodes after a card on the first board
        self._without: int | None = None  # the card on the first board that is left out
        self._start: tuple[int, tuple[int, ...]] = 0, ()  # the decision that is valued, its board

    def action_values(self, node: int, board: tuple[int, ...]) -> list[float]:
        """Returns the value of each legal action at a node of `seat`, from here on."""
        if (node, board) != self._start:
            self._start, self._values = (node, board), {}
        weight = self.reach(node, board)
        total, count = float(weight.sum()), len(self._tree.actions[node])
        if total <= 0:
            return [0.0] * count
        first = int(self._tree.nodes.first_child[node])
        paid = self._tree.states[node].paid[self._seat]
        return [self.value(first + k, board, weight) / total + paid for k in range(count)]

    def within(self, node: int, board: tuple[int, ...], one: int, other: int) -> float | None:
        """Half the 95% interval of the difference of the values of two actions, by leaving out one
        sampled next card at a time (the jackknife); None where no card is sampled."""
        if self._samples.get(len(board)) is None:
            return None
        self.action_values(node, board)
        found = []
        for card in self._next[board]:
            self._without = card
            values = self.action_values(node, board)
            found.append(values[one] - values[other])
        self._without = None
        n, apart = len(found), np.array(found) - np.mean(found)
        return half_width(float(np.sqrt((n - 1) / n * (apart @ apart))), n - 1)

    def reach(self, node: int, board: tuple[int, ...]) -> np.ndarray:
        """float64[1326]: probability that the opponent reaches `node` with each holding."""
        path = self._path[: self._path.index(node) + 1]
        weight = reach_of(self._tree, self._table, path, 1 - self._seat, board)
        weight[np.isin(_CARDS, self._own).any(axis=1)] = 0.0
        return weight

    def value(self, node: int, board: tuple[int, ...], weight: np.ndarray) -> float:
        """Returns the weighted value of a node when `seat` plays best from there on."""
        state = self._tree.states[node]
        if not state.over and state.on_board > len(board):
            return self._after_chance(node, board, weight)
        if state.over:
            stake = float(min(state.paid))
            if state.folded != NO_FOLD:
                return float(weight.sum()) * (-stake if state.folded == self._seat else stake)
            return stake * float(weight @ self._outcome(board))
        first = int(self._tree.nodes.first_child[node])
        names = self._tree.actions[node]
        if state.player() == self._seat:
            return max(self.value(first + k, board, weight) for k in range(len(names)))
        probabilities = self._probabilities(board, node)
        total = 0.0
        for k, name in enumerate(names):
            part = weight * probabilities[:, ACTIONS.index(name)]
            if part.any():
                total += self.value(first + k, board, part)
        return total

    def _probabilities(self, board: tuple[int, ...], node: int) -> np.ndarray:
        street = int(self._tree.nodes.street[node])
        if (board, street) not in self._codes:
            self._codes[board, street] = bucket_codes(self._table, board, street)
        return action_probabilities(self._table, node, self._codes[board, street])

    def _after_chance(self, node: int, board: tuple[int, ...], weight: np.ndarray) -> float:
        """The mean over the next cards, all or sampled."""
        left = [card for card in range(N_CARDS) if card not in board and card not in self._own]
        size, cards = self._samples.get(len(board)), left
        if size is not None:
            if board not in self._next:
                self._next[board] = self._rng.choice(left, size=size, replace=False).tolist()
            cards = self._next[board]
        if board != self._start[1]:
            total = sum(self._after_card(node, board, card, weight) for card in cards)
        else:
            cards = [card for card in cards if card != self._without]
            for card in cards:
                if (node, card) not in self._values:
                    self._values[node, card] = self._after_card(node, board, card, weight)
            total = sum(self._values[node, card] for card in cards)
        return total * len(left) / len(cards) / (N_CARDS - 4 - len(board))

    def _after_card(
        self, node: int, board: tuple[int, ...], card: int, weight: np.ndarray
    ) -> float:
        possible = weight.copy()
        possible[np.equal(_CARDS, card).any(axis=1)] = 0.0
        return self.value(node, (*board, card), possible)

    def _outcome(self, board: tuple[int, ...]) -> np.ndarray:
        """float64[1326]: +1 where the own holding wins the showdown, -1 where it loses."""
        if board not in self._outcomes:
            hands = np.empty((N_HOLDINGS + 1, 7), dtype=np.int64)
            hands[:, 2:] = board
            hands[:-1, :2], hands[-1, :2] = _CARDS, self._own
            out = np.empty(len(hands), dtype=np.int64)
            strengths_of_hands(hands, np.zeros(4, dtype=np.int64), out)
            self._outcomes[board] = np.sign(out[-1] - out[:-1]).astype(np.float64)
        return self._outcomes[board]
