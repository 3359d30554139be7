"""EHS: the worked example, pre-flop equities, brute force on random boards; tables on disk are
whole or rebuilt."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

import numpy as np
import pytest
from support.holdem import ehs

from counterplay.poker.abstraction.ehs import make_buckets
from counterplay.poker.cards import strength as tables
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import HOLDING_CARDS, cards, holding
from counterplay.poker.cards.evaluator import strength
from counterplay.poker.cards.strength import PREFLOP_TOTAL, RIVER_TOTAL, Strengths, strengths


@pytest.fixture(scope="module")
def table() -> Strengths:
    return strengths()


def brute_river(hand: list[int], board: list[int]) -> float:
    mine = strength(hand + board)
    rest = [c for c in range(52) if c not in hand and c not in board]
    scores = [
        (mine > theirs) + 0.5 * (mine == theirs)
        for theirs in (strength([*pair, *board]) for pair in combinations(rest, 2))
    ]
    return sum(scores) / len(scores)


def test_worked_example(table: Strengths) -> None:
    """Ad Qc on Jh 4c 3h: EHS with both potentials 0.511399 (facts/03, from Billings' thesis)."""
    assert ehs(table, cards("AdQc"), cards("Jh4c3h")) == pytest.approx(0.511399, abs=1e-6)


# IR_2 = 1000 (2 equity - 1) of facts/03 (Papp 1998), which came from roll-outs: within three of the
# exact value.
IR_2 = {
    "AsAh": 704,
    "KsKh": 647,
    "QsQh": 598,
    "2s2h": 7,
    "7s2h": -308,
    "3s2h": -351,
    "AsKs": 339,
    "AsKh": 305,
    "JsTs": 149,
    "9h8c": -39,
}


@pytest.mark.parametrize(("hand", "income"), IR_2.items())
def test_preflop_equities(hand: str, income: int, table: Strengths) -> None:
    equity = float(table.preflop[holding(cards(hand))]) / PREFLOP_TOTAL
    assert 1000 * (2 * equity - 1) == pytest.approx(income, abs=3.5)


def test_aces_and_the_average(table: Strengths) -> None:
    assert float(table.preflop[holding(cards("AcAd"))]) / PREFLOP_TOTAL == pytest.approx(
        0.852, abs=5e-4
    )
    assert (
        int(table.preflop.sum()) * 2 == PREFLOP_TOTAL * 1326
    )  # against each other all holdings break even, exactly
    kinds = {int(value) for value in table.preflop}
    assert len(kinds) <= 169


def test_rivers_by_brute_force(table: Strengths) -> None:
    rng = np.random.default_rng(3)
    for _ in range(12):
        dealt = rng.choice(52, 7, replace=False).tolist()
        assert ehs(table, dealt[:2], dealt[2:]) == pytest.approx(
            brute_river(dealt[:2], dealt[2:]), abs=1e-12
        )


def test_turns_are_averages_of_brute_force_rivers(table: Strengths) -> None:
    dealt = np.random.default_rng(5).choice(52, 6, replace=False).tolist()
    rivers = [c for c in range(52) if c not in dealt]
    average = np.mean([brute_river(dealt[:2], [*dealt[2:], c]) for c in rivers])
    assert ehs(table, dealt[:2], dealt[2:]) == pytest.approx(average, abs=1e-12)


def test_flops_are_averages_of_turns(table: Strengths) -> None:
    rng = np.random.default_rng(9)
    for _ in range(20):
        dealt = rng.choice(52, 5, replace=False).tolist()
        average = np.mean(
            [ehs(table, dealt[:2], [*dealt[2:], c]) for c in range(52) if c not in dealt]
        )
        assert ehs(table, dealt[:2], dealt[2:]) == pytest.approx(average, abs=1e-12)


def test_equal_width_buckets(table: Strengths) -> None:
    buckets = make_buckets(table, (10,) * 4, "equal-width")
    equity = table.preflop.astype(np.float64) / PREFLOP_TOTAL
    assert np.array_equal(buckets.preflop, np.floor(10 * equity))
    assert set(buckets.preflop.tolist()) == {
        3,
        4,
        5,
        6,
        7,
        8,
    }  # 0.32 to 0.85: buckets 4 to 9 of 10 (facts/03)
    assert buckets.river.tolist() == [
        min(10 * count // RIVER_TOTAL, 9) for count in range(RIVER_TOTAL + 1)
    ]
    assert buckets.flop.max() == buckets.turn.max() == 9


def test_percentile_buckets(table: Strengths) -> None:
    buckets = make_buckets(table, (5,) * 4, "percentile")
    possible = table.flop > 0
    weight = np.repeat(boards(3).weight, len(HOLDING_CARDS)).reshape(table.flop.shape)[possible]
    share = np.bincount(buckets.flop[possible], weights=weight, minlength=5) / weight.sum()
    np.testing.assert_allclose(share, 0.2, atol=0.01)
    assert np.all(np.diff(buckets.river.astype(int)) >= 0)


def _toy(monkeypatch: pytest.MonkeyPatch) -> Strengths:
    """Small stand-ins of other shapes, so that damage can be tried many times."""
    shapes = {
        name: ((4, 6) if name != "preflop" else (6,), kind)
        for name, (_, kind) in tables.SHAPES.items()
    }
    for name, shape in shapes.items():
        monkeypatch.setitem(tables.SHAPES, name, shape)
    return Strengths(**{name: np.ones(shape, dtype=kind) for name, (shape, kind) in shapes.items()})


def test_tables_are_whole_or_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    toy = _toy(monkeypatch)
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))
    assert tables.TABLES.read() is None
    tables.TABLES.write(toy)
    read = tables.TABLES.read()
    assert read is not None
    assert all(np.array_equal(a, b) for a, b in zip(read, toy, strict=True))
    path = tables.TABLES.slot().path
    good = path.read_bytes()
    assert tables.TABLES.size_on_disk() == len(good)
    for place in range(0, len(good), 7):
        path.write_bytes(good[:place] + bytes([good[place] ^ 0x55]) + good[place + 1 :])
        assert tables.TABLES.read() is None
    path.write_bytes(good[: len(good) // 2])
    assert tables.TABLES.read() is None
    path.unlink()
    assert tables.TABLES.read() is None
    tables.TABLES.write(toy._replace(flop=toy.flop[:2]))
    assert tables.TABLES.read() is None  # whole, but of another shape
    assert tables.TABLES.slot().path == path


def test_a_folder_that_cannot_be_written_leaves_them_in_memory(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    toy = _toy(monkeypatch)
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "file" / "cache"))
    monkeypatch.setattr(tables.TABLES, "_held", {})
    for name, value in (("count_rivers", toy.river), ("count_preflop", toy.preflop)):
        monkeypatch.setattr(tables, name, lambda *_, value=value: value)
    monkeypatch.setattr(
        tables, "count_earlier", lambda size, *_: toy.turn if size == 4 else toy.flop
    )
    with pytest.warns(UserWarning, match="stay in memory"):
        built = tables.strengths()
    assert np.array_equal(built.river, toy.river)
