"""Hold'em to the flop on a short deck, with buckets and as a game tree without them."""

from __future__ import annotations

import ast
from functools import cache
from typing import NamedTuple

import numpy as np
from reference.small_holdem import Hand, SmallHoldem

import counterplay as cp
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import player_infosets
from counterplay.poker.cards.cards import holding
from counterplay.poker.cards.decks import Deck
from counterplay.poker.holdem.flop_holdem import FlopHoldemRules
from support.response_lp import AbstractPlans, abstract_plans
from support.small_holdem import CARDS, RanksAbstraction, random_strategy


class FlopHand(Hand):
    """Short-deck hold'em whose showdown is on the flop."""

    def _missing(self) -> int:
        return self.betting.on_board - len(self.board) if self.betting.folded < 0 else 0


class FlopHoldem(SmallHoldem):
    def root(self) -> FlopHand:
        return FlopHand(self.deck, self.betting.start())


class Flop(NamedTuple):
    """Hold'em to the flop on a short deck: with buckets, and as a game tree without them."""

    game: Game
    tree: Game
    rows: np.ndarray  # the information set in the game of every one of the tree
    model: cp.Strategy

    def on_tree(self, strategy: cp.Strategy) -> cp.Strategy:
        counts, form = np.diff(self.tree.form.first), self.game.form
        action = np.arange(self.tree.n_slots) - np.repeat(self.tree.form.first[:-1], counts)
        slots = np.repeat(form.first[self.rows], counts) + action
        return cp.Strategy(self.tree, strategy.probabilities[slots])

    def plans(self, player: int) -> AbstractPlans:
        low, high = player_infosets(self.tree.form, player)
        return abstract_plans(self.tree, player, self.rows[low:high].tolist())


@cache
def flop() -> Flop:
    """Buckets are both ranks of a holding, which nobody forgets."""
    game = Game("flop, ranks", FlopHoldemRules(RanksAbstraction(Deck(CARDS)), 1))
    tree = Game("flop, all cards", FlopHoldem(CARDS, game.rules.betting))
    node = {history: k for k, history in enumerate(game.rules.tree.histories)}
    rows = []
    for label in tree.labels.infoset:
        cards, _, _, history = ast.literal_eval(label)
        bucket = int(game.rules.buckets.preflop[holding(cards)])
        rows.append(game.form.first_row[node[history]] + bucket)
    return Flop(game, tree, np.array(rows), random_strategy(game, 3))
