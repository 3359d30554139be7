"""Hand strength and potential of Poki: the worked example of the thesis, plain-Python twins,
tables on disk."""

from __future__ import annotations

import random
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from counterplay.poker.bots.poki import potential
from counterplay.poker.bots.poki.potential import (
    SCALE,
    Potentials,
    fill_board,
    new_potential_workspace,
    potentials,
)
from counterplay.poker.bots.poki.strength import (
    fill_hand_potential,
    fill_lookahead,
    hand_strength,
    new_lookahead,
)
from counterplay.poker.cards.canonical import boards
from counterplay.poker.cards.cards import HOLDING_CARDS, N_HOLDINGS, cards, holding
from counterplay.poker.cards.evaluator import strength, strengths_of_hands


def sign_status(mine: int, other: int) -> int:
    return 0 if mine > other else (1 if mine == other else 2)


def values(hands: list[list[int]]) -> np.ndarray:
    out = np.empty(len(hands), dtype=np.int64)
    strengths_of_hands(np.array(hands, dtype=np.int64), np.zeros(4, dtype=np.int64), out)
    return out


def padded(board: list[int]) -> np.ndarray:
    return np.array(board + [-1] * (5 - len(board)), dtype=np.int64)


def test_worked_example_of_the_thesis() -> None:
    """Billings 2006, Table 2.1: Ad Qc on Jh 4c 3h, two cards ahead; the published sums give the
    published figures."""
    own, board = cards("AdQc"), cards("Jh4c3h")
    rest = [c for c in range(52) if c not in own + board]
    pairs = list(combinations(rest, 2))
    table, now = np.zeros((3, 3)), [0, 0, 0]
    mine = strength(own + board)
    status = {pair: sign_status(mine, strength([*pair, *board])) for pair in pairs}
    for s in status.values():
        now[s] += 1
    assert now == [628, 9, 444]
    for a, b in pairs:
        others = [pair for pair in pairs if a not in pair and b not in pair]
        later = values([[*own, *board, a, b], *([*pair, *board, a, b] for pair in others)])
        for pair, value in zip(others, later[1:].tolist(), strict=True):
            table[status[pair], sign_status(int(later[0]), value)] += 1
    assert table.tolist() == [[449005, 3211, 169504], [0, 8370, 540], [91981, 1036, 346543]]
    result = hand_strength(table)
    figures = (result.hs, result.ppot, result.npot, result.ehs_optimistic, result.ehs)
    assert figures == pytest.approx((0.585106, 0.208324, 0.273693, 0.671539, 0.511399), abs=1e-6)


def naive(own: list[int], board: list[int], weights: np.ndarray) -> tuple[float, float, float]:
    """HS, PPot1 and NPot1 as printed, with T times the number of next cards."""
    rest = [c for c in range(52) if c not in own + board]
    hp, total = [[0.0] * 3 for _ in range(3)], [0.0] * 3
    mine = {c: strength([*own, *board, c]) for c in rest} if len(board) < 5 else {}
    for pair in combinations(rest, 2):
        weight = float(weights[holding(pair)])
        now = sign_status(strength(own + board), strength([*pair, *board]))
        total[now] += weight
        for c in mine:
            if c not in pair:
                hp[now][sign_status(mine[c], strength([*pair, *board, c]))] += weight / (
                    len(rest) - 2
                )
    hs = (total[0] + total[1] / 2) / sum(total)
    ppot = (
        (hp[2][0] + hp[2][1] / 2 + hp[1][0] / 2) / (total[2] + total[1] / 2)
        if total[2] + total[1]
        else 0.0
    )
    npot = (
        (hp[0][2] + hp[1][2] / 2 + hp[0][1] / 2) / (total[0] + total[1] / 2)
        if total[0] + total[1]
        else 0.0
    )
    return hs, ppot, npot


@pytest.mark.parametrize(
    "text",
    [
        "AdQc Jh4c3h",
        "AhKh 2hQh7c",
        "9s9d 9c8c7c2c",
        "2c3d KhKsKdAc",
        "As2s 3s4s5s",
        "TdTh TcJcQcKc",
        "7c2d AhKhQhJhTh",
        "5d6d 7d8h9d2sKd",
    ],
)
def test_weighted_look_ahead_is_the_naive_one(text: str) -> None:
    own, board = (cards(part) for part in text.split())
    weights = np.random.default_rng(len(text)).random(N_HOLDINGS)
    lookahead = new_lookahead()
    fill_lookahead(padded(board), np.array(own), HOLDING_CARDS, lookahead)
    fill_hand_potential(weights, lookahead)
    assert tuple(hand_strength(lookahead.hand_potential)) == pytest.approx(
        naive(own, board, weights), abs=1e-12
    )


