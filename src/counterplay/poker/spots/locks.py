"""The decisions of a spot that a lock names (`core/games/locks.py`): the actions before one of them
(`bet 10`), or a place of the betting (`dealer river facing bet`), all of whose histories are meant.

`hands` are a range, or a kind of hand: flush draws, two pairs, straights, ... `bet` and `raise`
without a size are all bets and raises. Each board of a later street is locked alike, unless `board`
names one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, shown
from counterplay.core.forms.restricted import RestrictedPlayer
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.locks import Lock, LockedDecision, lock_model
from counterplay.core.games.players import PlayerResolver
from counterplay.poker.betting.betting import SEAT_NAMES, STREETS, find_place
from counterplay.poker.cards.evaluator import CATEGORY_SHIFT, strengths_of_hands
from counterplay.poker.spots.cards import FULL_BOARD, SpotSide
from counterplay.poker.spots.columns import INFOSET
from counterplay.poker.spots.layout import SpotLayout
from counterplay.poker.spots.ranges import holding_text, parse_holdings
from counterplay.poker.spots.view import dealt_after, find_node, node_reach

#: Kinds of hands by their rank on the board, in the order of the evaluator.
KINDS = (
    *("high card", "pair", "two pair", "trips", "straight", "flush", "full house", "quads"),
    "straight flush",
)
FLUSH_DRAW = "flush draw"
WORDS = ("fold", "check", "call", "bet", "raise")  # not legal at each decision of a place


class SpotPlayers(PlayerResolver):
    """Resolves players of spots."""

    def decisions(self, strategy: Strategy, lock: Lock) -> list[LockedDecision]:
        rules, found, chosen = self.game.rules, [], _Chosen(self.game.rules, lock)
        layout: SpotLayout = rules.layout
        nodes = _nodes(rules, lock)
        if not nodes:
            raise _nowhere(rules, lock)
        for node, group in nodes.items():
            player = int(layout.tree.player[node])
            first, many = int(layout.form.nodes[node, INFOSET]), len(layout.sides[player].holding)
            for b, dealt in _boards(rules, lock, node):
                hands = np.flatnonzero(chosen.on(player, dealt))
                if len(hands):
                    reach = node_reach(layout, strategy, node, player, dealt)[hands]
                    found.append(LockedDecision(first + b * many + hands, reach, group))
        if not found:
            raise BadParameter(
                f"{lock.name}: hands: {shown(lock.hands)} are none of the holdings that the player "
                f"has at {lock.at!r}"
            )
        return found

    def infoset_name(self, infoset: int) -> str:
        rules, layout = self.game.rules, self.game.rules.layout
        nodes = [k for player in (0, 1) for k in layout.decisions(player)]
        first = layout.form.nodes[nodes, INFOSET]
        at = int(np.searchsorted(first, infoset, side="right")) - 1
        holding = layout.sides[int(layout.tree.player[nodes[at]])].holding
        board, h = divmod(infoset - int(first[at]), len(holding))
        where = f"{rules.history(nodes[at])!r} on {rules.boards_at(nodes[at])[board]}"
        return f"{where} with {holding_text(int(holding[h]))}"


class LockedPlayer(NamedTuple):
    """Whose decisions locks name in a spot, and a function that binds that player by them to a
    solution."""

    player: int
    locks: tuple[Lock, ...]

    def bound(self, solution: Strategy) -> RestrictedPlayer:
        """The restricted player of a data-biased response: Pconf is the trust of the lock at locked
        decisions, elsewhere 0."""
        model, trust = lock_model(solution, self.locks)
        return RestrictedPlayer(model, self.player, np.nan_to_num(trust), None)


def locked_player(rules: Any, locks: Iterable[Lock], player: int | None = None) -> LockedPlayer:
    """The player whose decisions locks name: `player`, or else there must be only one. Places that
    the spot does not have are left out, such as those of earlier streets in a file about a whole
    game."""
    found: dict[int, list[Lock]] = {}
    locks = tuple(locks)
    for lock in locks:
        place = find_place(lock.at)
        if player is not None and place is not None and place.seat is None:
            lock = replace(lock, at=f"{SEAT_NAMES[1 - player]} {lock.at}")
        for acts in {int(rules.layout.tree.player[node]) for node in _nodes(rules, lock)}:
            found.setdefault(acts, []).append(lock)
    if player is None and len(found) > 1:
        raise BadParameter(
            f"{found[1][0].name}: it is of player 2, and {found[0][0].name} of player 1; say who "
            f"responds, or lock the decisions of one player, with a street those of a seat, as "
            f"'dealer river'"
        )
    player = next(iter(found), None) if player is None else player
    if player not in found:
        raise _nowhere(rules, locks[0])
    return LockedPlayer(player, tuple(found[player]))


def _nowhere(rules: Any, lock: Lock) -> BadParameter:
    streets = ", ".join(STREETS[len(STREETS) - rules.betting.n_streets :])
    return BadParameter(
        f"{lock.name}: no decision at {lock.at!r} in this spot, or not of this player; it has "
        f"{streets}, of the {' and the '.join(SEAT_NAMES)}"
    )


def _nodes(rules: Any, lock: Lock) -> dict[int, np.ndarray]:
    """The decisions that a lock names, without boards, with the groups of their actions."""
    layout: SpotLayout = rules.layout
    place, actions = find_place(lock.at), layout.named.actions
    if place is None:
        try:
            found = [find_node(rules, lock.at)]
        except BadParameter as error:
            raise BadParameter(f"{lock.name}: {error}") from None
    else:
        skipped = len(STREETS) - rules.betting.n_streets
        found = [
            node
            for node in rules.nodes().values()
            if place.has(
                skipped + int(layout.tree.street[node]),
                1 - int(layout.tree.player[node]),
                _faced(layout, node),
            )
        ]
        if not found:
            return {}
    groups = {node: lock.groups(actions[node], _same(actions[node])) for node in found}
    taken = {int(k) for group in groups.values() for k in group}
    possible = WORDS if place is not None and max(taken) >= 0 else ()
    for k, action in enumerate(lock.play):
        if k not in taken and action not in possible:
            raise BadParameter(
                f"{lock.name}: no action {action!r} after {lock.at!r}; there are "
                f"{', '.join(actions[found[0]])}"
            )
    return {node: group for node, group in groups.items() if group.max() >= 0}


def _faced(layout: SpotLayout, node: int) -> int:
    """How many bets of the street a player faces."""
    if "fold" not in layout.named.actions[node]:
        return 0
    betting = layout.named.history[node].rpartition("/")[2]
    return sum(word.split()[0] not in ("check", "call") for word in betting.split("-"))


def _same(actions: list[str]) -> dict[str, tuple[str, ...]]:
    """Names of actions without sizes."""
    sized = {action: ("bet", "raise") for action in actions if len(action.split()) > 1}
    return {"check": ("call",), **sized}


def _boards(rules: Any, lock: Lock, node: int) -> Iterator[tuple[int, list[int]]]:
    """The boards of a decision that a lock is for: number on its street, and cards dealt."""
    layout: SpotLayout = rules.layout
    street, n = int(layout.tree.street[node]), len(rules.board)
    wanted = None
    if lock.board:
        if len(layout.boards.suits) > 1:
            raise _tells_suits_apart(lock)
        try:
            wanted = dealt_after(rules, street, lock.board)
        except BadParameter as error:
            raise BadParameter(f"{lock.name}: {error}") from None
    rows = layout.boards.dealt[int(layout.boards.first[street]) :][: int(layout.n_boards[node])]
    for b, dealt in enumerate(rows[:, n : n + street].tolist()):
        if wanted in (None, dealt):
            yield b, dealt


def _tells_suits_apart(lock: Lock) -> BadParameter:
    return BadParameter(
        f"{lock.name}: it tells suits apart that this spot treats alike; make the spot with "
        f"symmetric=False"
    )


_KIND_WORDS = {
    word: kind for kind in (*KINDS, FLUSH_DRAW) for word in (kind, f"{kind}s", f"{kind}es")
} | {"quads": "quads", "trips": "trips"}


class _Chosen:
    """The holdings that a lock is for, as bool[holdings] of a player on a board."""

    def __init__(self, rules: Any, lock: Lock) -> None:
        self._rules, self._lock = rules, lock
        self._kind = _KIND_WORDS.get((lock.hands or "").strip().lower())
        self._found: dict[Any, np.ndarray] = {}

    def on(self, player: int, dealt: list[int]) -> np.ndarray:
        key = (player, *dealt) if self._kind else player
        if key not in self._found:
            side = self._rules.layout.sides[player]
            if self._kind:
                board = [*self._rules.board, *dealt]
                self._found[key] = are_of_kind(self._kind, side.kernel.cards[:, :2], board)
            else:
                self._found[key] = self._listed(side)
        return self._found[key]

    def _listed(self, side: SpotSide) -> np.ndarray:
        chosen = np.ones(len(side.holding), dtype=bool)
        if self._lock.hands is not None:
            chosen[:] = False
            for part in self._lock.hands.split(","):
                named = parse_holdings(part.strip(), f"{self._lock.name}: hands")
                chosen |= np.isin(side.holding, named)
        if (chosen[side.kernel.image] != chosen).any():
            raise _tells_suits_apart(self._lock)
        return chosen


def are_of_kind(kind: str, pairs: np.ndarray, board: list[int]) -> np.ndarray:
    """bool[n]: whether two cards make a kind of hand on a board, without its cards; a flush draw
    has four of a suit, with one of its own, before the river."""
    hands = np.column_stack([pairs, np.tile(board, (len(pairs), 1))]).astype(np.int64)
    free = ~np.isin(pairs, board).any(axis=1)
    if kind == FLUSH_DRAW:
        suit = np.arange(4)[:, None]
        four = (hands[:, None] % 4 == suit).sum(axis=2) == 4
        own = (pairs[:, None] % 4 == suit).any(axis=2)
        return np.asarray(free & (four & own).any(axis=1) & (len(board) < FULL_BOARD))
    found = np.empty(len(hands), dtype=np.int64)
    strengths_of_hands(hands, np.zeros(4, dtype=np.int64), found)
    return np.asarray(free & (found >> CATEGORY_SHIFT == KINDS.index(kind)))
