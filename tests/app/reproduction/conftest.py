"""Experiments run in the process of the test, as they do on two processors, unless a test asks for
helpers."""

from __future__ import annotations

import pytest

from counterplay.app.reproduction.harness import reproduce


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "cores", lambda: 2)
