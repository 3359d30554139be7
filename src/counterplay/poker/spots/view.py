"""`spot_view`: what a strategy of a spot does after one history of the betting, holding by
holding."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterplay.core.base import display
from counterplay.core.base.display import Columns, Tabular
from counterplay.core.base.errors import BadParameter, BadStrategy, shown
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.cards.cards import cards
from counterplay.poker.cards.cards import holding as number_of
from counterplay.poker.holdem.grid import cells_html, draw_cells
from counterplay.poker.spots.cards import board_text
from counterplay.poker.spots.columns import BASE, NEXT_CARD, SUITS
from counterplay.poker.spots.layout import SpotLayout
from counterplay.poker.spots.parts import PositionStrategy
from counterplay.poker.spots.ranges import class_text, holding_text

START = "start"
PASSIVE = {"fold": "#d9d9d9", "check": "#9ecae1", "call": "#9ecae1"}


@dataclass(frozen=True)
class SpotView(Tabular):
    """One decision: n holdings of the player who acts, those that may be held here."""

    history: str
    board: str
    player: int
    actions: tuple[str, ...]
    holdings: tuple[str, ...]
    reach: np.ndarray = field(repr=False)  # float64[n]: how likely each holding comes here
    policy: np.ndarray = field(repr=False)  # float64[n, actions]

    @property
    def frequency(self) -> dict[str, float]:
        """How often the player takes each action here, over the range that comes here."""
        total = self.reach.sum()
        shares = self.reach @ self.policy / total if total > 0 else self.policy.mean(axis=0)
        return dict(zip(self.actions, shares.tolist(), strict=True))

    def at(self, holding: str) -> dict[str, float]:
        """The probabilities with one holding, such as `AhKd`."""
        try:
            number = self.holdings.index(holding_text(number_of(cards(holding))))
        except (ValueError, IndexError):
            raise BadStrategy(
                f"player {self.player + 1} cannot hold {holding!r} here; the range has "
                f"{', '.join(self.holdings[:6])}, ..."
            ) from None
        return dict(zip(self.actions, self.policy[number].tolist(), strict=True))

    def classes(self) -> dict[str, tuple[float, np.ndarray]]:
        """Classes of holdings (`AKs`), aces first, with the share of the range that each is and its
        mean probabilities; only those that come here."""
        found: dict[str, list[int]] = {}
        for k, name in reversed(list(enumerate(self.holdings))):
            found.setdefault(class_text(number_of(cards(name))), []).append(k)
        total, out = self.reach.sum(), {}
        for name, members in found.items():
            weight = self.reach[members]
            if weight.sum() > 0:
                mean = weight @ self.policy[members] / weight.sum()
                out[name] = float(weight.sum() / total), mean
        return out

    def columns(self) -> Columns:
        """A row for each holding."""
        columns = Columns(holding=list(self.holdings), reach=self.reach.tolist())
        for k, action in enumerate(self.actions):
            columns[action] = self.policy[:, k].tolist()
        return columns

    def _cells(self) -> tuple[dict[str, list[float]], list[str], list[str]]:
        """The grid: probabilities by class, the actions with their frequency, and their colours."""
        cells = {name: shares.tolist() for name, (_, shares) in self.classes().items()}
        names = [f"{action} {share:.0%}" for action, share in self.frequency.items()]
        return cells, names, _shades(self.actions)

    def _figure(self) -> Any:
        title = f"{self.board}, player {self.player + 1} after {self.history}"
        return draw_cells(*self._cells(), title)

    def _repr_html_(self) -> str:
        title = display.heading(f"{self.board}, after {self.history}", f"player {self.player + 1}")
        return title + cells_html(*self._cells())


def _shades(actions: tuple[str, ...]) -> list[str]:
    """A colour for each action: grey to fold, blue to check or call, reds for bets by size."""
    reds = ("#fdd0a2", "#fdae6b", "#fd8d3c", "#f16913", "#d94801", "#a63603")
    bets = [k for k, action in enumerate(actions) if action.split()[0] not in PASSIVE]
    shades = [PASSIVE.get(action.split()[0], "") for action in actions]
    for k, action in enumerate(bets):
        shades[action] = reds[min(k * len(reds) // max(len(bets), 1) + 1, len(reds) - 1)]
    return shades


def spot_view(strategy: Any, history: str = START, board: str = "") -> SpotView:
    """What a strategy of a spot does after `history`, such as "check-bet 10/check"; actions of a
    street are joined by -, streets by /. `board`: the whole board on a later street."""
    strategy = getattr(strategy, "strategy", strategy)
    if not isinstance(strategy, Strategy | PositionStrategy) or not strategy.game.can("spots"):
        raise BadStrategy(f"a view is of a strategy of a spot, not {shown(strategy)}")
    rules = strategy.game.rules
    layout: SpotLayout = rules.layout
    node = find_node(rules, history)
    player = int(layout.tree.player[node])
    dealt = dealt_after(rules, int(layout.tree.street[node]), board)
    policy = policy_at(layout, strategy, node, dealt)
    reach = node_reach(layout, strategy, node, player, dealt)
    side = layout.sides[player]
    live = ~np.isin(side.kernel.cards[:, :2], dealt).any(axis=1)
    names = tuple(holding_text(int(h)) for h in side.holding[live])
    actions = tuple(layout.named.actions[node])
    whole = board_text([*rules.board, *dealt])
    return SpotView(rules.history(node), whole, player, actions, names, reach[live], policy[live])


def find_node(rules: Any, history: str) -> int:
    """The decision after a history; `BadParameter` names those that are near."""
    nodes: dict[str, int] = rules.nodes()
    given = history.strip().lower() or START if isinstance(history, str) else shown(history)
    if given in nodes:
        return nodes[given]
    near = [name for name in nodes if name.startswith(given.split("-")[0])] or list(nodes)
    some = ", ".join(repr(name) for name in near[:6])
    raise BadParameter(f"no decision after {shown(given)} in this spot; there are {some}, ...")


def decision_path(layout: SpotLayout, node: int) -> list[tuple[int, int]]:
    """The nodes from the start to `node`, each with the action taken there; -1 at the last."""
    tree, path, action = layout.tree, [], -1
    while True:
        path.append((node, action))
        above = int(tree.parent[node])
        if above < 0:
            segment = int(np.searchsorted(tree.first_node, node, side="right")) - 1
            ends = np.flatnonzero(tree.next_segment == segment)
            if not len(ends):
                return path[::-1]
            node = int(ends[0])
            above = int(tree.parent[node])  # nobody acts after both are all in
        action = node - int(tree.first_child[above])
        node = above


def dealt_after(rules: Any, street: int, board: str) -> list[int]:
    """The cards of a board that are dealt after the spot's own, until a street."""
    try:
        given = cards(board) if board else list(rules.board)
    except BadParameter as error:
        raise BadParameter(f"board: {error}") from None
    n = len(rules.board)
    if sorted(given[:n]) != sorted(rules.board) or len(given) != n + street:
        raise BadParameter(
            f"board: {shown(board)} is not a board of this decision, which has {n + street} cards "
            f"and begins with {board_text(rules.board)}"
        )
    return given[n:]


