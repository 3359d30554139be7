"""Shipped strategies: trained players of hold'em that come with the package, each with its
certified exploitability, which was measured over every board.

`strategies/index.json` lists them, and `strategies/NAME.npz` holds the probabilities of one,
quantised to whole steps, so that files are small: two planes, `fold` and `raise`, uint8, one number
for each information set in which the action is legal. What they leave of all steps is the
probability of a call, which is always legal. Every name in the index is a bot
(`poker/bots/registry.py`). `tools/ship_strategy.py` writes both files.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cache, partial
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import files
from counterplay.core.base.disk import read_bytes
from counterplay.core.base.errors import BadFile, BadParameter, BadStrategy
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.store import Piece, Slot, cached_store, write_or_warn
from counterplay.core.forms import registry
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import ACTIONS, CALL, FOLD, RAISE
from counterplay.poker.bots.registry import BotSpec

FOLDER = Path(__file__).parent / "strategies"
INDEX = "index.json"
LISTED = "strategies"  # the field of the index
NAME = re.compile(r"[a-z][a-z0-9-]*")
AGAIN = "install counterplay again"


@dataclass(frozen=True, repr=False)
class ShippedStrategy:
    """A strategy of the index. Any function takes it as a player, as it takes its `name`."""

    name: str
    game: str  # the name of its game
    summary: str
    algorithm: str
    seed: int
    iterations: int
    exploitability: float  # b1 + b2, in sb/h
    mb_per_game: float  # the same in mb/g, averaged over the seats
    command: str  # that trained it
    date: str
    sha256: str  # of its file

    def __repr__(self) -> str:
        return f"ShippedStrategy({self.name!r}, {self.game!r}, {self.risk})"

    @property
    def risk(self) -> str:
        """The exploitability, as text that says how it is known."""
        return f"{self.mb_per_game:.0f} mb/g, exact"

    @property
    def strategy(self) -> Strategy:
        """The probabilities, read from its file."""
        return self.on(registry.load(self.game))

    @property
    def prepared(self) -> bool:
        """Whether the tables of its cards were built on this machine, so that it plays at once."""
        return self.mark.read() is not None

    @property
    def mark(self) -> Slot:
        """The file that says so."""
        store = cached_store("prepared", "counterplay.poker.abstraction", "counterplay.poker.cards")
        return store.slot("prepared", {"game": self.game})

    def on(self, game: Game) -> Strategy:
        """The strategy on its game; `BadStrategy` for another game."""
        if game.name != self.game:
            raise BadStrategy(f"{self.name} is a strategy for {self.game}, not for {game.name}")
        return read_strategy(FOLDER / f"{self.name}.npz", self.sha256, game)


def strategies() -> tuple[ShippedStrategy, ...]:
    """Returns the shipped strategies, trained players of hold'em with their exploitability."""
    return read_index(FOLDER / INDEX)


def least_exploitable(game: Game) -> Strategy | None:
    """The least exploitable of the shipped strategies for a game, if there is any."""
    found = [one for one in strategies() if one.game == game.name]
    return min(found, key=lambda one: one.exploitability).on(game) if found else None


@cache
def read_index(path: Path, kind: type[Any] = ShippedStrategy) -> tuple[Any, ...]:
    """The strategies that an index lists, each of a kind of `ShippedStrategy`."""
    listed = files.read_json(path).get(LISTED)
    if not isinstance(listed, list):
        raise BadFile(f"{path}: damaged (no list of strategies in it); {AGAIN}")
    return tuple(_entry(path, k, facts, kind) for k, facts in enumerate(listed, start=1))


def _entry(path: Path, number: int, facts: Any, kind: type[Any]) -> Any:
    kinds = {"str": str, "int": int, "float": int | float}
    for field in fields(kind):
        value = facts.get(field.name) if isinstance(facts, dict) else None
        if not isinstance(value, kinds[str(field.type)]):
            raise BadFile(f"{path}: damaged (no {field.name} in entry {number}); {AGAIN}")
    if NAME.fullmatch(facts["name"]) is None or len(facts) != len(fields(kind)):
        raise BadFile(f"{path}: damaged (entry {number} is none of this version); {AGAIN}")
    return kind(**facts)


def read_strategy(path: Path, sha256: str, game: Game) -> Strategy:
    """The strategy in a file with this checksum."""
    if hashlib.sha256(read_bytes(path, MOST_BYTES)).hexdigest() != sha256:
        raise BadFile(f"{path}: damaged (its SHA-256 is not the one in {INDEX}); {AGAIN}")
    try:
        return read_quantised(path, game)
    except BadFile as error:
        raise BadFile(f"{error}; {AGAIN}") from None


def shipped_bots() -> dict[str, BotSpec]:
    """The shipped strategies as bots, by name."""
    return {one.name: _bot(one) for one in strategies()}


