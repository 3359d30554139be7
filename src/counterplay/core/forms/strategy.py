"""`Strategy`: a probability for every action of every information set of a game."""

from __future__ import annotations

import copy
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, BadParameter, BadStrategy, CounterplayError
from counterplay.core.base.registry import check_not_user_defined
from counterplay.core.forms.display import Row, StrategyDisplay
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import EXCHANGES, NAME_THE_GAME, as_game, load
from counterplay.core.forms.sequence import plan_from_policy
from counterplay.core.kernels.policy import normalise

#: Largest error of a sum of probabilities.
TOLERANCE = 1e-9
#: Strategies of at least so many slots are compressed on disk.
COMPRESSED_FROM = 100_000


def _kind(game: Game) -> type[Strategy]:
    """The class of the strategies of a game."""
    from counterplay.core.forms.hash_strategy import HashStrategy  # which derives from `Strategy`

    return HashStrategy if game.discovers_infosets else Strategy


def _check_enumerated(game: Game, what: str) -> None:
    """`BadStrategy` if the information sets of the game are discovered while playing."""
    if _kind(game) is not Strategy:
        raise BadStrategy(
            f"{game.name} is played without a tree, so its information sets are not listed, which "
            f"{what} needs; strategies of it come from solve"
        )


def as_game_of(game: Game | str) -> Game:
    """A game, or the game of a name."""
    if not isinstance(game, Game | str):
        raise BadStrategy(f"a strategy is for a game, not for {game!r}")
    return as_game(game)


