"""Locks: what a player does at some decisions other than a strategy says, and how far that is
believed. A response to the strategy with locks is the answer to a player of whom only that is
known.

A lock is a text, `WHERE ACTION SHARE`, such as `river fold 0.85` or `bet 10 fold 0.7 trust 0.5`, in
a spot also with hands, `bet 10 call 1 with flush draws`, or a part of a file in TOML, which says
more:

    [[lock]]
    at = "bet 10"                     # which decisions; the game reads it
    frequency = {fold = 0.7}          # how often, over the hands as they come there
    trust = 0.8                       # from 0 to 1, by default 1
    [[lock]]
    at = "check"
    hands = "flush draws"             # in a spot; left out: all
    play = {"bet 20" = 1.0}           # what each of these hands does

A frequency is met at every decision by itself, over the hands as they come there, and is spread
over them as the strategy would: their odds of an action are multiplied by one factor. `trust` is
Pconf, the probability with which the locked player is bound to the lock at this decision (Johanson
& Bowling 2009).

Locks of the same decisions and hands for different actions are one lock. A lock of fewer decisions
or hands than one before it is an exception from that; otherwise two that do not say the same of a
hand contradict each other.
"""

from __future__ import annotations

import tomllib
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.disk import read_bytes
from counterplay.core.base.errors import BadFile, BadParameter, one_line, probability, shown
from counterplay.core.forms.mixture import single_strategy
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.players import players_of, strategy_in

FIELDS = ("at", "hands", "board", "play", "frequency", "trust")
SIZED = ("bet", "raise", "allin")  # actions that a number may follow
ROUNDING = 1e-3  # of a sum of probabilities
LARGEST_FILE = 1_000_000  # bytes
TOLERANCE = 1e-9  # of a frequency
SMALLEST = 1e-3  # share of an action that the strategy never takes, so that it can be raised
FITS = 2_000  # steps in which a frequency is reached
EXAMPLE = "WHERE ACTION SHARE, such as 'river fold 0.85', or a file NAME.toml"


@dataclass(frozen=True)
class Lock:
    """One lock; `name` says which in errors."""

    name: str
    at: str
    play: Mapping[str, float]
    in_all: bool = True  # whether `play` has frequencies over all hands, or those of each hand
    hands: str | None = None
    board: str = ""
    trust: float = 1.0

    def groups(self, actions: Iterable[str], same: Mapping[str, tuple[str, ...]]) -> np.ndarray:
        """int64[actions]: the position of each action in `play`, by one of its names; -1 where
        `play` does not have it. `same`: further names of an action."""
        place = {name: k for k, name in enumerate(self.play)}
        found = [[place.get(name, -1) for name in (a, *same.get(a, ()))] for a in actions]
        return np.array([next((p for p in positions if p >= 0), -1) for positions in found])


class LockedDecision(NamedTuple):
    """One decision that a lock names; n hands, a actions."""

    infosets: np.ndarray  # int64[n]
    weight: np.ndarray  # float64[n]: how often each comes there
    group: np.ndarray  # int64[a]: the position of each action in `Lock.play`, or -1


def read_locks(given: Any, where: str = "locks") -> tuple[Lock, ...]:
    """Locks from texts, from a file in TOML, from a mapping of its shape, or from several."""
    if isinstance(given, Lock):
        return (given,)
    if isinstance(given, Path) or (isinstance(given, str) and given.endswith(".toml")):
        return read_locks(_read_file(Path(given)), str(given))
    if isinstance(given, str):
        return (parse_lock(given),)
    if isinstance(given, Mapping):
        _known(given, ("lock",), where)
        rows = given.get("lock")
        if not isinstance(rows, list | tuple) or not rows:
            raise BadParameter(f"{where}: there is no [[lock]]")
        return tuple(_lock(row, f"{where}: lock {k}") for k, row in enumerate(rows, 1))
    if not isinstance(given, Iterable):
        raise BadParameter(f"{where}: a lock is {EXAMPLE}, not {shown(given)}")
    found = tuple(lock for one in given for lock in read_locks(one, where))
    if not found:
        raise BadParameter(f"{where}: give at least one, {EXAMPLE}")
    return found


def parse_lock(text: str) -> Lock:
    """A lock from `WHERE ACTION SHARE`, with `with HANDS` and `trust T` after it or without."""
    words, trust, hands = text.split(), 1.0, None
    if len(words) > 4 and words[-2] == "trust":
        trust = _share(words[-1], "the trust of a lock")
        words = words[:-2]
    if "with" in words[3:]:
        at = words.index("with", 3)
        hands, words = " ".join(words[at + 1 :]), words[:at]
    if len(words) < 3:
        raise BadParameter(f"a lock is {EXAMPLE}, not {shown(text[:80])}")
    share = _share(words.pop(), "the share of a lock")
    size = 2 if len(words) > 2 and words[-2].lower() in SIZED and _is_number(words[-1]) else 1
    action = " ".join(words[-size:]).lower()
    name, where = f"lock {shown(text)}", " ".join(words[:-size])
    return Lock(name, where, {action: share}, hands=hands, trust=trust)


