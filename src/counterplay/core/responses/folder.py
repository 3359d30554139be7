"""What the run folder of a response holds beside that of `solve`: `model.npz` and `trust.npz`,
without which it cannot go on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.responses.trust import trust_rows
from counterplay.core.solvers import folder as run_folder


def save_model(model: Strategy, trust: np.ndarray, folder: Path) -> None:
    """What a response responds to, into its run folder."""
    model.save(folder / "model.npz")
    files.write_arrays(folder / "trust.npz", "trust", {"p": trust}, {})


def read_model(folder: Path, game: Game | None) -> tuple[dict[str, Any], Strategy, np.ndarray]:
    """Configuration, model and p per information set of the response in `folder`."""
    config = run_folder.read_config(folder)
    if "response" not in config:
        raise BadFile(f"{folder}: a run of `solve`, not of `respond`")
    number = type(config.get("p")) in (int, float)
    if (
        type(config["response"]) is not str
        or config.get("player") not in (0, 1)
        or not (number or type(config.get("p")) is str)
    ):
        raise BadFile(f"{folder / 'config.json'}: damaged")
    model = Strategy.load(folder / "model.npz", game)
    arrays, _ = files.read_arrays(folder / "trust.npz", "trust")
    trust = arrays.get("p")
    if trust is None or trust.shape != (trust_rows(model),) or trust.dtype != np.float64:
        raise BadFile(f"{folder / 'trust.npz'}: does not fit {model.game.name}")
    return config, model, trust
