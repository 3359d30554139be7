"""The folder of a frontier: its question, its model and its finished points, so that it can go on.

`frontier.json` has the question, `model.npz` the model, and the store `points` every point under a
hash of the question, of its p, and of those p whose strategies it started from; a point that was
trained and not yet measured; and what the solvers had learnt at the last one, so that a frontier
that goes on has the same bits as one that was not interrupted.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, BadParameter, BadStrategy
from counterplay.core.base.store import Piece, Store, write_or_warn
from counterplay.core.base.version import code_version
from counterplay.core.evaluation.estimate import FlopEstimate
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import recorded_game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.responses.compute import ResponseParameters
from counterplay.core.responses.result import Response
from counterplay.core.responses.solver import ResponseSolver, digest_of
from counterplay.core.solvers.limits import Limits

CONFIG, MODEL = "frontier.json", "model.npz"
KIND = "frontier"
POINT, TRAINED = "point", "trained"  # pieces: measured, and not yet
QUESTION: dict[str, tuple[type, ...]] = {
    "game": (str,), "fingerprint": (str,), "player": (int, type(None)), "algorithm": (str,),
    "engine": (str, type(None)), "seed": (int,), "options": (dict,), "measure": (dict, type(None)),
    "iterations": (int, type(None)), "seconds": (int, float, type(None)),
    "target": (int, float, type(None)), "model": (str,),
}  # fmt: skip


class KeptPoint(NamedTuple):
    """A point: a response with what its runs, which are not kept, said."""

    response: Response
    seconds: float
    too_few: str | None

    @classmethod
    def of(cls, response: Response) -> KeptPoint:
        return cls(response, response.seconds, response.too_few)


class FrontierFolder:
    """Finished points of one question. `chained`: each p starts from the strategies of the one
    before."""

    def __init__(
        self, path: Path, parameters: ResponseParameters, question: dict[str, Any], chained: bool
    ) -> None:
        self._parameters, self._question, self._chained = parameters, question, chained
        package, _, _ = type(parameters.game.evaluator).__module__.rpartition(".")
        self._store = Store(path / "points", code_version("counterplay.core.responses", package))

    def _recipe(self, ps: Sequence[float]) -> dict[str, Any]:
        """`ps`: that of a point and all before it."""
        return {**self._question, "ps": list(ps) if self._chained else list(ps[-1:])}

    def read(self, ps: Sequence[float], kind: str = POINT) -> KeptPoint | None:
        """The point of the last p, if it is there."""
        piece = self._store.slot(kind, self._recipe(ps)).read()
        parameters, game = self._parameters.with_p(ps[-1]), self._parameters.game
        if piece is None:
            return None
        try:
            value, strategy = piece.value, Strategy(game, piece.arrays["probabilities"])
            payoffs, least = (tuple(map(_number, value[name])) for name in ("won", "least"))
            seconds, too_few = float(value["seconds"]), value["too_few"]
            engine = str(value["engine"])
        except (BadStrategy, KeyError, TypeError, ValueError):
            return None
        found = Response(
            game, parameters.algorithm, engine, parameters.player, ps[-1],
            strategy.for_player(parameters.player), payoffs, least, (), parameters.model,
        )  # fmt: skip
        return KeptPoint(found, seconds, too_few)

    def read_all(
        self, values: Sequence[float], started: dict[int, ResponseSolver] | None
    ) -> tuple[list[KeptPoint], KeptPoint | None]:
        """The finished points up to the first that is missing, and that one if it was trained.
        Where each starts from the one before, `started` gets the solvers as the last one left them;
        without that state all begin again."""
        points: list[KeptPoint] = []
        while len(points) < len(values):
            found = self.read(values[: len(points) + 1])
            if found is None:
                break
            points.append(found)
        if len(points) == len(values):
            return points, None
        trained = self.read(values[: len(points) + 1], TRAINED)
        ahead = len(points) + (trained is not None)
        if started is None or not 0 < ahead < len(values):
            return points, trained
        if not self._read_state(values[:ahead], started):
            return [], None
        return points, trained

    def write(self, ps: Sequence[float], point: KeptPoint, kind: str = POINT) -> None:
        """Keeps the point of the last p."""
        response = point.response
        assert isinstance(response.strategy, Strategy)
        value = {
            "won": [_as_json(number) for number in response.payoffs],
            "least": [_as_json(number) for number in response.worst_cases],
            "seconds": point.seconds, "too_few": point.too_few, "engine": response.engine,
        }  # fmt: skip
        arrays = {"probabilities": response.strategy.probabilities}
        slot = self._store.slot(kind, self._recipe(ps))
        write_or_warn(slot, Piece(value, arrays), f"the point of p = {ps[-1]:g} stays")
        if kind == POINT:
            self._store.slot(TRAINED, self._recipe(ps)).remove()

    def write_trained(
        self, ps: Sequence[float], point: KeptPoint, solvers: Mapping[int, ResponseSolver] | None
    ) -> None:
        """Keeps a point before it is measured, and what the solvers have learnt, if a next one
        starts from it, instead of the state before: gigabytes in hold'em."""
        if solvers is not None:
            self._write_state(ps, solvers)
        self.write(ps, point, TRAINED)
        if len(ps) > 1:
            self._store.draft("state", self._recipe(ps[:-1])).remove()

    def _write_state(self, ps: Sequence[float], solvers: Mapping[int, ResponseSolver]) -> None:
        arrays = {
            f"{seat} {name}": array
            for seat, solver in solvers.items()
            for name, array in solver.engine.arrays().items()
        }
        slot = self._store.draft("state", self._recipe(ps))
        write_or_warn(slot, Piece(None, arrays), "the state of the solvers stays")

    def _read_state(self, ps: Sequence[float], solvers: dict[int, ResponseSolver]) -> bool:
        """Puts solvers into the state after these p; whether it is there."""
        slot = self._store.draft("state", self._recipe(ps))
        piece = slot.read()
        if piece is None:
            return False
        for seat in self._parameters.seats:
            solver = self._parameters.with_p(ps[-1]).solver(seat)
            solver.engine.restore(_arrays_of(piece, seat), str(slot.path))
            solvers[seat] = solver
        return True


