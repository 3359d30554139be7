"""The players of Tables 1 and 2 and Figure 8: their training, models and matches, seed by seed.

A player of one seed is trained on its own random numbers, responds to a model from its own observed
games, and plays its own deals; players of the same seed share the deals. So a mean over seeds, and
a difference of two players seed by seed, have an interval by Student's t that covers training,
observation and deals together. What the article calls MCRNR in hold'em is `mcdbr` with a constant
Pconf of 0.75.

Public chance sampling is the engine that decides: MCCFR10 and MCCFR100 of it are within about
0.01 sb/h of where they settle. Outcome sampling, the article's engine, is shown beside it.
"""

from __future__ import annotations

import math
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.base.store import digest
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.responses.solver import ResponseSolver
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Solver
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import Observations, observe
from counterplay.poker.players import bot

EPSILON = 0.6
#: Engines of MCCFR and MCRNR.
ENGINES: dict[str, tuple[str, dict[str, Any]]] = {
    "outcome": ("mccfr", {"epsilon": EPSILON}),
    "external": ("mccfr-external", {}),
    "public": ("mccfr-public", {}),
}
#: Iterations a second of one thread, with 10 and with 100 buckets.
RATES = {"outcome": (1.9e6, 1.6e6), "external": (70e3, 24e3), "public": (88.0, 31.0)}
MCTS_RATE = 1.6e6
POKI_RATE = 3_800  # hands a second of one process


def rate(engine: str, buckets: int) -> float:
    """Iterations a second of one thread, interpolated in the logarithm of the number of buckets;
    at most that of 10 buckets."""
    few, many = (MCTS_RATE, MCTS_RATE) if engine == "mcts" else RATES[engine]
    return float(few * (many / few) ** max(math.log10(buckets) - 1.0, 0.0))


class Sizes(NamedTuple):
    """Pairs are for 10 and for 100 buckets; hands are those of each seed."""

    seeds: int
    mcts: int  # iterations
    public: tuple[int, int]  # iterations of MCCFR
    respond: tuple[int, int]  # iterations of MCRNR for each seat
    outcome: int  # iterations of outcome sampling, for each seat of a response
    observed: int  # games
    games: tuple[int, ...]  # observed games that are compared
    poki: int  # hands of the players that are judged
    beside: int  # hands against Poki of all others
    sparbot: int
    further: bool  # whether there are rows beyond those that the rules need


SIZES = {
    "quick": Sizes(
        seeds=3,
        mcts=10_000_000,
        public=(1_500, 800),
        respond=(250, 150),
        outcome=5_000_000,
        observed=20_000,
        games=(2_000, 20_000),
        poki=16_000,
        beside=6_000,
        sparbot=2_000_000,
        further=False,
    ),
    "paper": Sizes(
        seeds=5,
        mcts=150_000_000,
        public=(5_000, 2_500),
        respond=(2_000, 1_000),
        outcome=50_000_000,
        observed=20_000,
        games=(2_000, 20_000, 100_000),
        poki=400_000,
        beside=60_000,
        sparbot=4_000_000,
        further=True,
    ),
}

#: Meaning of the sizes, for the report, in addition to harness/report.py.
MEANING = {
    "beside": "hands against Poki, in each seed, of players that are not judged",
    "further": "whether there are rows beyond those that the rules need",
    "games": "numbers of observed games that are compared",
    "MCTS": "the constant of MCTS that the article gives",
    "intervals": "what they cover",
    "mcts": "iterations of MCTS",
    "observed": "hands from which the opponent's model was learnt",
    "outcome": "iterations of outcome sampling, for each seat of a response",
    "poki": "hands against Poki in each seed",
    "public": "iterations of MCCFR by public sampling, with 10 and with 100 buckets",
    "respond": "iterations of MCRNR by public sampling for each seat, likewise",
    "sparbot": "hands against Sparbot in each seed",
}


# --- players: training, observation and matches

BOTS = ("poki", "sparbot")
RECREATED = (
    "Poki and Sparbot here are re-creations from their published descriptions, "
    "not the commercial programs."
)
TRAINING_SEED = 1_000  # other than those of Figure 4
OBSERVING_SEED, MATCH_SEED = 5_000, 11
PARTNER = "probe"  # plays the observed hands: it never folds, so that many cards are shown
P = 0.75
C = 17.0  # of MCTS
CHUNKS = 20  # of a training, between two calls of the progress callback
INFERRED, LITERAL, SEEN = "inferred cards", "literal J48", "all cards seen"
#: Options of each model: how unseen cards are treated, and whether there are any.
MODELS: dict[str, dict[str, Any]] = {
    INFERRED: {},
    LITERAL: {"unseen": "fractional", "laplace": False},
    SEEN: {"unseen": "fractional"},
}
MODEL_SECONDS = 8.0  # of learning a model
OBSERVED_RATE = 3_000  # hands of Poki a second, written to a file
SET_UP_SECONDS = 2.5  # of games and bots, and of a match with Sparbot


class PlayerSpec(NamedTuple):
    """A player: MCTS10, MCCFR or, with an opponent whose model it responds to, MCRNR."""

    name: str
    engine: str  # mcts, outcome, external or public
    buckets: int
    iterations: int  # for each seat of a response
    opponent: str | None = None
    games: int = 0  # observed
    model: str = INFERRED
    trust: float = P
    algorithm: str = "mcdbr"

    @property
    def seconds(self) -> float:
        """Expected duration of training one seed."""
        once = self.iterations / rate(self.engine, self.buckets)
        return once if self.opponent is None else 2 * once + MODEL_SECONDS

    @property
    def observing(self) -> float:
        """Expected duration of the hands that a response of one seed observes."""
        return 2.0 + (self.games / OBSERVED_RATE if self.opponent == "poki" else 0.0)


