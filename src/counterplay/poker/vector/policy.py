"""Policies given by a function in place of a table: `VectorPolicy`, and the seat that plays one.

The function is asked for every public node and board, about all holdings at once. Of
suit-isomorphic boards only one is asked, and of holdings that the board's stabilizer maps to each
other the lowest: what is measured is the policy of a player who brings its cards into this form
before it asks. For a policy that does not tell suits apart this is the policy itself; for another
one a warning says so.
"""

from __future__ import annotations

import threading
import warnings
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any

import numpy as np

from counterplay.core.base.arrays import SAME, TOLERANCE, as_numpy
from counterplay.core.base.errors import BadParameter, BadStrategy, shown, whole_number
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.base.registry import call_user_code
from counterplay.core.forms.game import Game
from counterplay.core.kernels.jit import ONE, index, jit
from counterplay.core.kernels.simd import LANES
from counterplay.poker.betting.betting import ACTIONS, Betting, BettingTree
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.vector.board import HIGH, LOW
from counterplay.poker.vector.chance import Chance, DealtBoard
from counterplay.poker.vector.public_tree import Street
from counterplay.poker.vector.street import RowStrategy, follow_row, new_row_strategy
from counterplay.poker.vector.traversal import BoardLevel, PlainSeat

BATCH = 1_024  # boards times public nodes of a call
_LANES = index(LANES)
_FULL = 52
#: What makes the array of boards, by the name of its library.
_ARRAYS: dict[str, Callable[[Any, np.ndarray, Any], Any]] = {
    "numpy": lambda library, boards, device: boards,
    "torch": lambda library, boards, device: library.as_tensor(boards, device=device),
    "jax": lambda library, boards, device: library.numpy.asarray(boards),
    "cupy": lambda library, boards, device: library.asarray(boards),
}


