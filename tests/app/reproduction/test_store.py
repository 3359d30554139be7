"""The store of experiments: what is found, what is believed, what goes on. Sources: which code a
version stands for."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.report import KNOWN, check, claim, no_run, outcome, save
from support.sources import copy_sources

import counterplay as cp
from counterplay.app.reproduction.harness import store as store_module
from counterplay.app.reproduction.harness.base import (
    ExperimentFailure,
    finished_outcome,
    read_failure,
    read_outcome,
)
from counterplay.app.reproduction.harness.judge import Verdict
from counterplay.app.reproduction.harness.report import write_report
from counterplay.app.reproduction.harness.store import (
    PieceStore,
    learning_curve,
    trained,
)
from counterplay.core.base import version as version_module
from counterplay.core.base.errors import BadFile
from counterplay.core.base.store import KEPT_VERSIONS, Piece
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Solver

HERE = "app/reproduction"
NO_NUMBERS = ("report.py", "reproduce.py", "stories.py", "summary.py", "templates/report.html")
RECIPE = {"seed": 1, "options": {"epsilon": 0.6}}


def flips(path: Path) -> list[tuple[int, int]]:
    return [(byte, bit) for byte in range(path.stat().st_size) for bit in range(8)]


def count(kept: PieceStore, recipe: Any = RECIPE, kind: str = "toy") -> int:
    """How often the piece had to be made."""
    made: list[int] = []

    def make() -> Piece:
        made.append(1)
        return Piece([1, 0.25], {"a": np.arange(3.0)})

    piece = kept.piece(kind, recipe, make)
    assert piece.value == [1, 0.25]
    assert piece.arrays["a"].tolist() == [0.0, 1.0, 2.0]
    return len(made)


def test_a_piece_is_found_by_all_that_made_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert count(PieceStore(tmp_path)) == 1
    assert count(PieceStore(tmp_path)) == 0
    assert count(PieceStore(tmp_path), {"options": {"epsilon": 0.6}, "seed": 1}) == 0
    assert count(PieceStore(tmp_path), {**RECIPE, "seed": 2}) == 1
    assert count(PieceStore(tmp_path), {**RECIPE, "options": {"epsilon": 0.5}}) == 1
    assert count(PieceStore(tmp_path), kind="other") == 1
    monkeypatch.setattr(store_module, "pieces_version", lambda: "0" * 16)
    assert count(PieceStore(tmp_path)) == 1


def test_no_flipped_bit_of_a_piece_is_believed(tmp_path: Path) -> None:
    count(PieceStore(tmp_path))
    (path,) = (tmp_path / "work").rglob("*.piece")
    good = path.read_bytes()
    for byte, bit in flips(path)[::19]:
        bad = bytearray(good)
        bad[byte] ^= 1 << bit
        path.write_bytes(bad)
        assert PieceStore(tmp_path).slot("toy", RECIPE).read() is None, (byte, bit)
    for bad in (b"", good[:-1], good[: len(good) // 2], b"[" * 100_000):
        path.write_bytes(bad)
        assert count(PieceStore(tmp_path)) == 1
        assert path.read_bytes() == good


def test_a_piece_under_the_name_of_another_is_not_believed(tmp_path: Path) -> None:
    kept = PieceStore(tmp_path)
    count(kept)
    right, other = kept.slot("toy", RECIPE), kept.slot("toy", {"seed": 9})
    shutil.copy(right.path, other.path)
    assert other.read() is None
    shutil.copy(right.path, kept.draft("toy", RECIPE).path)
    assert kept.draft("toy", RECIPE).read() is None


def test_again_believes_only_what_it_made_itself(tmp_path: Path) -> None:
    PieceStore(tmp_path).piece("toy", RECIPE, lambda: Piece("a sentinel", {}))
    PieceStore(tmp_path).draft("toy", RECIPE).write("a sentinel", {})
    anew = PieceStore(tmp_path, again=True)
    assert anew.draft("toy", RECIPE).read() is None
    assert count(anew) == 1
    assert count(anew) == 0
    assert count(PieceStore(tmp_path)) == 0  # what was there is replaced


def test_pieces_of_old_code_do_not_pile_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "work" / "of somebody else").mkdir(parents=True)
    for k in range(KEPT_VERSIONS + 3):
        monkeypatch.setattr(store_module, "pieces_version", lambda k=k: f"{k:016x}")
        count(PieceStore(tmp_path))
    names = sorted(path.name for path in (tmp_path / "work").iterdir())
    assert len(names) == KEPT_VERSIONS + 1
    assert names[-1] == "of somebody else"
    assert f"{KEPT_VERSIONS + 2:016x}" in names


def test_no_flipped_bit_of_a_result_is_believed(tmp_path: Path) -> None:
    """Nor of a note of a failure; the page says what is left out and shows nothing of it."""
    save(tmp_path, outcome("good", [claim(Verdict.FAILS)]))
    code = store_module.result_version(no_run)
    ExperimentFailure("bad", "Item bad", "quick", "ValueError: x", "fig6.py:1", "0.1").save(
        tmp_path
    )
    for name, read in (("good.json", read_outcome), ("bad.failed.json", read_failure)):
        path = tmp_path / name
        good = path.read_bytes()
        assert read(path)
        for byte, bit in flips(path)[::19]:  # each bit, in bytes all over the file
            bad = bytearray(good)
            bad[byte] ^= 1 << bit
            path.write_bytes(bad)
            with pytest.raises(BadFile, match="damaged"):
                read(path)
        path.write_bytes(good)
    path = tmp_path / "good.json"
    path.write_text(path.read_text().replace('"fails"', '"holds"'))
    assert finished_outcome("good", "quick", tmp_path, code) is None
    page = check(write_report(tmp_path, KNOWN))
    assert "Left out: good.json: damaged" in page.text
    assert "badge holds" not in {one.get("class") for one in page.all("span")}


def test_a_result_of_other_code_is_marked(tmp_path: Path) -> None:
    save(tmp_path, outcome("good", [claim()]))
    assert "other code" not in check(write_report(tmp_path, KNOWN)).text
    read_outcome(tmp_path / "good.json").seal(tmp_path, "0" * 16).save(tmp_path)
    assert "This result is of other code" in check(write_report(tmp_path, KNOWN)).text


@pytest.fixture
def kuhn() -> Callable[[], Solver]:
    game = cp.load("kuhn")
    return lambda: new_solver(game, "mccfr", 3, {})


class Stop:
    """A `progress` that stops the work the n-th time."""

    def __init__(self, n: int) -> None:
        self.left = n

    def __call__(self, share: float, what: str) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("target", [None, 0.05])
def test_training_goes_on_after_any_stop_with_the_same_bits(
    target: float | None,
    kuhn: Callable[[], Solver],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Stopped at every word; drafts whole, damaged and missing."""
    monkeypatch.setattr(store_module, "SAVE_SECONDS", -1.0)
    monkeypatch.setattr("counterplay.core.solvers.run.CHUNK_SECONDS", 0.0002)

    def run(kept: PieceStore, progress: Any = lambda share, what: None) -> np.ndarray:
        every = None if target is None else 500
        return trained(kept, kuhn(), 20_000, progress, "toy", target, every).probabilities

    right = run(PieceStore(tmp_path / "right"))
    stops = 0
    while stops < 25:
        try:
            found = run(PieceStore(tmp_path), Stop(1 + stops % 3))
            break
        except KeyboardInterrupt:
            stops += 1
            for path in (tmp_path / "work").rglob("*.draft") if stops == 10 else ():
                path.write_bytes(path.read_bytes()[:-1])
    else:
        found = run(PieceStore(tmp_path))
    assert stops > 1
    assert np.array_equal(found, right)
    assert not list((tmp_path / "work").rglob("*.draft"))
    assert np.array_equal(run(PieceStore(tmp_path), Stop(1)), right)  # not a word: it is there


