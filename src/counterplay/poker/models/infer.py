"""What cards that were not shown may have been: Bayes' rule over all 1,326 holdings.

Cards are seen at showdowns only, so they are missing exactly when somebody folded. A holding that
the model would have played otherwise is unlikely; one that it would have folded is likely.
Expectation: each unseen hand is spread over its holdings by prior (every holding the board leaves)
times the model's probability of what was done. Maximisation: learn the model again from those
expected counts. Repeated, this is EM. Between steps `learn_model` smooths the counts, so the
likelihood may fall a little.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import index, jit
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction.abstraction import Cards
from counterplay.poker.betting.rows import row_of
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import FIRST_OF_BOARD, Deal, bucket_of, find_board, new_deal
from counterplay.poker.models.observe import Observations

#: Hands are divided into so many pieces, whatever the number of cores, so that sums are the same
#: bits everywhere.
PIECES = 4


class Inference(NamedTuple):
    """Observations made ready: n decisions in h hands."""

    start: np.ndarray  # int64[h + 1]: the decisions of a hand
    first: np.ndarray  # int64[n]: first information set of the decision
    action: np.ndarray  # int64[n]
    street: np.ndarray  # int64[n]
    cards: np.ndarray  # int64[n, 2]
    board: np.ndarray  # int64[n, 5]
    slot_of: np.ndarray  # int64[m, 3]


class Scratch(NamedTuple):
    weight: np.ndarray  # float64[1326]
    bucket: np.ndarray  # int64[4, 1326]
    chance: Deal
    holdings: np.ndarray  # int64[1326, 2]


def prepare(seen: Observations, game: Game, slot_of: np.ndarray) -> Inference:
    form = game.form
    hands = np.flatnonzero(np.diff(seen.hand, prepend=-1))
    return Inference(
        np.append(hands, len(seen.node)).astype(np.int64),
        row_of(form.first_row, seen.node, 0).astype(np.int64),
        seen.action.astype(np.int64),
        form.nodes.street[seen.node].astype(np.int64),
        seen.cards.astype(np.int64),
        seen.board.astype(np.int64),
        np.ascontiguousarray(slot_of),
    )


def new_scratch() -> Scratch:
    return Scratch(
        np.zeros(N_HOLDINGS),
        np.zeros((4, N_HOLDINGS), dtype=np.int64),
        new_deal(),
        HOLDING_CARDS.astype(np.int64),
    )


@jit(inner=True)
def _weigh(data: Inference, low: int, high: int, policy: np.ndarray, scratch: Scratch) -> float:
    """Fill `scratch.weight` with the joint probability of each holding and what was done; their
    sum."""
    total = 0.0
    for h in range(index(N_HOLDINGS)):
        a, b = scratch.holdings[h, index(0)], scratch.holdings[h, index(1)]
        weight = 1.0
        for j in range(index(5)):
            card = data.board[index(low), j]
            if card in (a, b):
                weight = 0.0
        for k in range(index(low), index(high)):
            if weight > 0.0:
                infoset = row_of(data.first, k, scratch.bucket[index(data.street[k]), h])
                weight *= policy[index(data.slot_of[index(infoset), index(data.action[k])])]
        scratch.weight[h] = weight
        total += weight
    return total


@jit
def expected_counts(
    cards: Cards,
    data: Inference,
    policy: np.ndarray,
    scratch: Scratch,
    counts: np.ndarray,
) -> float:
    """Add every decision to `counts`, unseen hands spread over their holdings; the log
    likelihood of the unseen ones."""
    likelihood, deck = 0.0, scratch.chance.deck
    for g in range(index(len(data.start) - 1)):
        low, high = data.start[g], data.start[g + index(1)]
        last = data.street[index(high - 1)]
        seen = data.cards[index(low), index(0)] >= 0
        for j in range(index(5)):
            deck[index(FIRST_OF_BOARD) + j] = data.board[index(low), j]
        for r in range(last + 1):
            board = find_board(cards, scratch.chance, r)
            for h in range(index(1 if seen else N_HOLDINGS)):
                for j in range(index(2)):
                    deck[j] = data.cards[index(low), j] if seen else scratch.holdings[h, j]
                scratch.bucket[index(r), h] = bucket_of(cards, scratch.chance, board, 0, r)
        total = 1.0 if seen else _weigh(data, low, high, policy, scratch)
        if seen:
            scratch.weight[index(0)] = 1.0
        elif total > 0.0:
            likelihood += np.log(total / N_HOLDINGS)
        else:
            continue  # the model says this cannot happen; such hands teach nothing
        for h in range(index(1 if seen else N_HOLDINGS)):
            share = scratch.weight[h] / total
            if share > 0.0:
                for k in range(index(low), index(high)):
                    infoset = row_of(data.first, k, scratch.bucket[index(data.street[k]), h])
                    counts[index(data.slot_of[index(infoset), index(data.action[k])])] += share
    return likelihood


def infer_counts(
    seen: Observations, game: Game, slot_of: np.ndarray, policy: np.ndarray
) -> tuple[np.ndarray, float]:
    """float64[slots]: expected observations of each action under `policy`, and the log
    likelihood of the unseen hands."""
    data, cards = prepare(seen, game, slot_of), game.form.cards
    hands = len(data.start) - 1
    borders = [hands * k // PIECES for k in range(PIECES + 1)]

    def piece(k: int) -> tuple[np.ndarray, float]:
        counts = np.zeros(game.n_slots)
        part = data._replace(start=data.start[borders[k] : borders[k + 1] + 1])
        return counts, float(expected_counts(cards, part, policy, new_scratch(), counts))

    with ThreadPoolExecutor(cores()) as pool:
        found = list(pool.map(piece, range(PIECES)))
    return np.sum([counts for counts, _ in found], axis=0), sum(
        likelihood for _, likelihood in found
    )
