"""`resume_response`: go on with a response that was stopped, bit for bit."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from counterplay.base.errors import BadFile
from counterplay.forms.game import Game
from counterplay.games.registry import load
from counterplay.responses.folder import read_model
from counterplay.responses.question import Question, in_seats
from counterplay.responses.result import Response
from counterplay.solvers import folder as run_folder
from counterplay.solvers.limits import check_limits, check_target
from counterplay.solvers.run import Run, resume_solver, run_solver


def resume_response(
    folder: str | Path, *, game: Game | str | None = None, **limits: Any
) -> Response:
    """Go on with the response in `folder`; limits as in `resume`, Ctrl-C as in `respond`. A seat
    never started is started."""
    until = check_limits(**limits)
    path = Path(folder)
    game = game if game is None or isinstance(game, Game) else load(game)
    seats = run_folder.seat_folders(path)
    if seats is None and not run_folder.holds_run(path):
        raise BadFile(f"{path}: no such run folder")
    config, model, trust = read_model(path if seats is None else seats[0], game)
    check_target(model.game, limits.get("target"))
    question = Question(
        model.game,
        model,
        config["player"] if seats is None else None,
        config["p"] if isinstance(config["p"], float | int) else trust,
        config["response"],
        config["algorithm"],
        config["seed"],
        config["options"],
    )

    def work(seat: int) -> Run:
        where = run_folder.seat_folder(path, seat, question.player)
        solver = question.solver(seat).engine
        if run_folder.has_checkpoint(where):
            return resume_solver(where, solver, until)
        run_folder.give_up(where)  # stopped before its first checkpoint: it starts again
        return run_solver(solver, until, where)

    return in_seats(question, work, path)
