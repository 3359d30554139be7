"""Library calls show a bar by themselves: on a terminal, after a while, one at a time."""

from __future__ import annotations

import io
import threading
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from support.terminal import Terminal

import counterplay as cp
from counterplay.core.base import progress
from counterplay.core.base.progress import ProgressCallback, no_progress, progress_bar, say
from counterplay.core.base.store import Cached, Piece


def test_a_solve_shows_its_iterations_and_clears_the_line(terminal: Terminal) -> None:
    cp.solve("kuhn", "cfr", iterations=50_000)
    assert "iterations" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")


def test_a_match_shows_its_hands(terminal: Terminal) -> None:
    cp.play_match("kuhn", "uniform", "uniform", hands=400_000, seed=1)
    assert "hands" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")


def test_tables_show_that_they_are_being_built(
    terminal: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where nobody asked for progress."""
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))

    def build(progress: ProgressCallback) -> int:
        progress(0.5, "strengths on the flop")
        return 1

    modules = ("counterplay.core.kernels.rng",)
    tables: Cached[int] = Cached(
        "the tables stay", "test", modules, build, lambda n: Piece(n, {}), lambda piece: piece.value
    )
    assert tables.get() == 1
    assert "50% strengths on the flop" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r")


def test_short_work_shows_nothing(terminal: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(progress, "FIRST_SECONDS", 60.0)
    cp.solve("kuhn", "cfr", iterations=50)
    assert terminal.getvalue() == ""


def test_it_can_be_turned_off(terminal: Terminal) -> None:
    cp.show_progress(False)
    cp.solve("kuhn", "cfr", iterations=50)
    say("compiling")
    assert terminal.getvalue() == ""


def test_nothing_without_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    said = io.StringIO()
    monkeypatch.setattr(progress, "sys", SimpleNamespace(stderr=said, modules={}))
    monkeypatch.setattr(progress, "FIRST_SECONDS", 0.0)
    cp.solve("kuhn", "cfr", iterations=50)
    say("compiling")
    assert said.getvalue() == ""


def test_one_bar_at_a_time_and_none_beside_a_callback(terminal: Terminal) -> None:
    with progress_bar() as outer, progress_bar() as inner:
        assert isinstance(outer, cp.ProgressBar)
        assert inner is no_progress
    seen: list[Any] = []
    cp.frontier(
        "kuhn", "uniform", (0.0, 1.0), iterations=5, progress=lambda *at: seen.append(at[0])
    )
    assert seen[-1] == 1.0
    assert terminal.getvalue() == ""


def test_only_the_main_thread_shows(terminal: Terminal) -> None:
    bars: list[Any] = []

    def work() -> None:
        with progress_bar() as bar:
            bars.append(bar)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert bars == [no_progress]


def test_a_message_is_a_line_of_its_own(terminal: Terminal) -> None:
    say("compiling")
    assert terminal.getvalue().strip("\r \n") == "compiling"
    assert terminal.getvalue().endswith("\n")
