"""Rows of Tables 1 and 2 with made-up numbers, and the experiments of Section 4 at toy size."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from counterplay.app.reproduction import fig6, fig7, fig8, players, table2
from counterplay.app.reproduction.players import BOTS, PlayerSpec, Won
from counterplay.app.reproduction.table1 import Key, TableRow, by_key

SIZES = players.Sizes(
    seeds=2,
    mcts=2_000,
    public=(4, 4),
    respond=(4, 4),
    outcome=400,
    observed=60,
    games=(30, 60),
    poki=1_000,
    beside=1_000,
    sparbot=120,
    further=True,
)
GAMES = ("ocp(10)", "goofspiel(3)")


def row(
    name: str, bot: str, won: float, spread: float = 0.005, order: Sequence[int] = (-1, 0, 1)
) -> TableRow:
    """A player whose three seeds win this much on average."""
    spec = PlayerSpec(name, "mcts" if name == "MCTS10" else "public", 10, 1_000)
    return TableRow(spec, bot, [Won(won + k * spread, 0.01, 1_000) for k in order], 1.0)


def table(spread: float = 0.005, **changes: float) -> dict[Key, TableRow]:
    """The article's own numbers, well measured; `changes` by player_bot. No two players have the
    same good and bad seeds."""
    orders = ((-1, 0, 1), (1, 0, -1), (0, -1, 1), (-1, 1, 0), (1, -1, 0))
    found = [
        row(name, bot, changes.get(f"{name}_{bot}", won), spread, order)
        for bot in BOTS
        for order, (name, won) in zip(orders, table2.ARTICLE[bot].items(), strict=True)
    ]
    return by_key(found)


def small_games(patch: pytest.MonkeyPatch) -> None:
    """Figures 6 to 8 and the tables at toy size."""
    patch.setitem(players.SIZES, "quick", SIZES)
    # public sampling takes long to compile
    patch.setitem(players.ENGINES, "public", ("mccfr-external", {}))
    patch.setitem(fig8.SCALES, "quick", fig8.Fig8Scale(200, 1_000, (fig8.GIVEN, fig8.LEARNT)))
    patch.setattr(fig8, "EVERY", 100)
    patch.setattr(fig8, "ITERATIONS", 5_000)
    patch.setattr(fig6, "GAMES", dict.fromkeys(GAMES, 20_000))
    patch.setitem(fig6.SCALES, "quick", fig6.Fig6Scale(1e-2, 200, 0.01, ()))
    patch.setitem(
        fig7.GAMES, "quick", dict.fromkeys(GAMES, fig7.GameSize(20, 2_000, 200, (1, 1, 1), 1))
    )
    patch.setattr(fig7, "WALKED", 1_000)
