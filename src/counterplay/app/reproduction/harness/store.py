"""The pieces that experiments keep between runs, in the store (`core/base/store.py`).

They lie in the folder `work` beside the results. It may be deleted at any time.
"""

from __future__ import annotations

import time
from pathlib import Path

from counterplay.app.reproduction.harness import sources
from counterplay.core.base import store

WORK = "work"  # folder beside the results


class Store(store.Store):
    """The pieces beside the results in `folder`. `again`: believe only what this very store has
    made, or its helpers have since it was opened."""

    def __init__(self, folder: str | Path, again: bool = False) -> None:
        self.folder = Path(folder)  # pictures, tables and verdicts go here
        self.again, self._since = again, time.time()
        super().__init__(self.folder / WORK, sources.pieces_version())

    def accepts(self, path: Path) -> bool:
        if not self.again or path in self.written:
            return True
        try:
            return path.stat().st_mtime > self._since
        except OSError:
            return False
