"""`StateRules` without a tree: the step function of `compiled.py`, written in Python.

Kernels call it by address as they call compiled rules, so that the same solvers, matches and files
work. It takes the interpreter lock, so that threads do not play faster than one. A state in the
workspace is the history that leads to it: the number of its moves, then each move in 16 bits. The
latest states are kept, and others replayed from the first one.

Information sets are known by their labels, hashed to 128 bits. Chance is drawn as on the tree, so
that the same random numbers give the same results. An error in the rules ends the history, is kept
in `StateStep.error`, and is raised when the kernel returns.

`probe_states` plays random histories, which check the rules and say what a tree would have said:
how large it is, whether payoffs sum to zero, whether players have perfect recall.
"""

from __future__ import annotations

import ctypes
import hashlib
import random
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numba.core import config as _config

from counterplay.core.base.errors import BadGame
from counterplay.core.forms.capabilities import numbered
from counterplay.core.forms.compiled import COUNT, FAILED, KNOWN, PASSIVE, PLAY, WHO, Shape
from counterplay.core.forms.rules import CHANCE, TERMINAL, State, StateRules
from counterplay.core.forms.rules_form import RulesForm
from counterplay.core.forms.states import (
    MOST_DEPTH,
    TreeLists,
    actions_of,
    checked_chance,
    checked_payoffs,
    endless,
    explained,
    passive_of,
    player_of,
)
from counterplay.core.forms.tree import NO_ACTION, Distributions
from counterplay.core.kernels.intrinsics import plain_address
from counterplay.core.kernels.jit import jit
from counterplay.core.kernels.rng import uniform

config: Any = _config  # its settings are not declared

#: Decisions of a history, and actions of a player, where rules set no `depth` or `max_actions`.
DEPTH, ACTIONS = 1_000, 1_000
MOST_STATES = 20_000  # kept
MOST_LABELS = 200_000  # of information sets met in this process
KNOWN_WORDS = 2
HISTORIES = 100  # of a probe
LABEL_HISTORIES = 300  # played at random to meet labels
MOST_MOVES = 20_000  # of all histories of a probe
TOLERANCE = 1e-9  # of sums of payoffs
_MOVE = 2  # bytes
_POINTER, _NUMBER = ctypes.c_void_p, ctypes.c_int64
_STEP = ctypes.CFUNCTYPE(None, *[_POINTER] * 3, _NUMBER, _NUMBER, *[_POINTER] * 3)


