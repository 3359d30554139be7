"""What happened at a table, a line of JSON each, written as it happens.

After a kill the last line may be cut off: it is left out, and the table goes on from the line
before it. What was shown to the player was written first.
"""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path
from typing import Any

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, CounterplayError

ID = re.compile(r"[A-Za-z0-9_-]{16}")
MOST_LINES = 1_000_000


class Journal:
    """The file of one table, and facts about it that do not change."""

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self.folder, self.facts = folder, facts
        self._path = folder / "moves.jsonl"

    @classmethod
    def new(cls, place: Path, facts: dict[str, Any]) -> Journal:
        """A new table, with a name that nobody can guess."""
        folder = place / new_id()
        files.write_json(folder / "table.json", {"counterplay": "table", **facts}, new=True)
        return cls(folder, facts)

    @classmethod
    def open(cls, place: Path, name: str) -> Journal:
        """A table that was there before, or `BadFile`."""
        if ID.fullmatch(name) is None:
            raise BadFile("there is no such table")
        folder = place / name
        try:
            facts = files.read_json(folder / "table.json")
        except CounterplayError:
            raise BadFile("there is no such table any more; take a new one") from None
        if facts.pop("counterplay", None) != "table":
            raise BadFile("there is no such table any more; take a new one")
        return cls(folder, facts)

    @property
    def name(self) -> str:
        return self.folder.name

    def add(self, line: dict[str, Any]) -> None:
        """One more line, in one write."""
        try:
            with open(self._path, "ab") as file:
                file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            raise CounterplayError(f"cannot write {self._path}: {error.strerror}") from None

    def lines(self) -> list[dict[str, Any]]:
        """All whole lines; what a kill cut off is removed from the file."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BadFile(f"{self._path}: cannot be read ({error.strerror})") from None
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            files.write_bytes(self._path, whole)
        found = []
        for text in whole.splitlines()[:MOST_LINES]:
            try:
                line = json.loads(text)
            except ValueError:
                break
            if not isinstance(line, dict):
                break
            found.append(line)
        return found


def new_id() -> str:
    return secrets.token_urlsafe(12)
