"""One object of a module in the cache folder, and the version of the code that makes it."""

from __future__ import annotations

import threading
import time
from pathlib import Path
from typing import Any

import pytest
from support.sources import copy_sources

from counterplay.core.base import store, version
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.store import CACHED_VERSIONS, Cached, Piece, cached_store


class Counted(Cached[str]):
    """A text in the cache folder, and how often it was made."""

    def __init__(self, recipe: dict[str, Any]) -> None:
        super().__init__(
            "the texts stay",
            "toys",
            ("counterplay.core.kernels.rng",),
            make=self.count,
            pack=lambda made: Piece(f"{made}, stored", {}),
            unpack=lambda piece: piece.value if isinstance(piece.value, str) else None,
            recipe=lambda: recipe,
        )
        self.makes = 0

    def count(self, progress: ProgressCallback) -> str:
        self.makes += 1
        return "made"


def test_made_once_then_from_disk_then_from_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "a"))
    reports: list[float] = []
    cached = Counted({})
    assert cached.size_on_disk() == 0
    assert cached.get(lambda share, what: reports.append(share)) == "made, stored"  # as read back
    assert reports == [0.99, 1.0]
    assert cached.size_on_disk() > 0
    cached.slot().path.unlink()
    assert cached.get() == "made, stored"  # from memory
    assert cached.makes == 1
    cached.write("again")
    later = Counted({})
    assert [later.get(), later.get()] == ["again, stored"] * 2
    assert later.makes == 0
    later.slot().write([1], {})  # whole, but not what it should be
    third = Counted({})
    assert third.get() == "made, stored"
    assert Counted({"other": 1}).read() is None
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "b"))
    assert third.get() == "made, stored"  # another folder is another thing
    assert third.makes == 2
    assert not list(tmp_path.rglob("*.lock"))


def test_what_cannot_be_written_stays_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "file" / "cache"))
    cached = Counted({})
    with pytest.warns(UserWarning, match="the texts stay in memory: cannot write"):
        assert cached.get() == "made"
    assert cached.get() == "made"
    assert cached.makes == 1


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources, which a test may change."""
    copy = copy_sources(tmp_path)
    monkeypatch.setattr(version, "PACKAGE", copy)
    return copy


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        ("poker/cards/strength.py", (True, True)),
        ("poker/cards/evaluator.py", (True, True)),  # imported by what is imported
        ("core/kernels/jit.py", (True, True)),
        ("poker/vector/traversal.py", (False, True)),
        ("poker/vector/evaluation.py", (False, True)),
        ("core/base/store.py", (False, False)),
        ("app/web/runs.py", (False, False)),
        ("app/web/static/app.js", (False, False)),
        ("app/cli/commands.py", (False, False)),
        ("poker/bots/poki/bot.py", (False, False)),
    ],
)
def test_which_change_of_the_code_makes_what_anew(
    file: str, changed: tuple[bool, bool], package: Path
) -> None:
    """The tables of hold'em, and exact values of boards."""

    def versions() -> tuple[str, ...]:
        traversal = ("counterplay.poker.vector.evaluation", "counterplay.poker.vector")
        asked: tuple[tuple[str, ...], ...] = (("counterplay.poker.cards.strength",), traversal)
        return tuple(version.code_version.__wrapped__(*modules) for modules in asked)

    before = versions()
    with open(package / file, "a") as out:
        out.write("\n# a change\n")
    assert tuple(a != b for a, b in zip(before, versions(), strict=True)) == changed


def test_a_source_that_changed_makes_it_anew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))
    one, other = Counted({}), Counted({})
    one.get()
    monkeypatch.setattr(store, "code_version", lambda *modules: "f" * 16)
    assert other.read() is None
    other.get()
    assert other.makes == 1
    assert len(list((tmp_path / "store" / "toys").iterdir())) == CACHED_VERSIONS


def test_code_of_another_package_counts_too(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))
    (tmp_path / "elsewhere.py").write_text("SIZE = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    __import__("elsewhere")
    before = version.code_version.__wrapped__("elsewhere")
    (tmp_path / "elsewhere.py").write_text("SIZE = 2\n")
    assert version.code_version.__wrapped__("elsewhere") != before
    assert cached_store("toys", "elsewhere").work.parent == tmp_path / "store" / "toys"


def test_two_threads_make_it_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))
    cached = Counted({})
    make = cached.count
    cached._make = lambda progress: time.sleep(0.05) or make(progress)  # type: ignore[func-returns-value]
    threads = [threading.Thread(target=cached.get) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cached.makes == 1
