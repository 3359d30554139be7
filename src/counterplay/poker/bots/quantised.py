"""Files of quantised strategies of hold'em: probabilities in whole steps, for small files.

A file has two planes, `fold` and `raise`: uint8, one number for each information set in which the
action is legal. What they leave of all steps is the probability of a call, which is always legal.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import files
from counterplay.core.base.disk import read_bytes
from counterplay.core.base.errors import BadFile, BadParameter, BadStrategy
from counterplay.core.forms import registry
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.betting.betting import ACTIONS, CALL, FOLD, RAISE

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