def _arrays_of(piece: Piece, seat: int) -> dict[str, np.ndarray]:
    head = f"{seat} "
    return {
        name.removeprefix(head): array
        for name, array in piece.arrays.items()
        if name.startswith(head)
    }


def _as_json(value: float) -> list[float | str]:
    """A number, or an estimate with its interval."""
    if isinstance(value, FlopEstimate):
        return [float(value), value.error, value.bias, value.flops, value.unit]
    return [float(value)]


def _number(stored: Sequence[Any]) -> float:
    if len(stored) == 1:
        return float(stored[0])
    value, error, bias, flops, unit = stored
    return FlopEstimate(value, error, bias, int(flops), unit=unit)


def question_of(
    parameters: ResponseParameters, limits: Limits, measure: Mapping[str, Any] | None
) -> dict[str, Any]:
    """Everything that determines a point besides p."""
    model = parameters.model
    asked = {k: v for k, v in measure.items() if k != "progress"} if measure is not None else None
    return {
        "game": parameters.game.name,
        "fingerprint": parameters.game.fingerprint,
        "player": parameters.player,
        "algorithm": parameters.algorithm,
        "engine": parameters.engine,
        "seed": parameters.seed,
        "options": dict(parameters.options),
        "measure": asked,
        "iterations": limits.iterations,
        "seconds": limits.seconds,
        "target": limits.target,
        "model": f"{model.game.name} {digest_of(model)}",
    }


def check_free(path: Path) -> None:
    """`BadParameter` for a folder that holds a frontier."""
    if path.exists() and not path.is_dir():
        raise BadParameter(f"{path} is a file; a frontier needs a folder")
    if (path / CONFIG).exists():
        raise BadParameter(
            f"{path} already holds a frontier; go on with --resume (cp.resume_frontier) or choose "
            f"another folder"
        )


def create(
    path: Path, parameters: ResponseParameters, values: Sequence[float], question: dict[str, Any]
) -> None:
    """Writes the question and the model into a folder without a frontier."""
    check_free(path)
    if parameters.game.discovers_infosets:
        raise BadParameter(f"points of {parameters.game.name} are not kept; leave out the folder")
    try:
        json.dumps(question)
    except (TypeError, ValueError):
        raise BadParameter(
            "a frontier is kept in a folder if its options are plain numbers and texts; leave out "
            "the folder"
        ) from None
    parameters.model.save(path / MODEL)
    files.write_json(path / CONFIG, {"counterplay": KIND, **question, "ps": list(values)}, new=True)


def holds_frontier(path: Path) -> bool:
    return (path / CONFIG).is_file()


class KeptFrontier(NamedTuple):
    """The question in a folder."""

    parameters: ResponseParameters
    limits: Limits
    measure: dict[str, Any] | None
    values: list[float]
    question: dict[str, Any]


def read_question(path: Path, game: Game | None = None) -> KeptFrontier:
    """The question in a folder; `game` is needed only for a user-defined game."""
    if not holds_frontier(path):
        raise BadFile(f"{path}: no folder of a frontier (it has {CONFIG} in it)")
    config = files.read_json(path / CONFIG)
    fits = config.get("counterplay") == KIND and all(
        type(config.get(name)) in kinds for name, kinds in QUESTION.items()
    )
    if not fits or type(config.get("ps")) is not list or config["player"] not in (None, 0, 1):
        raise BadFile(f"{path / CONFIG}: damaged")
    question = {name: config[name] for name in QUESTION}
    name = files.read_header(path / MODEL, "strategy").get("game")
    if game is None:
        game = recorded_game(question["game"], path)
    elif game.name != question["game"]:
        raise BadParameter(f"{path}: a frontier of {question['game']}, not of {game.name}")
    model = Strategy.load(path / MODEL, game if name == game.name else None)
    parameters = ResponseParameters(
        game, model, question["player"], 0.0, question["algorithm"], question["engine"],
        question["seed"], question["options"],
    )  # fmt: skip
    limits = Limits(*(question[name] for name in ("iterations", "seconds", "target")))
    found = question_of(parameters, limits, question["measure"])
    if found != question:
        wrong = next(name for name in found if found[name] != question[name])
        raise BadFile(f"{path}: its {wrong} is not the one that it was begun with")
    return KeptFrontier(parameters, limits, question["measure"], config["ps"], question)
