"""The catalog of served files: runs, strategies, models, reports and hand histories.

A request names an entry by its key, which is looked up in the catalog; no part of a path comes from
a request. Symbolic links that lead out of a served folder are not followed.
"""

from __future__ import annotations

import hashlib
import os
import threading
import time
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import lru_cache
from itertools import islice
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
        self.computed: dict[str, tuple[str, Any]] = {}  # name and strategy by key
        self.kept: Any = None  # the `KeptResults`, whose strategies are entries too
        self._reading = threading.Lock()

    def entries(self, *kinds: str) -> list[CatalogEntry]:
        """The entries on disk now, of these kinds or of all."""
        if time.monotonic() - self._scanned > SCAN_SECONDS or not self._scanned:
            self._entries = {entry.key: entry for entry in islice(self._scan(), MOST_ENTRIES)}
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
        for root in self._roots:
            for path, kind in _scan(root, root, 0):
                if self.kept is not None and path.is_relative_to(self.kept.folder):
                    continue  # listed by their results
                inner = path.relative_to(root)
                name = root.name if str(inner) == "." else str(inner)
                text = str(path).encode("utf-8", "surrogateescape")
                key = hashlib.blake2b(text, digest_size=8).hexdigest()
                yield CatalogEntry(key, kind, name.encode("utf-8", "replace").decode(), path)

    def add(self, key: str, name: str, strategy: Any) -> None:
        """Adds a strategy computed while serving, such as a response."""
        self.computed[key] = (name, strategy)
        while len(self.computed) > MOST_COMPUTED:
            del self.computed[next(iter(self.computed))]

    def strategy(self, key: str) -> Any:
        """The strategy with this key; the last ones read are cached."""
        if key in self.computed:
            return self.computed[key][1]
        kind = "strategy"
        if self.kept is not None and key.startswith("made-"):
            file = self.kept.strategy_file(key)
        else:
            entry = self.find(key, "run", "strategy", "model")
            kind, file = entry.kind, _strategy_file(entry)
        try:
            changed = file.stat().st_mtime_ns
        except OSError:
            raise NotFound(f"{file.name} does not exist any more") from None
        with self._reading:
            return _read_strategy(kind, file, changed)

    def game_name(self, entry: CatalogEntry) -> str | None:
        """The game of a run, a strategy or a model; None if it is not a built-in game."""
        try:
            return _game_name(entry.kind, _strategy_file(entry), entry.path.stat().st_mtime_ns)
        except (OSError, CounterplayError):
            return None


def _strategy_file(entry: CatalogEntry) -> Path:
    return entry.path / "strategy.npz" if entry.kind == "run" else entry.path


@lru_cache(maxsize=CACHED_STRATEGIES)
def _read_strategy(kind: str, file: Path, changed: int) -> Any:
    """The strategy of a file, for a game that pages may name; `changed`: when it was written."""
    from counterplay.app.web.strategies import open_game
    from counterplay.core.games.players import as_strategy

    name = _header(kind, file).get("game")
    if not isinstance(name, str):
        raise BadParameter(f"{file.name}: damaged (no game in it)")
    return as_strategy(open_game(name), file)


def _header(kind: str, file: Path) -> dict[str, Any]:
    from counterplay.core.base.files import read_header, read_json

    return read_json(file) if kind == "model" else read_header(file, "strategy")


@lru_cache(maxsize=MOST_ENTRIES)
def _game_name(kind: str, file: Path, changed: int) -> str | None:
    """The game in the file's header; None if it is not built in."""
    from counterplay.core.forms.registry import GAMES

    name = str(_header(kind, file).get("game"))
    return name if name.partition("(")[0] in GAMES and "players=" not in name else None


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
    with suppress(OSError, CounterplayError):
        if path.suffix == ".npz":
            _header("strategy", path)
            return "strategy"
        if path.suffix == ".json":
            with open(path, "rb") as file:
                return "model" if b'"counterplay": "model"' in file.read(200) else None
    return None
