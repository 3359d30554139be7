"""Full-width CFR for any number of players, on the tree.

An iteration is that of `cfr.py`; the payoffs of a player's sequences come from one pass over all
histories (`tree_gradient`) instead of a product with the payoff matrix of two players.
"""

from __future__ import annotations

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import tree_gradient, treeplex
from counterplay.core.solvers.cfr_kernels import (
    CFRVariant,
    RegretTables,
    player_average,
    player_tables,
    update_player,
)


class TreeRegretMinimiser:
    """One variant of CFR on a tree of n players with perfect recall."""

    replies = None  # one thread computes best replies

    def __init__(self, game: Game, variant: CFRVariant) -> None:
        if not game.capabilities.full_width:
            raise BadParameter(f"{game.name} is too large for solvers at full width")
        self._tree, self._variant, self._plexes = game.tree, variant, game.treeplexes
        players = range(game.n_players)
        self._sequences = [treeplex(game.tree, player)[1] for player in players]
        self._slots = [game.slots(player) for player in players]
        self._weight = np.empty(game.n_nodes)
        self.tables: tuple[RegretTables, ...] = tuple(
            player_tables(plex, variant.predictive) for plex in self._plexes
        )

    def changed(self) -> None:
        """Call after writing to `tables`."""

    def run(self, done: int, n: int) -> None:
        """Runs iterations done + 1 .. done + n."""
        policy = np.concatenate([tables.policy for tables in self.tables])
        for t in range(done + 1, done + n + 1):
            if not self._variant.alternating:
                for player in range(len(self.tables)):
                    self._gradient(player, policy)
            for player, tables in enumerate(self.tables):
                if self._variant.alternating:
                    self._gradient(player, policy)
                update_player(self._plexes[player], tables, self._variant, t)
                policy[self._slots[player]] = tables.policy

    def _gradient(self, player: int, policy: np.ndarray) -> None:
        """Fills the payoffs of a player's sequences against the others' `policy`."""
        sequence, payoff = self._sequences[player], self.tables[player].payoff
        tree_gradient(self._tree, policy, player, sequence, self._weight, payoff)

    def average(self) -> np.ndarray:
        """The average strategy; the current one at information sets of zero own reach."""
        pairs = zip(self._plexes, self.tables, strict=True)
        return np.concatenate([player_average(plex, tables) for plex, tables in pairs])
