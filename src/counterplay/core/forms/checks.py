"""`check`: looks for errors in the rules of a game. Compiled rules are run in plain Python and
compared with the compiled code, and with the tree where there is one."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadGame
from counterplay.core.base.registry import user_code_reason
from counterplay.core.forms.capabilities import numbered
from counterplay.core.forms.compiled import COUNT, KNOWN, RAW, WHO, constants_of, shape_of
from counterplay.core.forms.expand import ExpandedRules
from counterplay.core.forms.game import Game
from counterplay.core.forms.infoset_table import EXACT_BITS
from counterplay.core.forms.rules import CHANCE, TERMINAL, CompiledRules, RulesState, history
from counterplay.core.forms.rules_form import RulesForm, rules_workspace, take_step
from counterplay.core.forms.state_form import probe_states
from counterplay.core.kernels.jit import jit
from counterplay.core.kernels.rng import new_state

TOLERANCE = 1e-9  # of sums of probabilities and of payoffs
EVERY_HISTORY = 3_000  # largest number of states for checking every history
HISTORIES = 300  # drawn at random in larger games


@dataclass(frozen=True)
class Checked:
    """What `check` covered without finding an error."""

    game: str
    histories: int  # played in plain Python
    every_history: bool  # whether these are all histories of the game
    information_sets: int  # met on the way
    keys: str  # kind of the keys of information sets
    with_tree: bool  # whether they were compared with the tree

    def __str__(self) -> str:
        which = "all" if self.every_history else "drawn at random"
        tree = "; the same as the tree in each" if self.with_tree else ""
        return (
            f"{self.game}: {self.histories:,} histories ({which}) with {self.information_sets:,} "
            f"information sets are in order; keys are {self.keys}{tree}"
        )


def check(game: Game | str, histories: int = HISTORIES, seed: int = 0) -> Checked:
    """Looks for errors in the rules of a game: probabilities, payoffs, keys without perfect recall,
    keys whose actions differ, states that overflow, and compiled code or a tree that differs from
    the rules. `BadGame` names the first error, with the history that leads there.

    In a small game every history is checked, in a larger one `histories` drawn by `seed`.
    """
    from counterplay.core.forms.strategy import as_game_of

    game = as_game_of(game)
    if game.discovers_infosets and game.compiled is None:
        return _check_states(game, histories, seed)
    if game.compiled is None:
        return _check_tree(game)
    checker = RulesChecker(game.name, game.compiled)
    every = checker.every_history(EVERY_HISTORY)
    if not every:
        checker.at_random(histories, seed)
    checker.compare_compiled(game.rules_form)
    with_tree = game.has_tree
    if with_tree:
        checker.compare_tree(game.expanded)
    keys = "exact" if game.compiled.known_size == 1 else "hashed to 128 bits"
    return Checked(game.name, len(checker.paths), every, len(checker.sets), keys, with_tree)


def _check_states(game: Game, histories: int, seed: int) -> Checked:
    """The check of a game of states without a tree."""
    probe = probe_states(game.rules, game.name, histories, seed)
    if probe.forgets:
        raise BadGame(
            f"{game.name}: no perfect recall: information set {probe.forgets} is reached after "
            f"different own actions"
        )
    keys = "labels hashed to 128 bits"
    return Checked(game.name, probe.histories, False, probe.infosets, keys, False)


def _check_tree(game: Game) -> Checked:
    """The check of a game of states: building its tree checked everything but perfect recall."""
    if not game.has_tree:
        raise BadGame(
            f"{game.name} is neither a tree nor compiled rules; there is nothing to look at"
        )
    tree = game.tree
    if not game.perfect_recall:
        game.treeplexes  # noqa: B018 - raises, with the player and the information set
    ends = int(np.count_nonzero(tree.player == TERMINAL))
    return Checked(game.name, ends, True, tree.n_infosets, "labels", False)


@dataclass
class _Infoset:
    """An information set: its number of actions, and its player's previous decision."""

    count: int
    before: tuple[Any, int] | None  # the previous information set and the action there
    state: RulesState  # where it was met first


