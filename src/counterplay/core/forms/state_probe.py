"""`probe_states`: random histories of `StateRules`, which check the rules and say what a tree would
have said: how large it is, whether payoffs sum to zero, whether players have perfect recall."""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from counterplay.core.base.errors import BadGame
from counterplay.core.forms.capabilities import numbered
from counterplay.core.forms.rules import CHANCE, TERMINAL, State, StateRules
from counterplay.core.forms.state_form import label_of
from counterplay.core.forms.states import MOST_DEPTH, TreeLists, endless, explained
from counterplay.core.forms.tree import NO_ACTION

HISTORIES = 100
MOST_MOVES = 20_000  # of all histories together
TOLERANCE = 1e-9  # of sums of payoffs


class StateProbe(NamedTuple):
    """What random histories of rules say."""

    digest: bytes  # changes when the rules do
    n_nodes: float  # an unbiased estimate of the number of histories (Knuth 1975)
    zero_sum: bool
    has_passive: bool  # whether a player can check or call wherever one acts
    histories: int
    infosets: int
    forgets: str  # an information set without perfect recall, or nothing


@dataclass
class _Prober:
    name: str
    lists: TreeLists
    n_nodes: float = 0.0
    moves: int = 0
    histories: int = 0
    digest: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))
    label: dict[int, str] = field(default_factory=dict)  # by information set
    infoset: dict[tuple[int, str], int] = field(default_factory=dict)  # by player and label
    before: dict[int, Any] = field(default_factory=dict)  # the player's previous decision
    forgets: str = ""

    def play(self, root: State, rng: random.Random) -> None:
        """Plays one history."""
        state, size, begun = root, 1.0, self.moves
        before: list[tuple[int, ...]] = [()] * self.lists.n_players
        while self.moves < MOST_MOVES:
            self.moves += 1
            if self.moves - begun > MOST_DEPTH:
                raise endless(self.name)
            self.n_nodes += size
            try:
                actions = self.lists.visit(state)
                player, row = int(self.lists.player[-1]), self.lists.table_row[-1]
                self.digest.update(repr(self._facts(state, player, row, actions)).encode())
                if player == TERMINAL:
                    break
                action = int(rng.random() * len(actions))
                if player != CHANCE:
                    self._remember(row, before[player])
                    before[player] = (row, action)
                size *= len(actions)
                state = state.child(actions[action])
            except Exception as error:
                raise explained(self.name, state, error) from error
        self.histories += 1

    def _facts(self, state: State, player: int, row: int, actions: Any) -> Any:
        """What a solver sees of a state."""
        if player == TERMINAL:
            return list(self.lists.outcomes)[row]
        if player == CHANCE:
            return self.lists.chance.rows[row].tolist()
        label = label_of(state)
        there = self.infoset.setdefault((player, label), row)
        if self.label.setdefault(row, label) != label or there != row:
            raise BadGame(
                f"infoset() gave equal values with different texts, or different values with the "
                f"text {label!r}; a game without a tree knows information sets by their text"
            )
        return player, label, self.lists.actions[row]

    def _remember(self, row: int, before: Any) -> None:
        if self.before.setdefault(row, before) != before and not self.forgets:
            player = numbered(next(key[0] for key, i in self.infoset.items() if i == row))
            self.forgets = f"{self.label[row]!r} of {player}"


def probe_states(
    rules: StateRules, name: str, histories: int = HISTORIES, seed: int = 0
) -> StateProbe:
    """Plays random histories; `BadGame` where the rules have an error."""
    prober, rng = _Prober(name, TreeLists(rules.n_players)), random.Random(seed)
    lists = prober.lists
    while prober.histories < histories and prober.moves < MOST_MOVES:
        prober.play(rules.root(), rng)
    return StateProbe(
        prober.digest.digest(),
        prober.n_nodes / prober.histories,
        all(abs(sum(payoffs)) <= TOLERANCE for payoffs in lists.outcomes),
        bool(lists.passive) and NO_ACTION not in lists.passive,
        prober.histories,
        len(lists.infosets),
        prober.forgets,
    )
