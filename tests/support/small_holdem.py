"""Hold'em with a short deck, twice: as a game tree, and for the traversal of the public tree."""

from __future__ import annotations

import ast
from functools import cache

import numpy as np
from reference.small_holdem import SmallHoldem

import counterplay as cp
from counterplay.core.forms.game import Game
from counterplay.poker.abstraction.abstraction import Buckets
from counterplay.poker.abstraction.lossless import LosslessAbstraction
from counterplay.poker.betting.betting import BettingRules
from counterplay.poker.cards.canonical import flop_number
from counterplay.poker.cards.cards import HOLDING_CARDS, holding
from counterplay.poker.cards.decks import Deck
from counterplay.poker.holdem.game import HoldemRules

CARDS = tuple(4 * rank + suit for rank in (3, 7, 12) for suit in range(3))  # 5s, 9s and aces
RIVER_BETS = BettingRules(most_bets=(1, 0, 0, 1))
FLOP_BETS = BettingRules(most_bets=(1, 1, 0, 0))


class RanksAbstraction(LosslessAbstraction):
    """Buckets are the two ranks of a holding on any board; suits are ignored."""

    @property
    def counts(self) -> tuple[int, ...]:
        return (9,) * 4

    @property
    def key(self) -> str:
        return "ranks"

    def buckets(self, progress: object = None) -> Buckets:
        every = super().buckets()
        rank = np.searchsorted([3, 7, 12], HOLDING_CARDS // 4) % 3
        code = (3 * rank.min(axis=1) + rank.max(axis=1)).astype(np.uint16)
        flop, turn, river = (
            np.tile(code, (len(table), 1)) for table in (every.flop, every.turn, every.river_entry)
        )
        return Buckets(code, flop, turn, np.arange(9, dtype=np.uint16), river)


class ForgetfulAbstraction(RanksAbstraction):
    """Both ranks before the flop, the higher rank from there on: imperfect recall."""

    @property
    def key(self) -> str:
        return "ranks, then the higher"

    def buckets(self, progress: object = None) -> Buckets:
        every = super().buckets()
        later = {name: getattr(every, name) % 3 for name in ("flop", "turn", "river_entry")}
        return every._replace(**later)


ABSTRACTIONS = {
    False: LosslessAbstraction,
    True: RanksAbstraction,
    "forgetful": ForgetfulAbstraction,
}


@cache
def tree_game(betting: BettingRules, tilt: float = 0.0) -> Game:
    return Game("small hold'em", SmallHoldem(CARDS, betting, tilt))


@cache
def walked_game(betting: BettingRules, ranks: bool | str = False) -> Game:
    abstraction = ABSTRACTIONS[ranks](Deck(CARDS))
    return Game("small hold'em, vector form", HoldemRules(abstraction, betting))


def random_strategy(game: Game, seed: int) -> cp.Strategy:
    weights = np.random.default_rng(seed).random(game.n_slots) ** 2
    first = game.form.first
    sums = np.repeat(np.add.reduceat(weights, first[:-1]), np.diff(first))
    return cp.Strategy(game, weights / sums)


@cache
def rows_of(betting: BettingRules, ranks: bool | str = False) -> np.ndarray:
    """Returns the row of the vector-form game for every information set of the tree."""
    tree, game = tree_game(betting), walked_game(betting, ranks)
    links, buckets = game.rules.abstraction.deck.links(), game.rules.buckets
    node = {history: k for k, history in enumerate(game.rules.tree.histories)}
    flops = len(buckets.flop)
    tables = (buckets.preflop[None], buckets.flop, buckets.turn, buckets.river_entry)
    before = (0, 0, flops, flops + len(buckets.turn))
    rows = []
    for label in tree.labels.infoset:
        cards, flop, later, history = ast.literal_eval(label)
        row, street = 0, 0
        if flop:
            row, street = links.flops[flop_number(*flop)] >> 8, 1
            for card in later:
                row, street = links.next_boards[row, card] >> 8, street + 1
        bucket = int(tables[street][row - before[street], holding(cards)])
        rows.append(game.form.first_row[node[history]] + bucket)
    return np.array(rows)


def on_tree(strategy: cp.Strategy, betting: BettingRules, ranks: bool | str = False) -> cp.Strategy:
    """Returns a strategy of the vector-form game as one of the tree."""
    tree, form = tree_game(betting), strategy.game.form
    counts = np.diff(tree.form.first)
    rows = rows_of(betting, ranks)
    assert np.array_equal(np.diff(form.first)[rows], counts)
    action = np.arange(tree.n_slots) - np.repeat(tree.form.first[:-1], counts)
    return cp.Strategy(tree, strategy.probabilities[np.repeat(form.first[rows], counts) + action])
