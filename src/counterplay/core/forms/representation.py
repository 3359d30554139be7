"""The four ways in which a game is held in memory, and what `Game` asks of each.

| representation | rules | form for sampling |
|---|---|---|
| `StateTree` | `StateRules` | the tree, built one state at a time |
| `CompiledTree` | `CompiledRules` | the tree, built by a kernel |
| `DiscoveredForm` | `CompiledRules` | the rules themselves; information sets are discovered |
| `SampledForm` | `FormRules` | the one that the rules make; no tree |
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from functools import cached_property
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadGame, BadParameter
from counterplay.core.forms.capabilities import DISCOVERED, SAMPLING_ONLY, Capabilities
from counterplay.core.forms.compiled import rules_digest
from counterplay.core.forms.expand import ExpandedRules, expand_rules, label_rules
from counterplay.core.forms.rules import CompiledRules, FormRules
from counterplay.core.forms.rules_form import RulesForm, rules_form
from counterplay.core.forms.states import build_states
from counterplay.core.forms.tree import NO_ACTION, HistoryTree, Labels, level_bounds


class Representation(ABC):
    """The forms of one game; all are built on first use."""

    capabilities: Capabilities  # of rules that set none
    has_tree: bool = False
    discovers: bool = False  # information sets are discovered while playing, not numbered
    no_tree_reason: str = "is too large for that"

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
        if self.discovers:
            raise BadGame(
                f"{self.name} is played without a tree: its information sets are discovered while "
                f"playing and cannot be {what}"
            )

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
    def has_passive(self) -> bool:
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


class DiscoveredForm(CompiledForms):
    """`CompiledRules` without a tree."""

    capabilities = DISCOVERED
    discovers = True
    no_tree_reason = "is played without a tree"

    @property
    def form(self) -> RulesForm:
        return self.rules_form

    @property
    def labels(self) -> Labels:
        self.check_enumerated("listed")
        raise AssertionError

    @property
    def max_actions(self) -> int:
        return int(self.rules.max_actions)

    @property
    def has_passive(self) -> bool:
        return type(self.rules).passive is not None

    def identity(self) -> Iterator[Any]:
        yield self.digest


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
    """The representation of rules: with a tree or without as `tree` says; if it is None, compiled
    rules have a tree if it is small enough."""
    if tree not in (None, True, False):
        raise BadParameter(f"tree must be True or False, not {tree!r}")
    if not isinstance(rules, CompiledRules):
        if tree is False:
            raise BadParameter(f"{name} has no compiled rules, so it is played with its tree")
        return (SampledForm if isinstance(rules, FormRules) else StateTree)(name, rules)
    if tree is None:
        count = getattr(rules, "count_nodes", None)
        tree = count is not None and count() <= rules.most_nodes
    return (CompiledTree if tree else DiscoveredForm)(name, rules)
