"""What responses to a model of a bot win and risk in limit hold'em, when their adversary sees its
cards: rnr or dbr with adversary="real", for several p. Needs a CUDA device (`--backend cpu`:
hours).

    python -m benchmarks.real_frontier poki --ps 0.4,0.6,0.65 --seconds 120 --out FOLDER
    python -m benchmarks.real_frontier sparbot --ps 0.4,0.5 --seconds 120 --out FOLDER
    python -m benchmarks.real_frontier poki --algorithm dbr --ps 0.5,0.75 --out FOLDER
    python -m benchmarks.real_frontier poki --algorithm mcrnr --ps 0.4 --backend cpu --out FOLDER
    python -m benchmarks.real_frontier --exact FOLDER/poki-p0.4.npz [FILE ...] --out FOLDER
    python -m benchmarks.real_frontier FILE [FILE ...] --flops 0 --bot-hands 200000 --out FOLDER
    python -m benchmarks.real_frontier FILE --without-trust poki --flops 0 --out FOLDER

The first four train, the fourth against an adversary who sees the responder's buckets, for
comparison. The model, of `poki` or `sparbot`, was learnt from 20,000 hands against
`probe` (benchmarks/models; in another card abstraction, `--model-game`, it is learnt now); the
small file of a strategy is a model, too. Both seats are trained for each p, each for half of the
seconds, from where the p before ended. FOLDER gets a strategy for each p, in a small file, as soon
as it is there; what is there is not trained again. Then each strategy is measured; the next two
commands measure files of an earlier one. The last one takes a file of CFR-BR, which is the response
without trust (p = 0) to any model; its exact risk is that of cfr_br.csv.

A row of real_frontier.csv in FOLDER has the winnings from the model and from the bot itself, sb/h,
and the risk, mb/g averaged over the seats, with half their 95% intervals (0: exact). Winnings come
from matches of `--hands` and `--bot-hands` (0: none). The risk comes from `--flops` (0: none),
beside a shipped strategy whose risk is known (`--beside`; else of the same card abstraction);
`--exact`: over every board, for all files of a game in one traversal, and then the winnings from
the model, too (`--payoff match`: not these). With `--algorithm dbr` p is Pconf, the same at every
information set, and rows go to dbr_frontier.csv; those of mcrnr go to abstract_frontier.csv.
Winnings from Poki are luck-adjusted.
"""

from __future__ import annotations

import argparse
import csv
import shlex
import tempfile
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import counterplay as cp
from benchmarks.ladder import is_program
from benchmarks.measure import write_rows
from counterplay.core.forms.game import Payoff
from counterplay.core.responses.compute import (
    ResponseParameters,
    compute_response,
    solvers_to_continue,
)
from counterplay.core.solvers.limits import Limits
from counterplay.poker.bots.shipped import digest, read_facts, read_quantised, write_quantised
from counterplay.poker.bots.shipped import strategies as shipped_strategies
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.holdem.table import strategy_table
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import observe
from counterplay.poker.vector.evaluation import KnownPlayer, vector_values
from counterplay.poker.vector.flop_values import ValueQuery
from tools.ship_strategy import exact_value

KEY = ["model", "game", "p", "seconds", "iterations", "digest", "flops"]
HEADER = [
    *KEY, "won_sb", "won_error", "won_from_bot", "bot_error", "risk_mb_per_game", "risk_error",
]  # fmt: skip
BOTS = ("poki", "sparbot")
MB = 500.0  # mb/g for 1 sb/h of both seats' sum
GAME, MODEL_GAME = "holdem(buckets=100,kind=emd)", "holdem(buckets=100)"
MODELS = Path(__file__).parent / "models"
OBSERVED = 20_000
HANDS = 20_000_000  # of a match with the model
FLOPS = 48
FLOPS_SEED = 3
RNR, ABSTRACT = "rnr", "mcrnr"
ENGINES = {RNR: "cfr-br", "dbr": "cfr-br", ABSTRACT: "mccfr-public"}
FILES = {RNR: "real_frontier.csv", "dbr": "dbr_frontier.csv", ABSTRACT: "abstract_frontier.csv"}
NO_FLOPS = "none"  # the risk was not measured
BEGUN = time.monotonic()
Numbers = tuple[float, float]  # a value and half its 95% interval


