"""What several commands share: options, strategies by name, run folders, stopping."""

from __future__ import annotations

import ast
import os
import tempfile
from collections.abc import Callable, Iterable
from decimal import Decimal, InvalidOperation
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from counterplay.base.errors import BadParameter
from counterplay.cli.facts import err, go_on
from counterplay.parallel.ray_cluster import leave

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]
LIMITS = ("iterations", "seconds", "target")
MOST = 10**18  # of anything that is counted


def integer(text: Any) -> int:
    """A whole number, also as 1e6, 1_000_000 or 1,000,000."""
    try:
        number = Decimal(str(text).replace("_", "").replace(",", ""))
        if number != number.to_integral_value() or abs(number) > MOST:
            raise InvalidOperation
        return int(number)
    except (InvalidOperation, ValueError, OverflowError):
        raise typer.BadParameter(
            f"{text!r} is not a whole number, such as 1000000 or 1e6"
        ) from None


class Commands(TyperGroup):
    """Ctrl-C in a command that has nothing to say about it ends with one sentence, and any command
    leaves the cluster it was on."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt:
            err.print("stopped; nothing was kept.")
            raise typer.Exit(130) from None
        finally:
            leave()


def given(context: typer.Context) -> dict[str, str]:
    """What the user typed, by the name of the parameter: how it is written."""
    found = {}
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if source is not None and source.name in ("COMMANDLINE", "ENVIRONMENT"):
            long = [text for text in parameter.opts if text.startswith("--")]
            found[str(parameter.name)] = long[0] if long else str(parameter.name).upper()
    return found


def refuse_others(context: typer.Context, allowed: Iterable[str], why: str) -> None:
    """An option that would do nothing is refused: all that was typed but `allowed`."""
    idle = [text for name, text in given(context).items() if name not in allowed]
    if idle:
        raise BadParameter(f"{why}; leave out {', '.join(idle)}")


def refuse_given(context: typer.Context, names: Iterable[str], why: str) -> None:
    """The same the other way round: `names` would do nothing here."""
    refuse_others(context, set(given(context)) - set(names), why)


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
    from counterplay.solvers.folder import check_free

    check_can_write(folder)
    check_free(folder)


def read_options(texts: list[str] | None) -> dict[str, Any]:
    """`["epsilon=0.6"]` -> `{"epsilon": 0.6}`."""
    return dict(_read_option(text) for text in texts or [])


def _read_option(text: str) -> tuple[str, Any]:
    name, equals, value = text.partition("=")
    if not equals:
        raise BadParameter(f"write an option as name=value, such as epsilon=0.6, not {text!r}")
    try:
        return name.strip(), ast.literal_eval(value.strip())
    except (ValueError, SyntaxError, MemoryError, RecursionError):
        return name.strip(), value.strip()


def read_strategy(text: str, game: str | None) -> Any:
    from counterplay.forms.registry import load
    from counterplay.forms.strategy import Strategy

    if text == "uniform":
        if game is None:
            raise BadParameter("uniform needs to know the game: add --game kuhn")
        return Strategy.uniform(load(game))
    if game is not None and not os.path.exists(text) and load(game).can("bots"):
        from counterplay.opponents.bots.registry import BOTS

        spec = BOTS.get(text)
        if spec is not None and spec.strategy is not None:
            return spec.strategy(load(game))
    if Path(text).suffix == ".json":
        from counterplay.opponents.models.file import load_model

        return load_model(text, load(game) if game is not None else None).strategy
    return Strategy.load(text, load(game) if game is not None else None)


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


def interruptible(folder: Path, command: str, work: Callable[[], Any]) -> Any:
    """Run `work`; after Ctrl-C say how to go on."""
    from counterplay.solvers.folder import has_checkpoint, places

    try:
        return work()
    except KeyboardInterrupt:
        if any(has_checkpoint(place) for place in places(folder)):
            err.print(f"stopped; saved in {folder}; {go_on(command, folder)}")
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