@dataclass
class RulesChecker:
    """Plays histories of compiled rules in plain Python and checks each state."""

    name: str
    rules: CompiledRules
    sets: dict[tuple[int, tuple[int, ...]], _Infoset] = field(default_factory=dict)
    paths: list[tuple[int, ...]] = field(default_factory=list)  # to terminal states

    def __post_init__(self) -> None:
        shape_of(self.name, self.rules)
        constants_of(self.name, self.rules)

    def every_history(self, most: int) -> bool:
        """Checks all histories; False if there are more than `most` states."""
        waiting, seen = [(self._root(), (None,) * self.rules.n_players, 0)], 0
        while waiting:
            seen += 1
            if seen > most:
                return False
            state, before, decisions = waiting.pop()
            step = self._visit(state, before, decisions)
            if step is not None:
                count, after, decisions = step
                waiting += [
                    (self._after(state, action), after(action), decisions)
                    for action in reversed(range(count))
                ]
        return True

    def at_random(self, histories: int, seed: int) -> None:
        """Checks `histories` histories with uniformly random actions."""
        rng = np.random.default_rng(seed)
        for _ in range(histories):
            state, before, decisions = self._root(), (None,) * self.rules.n_players, 0
            while True:
                step = self._visit(state, before, decisions)
                if step is None:
                    break
                count, after, decisions = step
                action = int(rng.integers(count))
                before, state = after(action), self._after(state, action)

    def _root(self) -> RulesState:
        try:
            return self.rules.root()
        except Exception as error:
            raise BadGame(f"{self.name}: start() failed: {user_code_reason(error)}") from error

    def _after(self, state: RulesState, action: int) -> RulesState:
        after: RulesState = self._call(state, "apply", state.after, action)
        return after

    def _call(self, state: RulesState, what: str, function: Any, *arguments: Any) -> Any:
        """The result of a function of the rules; `BadGame` with the history if it fails."""
        try:
            return function(*arguments)
        except BadGame:
            raise
        except Exception as error:
            raise self._error(state, f"{what}() failed ({user_code_reason(error)})") from error

    def _error(self, state: RulesState, what: str) -> BadGame:
        return BadGame(f"{self.name}: {what}, {history(self.rules, state.path)}")

    def _visit(self, state: RulesState, before: Any, decisions: int) -> Any:
        """Checks a state. Returns the number of actions, a function from actions to the players'
        previous decisions after it, and the number of decisions; None at the end."""
        player = self._call(state, "player", state.player)
        if player == TERMINAL:
            self._end(state)
            return None
        count = self._call(state, "actions", state.count)
        if player == CHANCE:
            self._chance(state, count)
            return count, lambda action: before, decisions
        if not 0 <= player < self.rules.n_players:
            raise self._error(state, f"player() gave {player}")
        if not 1 <= count <= self.rules.max_actions:
            raise self._error(
                state, f"actions() gave {count}, and max_actions is {self.rules.max_actions}"
            )
        if decisions == self.rules.depth:
            raise self._error(state, f"there are more decisions than `depth`, {decisions}")
        known = self._call(state, "key", state.known)
        if len(known) == 1 and not 0 <= known[0] < 2**EXACT_BITS:
            raise self._error(
                state,
                f"key() gave {known[0]}, which is not from 0 to 2^{EXACT_BITS}; with known_size = "
                f"2 it has room",
            )
        self._infoset(state, (player, known), count, before[player])
        if type(self.rules).passive is not None:
            action = self._call(state, "passive", state.passive_number)
            if not 0 <= action < count:
                raise self._error(state, f"passive() gave {action}, and there are {count} actions")

        def after(action: int) -> Any:
            return (*before[:player], ((player, known), action), *before[player + 1 :])

        return count, after, decisions + 1

    def _infoset(self, state: RulesState, key: Any, count: int, before: Any) -> None:
        """Records an information set, and compares it with what was recorded before."""
        met = self.sets.setdefault(key, _Infoset(count, before, state))
        player, known = key
        name = f"{self.rules.label(player, known)!r} of {numbered(player)}"
        here, there = (history(self.rules, path) for path in (state.path, met.state.path))
        if met.count != count:
            raise BadGame(
                f"{self.name}: information set {name} has {met.count} actions {there}, and {count} "
                f"{here}"
            )
        if met.before != before:
            raise BadGame(
                f"{self.name}: the key of information set {name} forgets earlier actions: it is "
                f"the same {there}, and {here}"
            )

    def _chance(self, state: RulesState, count: int) -> None:
        if count < 1:
            raise self._error(state, f"actions() gave {count} outcomes of chance")
        if type(self.rules).chance is None:
            return
        shares = self._call(state, "chance", state.chance)
        if min(shares) < 0 or abs(math.fsum(shares) - 1.0) > TOLERANCE:
            raise self._error(
                state,
                f"chance() gave probabilities that are negative or sum to "
                f"{math.fsum(shares):.9g}, not 1",
            )

    def _end(self, state: RulesState) -> None:
        pays = self._call(state, "payoff", state.payoffs)
        if not all(math.isfinite(pay) for pay in pays):
            raise self._error(state, f"payoff() gave {pays}, which are not all numbers")
        if self.rules.zero_sum and abs(math.fsum(pays)) > TOLERANCE:
            raise self._error(state, f"payoff() gave {pays}, which do not sum to zero")
        self.paths.append(state.path)

    def compare_compiled(self, form: RulesForm) -> None:
        """`BadGame` where the compiled code differs from the rules in the histories played."""
        for path in self.paths[:HISTORIES]:
            compiled = _play(form, path)
            state = self._root()
            for k, plain in enumerate(self._along(state, path)):
                expected = (plain.words, *_facts(plain))
                if expected != compiled[k]:
                    raise self._error(
                        plain, f"compiled rules give {compiled[k]} and plain ones {expected}"
                    )

    def compare_tree(self, expanded: ExpandedRules) -> None:
        """`BadGame` where the tree differs from the rules in the histories played."""
        tree, known = expanded.tree, expanded.known
        for path in self.paths:
            node = 0
            for k, state in enumerate(self._along(self._root(), path)):
                player, row = int(tree.player[node]), int(tree.row[node])
                low, high = tree.first_child[node : node + 2].tolist()
                knows = tuple(known[row].tolist()) if player >= 0 else ()
                pays = tuple(tree.payoff[row].tolist()) if player == TERMINAL else ()
                shares = slice(*tree.chance_first[row : row + 2]) if player == CHANCE else slice(0)
                same = (player, high - low, knows, pays) == _facts(state) and (
                    player != CHANCE
                    or np.allclose(tree.chance_probability[shares], state.chance(), rtol=0)
                )
                if not same:
                    raise self._error(state, "the tree differs")
                node = low + path[k] if k < len(path) else node

    def _along(self, state: RulesState, path: tuple[int, ...]) -> Iterator[RulesState]:
        yield state
        for action in path:
            state = state.after(action)
            yield state