class Strategy(StrategyDisplay):
    """A strategy profile: behaviour strategies of all players. Immutable.

    `probabilities`: float64[n_slots]; action a of information set I is at `first[I] + a`. `player`:
    the only seat it is meant for, as in a response whose other seat is the model; None for all.
    """

    player: int | None = None
    #: The arrays in a file.
    _arrays: ClassVar[dict[str, type]] = {"probabilities": np.float64}

    def __init__(self, game: Game, probabilities: np.ndarray) -> None:
        self.game = game
        self.probabilities = _checked(game, probabilities)

    def __repr__(self) -> str:
        seat = "" if self.player is None else f", for player {self.player + 1}"
        return f"Strategy({self.game.name!r}, {self.game.n_infosets} information sets{seat})"

    @classmethod
    def uniform(cls, game: Game | str) -> Strategy:
        """Every action with the same probability."""
        game = as_game_of(game)
        return _kind(game)._uniform(game)

    @classmethod
    def _uniform(cls, game: Game) -> Strategy:
        counts = np.diff(game.form.first)
        return cls(game, np.repeat(1.0 / counts, counts))

    @classmethod
    def random(cls, game: Game | str, seed: int = 0) -> Strategy:
        """Probabilities drawn uniformly from each simplex."""
        game = as_game_of(game)
        _check_enumerated(game, "a random strategy")
        return cls.from_weights(game, np.random.default_rng(seed).exponential(size=game.n_slots))

    @classmethod
    def from_weights(cls, game: Game | str, weights: np.ndarray) -> Strategy:
        """Normalise non-negative weights per information set; uniform where they are all zero."""
        game = as_game_of(game)
        _check_enumerated(game, "an array of weights")
        probabilities = np.empty(game.n_slots)
        normalise(_numbers(game, weights, "weight"), game.form.first, probabilities)
        return cls(game, probabilities)

    @classmethod
    def from_table(cls, game: Game | str, table: Mapping[str, Mapping[str, float]]) -> Strategy:
        """From `{information set: {action: probability}}`, labels as in `table()`. Other
        information sets are played uniformly."""
        game = as_game_of(game)
        _check_enumerated(game, "a table")
        probabilities = cls.uniform(game).probabilities.copy()
        for label, shares in table.items():
            infoset = _infoset(game, label)
            if not isinstance(shares, Mapping) or not all(
                isinstance(share, int | float) for share in shares.values()
            ):
                raise BadStrategy(
                    f"at {label!r} give a probability for each action, such as {{'bet': 0.3, "
                    f"'pass': 0.7}}"
                )
            low, high = game.form.first[infoset], game.form.first[infoset + 1]
            actions = game.labels.action[low:high]
            unknown = set(shares) - set(actions)
            if unknown:
                raise BadStrategy(
                    f"no action {sorted(unknown)[0]!r} at {label!r}; there are {', '.join(actions)}"
                )
            probabilities[low:high] = [shares.get(action, 0.0) for action in actions]
        return cls(game, probabilities)

    def at(self, *infoset: Any) -> dict[str, float]:
        """Probabilities at one information set, by its label; in a game played without a tree also
        by the player and the numbers of what the player knows."""
        if len(infoset) != 1:
            raise BadStrategy(f"an information set of {self.game.name} is named by its label")
        return self.row(_infoset(self.game, infoset[0])).probabilities

    def table(self) -> list[Row]:
        """One readable row per information set."""
        return [self.row(i) for i in range(self.game.n_infosets)]

    def row(self, i: int) -> Row:
        low, high = self.game.form.first[i], self.game.form.first[i + 1]
        labels = self.game.labels
        shares = dict(
            zip(labels.action[low:high], self.probabilities[low:high].tolist(), strict=True)
        )
        return Row(int(self.game.form.owner[i]), self.game.infoset_names[i], shares)

    @property
    def played(self) -> Any:
        """The policy as kernels take it."""
        return self.probabilities

    def on(self, game: Game | str) -> Strategy:
        """The strategy carried over to the same game with a tree, or without one."""
        other = as_game_of(game)
        return _kind(other)._carried(self, other)

    @classmethod
    def _carried(cls, strategy: Strategy, game: Game) -> Strategy:
        """A strategy of a tree, carried over to a game of this class."""
        check_same_game(game, strategy)
        return strategy

    def plan(self, player: int) -> np.ndarray:
        """Realisation weight of each of the player's sequences: float64[own slots + 1]."""
        slots = self.game.slots(player)
        plan = np.empty(slots.stop - slots.start + 1)
        plan_from_policy(self.game.treeplexes[player], self.probabilities[slots], plan)
        return plan

    def replace(self, other: Strategy, player: int) -> Strategy:
        """The profile in which `player` plays as in `other` and the others as here."""
        check_same_game(self.game, other)
        probabilities = self.probabilities.copy()
        slots = self.game.slots(player)
        probabilities[slots] = other.probabilities[slots]
        return Strategy(self.game, probabilities)

    def for_player(self, player: int | None) -> Strategy:
        """The same profile, meant for one seat only; None: for all."""
        if player is not None:
            self.game.check_player(player)
        profile = copy.copy(self)
        profile.player = None if player is None else int(player)
        return profile

    def mix(self, other: Strategy, weight: float) -> Strategy:
        """This strategy with probability `weight`, otherwise `other`, drawn once before the game.

        The result is the behaviour strategy with the same realisation weights; where neither
        strategy reaches, it is this strategy. Needs perfect recall; `Mixture` does not.
        """
        check_same_game(self.game, other)
        forgotten = getattr(self.game.rules, "forgotten", None)
        if forgotten is not None:
            raise BadParameter(
                f"a mixture as one strategy needs perfect recall, and players of {self.game.name} "
                f"forget {forgotten}; cp.Mixture(one, other, weight) can be measured"
            )
        check_weight(weight)
        probabilities = self.probabilities.copy()
        for player in range(self.game.n_players):
            slots = self.game.slots(player)
            plan = (weight * self.plan(player) + (1.0 - weight) * other.plan(player))[1:]
            first = self.game.treeplexes[player].first
            total = np.add.reduceat(plan, first[:-1]) if len(plan) else plan
            reached = np.repeat(total > 0, np.diff(first))
            share = plan / np.repeat(np.where(total > 0, total, 1.0), np.diff(first))
            probabilities[slots] = np.where(reached, share, probabilities[slots])
        return Strategy(self.game, probabilities)

    def save(self, path: str | Path) -> None:
        """Writes the strategy to `path` (.npz); an interrupted write leaves the old file."""
        # not compressed where its size is unknown to the reader, who goes by that of the file
        compressed = not self.game.discovers_infosets and len(self.probabilities) >= COMPRESSED_FROM
        arrays = {name: getattr(self, name) for name in self._arrays}
        files.write_arrays(Path(path), "strategy", arrays, self._header(), compressed)

    def _header(self) -> dict[str, Any]:
        """The facts about a strategy in its file."""
        header: dict[str, Any] = {"game": self.game.name, "fingerprint": self.game.fingerprint}
        return header if self.player is None else {**header, "player": self.player}

    @classmethod
    def from_openspiel(cls, game: Game | str | Any, policy: Any) -> Strategy:
        """A policy of OpenSpiel as a strategy. `game`: one of `open_spiel:`, by name or not, an
        OpenSpiel game, or a game of this package that OpenSpiel has too, such as `leduc`.
        `policy`: an object with `action_probabilities(state)`, in Python or C++, or a mapping
        from information states to probabilities of actions."""
        return EXCHANGES["openspiel"].read(game, policy)

    def to_openspiel(self, kind: str = "python") -> Any:
        """The strategy as a `TabularPolicy` of OpenSpiel: `python`, or `cpp` for OpenSpiel's
        solvers and measures in C++."""
        return EXCHANGES["openspiel"].write(self, kind)

    @classmethod
    def load(cls, path: str | Path, game: Game | None = None) -> Strategy:
        """Reads a file of `save`, or the strategy in a run folder. `game` is needed only for a
        user-defined game."""
        path = Path(path)
        if os.path.isdir(path):  # unlike Path.is_dir, False for a name that is too long
            if not os.path.exists(path / "strategy.npz"):
                raise BadFile(
                    f"{path}: a folder without a strategy; that of a run has strategy.npz in it"
                )
            path = path / "strategy.npz"
        name = files.read_header(path, "strategy").get("game")
        if not isinstance(name, str):
            raise BadFile(f"{path}: damaged (no game in it)")
        if game is None:
            check_not_user_defined(name, path, NAME_THE_GAME)
            try:
                game = load(name)
            except CounterplayError as error:
                raise BadFile(
                    f"{path}: is for {name!r}, which cannot be loaded ({error}); is it your own? "
                    f"Pass game="
                ) from None
        if game.name != name:
            raise BadStrategy(f"{path}: a strategy for {name}, not for {game.name}")
        return _kind(game)._read(path, game)

    @classmethod
    def _read(cls, path: Path, game: Game) -> Strategy:
        most = None if game.discovers_infosets else 8 * game.n_slots
        arrays, header = files.read_arrays(path, "strategy", most=most)
        for name, kind in cls._arrays.items():
            if name not in arrays or arrays[name].dtype != kind:
                raise BadFile(f"{path}: damaged (no {name} in it)")
        if header.get("fingerprint") != game.fingerprint:
            raise BadFile(
                f"{path}: the rules or the numbering of {game.name} changed since it was written"
            )
        try:
            return cls(game, **arrays).for_player(header.get("player"))
        except (BadStrategy, BadParameter) as error:
            raise BadFile(f"{path}: {error}") from None


