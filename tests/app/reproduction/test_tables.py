"""Tables 1 and 2, the bands of the bots and Figure 8 at toy size, with simple stand-ins for the
bots; and online play."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from support.arena import from_nothing
from support.experiments import SIZES, stand_in

import counterplay as cp
from counterplay.app.reproduction import bots, fig8, players, sizes, table2
from counterplay.app.reproduction.harness.reproduce import reproduce
from counterplay.core.base.errors import BadParameter
from counterplay.poker.adaptive.response import ResponseLearner

TRAINED = SIZES._replace(mcts=20_000, outcome=(2_000, 2_000), external=(1_000, 500), swept=200)
TINY = TRAINED._replace(observed=300, many=400, poki=400, sparbot=400, swept_hands=200)
TINY = TINY._replace(respond=(("outcome", 10), ("outcome", 100)))


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(players, "bot", stand_in)
    monkeypatch.setitem(sizes.SIZES, "quick", TINY)
    monkeypatch.setattr(table2, "GAMES", (100, 300))
    monkeypatch.setitem(bots.SCALES, "quick", (200,) * 5)
    monkeypatch.setitem(fig8.SCALES, "quick", fig8.Fig8Scale(2_000, 200))
    monkeypatch.setattr(fig8, "ITERATIONS", 20_000)


@pytest.mark.parametrize(
    "name",
    ["bots", "table1", *(pytest.param(x, marks=pytest.mark.slow) for x in ("table2", "fig8"))],
)
def test_writes_what_it_promises_and_does_no_work_twice(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[float] = []
    outcome = reproduce(name, "quick", tmp_path, lambda share, what: shares.append(share))
    assert all((tmp_path / file).exists() for file in outcome.files)
    assert outcome.claims
    assert any("re-creations" in note for note in outcome.notes)
    assert 0.0 <= min(shares) <= max(shares) <= 1.0
    rows = list(csv.DictReader((tmp_path / f"{name}.csv").open()))
    assert all(np.isfinite(float(row["sb_per_hand"])) for row in rows)
    assert json.loads((tmp_path / f"{name}.json").read_text())["scale"] == "quick"
    if name == "table2":
        _holds_every_cell(outcome)
    if name.startswith("table"):  # everything is kept: a second run plays and trains nothing
        monkeypatch.setattr(players, "play_match", None)
        again = reproduce(name, "quick", tmp_path)
        assert [claim.measured for claim in again.claims] == [
            claim.measured for claim in outcome.claims
        ]


def _holds_every_cell(outcome: cp.Outcome) -> None:
    main, games, other, swept = outcome.tables
    assert main.header[:4] == ["player", "engine", "iterations", "training"]
    assert [row[0] for row in main.rows] == [
        "MCCFR10",
        "MCRNR10, literal J48",
        "MCRNR10",
        "MCRNR10, all cards seen",
        "MCCFR100",
        "MCRNR100",
    ]
    assert {row[1] for row in main.rows} == {"outcome sampling, as in the paper"}
    assert len({row[2] for row in main.rows}) == 1  # as many iterations as MCCFR
    assert main.rows[2][-2:] == ["+0.369", "-0.039"]
    assert len(games.rows) == 4
    assert len(other.rows) == 3
    assert [row[0].split(" (")[0] for row in swept.rows] == [
        "Pconf = 0",
        "Pconf = 0.75",
        "data-biased Pconf",
        "a nearly perfect model",
    ]
    said = [claim.text for claim in outcome.claims if "model:" in claim.text]
    assert len(said) == 4  # three models with 10 buckets, one with 100


@pytest.mark.slow
def test_online_play_learns_from_nothing() -> None:
    """Against a player who always calls, a learner who bets good hands wins; the first block is
    played by uniform chance."""
    game = cp.load("holdem(buckets=10)")
    learner = ResponseLearner(game, kind="frequency", engine="mccfr-external")
    blocks = list(
        from_nothing(
            "always-call", 3_000, 1, game=game, every=1_000, iterations=20_000, learner=learner
        )
    )
    assert [block.hands for block in blocks] == [1_000, 2_000, 3_000]
    assert blocks[0].iterations == 0
    last = cp.play_match(game, learner.strategy(), "always-call", 40_000, 3)
    first = cp.play_match(game, blocks[0].strategy, "always-call", 40_000, 3)
    assert last.interval[0] > first.interval[1]
    assert last.interval[0] > 0.2


def test_online_play_is_reproducible_and_refuses_nonsense() -> None:
    runs = [
        [block.won for block in from_nothing("probe", 200, 4, every=100, iterations=10_000)]
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
    with pytest.raises(BadParameter, match="at least one block"):
        next(from_nothing("probe", 10, every=100))
    with pytest.raises(BadParameter, match="hold'em"):
        ResponseLearner(cp.load("kuhn"))
