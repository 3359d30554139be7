"""Versions of the code: whoever finds an old number must know whether this code would have made it.

A version is a hash of source files and of the libraries that compute. Everything below the
experiments is part of every version. Of the experiments themselves a kept piece depends on the
shared files alone, so that a new sentence in one figure does not cost another its training; a
result depends on the experiment's own file and all it imports. The report, the campaign and the
command line are in no version: they show numbers and make none.
"""

from __future__ import annotations

import hashlib
import inspect
from collections.abc import Collection, Iterable
from functools import cache
from pathlib import Path
from typing import Any

from counterplay.core.base.version import LENGTH, PACKAGE, hash_files, imported_files

HERE = PACKAGE / "app" / "reproduction"
ABOVE = {"app"}  # folders that numbers do not come from, or that are looked at one file at a time
PICTURES = {"plotting.py"}  # of `base`: draws, and changes no piece
#: What makes pieces for several experiments.
SHARED = ("harness.store", "harness.training", "players", "models")
#: Numbers that are part of every recipe they matter to.
RECIPES = {"sizes.py"}


@cache
def pieces_version() -> str:
    """Of whatever makes a kept piece, an experiment's own file left out."""
    below = [path for path in _below() if path.name not in PICTURES]
    return _version(below, SHARED, RECIPES)


@cache
def file_version(file: str) -> str:
    """Of one source file, for a piece that only its own experiment makes."""
    return hashlib.sha256(Path(file).read_bytes()).hexdigest()[:LENGTH]


def result_version(run: Any) -> str:
    """Of the experiment whose function is `run`: what its numbers, rules and pictures come from."""
    return _result_version(Path(inspect.getsourcefile(run) or __file__).resolve())


@cache
def _result_version(file: Path) -> str:
    if file.is_relative_to(HERE):
        name = ".".join(file.relative_to(HERE).with_suffix("").parts)
        return _version(_below(), [name])
    return _version([*_below(), file], ["harness.base"])  # an experiment of somebody else


def _below() -> list[Path]:
    """Every file of the layers below the experiments."""
    folders = [path for path in PACKAGE.iterdir() if path.is_dir() and path.name not in ABOVE]
    found = [path for folder in folders for path in folder.rglob("*") if path.is_file()]
    return sorted(path for path in found if "__pycache__" not in path.parts and path.name[0] != ".")


def _version(sources: Iterable[Path], modules: Iterable[str], without: Collection[str] = ()) -> str:
    own = [path for path in imported(modules) if path.name not in without]
    return hash_files([*sources, *own], PACKAGE)


def imported(modules: Iterable[str]) -> list[Path]:
    """Files of these modules of the reproduction and of those among them that they import."""
    roots = [HERE.joinpath(*name.split(".")).with_suffix(".py") for name in modules]
    return [path for path in imported_files(PACKAGE, roots) if HERE in path.parents]