def _share(word: str, what: str) -> float:
    if not _is_number(word):
        raise BadParameter(f"{what} is a number from 0 to 1, not {shown(word[:40])}")
    return probability(float(word), what)


def _is_number(word: str) -> bool:
    try:
        return bool(np.isfinite(float(word)))
    except ValueError:
        return False


def _read_file(path: Path) -> Any:
    data = read_bytes(path, LARGEST_FILE)
    try:
        return tomllib.loads(data.decode())
    except (ValueError, RecursionError) as error:
        raise BadFile(f"{path}: not a file of locks in TOML: {one_line(error)}") from None


def _known(given: Mapping[str, Any], names: tuple[str, ...], where: str) -> None:
    strange = sorted(str(name) for name in given if name not in names)
    if strange:
        raise BadParameter(f"{where}: no field {strange[0]!r}; there are {', '.join(names)}")


def _lock(row: Any, where: str) -> Lock:
    if not isinstance(row, Mapping):
        raise BadParameter(f"{where}: a table with at and frequency, not {shown(row)}")
    _known(row, FIELDS, where)
    kinds = [name for name in ("play", "frequency") if name in row]
    if len(kinds) != 1:
        raise BadParameter(f"{where}: give either play or frequency")
    shares, in_all = row[kinds[0]], kinds[0] == "frequency"
    if not isinstance(shares, Mapping) or not shares:
        raise BadParameter(f"{where}: {kinds[0]} is like {{fold = 0.7}}, not {shown(shares)}")
    play = {str(k): probability(v, f"{where}: {kinds[0]} of {k}") for k, v in shares.items()}
    total = sum(play.values())
    if total > 1 + ROUNDING or (not in_all and total < 1 - ROUNDING):
        raise BadParameter(f"{where}: the probabilities sum to {total:g}, not 1")
    for name in ("at", "hands", "board"):
        if (name in row or name == "at") and not isinstance(row.get(name), str):
            raise BadParameter(f"{where}: {name} is a text, not {shown(row.get(name))}")
    trust = probability(row.get("trust", 1.0), f"{where}: trust")
    return Lock(where, row["at"], play, in_all, row.get("hands"), row.get("board", ""), trust)


def refuse_fields(lock: Lock, game: str) -> None:
    """`BadParameter` for what only spots have."""
    for name, value in (("hands", lock.hands), ("board", lock.board)):
        if value:
            raise BadParameter(f"{lock.name}: {name}: {game} has no such part of a lock; spots do")


class LockedModel(NamedTuple):
    """A strategy with locks; m information sets."""

    strategy: Strategy
    trust: np.ndarray  # float64[m]: of the lock; NaN where there is none


def locked(strategy: Any, locks: Any) -> Strategy:
    """The strategy, or that of a run, with locks: texts such as `river fold 0.85`, in a small game
    `K* bet 0.3` with names of information sets, or a file in TOML."""
    return lock_model(single_strategy(strategy_in(strategy)), read_locks(locks)).strategy


def lock_model(strategy: Strategy, locks: Iterable[Lock]) -> LockedModel:
    """The strategy with locks, and how far they are trusted where they hold."""
    resolver, first = players_of(strategy.game), np.asarray(strategy.game.form.first)
    trust = np.full(len(first) - 1, np.nan)
    said = _Said(len(trust), resolver.infoset_name)
    for lock in _joined(locks):
        batches: dict[Any, list[LockedDecision]] = {}  # of the same shape
        decisions = resolver.decisions(strategy, lock)
        said.add(lock, decisions)
        for one in decisions:
            batches.setdefault((len(one.infosets), *one.group.tolist()), []).append(one)
        policy = strategy.probabilities.copy()
        for batch in batches.values():
            infosets = np.stack([one.infosets for one in batch])
            weight, group = np.stack([one.weight for one in batch]), batch[0].group
            slots = first[infosets][:, :, None] + np.arange(len(group))
            rows = policy[slots]
            if not lock.in_all:  # each hand by itself
                rows, weight = rows.reshape(-1, 1, len(group)), np.ones((weight.size, 1))
            policy[slots] = _fitted(rows, weight, group, lock).reshape(slots.shape)
            trust[infosets] = lock.trust
        strategy = Strategy(strategy.game, policy).for_player(strategy.player)
    return LockedModel(strategy, trust)


