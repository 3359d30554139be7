"""Spots and their naive twins."""

from __future__ import annotations

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.cards.cards import card_text
from counterplay.poker.spots.game import SpotRules
from counterplay.poker.spots.ranges import holding_text
from tests.reference.spots import NaiveSpot


def naive_game(game: Game) -> Game:
    """The same spot as a game with a tree."""
    rules: SpotRules = game.rules
    betting = rules.betting
    board = tuple(card_text(c) for c in rules.board)
    ranges = tuple(
        {holding_text(int(h)): float(w) for h, w in zip(side.holding, side.weight, strict=True)}
        for side in rules.layout.sides
    )
    cap = 100 if betting.cap is None else betting.cap
    return Game(
        "naive",
        NaiveSpot(
            board, betting.pot, betting.stack, ranges, betting.bets, betting.raises, cap,  # type: ignore[arg-type]
            betting.rake, betting.rake_cap, betting.min_bet, betting.limit,
        ),
    )  # fmt: skip


def to_naive(strategy: Strategy, naive: Game) -> Strategy:
    """A strategy of a spot without suit symmetry in the naive game."""
    spot = strategy.game
    by_name = {name: k for k, name in enumerate(spot.labels.infoset)}
    first, shares = spot.form.first, np.empty(naive.n_slots)
    for k, name in enumerate(naive.labels.infoset):
        low, high = int(naive.form.first[k]), int(naive.form.first[k + 1])
        own = int(first[by_name[name]])
        assert spot.labels.action[own : own + high - low] == naive.labels.action[low:high]
        shares[low:high] = strategy.probabilities[own : own + high - low]
    return Strategy(naive, shares)