def _facts(state: RulesState) -> tuple[int, int, tuple[int, ...], tuple[float, ...]]:
    player = state.player()
    if player == TERMINAL:
        return player, 0, (), tuple(state.payoffs())
    return player, state.count(), state.known() if player >= 0 else (), ()


def _play(form: RulesForm, path: tuple[int, ...]) -> list[Any]:
    """A history by the compiled code: state, player, actions, what the player knows, payoffs."""
    chance, rng = rules_workspace(form.shape, 2), new_state(0)
    steps: list[Any] = []
    for action in (-1, *path):
        chance.facts[1] = 0
        _one_step(form, chance, action, rng)
        facts = chance.facts[1].tolist()
        player = facts[WHO]
        over = player == TERMINAL
        steps.append(
            (
                tuple(chance.states[1].tolist()),
                player,
                facts[COUNT],
                tuple(facts[KNOWN:]) if player >= 0 else (),
                tuple(chance.payoff[1].tolist()) if over else (),
            )
        )
        chance.states[0] = chance.states[1]
    return steps


@jit
def _one_step(form: RulesForm, chance: Any, action: int, rng: np.ndarray) -> None:
    take_step(form, chance, 0, 1, action, RAW, rng)


def quick_check(name: str, rules: CompiledRules) -> None:
    """Checks some histories in plain Python before a user's rules are compiled, since compiled
    code with an index out of bounds writes anywhere in memory."""
    checker = RulesChecker(name, rules)
    if not checker.every_history(EVERY_HISTORY // 10):
        checker.at_random(HISTORIES // 10, 0)
