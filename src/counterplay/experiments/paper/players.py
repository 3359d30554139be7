"""The players of Tables 1 and 2 and Figure 8: trained, observed, modelled and matched once, and
kept in the store.

The paper's MCCFR is outcome sampling with ε = 0.6. External sampling and public chance sampling,
which get further in the same time, stand beside it as ours. What the paper calls MCRNR in hold'em
is `mcdbr` with a constant Pconf of 0.75; it gets as many iterations for each seat as MCCFR. Every
player is kept as he was at half of his training too, and what the second half gave him is measured.
"""

from __future__ import annotations

import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.arena.match import play_match
from counterplay.arena.result import MatchResult
from counterplay.base.progress import Tell
from counterplay.experiments.harness.store import Store, digest
from counterplay.experiments.harness.training import Halves, trained_twice
from counterplay.experiments.paper.sizes import ENGINES, SIZES
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.opponents.hands.parquet import read_hands
from counterplay.opponents.models.model import learn_model
from counterplay.opponents.models.observe import Observations, observe
from counterplay.opponents.players import bot
from counterplay.responses.confidence import confidence
from counterplay.responses.solver import ResponseSolver
from counterplay.solvers.algorithms import new_solver

BOTS = ("poki", "sparbot")
RECREATED = (
    "Poki and Sparbot here are re-creations from their published descriptions, "
    "not the commercial programs."
)
THREADS = 2  # part of what a trained strategy is
TRAINING_SEED, OBSERVING_SEED, MATCH_SEED = (
    1_000,
    5,
    11,
)  # the curves of Figure 4 have smaller seeds
PARTNER = "probe"  # plays while the opponent is observed: never folds, so that many hands are shown
P = 0.75


def mccfr(
    game: Game, iterations: int, store: Store, tell: Tell, what: str, engine: str = "external"
) -> Halves:
    """MCCFR10 or MCCFR100, wherever one is needed."""
    algorithm, options = ENGINES[engine]
    solver = new_solver(game, algorithm, TRAINING_SEED, {**options, "threads": THREADS})
    return trained_twice(store, solver, iterations, tell, what)


class Learnt(NamedTuple):
    """How an opponent plays, as learnt from his hands."""

    strategy: Strategy
    observed: np.ndarray  # float64[information sets]: how often each was seen


class Answer(NamedTuple):
    """A robust response to what was learnt of an opponent from so many hands."""

    name: str
    opponent: str
    buckets: int
    hands: int
    iterations: int  # for each seat
    model: dict[str, Any]  # how it is learnt: arguments of `Company.model`
    trust: str | float = P  # Pconf, or a kind of confidence by observations
    algorithm: str = "mcdbr"
    engine: str = "external"


class Cell(NamedTuple):
    """What a trained player won from a bot, and what the second half of his training gave him."""

    player: str  # such as MCCFR10
    engine: str
    opponent: str
    result: MatchResult
    gained: tuple[float, float]  # sb/h, and half of its 95% interval
    iterations: int  # for each seat of a response
    seconds: float  # of training


