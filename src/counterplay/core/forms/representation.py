"""The five ways in which a game is held in memory, and what `Game` asks of each.

| representation | rules | form for sampling |
|---|---|---|
| `StateTree` | `StateRules` | the tree, built one state at a time |
| `CompiledTree` | `CompiledRules` | the tree, built by a kernel |
| `DiscoveredStates` | `StateRules` | the rules themselves; information sets are discovered |
| `DiscoveredForm` | `CompiledRules` | the same |
| `SampledForm` | `FormRules` | the one that the rules make; no tree |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadGame, BadParameter
from counterplay.core.forms.capabilities import SAMPLING_ONLY, Capabilities, numbered
from counterplay.core.forms.compiled import PROBLEMS, TOO_LONG, rules_digest
from counterplay.core.forms.expand import ExpandedRules, expand_rules, label_rules
from counterplay.core.forms.infoset_table import PLAYER_BITS
from counterplay.core.forms.rules import CompiledRules, FormRules
from counterplay.core.forms.rules_form import RulesForm, keys_of_known, rules_form
from counterplay.core.forms.state_form import StateProbe, StateStep, label_words, probe_states
from counterplay.core.forms.states import build_states
from counterplay.core.forms.tree import NO_ACTION, HistoryTree, Labels, level_bounds

#: States of a tree of `StateRules` that is built unless tree=False.
MOST_NODES = 5_000_000


def delegated(part: str, meaning: str | None = None) -> Any:
    """A cached property that the attribute `part` has under the same name."""
    found: Any = cached_property(lambda whole: getattr(getattr(whole, part), found.attrname))
    found.__doc__ = meaning
    return found


class Representation(ABC):
    """The forms of one game; all are built on first use."""

    capabilities: Capabilities  # of rules that set none
    has_tree: bool = False
    discovers_infosets: bool = False  # information sets are discovered while playing, not numbered
    no_tree_reason: str = "is too large for that"
    forgets: str = ""  # an information set without perfect recall, where one is known
    # what only some have: `compiled` and `has_tree` of a game say so
    tree: Any  # a `HistoryTree`
    expanded: Any  # `ExpandedRules`, of compiled rules with a tree
    rules_form: Any  # a `RulesForm`, of compiled rules
    keys: Any  # uint64[m, 1 or 2]: the keys that the information sets of a tree have without it
    keys_of_label: Callable[[str], np.ndarray | None]
    described: Callable[[np.ndarray, int], tuple[str, list[str]]]
    error: Callable[[int], BaseException]

    def __init__(self, name: str, rules: Any) -> None:
        self.name, self.rules = name, rules

    def __getstate__(self) -> dict[str, Any]:
        """Without the forms, which another process builds again."""
        return {"name": self.name, "rules": self.rules}

    @property
    @abstractmethod
    def form(self) -> Any:
        """The form that sampling kernels play on."""

    @property
    @abstractmethod
    def labels(self) -> Labels:
        """Names of information sets and slots."""

    @abstractmethod
    def identity(self) -> Iterator[Any]:
        """Bytes that change when the rules or the numbering of slots do."""

    def check_enumerated(self, what: str) -> None:
        """`BadGame` where information sets are not numbered and so cannot be `what`."""
        if self.discovers_infosets:
            raise BadGame(
                f"{self.name} is played without a tree: its information sets are discovered while "
                f"playing and cannot be {what}"
            )

    @property
    def digest(self) -> bytes:
        """Changes when the rules do, but not by building a tree."""
        return b"".join(bytes(part) for part in self.identity())

    @property
    def depth(self) -> int:
        return int(self.rules.depth)

    @property
    def max_actions(self) -> int:
        return int(np.diff(self.form.first).max())

    @property
    def zero_sum(self) -> bool:
        return bool(self.rules.zero_sum)

    @property
    def has_passive_actions(self) -> bool:
        return not np.any(self.form.passive == NO_ACTION)


class TreeForm(Representation):
    """A game with a `HistoryTree`."""

    capabilities = Capabilities()
    has_tree = True

    @property
    @abstractmethod
    def tree(self) -> HistoryTree:
        """Every history as a node."""

    @property
    def form(self) -> HistoryTree:
        return self.tree

    @property
    def depth(self) -> int:
        return len(level_bounds(self.tree)) - 2

    @property
    def zero_sum(self) -> bool:
        return bool(np.allclose(self.tree.payoff.sum(axis=1), 0.0, atol=1e-12))

    def identity(self) -> Iterator[Any]:
        tree = self.tree
        for array in (tree.first, tree.owner, tree.row, tree.first_child, tree.payoff):
            yield np.ascontiguousarray(array).ravel().data


class StateTree(TreeForm):
    """The tree of `StateRules`."""

    @cached_property
    def _built(self) -> tuple[HistoryTree, Labels]:
        return build_states(self.rules, self.name)

    @property
    def tree(self) -> HistoryTree:
        return self._built[0]

    @property
    def labels(self) -> Labels:
        return self._built[1]

    @property
    def keys(self) -> np.ndarray:
        """uint64[m, 2]: the keys that the information sets have without a tree."""
        known = [label_words(label) for label in self.labels.infoset]
        return keys_of_known(self.tree.owner, np.array(known, dtype=np.int64))

    @cached_property
    def digest(self) -> bytes:
        return probe_states(self.rules, self.name).digest


class CompiledForms(Representation):
    """What both representations of `CompiledRules` have."""

    @cached_property
    def _checked_rules(self) -> CompiledRules:
        """The rules; those of a user are checked before they are compiled."""
        rules: CompiledRules = self.rules
        if not type(rules).__module__.startswith("counterplay."):
            from counterplay.core.forms.checks import quick_check

            quick_check(self.name, rules)
        return rules

    @cached_property
    def _form_and_code(self) -> tuple[RulesForm, Any]:
        return rules_form(self.name, self._checked_rules)

    @property
    def rules_form(self) -> RulesForm:
        """The rules as a form; its code lives as long as this object."""
        return self._form_and_code[0]

    @cached_property
    def digest(self) -> bytes:
        """Changes when the compiled rules do."""
        return rules_digest(self.rules)


class CompiledTree(CompiledForms, TreeForm):
    """The tree of `CompiledRules`."""

    @cached_property
    def expanded(self) -> ExpandedRules:
        """The tree, with the keys of its information sets."""
        return expand_rules(self._checked_rules, self.name)

    @property
    def tree(self) -> HistoryTree:
        return self.expanded.tree

    @cached_property
    def labels(self) -> Labels:
        return label_rules(self.rules, self.expanded, self.name)

    @property
    def keys(self) -> np.ndarray:
        return self.expanded.keys


class Discovered(Representation):
    """A game without a tree, whose information sets are discovered while playing."""

    capabilities = SAMPLING_ONLY
    discovers_infosets = True
    no_tree_reason = "is played without a tree"
    form: RulesForm

    @property
    def labels(self) -> Labels:
        self.check_enumerated("listed")
        raise AssertionError

    @property
    def depth(self) -> int:
        return self.form.shape.depth

    @property
    def max_actions(self) -> int:
        return self.form.shape.actions

    def identity(self) -> Iterator[Any]:
        yield self.digest

    def error(self, problem: int) -> BaseException:
        """The error in the rules that a kernel noticed (`PROBLEMS`)."""
        return BadGame(f"{self.name}: {PROBLEMS[problem]}; cp.check(game) says in which history")

    def keys_of_label(self, label: str) -> np.ndarray | None:
        """The keys that an information set with this label has; None where labels do not say."""
        return None

    def described(self, key: np.ndarray, count: int) -> tuple[str, list[str]]:
        """Labels of the information set with this key and of its actions; where they are not
        known, the key itself and the numbers of the actions."""
        return "#" + "".join(f"{int(word):016x}" for word in key), [*map(str, range(count))]


class DiscoveredForm(CompiledForms, Discovered):
    """`CompiledRules` without a tree."""

    @property
    def form(self) -> RulesForm:  # type: ignore[override]
        return self.rules_form

    @property
    def has_passive_actions(self) -> bool:
        return type(self.rules).passive is not None

    def described(self, key: np.ndarray, count: int) -> tuple[str, list[str]]:
        if len(key) > 1:
            return super().described(key, count)
        word = int(key[0])
        player, known = word & (2**PLAYER_BITS - 1), (word >> PLAYER_BITS,)
        return self.rules.label(player, known), self.rules.action_labels(player, known, count)


class DiscoveredStates(Discovered):
    """`StateRules` without a tree."""

    @cached_property
    def probe(self) -> StateProbe:
        """What random histories say; they are played before any solver plays."""
        return probe_states(self.rules, self.name)

    @cached_property
    def _step(self) -> StateStep:
        self.probe  # noqa: B018 - checks the rules
        return StateStep(self.name, self.rules)

    @property
    def form(self) -> RulesForm:  # type: ignore[override]
        return self._step.form

    digest: bytes = delegated("probe")
    zero_sum: bool = delegated("probe")
    has_passive_actions: bool = delegated("probe")
    forgets: str = delegated("probe")

    def error(self, problem: int) -> BaseException:
        error, self._step.error = self._step.error, None
        if problem == TOO_LONG:
            return BadGame(
                f"{self.name}: a history has more than {self.depth:,} decisions; give the rules an "
                f"attribute `depth`, the decisions of the longest history"
            )
        return error or super().error(problem)

    def keys_of_label(self, label: str) -> np.ndarray:
        players = np.arange(self.rules.n_players)
        for player in players:
            if label.startswith(f"{numbered(player)}: "):
                players, label = players[player : player + 1], label[len(numbered(player)) + 2 :]
                break
        return keys_of_known(players, np.array([label_words(label)] * len(players)))

    def described(self, key: np.ndarray, count: int) -> tuple[str, list[str]]:
        label, actions = self._labels_by_key.get(key.tobytes(), (None, ()))
        if label is None:
            return super().described(key, count)
        return label, [str(action) for action in actions]

    @property
    def _labels_by_key(self) -> dict[bytes, Any]:
        """The labels met in this process so far."""
        met, (size, by_key) = self._step.labels, self._labels_then
        if len(met) > size:
            keys = keys_of_known(*(np.array(part) for part in zip(*met, strict=True)))
            by_key.update(zip((key.tobytes() for key in keys), met.values(), strict=True))
            self._labels_then = (len(met), by_key)
        return by_key

    @cached_property
    def _labels_then(self) -> tuple[int, dict[bytes, Any]]:
        self._step.play_at_random()
        return 0, {}


class SampledForm(Representation):
    """The form that `FormRules` make."""

    capabilities = SAMPLING_ONLY

    @cached_property
    def form(self) -> Any:
        return self.rules.form()

    @cached_property
    def labels(self) -> Labels:
        return Labels(*self.rules.labels())

    def identity(self) -> Iterator[Any]:
        yield self.rules.key()


def representation_of(name: str, rules: Any, tree: bool | None) -> Representation:
    """The representation of rules: with a tree or without as `tree` says; if it is None, with one
    if it is small enough."""
    if tree not in (None, True, False):
        raise BadParameter(f"tree must be True or False, not {tree!r}")
    if isinstance(rules, CompiledRules):
        if tree is None:
            count = getattr(rules, "count_nodes", None)
            tree = count is not None and count() <= rules.most_nodes
        return (CompiledTree if tree else DiscoveredForm)(name, rules)
    if isinstance(rules, FormRules):
        if tree is not None:
            raise BadParameter(f"{name} is never played with a tree; leave out tree")
        return SampledForm(name, rules)
    if tree is None:
        tree = _fits(name, rules)
    return (StateTree if tree else DiscoveredStates)(name, rules)


def _fits(name: str, rules: Any) -> bool:
    """Whether a tree of `StateRules` is small enough to be built unless tree=False. An error in the
    rules is left to whoever builds it."""
    try:
        return probe_states(rules, name).n_nodes <= MOST_NODES
    except Exception:
        return True
