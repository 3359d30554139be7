"""`Mixture`: one of two strategies, drawn before the game; and its files."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from counterplay.core.base import display, files
from counterplay.core.base.errors import BadFile, BadParameter, BadStrategy
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import recorded_game
from counterplay.core.forms.strategy import Strategy, check_same_game, check_weight

KIND = "mixture"  # of files
PARTS = ("one", "other")


@dataclass(frozen=True)
class Mixture:
    """Each player plays `one` with probability `weight`, otherwise `other`, drawn once before the
    game and independently of the other players.

    With perfect recall `strategy()` is an equivalent strategy (`Strategy.mix`). Players of hold'em
    forget earlier buckets, so there is none: the actions so far tell which of the two is being
    played. `cp.expected_value`, `cp.best_response` and `cp.exploitability` measure such a mixture
    itself, and in a match one of the two is drawn for every hand.
    """

    one: Strategy = field(repr=False)
    other: Strategy = field(repr=False)
    weight: float

    def __post_init__(self) -> None:
        check_same_game(self.one.game, self.other)
        check_weight(self.weight)

    @property
    def game(self) -> Game:
        """The game of both strategies."""
        return self.one.game

    def strategy(self) -> Strategy:
        """The equivalent strategy; needs perfect recall."""
        return self.one.mix(self.other, self.weight)

    def _repr_html_(self) -> str:
        parts = ((self.one, self.weight), (self.other, 1.0 - self.weight))
        return "".join(
            display.heading(self.game.name, f"with probability {share:.3g}") + one._repr_html_()
            for one, share in parts
        )

    def save(self, path: str | Path) -> None:
        """Writes the mixture to `path` (.npz); an interrupted write leaves the old file."""
        if self.game.discovers_infosets:
            raise BadParameter(f"mixtures of {self.game.name} are not saved; save both strategies")
        arrays = {name: getattr(self, name).probabilities for name in PARTS}
        facts = {"game": self.game.name, "fingerprint": self.game.fingerprint}
        header = {**facts, "weight": float(self.weight)}
        files.write_arrays(Path(path), KIND, arrays, header, small=True)

    @classmethod
    def load(cls, path: str | Path, game: Game | None = None) -> Mixture:
        """Reads a file of `save`. `game` is needed only for a user-defined game."""
        path = Path(path)
        header = files.read_header(path, KIND)
        name = header.get("game")
        if not isinstance(name, str):
            raise BadFile(f"{path}: damaged (no game in it)")
        game = game or recorded_game(name, path)
        if name != game.name:
            raise BadStrategy(f"{path}: a mixture for {name}, not for {game.name}")
        if header.get("fingerprint") != game.fingerprint:
            raise BadFile(
                f"{path}: the rules or the numbering of {game.name} changed since it was written"
            )
        arrays, _ = files.read_arrays(path, KIND, most=8 * len(PARTS) * game.n_slots)
        if any(name not in arrays or arrays[name].dtype != np.float64 for name in PARTS):
            raise BadFile(f"{path}: damaged (a strategy is missing)")
        try:
            one, other = (Strategy(game, arrays[name]) for name in PARTS)
            return cls(one, other, header.get("weight", -1.0))
        except BadStrategy as error:
            raise BadFile(f"{path}: {error}") from None


def single_strategy(strategy: Strategy | Mixture) -> Strategy:
    """A strategy as it is; of a mixture the equivalent one."""
    return strategy.strategy() if isinstance(strategy, Mixture) else strategy


def load_strategy(path: str | Path, game: Game | None = None) -> Strategy | Mixture:
    """The strategy or mixture in a file or run folder; `game` as in `Strategy.load`."""
    path = Path(path)
    file = path / "strategy.npz" if os.path.isdir(path) else path
    try:
        files.read_header(file, KIND)
    except BadFile:
        return Strategy.load(path, game)
    return Mixture.load(file, game)