def test_a_strategy_has_the_same_bits_however_often_it_was_stopped(
    kuhn: Callable[[], Solver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "SAVE_SECONDS", -1.0)
    monkeypatch.setattr("counterplay.core.solvers.run.CHUNK_SECONDS", 0.0002)
    quiet = lambda share, what: None  # noqa: E731
    straight = trained(PieceStore(tmp_path / "straight"), kuhn(), 20_000, quiet, "toy")
    stops, found = 0, None
    while found is None:
        try:
            progress = Stop(1 + stops % 3) if stops < 25 else quiet
            found = trained(PieceStore(tmp_path), kuhn(), 20_000, progress, "toy")
        except KeyboardInterrupt:
            stops += 1
    assert stops > 1
    assert np.array_equal(found.probabilities, straight.probabilities)
    assert not list((tmp_path / "work").rglob("*.draft"))


def test_a_learning_curve_goes_on_with_the_same_numbers(
    kuhn: Callable[[], Solver], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(store_module, "SAVE_SECONDS", -1.0)

    def run(folder: Path, progress: Any = lambda share, what: None) -> np.ndarray:
        solver = kuhn()
        measure = lambda strategy: [cp.exploitability(solver.game, strategy)]  # noqa: E731
        return learning_curve(PieceStore(folder), {}, solver, [500, 1000, 1500], measure, progress)[
            :, [0, 2]
        ]

    right = run(tmp_path / "right")
    for _ in range(2):
        with pytest.raises(KeyboardInterrupt):
            run(tmp_path, Stop(2))
    assert np.array_equal(run(tmp_path), right)
    (path,) = (tmp_path / "work").rglob("*.piece")
    path.write_bytes(path.read_bytes().replace(b"0", b"1"))
    assert np.array_equal(run(tmp_path), right)


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A copy of the sources, which a test may change."""
    copy = copy_sources(tmp_path)
    monkeypatch.setattr(store_module, "PACKAGE", copy)
    monkeypatch.setattr(store_module, "HERE", copy / "app" / "reproduction")
    return copy


def _versions(package: Path) -> tuple[str, str, str]:
    """Of pieces, of the results of Figure 6 and of Table 2."""
    results = [
        store_module._result_version.__wrapped__(package / "app" / "reproduction" / f"{n}.py")
        for n in ("fig6", "table2")
    ]
    return store_module.pieces_version.__wrapped__(), *results


@pytest.mark.parametrize(
    ("file", "changed"),
    [
        *((f"core/{name}.py", (True,) * 3) for name in ("kernels/rng", "games/pam", "base/store")),
        ("poker/bots/poki/bot.py", (True, True, True)),
        (f"{HERE}/harness/store.py", (True, True, True)),
        (f"{HERE}/players.py", (True, False, True)),  # Figure 6 has none of these players
        (f"{HERE}/models.py", (True, True, False)),
        (f"{HERE}/harness/judge.py", (False, True, True)),
        ("core/base/plotting.py", (False, True, True)),
        (f"{HERE}/fig6.py", (False, True, False)),
        (f"{HERE}/table1.py", (False, False, True)),
        *((f"{HERE}/harness/{name}", (False, False, False)) for name in NO_NUMBERS),
        ("app/cli/commands.py", (False, False, False)),
    ],
)
def test_which_change_of_the_code_discards_what(
    file: str, changed: tuple[bool, bool, bool], package: Path
) -> None:
    before = _versions(package)
    with open(package / file, "a") as out:
        out.write("\n# a change\n")
    assert tuple(a != b for a, b in zip(before, _versions(package), strict=True)) == changed


def test_a_source_tree_that_is_not_installed_knows_its_version(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def missing(name: str) -> str:
        raise version_module.PackageNotFoundError(name)

    installed = version_module.version()
    monkeypatch.setattr(version_module, "installed_version", missing)
    assert version_module.version() == installed
    monkeypatch.setattr(version_module, "PACKAGE", tmp_path / "src" / "counterplay")
    assert version_module.version() == "unknown"
    (tmp_path / "pyproject.toml").write_text('[project]\nversion = "7.8"\n')
    assert version_module.version() == "7.8"
