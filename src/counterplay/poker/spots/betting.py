"""The betting of a spot: what a user writes about sizes, and the public tree that follows from it.

Sizes are percent of the pot, of a raise of the pot after the call; `allin` is a size. A text holds
for all streets and both players, or says them: `flop: 33; turn: 50,100; river: 75,allin`, and
before and after a bar the sizes of the two players: `50 | 33,75`. In limit betting they are chips,
one for each street.

The tree is numbered by *segments*: the betting of one street after one history, whose nodes have
consecutive numbers, parents first and siblings side by side. A node that ends a street leads to the
segment of the next one. Where both are all in, the segments that follow are single nodes. A
player's reach changes with its own actions only: `sequence` numbers a player's own action sequences
within a segment.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, positive, real, shown, whole_number

STREETS = ("flop", "turn", "river")
ALL_IN = float("inf")
MOST_NODES = 100_000
MOST_BETS = 100  # on one street
MOST_SIZES = 10
MOST_ACTIONS = MOST_SIZES + 2
DEFAULT_CAP = 4
LEAST, MOST = 1e-3, 1e9  # chips in the pot and in a stack
DECISION, FOLD, SHOWDOWN, ONWARD = range(4)  # kinds of nodes
PLAYERS = 2


@dataclass(frozen=True)
class SpotBetting:
    """`stack`: what each player may still bet; `bets[street][player]` and `raises`: sizes, as
    shares of the pot or in chips if `limit`; `cap`: bets and raises of a street at most."""

    pot: float
    stack: float
    bets: tuple[tuple[tuple[float, ...], ...], ...]
    raises: tuple[tuple[tuple[float, ...], ...], ...]
    cap: int | None
    min_bet: float
    limit: bool
    rake: float
    rake_cap: float

    @property
    def n_streets(self) -> int:
        return len(self.bets)

    def taken(self, pot: float) -> float:
        """Returns the rake of a pot."""
        return min(self.rake * pot, self.rake_cap)


class SpotTree(NamedTuple):
    """n nodes in s segments."""

    kind: np.ndarray  # int64[n]
    player: np.ndarray  # int64[n]: who acts; at a fold who folded; else -1
    street: np.ndarray  # int64[n]: 0 for the first street of the spot
    parent: np.ndarray  # int64[n]: in the same segment; -1 at its first node
    first_child: np.ndarray  # int64[n]
    n_actions: np.ndarray  # int64[n]
    payoff: np.ndarray  # float64[n, 2, 3]: of each player for losing, splitting and winning
    sequence: np.ndarray  # int64[n, 2]: each player's own action sequence in the segment
    n_sequences: np.ndarray  # int64[s, 2]
    first_node: np.ndarray  # int64[s + 1]
    next_segment: np.ndarray  # int64[n]: after a node that ends a street; else -1


class Named(NamedTuple):
    """What people read about a tree."""

    history: list[str]  # of each node: `check-bet 10/check`
    actions: list[list[str]]  # of each node


class _State(NamedTuple):
    """Betting within a street. `paid`: chips since the start of the spot."""

    player: int
    paid: tuple[float, float]
    bets: int = 0  # bets and raises so far on this street
    last: float = 0.0  # the last bet or raise above the call
    before: float = 0.0  # what each had paid before this street
    kind: int = DECISION


def build_tree(rules: SpotBetting) -> tuple[SpotTree, Named]:
    """Returns the public tree of the betting; `BadParameter` if it is too large."""
    return _SpotTreeBuilder(rules).build()


class _SpotTreeBuilder:
    def __init__(self, rules: SpotBetting) -> None:
        self.rules = rules
        self.columns: dict[str, list[Any]] = {name: [] for name in SpotTree._fields}
        self.history: list[str] = []
        self.actions: list[list[str]] = []
        self.starts: list[tuple[int, tuple[float, float], str, int]] = [(0, (0.0, 0.0), "", -1)]

    def build(self) -> tuple[SpotTree, Named]:
        for street, paid, history, above in self.starts:  # grows while it is read
            self.columns["first_node"].append(len(self.history))
            if above >= 0:
                self.columns["next_segment"][above] = len(self.columns["first_node"]) - 1
            self._segment(street, paid, history)
        self.columns["first_node"].append(len(self.history))
        arrays = {
            name: np.array(values, dtype=np.float64 if name == "payoff" else np.int64)
            for name, values in self.columns.items()
        }
        return SpotTree(**arrays), Named(self.history, self.actions)

    def _segment(self, street: int, paid: tuple[float, float], history: str) -> None:
        base, columns = len(self.history), self.columns
        all_in = min(paid) >= self.rules.stack
        kind = self._after(street) if all_in else DECISION
        first = _State(0, paid, before=paid[0], kind=kind)
        states, parents, sequences, counts = [first], [-1], [[0, 0]], [1, 1]
        names = [history]
        k = 0
        while k < len(states):
            state = states[k]
            children = _children(self.rules, street, state) if state.kind == DECISION else []
            labels = [label for label, _ in children]
            _check_labels(labels, names[k])
            columns["first_child"].append(base + len(states))
            for label, child in children:
                own = list(sequences[k])
                own[state.player] = counts[state.player]
                counts[state.player] += 1
                kind = self._after(street) if child.kind == ONWARD else child.kind
                states.append(child._replace(kind=kind))
                parents.append(base + k)
                sequences.append(own)
                names.append(f"{names[k]}{'-' if names[k][-1:] not in ('', '/') else ''}{label}")
            self._add(street, state, names[k], labels)
            if state.kind == ONWARD:
                self.starts.append((street + 1, state.paid, f"{names[k]}/", base + k))
            k += 1
            if base + len(states) > MOST_NODES or state.bets > MOST_BETS:
                where = STREETS[3 - self.rules.n_streets + street]
                many = f"has more than {MOST_NODES:,} nodes"
                if state.bets > MOST_BETS:
                    many = f"has more than {MOST_BETS} raises"
                raise BadParameter(
                    f"bets: the betting tree {many} on the {where}; give fewer or larger sizes, or "
                    f"a lower cap"
                )
        columns["parent"] += parents
        columns["sequence"] += sequences
        columns["n_sequences"].append(counts)

    def _after(self, street: int) -> int:
        """Returns the kind of a node at which the betting of a street is over."""
        return SHOWDOWN if street == self.rules.n_streets - 1 else ONWARD

    def _add(self, street: int, state: _State, history: str, actions: list[str]) -> None:
        columns = self.columns
        columns["kind"].append(state.kind)
        columns["player"].append(state.player if state.kind in (DECISION, FOLD) else -1)
        columns["street"].append(street)
        columns["n_actions"].append(len(actions))
        columns["payoff"].append(_payoffs(self.rules, state))
        columns["next_segment"].append(-1)
        self.history.append(history)
        self.actions.append(actions)


def _check_labels(labels: list[str], history: str) -> None:
    twice = sorted({label for label in labels if labels.count(label) > 1})
    if twice:
        raise BadParameter(
            f"bets: two sizes are both called {twice[0]!r} after {history or 'start'!r}; leave one "
            f"out"
        )


def _payoffs(rules: SpotBetting, state: _State) -> list[list[float]]:
    """Returns both players' payoffs for losing, splitting and winning, from an even split of the
    pot at the start. An uncalled bet is returned, and no rake is taken of it."""
    called = min(state.paid)
    rake, stake = rules.taken(rules.pot + 2 * called), rules.pot / 2 + called
    if state.kind == FOLD:
        values = [-stake if k == state.player else stake - rake for k in range(PLAYERS)]
        return [[value] * 3 for value in values]
    return [[-stake, -rake / 2, stake - rake]] * PLAYERS


def _children(rules: SpotBetting, street: int, state: _State) -> list[tuple[str, _State]]:
    """Returns the label of each action and what follows it."""
    me, paid = state.player, state.paid
    other, called = 1 - me, max(paid)
    facing = paid[other] - paid[me]
    children: list[tuple[str, _State]] = []
    if facing > 0:
        children.append(("fold", _State(me, paid, kind=FOLD)))
        children.append(("call", _State(other, (called, called), kind=ONWARD)))
    else:
        closing = me == 1
        follows = state._replace(player=other, kind=ONWARD if closing else DECISION)
        children.append(("check", follows))
    if (rules.cap is None or state.bets < rules.cap) and paid[other] < rules.stack:
        for to in _targets(rules, street, state):
            new = (to, paid[1]) if me == 0 else (paid[0], to)
            word = "allin" if to >= rules.stack else "raise" if facing > 0 else "bet"
            label = f"{word} {to - state.before:g}"  # a raise: to what on this street
            after = _State(other, new, state.bets + 1, to - paid[other], state.before)
            children.append((label, after))
    return children


def _targets(rules: SpotBetting, street: int, state: _State) -> list[float]:
    """Returns what the player may have paid in all after a bet or raise, without repetition."""
    me, facing = state.player, state.paid[1 - state.player]
    sizes = (rules.raises if state.bets else rules.bets)[street][me]
    pot = rules.pot + 2 * facing
    found: set[float] = set()
    for size in sizes:
        above = size if rules.limit or size == ALL_IN else size * pot
        above = max(above, state.last, rules.min_bet)
        to = min(round(facing + above, 6), rules.stack)
        if to <= facing:
            raise BadParameter(f"bets: a bet of {above:g} chips is none; give larger sizes")
        found.add(to)
    return sorted(found)


def parse_sizes(given: Any, what: str, n_streets: int, limit: bool) -> Any:
    """Returns `sizes[street][player]` from a text or a mapping from streets to texts."""
    streets = STREETS[-n_streets:]
    if isinstance(given, Mapping):
        by_street = {str(street).strip().lower(): text for street, text in given.items()}
    elif isinstance(given, str) and (":" in given or ";" in given):
        by_street = {}
        for part in given.split(";"):
            street, _, text = part.partition(":")
            if part.strip():
                by_street[street.strip().lower()] = text
    else:
        by_street = dict.fromkeys(streets, given)
    unknown = sorted(set(by_street) - set(STREETS))
    if unknown:
        raise BadParameter(
            f"{what}: no street {shown(unknown[0])}; this spot has {', '.join(streets)}"
        )
    missing = [street for street in streets if street not in by_street]
    if missing:
        raise BadParameter(f"{what}: no sizes for the {missing[0]}")
    return tuple(_by_player(by_street[street], f"{what}: {street}", limit) for street in streets)


def _by_player(given: Any, what: str, limit: bool) -> tuple[tuple[float, ...], ...]:
    text = str(given) if isinstance(given, int | float) else given
    parts = text.split("|") if isinstance(text, str) else text
    texts = isinstance(parts, list | tuple) and all(isinstance(part, str) for part in parts)
    if not texts or not 1 <= len(parts) <= PLAYERS:
        raise BadParameter(
            f"{what}: give sizes such as '50,100', or '50 | 33,75' for the two players, not "
            f"{shown(given)}"
        )
    sizes = [_sizes(part, what, limit) for part in parts]
    return tuple(sizes * (PLAYERS // len(sizes)))


def _sizes(text: str, what: str, limit: bool) -> tuple[float, ...]:
    """Returns sizes as shares of the pot, or in chips."""
    sizes = []
    for word in text.replace("%", "").split(","):
        word = word.strip().lower()
        if word in ("allin", "all-in", "a") and not limit:
            sizes.append(ALL_IN)
            continue
        if word in ("", "none") and len(text.split(",")) == 1:
            return ()
        try:
            number = float(word)
        except ValueError:
            raise BadParameter(
                f"{what}: {shown(word)} is no size; write "
                + ("chips, as 2" if limit else "percent of the pot, as 50, or allin")
            ) from None
        if number <= 0:
            raise BadParameter(f"{what}: a size is above 0, not {word[:40]}: it would never end")
        if not number < (MOST if limit else ALL_IN):
            raise BadParameter(f"{what}: a size is above 0 and not as large as {word[:40]}")
        sizes.append(number if limit else round(number, 9) / 100)
    if len(sizes) > (1 if limit else MOST_SIZES):
        most = "one size" if limit else f"{MOST_SIZES} sizes"
        raise BadParameter(f"{what}: {len(sizes)} sizes; {most} at most")
    return tuple(sorted(set(sizes)))


def sizes_text(sizes: Any, limit: bool) -> str:
    """Returns a text that `parse_sizes` reads."""

    def one(size: float) -> str:
        return "allin" if size == ALL_IN else f"{size if limit else round(100 * size, 9):.15g}"

    texts = []
    for pair in sizes:
        both = [",".join(map(one, own)) or "none" for own in pair]
        texts.append(both[0] if both[0] == both[1] else "|".join(both))
    if len(set(texts)) == 1:
        return texts[0]
    streets = STREETS[-len(texts) :]
    return ";".join(f"{street}:{text}" for street, text in zip(streets, texts, strict=True))


def spot_betting(
    n_streets: int, pot: Any, stacks: Any, bets: Any, raises: Any, cap: Any, min_bet: Any,
    limit: Any, rake: Any, rake_cap: Any,
) -> SpotBetting:  # fmt: skip
    """Returns the checked betting of a spot."""
    if not isinstance(limit, bool):
        raise BadParameter(f"limit must be True or False, not {shown(limit)}")
    chips = _chips(pot, "pot")
    if stacks is None and limit:
        stack = ALL_IN
    else:
        pair = stacks if isinstance(stacks, tuple | list) else (stacks, stacks)
        if len(pair) != PLAYERS:
            raise BadParameter(f"stacks: give one number, or one for each player, not {stacks!r}")
        stack = min(_chips(one, f"stacks: player {k}") for k, one in enumerate(pair, 1))
    sizes = parse_sizes(bets, "bets", n_streets, limit)
    if limit and raises is not None:
        raise BadParameter("raises: in limit betting a raise is as large as a bet; leave them out")
    more = sizes if raises is None else parse_sizes(raises, "raises", n_streets, limit)
    if cap is None and limit:
        raise BadParameter("cap: limit betting needs a number of bets and raises of a street")
    if cap is not None:
        whole_number(cap, 0, 100, "cap")
    share = real(rake, "rake")
    if not 0.0 <= share < 1.0:
        raise BadParameter(f"rake: a share of the pot from 0 to below 1, not {shown(rake)}")
    most = ALL_IN if rake_cap is None else real(rake_cap, "rake_cap")
    if most < 0:
        raise BadParameter(f"rake_cap must be at least 0, not {shown(rake_cap)}")
    least = real(min_bet, "min_bet")
    if not 0 <= least <= MOST:
        raise BadParameter(f"min_bet must be from 0 to {MOST:,.0f} chips, not {shown(min_bet)}")
    return SpotBetting(chips, stack, sizes, more, cap, least, limit, share, most)


def _chips(value: Any, what: str) -> float:
    number = positive(value, what)
    if not LEAST <= number <= MOST:
        raise BadParameter(f"{what}: from {LEAST:g} to {MOST:,.0f} chips, not {shown(value)}")
    return number
