"""The journal of a table: a line of JSON for each change, written before the player sees it.

After a kill the last line may be incomplete: it is removed, and the table continues from the line
before it.
"""

from __future__ import annotations

import json
import re
import secrets
from pathlib import Path
from typing import Any

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, CounterplayError

TABLE_ID = re.compile(r"[A-Za-z0-9_-]{16}")
MOST_LINES = 1_000_000


class Journal:
    """The files of one table: its moves, and the facts that do not change."""

    def __init__(self, folder: Path, facts: dict[str, Any]) -> None:
        self.folder, self.facts = folder, facts
        self._path = folder / "moves.jsonl"

    @classmethod
    def new(cls, tables: Path, facts: dict[str, Any]) -> Journal:
        """Creates a table with an unguessable name."""
        folder = tables / secrets.token_urlsafe(12)
        files.write_json(folder / "table.json", {"counterplay": "table", **facts}, new=True)
        return cls(folder, facts)

    @classmethod
    def open(cls, tables: Path, name: str) -> Journal:
        """Opens an existing table, or raises `BadFile`."""
        if TABLE_ID.fullmatch(name) is None:
            raise BadFile("there is no such table")
        folder = tables / name
        try:
            facts = files.read_json(folder / "table.json")
        except CounterplayError:
            raise BadFile("there is no such table any more; open a new one") from None
        if facts.pop("counterplay", None) != "table":
            raise BadFile("there is no such table any more; open a new one")
        return cls(folder, facts)

    @property
    def name(self) -> str:
        return self.folder.name

    def add(self, line: dict[str, Any]) -> None:
        """Appends a line in one write."""
        try:
            with open(self._path, "ab") as file:
                file.write(json.dumps(line, separators=(",", ":")).encode() + b"\n")
        except OSError as error:
            raise CounterplayError(f"cannot write {self._path}: {error.strerror}") from None

    def lines(self) -> list[dict[str, Any]]:
        """All complete lines; an incomplete last line is removed from the file."""
        try:
            data = self._path.read_bytes()
        except FileNotFoundError:
            return []
        except OSError as error:
            raise BadFile(f"{self._path}: cannot be read ({error.strerror})") from None
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            files.write_bytes(self._path, whole)
        lines = []
        for text in whole.splitlines()[:MOST_LINES]:
            try:
                line = json.loads(text)
            except ValueError:
                break
            if not isinstance(line, dict):
                break
            lines.append(line)
        return lines
