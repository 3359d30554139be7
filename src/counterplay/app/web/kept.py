"""What was worked out in the browser, on disk: frontiers with their model and responses, sheets of
tendencies, and solved spots with the answers to their locks, so that links survive a restart.
Results with a name stay; of the others the newest.

A folder for each result: `record.json`, and `NAME.npz` for each strategy. The key of a strategy is
`made-KEY-NAME`.
"""

from __future__ import annotations

import re
import shutil
import time
from functools import lru_cache
from pathlib import Path
from typing import Any

from counterplay.app.web.catalog import NotFound
from counterplay.core.base import files
from counterplay.core.base.errors import BadParameter, CounterplayError

KEY = re.compile(r"[0-9a-f]{16}")
STRATEGY_KEY = re.compile(r"made-([0-9a-f]{16})-(model|solution|\d{1,2})")
MADE = "made-"
RECORD = "record.json"
SPOT = "spot"  # the fact that a record of a solved spot has
MOST_UNNAMED, MOST_LISTED = 30, 200
MOST_NAME = 80


class KeptResults:
    """The results in one folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder.resolve()

    def save(self, key: str, facts: dict[str, Any], strategies: dict[str, Any]) -> None:
        """Writes a result: the facts that a page shows, and strategies by name."""
        place = self.folder / key
        for name, strategy in strategies.items():
            strategy.save(place / f"{name}.npz")
        games = {name: strategy.game.name for name, strategy in strategies.items()}
        name = (self.read(key) or {}).get("name", "")  # of the same before it had answers
        self._write(key, {"name": name, "when": time.time(), "strategies": games, "facts": facts})
        unnamed = [found for found, record in self.records() if not record["name"]]
        for old in unnamed[MOST_UNNAMED:]:
            self.remove(old)

    def _write(self, key: str, record: dict[str, Any]) -> None:
        files.write_json(self.folder / key / RECORD, {"counterplay": "kept", **record})

    def read(self, key: str) -> dict[str, Any] | None:
        """The record of a result; None without one, or where it is damaged."""
        if not KEY.fullmatch(key):
            return None
        path = self.folder / key / RECORD
        try:
            return _read(path, path.stat().st_mtime_ns)
        except (OSError, CounterplayError):
            return None

    def records(self) -> list[tuple[str, dict[str, Any]]]:
        """All results by key, newest first."""
        names = [path.name for path in self.folder.iterdir()] if self.folder.is_dir() else []
        found = [(name, record) for name in names if (record := self.read(name)) is not None]
        return sorted(found, key=lambda one: -float(one[1]["when"]))[:MOST_LISTED]

    def rename(self, key: str, name: str) -> None:
        """Gives a result a name; an empty one takes it back."""
        record = self.read(key)
        if record is None:
            raise NotFound("no such result any more")
        clean = " ".join(name.split())
        if len(clean) > MOST_NAME or not clean.isprintable():
            raise BadParameter(f"a name has at most {MOST_NAME} printable characters")
        self._write(key, {**record, "name": clean})

    def remove(self, key: str) -> None:
        if KEY.fullmatch(key):
            shutil.rmtree(self.folder / key, ignore_errors=True)

    def strategy_file(self, key: str) -> Path:
        """The file of the strategy `made-KEY-NAME`."""
        found = STRATEGY_KEY.fullmatch(key)
        path = self.folder / found[1] / f"{found[2]}.npz" if found else None
        if path is None or not path.is_file():
            raise NotFound("no such strategy any more; load the page again")
        return path

    def strategies(self) -> list[dict[str, str]]:
        """Key, name and game of the strategies of all results but spots, which have a page."""
        return [
            {"key": f"{MADE}{key}-{name}", "name": _strategy_name(record, name), "game": str(game)}
            for key, record in self.records()
            if SPOT not in record["facts"]
            for name, game in record["strategies"].items()
        ]


@lru_cache(maxsize=2 * MOST_LISTED)
def _read(path: Path, changed: int) -> dict[str, Any] | None:
    """The record in a file; `changed`: when it was written."""
    record = files.read_json(path)
    right = {"name": str, "when": float | int, "strategies": dict, "facts": dict}
    whole = all(isinstance(record.get(field), kind) for field, kind in right.items())
    return record if record.pop("counterplay", None) == "kept" and whole else None


def _strategy_name(record: dict[str, Any], name: str) -> str:
    title = record["name"] or record["facts"].get("title", "")
    if name == "model":
        return f"model: {title}"
    points = (record["facts"].get("frontier") or {}).get("points") or []
    p = points[int(name)]["p"] if int(name) < len(points) else "?"
    return f"response to {title}, p = {p:g}" if points else f"response to {title}"
