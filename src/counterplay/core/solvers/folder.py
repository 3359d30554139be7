"""Run folders: `config.json`, `metrics.csv`, `strategy.npz` and `checkpoint.npz`, each of which is
complete or absent.

A problem may save more beside them, as a response its model. A response for both seats has a run
folder for each, `seat1` and `seat2`.
"""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, BadParameter, CounterplayError
from counterplay.core.base.registry import is_user_defined
from counterplay.core.solvers.base import Solver

SEATS = ("seat1", "seat2")
CONFIG_KEYS = {"game": str, "algorithm": str, "options": dict, "seed": int, "fingerprint": str}


class Measurement(NamedTuple):
    """A row of `metrics.csv`. `exploitability` is b1 + b2, or NaN if it was not measured."""

    iterations: int
    seconds: float
    nodes: int
    exploitability: float


def config_of(solver: Solver) -> dict[str, Any]:
    """What identifies a run, without what it has learnt."""
    return {
        "game": solver.game.name,
        "algorithm": solver.name,
        "options": solver.options,
        "seed": solver.seed,
        "fingerprint": solver.game.fingerprint,
        **solver.problem.setting,
    }


def holds_run(folder: Path) -> bool:
    return (folder / "config.json").exists() or has_checkpoint(folder)


def has_checkpoint(folder: Path) -> bool:
    """Whether a run can be resumed."""
    return (folder / "checkpoint.npz").exists()


def seat_folder(folder: Path, seat: int, player: int | None) -> Path:
    """The folder of one seat's run: a subfolder if both seats have a run (`player` None)."""
    return folder / SEATS[seat] if player is None else folder


def seat_folders(folder: Path) -> tuple[Path, ...] | None:
    """Returns the folder of each seat of a run in both seats; None for any other run."""
    folders = tuple(folder / name for name in SEATS)
    return folders if folders[0].is_dir() else None


def possible_folders(folder: Path) -> tuple[Path, ...]:
    """Returns the folders in `folder` that can hold a run."""
    return (folder, *(folder / name for name in SEATS))


def discard_config(folder: Path) -> None:
    """Removes the configuration of a run that was stopped before its first checkpoint."""
    (folder / "config.json").unlink(missing_ok=True)


def check_free(folder: Path) -> None:
    """`BadParameter` for a folder that holds a run of `solve` or `respond`."""
    if folder.exists() and not folder.is_dir():
        raise BadParameter(f"{folder} is a file; a run needs a folder")
    for candidate in possible_folders(folder):
        if holds_run(candidate):
            raise BadParameter(
                f"{candidate} already holds a run; resume it or choose another folder"
            )


def create(folder: Path, solver: Solver, version: str) -> None:
    """Creates a run folder; `BadParameter` if it holds another run."""
    check_free(folder)
    solver.problem.save(folder)
    try:
        files.write_json(
            folder / "config.json",
            {"counterplay": "run", "version": version, **config_of(solver)},
            new=True,
        )
    except CounterplayError as error:
        if isinstance(error.__cause__, FileExistsError):  # created meanwhile by another process
            raise BadParameter(
                f"{folder} already holds a run; resume it or choose another folder"
            ) from None
        raise


def save_progress(folder: Path, solver: Solver, seconds: float, metrics: list[Measurement]) -> None:
    """Writes the checkpoint, then the rest: a kill in between leaves an older strategy."""
    header = {"config": config_of(solver), "seconds": seconds, "metrics": metrics}
    files.write_arrays(folder / "checkpoint.npz", "checkpoint", solver.arrays(), header)
    files.write_text(folder / "metrics.csv", metrics_text(metrics))
    solver.strategy().save(folder / "strategy.npz")


def write_metrics(folder: Path, metrics: list[Measurement]) -> None:
    """Writes `metrics.csv` between two checkpoints; a full disk is an error of the next one."""
    with suppress(CounterplayError):
        files.write_text(folder / "metrics.csv", metrics_text(metrics))


def metrics_text(metrics: list[Measurement]) -> str:
    rows = [(n, f"{seconds:.6f}", nodes, repr(epsilon)) for n, seconds, nodes, epsilon in metrics]
    return files.csv_text([Measurement._fields, *rows])


def read_config(folder: Path) -> dict[str, Any]:
    """Returns the checked configuration of a run folder."""
    if not folder.is_dir():
        raise BadFile(f"{folder}: no such run folder")
    path = folder / "config.json"
    config = files.read_json(path)
    if config.get("counterplay") != "run" or any(
        type(config.get(key)) is not kind for key, kind in CONFIG_KEYS.items()
    ):
        raise BadFile(f"{path}: not the configuration of a Counterplay run, or a damaged one")
    for key in ("algorithm", "response"):
        if is_user_defined(config.get(key)):
            raise BadFile(
                f"{path}: names {config[key]}, and no code is run because a file names it"
            )
    return config


def restore(folder: Path, solver: Solver) -> tuple[float, list[Measurement]]:
    """Copies the checkpoint into `solver`; returns the seconds and the metrics up to there."""
    path = folder / "checkpoint.npz"
    if not has_checkpoint(folder):
        raise BadFile(
            f"{folder}: the run was stopped before its first checkpoint; start it again in "
            f"another folder"
        )
    arrays, header = files.read_arrays(path, "checkpoint")
    if header.get("config") != config_of(solver):
        raise BadFile(
            f"{path}: belongs to another run than {folder / 'config.json'}, or one of the two was "
            f"changed"
        )
    solver.restore(arrays, str(path))
    metrics = [Measurement(*row) for row in header.get("metrics", [])]
    return float(header.get("seconds", 0.0)), metrics