class Won(NamedTuple):
    """What one seed of a player won from a bot."""

    mean: float  # sb/h; luck-adjusted against Poki
    standard_error: float  # of the deals
    hands: int


class PlayerFactory:
    """Makes the players of the tables, and plays their matches."""

    def __init__(self, scale: str, store: PieceStore, progress: ProgressCallback) -> None:
        self.scale, self.size, self.store, self.progress = scale, SIZES[scale], store, progress
        self._games: dict[int, Game] = {}
        self._bots: dict[str, Any] = {}

    def game(self, buckets: int) -> Game:
        if buckets not in self._games:
            self._games[buckets] = load(f"holdem(buckets={buckets})")
        return self._games[buckets]

    def bot(self, name: str) -> Any:
        if name not in self._bots:
            self._bots[name] = bot(name, self.progress)
        return self._bots[name]

    def observed(self, spec: PlayerSpec, seed: int) -> Observations:
        """What a response of this seed has seen of its opponent; kept in the store, since several
        respond to the same hands."""
        assert spec.opponent is not None
        opponent, games, number = spec.opponent, spec.games, OBSERVING_SEED + seed
        seen_by = None if spec.model == SEEN else "a"

        def make() -> dict[str, Any]:
            self.progress(0.0, f"observing {opponent}: {games:,} hands")
            options: dict[str, Any] = {"duplicate": False, "luck_adjusted": False, "processes": 1}
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "hands.parquet"
                match = (self.game(10), PARTNER, self.bot(opponent), games, number)
                play_match(*match, log=path, observer=seen_by, **options)
                return observe(read_parquet(path), opponent)._asdict()

        recipe = {"opponent": opponent, "games": games, "seed": number, "observer": seen_by}
        return Observations(**self.store.arrays("observed", {**recipe, "partner": PARTNER}, make))

    def model(self, spec: PlayerSpec, seed: int) -> Strategy:
        """The model that a response of this seed responds to."""
        assert spec.opponent is not None
        seen, options = self.observed(spec, seed), MODELS[spec.model]
        game, opponent = self.game(spec.buckets), spec.opponent

        def make() -> dict[str, Any]:
            self.progress(0.0, f"learning how {opponent} plays")
            strategy = learn_model(seen, game, opponent, "tree", **options).strategy
            return {"probabilities": strategy.probabilities}

        recipe = {"seen": digest(*seen), "game": [game.name, game.fingerprint], **options}
        return Strategy(game, self.store.arrays("model", recipe, make)["probabilities"])

    def train(self, spec: PlayerSpec, seed: int) -> tuple[Strategy, float]:
        """The strategy of one seed, and the seconds of its training."""
        number = TRAINING_SEED + seed
        if spec.opponent is None:
            game = self.game(spec.buckets)
            solver = (
                new_solver(game, "mcts", number, {"c": C})
                if spec.engine == "mcts"
                else new_solver(game, ENGINES[spec.engine][0], number, ENGINES[spec.engine][1])
            )
            seconds = self._run(solver, spec, "")
            return solver.strategy(), seconds
        strategy = model = self.model(spec, seed)
        seconds = 0.0
        for seat in (0, 1):
            engine, options = ENGINES[spec.engine]
            how = (spec.trust, spec.algorithm, engine, number, options)
            solver = ResponseSolver(model.game, model, seat, *how).engine
            seconds += self._run(solver, spec, f", seat {seat + 1}")
            strategy = strategy.replace(solver.strategy(), seat)
        return strategy, seconds

    def _run(self, solver: Solver, spec: PlayerSpec, what: str) -> float:
        """Train for the iterations of `spec`; returns the seconds."""
        solver.step(0)
        before = time.perf_counter()
        for k in range(CHUNKS):
            self.progress(0.8 * k / CHUNKS, f"{spec.name} ({spec.engine}){what}")
            solver.step(spec.iterations * (k + 1) // CHUNKS - solver.iterations)
        return time.perf_counter() - before

    def play(self, spec: PlayerSpec, opponents: Sequence[str], poki: int, seed: int) -> list[Any]:
        """Seconds of training, and what this seed won from each opponent; kept in the store. After
        a stop, training and matches that had ended are not repeated."""
        hands = [poki, self.size.sparbot]
        recipe = {"of": spec._asdict(), "seed": seed, "opponents": list(opponents), "hands": hands}
        draft = self.store.draft("player", recipe)

        def make() -> list[Any]:
            earlier = draft.read()
            found: list[Any] = []
            if earlier is not None:
                found += earlier.value
                strategy = Strategy(self.game(spec.buckets), earlier.arrays["probabilities"])
            else:
                strategy, seconds = self.train(spec, seed)
                found.append(seconds)
            for other in opponents[len(found) - 1 :]:
                draft.write(found, {"probabilities": strategy.probabilities})
                found.append(self.won(strategy, other, poki, seed))
            return found

        return list(self.store.value("player", recipe, make))

    def won(self, strategy: Strategy, opponent: str, poki: int, seed: int) -> Won:
        """What a strategy wins from a bot, on the deals of this seed."""
        hands = poki if opponent == "poki" else self.size.sparbot
        self.progress(0.85, f"against {opponent}: {hands:,} hands")
        match = (self.game(10), strategy, self.bot(opponent), hands, MATCH_SEED + seed)
        result = play_match(*match, processes=1, luck_adjusted=opponent == "poki")
        found = result.adjusted or result
        return Won(found.mean, found.standard_error, result.hands)
