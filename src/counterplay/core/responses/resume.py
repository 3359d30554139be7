"""`resume_response`: go on with a response that was stopped, bit for bit."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.responses.folder import read_model
from counterplay.core.responses.question import Question, in_seats, measured
from counterplay.core.responses.result import Response, check_measure
from counterplay.core.solvers import folder as run_folder
from counterplay.core.solvers.limits import Limits, check_limits, check_target
from counterplay.core.solvers.run import Run, resume_solver, run_solver


def resume_response(
    folder: str | Path,
    *,
    game: Game | str | None = None,
    measure: Mapping[str, Any] | None = None,
    **limits: Any,
) -> Response:
    """Go on with the response in `folder`; limits as in `resume`, Ctrl-C and `measure` as in
    `respond`. A seat never started is started. With `measure` and no limit it is measured as it
    is."""
    until = check_limits(**limits)
    as_it_is = measure is not None and not Limits(**limits).bounded
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

    check_measure(question.game, question.player, measure)
    if as_it_is:
        until = Limits(iterations=1)  # which every run that was begun has

    def work(seat: int, until: Limits) -> Run:
        where = run_folder.seat_folder(path, seat, question.player)
        solver = question.solver(seat).engine
        if run_folder.has_checkpoint(where):
            return resume_solver(where, solver, until)
        if as_it_is:
            raise BadParameter(
                f"{where}: this seat has no iterations yet; give a limit, and it is gone on with"
            )
        run_folder.discard_config(where)  # stopped before its first checkpoint: it starts again
        return run_solver(solver, until, where)

    return measured(in_seats(question, work, path, until), measure)
