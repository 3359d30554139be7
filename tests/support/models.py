"""A weak opponent that is known, hands against him, and the models' arithmetic done the long
way."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import counterplay as cp
from counterplay.poker.betting.betting import Betting
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.cards.cards import N_CARDS, N_HOLDINGS, cards
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.histories.records import HandRecord, parse_holding
from counterplay.poker.models.model import OpponentModel, learn_model
from counterplay.poker.models.observe import ACTIONS, Observations, buckets_of, observe
from support.holdem import NAME as GAME
from support.holdem import TREE, bucket

BOARD = tuple(cards("2c7d9hJsQc"))
ACES, KINGS = parse_holding("AsAd"), parse_holding("KsKd")
# the dealer limps, calls, raises the flop, checks the turn, bets the river; the big blind folds
HISTORY = "crc/rrc/cc/crf"
FOLDED = HandRecord(0, "A", "B", HISTORY, BOARD, ACES, KINGS, dealer_won=4.0)
SHOWN = HandRecord(1, "B", "A", "cc/cc/cc/cc", BOARD, ACES, KINGS, dealer_won=1.0)
NAME = "weak"
NODE = {letters: node for node, letters in enumerate(TREE.histories)}


def weak_shares(facing: bool, hand: int) -> dict[str, float]:
    """He folds weak hands to any bet, calls with the middle and raises the strong, whatever the
    round."""
    if facing:
        return (
            {"fold": 0.9, "call": 0.1}
            if hand < 5
            else {"call": 1.0}
            if hand < 7
            else {"call": 0.3, "raise": 0.7}
        )
    return {"call": 1.0} if hand < 7 else {"call": 0.2, "raise": 0.8}


def weak_strategy(
    game: cp.Game, shares_of: Callable[[bool, int], dict[str, float]] = weak_shares
) -> cp.Strategy:
    """A rule by "does he face a bet" and ten buckets as a strategy; a raise that is not allowed
    is a call."""
    actions, rows = TREE.actions, []
    for node in TREE.nodes.node.tolist():
        for k in range(10):
            shares = dict(shares_of("fold" in actions[node], k))
            if "raise" not in actions[node]:
                shares["call"] = shares.get("call", 0.0) + shares.pop("raise", 0.0)
            rows += [shares.get(action, 0.0) for action in actions[node]]
    return cp.Strategy(game, np.array(rows))


def timid_shares(facing: bool, hand: int) -> dict[str, float]:
    """Weaker still: only good hands stay in, and nothing is ever raised."""
    return {"fold": 1.0} if facing and hand < 7 else {"call": 1.0}


@cache
def weak_hands(hands: int, seed: int, observer: str | None) -> tuple[HandRecord, ...]:
    """Hands of `probe` against the weak opponent, who is called NAME, through the file of a
    match."""
    opponent = strategy_bot(weak_strategy(cp.load(GAME)), NAME)
    with TemporaryDirectory() as folder:
        path = Path(folder) / "hands.parquet"
        kept: dict[str, Any] = {"log": path, "observer": observer, "luck_adjusted": False}
        cp.play_match(GAME, "probe", opponent, hands, seed, **kept)
        return tuple(read_parquet(path).hands)


@cache
def learnt(kind: str, unseen: str) -> OpponentModel:
    """What 20,000 hands say of him."""
    return learn_model(
        observe(weak_hands(20_000, 3, "a"), NAME), cp.load(GAME), NAME, kind, unseen=unseen
    )


def long_way(record: HandRecord, player: str) -> list[tuple[str, str]]:
    """(letters before, action) of each of a player's decisions, by following the rules."""
    state, found = Betting(), []
    for letter in record.betting.replace("/", ""):
        action = {"f": "fold", "c": "call", "r": "raise"}[letter]
        if state.player() == record.seat(player):
            found.append((state.history, action))
        state = state.child(action)
    return found


def naive_slot(game: cp.Game, letters: str, hand: int, action: str) -> int:
    """Slot of an action by its name, ten buckets."""
    node = NODE[letters]
    infoset = int(TREE.nodes.decision[node]) * 10 + hand
    return int(game.form.first[infoset]) + TREE.actions[node].index(action)


def naive_expectation(
    hands: Sequence[HandRecord], player: str, game: cp.Game, policy: np.ndarray
) -> tuple[dict[int, float], float]:
    """Expected counts by slot, and the log likelihood of hands whose cards were not seen: Bayes
    over all pairs of cards."""
    counts: dict[int, float] = {}
    likelihood = 0.0
    for record in hands:
        if player not in (record.dealer, record.big_blind):
            continue
        decisions, known = long_way(record, player), record.cards(player)
        if not decisions:
            continue
        pairs = (
            [known] if known else [(a, b) for a in range(N_CARDS) for b in range(a + 1, N_CARDS)]
        )
        joint: list[tuple[float, list[int]]] = []
        for pair in pairs:
            if set(pair) & set(record.board):
                continue
            seen = {
                n: bucket(list(pair), list(record.board[:n]), 10)
                for n in TREE.rules.board
                if n <= len(record.board)
            }
            slots = [
                naive_slot(game, text, seen[TREE.rules.board[text.count("/")]], action)
                for text, action in decisions
            ]
            joint.append(
                (1.0 if known else float(np.prod([policy[slot] for slot in slots])), slots)
            )
        total = sum(weight for weight, _ in joint)
        if total == 0.0:
            continue
        if not known:
            likelihood += float(np.log(total / N_HOLDINGS))
        for weight, slots in joint:
            for slot in slots:
                counts[slot] = counts.get(slot, 0.0) + weight / total
    return counts, likelihood


def frequencies(counts: np.ndarray, game: cp.Game) -> np.ndarray:
    """Relative frequencies, nothing smoothed; uniform where there is nothing."""
    return cp.Strategy.from_weights(game, counts).probabilities


def seen_likelihood(seen: Observations, game: cp.Game, policy: np.ndarray) -> float:
    """Log likelihood of the decisions whose cards were shown."""
    tree, buckets, total = TREE.nodes, buckets_of(seen, game), 0.0
    names = TREE.actions
    for node, action, hand in zip(
        seen.node.tolist(), seen.action.tolist(), buckets.tolist(), strict=True
    ):
        if hand >= 0:
            first = int(game.form.first[int(tree.decision[node]) * 10 + hand])
            total += float(np.log(policy[first + names[node].index(ACTIONS[action])]))
    return total


def distance(
    one: np.ndarray, two: np.ndarray, game: cp.Game, seen: Observations, chosen: np.ndarray
) -> float:
    """Total variation between two policies, averaged over the chosen decisions; every card must
    be known."""
    first = game.form.first
    infoset = (
        TREE.nodes.decision[seen.node[chosen]].astype(np.int64) * 10
        + buckets_of(seen, game)[chosen]
    )
    apart = np.add.reduceat(np.abs(one - two), first[:-1]) / 2
    return float(apart[infoset].mean())
