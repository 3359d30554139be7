"""Inference of hidden cards: Bayes' rule over all 1,326 holdings.

Cards are revealed at showdowns only, so they are missing exactly when a player folded. E step: the
actions of a hand with hidden cards are distributed over the holdings by the prior (uniform, with
card removal for the board) times the model's probability of the actions. M step: the model is
learnt again from the expected counts. Between steps `learn_model` smooths the counts, so the
likelihood may decrease slightly.
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

#: Hands are divided into a fixed number of chunks, so that sums do not depend on the number of
#: cores.
CHUNKS = 4


class Inference(NamedTuple):
    """Observations as kernel input: n decisions in h hands."""

    start: np.ndarray  # int64[h + 1]: first decision of each hand
    first: np.ndarray  # int64[n]: first information set of the decision
    action: np.ndarray  # int64[n]
    street: np.ndarray  # int64[n]
    cards: np.ndarray  # int64[n, 2]
    board: np.ndarray  # int64[n, 5]
    slot_of: np.ndarray  # int64[m, 3]


class InferenceWorkspace(NamedTuple):
    """The range of the player in one hand."""

    weight: np.ndarray  # float64[1326]
    bucket: np.ndarray  # int64[4, 1326]
    deal: Deal
    holdings: np.ndarray  # int64[1326, 2]


def prepare(observations: Observations, game: Game, slot_of: np.ndarray) -> Inference:
    form = game.form
    hands = np.flatnonzero(np.diff(observations.hand, prepend=-1))
    return Inference(
        np.append(hands, len(observations.node)).astype(np.int64),
        row_of(form.first_row, observations.node, 0).astype(np.int64),
        observations.action.astype(np.int64),
        form.nodes.street[observations.node].astype(np.int64),
        observations.cards.astype(np.int64),
        observations.board.astype(np.int64),
        np.ascontiguousarray(slot_of),
    )


def new_inference_workspace() -> InferenceWorkspace:
    return InferenceWorkspace(
        np.zeros(N_HOLDINGS),
        np.zeros((4, N_HOLDINGS), dtype=np.int64),
        new_deal(),
        HOLDING_CARDS.astype(np.int64),
    )


@jit(inner=True)
def _weigh(
    data: Inference, low: int, high: int, policy: np.ndarray, work: InferenceWorkspace
) -> float:
    """Fills `work.weight` with the joint probability of each holding and the actions; returns their
    sum."""
    total = 0.0
    for h in range(index(N_HOLDINGS)):
        a, b = work.holdings[h, index(0)], work.holdings[h, index(1)]
        weight = 1.0
        for j in range(index(5)):
            card = data.board[index(low), j]
            if card in (a, b):
                weight = 0.0
        for k in range(index(low), index(high)):
            if weight > 0.0:
                infoset = row_of(data.first, k, work.bucket[index(data.street[k]), h])
                weight *= policy[index(data.slot_of[index(infoset), index(data.action[k])])]
        work.weight[h] = weight
        total += weight
    return total


@jit
def expected_counts(
    cards: Cards, data: Inference, policy: np.ndarray, work: InferenceWorkspace, counts: np.ndarray
) -> float:
    """Adds every decision to `counts`, distributed over the holdings where cards are hidden;
    returns the log likelihood of the hands with hidden cards."""
    likelihood, deck = 0.0, work.deal.deck
    for g in range(index(len(data.start) - 1)):
        low, high = data.start[g], data.start[g + index(1)]
        last = data.street[index(high - 1)]
        known = data.cards[index(low), index(0)] >= 0
        for j in range(index(5)):
            deck[index(FIRST_OF_BOARD) + j] = data.board[index(low), j]
        for r in range(last + 1):
            board = find_board(cards, work.deal, r)
            for h in range(index(1 if known else N_HOLDINGS)):
                for j in range(index(2)):
                    deck[j] = data.cards[index(low), j] if known else work.holdings[h, j]
                work.bucket[index(r), h] = bucket_of(cards, work.deal, board, 0, r)
        total = 1.0 if known else _weigh(data, low, high, policy, work)
        if known:
            work.weight[index(0)] = 1.0
        elif total > 0.0:
            likelihood += np.log(total / N_HOLDINGS)
        else:
            continue  # impossible under the model
        for h in range(index(1 if known else N_HOLDINGS)):
            share = work.weight[h] / total
            if share > 0.0:
                for k in range(index(low), index(high)):
                    infoset = row_of(data.first, k, work.bucket[index(data.street[k]), h])
                    counts[index(data.slot_of[index(infoset), index(data.action[k])])] += share
    return likelihood


def infer_counts(
    observations: Observations, game: Game, slot_of: np.ndarray, policy: np.ndarray
) -> tuple[np.ndarray, float]:
    """float64[slots]: expected number of observations of each action under `policy`, and the log
    likelihood of the hands with hidden cards."""
    data, cards = prepare(observations, game, slot_of), game.form.cards
    hands = len(data.start) - 1
    borders = [hands * k // CHUNKS for k in range(CHUNKS + 1)]

    def chunk(k: int) -> tuple[np.ndarray, float]:
        counts = np.zeros(game.n_slots)
        part = data._replace(start=data.start[borders[k] : borders[k + 1] + 1])
        return counts, float(
            expected_counts(cards, part, policy, new_inference_workspace(), counts)
        )

    with ThreadPoolExecutor(cores()) as pool:
        chunks = list(pool.map(chunk, range(CHUNKS)))
    counts, likelihoods = zip(*chunks, strict=True)
    return np.sum(counts, axis=0), sum(likelihoods)