def node_reach(
    layout: SpotLayout,
    strategy: Strategy | PositionStrategy,
    node: int,
    player: int,
    dealt: list[int],
) -> np.ndarray:
    """float64[holdings]: a player's weights times the probabilities of its own actions before a
    node; 0 for holdings with a card of the board."""
    side = layout.sides[player]
    reach = np.where(np.isin(side.kernel.cards[:, :2], dealt).any(axis=1), 0.0, side.weight)
    for k, action in decision_path(layout, node)[:-1]:
        if int(layout.tree.player[k]) == player and action >= 0:
            reach = reach * policy_at(layout, strategy, k, dealt)[:, action]
    return reach


def policy_at(
    layout: SpotLayout, strategy: Strategy | PositionStrategy, node: int, dealt: list[int]
) -> np.ndarray:
    """float64[holdings, actions]: the probabilities at a node, after those of the cards `dealt`
    that lie there."""
    player, street = int(layout.tree.player[node]), int(layout.tree.street[node])
    board, image = seen_as(layout, player, dealt[:street])
    count, many = int(layout.tree.n_actions[node]), len(image)
    local = board - int(layout.boards.first[street])
    if isinstance(strategy, PositionStrategy):
        at_board: np.ndarray = strategy.probabilities_at(node, local)[image]
        return at_board
    low = layout.n_slots[0] * player + int(layout.form.nodes[node, BASE]) + local * many * count
    rows: np.ndarray = strategy.probabilities[low : low + many * count].reshape(many, count)
    seen: np.ndarray = rows[image]
    return seen


def seen_as(layout: SpotLayout, player: int, dealt: list[int]) -> tuple[int, np.ndarray]:
    """The board that is traversed for the next cards `dealt`, and int64[holdings]: what each
    holding of a player is there."""
    kernel, columns, perms = layout.sides[player].kernel, layout.boards.columns, layout.boards.suits
    board, image, moved = 0, np.arange(len(kernel.cards)), np.arange(52)
    for card in dealt:
        seen = int(moved[card])
        suits = int(columns[board, SUITS + seen])
        image, moved = kernel.image[suits][image], perms[suits][moved]
        board = int(columns[board, NEXT_CARD + seen])
    return board, image
