"""What is served: runs, strategies, models, reports and hands in the folders that were named.

A request names a thing by its key, which is looked up in what was found there; no part of a path
comes from a request. Links that lead out of a served folder are not followed.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.registry import is_user_defined

MOST_THINGS = 2_000
DEEPEST = 5
SCAN_SECONDS = 1.0  # for so long what was found is believed
KEPT = 6  # strategies in memory
MOST_MADE = 200  # of those made while serving
HAND_ENDINGS = (".phh", ".phhs", ".log", ".parquet")


class NotThere(CounterplayError):
    """A key that nothing has."""


@dataclass(frozen=True)
class Thing:
    """One thing that is served. `kind`: run, strategy, model, report or hands."""

    key: str
    kind: str
    name: str
    path: Path


class Library:
    """The things of some folders and files, and strategies made while serving."""

    def __init__(self, places: list[Path]) -> None:
        """Of `places` those written as `file.py:Name` are players whom the user named."""
        self.user_defined = [str(place) for place in places if is_user_defined(str(place))]
        self._places = [place.resolve() for place in places if not is_user_defined(str(place))]
        self._things: dict[str, Thing] = {}
        self._scanned = 0.0
        self._read: OrderedDict[tuple[str, int], Any] = OrderedDict()
        self._made: dict[str, tuple[str, Any]] = {}
        self._games: dict[tuple[str, int], str | None] = {}
        self._reading = threading.Lock()

    def things(self, *kinds: str) -> list[Thing]:
        """What is there now, of these kinds."""
        if time.monotonic() - self._scanned > SCAN_SECONDS or not self._scanned:
            self._things = {thing.key: thing for thing in self._scan()}
            self._scanned = time.monotonic()
        return [thing for thing in self._things.values() if not kinds or thing.kind in kinds]

    def find(self, key: str, *kinds: str) -> Thing:
        """The thing with this key, or `NotThere`."""
        self.things()
        thing = self._things.get(key)
        if thing is None or (kinds and thing.kind not in kinds):
            raise NotThere("there is no such thing here any more; load the page again")
        return thing

    def _scan(self) -> Iterator[Thing]:
        count = 0
        for place in self._places:
            for path, kind in _look(place, place, 0):
                if count == MOST_THINGS:
                    return
                count += 1
                yield Thing(_key(path), kind, _name(place, path), path)

    def add(self, key: str, name: str, strategy: Any) -> None:
        """A strategy made while serving, such as a response."""
        self._made[key] = (name, strategy)
        while len(self._made) > MOST_MADE:
            del self._made[next(iter(self._made))]

    def made(self) -> dict[str, tuple[str, Any]]:
        """Strategies made while serving, by key: name and strategy."""
        return self._made

    def strategy(self, key: str) -> Any:
        """The strategy with this key; kept in memory for a while."""
        if key in self._made:
            return self._made[key][1]
        thing = self.find(key, "run", "strategy", "model")
        file = thing.path / "strategy.npz" if thing.kind == "run" else thing.path
        return self._kept(file, lambda: _read_strategy(thing.kind, file))

    def game_name(self, thing: Thing) -> str | None:
        """The game of a run, a strategy or a model; None where it cannot be opened here."""
        try:
            mark = (str(thing.path), thing.path.stat().st_mtime_ns)
        except OSError:
            return None
        if mark not in self._games:
            self._games[mark] = _game_name(thing)
        return self._games[mark]

    def _kept(self, file: Path, read: Callable[[], Any]) -> Any:
        try:
            mark = (str(file), file.stat().st_mtime_ns)
        except OSError:
            raise NotThere(f"{file.name} is not there any more") from None
        with self._reading:
            if mark not in self._read:
                self._read[mark] = read()
                while len(self._read) > KEPT:
                    self._read.popitem(last=False)
            self._read.move_to_end(mark)
            return self._read[mark]


def _read_strategy(kind: str, file: Path) -> Any:
    """The strategy of a file, for a game that pages may ask for."""
    from counterplay.app.web.games import open_game
    from counterplay.core.games.players import as_strategy

    name = _header(kind, file).get("game")
    if not isinstance(name, str):
        raise BadParameter(f"{file.name}: damaged (no game in it)")
    return as_strategy(open_game(name), file)


def _header(kind: str, file: Path) -> dict[str, Any]:
    from counterplay.core.base.files import read_header, read_json

    return read_json(file) if kind == "model" else read_header(file, "strategy")


def _game_name(thing: Thing) -> str | None:
    """As the file says; it may be a game that is not built in."""
    file = thing.path / "strategy.npz" if thing.kind == "run" else thing.path
    try:
        name = _header(thing.kind, file).get("game")
    except CounterplayError:
        return None
    return name if isinstance(name, str) and _built_in(name) else None


def _built_in(name: str) -> bool:
    from counterplay.core.forms.registry import GAMES

    return name.partition("(")[0] in GAMES and "players=" not in name


def _look(root: Path, place: Path, depth: int) -> Iterator[tuple[Path, str]]:
    """Things below `place`, each inside of `root`."""
    if not place.resolve().is_relative_to(root):
        return
    if not place.is_dir():
        kind = _kind(place)
        if kind is not None:
            yield place, kind
        return
    if (place / "config.json").is_file():
        yield place, "run"
    try:
        names = sorted(os.listdir(place))
    except OSError:
        return
    for name in names:
        inner = place / name
        if name.startswith(".") or (depth == DEEPEST and inner.is_dir()):
            continue
        if (place / "config.json").is_file() and name in ("strategy.npz", "checkpoint.npz"):
            continue
        yield from _look(root, inner, depth + 1)


def _kind(path: Path) -> str | None:
    """What a file is, by its name and its first bytes."""
    if path.suffix in HAND_ENDINGS:
        return "hands"
    if path.name == "report.html":
        return "report"
    if path.suffix == ".npz":
        return "strategy" if _holds_strategy(path) else None
    if path.suffix == ".json":
        return "model" if b'"counterplay": "model"' in _first_bytes(path) else None
    return None


def _first_bytes(path: Path) -> bytes:
    try:
        with open(path, "rb") as file:
            return file.read(200)
    except OSError:
        return b""


def _holds_strategy(path: Path) -> bool:
    from counterplay.core.base.files import read_header

    try:
        read_header(path, "strategy")
    except CounterplayError:
        return False
    return True


def _key(path: Path) -> str:
    return hashlib.blake2b(str(path).encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


def _name(root: Path, path: Path) -> str:
    inner = path.relative_to(root)
    shown = root.name if str(inner) == "." else str(inner)
    return shown.encode("utf-8", "replace").decode()