def state_shape(name: str, rules: StateRules) -> Shape:
    """The sizes of rules, from their attributes `depth` and `max_actions`."""
    sizes = []
    for size, usual in (("depth", DEPTH), ("max_actions", ACTIONS)):
        value = getattr(rules, size, usual)
        if isinstance(value, bool) or not isinstance(value, int) or value < 1:
            raise BadGame(f"{name}: `{size}` must be a positive whole number, not {value!r}")
        sizes.append(min(value, MOST_DEPTH))
    depth, actions = sizes
    moves = depth + int(getattr(rules, "max_chance", 3 * depth + 64))
    words = 1 + -(-moves * _MOVE // 8)
    return Shape(int(rules.n_players), words, KNOWN_WORDS, actions, depth)


def label_words(label: str) -> tuple[int, ...]:
    """What the player at an information set with this label knows, as `KNOWN_WORDS` integers."""
    digest = hashlib.blake2b(label.encode(), digest_size=8 * KNOWN_WORDS).digest()
    return tuple(np.frombuffer(digest, dtype="<i8").tolist())


class _Position:
    """A state that was met: who acts, and what a kernel has to know."""

    __slots__ = ("actions", "cumulative", "known", "payoffs", "player", "state")

    state: State
    player: int
    actions: Sequence[Any]
    known: tuple[int, ...]  # of a player
    cumulative: list[float]  # of chance; empty if it is uniform
    payoffs: tuple[float, ...]


class StateStep:
    """The step function of `StateRules`; it must live as long as its `address` is used."""

    def __init__(self, name: str, rules: StateRules) -> None:
        self.name, self.rules, self.shape = name, rules, state_shape(name, rules)
        self.error: BaseException | None = None
        #: Labels of information sets and of their actions, by player and what the player knows.
        self.labels: dict[tuple[int, tuple[int, ...]], tuple[str, Sequence[Any]]] = {}
        self._positions: dict[bytes, _Position] = {}
        self._most_bytes = (self.shape.state - 1) * 8
        self.address, self._code = _address(self)

    @property
    def form(self) -> RulesForm:
        """The rules as a form for sampling."""
        return RulesForm(self.address, np.zeros(1, dtype=np.int64), self.shape)

    def play_at_random(self) -> None:
        """Plays histories at random, to meet information sets and their labels."""
        rng = random.Random(0)
        for _ in range(LABEL_HISTORIES):
            history, position = b"", self._at(b"")
            while position.player != TERMINAL:
                move = int(rng.random() * len(position.actions))
                history += move.to_bytes(_MOVE, "little")
                position = self._at(history)

    def __call__(self, c: Any, *arguments: Any) -> None:
        """A step of `_step_of` in `compiled.py`, with the same arguments."""
        try:
            self._step(*arguments)
        except BaseException as error:  # no error may pass through a kernel
            if self.error is None:
                self.error = error
            facts, pays = arguments[-2:]
            facts[WHO], facts[COUNT] = TERMINAL, FAILED
            pays[:] = 0.0

    def _step(
        self, above: Any, below: Any, action: int, mode: int, rng: Any, facts: Any, pays: Any
    ) -> None:
        history = b"" if action < 0 else _history(above)
        if mode == PASSIVE:
            position = self._at(history)
            pays[0] = passive_of(position.state, position.actions)
            return
        if action >= 0:
            history += int(action).to_bytes(_MOVE, "little")
        position = self._at(history)
        while position.player == CHANCE and mode == PLAY:
            history += _drawn(position, rng).to_bytes(_MOVE, "little")
            position = self._at(history)
        below[0] = len(history)
        below.view(np.uint8)[8 : 8 + len(history)] = np.frombuffer(history, dtype=np.uint8)
        facts[WHO], facts[COUNT] = position.player, len(position.actions)
        if position.player >= 0:
            facts[KNOWN:] = position.known
        else:
            pays[:] = position.payoffs

    def _at(self, history: bytes) -> _Position:
        """The position after a history."""
        if len(history) > self._most_bytes:
            raise BadGame(
                f"{self.name}: a history has more than {self._most_bytes // _MOVE:,} moves; give "
                f"the rules an attribute `depth`, the decisions of the longest history"
            )
        begin = len(history)
        position = self._positions.get(history)
        while position is None and begin > 0:
            begin -= _MOVE
            position = self._positions.get(history[:begin])
        if position is None:
            position = self._keep(b"", self.rules.root())
        for low in range(begin, len(history), _MOVE):
            move = int.from_bytes(history[low : low + _MOVE], "little")
            state = position.state
            try:
                child = state.child(position.actions[move])
            except Exception as error:
                raise explained(self.name, state, error) from error
            position = self._keep(history[: low + _MOVE], child)
        return position

    def _keep(self, history: bytes, state: State) -> _Position:
        """Describes and keeps the state after a history."""
        if len(self._positions) >= MOST_STATES:
            self._positions.clear()
        try:
            position = self._positions[history] = self._position(state)
        except Exception as error:
            raise explained(self.name, state, error) from error
        return position

    def _position(self, state: State) -> _Position:
        position = _Position()
        position.state, position.player = state, int(player_of(state, self.shape.n_players))
        position.actions, position.payoffs = (), (0.0,) * self.shape.n_players
        position.cumulative = []
        if position.player == TERMINAL:
            position.payoffs = checked_payoffs(state.payoffs(), self.shape.n_players)
            return position
        position.actions = actions_of(state)
        if position.player == CHANCE:
            probabilities = checked_chance(state.chance(), len(position.actions))
            arrays = Distributions(rows=[probabilities]).arrays()
            if not arrays["chance_uniform"][0]:
                position.cumulative = arrays["chance_cumulative"].tolist()
            return position
        if len(position.actions) > self.shape.actions:
            raise BadGame(
                f"{self.name}: there are {len(position.actions):,} actions and at most "
                f"{self.shape.actions:,} are expected; give the rules an attribute `max_actions`"
            )
        label = label_of(state)
        position.known = label_words(label)
        if len(self.labels) < MOST_LABELS:
            self.labels.setdefault((position.player, position.known), (label, position.actions))
        return position


def label_of(state: State) -> str:
    """The label of the information set of a state."""
    label = str(state.infoset())
    if " object at 0x" in label:
        raise BadGame(
            f"infoset() gave {label}; a game without a tree knows information sets by their text"
        )
    return label


def _history(row: Any) -> bytes:
    """The moves in a row of the workspace."""
    data: bytes = row.tobytes()[8 : 8 + int(row[0])]
    return data


def _drawn(position: _Position, rng: Any) -> int:
    """An outcome of chance."""
    count, u = len(position.actions), float(_uniform(rng))
    if not position.cumulative:
        return min(int(u * count), count - 1)
    return min(bisect_right(position.cumulative, u), count - 1)


@jit
def _uniform(rng: np.ndarray) -> float:
    return uniform(rng)


def _address(step: StateStep) -> tuple[int, Any]:
    """The address of a step function, and the code that must live as long as it is used."""
    if config.DISABLE_JIT:
        return plain_address(step), None
    shape, views = step.shape, _Views()
    sizes = ((shape.state, np.int64), (KNOWN + shape.known, np.int64), (shape.n_players, float))

    def call(
        c: int, above: int, below: int, action: int, mode: int, rng: int, facts: int, pays: int
    ) -> None:
        state, fact, pay = sizes
        step(
            None, views.at(above, *state), views.at(below, *state), action, mode,
            views.at(rng, 4, np.uint64), views.at(facts, *fact), views.at(pays, *pay),
        )  # fmt: skip

    code = _STEP(call)
    return int(ctypes.cast(code, ctypes.c_void_p).value or 0), code


class _Views:
    """Arrays over memory at given addresses."""

    def __init__(self) -> None:
        self._arrays: dict[tuple[int, int], np.ndarray] = {}

    def at(self, address: int, size: int, kind: Any) -> np.ndarray:
        """The array of `size` entries at an address; its memory is alive during a call only."""
        array = self._arrays.get((address, size))
        if array is None or array.dtype != kind:
            if len(self._arrays) > MOST_STATES:
                self._arrays.clear()
            memory: Any = (ctypes.c_char * (8 * size)).from_address(address)
            array = self._arrays[address, size] = np.frombuffer(memory, dtype=kind)
        return array


class StateProbe(NamedTuple):
    """What random histories of rules say."""

    digest: bytes  # changes when the rules do
    n_nodes: float  # an unbiased estimate of the number of histories (Knuth 1975)
    zero_sum: bool
    has_passive_actions: bool  # whether a player can check or call wherever one acts
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
                self.digest.update(repr(self._facts(state, player, row)).encode())
                if player == TERMINAL:
                    break
                action = int(rng.random() * len(actions))
                if player != CHANCE:
                    if self.before.setdefault(row, before[player]) != before[player]:
                        of = numbered(player)
                        self.forgets = self.forgets or f"{self.label[row]!r} of {of}"
                    before[player] = (row, action)
                size *= len(actions)
                state = state.child(actions[action])
            except Exception as error:
                raise explained(self.name, state, error) from error
        self.histories += 1

    def _facts(self, state: State, player: int, row: int) -> Any:
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
