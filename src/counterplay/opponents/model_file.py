"""Models as JSON files: the trees, or the counts; the strategy is made again from them when they are read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from counterplay.base import files
from counterplay.base.errors import BadFile, CounterplayError
from counterplay.forms.game import Game
from counterplay.games.registry import load
from counterplay.holdem.betting import ROUNDS
from counterplay.holdem.game import HoldemRules
from counterplay.opponents.c45 import Tree
from counterplay.opponents.model import KINDS, OpponentModel, model_strategy

FORMAT = 1


def save_model(model: OpponentModel, path: str | Path) -> None:
    seen = np.flatnonzero(model.counts)
    content = {
        "counterplay": "model",
        "format": FORMAT,
        "kind": model.kind,
        "player": model.player,
        "game": model.game.name,
        "fingerprint": model.game.fingerprint,
        "hands": model.hands,
        "decisions": model.decisions,
        "counts": [[int(slot), round(float(model.counts[slot]), 6)] for slot in seen],
        "trees": [tree.to_json() for tree in model.trees],
    }
    files.write_json(Path(path), content)


def load_model(path: str | Path, game: Game | None = None) -> OpponentModel:
    """Read what `save_model` wrote. `BadFile` for anything else."""
    path = Path(path)
    content = files.read_json(path)
    if content.get("counterplay") != "model":
        raise BadFile(f"{path}: not a model of an opponent")
    if content.get("format") != FORMAT:
        raise BadFile(f"{path}: format {content.get('format')!r}, and this version reads {FORMAT}")
    try:
        game = game or load(content["game"])
        if not isinstance(game.rules, HoldemRules) or content["fingerprint"] != game.fingerprint:
            raise BadFile(f"{path}: a model for {content['game']}, not for {game.name}")
        counts = _counts(content["counts"], game)
        trees = tuple(Tree.from_json(tree) for tree in content["trees"])
        if content["kind"] not in KINDS or len(trees) != (len(ROUNDS) if content["kind"] == "tree" else 0):
            raise BadFile(f"{path}: damaged (kind {content['kind']!r} with {len(trees)} trees)")
        strategy = model_strategy(trees, counts, game)
        sizes = int(content["hands"]), int(content["decisions"])
        return OpponentModel(content["kind"], str(content["player"]), game, *sizes, counts, trees, strategy)
    except BadFile as error:
        raise error if str(path) in str(error) else BadFile(f"{path}: {error}") from None
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, AttributeError, CounterplayError) as error:
        raise BadFile(f"{path}: damaged ({type(error).__name__}: {error})") from None


def _counts(pairs: Any, game: Game) -> np.ndarray:
    counts = np.zeros(game.n_slots)
    for slot, count in pairs:
        if type(slot) is not int or not 0 <= slot < game.n_slots or not 0.0 <= float(count) < 1e15:
            raise BadFile(f"damaged (count {count!r} at slot {slot!r})")
        counts[slot] = float(count)
    return counts