def check_weight(weight: float) -> None:
    """`BadStrategy` unless `weight` is a probability."""
    number = isinstance(weight, int | float | np.floating) and not isinstance(weight, bool)
    if not number or not 0.0 <= weight <= 1.0:
        raise BadStrategy(f"weight must be from 0 to 1, not {weight!r}")


def check_same_game(game: Game, strategy: Strategy) -> None:
    """`BadStrategy` unless the strategy belongs to the game."""
    if not isinstance(strategy, Strategy):
        raise BadStrategy(f"expected a Strategy, not {type(strategy).__name__}")
    if strategy.game is not game and strategy.game.fingerprint != game.fingerprint:
        one, other = strategy.game, game
        same = one.has_tree != other.has_tree and one.rules_digest == other.rules_digest
        hint = "; take strategy.on(game), which carries it over" if same else ""
        raise BadStrategy(f"a strategy for {one.name} cannot play {other.name}{hint}")


def check_seat(strategy: Strategy, player: int) -> None:
    """`BadStrategy` if the strategy is meant for another seat than this player's."""
    if strategy.player is not None and strategy.player != player:
        raise BadStrategy(
            f"this is a response for player {strategy.player + 1}'s seat only; player "
            f"{player + 1} in it is the model it was computed against"
        )


def seats_between(one: Strategy, other: Strategy) -> list[int]:
    """The seats in which `one` can play against `other`."""
    seats = [player for player in range(one.game.n_players) if one.player in (None, player)]
    seats = [player for player in seats if other.player in (None, 1 - player)]
    if not seats:
        raise BadStrategy("both are responses for the same seat only, so they cannot meet")
    return seats


def _infoset(game: Game, label: str) -> int:
    try:
        return game.infoset_by_name[label]
    except KeyError:
        names = game.infoset_names
        some = ", ".join(repr(name) for name in names[:6]) + (", ..." if len(names) > 6 else "")
        raise BadStrategy(
            f"no information set {label!r} in {game.name}; there are {some}"
        ) from None


def _numbers(game: Game, given: np.ndarray, what: str) -> np.ndarray:
    """A float64 copy with one finite number of at least 0 per slot, or `BadStrategy`."""
    try:
        values = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise BadStrategy("a strategy is an array of numbers") from None
    if values.shape != (game.n_slots,):
        raise BadStrategy(
            f"{game.name} has {game.n_slots} action slots; got an array of shape {values.shape}"
        )
    if not np.all(np.isfinite(values)):
        raise BadStrategy(
            f"{values[~np.isfinite(values)][0]} is no probability, at "
            f"{_where(game, ~np.isfinite(values))}"
        )
    if np.any(values < 0):
        raise BadStrategy(
            f"negative {what} {values[values < 0][0]:.6g} at {_where(game, values < 0)}"
        )
    return values


def _checked(game: Game, probabilities: np.ndarray) -> np.ndarray:
    """A read-only float64 copy, or `BadStrategy`."""
    values = _numbers(game, probabilities, "probability")
    sums = np.add.reduceat(values, game.form.first[:-1])
    wrong = np.abs(sums - 1.0) > TOLERANCE
    if np.any(wrong):
        i = int(np.flatnonzero(wrong)[0])
        raise BadStrategy(f"probabilities at {_name(game, i)} sum to {sums[i]:.9g}, not 1")
    values.setflags(write=False)
    return values


def _where(game: Game, bad: np.ndarray) -> str:
    """The information set of the first slot that is bad."""
    slot = int(np.flatnonzero(bad)[0])
    return _name(game, int(np.searchsorted(game.form.first, slot, side="right")) - 1)


def _name(game: Game, infoset: int) -> str:
    if game.n_infosets > 100_000:
        return f"information set {infoset}"
    return (
        f"information set {game.labels.infoset[infoset]!r} of player {game.form.owner[infoset] + 1}"
    )