def test_random_boards_are_the_naive_ones() -> None:
    rng = random.Random(5)
    lookahead = new_lookahead()
    for size in (3, 4, 5, 3, 4, 5):
        dealt = rng.sample(range(52), size + 2)
        weights = np.random.default_rng(size).random(N_HOLDINGS)
        fill_lookahead(padded(dealt[2:]), np.array(dealt[:2]), HOLDING_CARDS, lookahead)
        fill_hand_potential(weights, lookahead)
        assert tuple(hand_strength(lookahead.hand_potential)) == pytest.approx(
            naive(dealt[:2], dealt[2:], weights), abs=1e-12
        )


@pytest.mark.parametrize(
    "text", ["Jh4c3h", "KhQh2h", "9s9d9c", "5c6d7h8s", "2c3c4c9c", "AhAdAcAs", "Tc9cJh2h"]
)
def test_table_of_all_holdings_is_the_weighted_kernel_with_equal_weights(text: str) -> None:
    board, work, lookahead = cards(text), new_potential_workspace(), new_lookahead()
    work.board[:] = 0
    for c in board:
        work.board[c & 3] |= 1 << (c >> 2)
    hs, ppot = np.zeros(N_HOLDINGS, dtype=np.uint16), np.zeros(N_HOLDINGS, dtype=np.uint16)
    fill_board(HOLDING_CARDS, work, hs, ppot)
    left = 50 - len(board)
    rng = random.Random(1)
    for h in rng.sample(range(N_HOLDINGS), 60):
        own = HOLDING_CARDS[h].astype(np.int64)
        if set(own.tolist()) & set(board):
            assert hs[h] == ppot[h] == 0
            continue
        fill_lookahead(padded(board), own, HOLDING_CARDS, lookahead)
        fill_hand_potential(np.ones(N_HOLDINGS), lookahead)
        exact = hand_strength(lookahead.hand_potential)
        assert hs[h] / (left * (left - 1)) == pytest.approx(exact.hs, abs=1e-12)
        assert ppot[h] / SCALE == pytest.approx(exact.ppot, abs=0.51 / SCALE)


def test_stored_tables_are_the_counted_ones() -> None:
    table, work = potentials(), new_potential_workspace()
    hs, ppot = np.zeros(N_HOLDINGS, dtype=np.uint16), np.zeros(N_HOLDINGS, dtype=np.uint16)
    for row, size, k in ((3, 3, 3), (1755 + 77, 4, 77)):
        work.board[:] = boards(size).masks[k]
        fill_board(HOLDING_CARDS, work, hs, ppot)
        assert np.array_equal(table.hs[row], hs)
        assert np.array_equal(table.ppot[row], ppot)


def test_tables_are_kept_and_damaged_ones_built_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = Potentials(*(np.full((2, N_HOLDINGS), k, dtype=np.uint16) for k in (5, 6)))
    calls = []
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path))
    for name in potential.SHAPES:
        monkeypatch.setitem(potential.SHAPES, name, ((2, N_HOLDINGS), np.uint16))
    monkeypatch.setattr(
        potential, "compute_potentials", lambda threads, progress: calls.append(threads) or built
    )
    assert potential.TABLES.read() is None
    assert np.array_equal(potential.potentials().ppot, built.ppot)
    assert potential.potentials() is potential.potentials()
    monkeypatch.setattr(potential.TABLES, "_held", {})
    potential.potentials()
    assert len(calls) == 1  # read from disk
    path = potential.TABLES.slot().path
    damaged = bytearray(path.read_bytes())
    damaged[-1] ^= 1
    path.write_bytes(damaged)
    assert potential.TABLES.read() is None
    monkeypatch.setattr(potential.TABLES, "_held", {})
    assert np.array_equal(potential.potentials().hs, built.hs)
    assert len(calls) == 2


def test_tables_stay_in_memory_where_nothing_can_be_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    built = Potentials(*(np.zeros((2, N_HOLDINGS), dtype=np.uint16) for _ in range(2)))
    (tmp_path / "file").write_text("not a folder")
    monkeypatch.setenv("COUNTERPLAY_CACHE", str(tmp_path / "file"))
    monkeypatch.setattr(potential.TABLES, "_held", {})
    monkeypatch.setattr(potential, "compute_potentials", lambda threads, progress: built)
    with pytest.warns(UserWarning, match="stay in memory"):
        assert potential.potentials() is built