class Company:
    """Everything the tables need, each made on first use."""

    def __init__(self, scale: str, store: Store, tell: Tell) -> None:
        self.scale, self.size, self.store, self.tell = scale, SIZES[scale], store, tell
        self._games: dict[int, Game] = {}
        self._bots: dict[str, Any] = {}

    def game(self, buckets: int) -> Game:
        if buckets not in self._games:
            self._games[buckets] = load(f"holdem(buckets={buckets})")
        return self._games[buckets]

    def bot(self, name: str) -> Any:
        if name not in self._bots:
            self._bots[name] = bot(name, self.tell)
        return self._bots[name]

    def mcts(self) -> Halves:
        options = {"c": 17.0, "threads": THREADS}
        solver = new_solver(self.game(10), "mcts", TRAINING_SEED, options)
        return trained_twice(self.store, solver, self.size.mcts, self.tell, "MCTS10")

    def equilibrium(self, buckets: int, engine: str) -> Halves:
        """MCCFR10 or MCCFR100."""
        iterations = self.size.of(engine, buckets)
        what = f"MCCFR{buckets} ({engine})"
        return mccfr(self.game(buckets), iterations, self.store, self.tell, what, engine)

    def observations(
        self, opponent: str, hands: int, partner: str = PARTNER, cards: str = "shown"
    ) -> Observations:
        """What `opponent` did in `hands` hands against the partner: with the cards he showed, or
        with all.

        They are the first of a match of `observed` hands, if that is no shorter, so that few games
        are part of many.
        """
        if hands < self.size.observed:
            seen = self.observations(opponent, self.size.observed, partner, cards)
            return seen.part(seen.hand < hands)
        player: Any = PARTNER
        if partner != PARTNER:
            player = self.equilibrium(10, partner).whole

        def make() -> dict[str, np.ndarray]:
            self.tell(0.0, f"observing {opponent}: {hands:,} hands")
            with tempfile.TemporaryDirectory() as folder:
                path = Path(folder) / "hands.parquet"
                foe = self.bot(opponent)
                play_match(
                    self.game(10),
                    player,
                    foe,
                    hands,
                    OBSERVING_SEED,
                    duplicate=False,
                    log=path,
                    observer="a" if cards == "shown" else None,
                    luck_adjusted=False,
                    tell=self._about(f"observing {opponent}"),
                )
                return observe(read_hands(path), opponent)._asdict()

        recipe = {"of": opponent, "by": _who(player), "hands": hands, "seed": OBSERVING_SEED}
        recipe["cards"] = cards
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
    ) -> Learnt:
        """How `opponent` plays, learnt from so many hands."""
        game, seen = self.game(buckets), self.observations(opponent, hands, partner, cards)

        def make() -> dict[str, np.ndarray]:
            self.tell(0.0, f"learning how {opponent} plays from {hands:,} hands")
            found = learn_model(seen, game, opponent, kind, **options)
            return {"probabilities": found.strategy.probabilities, "observed": found.observed}

        recipe = {
            "of": opponent,
            "game": [game.name, game.fingerprint],
            "kind": kind,
            "options": options,
            "hands": digest(*seen),
        }
        found = self.store.arrays("model", recipe, make)
        return Learnt(Strategy(game, found["probabilities"]), found["observed"])

    def seat(self, one: Answer, seat: int) -> Halves:
        """A robust response in one seat."""
        model = self.learnt(one)
        trust: Any = one.trust
        if isinstance(trust, str):
            trust = confidence(model.observed, trust, P)
        solver, options = ENGINES[one.engine]
        engine = ResponseSolver(
            model.strategy.game,
            model.strategy,
            seat,
            trust,
            one.algorithm,
            solver,
            TRAINING_SEED,
            {**options, "threads": THREADS},
        ).engine
        what = f"{one.name}, seat {seat + 1}"
        return trained_twice(self.store, engine, one.iterations, self.tell, what)

    def learnt(self, one: Answer) -> Learnt:
        """The model that it answers."""
        return self.model(one.opponent, one.buckets, one.hands, **one.model)

    def response(self, one: Answer) -> Halves:
        """A robust response in both seats."""
        half = whole = self.learnt(one).strategy
        seconds = 0.0
        for seat in (0, 1):
            found = self.seat(one, seat)
            half, whole = half.replace(found.half, seat), whole.replace(found.whole, seat)
            seconds += found.seconds
        return Halves(half, whole, one.iterations, seconds)

    def match(self, name: str, player: Any, opponent: Any, hands: int | None = None) -> MatchResult:
        """What a player (a strategy, or the name of a bot) wins from another; played once."""
        if hands is None:
            hands = self.size.poki if opponent == "poki" else self.size.sparbot

        def make() -> dict[str, Any]:
            what = f"{name} against {opponent if isinstance(opponent, str) else 'a strategy'}"
            self.tell(0.0, f"{what}: {hands:,} hands")
            one, two = (self.bot(x) if isinstance(x, str) else x for x in (player, opponent))
            return asdict(
                play_match(
                    self.game(10),
                    one,
                    two,
                    hands,
                    MATCH_SEED,
                    tell=self._about(what),
                    luck_adjusted=False,
                )
            )

        recipe = {"a": _who(player), "b": _who(opponent), "hands": hands, "seed": MATCH_SEED}
        found = self.store.value("match", recipe, make)
        return MatchResult(**{**found, "by_seat": tuple(found["by_seat"])})

    def play(
        self, player: str, engine: str, halves: Halves, opponent: str, model: Strategy | None = None
    ) -> Cell:
        """A trained player against a bot. What the second half of his training gave is measured
        head to head with what he was, or, if he responds to a model, against that; also against
        Sparbot, who is quick, if he is the bot. The most of these counts."""
        name = f"{player} ({engine})"
        result = self.match(name, halves.whole, opponent)
        gains = []
        if model is None:
            won = self.match(name, halves.whole, halves.half)
            gains.append((won.mean, half_interval(won)))
        foes: list[Any] = [] if model is None else [model]
        for foe in [*foes, *(["sparbot"] if opponent == "sparbot" else [])]:
            one, two = (self.match(name, x, foe) for x in (halves.whole, halves.half))
            error = float(np.hypot(half_interval(one), half_interval(two)))
            gains.append((one.mean - two.mean, error))
        gained = max(gains, key=sum)
        return Cell(player, engine, opponent, result, gained, halves.iterations, halves.seconds)

    def _about(self, what: str) -> Tell:
        return lambda share, how: self.tell(share, f"{what}: {how}")


def _who(player: Any) -> dict[str, str]:
    """A player as part of a recipe. Bots have no settings: their code says all."""
    if isinstance(player, str):
        return {"bot": player}
    return {"game": player.game.fingerprint, "strategy": digest(player.probabilities)}


def half_interval(result: MatchResult) -> float:
    """Half of the 95% interval."""
    low, high = result.interval
    return (high - low) / 2


def as_text(result: MatchResult) -> str:
    """A result with its 95% interval."""
    return f"{result.mean:+.3f} ± {half_interval(result):.3f}"


def staged(tell: Tell, k: int, n: int) -> Tell:
    """Progress of stage k of n as a share of the whole."""
    return lambda share, what: tell((k + min(max(share, 0.0), 1.0)) / n, what)
