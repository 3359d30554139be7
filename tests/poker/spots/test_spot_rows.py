"""Spots whose river has rows that holdings share, and positions on the flop."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.core.base.errors import TooLarge
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.full_width import ComputeOptions
from counterplay.core.solvers.cfr_kernels import DISCOUNTED
from counterplay.poker.bots.bot import view
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.players import find_strategy
from counterplay.poker.spots import positions
from counterplay.poker.spots.columns import ACTIONS, BASE
from counterplay.poker.spots.engine import SpotRegrets, SpotTraversal, new_tables
from counterplay.poker.spots.gadgets import Gadget
from counterplay.poker.spots.game import spot
from counterplay.poker.spots.kernels import LEARN
from counterplay.poker.spots.layout import SpotLayout
from counterplay.poker.spots.parts import (
    Part,
    PositionStrategy,
    part_of,
    position_strategy,
    spot_exploitability,
)
from counterplay.poker.spots.positions import HoldemPosition, hold_position, resolve
from counterplay.poker.spots.rows import strength_rows

NARROW = ("AsKs,AhKh,AKo,QTs,99,75s,32s", "AQ,KTo,88,76s,QcTc,54s:0.5,AhKh")
LIMIT: dict[str, Any] = {"limit": True, "cap": 2, "bets": "2"}


def turn(symmetric: bool = False) -> Game:
    return spot("Qs8s2c5d", 8, ranges=NARROW, symmetric=symmetric, **LIMIT)


def by_rows(layout: SpotLayout) -> SpotLayout:
    one, two = (strength_rows(side) for side in layout.sides)
    return layout.with_rows(one, two)


def spread(layout: SpotLayout, rows: SpotLayout, player: int, table: np.ndarray) -> np.ndarray:
    """A table by rows with a number for every holding."""
    out = np.empty(layout.n_slots[player])
    kernel = rows.sides[player].kernel
    for k, where, (boards, actions, many) in layout.blocks(player):
        low = int(rows.form.nodes[k, BASE])
        if not rows.by_row(player, k):
            out[where] = table[low : low + out[where].size]
            continue
        block = np.empty((boards, actions, many))
        for b, (first, n) in enumerate(kernel.span.tolist()):
            own = table[low + actions * first :][: actions * n].reshape(actions, n)
            block[b] = own[:, kernel.row[b]]
        out[where] = block.ravel()
    return out


def summed(layout: SpotLayout, rows: SpotLayout, player: int, table: np.ndarray) -> np.ndarray:
    """A table of holdings summed in each row, of those that may be held on its board."""
    out = np.zeros(rows.n_slots[player])
    side = rows.sides[player]
    for k, where, shape in layout.blocks(player):
        low, own = int(rows.form.nodes[k, BASE]), table[where].reshape(shape)
        if not rows.by_row(player, k):
            out[low : low + own.size] = own.ravel()
            continue
        boards = rows.boards.dealt[int(rows.boards.first[-2]) :]
        for b, (first, n) in enumerate(side.kernel.span.tolist()):
            live = ~np.isin(side.kernel.cards[:, :2], boards[b]).any(axis=1)
            for a in range(int(rows.form.nodes[k, ACTIONS])):
                into = out[low + shape[1] * first + a * n :][:n]
                np.add.at(into, side.kernel.row[b, live], own[b, a, live])
    return out


def test_rows_are_holdings_of_equal_strength() -> None:
    layout = turn().rules.layout
    side = layout.sides[0]
    rows = strength_rows(side)
    for r, river in enumerate(layout.boards.dealt[int(layout.boards.first[-2]) :][:5]):
        board = "".join("23456789TJQKA"[c >> 2] + "cdhs"[c & 3] for c in river)
        dead = np.isin(side.kernel.cards[:, :2], river).any(axis=1)
        assert (rows.row[r][dead] == rows.span[r, 1] - 1).all() or not dead.any(), board
        ranks = layout.sides[0].kernel.ranked[r]
        strength = np.empty(len(dead), dtype=int)
        strength[ranks[0, :-1]] = ranks[1, :-1]
        for a, b in np.ndindex(len(dead), len(dead)):
            assert (rows.row[r, a] == rows.row[r, b]) == (strength[a] == strength[b])


@pytest.mark.slow  # compiles
@pytest.mark.parametrize("symmetric", [False, True])
def test_an_iteration_by_rows_is_one_by_holdings_summed_in_rows(symmetric: bool) -> None:
    """From the same strategies, values, regrets and averages are those of the lossless spot."""
    layout = turn(symmetric).rules.layout
    rows = by_rows(layout)
    assert sum(rows.n_slots) < sum(layout.n_slots)
    summing, plain = (SpotTraversal(one, "double", 1) for one in (rows, layout))
    fewer = [new_tables(rows, player, np.float64) for player in (0, 1)]
    rng = np.random.default_rng(3)
    for tables in fewer:
        tables.source[:] = rng.normal(size=len(tables.source))
    summing.set_weights(3.0, 1.0, 1.0)
    plain.set_weights(3.0, 1.0, 1.0)
    for player in (0, 1):
        before = [spread(layout, rows, k, fewer[k].source) for k in (0, 1)]
        many = [new_tables(layout, k, np.float64)._replace(source=before[k].copy()) for k in (0, 1)]
        old = fewer[player].source.copy()
        fewer[1 - player].strategy_sum[:] = 0.0
        values = summing.run(player, (fewer[0], fewer[1]), LEARN).copy()
        assert values == pytest.approx(plain.run(player, (many[0], many[1]), LEARN), abs=1e-10)
        change = summed(layout, rows, player, many[player].source - before[player])
        live = change != 0.0  # holdings with a card of the board learn something without meaning
        assert (fewer[player].source - old)[live] == pytest.approx(change[live], abs=1e-10)
        sums = summed(layout, rows, 1 - player, many[1 - player].strategy_sum)
        assert fewer[1 - player].strategy_sum == pytest.approx(sums, abs=1e-10)


@pytest.mark.slow  # compiles
def test_a_strategy_with_rows_has_the_values_of_its_holdings() -> None:
    game = turn()
    layout = game.rules.layout
    rows = by_rows(layout)
    engine = SpotRegrets(rows, DISCOUNTED, ComputeOptions())
    engine.run(0, 200)
    sums = [engine.arrays()[f"strategy_sum{k}"] for k in (1, 2)]
    own = [strength_rows(side) for side in layout.sides]
    found = position_strategy(game, Part(sums[0], own[0]), Part(sums[1], own[1]))
    assert isinstance(found, PositionStrategy)
    slots = layout.slots(*(spread(layout, rows, k, sums[k]) for k in (0, 1)))
    same = Strategy.from_weights(game, slots)
    exact = cp.exploitability(game, same)
    assert spot_exploitability(found) == pytest.approx(exact, abs=1e-9)
    assert engine.exploitability() == pytest.approx(exact, abs=1e-9)
    assert exact < 0.02 * game.rules.pot  # what rows by strength cost
    for history, board in (
        ("check", ""),
        ("check-check/", "Qs8s2c5d3h"),
        ("check-check/bet 2", "Qs8s2c5dAh"),
    ):
        one, other = (cp.spot_view(strategy, history, board) for strategy in (found, same))
        assert one.holdings == other.holdings
        assert one.policy == pytest.approx(other.policy, abs=1e-9)
        assert one.reach == pytest.approx(other.reach, abs=1e-9)


def flop() -> HoldemPosition:
    """A flop of narrow ranges, with a rough solution."""
    ranges = ("AKs,QTs,99", "AQs,88,76s")
    game = spot("Qs8s2s", 4, ranges=ranges, symmetric=True, **(LIMIT | {"cap": 1}))
    return HoldemPosition(game, "", cp.solve(game, iterations=12).strategy, (1.0, 1.0))


@pytest.mark.slow
def test_a_flop_by_rows_is_solved_as_without() -> None:
    lossless = flop()
    rows = HoldemPosition(lossless.game, "", lossless.blueprint, (1.0, 1.0), by_rows=True)
    with_rows, without = (resolve(one, iterations=60, percent=2.0) for one in (rows, lossless))
    assert with_rows.exploitability["blueprint"] == without.exploitability["blueprint"]
    assert with_rows.exploitability["blueprint"] == pytest.approx(
        cp.exploitability(lossless.game, lossless.blueprint), abs=1e-9
    )
    pot = lossless.game.rules.pot
    for found in (with_rows, without):
        assert found.leak["blueprint"] == (0.0, 0.0)
        assert found.exploitability["unsafe"] <= 0.02 * pot
        for kind in ("safe", "max-margin"):
            assert found.exploitability[kind] < found.exploitability["blueprint"]
            assert max(found.leak[kind]) < 0.05 * max(found.leak["unsafe"])


def test_gadgets_have_the_boards_of_the_spot() -> None:
    """Also where one range tells suits apart, which a player who holds anything does not."""
    game = spot("Qs8s2s5s", 8, ranges=("AKs,AdKh", "AQs,88"), symmetric=True, **LIMIT)
    layout, blueprint = game.rules.layout, cp.Strategy.uniform(game)
    for player in (0, 1):
        gadget = Gadget(game.rules, player, part_of(blueprint, player), 1.0)
        assert np.array_equal(gadget._layout.boards.dealt, layout.boards.dealt)
        held = np.isin(gadget._layout.sides[1 - player].holding, layout.sides[1 - player].holding)
        mean = gadget.alternative[held] @ layout.sides[1 - player].weight / layout.total_weight
        best = cp.best_response(game, blueprint, 1 - player).value
        assert mean == pytest.approx(best, abs=1e-9)


@pytest.mark.slow
def test_a_position_on_the_flop_plays_as_its_strategy() -> None:
    """What the blueprint does with its buckets, and without suits that are alike."""
    strategy = find_strategy("safe")
    position = hold_position(strategy, "crc/", "Ts9s8s")
    bot = strategy_bot(strategy)
    boards = {"bet 1": "Ts9s8s", "bet 1-call/bet 2": "Ts9s8s4d",
              "check-check/check-bet 2-call/check": "Ts9s8s4dAs"}  # fmt: skip
    letters = {"bet 1": "crc/r", "bet 1-call/bet 2": "crc/rc/r",
               "check-check/check-bet 2-call/check": "crc/cc/crc/c"}  # fmt: skip
    for history, asked in letters.items():
        decision = cp.spot_view(position.blueprint, history, boards[history])
        for hand in decision.holdings[::61]:
            shares = list(bot.shares(view(asked, hand, boards[history])).values())
            assert list(decision.at(hand).values()) == pytest.approx(shares, abs=1e-9)


@pytest.mark.slow
def test_suits_are_alike_where_buckets_allow() -> None:
    buckets = positions.strategy_table(find_strategy("safe")).cards
    assert positions._suits_alike(buckets)
    skewed = buckets._replace(early=buckets.early.copy())
    skewed.early[0, :3] = [0, 1, 2]
    assert not positions._suits_alike(skewed)


@pytest.mark.slow
def test_blueprint_rows_are_its_holdings(monkeypatch: pytest.MonkeyPatch) -> None:
    """A blueprint with its buckets as rows has the exploitability of one with all holdings."""
    strategy = find_strategy("safe")
    tree = strategy.game.rules.tree
    codes = positions._Codes(positions.strategy_table(strategy), tree)
    game = spot("Ts9s8s", 4, ranges=("AhKd,7c6c,QsJs", "QhQd,AsTc"), limit=True,
                bets={"flop": 1, "turn": 2, "river": 2})  # fmt: skip
    node = tree.histories.index("crc/")
    layout = game.rules.layout
    found = []
    for rows in (True, False):
        parts = [positions._blueprint(layout, k, tree, codes, node, rows) for k in (0, 1)]
        found.append(spot_exploitability(position_strategy(game, *parts)))
    assert found[0] == pytest.approx(found[1], abs=1e-9)


@pytest.mark.slow
def test_a_flop_without_room_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    position = hold_position(find_strategy("safe"), "rc/", "QsJh2c")
    monkeypatch.setenv("COUNTERPLAY_MEMORY_GB", "1")
    with pytest.raises(TooLarge, match="solving this position again needs about"):
        resolve(position)
