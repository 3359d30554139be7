"""Models as JSON files: the trees, or the counts; the strategy is made again from them when they
are read.

`write_json` adds a checksum of all other fields. A file without one, from an older version, is read
with a warning.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, CounterplayError
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import recorded_game
from counterplay.poker.betting.betting import ACTIONS, STREETS
from counterplay.poker.models.c45.learn import Tree
from counterplay.poker.models.model import KINDS, OpponentModel, model_strategy
from counterplay.poker.models.observe import FEATURES

FORMAT = 1
FIELDS = {
    "counterplay",
    "format",
    "kind",
    "player",
    "game",
    "fingerprint",
    "hands",
    "decisions",
    "counts",
    "trees",
}


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
        "counts": [[int(slot), float(model.counts[slot])] for slot in seen],
        "trees": [tree.to_json() for tree in model.trees],
    }
    files.write_json(Path(path), content)


def load_model(path: str | Path, game: Game | None = None) -> OpponentModel:
    """Read what `save_model` wrote. `BadFile` for anything else."""
    path = Path(path)
    content, checked = files.read_checked_json(path)
    if content.get("counterplay") != "model":
        raise BadFile(f"{path}: not a model of an opponent")
    if type(content.get("format")) is not int or content["format"] != FORMAT:
        raise BadFile(f"{path}: format {content.get('format')!r}, and this version reads {FORMAT}")
    if set(content) != FIELDS:  # also where the name of the checksum is damaged
        strange = sorted(FIELDS ^ set(content))[0]
        raise BadFile(f"{path}: damaged (the field {strange!r} is missing or unknown)")
    try:
        game = game or recorded_game(content["game"], path)
        if not game.can("hands") or content["fingerprint"] != game.fingerprint:
            raise BadFile(f"{path}: a model for {content['game']}, not for {game.name}")
        counts = _counts(content["counts"], game)
        trees = tuple(_tree(tree) for tree in content["trees"])
        if content["kind"] not in KINDS or len(trees) != (
            len(STREETS) if content["kind"] == "tree" else 0
        ):
            raise BadFile(f"{path}: damaged (kind {content['kind']!r} with {len(trees)} trees)")
        strategy = model_strategy(trees, counts, game)
        sizes = content["hands"], content["decisions"]
        if type(content["player"]) is not str or any(
            type(size) is not int or size < 0 for size in sizes
        ):
            raise BadFile(
                f"{path}: damaged (player {content['player']!r}, hands and decisions {sizes})"
            )
        model = OpponentModel(
            content["kind"], content["player"], game, *sizes, counts, trees, strategy
        )
    except BadFile as error:
        raise error if str(path) in str(error) else BadFile(f"{path}: {error}") from None
    except (
        KeyError,
        TypeError,
        ValueError,
        IndexError,
        OverflowError,
        AttributeError,
        CounterplayError,
    ) as error:
        raise BadFile(f"{path}: damaged ({type(error).__name__}: {error})") from None
    if not checked:
        files.warn_unchecked(path)
    return model


def _tree(content: Any) -> Tree:
    tree = Tree.from_json(content)
    if (
        tuple(tree.classes) != ACTIONS
        or tuple(attribute.name for attribute in tree.attributes) != FEATURES
    ):
        raise BadFile("damaged (a tree with other features or actions)")
    return tree


def _counts(pairs: Any, game: Game) -> np.ndarray:
    counts = np.zeros(game.n_slots)
    if not isinstance(pairs, list):
        raise BadFile("damaged (no list of counts)")
    for slot, count in pairs:
        known = type(slot) is int and 0 <= slot < game.n_slots and type(count) in (int, float)
        if not known or not 0.0 < count < 1e15 or counts[slot]:
            raise BadFile(f"damaged (count {count!r} at slot {slot!r})")
        counts[slot] = float(count)
    return counts
