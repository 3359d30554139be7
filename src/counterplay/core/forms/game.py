"""`Game`: rules with a name, and the forms built from them on first use."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadGame, BadParameter
from counterplay.core.base.registry import Registry
from counterplay.core.forms.capabilities import (
    FOUND,
    SAMPLING_ONLY,
    Capabilities,
    Unit,
    capabilities_of,
    numbered,
    seats_of,
    unit_of,
)
from counterplay.core.forms.compiled import rules_digest, shape_of
from counterplay.core.forms.evaluator import Evaluator
from counterplay.core.forms.expand import ExpandedRules, expand_rules, label_rules
from counterplay.core.forms.rules import CompiledRules, FormRules, StateRules
from counterplay.core.forms.rules_form import RulesForm, rules_form
from counterplay.core.forms.sequence import (
    SequenceForm,
    Treeplex,
    player_slots,
    sequence_form,
    treeplex,
)
from counterplay.core.forms.states import build_states
from counterplay.core.forms.tree import HistoryTree, Labels, level_bounds


def _is_listed(name: str, rules: Any, tree: bool | None) -> bool:
    """Whether a game has a tree: as somebody says, or compiled rules if they are small enough."""
    if tree not in (None, True, False):
        raise BadParameter(f"tree must be True or False, not {tree!r}")
    if not isinstance(rules, CompiledRules):
        if tree is False:
            raise BadParameter(f"{name} has no compiled rules, so it is played with its tree")
        return not isinstance(rules, FormRules)
    if tree is not None:
        return tree
    count = getattr(rules, "count_nodes", None)
    return count is not None and count() <= rules.most_nodes


class Game:
    """A game by name. `rules` is a `StateRules`, `CompiledRules` or `FormRules` object; `cp.load`
    makes the built-in ones.

    Compiled rules are played without a tree where `tree` is False, and where nobody says so but
    they have more than `most_nodes` histories, or no method `count_nodes()` that says how many.
    """

    def __init__(self, name: str, rules: Any, tree: bool | None = None) -> None:
        listed = _is_listed(name, rules, tree)
        if not isinstance(rules, StateRules | FormRules | CompiledRules):
            raise BadGame(
                f"{name}: rules need `n_players` and a method `root()`; see the how-to on your "
                f"own game"
            )
        if not isinstance(rules.n_players, int) or not 1 <= rules.n_players <= 10:
            raise BadGame(
                f"{name}: n_players must be a whole number from 1 to 10, not {rules.n_players!r}"
            )
        self.name = name
        self.rules: Any = rules
        self.compiled = rules if isinstance(rules, CompiledRules) else None
        if self.compiled is not None:
            shape_of(name, self.compiled)
        usual = None if listed else SAMPLING_ONLY if self.compiled is None else FOUND
        self._abilities = capabilities_of(name, rules, usual)
        self._unit, self._seats = unit_of(name, rules), seats_of(name, rules)

    def __repr__(self) -> str:
        return f"Game({self.name!r})"

    def __getstate__(self) -> dict[str, Any]:
        """Without what was built, which another process builds again."""
        kept = ("name", "rules", "compiled", "_abilities", "_unit", "_seats")
        return {name: vars(self)[name] for name in kept}

    @cached_property
    def _built(self) -> tuple[HistoryTree, Labels]:
        assert isinstance(self.rules, StateRules)
        return build_states(self.rules, self.name)

    @cached_property
    def expanded(self) -> ExpandedRules:
        """The tree of compiled rules, with the keys of its information sets."""
        return expand_rules(self._checked_rules(), self.name)

    @property
    def capabilities(self) -> Capabilities:
        """What can be done with the game: whether it can be listed, measured exactly, played by
        bots, ..."""
        return self._abilities

    def can(self, word: str) -> bool:
        """Whether the rules offer what a package above calls so, such as `bots`."""
        return word in self.capabilities.also

    @property
    def evaluator(self) -> Evaluator:
        """Who measures strategies of the game."""
        evaluators: Registry[Callable[[Game], Evaluator]] = Registry("evaluator")
        return evaluators.find(getattr(self.rules, "evaluator", "exact"))(self)

    @property
    def unit(self) -> Unit:
        """What payoffs are counted in; as text what stands behind a number, such as `per game`
        or `sb/h`."""
        return self._unit

    @property
    def seats(self) -> tuple[str, ...]:
        """How each player's seat is called."""
        return self._seats

    @property
    def has_tree(self) -> bool:
        """Whether the histories can be listed; `capabilities` says that and more."""
        return self.capabilities.listed

    def seat(self, player: int) -> str:
        """How a player's seat is called, with his number: `player 1`, or `player 1 (dealer)`."""
        number = numbered(player)
        return number if self.seats[player] == number else f"{number} ({self.seats[player]})"

    @property
    def tree(self) -> HistoryTree:
        """Every history as a node; built on first use."""
        if not self.capabilities.listed:
            raise self._too_large("listed")
        return self._built[0] if self.compiled is None else self.expanded.tree

    def _too_large(self, what: str) -> BadGame:
        solvers: Registry[Any] = Registry("solver")
        responses: Registry[Any] = Registry("response")
        names = sorted(name for name, one in solvers.items() if one.sampled and one.plays(self))
        known = ", ".join([*names, *(name for name, one in responses.items() if one.sampled)])
        why = (
            "is played without a tree" if self.capabilities.discovered else "is too large for that"
        )
        return BadGame(f"{self.name} {why}: it can be sampled ({known}) but not {what}")

    @cached_property
    def compiled_digest(self) -> bytes:
        """Changes when the compiled rules do."""
        assert self.compiled is not None
        return rules_digest(self.compiled)

    @cached_property
    def _rules_form(self) -> tuple[RulesForm, Any]:
        return rules_form(self.name, self._checked_rules())

    def _checked_rules(self) -> CompiledRules:
        """The compiled rules; user-defined ones are looked at before they are compiled."""
        assert self.compiled is not None
        if not type(self.compiled).__module__.startswith("counterplay."):
            from counterplay.core.forms.checks import quick_check

            quick_check(self.name, self.compiled)
        return self.compiled

    @property
    def rules_form(self) -> RulesForm:
        """Compiled rules as a form, of a game that has them."""
        return self._rules_form[0]

    @cached_property
    def form(self) -> Any:
        """What sampling solvers play on: the tree, or the form of a game too large for one."""
        if self.capabilities.discovered:
            return self.rules_form
        return self.rules.form() if isinstance(self.rules, FormRules) else self.tree

    @cached_property
    def sequence_form(self) -> SequenceForm:
        """Two players with perfect recall only; built on first use."""
        if self.capabilities.listed and not self.capabilities.full_width:
            raise self._too_large("solved at full width")
        return sequence_form(self.tree)

    @cached_property
    def kept(self) -> dict[Any, Any]:
        """What others have prepared for this game, by a key of theirs; no file keeps it."""
        return {}

    @cached_property
    def treeplexes(self) -> tuple[Treeplex, ...]:
        """Each player's own decisions. `BadGame` where a player has no perfect recall."""
        if self.n_players == 2:
            return tuple(Treeplex(side.parent, side.first) for side in self.sequence_form)
        return tuple(treeplex(self.tree, player)[0] for player in range(self.n_players))

    @cached_property
    def labels(self) -> Labels:
        """Names of information sets and slots, for people."""
        self._check_counted("listed")
        if isinstance(self.rules, FormRules):
            return Labels(*self.rules.labels())
        if self.compiled is not None:
            return label_rules(self.compiled, self.expanded, self.name)
        return self._built[1]

    @cached_property
    def infoset_names(self) -> list[str]:
        """Labels made unique: one that several share is told apart by its player, or by its
        number."""
        labels, owners = self.labels.infoset, self.form.owner.tolist()
        count = Counter(labels)
        by_player = Counter(zip(owners, labels, strict=True))
        names = []
        for i, (label, owner) in enumerate(zip(labels, owners, strict=True)):
            if by_player[owner, label] > 1:
                label = f"{label} #{i}"
            elif count[label] > 1:
                label = f"{numbered(owner)}: {label}"
            names.append(label)
        return names

    @cached_property
    def infoset_by_name(self) -> dict[str, int]:
        """Information set by its unique name."""
        return {name: i for i, name in enumerate(self.infoset_names)}

    @property
    def n_players(self) -> int:
        """How many play."""
        return int(self.rules.n_players)

    @property
    def n_nodes(self) -> int:
        """Histories of the tree; in hold'em betting sequences."""
        self._check_counted("counted")
        return int(self.form.n_nodes)

    @property
    def n_infosets(self) -> int:
        """Information sets of all players."""
        self._check_counted("counted")
        return int(self.form.n_infosets)

    @property
    def n_slots(self) -> int:
        """Length of a policy: information sets times their actions."""
        self._check_counted("counted")
        return int(self.form.n_slots)

    def _check_counted(self, what: str) -> None:
        if self.capabilities.discovered:
            raise BadGame(
                f"{self.name} is played without a tree: its information sets are found while "
                f"playing and cannot be {what}"
            )

    @cached_property
    def depth(self) -> int:
        """Moves (chance included) in the longest history."""
        return (
            len(level_bounds(self.tree)) - 2 if self.capabilities.listed else int(self.rules.depth)
        )

    @cached_property
    def max_actions(self) -> int:
        """The most actions at one information set."""
        if self.capabilities.discovered:
            return int(self.rules.max_actions)
        return int(np.diff(self.form.first).max())

    @cached_property
    def zero_sum(self) -> bool:
        """Whether payoffs sum to zero at every end."""
        if not self.capabilities.listed:
            return bool(self.rules.zero_sum)
        return bool(np.allclose(self.tree.payoff.sum(axis=1), 0.0, atol=1e-12))

    @cached_property
    def perfect_recall(self) -> bool:
        """Whether every player remembers what he did."""
        try:
            return self.capabilities.listed and len(self.treeplexes) == self.n_players
        except BadGame:
            return False

    @property
    def measurable(self) -> bool:
        """Whether exploitability can be computed."""
        return self.evaluator.immediate and self.perfect_recall

    def slots(self, player: int) -> slice:
        """The part of a policy that belongs to `player`."""
        self.check_player(player)
        self._check_counted("listed")
        return player_slots(self.form, player)

    def check_player(self, player: int) -> None:
        """`BadParameter` unless there is such a player."""
        if (
            isinstance(player, bool)
            or not isinstance(player, int | np.integer)
            or not 0 <= player < self.n_players
        ):
            raise BadParameter(
                f"player must be from 0 to {self.n_players - 1} in {self.name}, not {player!r}"
            )

    @cached_property
    def fingerprint(self) -> str:
        """Changes when the rules or the numbering of slots do; kept in every file that holds
        slots."""
        digest = hashlib.blake2b(self.name.encode(), digest_size=8)
        if self.capabilities.discovered:
            digest.update(self.compiled_digest)
            return digest.hexdigest()
        if isinstance(self.rules, FormRules):
            digest.update(self.rules.key())
            return digest.hexdigest()
        for array in (
            self.tree.first,
            self.tree.owner,
            self.tree.row,
            self.tree.first_child,
            self.tree.payoff,
        ):
            digest.update(np.ascontiguousarray(array).ravel().data)
        return digest.hexdigest()
