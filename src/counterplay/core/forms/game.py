"""`Game`: rules with a name, and the forms built from them on first use. `Evaluator`: the interface
that measures strategies of a game."""

from __future__ import annotations

import hashlib
from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadGame, BadParameter
from counterplay.core.base.registry import Registry
from counterplay.core.forms.capabilities import (
    Capabilities,
    Unit,
    capabilities_of,
    numbered,
    seats_of,
    unit_of,
)
from counterplay.core.forms.compiled import shape_of
from counterplay.core.forms.expand import ExpandedRules
from counterplay.core.forms.representation import delegated, representation_of
from counterplay.core.forms.rules import CompiledRules, FormRules, StateRules
from counterplay.core.forms.rules_form import RulesForm
from counterplay.core.forms.sequence import (
    ImperfectRecall,
    SequenceForm,
    Treeplex,
    player_slots,
    sequence_form,
    treeplex,
)
from counterplay.core.forms.tree import HistoryTree, Labels

if TYPE_CHECKING:
    from counterplay.core.forms.mixture import Mixture
    from counterplay.core.forms.strategy import Strategy


from_representation = partial(delegated, "_representation")


class Game:
    """A game by name. `rules` is a `StateRules`, `CompiledRules` or `FormRules` object; `cp.load`
    makes the built-in ones.

    `tree`: whether the game is played with a tree of its histories. None: with one unless it would
    be too large. The tree of compiled rules is too large if it has more than `most_nodes` histories
    or the rules have no method `count_nodes()`; that of states if an estimate says some million.
    """

    has_tree: bool = from_representation("Whether the game has a tree of its histories.")
    discovers_infosets: bool = from_representation(
        "Whether information sets are discovered while playing: strategies are hash tables."
    )
    has_passive_actions: bool = from_representation(
        "Whether a player can check or call at every information set."
    )
    expanded: ExpandedRules = from_representation(
        "The tree of compiled rules, with the keys of its information sets."
    )
    rules_form: RulesForm = from_representation("Compiled rules as a form, with or without a tree.")
    keys: np.ndarray = from_representation(
        "uint64[m, 1 or 2]: the keys that the tree's information sets have without it."
    )
    form: Any = from_representation(
        "The form that sampling solvers play on: the tree, or another where there is none."
    )
    labels: Labels = from_representation("Names of information sets and slots.")
    depth: int = from_representation("Moves (chance included) in the longest history.")
    max_actions: int = from_representation("The most actions at one information set.")
    zero_sum: bool = from_representation("Whether payoffs sum to zero at every end.")

    def __init__(self, name: str, rules: Any, tree: bool | None = None) -> None:
        self._representation = representation_of(name, rules, tree)
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
        self._capabilities = capabilities_of(name, rules, self._representation.capabilities)
        self._unit, self._seats = unit_of(name, rules), seats_of(name, rules)

    def __repr__(self) -> str:
        return f"Game({self.name!r})"

    def __getstate__(self) -> dict[str, Any]:
        """Without the forms, which another process builds again."""
        built = [name for name in vars(self) if isinstance(vars(Game).get(name), cached_property)]
        return {name: value for name, value in vars(self).items() if name not in built}

    @property
    def capabilities(self) -> Capabilities:
        """What can be done with the game besides sampling it."""
        return self._capabilities

    def can(self, word: str) -> bool:
        """Whether the rules offer a feature that a package above names, such as `bots`."""
        return word in self._capabilities.also

    @property
    def evaluator(self) -> Evaluator:
        """Measures strategies of the game: values, best responses, exploitability."""
        evaluators: Registry[Callable[[Game], Evaluator]] = Registry("evaluator")
        return evaluators.find(getattr(self.rules, "evaluator", "exact"))(self)

    @property
    def unit(self) -> Unit:
        """The unit of payoffs; as text what stands behind a number: `per game`, `sb/h`."""
        return self._unit

    @property
    def seats(self) -> tuple[str, ...]:
        """The name of each player's seat."""
        return self._seats

    def seat(self, player: int) -> str:
        """The name of a player's seat, with its number: `player 1`, or `player 1 (dealer)`."""
        number = numbered(player)
        return number if self.seats[player] == number else f"{number} ({self.seats[player]})"

    @property
    def tree(self) -> HistoryTree:
        """Every history as a node."""
        if not self.has_tree:
            raise self._too_large("listed")
        tree: HistoryTree = self._representation.tree
        return tree

    def _too_large(self, what: str) -> BadGame:
        solvers: Registry[Any] = Registry("solver")
        responses: Registry[Any] = Registry("response")
        names = sorted(name for name, one in solvers.items() if one.sampled and one.plays(self))
        names += [name for name, one in responses.items() if one.sampled]
        reason = self._representation.no_tree_reason
        return BadGame(
            f"{self.name} {reason}: it can be sampled ({', '.join(names)}) but not {what}"
        )

    @property
    def rules_digest(self) -> bytes:
        """Changes when the rules do; the same with a tree and without."""
        return self._representation.digest

    def described(self, key: np.ndarray, count: int) -> tuple[str, list[str]]:
        """Labels of a discovered information set and of its actions, by its key."""
        return self._representation.described(key, count)

    def keys_of_label(self, label: str) -> np.ndarray | None:
        """uint64[n, k]: the keys that an information set with this label has, one for each player;
        None where labels do not say."""
        return self._representation.keys_of_label(label)

    def check_rules(self, problem: int) -> None:
        """Raises the error in the rules that a kernel recorded by this number; 0 is none."""
        if problem:
            raise self._representation.error(problem)

    @cached_property
    def sequence_form(self) -> SequenceForm:
        """The sequence form; for two players with perfect recall."""
        if self.has_tree and not self._capabilities.full_width:
            raise self._too_large("solved at full width")
        form: SequenceForm = self._remembered(sequence_form, self.tree)
        return form

    @cached_property
    def cache(self) -> dict[Any, Any]:
        """What other packages prepare for this game, by keys of their own; never saved."""
        return {}

    @cached_property
    def treeplexes(self) -> tuple[Treeplex, ...]:
        """Each player's own decisions. `BadGame` if a player lacks perfect recall."""
        if self.n_players == 2:
            return tuple(Treeplex(side.parent, side.first) for side in self.sequence_form)
        every = range(self.n_players)
        return tuple(self._remembered(treeplex, self.tree, player)[0] for player in every)

    def _remembered(self, build: Callable[..., Any], *arguments: Any) -> Any:
        """What `build` gives; an error says by its label where a player forgets."""
        try:
            return build(*arguments)
        except ImperfectRecall as error:
            name = repr(self.labels.infoset[error.infoset])
            raise ImperfectRecall(error.player, error.infoset, name) from None

    @cached_property
    def forgets(self) -> str:
        """An information set at which a player has forgotten own actions, in words; empty if there
        is none, or none is known in a game without a tree."""
        if not self.has_tree:
            return self._representation.forgets
        try:
            self.treeplexes  # noqa: B018 - raises
        except ImperfectRecall as error:
            return f"{self.labels.infoset[error.infoset]!r} of {numbered(error.player)}"
        except BadGame:  # no sequence form, for another reason
            pass
        return ""

    @cached_property
    def infoset_names(self) -> list[str]:
        """Labels made unique: equal ones are distinguished by player, or by number."""
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
        """The number of players."""
        return int(self.rules.n_players)

    @property
    def n_nodes(self) -> int:
        """Histories of the tree; in hold'em betting sequences."""
        self._representation.check_enumerated("counted")
        return int(self.form.n_nodes)

    @property
    def n_infosets(self) -> int:
        """Information sets of all players."""
        self._representation.check_enumerated("counted")
        return len(self.form.owner)

    @property
    def n_slots(self) -> int:
        """Length of a policy: information sets times their actions."""
        self._representation.check_enumerated("counted")
        return int(self.form.first[-1])

    @cached_property
    def perfect_recall(self) -> bool:
        """Whether every player remembers its own actions and what it knew; without a tree as the
        rules say, by default not."""
        if not self.has_tree:
            return bool(getattr(self.rules, "perfect_recall", False))
        try:
            return len(self.treeplexes) == self.n_players
        except BadGame:
            return False

    @property
    def measurable(self) -> bool:
        """Whether exploitability can be computed."""
        evaluator = self.evaluator
        return evaluator.immediate and (self.perfect_recall or not evaluator.needs_recall)

    def slots(self, player: int) -> slice:
        """The part of a policy that belongs to `player`."""
        self.check_player(player)
        self._representation.check_enumerated("listed")
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
        """Changes when the rules or the numbering of slots do; part of files that hold slots."""
        digest = hashlib.blake2b(self.name.encode(), digest_size=8)
        for part in self._representation.identity():
            digest.update(part)
        return digest.hexdigest()


