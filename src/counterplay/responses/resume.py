"""`resume_response`: go on with a response that was stopped, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from counterplay.base.errors import BadFile
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.responses.folder import read_model, save_model
from counterplay.responses.respond import Response, assemble, response_solver
from counterplay.solvers import folder as run_folder
from counterplay.solvers.run import Limits, Run, check_limits, resume_solver, run_solver


def resume_response(folder: str | Path, *, game: Game | str | None = None, **limits: Any) -> Response:
    """Go on with the response in `folder`; limits as in `resume`. A seat that was never started is started."""
    path = Path(folder)
    game = game if game is None or isinstance(game, Game) else load(game)
    both = (path / "seat1").is_dir()
    if not both and not run_folder.holds_run(path):
        raise BadFile(f"{path}: no such run folder")
    config, model, trust = read_model(path / "seat1" if both else path, game)
    p = config["p"] if isinstance(config["p"], float | int) else trust
    seats = (0, 1) if both else (config["player"],)
    until = check_limits(**limits)
    runs = [_go_on(path / f"seat{seat + 1}" if both else path, config, model, p, trust, seat, until) for seat in seats]
    return assemble(model.game, model, None if both else config["player"], p, config["response"], runs)


def _go_on(folder: Path, config: dict[str, Any], model: Strategy, p: Any, trust: np.ndarray, seat: int, limits: Limits) -> Run:
    solver = response_solver(
        model.game, model, seat, p, config["response"], config["algorithm"], config["seed"], config["options"]
    )
    if (folder / "checkpoint.npz").exists():
        return resume_solver(folder, solver, limits)
    (folder / "config.json").unlink(missing_ok=True)  # a seat that was stopped before its first checkpoint starts again
    save_model(folder, model, trust)
    return run_solver(solver, limits, folder)
