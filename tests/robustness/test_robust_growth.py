"""Games that never end, or are larger than memory: they are refused early, and the count is said
aloud."""

from __future__ import annotations

from itertools import count
from pathlib import Path
from typing import Any

import pytest
from support.command import one_sentence, typed

import counterplay as cp
from counterplay.core.base import memory, progress
from counterplay.core.base.errors import BadGame, TooLarge
from counterplay.core.forms import states


class Endless:
    """A state from which one goes on for ever, with `width` actions."""

    n_players = 2

    def __init__(self, width: int = 1, depth: int = 0, weight: int = 0) -> None:
        self.width, self.depth = width, depth
        self.load = bytes(weight)

    def root(self) -> Endless:
        return self

    def player(self) -> int:
        return self.depth % 2

    def actions(self) -> Any:
        return range(self.width)

    def child(self, action: int) -> Endless:
        return Endless(self.width, self.depth + 1, len(self.load))

    def infoset(self) -> str:
        return str(self.depth)

    def payoffs(self) -> list[float]:
        return [0.0, 0.0]

    def chance(self) -> list[float]:
        return []


class Circle(Endless):
    """Its only action leads back."""

    def child(self, action: int) -> Endless:
        return self


class Choices(Endless):
    """Actions without end."""

    def actions(self) -> Any:
        return count()


@pytest.mark.parametrize("rules", [Endless(), Circle()], ids=["endless", "circle"])
def test_a_history_that_never_ends(rules: Endless) -> None:
    with pytest.raises(
        BadGame,
        match="mine has a history that goes on after 10,000 actions; every history must end",
    ):
        cp.Game("mine", rules).n_nodes  # noqa: B018


def test_actions_without_end() -> None:
    with pytest.raises(BadGame, match="more than 32,767 actions"):
        cp.Game("mine", Choices()).n_nodes  # noqa: B018


@pytest.mark.parametrize("weight", [0, 20_000], ids=["light", "heavy"])
def test_growth_stops_at_the_limit(weight: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Also inside a level, and by what the states really take."""
    monkeypatch.setenv(memory.LIMIT_VARIABLE, "0.06")
    before = memory.used_bytes()
    with pytest.raises(
        TooLarge,
        match=r"mine with more than [\d,]+ histories of \d+ actions and more needs more than",
    ) as refused:
        cp.Game("mine", Endless(width=500 if weight else 2, weight=weight)).n_nodes  # noqa: B018
    grown = (memory.used_bytes() or 0) - (before or 0)
    assert grown < 200e6
    number = int(str(refused.value).split("more than ")[1].split()[0].replace(",", ""))
    reused = (before or 0) / weight if weight else 0  # freed memory of this process is taken first
    assert number < (10_000 + reused if weight else 70_000)


def test_the_count_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    said: list[str] = []
    clock = iter(range(10**9))
    monkeypatch.setattr(progress.time, "monotonic", lambda: 0.5 * next(clock))
    monkeypatch.setattr(progress, "_listener", said.append)
    monkeypatch.setattr(states, "CHECK_EVERY", 100)
    monkeypatch.setenv(memory.LIMIT_VARIABLE, "0.02")
    with pytest.raises(TooLarge):
        cp.Game("mine", Endless(width=2)).n_nodes  # noqa: B018
    assert len(said) >= 3  # after 2 seconds, then whenever the time has doubled
    assert len(said) < 12
    numbers = [
        int(line.removeprefix("histories of mine: ").removesuffix(" so far").replace(",", ""))
        for line in said
    ]
    assert numbers == sorted(numbers)


def test_chess(tmp_path: Path) -> None:
    """A game without bounds has no tree, and no solver that needs one tries to build it."""
    pytest.importorskip("pyspiel")
    done = typed(tmp_path, "games", "open_spiel:chess")
    assert done.code == 0, done
    assert "none: information sets are discovered while sampling" in done.stdout
    done = typed(tmp_path, "solve", "open_spiel:chess", "-a", "cfr+", "-n", "1")
    assert one_sentence(done), done
    assert "open_spiel:chess is played without a tree" in done.stderr
