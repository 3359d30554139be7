"""After a hand of hold'em: what the other held, how he plays there, and what moves cost.

The cost is that against a best response which knows the other's strategy and sees what the person
saw: the other's holdings are weighted by how he plays up to there, and from the decision on the
best action is taken every time. On the turn and the river it is exact; on the flop it is an
estimate from some turns and rivers; before the flop it is not worked out.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from counterplay.app.web.explore.holdings import codes_on, place_of, shares_at
from counterplay.poker.betting.betting import ACTIONS, LETTER, LIMIT, NO_FOLD, betting_tree
from counterplay.poker.bots.table import TableBot
from counterplay.poker.cards.cards import HOLDING_CARDS, N_CARDS, N_HOLDINGS, card_text
from counterplay.poker.cards.evaluator import strengths

FLOP = 1
TRIED = {FLOP: {3: 6, 4: 8}}  # from the flop on: turns, and rivers after each of them
_CARDS = HOLDING_CARDS.astype(np.int64)


def review_holdem(hand: Any, bot: Any) -> dict[str, Any]:
    """Every decision of the hand, the person's with its cost where that is known."""
    from counterplay.app.web.play.holdem import _word, said

    tree, steps, cost, seat = betting_tree(LIMIT), [], 0.0, hand.seat
    known = isinstance(bot, TableBot)
    for node, letter in zip(hand.nodes(), hand.moves(), strict=False):
        state, action = tree.states[node], LETTER[letter]
        names = tree.actions[node]
        step: dict[str, Any] = {
            "who": "you" if state.player() == seat else "other",
            "text": said(state, action),
            "choices": [_word(state, name) for name in names],
            "chosen": names.index(action),
        }
        if state.player() != seat:
            step["shares"] = list(bot.shares(hand.view(node)).values()) if known else None
        else:
            values = _values(hand, bot, node) if known and state.round >= FLOP else None
            step["values"] = values
            step["cost"] = None if values is None else max(values) - values[names.index(action)]
            cost += step["cost"] or 0.0
        steps.append(step)
    other = " ".join(card_text(card) for card in hand.holding(1 - seat))
    return {
        "held": other,
        "cards": other.split(),
        "steps": steps,
        "cost": cost,
        "exact": False,
        "note": _note(known),
    }


def _note(known: bool) -> str:
    if not known:
        return "This player is a program that does not say how it mixes, so nothing is weighed."
    return (
        "Against a best response that knows the strategy: exact on the turn and the river, an "
        "estimate on the flop, not worked out before it."
    )


def _values(hand: Any, bot: Any, node: int) -> list[float]:
    """What each action at a node of the person's is worth from here on, in small bets."""
    tree = betting_tree(LIMIT)
    state = tree.states[node]
    board = hand.cards[4 : 4 + state.on_board]
    search = _Search(hand, bot, TRIED.get(state.round, {}))
    weight = search.reach(node, board)
    total = float(weight.sum())
    if total <= 0:
        return [0.0] * len(tree.actions[node])
    first = int(tree.nodes.first_child[node])
    paid = state.paid[hand.seat]
    return [
        search.value(first + k, board, weight) / total + paid
        for k in range(len(tree.actions[node]))
    ]


class _Search:
    """The best a person can do with his holding against a table. Values are sums over the other's
    holdings, weighted; what was paid counts from the start of the hand."""

    def __init__(self, hand: Any, bot: Any, tried: dict[int, int]) -> None:
        self._tried = tried  # by cards on the board, where not every next card is
        self._seat, self._own = hand.seat, hand.holding(hand.seat)
        self._table, self._tree = bot.table, betting_tree(LIMIT)
        self._letters = hand.moves()
        self._ways = hand.nodes()
        self._codes: dict[tuple[tuple[int, ...], int], np.ndarray] = {}
        self._signs: dict[tuple[int, ...], np.ndarray] = {}
        self._dice = np.random.default_rng(1)

    def reach(self, node: int, board: tuple[int, ...]) -> np.ndarray:
        """float64[1326]: how often the other comes here with each holding."""
        weight = place_of(board).free.astype(np.float64)
        weight[np.isin(_CARDS, self._own).any(axis=1)] = 0.0
        for at, letter in zip(self._ways, self._letters, strict=False):
            if at == node:
                break
            if self._tree.nodes.player[at] != self._seat:
                lying = board[: self._tree.states[at].on_board]
                shares = shares_at(self._table, at, self._code(lying, at))
                weight *= shares[:, ACTIONS.index(LETTER[letter])]
        return weight

    def _code(self, board: tuple[int, ...], node: int) -> np.ndarray:
        street = int(self._tree.nodes.street[node])
        if (board, street) not in self._codes:
            self._codes[board, street] = codes_on(self._table, board, street)
        return self._codes[board, street]

    def value(self, node: int, board: tuple[int, ...], weight: np.ndarray) -> float:
        state = self._tree.states[node]
        if not state.over and state.on_board > len(board):
            return self._deal(node, board, weight)
        if state.over:
            return self._end(state, board, weight)
        first = int(self._tree.nodes.first_child[node])
        names = self._tree.actions[node]
        if state.player() == self._seat:
            return max(self.value(first + k, board, weight) for k in range(len(names)))
        shares = shares_at(self._table, node, self._code(board, node))
        total = 0.0
        for k, name in enumerate(names):
            part = weight * shares[:, ACTIONS.index(name)]
            if part.any():
                total += self.value(first + k, board, part)
        return total

    def _deal(self, node: int, board: tuple[int, ...], weight: np.ndarray) -> float:
        """The mean over the next cards, of all or of some."""
        left = [card for card in range(N_CARDS) if card not in board and card not in self._own]
        most = self._tried.get(len(board))
        tried = left if most is None else self._some(left, most)
        total = 0.0
        for card in tried:
            open_ = weight.copy()
            open_[np.equal(_CARDS, card).any(axis=1)] = 0.0
            total += self.value(node, (*board, card), open_)
        return total * len(left) / len(tried) / (N_CARDS - 4 - len(board))

    def _some(self, left: list[int], most: int) -> list[int]:
        found: list[int] = self._dice.choice(left, size=most, replace=False).tolist()
        return found

    def _end(self, state: Any, board: tuple[int, ...], weight: np.ndarray) -> float:
        stake = float(min(state.paid))
        if state.folded != NO_FOLD:
            return float(weight.sum()) * (-stake if state.folded == self._seat else stake)
        return stake * float(weight @ self._sign(board))

    def _sign(self, board: tuple[int, ...]) -> np.ndarray:
        """float64[1326]: +1 where the person's holding beats that one, -1 where it loses."""
        if board not in self._signs:
            hands = np.empty((N_HOLDINGS + 1, 7), dtype=np.int64)
            hands[:, 2:] = board
            hands[:-1, :2], hands[-1, :2] = _CARDS, self._own
            out = np.empty(len(hands), dtype=np.int64)
            strengths(hands, np.zeros(4, dtype=np.int64), out)
            self._signs[board] = np.sign(out[-1] - out[:-1]).astype(np.float64)
        return self._signs[board]
