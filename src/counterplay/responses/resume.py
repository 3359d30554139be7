"""`resume_response`: go on with a response that was stopped, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from counterplay.base.errors import BadFile
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.responses.folder import read_model, save_model, seat_folder
from counterplay.responses.respond import in_seats, response_solver
from counterplay.responses.result import Response
from counterplay.solvers import folder as run_folder
from counterplay.solvers.limits import Limits, check_limits
from counterplay.solvers.run import Run, resume_solver, run_solver


def resume_response(
    folder: str | Path, *, game: Game | str | None = None, **limits: Any
) -> Response:
    """Go on with the response in `folder`; limits as in `resume`, Ctrl-C as in `respond`. A seat never started is started."""
    path = Path(folder)
    game = game if game is None or isinstance(game, Game) else load(game)
    both = (path / "seat1").is_dir()
    if not both and not run_folder.holds_run(path):
        raise BadFile(f"{path}: no such run folder")
    config, model, trust = read_model(path / "seat1" if both else path, game)
    p = config["p"] if isinstance(config["p"], float | int) else trust
    until = check_limits(**limits)
    player = None if both else config["player"]

    def work(seat: int) -> Run:
        return _go_on(seat_folder(path, seat, player), config, model, p, trust, seat, until)

    return in_seats(model.game, model, player, p, config["response"], work, path)


def _go_on(
    folder: Path,
    config: dict[str, Any],
    model: Strategy,
    p: Any,
    trust: np.ndarray,
    seat: int,
    limits: Limits,
) -> Run:
    solver = response_solver(
        model.game,
        model,
        seat,
        p,
        config["response"],
        config["algorithm"],
        config["seed"],
        config["options"],
    )
    if (folder / "checkpoint.npz").exists():
        return resume_solver(folder, solver, limits)
    (folder / "config.json").unlink(
        missing_ok=True
    )  # a seat that was stopped before its first checkpoint starts again
    save_model(folder, model, trust)
    return run_solver(solver, limits, folder)
