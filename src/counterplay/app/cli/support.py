"""Run folders of commands: a new one, whether it can be written, stopping and going on."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import typer

from counterplay.app.cli.display import err
from counterplay.core.base.errors import BadParameter


def check_can_write(folder: Path, *names: str) -> None:
    """Refuse a folder, or files in it, that could not be written, before any work is done.
    Leaves nothing behind."""
    place = folder
    try:
        while not _is_there(place):
            place = place.parent
        if not place.is_dir():
            raise BadParameter(f"cannot write {folder}: {place} is not a folder")
        with tempfile.TemporaryFile(dir=place):
            pass
    except OSError as error:
        raise BadParameter(f"cannot write {folder}: {error.strerror or error}") from None
    for name in names:
        if (folder / name).is_dir():
            raise BadParameter(f"cannot write {folder / name}: it is a folder")


def _is_there(path: Path) -> bool:
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return False
    return True


def check_new_run(folder: Path) -> None:
    """Refuse a folder for a new run that could not be made or holds another, before any work is
    done."""
    from counterplay.core.solvers.folder import check_free

    check_can_write(folder)
    check_free(folder)


def new_folder(game: str, algorithm: str, seed: int) -> Path:
    """runs/<game>-<algorithm>-seed<n>, numbered on where that exists."""
    clean = "".join(c if c.isalnum() or c in "+=." else "-" for c in game).strip("-")
    base = f"{clean}-{algorithm}-seed{seed}"
    k = 1
    while True:
        folder = Path("runs") / (base if k == 1 else f"{base}-{k}")
        if not folder.exists():
            return folder
        k += 1


def interruptible(further: str, folder: Path, work: Callable[[], Any]) -> Any:
    """Run `work`; after Ctrl-C say how to go on (`go_on`)."""
    from counterplay.core.solvers.folder import has_checkpoint, possible_folders

    try:
        return work()
    except KeyboardInterrupt:
        if any(has_checkpoint(place) for place in possible_folders(folder)):
            err.print(f"stopped; saved in {folder}; {further}")
        else:
            err.print("stopped before the first iteration; nothing was kept.")
        raise typer.Exit(130) from None


def nothing_new(folder: Path, runs: Iterable[Any]) -> str | None:
    """What to say of a resumed run whose limits were met before; None where something was done."""
    runs = list(runs)
    if any(run.iterations > run.started_at for run in runs):
        return None
    iterations, seconds = max(run.iterations for run in runs), max(run.seconds for run in runs)
    if all(run.stopped_by == "solved" for run in runs):
        return f"nothing to do: the run in {folder} is solved, and more iterations change nothing."
    so_far = (
        f"nothing to do: the run in {folder} is at {iterations:,} iterations "
        f"and {seconds:.3g} s already"
    )
    return f"{so_far}; give a limit beyond that, such as -n {2 * iterations}."
