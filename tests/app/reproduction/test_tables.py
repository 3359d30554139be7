"""Tables 1 and 2 and Figure 8 at toy size, with simple stand-ins for the bots; and online play."""

from __future__ import annotations

import csv
import json
from pathlib import Path

import numpy as np
import pytest
from support.arena import from_nothing
from support.experiments import stand_in
from support.tables import SIZES, small_games

import counterplay as cp
from counterplay.app.reproduction import fig8, players, table1, table2
from counterplay.app.reproduction.harness.reproduce import reproduce
from counterplay.core.base.errors import BadParameter
from counterplay.poker.adaptive.response import ResponseLearner

TINY = SIZES._replace(mcts=20_000, public=(200, 100), respond=(100, 50), outcome=2_000)


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    small_games(monkeypatch)
    monkeypatch.setattr(players, "bot", stand_in)
    monkeypatch.setitem(players.SIZES, "quick", TINY._replace(observed=300, games=(100, 300)))
    monkeypatch.setattr(fig8, "ITERATIONS", 20_000)


@pytest.mark.parametrize("name", ["table1", "table2", "fig8"])
@pytest.mark.slow
def test_writes_what_it_promises_and_does_no_work_twice(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[float] = []
    outcome = reproduce(name, "quick", tmp_path, lambda share, what: shares.append(share))
    assert all((tmp_path / file).exists() for file in outcome.files)
    numbers = {"table1": range(12, 17), "table2": range(17, 21), "fig8": range(21, 23)}
    assert [claim.number for claim in outcome.claims] == list(numbers[name])
    assert any("re-creations" in note for note in outcome.notes)
    assert 0.0 <= min(shares) <= max(shares) <= 1.0
    rows = list(csv.DictReader((tmp_path / f"{name}.csv").open()))
    assert all(np.isfinite(float(row["sb_per_hand"])) for row in rows)
    assert all(float(row["low"]) <= float(row["sb_per_hand"]) for row in rows)
    assert json.loads((tmp_path / f"{name}.json").read_text())["scale"] == "quick"
    if name == "table2":
        table = outcome.tables[0]
        assert [row[0] for row in table.rows if row[1] == "public"] == [
            "MCCFR10",
            "MCCFR100",
            "MCRNR10",
            "MCRNR100",
            "MCRNR10, literal J48",
        ]
        assert table.rows[4][-2:] == ["+0.369", "-0.039"]
    # everything is kept: a second run plays and trains nothing
    monkeypatch.setattr(players, "play_match", None)
    again = reproduce(name, "quick", tmp_path)
    assert [one.measured for one in again.claims] == [one.measured for one in outcome.claims]


def test_players_of_a_seed_share_its_deals_and_seeds_differ(tmp_path: Path) -> None:
    """The same strategy wins the same on the deals of a seed, and another amount on others'."""
    factory = players.PlayerFactory("quick", players.PieceStore(tmp_path), lambda *_: None)
    uniform = cp.Strategy.uniform(factory.game(10))
    one, same, other = (factory.won(uniform, "sparbot", 1_000, seed) for seed in (0, 0, 1))
    assert one == same
    assert one != other
    specs = [players.PlayerSpec("MCCFR10", "external", 10, 50)] * 2
    first, second = (factory.train(spec, seed)[0] for seed, spec in enumerate(specs))
    assert not np.array_equal(first.probabilities, second.probabilities)
    response = players.PlayerSpec("MCRNR10", "external", 10, 20, "poki", 300)
    models = [factory.model(response, seed).probabilities for seed in (0, 0, 1)]
    assert np.array_equal(models[0], models[1])
    assert not np.array_equal(models[0], models[2])  # of its own observed games


def test_what_had_ended_before_a_stop_is_not_repeated(tmp_path: Path) -> None:
    """A stop in the second match: the training and the first match are kept."""
    done: list[str] = []

    class Stopped(players.PlayerFactory):
        def train(self, spec: players.PlayerSpec, seed: int) -> tuple[cp.Strategy, float]:
            done.append("training")
            return cp.Strategy.uniform(self.game(spec.buckets)), 2.5

        def won(self, strategy: cp.Strategy, opponent: str, poki: int, seed: int) -> players.Won:
            if opponent == "sparbot" and done[-1] == "poki":
                done.append("stopped")
                raise KeyboardInterrupt
            done.append(opponent)
            return players.Won(0.1, 0.01, poki)

    spec = players.PlayerSpec("MCCFR10", "public", 10, 50)
    factory = Stopped("quick", players.PieceStore(tmp_path), lambda *_: None)
    with pytest.raises(KeyboardInterrupt):
        factory.play(spec, players.BOTS, 100, 0)
    found = factory.play(spec, players.BOTS, 100, 0)
    assert done == ["training", "poki", "stopped", "sparbot"]
    assert found == [2.5, [0.1, 0.01, 100], [0.1, 0.01, 100]]
    assert factory.play(spec, players.BOTS, 100, 0) == found
    assert len(done) == 4


def test_players_of_both_tables_are_trained_once(tmp_path: Path) -> None:
    """Jobs of the tables and of Figure 8 that do the same work have the same name."""
    store = players.PieceStore(tmp_path)
    names = [
        {job.name for job in one.jobs("quick", store)}
        for one in (table1.EXPERIMENT, table2.EXPERIMENT, fig8.EXPERIMENT)
    ]
    assert len([name for name in names[0] & names[1] if "MCCFR" in name]) == 2 * 2 + 2 * 3
    prepared = {"tables of Poki", "tables of Sparbot", "kernels of public sampling"}
    assert prepared <= names[1] & names[2]
    both = names[1] & names[2] - prepared
    assert len([name for name in both if "observed" in name]) == 2
    assert len(both) == 2 + 2 + 2  # MCCFR10, and MCRNR10 with the article's games


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
