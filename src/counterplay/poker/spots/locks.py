"""Locks: what a player is believed to do at some decisions of a spot, and how far to trust it.

A file is TOML, or a mapping of the same shape:

    player = 2                         # whose decisions are locked
    [[lock]]
    after = "bet 10"                   # the actions before the decision
    hands = "flush draws"              # a range, or a kind of hand; left out: all
    play = {call = 1.0}                # probabilities of each of these hands
    trust = 0.8                        # from 0 to 1, by default 1
    [[lock]]
    after = "check"
    frequency = {"bet 20" = 0.7}       # how often in all

A frequency is spread over the hands as the solution would: their odds of the action are multiplied
by one factor. Later locks replace earlier ones of the same hands. Each board of a later street is
locked alike, unless `board` names one.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.disk import read_bytes
from counterplay.core.base.errors import (
    BadFile,
    BadParameter,
    one_line,
    probability,
    shown,
    whole_number,
)
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.cards.cards import cards
from counterplay.poker.cards.evaluator import CATEGORY_SHIFT, strength
from counterplay.poker.spots.cards import board_text
from counterplay.poker.spots.columns import FLOOR
from counterplay.poker.spots.kernels import SpotForm
from counterplay.poker.spots.layout import SpotLayout
from counterplay.poker.spots.ranges import parse_holdings
from counterplay.poker.spots.view import find_node, node_reach, policy_at

#: Kinds of hands by their rank on the board, in the order of the evaluator.
KINDS = (
    *("high card", "pair", "two pair", "trips", "straight", "flush", "full house", "quads"),
    "straight flush",
)
FLUSH_DRAW = "flush draw"
TOLERANCE = 1e-6  # of the sum of probabilities
SMALLEST = 1e-3  # share of an action that the solution never takes, so that it can be raised
FITS = 500  # steps in which a frequency is reached
LARGEST_FILE = 1_000_000  # bytes


@dataclass(frozen=True)
class SpotLock:
    """One lock; `where` names it in errors."""

    where: str
    after: str
    play: Mapping[str, float]
    in_all: bool  # whether `play` are frequencies in all, or of each hand
    hands: str | None
    board: str
    trust: float


@dataclass(frozen=True)
class Locks:
    """The locks of one player."""

    player: int
    locks: tuple[SpotLock, ...]


def read_locks(given: Any) -> Locks:
    """Locks from a path, or from a mapping of the same shape."""
    where = "locks"
    if isinstance(given, Locks):
        return given
    if isinstance(given, str | Path):
        where = str(given)
        given = _read_file(Path(given))
    if not isinstance(given, Mapping):
        raise BadParameter(
            f"{where}: a file, or a mapping with player and lock, not {shown(given)}"
        )
    _known(given, ("player", "lock"), where)
    player = whole_number(given.get("player"), 1, 2, f"{where}: player") - 1
    rows = given.get("lock")
    if not isinstance(rows, list | tuple) or not rows:
        raise BadParameter(f"{where}: there is no [[lock]]")
    return Locks(player, tuple(_lock(row, f"{where}: lock {k}") for k, row in enumerate(rows, 1)))


def _read_file(path: Path) -> Any:
    data = read_bytes(path, LARGEST_FILE)
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: not a file of locks in TOML: {one_line(error)}") from None


def _known(given: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    strange = sorted(str(name) for name in given if name not in names)
    if strange:
        raise BadParameter(f"{where}: no field {strange[0]!r}; there are {', '.join(names)}")


def _lock(row: Any, where: str) -> SpotLock:
    if not isinstance(row, Mapping):
        raise BadParameter(f"{where}: a table with after and play, not {shown(row)}")
    _known(row, ("after", "hands", "board", "play", "frequency", "trust"), where)
    kinds = [name for name in ("play", "frequency") if name in row]
    if len(kinds) != 1:
        raise BadParameter(f"{where}: give either play or frequency")
    shares = row[kinds[0]]
    if not isinstance(shares, Mapping) or not shares:
        raise BadParameter(f"{where}: {kinds[0]} is like {{fold = 0.7}}, not {shown(shares)}")
    play = {str(k): probability(v, f"{where}: {kinds[0]} of {k}") for k, v in shares.items()}
    total, in_all = sum(play.values()), kinds[0] == "frequency"
    if total > 1 + TOLERANCE or (not in_all and total < 1 - TOLERANCE):
        raise BadParameter(f"{where}: the probabilities sum to {total:g}, not 1")
    hands, board = row.get("hands"), row.get("board", "")
    for name, text in (("hands", hands), ("board", board), ("after", row.get("after", "start"))):
        if text is not None and not isinstance(text, str):
            raise BadParameter(f"{where}: {name} is a text, not {shown(text)}")
    if in_all and hands is not None:
        raise BadParameter(f"{where}: a frequency is of all hands; leave out hands")
    trust = probability(row.get("trust", 1.0), f"{where}: trust")
    return SpotLock(where, row.get("after", "start"), play, in_all, hands, board, trust)


def locked_form(rules: Any, locks: Locks, solution: Strategy, scale: float) -> SpotForm:
    """The spot with the locks' least probabilities: trust times `scale` times what is played there.
    `solution`: an equilibrium, over whose hands frequencies are spread."""
    layout: SpotLayout = rules.layout
    nodes, blocks, used = layout.form.nodes.copy(), [], 0
    at: dict[int, np.ndarray] = {}
    for lock in locks.locks:
        node = _node(rules, locks.player, lock)
        if node not in at:
            shape = _shape(layout, node)
            nodes[node, FLOOR], used = used, used + int(np.prod(shape))
            at[node] = np.zeros(shape)
            blocks.append(at[node])
        for b, dealt in _boards(rules, lock, node):
            chosen = _chosen(rules, locks.player, lock, dealt)
            policy = _played(rules, lock, node, dealt, solution)
            at[node][b][:, chosen] = (lock.trust * scale) * policy.T[:, chosen]
    floor = np.concatenate([block.ravel() for block in blocks])
    return layout.form._replace(nodes=nodes, floor=floor)


def _shape(layout: SpotLayout, node: int) -> tuple[int, int, int]:
    player = int(layout.tree.player[node])
    many = len(layout.sides[player].holding)
    return int(layout.n_boards[node]), int(layout.tree.n_actions[node]), many


def _node(rules: Any, player: int, lock: SpotLock) -> int:
    try:
        node = find_node(rules, lock.after)
    except BadParameter as error:
        raise BadParameter(f"{lock.where}: {error}") from None
    acts, actions = int(rules.layout.tree.player[node]), rules.layout.named.actions[node]
    if acts != player:
        raise BadParameter(
            f"{lock.where}: player {acts + 1} acts after {lock.after!r}, and the locks are of "
            f"player {player + 1}"
        )
    strange = [action for action in lock.play if action not in actions]
    if strange:
        raise BadParameter(
            f"{lock.where}: no action {strange[0]!r} after {lock.after!r}; there are "
            f"{', '.join(actions)}"
        )
    return node


def _boards(rules: Any, lock: SpotLock, node: int) -> Iterator[tuple[int, list[int]]]:
    """The boards of a decision that a lock is for: number on its street, and cards dealt."""
    layout: SpotLayout = rules.layout
    street, n = int(layout.tree.street[node]), len(rules.board)
    rows = layout.boards.dealt[int(layout.boards.first[street]) :][: int(layout.n_boards[node])]
    wanted = None
    if lock.board:
        try:
            wanted = sorted(cards(lock.board))
        except BadParameter as error:
            raise BadParameter(f"{lock.where}: board: {error}") from None
    single = lock.hands is not None and any(c in "cdhs" for c in lock.hands[1::2])
    suits = wanted is not None or (single and lock.hands not in _KIND_WORDS)
    if suits and len(layout.boards.suits) > 1:
        raise BadParameter(
            f"{lock.where}: it tells suits apart that this spot treats alike; make the spot with "
            f"symmetric=False"
        )
    found = False
    for b, row in enumerate(rows):
        row = row[: n + street].tolist()
        if wanted is None or sorted(row) == wanted:
            found = True
            yield b, row[n:]
    if not found:
        raise BadParameter(
            f"{lock.where}: board: {lock.board!r} is not a board of this decision, which has "
            f"{n + street} cards and begins with {board_text(rules.board)}"
        )


_KIND_WORDS = {
    word: kind for kind in (*KINDS, FLUSH_DRAW) for word in (kind, f"{kind}s", f"{kind}es")
} | {"quads": "quads", "trips": "trips"}


def _chosen(rules: Any, player: int, lock: SpotLock, dealt: list[int]) -> np.ndarray:
    """bool[holdings]: those of a player that a lock is for."""
    side = rules.layout.sides[player]
    if lock.hands is None:
        return np.ones(len(side.holding), dtype=bool)
    board = [*rules.board, *dealt]
    kind = _KIND_WORDS.get(lock.hands.strip().lower())
    chosen = np.zeros(len(side.holding), dtype=bool)
    if kind is not None:
        for h, pair in enumerate(side.kernel.cards[:, :2].tolist()):
            if not set(pair) & set(board):
                chosen[h] = _is_kind(kind, pair, board)
    else:
        for part in lock.hands.split(","):
            chosen |= np.isin(side.holding, parse_holdings(part.strip(), f"{lock.where}: hands"))
    return chosen


def _is_kind(kind: str, pair: list[int], board: list[int]) -> bool:
    """Whether two cards make a kind of hand; a flush draw has four of a suit, with one of its own,
    before the river."""
    if kind == FLUSH_DRAW:
        suits = [card % 4 for card in (*pair, *board)]
        own = {card % 4 for card in pair}
        return len(board) < 5 and any(suits.count(suit) == 4 for suit in own)
    return strength([*pair, *board]) >> CATEGORY_SHIFT == KINDS.index(kind)


def _played(
    rules: Any, lock: SpotLock, node: int, dealt: list[int], solution: Strategy
) -> np.ndarray:
    """float64[holdings, actions]: what a lock says that is played on a board."""
    layout: SpotLayout = rules.layout
    actions, player = layout.named.actions[node], int(layout.tree.player[node])
    many = len(layout.sides[player].holding)
    if not lock.in_all:
        row = np.array([lock.play.get(action, 0.0) for action in actions])
        return np.tile(row / row.sum(), (many, 1))
    policy = policy_at(layout, solution, node, dealt)
    reach = node_reach(layout, solution, node, player, dealt)
    group = np.array([list(lock.play).index(a) if a in lock.play else -1 for a in actions])
    wanted = [*lock.play.values(), 1.0 - sum(lock.play.values())]
    if (group >= 0).all() and wanted[-1] > TOLERANCE:
        raise BadParameter(f"{lock.where}: the frequencies of all actions sum to 1")
    return fit_frequency(policy, reach, group, np.maximum(wanted, 0.0))


def fit_frequency(
    policy: np.ndarray, reach: np.ndarray, group: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """A policy, [holdings, actions], in which the groups of actions (the last is -1) have the
    frequencies `wanted` over the range: those of the given one times a factor for each group."""
    policy = (1.0 - SMALLEST) * policy + SMALLEST / policy.shape[1]
    total = reach.sum()
    weight = reach / total if total > 0 else np.full(len(reach), 1.0 / len(reach))
    factor, fitted = np.ones(len(wanted)), policy
    for _ in range(FITS):
        fitted = policy * factor[group]
        fitted = fitted / fitted.sum(axis=1, keepdims=True)
        found = np.bincount(group % len(wanted), weight @ fitted, minlength=len(wanted))
        if np.abs(found - wanted).max() < TOLERANCE:
            break
        factor *= np.where(found > 0, wanted / np.where(found > 0, found, 1.0), 1.0)
    return fitted
