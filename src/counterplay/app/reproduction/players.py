"""The players of Tables 1 and 2 and Figure 8: their training, models and matches, seed by seed.

A player of one seed is trained on its own random numbers, responds to a model from its own observed
games, and plays its own deals; players of the same seed share the deals. So a mean over seeds, and
a difference of two players seed by seed, have an interval by Student's t that covers training,
observation and deals together. What the article calls MCRNR in hold'em is `mcdbr` with a constant
Pconf of 0.75.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.sizes import ENGINES, SIZES, rate
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
