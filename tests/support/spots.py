"""Spots and their naive twins."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.cards.cards import N_HOLDINGS, card_text, cards
from counterplay.poker.spots.cards import board_text
from counterplay.poker.spots.columns import BASE
from counterplay.poker.spots.game import SpotRules, spot
from counterplay.poker.spots.positions import HoldemPosition
from counterplay.poker.spots.ranges import holding_text
from counterplay.poker.spots.view import node_reach
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


class RiverOf:
    """The river of one card after both have checked the turn of a spot without suit symmetry, and
    the turn as the whole game: `after(river strategy)` is the turn strategy that plays it there."""

    HISTORY = "check-check/"

    def __init__(self, turn: Strategy, card: str) -> None:
        self.turn, self._dealt = turn, cards(card)
        rules: SpotRules = turn.game.rules
        self._layout, betting = rules.layout, rules.betting
        first = rules.nodes()[self.HISTORY]
        reach = [np.zeros(N_HOLDINGS) for _ in range(2)]
        for player, side in enumerate(self._layout.sides):
            reach[player][side.holding] = node_reach(self._layout, turn, first, player, self._dealt)
        most = (float(reach[0].max()), float(reach[1].max()))
        board = board_text([*rules.board, *self._dealt])
        ranges = (reach[0] / most[0], reach[1] / most[1])
        pot, stack, cap = betting.pot, betting.stack, betting.cap
        self.game = spot(board, pot, stack, ranges, "100", cap=cap, symmetric=False)
        self._blocks = [list(self._pairs(player)) for player in (0, 1)]
        slots = np.zeros(self.game.n_slots)
        for pairs in self._blocks:
            for own, whole in pairs:
                slots[own] = turn.probabilities[whole]
        self.position = HoldemPosition(self.game, "", Strategy.from_weights(self.game, slots), most)

    def _pairs(self, player: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """The slots of each river decision, [holdings, actions], and those in the whole game."""
        nodes, layout = self.turn.game.rules.nodes(), self.game.rules.layout
        boards, levels = self._layout.boards, self.turn.game.rules.layout.boards.first
        local = int(np.flatnonzero(boards.dealt[levels[1] :, 4] == self._dealt[0])[0])
        side, whole = layout.sides[player], self._layout.sides[player]
        place = np.searchsorted(whole.holding, side.holding)
        for node, where, (_, actions, many) in layout.blocks(player):
            history = layout.named.history[node]
            above = nodes[f"{self.HISTORY}{history}"]
            own = np.arange(where.start, where.stop).reshape(many, actions)
            base = int(self._layout.form.nodes[above, BASE]) + local * len(whole.holding) * actions
            rows = base + place[:, None] * actions + np.arange(actions)
            low = [layout.n_slots[0] * player, self._layout.n_slots[0] * player]
            yield own + low[0], rows + low[1]

    def after(self, river: Strategy, player: int) -> Strategy:
        """The whole game's strategy in which a player plays `river` there."""
        slots = self.turn.probabilities.copy()
        for own, whole in self._blocks[player]:
            slots[whole] = river.probabilities[own]
        return Strategy(self.turn.game, slots)
