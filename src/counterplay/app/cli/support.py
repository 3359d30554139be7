"""Run folders of commands: checks, names of new ones, messages when a run stops."""

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
    """Refuses a folder, or files in it, that cannot be written; leaves no trace."""
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
    """Refuses the folder of a new run if it cannot be created or holds another run."""
    from counterplay.core.solvers.folder import check_free

    check_can_write(folder)
    check_free(folder)


def new_folder(game: str, algorithm: str, seed: int) -> Path:
    """runs/<game>-<algorithm>-seed<n>, with a number behind it where that exists."""
    clean = "".join(c if c.isalnum() or c in "+=." else "-" for c in game).strip("-")
    base = f"{clean}-{algorithm}-seed{seed}"
    folder, k = Path("runs") / base, 1
    while folder.exists():
        k += 1
        folder = Path("runs") / f"{base}-{k}"
    return folder


def interruptible(hint: str, folder: Path, work: Callable[[], Any]) -> Any:
    """Runs `work`; after Ctrl-C prints `hint`, how to continue (`resume_hint`)."""
    from counterplay.core.solvers.folder import has_checkpoint, possible_folders

    try:
        return work()
    except KeyboardInterrupt:
        if any(has_checkpoint(place) for place in possible_folders(folder)):
            err.print(f"stopped; saved in {folder}; {hint}")
        else:
            err.print("stopped before the first iteration; nothing was saved.")
        raise typer.Exit(130) from None


def nothing_new(folder: Path, runs: Iterable[Any]) -> str | None:
    """The message of a resumed run whose limits were met before; None if it did any iteration."""
    runs = list(runs)
    if any(run.iterations > run.started_at for run in runs):
        return None
    iterations, seconds = max(run.iterations for run in runs), max(run.seconds for run in runs)
    if all(run.stopped_by == "solved" for run in runs):
        return f"nothing to do: the run in {folder} is solved, and more iterations change nothing."
    done = f"{iterations:,} iterations and {seconds:.3g} s already"
    return (
        f"nothing to do: the run in {folder} is at {done}; "
        f"give a limit beyond that, such as -n {2 * iterations}."
    )