def say(text: str) -> None:
    """Print with the seconds since the start."""
    print(f"[{time.monotonic() - BEGUN:6.1f}] {text}", flush=True)


@cache
def game_called(name: str) -> cp.Game:
    """The same object for every strategy, so that they share a traversal."""
    return cp.load(name)


def read_response(path: Path) -> cp.Strategy:
    """The strategy in a small file."""
    return read_quantised(path, game_called(str(read_facts(path)["game"])))


@cache
def model_of(name: str, game: str, folder: Path) -> cp.Strategy:
    """The model in a file, or the one of a bot: that of MODELS, else learnt, and kept in the
    folder."""
    for path in (Path(name), MODELS / f"model-{name}.npz", folder / f"model-{name}.npz"):
        if path.is_file() and read_facts(path)["game"] == game:
            return read_response(path)
    with tempfile.TemporaryDirectory() as room:
        hands = Path(room) / "hands.parquet"
        cp.play_match(
            cp.load("holdem(buckets=10)"), "probe", name, OBSERVED, 1, duplicate=False, log=hands,
            observer="a",
        )  # fmt: skip
        seen = observe(read_parquet(hands), name)
    say(f"observed {OBSERVED:,} hands of {name}")
    learnt = learn_model(seen, game_called(game), name).strategy
    folder.mkdir(parents=True, exist_ok=True)
    model = write_quantised(path, learnt, {"model": name, "hands": OBSERVED})
    say(f"model of {name} in {game}: {path}")
    return model


@dataclass(frozen=True)
class Trained:
    """A response in a file, with the model that it was trained against."""

    name: str  # of the model
    model: cp.Strategy
    strategy: cp.Strategy
    facts: dict[str, Any]

    def key(self, flops: int | str) -> list[object]:
        facts, game = self.facts, self.strategy.game.name
        trained = [facts["p"], facts["seconds"], facts["iterations"]]
        return [Path(self.name).stem, game, *trained, digest(self.strategy), flops]

    def rows(self, files: Mapping[str, Rows]) -> Rows:
        """The rows of its algorithm; CFR-BR is rnr without trust."""
        return files.get(str(self.facts.get("algorithm")), files[RNR])


def trained_in(path: Path, without_trust: str | None) -> Trained:
    """The response in a file; with a model's name: a file of CFR-BR as a response to it."""
    facts = read_facts(path)
    if without_trust is not None:
        facts |= {"model": without_trust, "model_game": MODEL_GAME, "p": 0.0}
    name, game = str(facts["model"]), str(facts["model_game"])
    return Trained(name, model_of(name, game, path.parent), read_response(path), facts)


def train(given: argparse.Namespace) -> list[Path]:
    """Train a response for each p; the files, those that were there among them."""
    (name,) = given.what
    game, model = game_called(given.game), model_of(name, given.model_game, given.out)
    options = {"backend": given.backend}
    if given.algorithm != ABSTRACT:
        options["ramp"] = given.ramp
    parameters = ResponseParameters(
        game, model, None, 0.0, given.algorithm, ENGINES[given.algorithm], given.seed, options
    )
    stem = Path(name).stem + ("" if given.algorithm == RNR else f"-{given.algorithm}")
    started, paths = solvers_to_continue(parameters), []
    for p in sorted(float(text) for text in given.ps.split(",")):
        paths.append(given.out / f"{stem}-p{p:g}.npz")
        if paths[-1].exists():
            continue
        seconds = given.seconds if started else given.first or given.seconds
        found = compute_response(parameters.with_p(p), Limits(seconds=seconds), started=started)
        facts: dict[str, Any] = {"seconds": round(found.seconds, 1), "p": p}
        facts |= {"iterations": found.iterations, "seed": given.seed, "model": name}
        facts |= {"model_game": given.model_game, "algorithm": given.algorithm}
        facts |= {"command": command_of(given)}
        write_quantised(paths[-1], found.strategy, facts)
        say(f"p = {p:g}: {found.iterations:,} iterations of a seat in {found.seconds:.0f} s")
    return paths


