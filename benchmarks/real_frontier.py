"""What responses to a model of a bot win and risk in limit hold'em, when their adversary sees its
cards: rnr with adversary="real", for several p. Needs a CUDA device.

    python -m benchmarks.real_frontier poki --ps 0,0.5,0.75 --seconds 120 [--exact] --out FOLDER

The model, of `poki` or `sparbot`, is learnt from 20,000 hands against `probe`, in the card
abstraction of `--model-game`; a file is a model of its own. For each p both seats are trained, each
for half of the seconds, from where the p before ended. FOLDER gets the model, a strategy for each p
in a small file, and real_frontier.csv: winnings in matches with the model and with the bot itself,
sb/h, and the risk, mb/g averaged over the seats, with half their 95% intervals (0: exact). On flops
the risk is measured beside the shipped strategy of the same card abstraction, whose risk is known.
A strategy that is there is not trained again, so `--exact` may follow in a call of its own.
"""

from __future__ import annotations

import argparse
import csv
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import counterplay as cp
from benchmarks.measure import write_rows
from counterplay.core.forms.game import Payoff
from counterplay.core.responses.compute import (
    ResponseParameters,
    compute_response,
    solvers_to_continue,
)
from counterplay.core.solvers.limits import Limits
from counterplay.poker.bots.quantised import read_facts, read_quantised, write_quantised
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import observe
from counterplay.poker.vector.evaluation import KnownPlayer, best_response_values

HEADER = [
    "model", "game", "p", "seconds", "iterations", "flops", "won_sb", "won_error",
    "won_from_bot", "bot_error", "risk_mb_per_game", "risk_error",
]  # fmt: skip
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
GAME = "holdem(buckets=100,kind=emd)"
OBSERVED = 20_000
HANDS = 20_000_000  # of a match with the model
BOT_HANDS = 200_000  # with the bot itself
FLOPS_SEED = 3
BEGUN = time.monotonic()


def say(text: str) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.monotonic() - BEGUN:6.1f}] {text}", flush=True)


def model_of(name: str, game: str, folder: Path) -> cp.Strategy:
    """The model in a file, or the one of a bot: learnt, and kept in the folder."""
    if Path(name).exists():
        return cp.Strategy.load(name)
    path = folder / f"model-{name}.npz"
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
    learnt.save(path)
    say(f"model of {name} in {learnt.game.name}")
    return learnt


def winnings(strategy: cp.Strategy, player: cp.Strategy | str, hands: int) -> list[float]:
    """Winnings from a player in sb/h, in a match of duplicate deals, and half the interval."""
    result = cp.play_match(strategy.game, strategy, player, hands, FLOPS_SEED)
    return [round(result.mean, 5), round(1.96 * result.standard_error, 5)]


def risk(strategy: cp.Strategy, flops: int, backend: str) -> list[float]:
    """The risk in mb/g, mean of the seats, and half its 95% interval; `flops` 0: exact."""
    game = strategy.game
    known = [one for one in cp.strategies() if one.game == game.name]
    total: Any
    options: dict[str, Any]
    if flops and known:
        player = KnownPlayer(
            known[0].name, strategy_table(known[0].on(game)), known[0].exploitability
        )
        options = {"flops": flops, "backend": backend, "seed": FLOPS_SEED, "known": player}
        total = sum(best_response_values(game, strategy, **options))
    else:
        asked = [Payoff(seat, strategy) for seat in (0, 1)]
        options = {"flops": flops, "seed": FLOPS_SEED} if flops else {}
        total = sum(game.evaluator.payoffs(asked, backend=backend, **options))
    return [round(MB * float(total), 2), round(MB * getattr(total, "error", 0.0), 2)]


def add_row(path: Path, row: list[object]) -> None:
    """Write a row in place of the one with the same model, game, p and flops."""
    rows: list[list[str]] = []
    if path.exists():
        with path.open() as file:
            rows = list(csv.reader(file))[1:]
    text = [str(value) for value in row]

    def key(one: list[str]) -> tuple[str, ...]:
        return (*one[:3], one[5])

    write_rows(path, HEADER, [*(one for one in rows if key(one) != key(text)), text])
    say("  ".join(f"{name} {value}" for name, value in zip(HEADER, text, strict=True)))


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_frontier", description=summary)
    parser.add_argument("model", help="poki, sparbot, or the file of a strategy")
    parser.add_argument("--ps", default="0,0.25,0.5,0.75,0.9,1", help="separated by commas")
    parser.add_argument("--seconds", type=float, default=120.0, help="of training for each p")
    parser.add_argument("--game", default=GAME, help="of the responder")
    parser.add_argument("--model-game", default="holdem(buckets=100)", help="of the model")
    parser.add_argument("--hands", type=int, default=HANDS, help="of a match with the model")
    parser.add_argument("--flops", type=int, default=48, help="of a measurement; 0: none")
    parser.add_argument("--exact", action="store_true", help="measure on every board too")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ramp", type=int, default=1, help="as in `solve -a cfr-br`")
    parser.add_argument("--backend", default="cuda", help="cuda or cpu")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    given = parser.parse_args(arguments)
    given.out.mkdir(parents=True, exist_ok=True)
    game = cp.load(given.game)
    model = model_of(given.model, given.model_game, given.out)
    options = {"backend": given.backend, "ramp": given.ramp}
    parameters = ResponseParameters(game, model, None, 0.0, "rnr", "cfr-br", given.seed, options)
    name, started = Path(given.model).stem, solvers_to_continue(parameters)
    for p in sorted(float(text) for text in given.ps.split(",")):
        path = given.out / f"{name}-p{p:g}.npz"
        if not path.exists():
            found = compute_response(
                parameters.with_p(p), Limits(seconds=given.seconds), started=started
            )
            facts = {"seconds": round(found.seconds, 1), "iterations": found.iterations}
            write_quantised(path, found.strategy, facts)
            say(f"p = {p:g}: {found.iterations:,} iterations of a seat in {found.seconds:.0f} s")
        strategy, facts = read_quantised(path, game), read_facts(path)
        row: list[object] = [name, game.name, p, facts["seconds"], facts["iterations"]]
        won: list[object] = [*winnings(strategy, model, given.hands)]
        won += ["", ""] if Path(given.model).exists() else winnings(strategy, name, BOT_HANDS)
        for flops in [given.flops] * (given.flops > 0) + [0] * given.exact:
            numbers = [*won, *risk(strategy, flops, given.backend)]
            add_row(given.out / "real_frontier.csv", [*row, flops or "all", *numbers])


if __name__ == "__main__":
    main()
