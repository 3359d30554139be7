"""From hand histories to observations: a player's action at each decision, the paper's five
features (Section 4.3.2), and the inference of hidden cards.

The features are the seat, the bets and raises of the hand so far, those of the street, those of the
modelled player, and the player's bucket where the cards are known. The first four belong to the
public node.

Hidden cards: Bayes' rule over all 1,326 holdings.
Cards are revealed at showdowns only, so they are missing exactly when a player folded. E step: the
actions of a hand with hidden cards are distributed over the holdings by the prior (uniform, with
card removal for the board) times the model's probability of the actions. M step: the model is
learnt again from the expected counts. Between steps `learn_model` smooths the counts, so the
likelihood may decrease slightly.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache, lru_cache
from typing import NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import index, jit
from counterplay.core.parallel.jobs import map_in_threads
from counterplay.core.parallel.processes import cores
from counterplay.poker.abstraction.abstraction import Cards
from counterplay.poker.betting.betting import (
    ACTIONS,
    RAISE,
    BettingRules,
    BettingTree,
    betting_tree,
    row_of,
)
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS
from counterplay.poker.cards.deal import (
    FIRST_OF_BOARD,
    Deal,
    bucket_of,
    find_board,
    new_deal,
    remembers,
)
from counterplay.poker.histories.records import RULES, HandRecord

FEATURES = ("seat", "bets", "bets_in_phase", "own_bets", "bucket")
UNSEEN = -1  # an unknown card or bucket
MAX_NAMES = 8  # in a message
#: Hands are divided into a fixed number of chunks, so that sums do not depend on the number of
#: cores.
CHUNKS = 4


class Observations(NamedTuple):
    """n decisions of one player, in the order of the hands."""

    node: np.ndarray  # int32[n]: of the betting tree
    action: np.ndarray  # int8[n]: 0 fold, 1 call, 2 raise
    cards: np.ndarray  # int16[n, 2]: hole cards, or UNSEEN
    board: np.ndarray  # int16[n, 5]: at the end of the hand, UNSEEN for cards not dealt
    hand: np.ndarray  # int32[n]: index of the hand

    def part(self, rows: np.ndarray) -> Observations:
        """A selection of rows."""
        return Observations(*(column[rows] for column in self))


class SeatDecisions(NamedTuple):
    """The d decisions of one seat in a hand."""

    node: np.ndarray  # int64[d]
    action: np.ndarray  # int64[d]: 0 fold, 1 call, 2 raise
    street: np.ndarray  # int64[d]
    cost: np.ndarray  # float64[d]: loss by folding there; NaN where folding is illegal


@lru_cache(maxsize=1 << 15)
def seat_decisions(rules: BettingRules, history: str, seat: int) -> SeatDecisions:
    """The decisions of a seat on the path to `history`."""
    tree = betting_tree(rules)
    rows: list[tuple[int, int, int, float]] = []
    node = 0
    for letter in history.replace("/", ""):
        state = tree.states[node]
        action = next(name for name in tree.actions[node] if name[0] == letter)
        if state.player() == seat:
            facing = state.paid[seat] < state.paid[1 - seat]
            cost = state.paid[seat] if facing else np.nan
            rows.append((node, ACTIONS.index(action), state.round, cost))
        node = tree.moves[node][action]
    table = np.array(rows).reshape(-1, 4)
    node_of, action_of, street = (
        np.ascontiguousarray(table[:, k], dtype=np.int64) for k in range(3)
    )
    return SeatDecisions(node_of, action_of, street, np.ascontiguousarray(table[:, 3]))


def observe(hands: Iterable[HandRecord], player: str) -> Observations:
    """Every decision of `player` in `hands`; hands of other players are skipped."""
    rows: list[tuple[int, int, int, int, int]] = []
    boards: list[tuple[int, ...]] = []
    names: set[str] = set()
    played = 0
    for hand in hands:
        names |= {hand.dealer, hand.big_blind}
        if player not in (hand.dealer, hand.big_blind):
            continue
        cards = hand.cards(player) or (UNSEEN, UNSEEN)
        board = hand.board + (UNSEEN,) * (5 - len(hand.board))
        decisions = seat_decisions(RULES, hand.betting, hand.seat(player))
        for node, action in zip(decisions.node.tolist(), decisions.action.tolist(), strict=True):
            rows.append((node, action, cards[0], cards[1], played))
            boards.append(board)
        played += 1
    if not rows:
        listed = ", ".join(sorted(names)[:MAX_NAMES]) or "no player"
        others = len(names) - MAX_NAMES
        why = listed + (f" and {others:,} more" if others > 0 else "") + " played"
        if played:
            why = f"the player was dealt {played:,} of them and never had to act"
        raise BadParameter(f"no decision of {player!r} in these hands; {why}")
    table = np.array(rows, dtype=np.int32)
    return Observations(
        np.ascontiguousarray(table[:, 0]),
        table[:, 1].astype(np.int8),
        table[:, 2:4].astype(np.int16),
        np.array(boards, dtype=np.int16),
        np.ascontiguousarray(table[:, 4]),
    )


@jit
def _fill_buckets(
    cards: Cards,
    own: np.ndarray,
    board: np.ndarray,
    street: np.ndarray,
    deal: Deal,
    out: np.ndarray,
) -> None:
    deck = deal.deck
    for k in range(index(len(street))):
        if own[k, index(0)] < 0:
            out[k] = UNSEEN
            continue
        deck[index(0)], deck[index(1)] = own[k, index(0)], own[k, index(1)]
        for j in range(index(5)):
            deck[index(FIRST_OF_BOARD) + j] = board[k, j]
        for s in range(street[k] + 1):
            row = find_board(cards, deal, s)
            if s == street[k] or remembers(cards):
                out[k] = bucket_of(cards, deal, row, 0, s, out[k])


def check_limit(game: Game) -> None:
    """Refuses a game with other betting rules than hand histories."""
    if game.can("hands") and game.rules.betting != RULES:
        raise BadParameter(f"hands are of the usual limit betting, and {game.name} has another")


def buckets_of(observations: Observations, game: Game) -> np.ndarray:
    """int32[n]: the player's bucket in the abstraction of a hold'em game, or UNSEEN."""
    if not game.can("hands"):
        raise BadParameter(f"models of hands are for hold'em, not for {game.name}")
    check_limit(game)
    out = np.empty(len(observations.node), dtype=np.int32)
    street = game.form.nodes.street[observations.node].astype(np.int64)
    own = np.ascontiguousarray(observations.cards)
    board = np.ascontiguousarray(observations.board)
    _fill_buckets(game.form.cards, own, board, street, new_deal(), out)
    return out


@cache
def node_features(tree: BettingTree) -> np.ndarray:
    """float64[nodes, 4]: the features of a public node for the player who acts there."""
    raised = np.zeros((len(tree.states), 2))  # by each player, up to the node
    for node, moves in enumerate(tree.moves):
        for action, child in moves.items():
            raised[child] = raised[node]
            raised[child, tree.nodes.player[node]] += action == RAISE
    seat = np.maximum(tree.nodes.player, 0)
    in_phase = [history.rsplit("/", 1)[-1].count("r") for history in tree.histories]
    own = raised[np.arange(len(seat)), seat]
    return np.column_stack([seat, raised.sum(axis=1), in_phase, own])


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


@jit(inner=True)
def _weigh(
    data: Inference, low: int, high: int, policy: np.ndarray, work: InferenceWorkspace
) -> float:
    """Fills `work.weight`, the joint probability of holding and actions; returns the sum."""
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
                before = work.bucket[index(max(r - 1, 0)), h]
                work.bucket[index(r), h] = bucket_of(cards, work.deal, board, 0, r, before)
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
    observations: Observations, game: Game, policy: np.ndarray
) -> tuple[np.ndarray, float]:
    """float64[slots]: expected number of observations of each action under `policy`, and the log
    likelihood of the hands with hidden cards."""
    form, node = game.form, observations.node
    starts = np.flatnonzero(np.diff(observations.hand, prepend=-1))
    arrays = (
        np.append(starts, len(node)),
        row_of(form.first_row, node, 0),
        observations.action,
        form.nodes.street[node],
        observations.cards,
        observations.board,
        game.rules.slots(),
    )
    data = Inference(*(np.ascontiguousarray(array, dtype=np.int64) for array in arrays))
    hands = len(starts)
    borders = [hands * k // CHUNKS for k in range(CHUNKS + 1)]

    def chunk(k: int) -> tuple[np.ndarray, float]:
        counts, bucket = np.zeros(game.n_slots), np.zeros((4, N_HOLDINGS), dtype=np.int64)
        part = data._replace(start=data.start[borders[k] : borders[k + 1] + 1])
        holdings = HOLDING_CARDS.astype(np.int64)
        work = InferenceWorkspace(np.zeros(N_HOLDINGS), bucket, new_deal(), holdings)
        return counts, float(expected_counts(form.cards, part, policy, work, counts))

    counts, likelihoods = zip(*map_in_threads(chunk, range(CHUNKS), cores()), strict=True)
    return np.sum(counts, axis=0), sum(likelihoods)
