"""Figure 6 for hold'em: what MCRNR10 and MCRNR100 win from their model and what they risk, for p
from 0 to 1, with models of Poki and of Sparbot. Needs a CUDA device.

    python -m benchmarks.holdem_frontier models FOLDER
    python -m benchmarks.holdem_frontier respond FOLDER [seconds for each seat, 2.5]
    python -m benchmarks.holdem_frontier draw

`models` observes 20,000 hands of each bot against `probe` and learns trees from them. `respond`
trains on the device and writes benchmarks/holdem_frontier.csv: winnings from the model in 2,000,000
duplicate hands, and exploitability from 24 flops beside a player whose exact values are known
(FOLDER must have what `python -m benchmarks.exploitability device` and `exact` left there).
"""

from __future__ import annotations

import csv
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import counterplay as cp
from benchmarks.exploitability import Beside
from benchmarks.measure import write_rows
from counterplay.core.base.plotting import COLOURS, new_figure, save_figure
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import observe

HERE = Path(__file__).parent
OUT, IMAGE = HERE / "holdem_frontier.csv", HERE.parent / "docs" / "images" / "holdem-frontier.png"
HEADER = [
    "opponent", "buckets", "p", "seconds_each_seat", "won_sb", "won_error", "risk_mb_per_game",
    "risk_error",
]  # fmt: skip
OPPONENTS, COUNTS = ("poki", "sparbot"), (10, 100)
PS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
BATCH = 16
OBSERVED, HANDS = 20_000, 2_000_000


def models(folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for opponent in OPPONENTS:
        with tempfile.TemporaryDirectory() as room:
            path = Path(room) / "hands.parquet"
            cp.play_match(
                cp.load("holdem(buckets=10)"), "probe", opponent, OBSERVED, 1, duplicate=False,
                log=path, observer="a",
            )  # fmt: skip
            seen = observe(read_parquet(path), opponent)
        for buckets in COUNTS:
            learnt = learn_model(seen, cp.load(f"holdem(buckets={buckets})"), opponent)
            policy = learnt.strategy.probabilities.astype(np.float32)
            np.save(folder / f"model-{opponent}-{buckets}.npy", policy)
            print(f"model of {opponent} with {buckets} buckets", flush=True)


def respond(folder: Path, seconds: float) -> None:
    rows: list[tuple[Any, ...]] = []
    for buckets in COUNTS:
        beside = Beside(folder, buckets)
        game = cp.load(f"holdem(buckets={buckets})")
        for opponent in OPPONENTS:
            policy = np.load(folder / f"model-{opponent}-{buckets}.npy").astype(np.float64)
            first = game.form.first
            policy /= np.repeat(np.add.reduceat(policy, first[:-1]), np.diff(first))
            model = cp.Strategy(game, policy)
            for p in PS:
                before = time.perf_counter()
                found = cp.respond(
                    game, model, None, p, "mcrnr", engine="mccfr-public", seconds=2 * seconds,
                    seed=1, backend="cuda", batch=BATCH,
                )  # fmt: skip
                won = cp.play_match(game, found.strategy, model, HANDS, 3)
                risk, off = beside.exploitability(found.strategy)
                half = (won.interval[1] - won.interval[0]) / 2
                rows.append((opponent, buckets, p, seconds, won.mean, half, risk, off))
                print(
                    f"{opponent:8} {buckets:4} p {p:4.2f}  {won.mean:+.4f} +- {half:.4f} sb/h  "
                    f"{risk:8.1f} +- {off:.1f} mb/g  ({time.perf_counter() - before:.0f} s)",
                    flush=True,
                )
                write_rows(OUT, HEADER, rows)


def draw() -> None:
    with OUT.open() as file:
        rows = list(csv.DictReader(file))
    figure, axes = new_figure(1, 2, 11.0, 4.4)
    for axis, opponent in zip(np.ravel(axes), OPPONENTS, strict=True):
        for colour, buckets, off, side in zip(
            COLOURS, COUNTS, ((-4, 5), (5, -10)), ("right", "left"), strict=False
        ):
            line = [
                row
                for row in rows
                if row["opponent"] == opponent and row["buckets"] == str(buckets)
            ]
            risk, won = (np.array([float(row[k]) for row in line]) for k in HEADER[6:3:-2])
            error = np.array([float(row["risk_error"]) for row in line])
            axis.errorbar(risk, won, xerr=error, color=colour, marker="o", label=f"MCRNR{buckets}")
            for row, x, y in zip(line, risk, won, strict=True):
                axis.annotate(
                    f"{float(row['p']):g}", (x, y), textcoords="offset points", xytext=off, ha=side,
                    color=colour, fontsize=8,
                )  # fmt: skip
        axis.set(title=f"a model of {opponent.title()}", xlabel="exploitability, mb/g")
        axis.legend(fontsize=8, loc="lower right")
    np.ravel(axes)[0].set_ylabel("won from the model, sb/h")
    save_figure(figure, IMAGE)


if __name__ == "__main__":
    what, *given = sys.argv[1:]
    if what == "models":
        models(Path(given[0]))
    elif what == "respond":
        respond(Path(given[0]), float(given[1]) if len(given) > 1 else 2.5)
    else:
        draw()
