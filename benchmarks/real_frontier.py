"""What responses to a model of a bot win and risk in limit hold'em, when their adversary sees its
cards: rnr with adversary="real", for several p. Needs a CUDA device.

    python -m benchmarks.real_frontier poki:0.45:100 poki:0.6:60 sparbot:0.4:80 --out FOLDER
    python -m benchmarks.real_frontier FOLDER/*.npz [--flops 0] --out FOLDER

A point is MODEL:P:SECONDS. The model, of `poki` or `sparbot`, is learnt from 20,000 hands against
`probe` in the card abstraction of `--model-game`, or is `MODEL.npz` of the folder `--models`, which
gets it. Both seats are trained, each for half of the seconds, from where the point of the same
model before it ended. FOLDER gets `MODEL-pP.npz`, the response in whole steps of probabilities, and
real_frontier.csv: what it wins from the model in a match of `--hands` hands, and its risk, mb/g
averaged over the seats, with half their 95% intervals (0: exact). The risk is measured on `--flops`
flops (0: on all) by regression on that of `safest`, whose exact risk is known. The second form
measures such files again.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.base.progress import no_progress
from counterplay.core.evaluation.estimate import controlled_estimate
from counterplay.core.responses.compute import (
    ResponseParameters,
    compute_response,
    solvers_to_continue,
)
from counterplay.core.responses.solver import ResponseSolver
from counterplay.core.solvers.limits import Limits
from counterplay.poker.bots.quantised import digest, read_facts, read_quantised, write_quantised
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import observe
from counterplay.poker.vector.flop_sums import payoffs_of_flops, sum_all_flops, values_of_drawn
from counterplay.poker.vector.flop_values import (
    PreparedQuery,
    ValueQuery,
    values_on_cpu,
    values_on_device,
)

HEADER = [
    "model", "game", "p", "seconds", "iterations", "digest", "flops", "won_sb", "won_error",
    "risk_mb_per_game", "risk_error",
]  # fmt: skip
KEY = ("model", "game", "p", "digest", "flops")  # of a row
FACTS = ("model", "p", "seconds", "iterations")  # in the header of a file
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
GAME = "holdem(buckets=100,kind=emd)"
CONTROL = "safest"
OBSERVED = 20_000
FLOPS_SEED = 3
BEGUN = time.monotonic()


def say(text: str) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.monotonic() - BEGUN:6.1f}] {text}", flush=True)


def model_of(name: str, game: str, folder: Path) -> cp.Strategy:
    """The model of a bot in a folder, where it is learnt first if it is not there."""
    path = folder / f"{name}.npz"
    if path.exists():
        return cp.Strategy.load(path)
    with tempfile.TemporaryDirectory() as room:
        hands = Path(room) / "hands.parquet"
        cp.play_match(
            cp.load("holdem(buckets=10)"), "probe", name, OBSERVED, 1, duplicate=False, log=hands,
            observer="a",
        )  # fmt: skip
        seen = observe(read_parquet(hands), name)
    learnt: cp.Strategy = learn_model(seen, cp.load(game), name).strategy
    folder.mkdir(parents=True, exist_ok=True)
    learnt.save(path)
    say(f"model of {name} in {learnt.game.name}")
    return learnt


def train(
    point: str, game: cp.Game, started: dict[str, dict[int, ResponseSolver] | None],
    given: argparse.Namespace,
) -> Path:  # fmt: skip
    """Train the response of a point, if its file is not there, and write it."""
    name, p, seconds = point.split(":")
    path: Path = given.out / f"{name}-p{float(p):g}.npz"
    if path.exists():
        return path
    model = model_of(name, given.model_game, given.models)
    options = {"backend": given.backend}
    asked = ResponseParameters(game, model, None, float(p), "rnr", "cfr-br", given.seed, options)
    if name not in started:
        started.clear()  # the tables of another model leave the device
        started[name] = solvers_to_continue(asked)
    found = compute_response(asked, Limits(seconds=float(seconds)), started=started[name])
    trained = (name, float(p), round(found.seconds, 1), found.iterations)
    write_quantised(path, found.strategy, dict(zip(FACTS, trained, strict=True)))
    say(f"{path.name}: {found.iterations:,} iterations of a seat in {found.seconds:.0f} s")
    return path


def risks(strategies: Sequence[cp.Strategy], flops: int, backend: str) -> list[tuple[float, float]]:
    """The risk of each strategy in mb/g, with half its 95% interval; all are of one game."""
    game = strategies[0].game
    control = next(one for one in cp.strategies() if one.name == CONTROL)
    tree, deck = game.rules.tree, game.rules.abstraction.deck
    players = list(strategies) + ([control.strategy] if flops else [])
    queries = [
        PreparedQuery(ValueQuery(seat, strategy_table(player)), tree, deck)
        for player in players
        for seat in (0, 1)
    ]
    on_device = backend == "cuda"
    traverse = partial(values_on_device if on_device else values_on_cpu, queries)
    if not flops:
        exact = sum_all_flops(queries, on_device, no_progress, traverse)
        return [(MB * (one + two), 0.0) for one, two in zip(exact[::2], exact[1::2], strict=True)]
    drawn = values_of_drawn(queries, flops, FLOPS_SEED, no_progress, traverse)
    seats = [payoffs_of_flops(*pair) for pair in zip(queries, drawn, strict=True)]
    both = [
        [(MB * (a + b), share) for (a, share), (b, _) in zip(one, two, strict=True)]
        for one, two in zip(seats[::2], seats[1::2], strict=True)
    ]
    *samples, known = both
    return [
        controlled_estimate(sample, [values for values, _ in known], control.mb_per_game)
        for sample in samples
    ]


def won(strategy: cp.Strategy, model: cp.Strategy, hands: int) -> tuple[float, float]:
    """What a strategy wins from a model in a match, in sb/h, with half its 95% interval."""
    match = cp.play_match(strategy.game, strategy, model, hands, 1)
    low, high = match.interval
    return match.mean, (high - low) / 2


def measure(paths: Sequence[Path], given: argparse.Namespace) -> None:
    """Add a row for each file to FOLDER/real_frontier.csv."""
    game = cp.load(read_facts(paths[0])["game"])
    strategies = [read_quantised(path, game) for path in paths]
    say(f"measuring {len(paths)} responses")
    for path, strategy, (risk, within) in zip(
        paths, strategies, risks(strategies, given.flops, given.backend), strict=True
    ):
        facts = read_facts(path)
        model = model_of(facts["model"], given.model_game, given.models)
        gain = won(strategy, model, given.hands) if given.hands else ("", "")
        numbers = [value if value == "" else round(value, 5) for value in (*gain, risk, within)]
        name, p, seconds, iterations = (facts[one] for one in FACTS)
        row = [name, game.name, p, seconds, iterations, digest(strategy), given.flops or "all"]
        add_row(given.out / "real_frontier.csv", [*row, *numbers])


def add_row(path: Path, row: Sequence[object]) -> None:
    """Write a row in place of the one with the same key."""
    rows: list[dict[str, Any]] = []
    if path.exists():
        with path.open() as file:
            rows = list(csv.DictReader(file))
    new = dict(zip(HEADER, map(str, row), strict=True))
    rows = [old for old in rows if any(old[name] != new[name] for name in KEY)]
    write_rows(path, HEADER, [[one[name] for name in HEADER] for one in [*rows, new]])
    say("  ".join(f"{name} {value}" for name, value in new.items()))


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_frontier", description=summary)
    parser.add_argument("points", nargs="+", help="MODEL:P:SECONDS, or files of responses")
    parser.add_argument("--game", default=GAME, help="of the responder")
    parser.add_argument("--model-game", default="holdem(buckets=100)", help="of the model")
    parser.add_argument("--models", type=Path, help="a folder of models; by default FOLDER/models")
    parser.add_argument("--flops", type=int, default=48, help="of a measurement; 0: all")
    parser.add_argument("--hands", type=int, default=2_000_000, help="of a match; 0: none")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--backend", default="cuda", help="cuda or cpu")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    given.models = given.models or given.out / "models"
    started: dict[str, dict[int, ResponseSolver] | None] = {}
    paths = []
    for point in given.points:
        if Path(point).exists():
            paths.append(Path(point))
        elif point.count(":") == 2:
            paths.append(train(point, cp.load(given.game), started, given))
        else:
            parser.error(f"{point} is neither a file nor MODEL:P:SECONDS")
    started.clear()
    measure(paths, given)


if __name__ == "__main__":
    main()
