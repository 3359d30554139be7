"""A terminal to which library calls show their progress at once."""

from __future__ import annotations

import io
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

import counterplay as cp
from counterplay.core.base import progress


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Iterator[Terminal]:
    said = Terminal()
    cp.show_progress()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=said, modules={}))
    monkeypatch.setattr(progress, "FIRST_SECONDS", 1e-9)
    yield said
    cp.show_progress()