@cache
def _bot(one: ShippedStrategy) -> BotSpec:
    summary = f"{one.summary}; exploitability {one.risk}"
    prepare = partial(_prepare, one)
    return BotSpec(one.name, partial(_make, one), summary, prepare, strategy=one.on, shipped=one)


def _make(one: ShippedStrategy) -> Any:
    from counterplay.poker.bots.table import strategy_bot

    return strategy_bot(one.strategy, one.name)


def _prepare(one: ShippedStrategy, progress: ProgressCallback) -> None:
    """Builds the tables of its card abstraction."""
    what = f"card tables of {one.game}"
    progress(0.0, what)
    rules = registry.load(one.game).rules
    if one.prepared:
        rules.form()  # reads them
        return
    rules.prepare(lambda share, _: progress(share, what))
    write_or_warn(one.mark, Piece(one.game, {}), "that the card tables are ready stays")


# --- files of strategies in whole steps

KIND = "quantised strategy"
PLANES = {name: ACTIONS.index(name) for name in (FOLD, RAISE)}
STEPS = (255, 127, 63, 47, 31, 23, 15)  # of a probability, the finest first
MOST_BYTES = 5_000_000  # of a file
DIGEST = 12  # characters of the checksum of a strategy


def quantised(strategy: Strategy, steps: int) -> Strategy:
    """Returns the strategy with probabilities in whole steps that sum to 1 (largest remainders)."""
    first = strategy.game.form.first
    scaled = strategy.probabilities * steps
    whole = np.floor(scaled)
    owner = np.repeat(np.arange(len(first) - 1), np.diff(first))
    missing = steps - np.add.reduceat(whole, first[:-1]).round().astype(np.int64)
    order = np.lexsort((-(scaled - whole), owner))
    rank = np.arange(len(whole)) - first[owner]
    whole[order] += rank < missing[owner]
    return Strategy(strategy.game, whole / steps)


def digest(strategy: Strategy) -> str:
    """Returns a checksum of the probabilities, which no packing changes."""
    rounded = strategy.probabilities.astype("<f4").tobytes()
    return hashlib.sha256(rounded).hexdigest()[:DIGEST]


def write_quantised(
    path: Path, strategy: Strategy, facts: Mapping[str, Any], most: int = MOST_BYTES
) -> Strategy:
    """Writes a strategy with the finest steps whose file has at most `most` bytes; returns the
    strategy with these steps. `facts`: for the header."""
    game = strategy.game
    for steps in STEPS:
        coarse = quantised(strategy, steps)
        header = {**facts, "game": game.name, "fingerprint": game.fingerprint, "steps": steps}
        files.write_arrays(path, KIND, _planes(coarse, steps), header, small=True)
        if path.stat().st_size <= most:
            return coarse
    path.unlink()
    raise BadParameter(f"{game.name} takes more than {most / 1e6:g} MB even with {steps} steps")


def _planes(strategy: Strategy, steps: int) -> dict[str, np.ndarray]:
    slots = strategy.game.rules.slots()
    whole = np.rint(strategy.probabilities * steps).astype(np.uint8)
    return {name: whole[slots[slots[:, k] >= 0, k]] for name, k in PLANES.items()}


def read_facts(path: Path) -> dict[str, Any]:
    """Returns the header of a file."""
    return files.read_header(path, KIND)


def read_quantised(path: Path, game: Game | None = None) -> Strategy:
    """Returns the strategy in a file. `game`: the one it must be for, else that of the file."""
    read_bytes(path, MOST_BYTES)
    header = read_facts(path)
    if not isinstance(header.get("game"), str) or (game and header["game"] != game.name):
        raise BadFile(f"{path}: damaged (no strategy for {game.name if game else 'a game'} in it)")
    game = game or registry.load(header["game"])
    if header.get("fingerprint") != game.fingerprint:
        raise BadFile(f"{path}: the numbering of {game.name} changed since it was written")
    arrays, _ = files.read_arrays(path, KIND, most=game.n_slots)
    try:
        return Strategy(game, _probabilities(game, arrays, header.get("steps")))
    except BadStrategy as error:
        raise BadFile(f"{path}: damaged ({error})") from None


def _probabilities(game: Game, arrays: Mapping[str, np.ndarray], steps: Any) -> np.ndarray:
    slots = game.rules.slots()
    if type(steps) is not int or not 0 < steps < 256:
        raise BadStrategy(f"no number of steps, but {steps!r}")
    whole, rest = np.zeros(game.n_slots), np.full(len(slots), float(steps))
    for name, k in PLANES.items():
        legal, plane = slots[:, k] >= 0, arrays.get(name)
        if plane is None or plane.dtype != np.uint8 or plane.shape != (int(legal.sum()),):
            raise BadStrategy(f"no steps of {name} for {game.name}")
        whole[slots[legal, k]] = plane
        rest[legal] -= plane
    if rest.min() < 0:
        raise BadStrategy("probabilities that sum to more than 1")
    whole[slots[:, ACTIONS.index(CALL)]] = rest
    return whole / steps