class Payoff(NamedTuple):
    """A query: the value to `player` against `against` of `by`, or of a best response (None)."""

    player: int
    against: Strategy | Mixture
    by: Strategy | Mixture | None = None


class Evaluator(ABC):
    """Values, best responses and exploitability in one game; each evaluator has its own
    `options`. A file that sets `EVALUATOR` offers one; rules name theirs in the attribute
    `evaluator`, by default `exact`."""

    name: ClassVar[str]
    #: For an evaluator that takes long: how to ask for it with options. Empty for a quick one.
    how: ClassVar[str] = ""
    #: Whether best responses need perfect recall: those in the strategy's own information sets do.
    needs_recall: ClassVar[bool] = True

    def __init__(self, game: Game) -> None:
        self.game = game

    @property
    def immediate(self) -> bool:
        """Whether it is quick enough to run without being asked for."""
        return False

    @property
    def on_request(self) -> bool:
        """Whether it takes long and runs only when asked for, with options."""
        return bool(self.how)

    def check(self, options: Mapping[str, Any] | None, payoffs: int) -> bool:
        """Whether `options` ask for `payoffs` queries on request; `BadParameter` if they are
        invalid, as all are where nothing takes long. Does no other work."""
        if options:
            raise BadParameter(
                f"{next(iter(options))} is for games that take long to measure; responses in "
                f"{self.game.name} are measured as a whole"
            )
        return False

    @abstractmethod
    def value(self, strategy: Strategy | Mixture, **options: Any) -> np.ndarray:
        """The value to each player."""

    @abstractmethod
    def best_response(
        self, strategy: Strategy | Mixture, player: int, **options: Any
    ) -> tuple[float, Strategy | None]:
        """The value of a best response of `player`, and the profile with it if it can be listed."""

    @abstractmethod
    def exploitability(self, strategy: Strategy | Mixture, **options: Any) -> float:
        """The sum of what the players can gain by deviating."""

    def payoffs(self, asked: Sequence[Payoff], **options: Any) -> list[float]:
        """The value of each query, in one pass where that saves work."""
        from counterplay.core.forms.mixture import single_strategy

        values = []
        for player, against, by in asked:
            if by is None:
                values.append(self.best_response(against, player, **options)[0])
                continue
            own, other = (single_strategy(one) for one in (by, against))
            values.append(float(self.value(other.replace(own, player), **options)[player]))
        return values
