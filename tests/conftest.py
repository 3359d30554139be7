"""Shared by all tests."""

import gc
import importlib
import os
import signal
from pathlib import Path

import pytest
from hypothesis import settings
from support.trees import share_trees

from counterplay.core.match.result import MatchResult

# The first example of a property may compile a kernel, which takes as long as it takes.
settings.register_profile("counterplay", deadline=None)
settings.load_profile("counterplay")

# A shell starts background jobs with Ctrl-C ignored, and so do they their children.
signal.signal(signal.SIGINT, signal.default_int_handler)

# Compiled kernels leave millions of objects that stay: the collector looks through them seldom.
gc.set_threshold(20_000, 20, 50)

share_trees()

# `make test-slow` installs every package that a test compares with: none may be missing there.
if os.environ.get("NO_PACKAGE_MISSING"):
    pytest.importorskip = lambda name, *_, **__: importlib.import_module(name)

pytest_plugins = ["support.command", "support.terminal"]  # the fixtures `inside`, `terminal`


LONG = frozenset((Path(__file__).parent / "slow.txt").read_text().splitlines()[1:])


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Single cases that take long are named in slow.txt; whole tests have the mark themselves."""
    for item in items:
        if item.nodeid in LONG:
            item.add_marker(pytest.mark.slow)


@pytest.fixture
def estimated() -> None:
    """`counterplay model` estimates what a response would win, as it does for users."""


@pytest.fixture(autouse=True)
def _not_estimated(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everywhere else that second is saved."""
    if "estimated" not in request.fixturenames:
        won = MatchResult("holdem", "answer", "model", 2, True, 0.5, 0.1, (0.5, 0.5), 0, 0.0)
        monkeypatch.setattr("counterplay.app.cli.models._estimate", lambda *_: won)