class VectorPolicy:
    """A policy of hold'em: `function(boards, betting)` returns the probabilities of fold, call and
    raise for every holding, [n, 1326, 3], 0 where an action is illegal.

    `boards`: int64[n, cards]; a card is 4 · rank + suit. `betting`: the n public states, all on the
    same street; see `history`, `player()`, `actions()`, `paid`. Holding {a < b} has number
    b (b - 1) / 2 + a; those with a card of the board are ignored. `batch`: the largest n. `arrays`:
    the library of `boards` ("numpy", "torch", "jax" or "cupy"), on `device` where torch has it; any
    of them may be returned. `version`: a text that names the weights; with it, an interrupted
    measurement over all boards of hold'em goes on where it was.
    """

    player: int | None = None  # the only seat it is meant for: none

    def __init__(
        self,
        function: Callable[[Any, Sequence[Betting]], Any],
        name: str = "",
        batch: int = BATCH,
        arrays: str = "numpy",
        device: Any = None,
        version: str = "",
    ) -> None:
        if not isinstance(version, str):
            raise BadParameter(f"version is a text that names the weights, not {shown(version)}")
        if not callable(function):
            raise BadParameter(
                f"a policy is a function of boards and betting, not {shown(function)}"
            )
        if arrays not in _ARRAYS:
            raise BadParameter(f"arrays is one of {', '.join(_ARRAYS)}, not {arrays!r}")
        self.name = name or str(getattr(function, "__name__", type(function).__name__))
        self.version = version
        self.batch = whole_number(batch, 1, None, "batch")
        self.calls = 0  # so far
        self._report: ShareCallback = no_progress
        self._first, self._total = 0, 1  # call of this measurement, and how many it needs
        self._function, self._arrays, self._device = function, arrays, device
        self._lock = threading.Lock()  # a function of the user is called by one thread at a time
        self._warned = False
        self._repeated: set[int] = set()  # streets on which a question was asked twice
        try:
            self._library = import_module(arrays)
        except ImportError:
            raise BadParameter(f"arrays={arrays!r} needs the package {arrays}") from None

    def __repr__(self) -> str:
        return f"VectorPolicy({self.name!r})"

    def ask(
        self, boards: np.ndarray, betting: Sequence[Betting], possible: np.ndarray | None = None
    ) -> np.ndarray:
        """Returns float64[n, 1326, 3]: the checked answer to one call, 0 for holdings that are not
        `possible`, bool[1326], or have a card of the board."""
        with self._lock:
            answer = self._call(boards, betting)
            self.calls += 1
            self._report(min(1.0, (self.calls - self._first) / self._total))
        return self._checked(answer, boards, betting, possible)

    def _call(self, boards: np.ndarray, betting: Sequence[Betting]) -> Any:
        """Asks the function, which may change what it is given."""
        given = _ARRAYS[self._arrays](self._library, boards.copy(), self._device)
        return call_user_code(self._function, self.name, given, list(betting))

    def _checked(
        self, answer: Any, boards: np.ndarray, betting: Sequence[Betting],
        possible: np.ndarray | None,
    ) -> np.ndarray:  # fmt: skip
        self._check_shape(getattr(answer, "shape", None), len(betting))  # before it is copied
        try:
            shares, tolerance = as_numpy(answer)
        except Exception:  # of whatever library made it
            kind = getattr(answer, "dtype", None)
            what = shown(answer) if kind is None else f"an array of type {kind}"
            raise BadStrategy(
                f"{self.name} returned {what}, which is no array of numbers"
            ) from None
        self._check_shape(shares.shape, len(betting))
        live = np.ones((len(betting), N_HOLDINGS), dtype=bool)
        for cards in (LOW, HIGH):
            live &= (cards[None, :, None] != boards[:, None, :]).all(axis=2)
        if possible is not None:
            live &= possible
        shares = np.where(live[:, :, None], shares, 0.0)
        return self._normalised(shares, live, boards, betting, tolerance)

    def _check_shape(self, found: Any, boards: int) -> None:
        shape = (boards, N_HOLDINGS, len(ACTIONS))
        if found is not None and tuple(found) != shape:
            raise BadStrategy(
                f"{self.name} returned an array of shape {tuple(found)} for {boards} boards, "
                f"not {shape}: a row for each holding with fold, call and raise"
            )

    def check_repeats(
        self, boards: np.ndarray, betting: Sequence[Betting], answer: np.ndarray,
        possible: np.ndarray | None = None,
    ) -> None:  # fmt: skip
        """Asks the first question of each street once more, beside the calls that are counted: a
        policy that draws, or a network that still drops out, has no exact value."""
        street = betting[0].round
        with self._lock:
            if street in self._repeated:
                return
            self._repeated.add(street)
            again = self._call(boards, betting)
        difference = np.abs(self._checked(again, boards, betting, possible) - answer)
        if difference.max() > SAME:
            k, h, action = (
                int(at) for at in np.unravel_index(difference.argmax(), difference.shape)
            )
            raise BadStrategy(
                f"{self.name} answers the same question differently: the probability of "
                f"{ACTIONS[action]} with holding {h} on board {boards[k].tolist()} after "
                f"{betting[k].history!r} changed by {difference.max():.3g}; a policy returns "
                f"probabilities, the same in every call"
            )

    def _normalised(
        self, shares: np.ndarray, live: np.ndarray, boards: np.ndarray, betting: Sequence[Betting],
        tolerance: float,
    ) -> np.ndarray:  # fmt: skip
        legal = np.array([[action in state.actions() for action in ACTIONS] for state in betting])
        total = np.where(legal[:, None], shares, 0.0).sum(axis=2)
        wrong = ~(shares >= 0.0).all(axis=2) | (live & ~(np.abs(total - 1.0) <= tolerance))
        wrong |= (np.where(legal[:, None], 0.0, shares) > tolerance).any(axis=2)
        if wrong.any():
            k, h = (int(at[0]) for at in np.nonzero(wrong))
            state = betting[k]
            raise BadStrategy(
                f"{self.name} plays {dict(zip(ACTIONS, shares[k, h].tolist(), strict=True))} with "
                f"holding {h} on board {boards[k].tolist()} after {state.history!r}; the "
                f"probabilities of {', '.join(state.actions())} must sum to 1, others are 0"
            )
        normal: np.ndarray = np.where(legal[:, None], shares, 0.0)
        normal /= np.where(total > 0.0, total, 1.0)[:, :, None]
        return normal

    def report_to(self, progress: ShareCallback, calls: int) -> None:
        """Lets the next `calls` calls report their share."""
        self._report, self._first, self._total = progress, self.calls, max(calls, 1)

    def check_suits(self, shares: np.ndarray, classes: np.ndarray) -> None:
        """Warns, once, where suit-isomorphic holdings are played differently."""
        if not self._warned and np.abs(shares - shares[:, classes]).max() > TOLERANCE:
            self._warned = True
            warnings.warn(
                f"{self.name} tells suits apart; measured is the policy that asks it about the "
                "lowest of suit-isomorphic cards",
                stacklevel=2,
            )

    def expected_calls(
        self, game: Game, flops: int | None = None, players: Sequence[int] = (0, 1)
    ) -> int:
        """Returns about how often the function is called for the seats of `players`: in a game
        that ends on the flop exactly."""
        tree, deck = game.rules.tree, game.rules.abstraction.deck.cards
        boards: list[int] = [1, *_boards(tuple(deck), tree.rules.n_streets)]
        if flops is not None:
            boards = [1, *(round(n * min(flops, boards[1]) / boards[1]) for n in boards[1:])]
        calls = 0
        for player in players:
            for k, n in enumerate(boards):
                acting = tree.nodes.player[tree.nodes.node] == player
                nodes = int((acting & (tree.nodes.street[tree.nodes.node] == k)).sum())
                if nodes == 0:
                    continue
                parents = boards[k - 1] if k >= _first_batched(tree) else n
                together = max(1, min(self.batch // nodes, -(-n // parents)))
                calls += -(-n // together) * -(-nodes // self.batch)
        return calls


def _boards(deck: tuple[int, ...], streets: int) -> list[int]:
    """Returns the number of boards that are traversed on each street after the first."""
    if len(deck) == _FULL:
        return [1_755, 63_193, 2_554_656][: streets - 1]
    every = len(deck) * (len(deck) - 1) * (len(deck) - 2) // 6
    counts = [every, every * (len(deck) - 3), every * (len(deck) - 3) * (len(deck) - 4)]
    return counts[: streets - 1]


def _first_batched(tree: BettingTree) -> int:
    """Returns the first street whose boards are asked together; flops are traversed one by one
    where turns follow."""
    return 1 if tree.rules.n_streets == 2 else 2


@jit
def take_answers(
    street: Street, player: int, used: np.ndarray, number: np.ndarray, column: np.ndarray,
    answers: np.ndarray, strategy: RowStrategy,
) -> None:  # fmt: skip
    """Fills the strategy of the holdings in `used` from `answers`, [questions, holdings, 3].
    `number`, int64[g, n, LANES]: the question of a node; `column`, int64[n]: of the action that
    leads to a node."""
    for g in range(index(len(street.public_node))):
        for j in range(index(len(used))):
            r = index(used[j])
            for k in range(index(len(street.player))):
                if street.player[k] != player:
                    continue
                for lane in range(_LANES):
                    asked = number[g, k, lane]
                    for c in range(
                        index(street.first_child[k]), index(street.first_child[k + ONE])
                    ):
                        share = answers[index(asked), r, index(column[c])] if asked >= 0 else 0.0
                        strategy.policy[g, r, c * _LANES + lane] = share
            follow_row(street, player, g, r, strategy)


class PolicySeat(PlainSeat):
    """A seat whose probabilities on a board come from a `VectorPolicy`. Boards that follow the same
    board are asked together, as many as fit into a batch."""

    def __init__(
        self, chance: Chance, streets: tuple[Street, ...], tree: BettingTree, player: int,
        policy: VectorPolicy, dtype: Any = np.float64,
    ) -> None:  # fmt: skip
        self.player, self._policy = player, policy
        self._chance, self._streets, self._tree, self._dtype = chance, streets, tree, dtype
        self.row = [np.zeros(chance.n_holdings, dtype=np.int64) for _ in streets]
        self.strategy = [
            new_row_strategy(street, player, chance.n_holdings, dtype) for street in streets
        ]
        questions = [self._questions(street) for street in streets]
        self._nodes, self._number, self._column = map(list, zip(*questions, strict=True))
        self._above = [chance.root() for _ in streets]  # the board last visited on each street
        self._visited: list[tuple[int, ...] | None] = [None for _ in streets]
        self._siblings: list[tuple[Any, list[DealtBoard]]] = [(None, []) for _ in streets]
        self._answers: list[dict[tuple[int, ...], np.ndarray]] = [{} for _ in streets]

    def copy(self) -> PolicySeat:
        """Returns one for another thread."""
        given = (self._chance, self._streets, self._tree, self.player, self._policy, self._dtype)
        return PolicySeat(*given)

    def _questions(self, street: Street) -> tuple[list[int], np.ndarray, np.ndarray]:
        """Returns the player's public nodes of a street, and as `take_answers` needs them."""
        nodes: list[int] = []
        number = np.full(street.public_node.shape, -1, dtype=np.int64)
        column = np.zeros(len(street.player), dtype=np.int64)
        for k in np.flatnonzero(street.player == self.player).tolist():
            for g, lane in np.argwhere(street.public_node[:, k] >= 0).tolist():
                number[g, k, lane] = len(nodes)
                nodes.append(int(street.public_node[g, k, lane]))
            for a, action in enumerate(self._tree.actions[nodes[-1]], int(street.first_child[k])):
                column[a] = ACTIONS.index(action)
        return nodes, number, column

    def set_board(self, level: BoardLevel) -> None:
        k, dealt = level.k, level.dealt
        self._above[k] = dealt
        if self._visited[k] == dealt.cards or not self._nodes[k]:
            return
        self._visited[k] = dealt.cards
        if dealt.cards not in self._answers[k]:
            self._answers[k] = self._ask(k, dealt)
        answers, classes = self._answers[k][dealt.cards], self._chance.classes(dealt)
        self._policy.check_suits(answers, classes)
        self.row[k][:] = classes
        used = np.unique(classes[level.holdings()])
        take_answers(
            level.street, self.player, used, self._number[k], self._column[k], answers,
            self.strategy[k],
        )  # fmt: skip

    def _ask(self, k: int, dealt: DealtBoard) -> dict[tuple[int, ...], np.ndarray]:
        """Returns the answers, [nodes, holdings, 3], on a board and the next ones."""
        nodes, batch = self._nodes[k], self._policy.batch
        boards = [dealt]
        if k >= _first_batched(self._tree):
            siblings = self._boards_after(k, self._above[k - 1])
            at = next(i for i, board in enumerate(siblings) if board.cards == dealt.cards)
            boards = siblings[at : at + max(1, batch // len(nodes))]
        states = [self._tree.states[node] for _ in boards for node in nodes]
        cards = np.array([board.cards for board in boards for _ in nodes], dtype=np.int64)
        answers = [
            self._policy.ask(
                cards[low : low + batch], states[low : low + batch], self._chance.possible
            )
            for low in range(0, len(states), batch)
        ]
        self._policy.check_repeats(cards[:batch], states[:batch], answers[0], self._chance.possible)
        by_board = np.concatenate(answers).reshape(len(boards), len(nodes), -1, len(ACTIONS))
        return {board.cards: answer for board, answer in zip(boards, by_board, strict=True)}

    def _boards_after(self, k: int, above: DealtBoard) -> list[DealtBoard]:
        if self._siblings[k][0] != above.cards:
            boards = [board for board, _ in self._chance.children(k, above)]
            self._siblings[k] = (above.cards, boards)
        return self._siblings[k][1]
