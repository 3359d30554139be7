"""The players of Tables 1 and 2 and Figure 8: their training, observation, models and matches, each
done once and kept in the store; and the jobs for them.

The paper's MCCFR is outcome sampling with ε = 0.6. External sampling and public chance sampling,
which get further in the same time, stand beside it as ours. What the paper calls MCRNR in hold'em
is `mcdbr` with a constant Pconf of 0.75; it gets as many iterations for each seat as MCCFR. Every
player is also kept as it was at half of its training, to measure the gain of the second half.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.app.reproduction.harness.store import (
    PieceStore,
    TrainedStrategy,
    trained_with_halfway,
)
from counterplay.app.reproduction.sizes import ENGINES, MCTS_RATE, POKI_RATE, SIZES, rate
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import digest
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.match.result import MatchResult
from counterplay.core.parallel.jobs import Job
from counterplay.core.responses.algorithms import confidence
from counterplay.core.responses.solver import ResponseSolver
from counterplay.core.solvers.algorithms import new_solver
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import Observations, observe
from counterplay.poker.players import bot

BOTS = ("poki", "sparbot")
RECREATED = (
    "Poki and Sparbot here are re-creations from their published descriptions, "
    "not the commercial programs."
)
THREADS = 2  # results of training depend on it
TRAINING_SEED = 1_000  # other than those of Figure 4
OBSERVING_SEED, MATCH_SEED = 5, 11
PARTNER = "probe"  # plays the observed hands: it never folds, so that many cards are shown
P = 0.75


def mccfr(
    game: Game,
    iterations: int,
    store: PieceStore,
    progress: ProgressCallback,
    what: str,
    engine: str = "external",
) -> TrainedStrategy:
    """MCCFR10 or MCCFR100."""
    algorithm, options = ENGINES[engine]
    solver = new_solver(game, algorithm, TRAINING_SEED, {**options, "threads": THREADS})
    return trained_with_halfway(store, solver, iterations, progress, what)


class LearnedModel(NamedTuple):
    """The strategy of an opponent, learnt from observed hands."""

    strategy: Strategy
    observed: np.ndarray  # float64[information sets]: how often each was seen


class ResponseSpec(NamedTuple):
    """A robust response to a model of an opponent from so many hands."""

    name: str
    opponent: str
    buckets: int
    hands: int
    iterations: int  # for each seat
    model: dict[str, Any]  # how it is learnt: arguments of `PlayerFactory.model`
    trust: str | float = P  # Pconf, or a kind of confidence by observations
    algorithm: str = "mcdbr"
    engine: str = "external"


class PairingResult(NamedTuple):
    """What a trained player won from a bot, and gained in the second half of its training."""

    player: str  # such as MCCFR10
    engine: str
    opponent: str
    result: MatchResult
    gained: tuple[float, float]  # sb/h, and half of its 95% interval
    iterations: int  # for each seat of a response
    seconds: float  # of training


class PlayerFactory:
    """Makes the players of the tables on first use, and plays their matches."""

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

    def mcts(self) -> TrainedStrategy:
        solver = new_solver(self.game(10), "mcts", TRAINING_SEED, {"c": 17.0, "threads": THREADS})
        return trained_with_halfway(self.store, solver, self.size.mcts, self.progress, "MCTS10")

    def equilibrium(self, buckets: int, engine: str) -> TrainedStrategy:
        """MCCFR10 or MCCFR100."""
        how = (self.size.of(engine, buckets), self.store, self.progress)
        return mccfr(self.game(buckets), *how, f"MCCFR{buckets} ({engine})", engine)

    def observations(
        self, opponent: str, hands: int, partner: str = PARTNER, cards: str = "shown"
    ) -> Observations:
        """The actions of `opponent` in `hands` hands against the partner, with the cards it showed
        or with all.

        The hands are the first of a match of `observed` hands, if that is no shorter, so that
        smaller samples are part of larger ones.
        """
        if hands < self.size.observed:
            seen = self.observations(opponent, self.size.observed, partner, cards)
            return seen.part(seen.hand < hands)
        trained = partner != PARTNER
        player: Any = self.equilibrium(10, partner).strategy if trained else PARTNER

        def make() -> dict[str, np.ndarray]:
            self.progress(0.0, f"observing {opponent}: {hands:,} hands")
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "hands.parquet"
                match = (self.game(10), player, self.bot(opponent), hands, OBSERVING_SEED)
                log: dict[str, Any] = {"log": path, "observer": "a" if cards == "shown" else None}
                log["progress"] = self._prefixed(f"observing {opponent}")
                play_match(*match, duplicate=False, luck_adjusted=False, **log)
                return observe(read_parquet(path), opponent)._asdict()

        recipe = {"of": opponent, "by": _identity(player), "hands": hands, "cards": cards}
        recipe["seed"] = OBSERVING_SEED
        return Observations(**self.store.arrays("hands", recipe, make))

    def model(
        self,
        opponent: str,
        buckets: int,
        hands: int,
        kind: str = "tree",
        partner: str = PARTNER,
        cards: str = "shown",
        **options: Any,
    ) -> LearnedModel:
        """A model of `opponent` from so many hands."""
        game, seen = self.game(buckets), self.observations(opponent, hands, partner, cards)

        def make() -> dict[str, np.ndarray]:
            self.progress(0.0, f"learning how {opponent} plays from {hands:,} hands")
            learned = learn_model(seen, game, opponent, kind, **options)
            return {"probabilities": learned.strategy.probabilities, "observed": learned.observed}

        recipe: dict[str, Any] = {"of": opponent, "kind": kind, "options": options}
        recipe |= {"game": [game.name, game.fingerprint], "hands": digest(*seen)}
        arrays = self.store.arrays("model", recipe, make)
        return LearnedModel(Strategy(game, arrays["probabilities"]), arrays["observed"])

    def model_of(self, spec: ResponseSpec) -> LearnedModel:
        """The model that `spec` responds to."""
        return self.model(spec.opponent, spec.buckets, spec.hands, **spec.model)

    def seat(self, spec: ResponseSpec, seat: int) -> TrainedStrategy:
        """A robust response in one seat."""
        model, trust = self.model_of(spec), spec.trust
        sure: Any = confidence(model.observed, trust, P) if isinstance(trust, str) else trust
        solver, options = ENGINES[spec.engine]
        options = {**options, "threads": THREADS}
        game, how = model.strategy.game, (sure, spec.algorithm, solver, TRAINING_SEED, options)
        engine = ResponseSolver(game, model.strategy, seat, *how).engine
        what = f"{spec.name}, seat {seat + 1}"
        return trained_with_halfway(self.store, engine, spec.iterations, self.progress, what)

    def response(self, spec: ResponseSpec) -> TrainedStrategy:
        """A robust response in both seats."""
        halfway = strategy = self.model_of(spec).strategy
        seconds = 0.0
        for seat in (0, 1):
            one = self.seat(spec, seat)
            halfway = halfway.replace(one.halfway, seat)
            strategy = strategy.replace(one.strategy, seat)
            seconds += one.seconds
        return TrainedStrategy(halfway, strategy, spec.iterations, seconds)

    def match(self, name: str, player: Any, opponent: Any, hands: int | None = None) -> MatchResult:
        """What a player (a strategy, or the name of a bot) wins from another."""
        if hands is None:
            hands = self.size.poki if opponent == "poki" else self.size.sparbot

        def make() -> dict[str, Any]:
            what = f"{name} against {opponent if isinstance(opponent, str) else 'a strategy'}"
            self.progress(0.0, f"{what}: {hands:,} hands")
            one, two = (self.bot(x) if isinstance(x, str) else x for x in (player, opponent))
            match, show = (self.game(10), one, two, hands, MATCH_SEED), self._prefixed(what)
            return asdict(play_match(*match, progress=show, luck_adjusted=False))

        recipe: dict[str, Any] = {"hands": hands, "seed": MATCH_SEED}
        recipe |= {"a": _identity(player), "b": _identity(opponent)}
        return as_match(self.store.value("match", recipe, make))

    def play(
        self,
        player: str,
        engine: str,
        trained: TrainedStrategy,
        opponent: str,
        model: Strategy | None = None,
    ) -> PairingResult:
        """A trained player against a bot. The gain of the second half of its training is measured
        head to head with the strategy at half of it, or, for a response, against the model; and
        also against the bot if that is Sparbot, which is fast. The largest of these counts."""
        name, strategy, halfway = f"{player} ({engine})", trained.strategy, trained.halfway
        result = self.match(name, strategy, opponent)
        gains = []
        if model is None:
            won = self.match(name, strategy, halfway)
            gains.append((won.mean, half_interval(won)))
        others: list[Any] = [] if model is None else [model]
        for other in [*others, *(["sparbot"] if opponent == "sparbot" else [])]:
            one, two = (self.match(name, x, other) for x in (strategy, halfway))
            error = float(np.hypot(half_interval(one), half_interval(two)))
            gains.append((one.mean - two.mean, error))
        training = (max(gains, key=sum), trained.iterations, trained.seconds)
        return PairingResult(player, engine, opponent, result, *training)

    def _prefixed(self, text: str) -> ProgressCallback:
        return lambda share, what: self.progress(share, f"{text}: {what}")


def _identity(player: Any) -> dict[str, str]:
    """A player as part of a recipe. A bot has no settings: its code, which is hashed, is all."""
    if isinstance(player, str):
        return {"bot": player}
    return {"game": player.game.fingerprint, "strategy": digest(player.probabilities)}


def as_match(data: dict[str, Any]) -> MatchResult:
    """A match result from its stored fields."""
    return MatchResult(**{**data, "by_seat": tuple(data["by_seat"])})


def half_interval(result: MatchResult) -> float:
    """Half of the 95% interval."""
    low, high = result.interval
    return (high - low) / 2


def as_text(result: MatchResult) -> str:
    """A result with its 95% interval."""
    return f"{result.mean:+.3f} ± {half_interval(result):.3f}"


class Pairing(NamedTuple):
    """A player and a bot. `response`: the player responds to a model; None: it is an equilibrium,
    or MCTS10."""

    player: str
    engine: str
    buckets: int
    opponent: str
    response: ResponseSpec | None = None

    def train(self, players: PlayerFactory) -> TrainedStrategy:
        if self.response is not None:
            return players.response(self.response)
        if self.engine == "mcts":
            return players.mcts()
        return players.equilibrium(self.buckets, self.engine)

    def iterations(self, players: PlayerFactory) -> int:
        if self.response is not None:
            return self.response.iterations
        return players.size.mcts if self.engine == "mcts" else players.size.of(*self[1:3])

    def recipe(self, players: PlayerFactory) -> dict[str, Any]:
        return {
            **self._asdict(),
            "iterations": self.iterations(players),
            "hands": [players.size.poki, players.size.sparbot],
            "response": _response_recipe(players, self.response),
        }

    def play(self, players: PlayerFactory) -> PairingResult:
        """Train the player, and play its matches."""

        def make() -> dict[str, Any]:
            trained = self.train(players)
            model = None if self.response is None else players.model_of(self.response).strategy
            result = players.play(self.player, self.engine, trained, self.opponent, model)
            return {**result._asdict(), "result": asdict(result.result)}

        data = players.store.value("pairing", self.recipe(players), make)
        result, gained = as_match(data["result"]), tuple(data["gained"])
        return PairingResult(**{**data, "result": result, "gained": gained})


def response_match(
    players: PlayerFactory, spec: ResponseSpec, opponent: str, hands: int
) -> MatchResult:
    """What a response wins from a bot; only that is kept."""

    def make() -> dict[str, Any]:
        player = players.response(spec).strategy
        return asdict(players.match(spec.name, player, opponent, hands))

    recipe = {"response": _response_recipe(players, spec), "opponent": opponent, "hands": hands}
    return as_match(players.store.value("won", recipe, make))


def _response_recipe(players: PlayerFactory, spec: ResponseSpec | None) -> dict[str, Any] | None:
    """All that a response depends on, without its name."""
    if spec is None:
        return None
    recipe = {**spec._asdict(), "of": players.size.observed}
    del recipe["name"]
    partner = spec.model.get("partner", PARTNER)
    if partner != PARTNER:
        recipe["partner's iterations"] = players.size.of(partner, 10)
    return recipe


# jobs


def training_seconds(engine: str, buckets: int, iterations: int) -> float:
    """Expected duration of training."""
    return iterations / (MCTS_RATE if engine == "mcts" else rate(engine, buckets))


def pairing_jobs(scale: str, store: PieceStore, pairing: Pairing) -> list[Job]:
    """Jobs for training, seat by seat, and for the matches."""
    trained = training_jobs(scale, store, pairing)
    after = tuple(job.name for job in trained)
    players = PlayerFactory(scale, store, no_progress)
    hands = players.size.poki if pairing.opponent == "poki" else 0
    name = f"{pairing.player} ({pairing.engine}) against {pairing.opponent}"

    def work(progress: ProgressCallback) -> None:
        pairing.play(PlayerFactory(scale, store, progress))

    return [*trained, Job(name, work, 15.0 + hands / POKI_RATE, THREADS, after)]


def response_job(
    scale: str, store: PieceStore, spec: ResponseSpec, opponent: str, hands: int
) -> Job:
    """One job for training and match, which are short here."""
    seconds = 2 * training_seconds(spec.engine, spec.buckets, spec.iterations)

    def work(progress: ProgressCallback) -> None:
        response_match(PlayerFactory(scale, store, progress), spec, opponent, hands)

    partner = spec.model.get("partner", PARTNER)
    after = () if partner == PARTNER else (f"training MCCFR10 ({partner})",)
    return Job(spec.name, work, seconds + hands / POKI_RATE, THREADS, after)


def training_jobs(scale: str, store: PieceStore, pairing: Pairing) -> list[Job]:
    """One job for an equilibrium, two, one per seat, for a response. They do nothing if the result
    of the pairing is in the store."""
    spec = pairing.response

    def one(who: str, train: Callable[[PlayerFactory], Any]) -> Job:
        def work(progress: ProgressCallback) -> None:
            players = PlayerFactory(scale, store, progress)
            if not store.has("pairing", pairing.recipe(players)):
                train(players)

        iterations = pairing.iterations(PlayerFactory(scale, store, no_progress))
        seconds = training_seconds(pairing.engine, pairing.buckets, iterations)
        return Job(f"training {who}", work, seconds, THREADS)

    if spec is None:
        base = "MCTS10" if pairing.engine == "mcts" else f"MCCFR{pairing.buckets}"
        return [one(f"{base} ({pairing.engine})", pairing.train)]
    who = f"{spec.name} ({spec.engine})"
    seats = (lambda players: players.seat(spec, 0), lambda players: players.seat(spec, 1))
    return [one(f"{who}, seat {k + 1}", seat) for k, seat in enumerate(seats)]