def command_of(given: argparse.Namespace) -> str:
    """The command that trains again."""
    asked = ["--ps", given.ps, "--seconds", f"{given.seconds:g}", "--game", given.game]
    asked += [] if given.first is None else ["--first", f"{given.first:g}"]
    asked += [] if given.algorithm == RNR else ["--algorithm", given.algorithm]
    return shlex.join(["python", "-m", "benchmarks.real_frontier", *given.what, *asked])


def winnings(strategy: cp.Strategy, player: cp.Strategy | str, hands: int) -> Numbers:
    """Winnings from a player in sb/h, in a match of duplicate deals; luck-adjusted where it is a
    program."""
    program = isinstance(player, str) and is_program(player)
    result = cp.play_match(
        strategy.game, strategy, player, hands, FLOPS_SEED, luck_adjusted=program
    )
    won = result if result.adjusted is None else result.adjusted
    return won.mean, (won.interval[1] - won.interval[0]) / 2


def risks_of(
    strategies: Sequence[cp.Strategy], flops: int | None, backend: str, beside: str | None = None
) -> list[Numbers]:
    """The risks of strategies of one game in mb/g, mean of the seats, in one traversal: from flops,
    `beside` a shipped strategy, or exact."""
    if not strategies:
        return []
    game, found = strategies[0].game, list[Any]()
    options: dict[str, Any] = {"backend": backend}
    options |= {} if flops is None else {"flops": flops, "seed": FLOPS_SEED}
    if flops is None or beside is None:
        asked = [Payoff(seat, strategy) for strategy in strategies for seat in (0, 1)]
        found = game.evaluator.payoffs(asked, **options)
    else:
        (known,) = (one for one in shipped_strategies() if one.name == beside)
        player = KnownPlayer(beside, strategy_table(known.strategy), known.exploitability)
        tables = [strategy_table(strategy) for strategy in strategies]
        queries = [ValueQuery(seat, table) for table in tables for seat in (0, 1)]
        found = vector_values(game, queries, known=player, **options)
    totals = [found[k] + found[k + 1] for k in range(0, len(found), 2)]
    return [(MB * float(total), MB * getattr(total, "error", 0.0)) for total in totals]


def exact_winnings(all_: Sequence[Trained], backend: str) -> list[float]:
    """What each wins from its model in sb/h, over every board in one traversal."""
    asked = [Payoff(seat, one.model, one.strategy) for one in all_ for seat in (0, 1)]
    values = all_[0].strategy.game.evaluator.payoffs(asked, backend=backend)
    return [(values[k] + values[k + 1]) / 2 for k in range(0, len(values), 2)]


class Rows:
    """The rows of a CSV file, one for each key."""

    def __init__(self, path: Path) -> None:
        self._path, self._rows = path, dict[tuple[str, ...], dict[str, str]]()
        if path.exists():
            with path.open() as file:
                for row in csv.DictReader(file):
                    self._rows[tuple(row[name] for name in KEY)] = row

    def add(self, key: Sequence[object], **numbers: Numbers) -> None:
        """Put numbers, each with its interval, into the row with this key."""
        texts = tuple(map(str, key))
        row = self._rows.setdefault(texts, dict(zip(KEY, texts, strict=True)))
        for what, (value, half) in numbers.items():
            for name, number in zip(COLUMNS[what], (value, half), strict=True):
                row[name] = f"{number:.5f}"
        self._share(texts[:-1])
        every = [[row.get(name, "") for name in HEADER] for row in self._rows.values()]
        write_rows(self._path, HEADER, every)
        say("  ".join(f"{name} {value}" for name, value in row.items()))

    def _share(self, strategy: tuple[str, ...]) -> None:
        """Give the rows of a strategy what others have of its matches."""
        alike = [key for key in self._rows if key[:-1] == strategy]
        for name in (*COLUMNS["won"], *COLUMNS["bot"]):
            known = [value for key in alike if (value := self._rows[key].get(name))]
            for key in alike:
                if not self._rows[key].get(name) and known:
                    self._rows[key][name] = known[0]
        if len(alike) > 1:
            self._rows.pop((*strategy, NO_FLOPS), None)


