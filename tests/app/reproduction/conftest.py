"""Experiments run in the process of the test, as they do on one processor, unless a test asks for
helpers."""

from __future__ import annotations

import pytest

from counterplay.app.reproduction.harness import reproduce


@pytest.fixture(autouse=True)
def one_processor(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reproduce, "cores", lambda: 1)
