"""Experiments run in the process of the test, as they do on two processors, unless a test asks for
helpers."""

from __future__ import annotations

import pytest

from counterplay.app.reproduction.harness import side_by_side


@pytest.fixture(autouse=True)
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(side_by_side, "cores", lambda: 2)
