"""What several commands share: options, strategies by name, run folders, stopping."""

from __future__ import annotations

import ast
import os
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from counterplay.base.errors import BadParameter
from counterplay.display import err

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object, for machines.")]


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
    from counterplay.forms.strategy import Strategy
    from counterplay.games.registry import load

    if text == "uniform":
        if game is None:
            raise BadParameter("uniform needs to know the game: add --game kuhn")
        return Strategy.uniform(load(game))
    if game is not None and not os.path.exists(text) and not load(game).has_tree:
        from counterplay.opponents.simple import SIMPLE, simple_strategy

        if text in SIMPLE:
            return simple_strategy(text, load(game))
    if Path(text).suffix == ".json":
        from counterplay.opponents.model_file import load_model

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
    try:
        return work()
    except KeyboardInterrupt:
        err.print(f"stopped; saved in {folder}. Go on with: counterplay {command} --resume {folder}")
        raise typer.Exit(130) from None
