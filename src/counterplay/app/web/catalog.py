"""The catalog of served files: runs, strategies, models, reports and hand histories.

A request names an entry by its key, which is looked up in the catalog; no part of a path comes from
a request. Symbolic links that lead out of a served folder are not followed.
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

MOST_ENTRIES = 2_000
MOST_DEPTH = 5
SCAN_SECONDS = 1.0  # a scan is reused for so long
CACHED_STRATEGIES = 6
MOST_COMPUTED = 200  # strategies computed while serving
HAND_ENDINGS = (".phh", ".phhs", ".log", ".parquet")


class NotFound(CounterplayError):
    """No entry has the requested key."""


@dataclass(frozen=True)
class CatalogEntry:
    """A served file or run folder. `kind`: run, strategy, model, report or hands."""

    key: str
    kind: str
    name: str
    path: Path


class Catalog:
    """The entries below some folders and files, and strategies computed while serving."""

    def __init__(self, sources: list[Path]) -> None:
        """`sources`: files and folders; those written as `file.py:Name` are user-defined bots."""
        self.user_defined = [str(source) for source in sources if is_user_defined(str(source))]
        self._roots = [source.resolve() for source in sources if not is_user_defined(str(source))]
        self._entries: dict[str, CatalogEntry] = {}
        self._scanned = 0.0
        self._cache: OrderedDict[tuple[str, int], Any] = OrderedDict()
        self.computed: dict[str, tuple[str, Any]] = {}  # name and strategy by key
        self._games: dict[tuple[str, int], str | None] = {}
        self._reading = threading.Lock()

    def entries(self, *kinds: str) -> list[CatalogEntry]:
        """The entries on disk now, of these kinds or of all."""
        if time.monotonic() - self._scanned > SCAN_SECONDS or not self._scanned:
            self._entries = {entry.key: entry for entry in self._scan()}
            self._scanned = time.monotonic()
        return [entry for entry in self._entries.values() if not kinds or entry.kind in kinds]

    def find(self, key: str, *kinds: str) -> CatalogEntry:
        """The entry with this key, or `NotFound`."""
        self.entries()
        entry = self._entries.get(key)
        if entry is None or (kinds and entry.kind not in kinds):
            raise NotFound("no such entry any more; load the page again")
        return entry

    def _scan(self) -> Iterator[CatalogEntry]:
        count = 0
        for root in self._roots:
            for path, kind in _scan(root, root, 0):
                if count == MOST_ENTRIES:
                    return
                count += 1
                yield CatalogEntry(_key(path), kind, _name(root, path), path)

    def add(self, key: str, name: str, strategy: Any) -> None:
        """Adds a strategy computed while serving, such as a response."""
        self.computed[key] = (name, strategy)
        while len(self.computed) > MOST_COMPUTED:
            del self.computed[next(iter(self.computed))]

    def strategy(self, key: str) -> Any:
        """The strategy with this key; the last ones read are cached."""
        if key in self.computed:
            return self.computed[key][1]
        entry = self.find(key, "run", "strategy", "model")
        file = _strategy_file(entry)
        return self._cached(file, lambda: _read_strategy(entry.kind, file))

    def game_name(self, entry: CatalogEntry) -> str | None:
        """The game of a run, a strategy or a model; None if it is not a built-in game."""
        try:
            version = (str(entry.path), entry.path.stat().st_mtime_ns)
        except OSError:
            return None
        if version not in self._games:
            self._games[version] = _game_name(entry)
        return self._games[version]

    def _cached(self, file: Path, read: Callable[[], Any]) -> Any:
        try:
            version = (str(file), file.stat().st_mtime_ns)
        except OSError:
            raise NotFound(f"{file.name} does not exist any more") from None
        with self._reading:
            if version not in self._cache:
                self._cache[version] = read()
                while len(self._cache) > CACHED_STRATEGIES:
                    self._cache.popitem(last=False)
            self._cache.move_to_end(version)
            return self._cache[version]


def _strategy_file(entry: CatalogEntry) -> Path:
    return entry.path / "strategy.npz" if entry.kind == "run" else entry.path


def _read_strategy(kind: str, file: Path) -> Any:
    """The strategy of a file, for a game that pages may name."""
    from counterplay.app.web.games import open_game
    from counterplay.core.games.players import as_strategy

    name = _header(kind, file).get("game")
    if not isinstance(name, str):
        raise BadParameter(f"{file.name}: damaged (no game in it)")
    return as_strategy(open_game(name), file)


def _header(kind: str, file: Path) -> dict[str, Any]:
    from counterplay.core.base.files import read_header, read_json

    return read_json(file) if kind == "model" else read_header(file, "strategy")


def _game_name(entry: CatalogEntry) -> str | None:
    """The game in the file's header; None if it is not built in."""
    try:
        name = _header(entry.kind, _strategy_file(entry)).get("game")
    except CounterplayError:
        return None
    return name if isinstance(name, str) and _built_in(name) else None


def _built_in(name: str) -> bool:
    from counterplay.core.forms.registry import GAMES

    return name.partition("(")[0] in GAMES and "players=" not in name


def _scan(root: Path, path: Path, depth: int) -> Iterator[tuple[Path, str]]:
    """Paths and kinds of the entries at and below `path`, each inside `root`."""
    if not path.resolve().is_relative_to(root):
        return
    if not path.is_dir():
        kind = _kind(path)
        if kind is not None:
            yield path, kind
        return
    if (path / "config.json").is_file():
        yield path, "run"
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return
    for name in names:
        inner = path / name
        if name.startswith(".") or (depth == MOST_DEPTH and inner.is_dir()):
            continue
        if (path / "config.json").is_file() and name in ("strategy.npz", "checkpoint.npz"):
            continue
        yield from _scan(root, inner, depth + 1)


def _kind(path: Path) -> str | None:
    """The kind of a file, by its name and its first bytes."""
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