COLUMNS = {
    "won": ("won_sb", "won_error"),
    "bot": ("won_from_bot", "bot_error"),
    "risk": ("risk_mb_per_game", "risk_error"),
}


def measure(paths: Sequence[Path], given: argparse.Namespace) -> None:
    """Measure strategies in files: by matches, on flops, and exactly."""
    files = {name: Rows(given.out / path) for name, path in FILES.items()}
    all_ = [trained_in(path, given.without_trust) for path in paths]
    for one in all_:
        numbers: dict[str, Numbers] = {}
        if given.hands:
            numbers["won"] = winnings(one.strategy, one.model, given.hands)
        if given.bot_hands and one.name in BOTS:
            numbers["bot"] = winnings(one.strategy, one.name, given.bot_hands)
        if numbers:
            one.rows(files).add(one.key(given.flops or NO_FLOPS), **numbers)
        if given.without_trust is not None:
            one.rows(files).add(one.key("all"), risk=(exact_value(one.strategy), 0.0))
    by_game: dict[str, list[Trained]] = {}
    for one in all_:
        by_game.setdefault(one.strategy.game.name, []).append(one)
    for alike in by_game.values():
        strategies = [one.strategy for one in alike]
        for flops in [given.flops] * bool(given.flops) + [None] * given.exact:
            risks = risks_of(strategies, flops, given.backend, given.beside)
            for one, risk in zip(alike, risks, strict=True):
                one.rows(files).add(one.key(flops or "all"), risk=risk)
        if given.exact and given.payoff == "exact":
            for one, won in zip(alike, exact_winnings(alike, given.backend), strict=True):
                one.rows(files).add(one.key("all"), won=(won, 0.0))


def main(arguments: Sequence[str] | None = None) -> None:
    summary, _, _ = (__doc__ or "").partition("\n\n")
    parser = argparse.ArgumentParser(prog="python -m benchmarks.real_frontier", description=summary)
    parser.add_argument(
        "what", nargs="+", metavar="MODEL | FILE",
        help=f"{', '.join(BOTS)} or the file of a model, to respond to; files of responses",
    )  # fmt: skip
    parser.add_argument("--ps", help="trust in the model, separated by commas; trains")
    parser.add_argument("--seconds", type=float, default=120.0, help="of training for each p")
    parser.add_argument("--first", type=float, help="the same for the first p, from the start")
    parser.add_argument("--algorithm", default=RNR, choices=FILES, help="that trains")
    parser.add_argument("--game", default=GAME, help="of the responder")
    parser.add_argument("--model-game", default=MODEL_GAME, help="of the model")
    parser.add_argument("--hands", type=int, help=f"of a match with the model: {HANDS:,}")
    parser.add_argument("--bot-hands", type=int, default=0, help="of a match with the bot itself")
    parser.add_argument("--flops", type=int, help=f"of a measurement: {FLOPS}; with --exact none")
    parser.add_argument("--beside", metavar="NAME", help="on flops: which shipped strategy")
    parser.add_argument("--exact", action="store_true", help="measure on every board")
    parser.add_argument("--payoff", default="exact", choices=("exact", "match"), help="by --exact")
    parser.add_argument("--without-trust", metavar="MODEL", help="files are of CFR-BR: p = 0")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--ramp", type=int, default=1, help="as in `solve -a cfr-br`")
    parser.add_argument("--backend", default="cuda", help="cuda or cpu")
    parser.add_argument("--out", type=Path, required=True, help="a folder")
    given = parser.parse_args(arguments)
    if given.ps is not None and len(given.what) > 1:
        parser.error("one model at a time")
    if given.flops is None:
        given.flops = 0 if given.exact else FLOPS
    if given.hands is None:
        given.hands = 0 if given.exact and given.payoff == "exact" else HANDS
    given.out.mkdir(parents=True, exist_ok=True)
    measure([Path(text) for text in given.what] if given.ps is None else train(given), given)


if __name__ == "__main__":
    main()
