"""A run on disk: `config.json`, `metrics.csv`, `strategy.npz`, `checkpoint.npz`. Each is whole or
absent.

A solver may `keep` more beside them, as a response its model. A run in both seats has a folder for
each, `seat1` and `seat2`.
"""

from __future__ import annotations

import csv
import io
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, BadParameter, CounterplayError
from counterplay.core.base.user_code import is_user_defined
from counterplay.core.solvers.base import Solver

SEATS = ("seat1", "seat2")
CONFIG_KEYS = {"game": str, "algorithm": str, "options": dict, "seed": int, "fingerprint": str}


class Measurement(NamedTuple):
    """One line of `metrics.csv`. `exploitability` is b1 + b2, or NaN where it was not measured."""

    iterations: int
    seconds: float
    nodes: int
    exploitability: float


def config_of(solver: Solver) -> dict[str, Any]:
    """What a run is, without what it has learned."""
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
    """Whether there is something to go on from."""
    return (folder / "checkpoint.npz").exists()


def seat_folder(folder: Path, seat: int, player: int | None) -> Path:
    """Where one seat's run is: in a folder of its own where both seats have one (`player` None)."""
    return folder / SEATS[seat] if player is None else folder


def seat_folders(folder: Path) -> tuple[Path, ...] | None:
    """The folder of each seat of a run in both; None where the run is in one."""
    places = tuple(folder / name for name in SEATS)
    return places if places[0].is_dir() else None


def places(folder: Path) -> tuple[Path, ...]:
    """Wherever in `folder` a run can be."""
    return (folder, *(folder / name for name in SEATS))


def give_up(folder: Path) -> None:
    """Make room for a run anew where one was stopped before its first checkpoint."""
    (folder / "config.json").unlink(missing_ok=True)


def check_free(folder: Path) -> None:
    """Refuse a folder that holds a run: of `solve`, or of `respond` in one seat or in both."""
    if folder.exists() and not folder.is_dir():
        raise BadParameter(f"{folder} is a file; a run needs a folder")
    for place in places(folder):
        if holds_run(place):
            raise BadParameter(f"{place} already holds a run; resume it or choose another folder")


def create(folder: Path, solver: Solver, version: str) -> None:
    """Start a run folder; refuse to write over another run."""
    check_free(folder)
    solver.problem.save(folder)
    try:
        files.write_json(
            folder / "config.json",
            {"counterplay": "run", "version": version, **config_of(solver)},
            new=True,
        )
    except CounterplayError as error:
        if isinstance(error.__cause__, FileExistsError):  # another process was a moment earlier
            raise BadParameter(
                f"{folder} already holds a run; resume it or choose another folder"
            ) from None
        raise


def save_progress(folder: Path, solver: Solver, seconds: float, metrics: list[Measurement]) -> None:
    """Checkpoint, then what is read off it. A kill in between leaves an older strategy, never a
    broken one."""
    header = {"config": config_of(solver), "seconds": seconds, "metrics": metrics}
    files.write_arrays(folder / "checkpoint.npz", "checkpoint", solver.arrays(), header)
    files.write_text(folder / "metrics.csv", metrics_text(metrics))
    solver.strategy().save(folder / "strategy.npz")


def tell_metrics(folder: Path, metrics: list[Measurement]) -> None:
    """`metrics.csv` alone, between two checkpoints; a full disk is noticed by the next of them."""
    with suppress(CounterplayError):
        files.write_text(folder / "metrics.csv", metrics_text(metrics))


def metrics_text(metrics: list[Measurement]) -> str:
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(Measurement._fields)
    for row in metrics:
        writer.writerow([row.iterations, f"{row.seconds:.6f}", row.nodes, repr(row.exploitability)])
    return out.getvalue()


def read_config(folder: Path) -> dict[str, Any]:
    """The configuration of a run folder, checked."""
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
    """Copy the checkpoint into `solver`; the seconds used so far and the metrics up to the
    checkpoint."""
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
    rows = header.get("metrics")  # `metrics.csv` is for people, and for runs of older versions
    metrics = (
        _read_metrics(folder / "metrics.csv")
        if rows is None
        else [Measurement(*row) for row in rows]
    )
    return float(header.get("seconds", 0.0)), [
        row for row in metrics if row.iterations <= solver.iterations
    ]


def _read_metrics(path: Path) -> list[Measurement]:
    try:
        rows = list(csv.DictReader(path.read_text().splitlines()))
        return [
            Measurement(
                int(r["iterations"]),
                float(r["seconds"]),
                int(r["nodes"]),
                float(r["exploitability"]),
            )
            for r in rows
        ]
    except FileNotFoundError:
        return []
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise BadFile(f"{path}: damaged ({error})") from None
