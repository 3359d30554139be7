"""Winnings of responses to models of a weak opponent, a quickly trained strategy observed for
20,000 hands, and of an equilibrium: python -m benchmarks.weak_opponent. Writes
docs/data/weak.csv."""

from __future__ import annotations

import tempfile
from pathlib import Path

from counterplay.app.reproduction.harness.base import write_csv
from counterplay.core.forms.registry import load
from counterplay.core.match.play import play_match
from counterplay.core.responses.algorithms import confidence
from counterplay.core.responses.respond import respond
from counterplay.core.solvers.run import solve
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import observe

PATH = Path(__file__).parent.parent / "docs" / "data" / "weak.csv"
WEAK, OBSERVED, ITERATIONS, HANDS = 20_000, 20_000, 50_000, 400_000
SEED, P = 1, 0.75
HEADER = ("model", "unseen", "trust", "sb_per_hand", "standard_error", "hands")


def main() -> None:
    game = load("holdem(buckets=10)")
    weak = solve(game, "mccfr-external", iterations=WEAK, seed=SEED).strategy
    opponent = strategy_bot(weak, "weak")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hands.parquet"
        settings = {"duplicate": False, "log": path, "observer": "a"}
        play_match(game, "probe", opponent, OBSERVED, SEED, **settings)
        seen = observe(read_parquet(path), "weak")
    rows = []
    for kind in ("tree", "frequency"):
        for unseen in ("inferred", "fractional"):
            model = learn_model(seen, game, "weak", kind, unseen=unseen)
            trusts = {"constant": P, "0-10-linear": confidence(model.observed, "0-10-linear", P)}
            for name, trust in trusts.items():
                budget = {"engine": "mccfr-external", "iterations": ITERATIONS, "seed": SEED}
                response = respond(game, model.strategy, None, trust, "mcdbr", **budget)
                result = play_match(game, response.strategy, opponent, HANDS, SEED)
                rows.append((kind, unseen, name, result.mean, result.standard_error, HANDS))
    equilibrium = solve(game, "mccfr-external", iterations=ITERATIONS, seed=SEED + 1).strategy
    result = play_match(game, equilibrium, opponent, HANDS, SEED)
    rows.append(("none", "", "", result.mean, result.standard_error, HANDS))
    write_csv(PATH, HEADER, rows)


if __name__ == "__main__":
    main()
