"""Random legal hands, and refusals as values."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np

from counterplay.core.base.errors import BadFile
from counterplay.poker.betting.betting import Betting
from counterplay.poker.cards.cards import N_CARDS
from counterplay.poker.histories.records import HandHistories, HandRecord, settle
from support.holdem import TREE


def random_hand(rng: np.random.Generator, number: int = 0) -> HandRecord:
    """A legal hand between Ann and Bob, folds being rare enough to reach all rounds."""
    state = Betting()
    while not state.over:
        actions = state.actions()
        weights = np.array([0.15 if action == "fold" else 1.0 for action in actions])
        state = state.child(actions[rng.choice(len(actions), p=weights / weights.sum())])
    deal = [int(card) for card in rng.permutation(N_CARDS)[:9]]
    dealer, blind, board = (
        (deal[0], deal[1]),
        (deal[2], deal[3]),
        tuple(deal[4 : 4 + TREE.rules.board[state.round]]),
    )
    names = ("Ann", 'Bób "x"')[:: 1 if number % 2 else -1]
    won = settle(state.history, board, dealer, blind)
    assert won is not None
    return HandRecord(number, *names, state.history, board, dealer, blind, won)


def random_hands(seed: int, count: int = 200) -> list[HandRecord]:
    rng = np.random.default_rng(seed)
    return [random_hand(rng, number) for number in range(count)]


def read_or_refusal(
    reader: Callable[[Path, str], HandHistories], path: Path, on_error: str = "refuse"
) -> HandHistories | str:
    """What was read, or the message of `BadFile`. Any other error is a failure."""
    try:
        return reader(path, on_error)
    except BadFile as error:
        return str(error)