def _joined(locks: Iterable[Lock]) -> list[Lock]:
    """Locks in which those that are alike but for their actions are one, in the place of the last,
    if they can all hold."""
    found: dict[int, Lock] = {}
    latest: dict[Any, int] = {}
    for k, lock in enumerate(locks):
        alike = (lock.at, lock.hands, lock.board, lock.in_all, lock.trust)
        before = latest.get(alike, k)
        latest[alike], found[k] = k, lock
        play = {**found[before].play, **lock.play}
        agree = play == {**lock.play, **found[before].play} and sum(play.values()) <= 1 + TOLERANCE
        if before != k and agree:
            one = found.pop(before)
            name = lock.name if len(play) == len(lock.play) else f"{one.name} and {lock.name}"
            found[k] = replace(lock, name=name, play=play)
    return list(found.values())


class _Said:
    """What locks say of m information sets, one lock after another."""

    def __init__(self, m: int, name_of: Callable[[int], str]) -> None:
        self._name_of = name_of
        self._last = np.full(m, -1, dtype=np.int32)  # the position in `_meanings`
        self._meanings: list[tuple[int, Any]] = []  # which lock, and what it says
        self._locks: list[tuple[Lock, int, np.ndarray]] = []  # how many it names, and which: bits

    def add(self, lock: Lock, decisions: list[LockedDecision]) -> None:
        """`BadParameter` if a lock contradicts one before it."""
        mine = np.concatenate([one.infosets for one in decisions])
        groups: dict[tuple[int, ...], list[np.ndarray]] = {}
        for one in decisions:
            groups.setdefault(tuple(one.group.tolist()), []).append(one.infosets)
        for group, parts in groups.items():
            infosets, meaning = np.concatenate(parts), _meaning(lock, np.array(group))
            for k in np.unique(self._last[infosets]).tolist():
                if k < 0 or self._meanings[k][1] == meaning:
                    continue
                other, many, bits = self._locks[self._meanings[k][0]]
                if len(mine) >= many or not np.unpackbits(bits)[mine].all():
                    both = infosets[self._last[infosets] == k]
                    raise BadParameter(
                        f"{lock.name}: it contradicts {other.name} at "
                        f"{self._name_of(int(both[0]))}; an exception is of fewer decisions or "
                        f"hands, and comes later"
                    )
            self._last[infosets] = len(self._meanings)
            self._meanings.append((len(self._locks), meaning))
        named = np.zeros(len(self._last), dtype=bool)
        named[mine] = True
        self._locks.append((lock, len(mine), np.packbits(named)))


def _meaning(lock: Lock, group: np.ndarray) -> Any:
    """What a lock says of a decision: how often which actions are taken, and its trust."""
    wanted = _wanted(group, lock)
    members = [tuple(np.flatnonzero(group % len(wanted) == k)) for k in range(len(wanted))]
    shares = {one: round(float(w), 9) for one, w in zip(members, wanted, strict=True) if one}
    return shares, lock.trust


def _wanted(group: np.ndarray, lock: Lock) -> np.ndarray:
    """The shares at a decision of the actions of `play`, 0 of those that are not legal, and of all
    others."""
    wanted = np.array([*lock.play.values(), 0.0])
    wanted[[k for k in range(len(lock.play)) if k not in group]] = 0.0
    total = wanted.sum()
    if (group < 0).any():
        wanted[-1] = max(1.0 - total, 0.0)
    elif lock.in_all and len(set(group)) == len(lock.play) and abs(total - 1.0) > ROUNDING:
        raise BadParameter(f"{lock.name}: the frequencies of all actions sum to {total:g}, not 1")
    total = wanted.sum()
    return wanted / total if total > 0 else wanted


def _fitted(rows: np.ndarray, weight: np.ndarray, group: np.ndarray, lock: Lock) -> np.ndarray:
    """Rows in which the actions of `play` that are legal here have their shares."""
    wanted = _wanted(group, lock)
    return fit_shares(rows, weight, group, wanted) if wanted.any() else rows


def fit_shares(
    rows: np.ndarray, weight: np.ndarray, group: np.ndarray, wanted: np.ndarray
) -> np.ndarray:
    """Probabilities, [decisions, hands, actions], in which the groups of actions (the last is -1)
    have the shares `wanted` over the hands of each decision, [decisions, hands]: those of `rows`
    times one factor for each group and decision."""
    policy = (1.0 - SMALLEST) * rows + SMALLEST / rows.shape[2]
    total = weight.sum(axis=1, keepdims=True)
    weight = np.where(total > 0, weight / np.where(total > 0, total, 1.0), 1 / weight.shape[1])
    members = np.arange(len(wanted)) == (group % len(wanted))[:, None]  # [actions, groups]
    factor = np.ones((len(rows), len(wanted)))
    fitted: np.ndarray = policy
    for _ in range(FITS):
        fitted = policy * (factor @ members.T)[:, None, :]
        fitted /= fitted.sum(axis=2, keepdims=True)
        found = np.einsum("dh,dha->da", weight, fitted) @ members
        if np.abs(found - wanted).max() < TOLERANCE:
            break
        factor *= np.where(found > 0, wanted / np.where(found > 0, found, 1.0), 1.0)
    return fitted
