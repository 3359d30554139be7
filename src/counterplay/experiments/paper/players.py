"""The players of Tables 1 and 2 and Figure 8: trained, observed, modelled and matched once, and
kept in the store.

MCCFR here is external sampling, which gets further in the same time than outcome sampling (Figure
4); the paper used outcome sampling. What the paper calls MCRNR in hold'em is `mcdbr` with a
constant Pconf of 0.75.
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
from counterplay.experiments.harness.training import trained
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.opponents.bots.registry import bot
from counterplay.opponents.hands.parquet import read_hands
from counterplay.opponents.models.model import learn_model
from counterplay.opponents.models.observe import Observations, observe
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


class Sizes(NamedTuple):
    """How long things are trained and played."""

    mcts: int
    mccfr10: int
    mccfr100: int
    mcrnr10: int  # for each seat
    mcrnr100: int
    observed: int  # hands
    poki: int  # hands of a match against Poki
    sparbot: int
    swept: int  # iterations for each seat where many responses are compared
    swept_hands: int


SIZES = {
    "quick": Sizes(
        20_000_000,
        2_000_000,
        1_500_000,
        600_000,
        500_000,
        20_000,
        80_000,
        1_000_000,
        100_000,
        12_000,
    ),
    "paper": Sizes(
        1_000_000_000,
        200_000_000,
        200_000_000,
        20_000_000,
        40_000_000,
        20_000,
        1_000_000,
        10_000_000,
        5_000_000,
        400_000,
    ),
}


def mccfr(game: Game, iterations: int, store: Store, tell: Tell, what: str) -> Strategy:
    """MCCFR10 or MCCFR100, wherever one is needed."""
    solver = new_solver(game, "mccfr-external", TRAINING_SEED, {"threads": THREADS})
    return trained(store, solver, iterations, tell, what)


class Learnt(NamedTuple):
    """How an opponent plays, as learnt from his hands."""

    strategy: Strategy
    observed: np.ndarray  # float64[information sets]: how often each was seen


class Company:
    """Everything the tables need, each made on first use."""

    def __init__(self, scale: str, store: Store, tell: Tell) -> None:
        self.size, self.store, self.tell = SIZES[scale], store, tell
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

    def equilibrium(self, name: str) -> Strategy:
        """MCTS10, MCCFR10 or MCCFR100."""
        if name == "MCTS10":
            solver = new_solver(
                self.game(10), "mcts", TRAINING_SEED, {"c": 17.0, "threads": THREADS}
            )
            return trained(self.store, solver, self.size.mcts, self.tell, name)
        buckets = int(name.removeprefix("MCCFR"))
        iterations = self.size.mccfr10 if buckets == 10 else self.size.mccfr100
        return mccfr(self.game(buckets), iterations, self.store, self.tell, name)

    def observations(self, opponent: str, hands: int, partner: str = PARTNER) -> Observations:
        """What `opponent` did in `hands` hands against the partner, as he saw it.

        They are the first of a match of `observed` hands, if that is no shorter, so that few games
        are part of many.
        """
        if hands < self.size.observed:
            seen = self.observations(opponent, self.size.observed, partner)
            return seen.part(seen.hand < hands)
        player = partner if partner == PARTNER else self.equilibrium(partner)

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
                    observer="a",
                    tell=self._about(f"observing {opponent}"),
                )
                return observe(read_hands(path), opponent)._asdict()

        recipe = {"of": opponent, "by": _who(player), "hands": hands, "seed": OBSERVING_SEED}
        return Observations(**self.store.arrays("hands", recipe, make))

    def model(
        self,
        opponent: str,
        buckets: int,
        hands: int,
        kind: str = "tree",
        partner: str = PARTNER,
        **options: Any,
    ) -> Learnt:
        """How `opponent` plays, learnt from so many hands."""
        game, seen = self.game(buckets), self.observations(opponent, hands, partner)

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

    def response(
        self,
        name: str,
        model: Learnt,
        iterations: int,
        trust: str = "constant",
        algorithm: str = "mcdbr",
    ) -> Strategy:
        """A robust response in both seats. `trust`: "constant", or a kind of confidence by
        observations."""
        p: Any = P if trust == "constant" else confidence(model.observed, trust, P)
        game, profile = model.strategy.game, model.strategy
        for seat in (0, 1):
            solver = ResponseSolver(
                game,
                model.strategy,
                seat,
                p,
                algorithm,
                "mccfr-external",
                TRAINING_SEED,
                {"threads": THREADS},
            ).engine
            what = f"{name}, seat {seat + 1}"
            profile = profile.replace(
                trained(self.store, solver, iterations, self.tell, what), seat
            )
        return profile

    def mcrnr(self, buckets: int, opponent: str) -> Strategy:
        """MCRNR10 or MCRNR100 against an opponent: tree model from the observed hands, constant
        Pconf."""
        iterations = self.size.mcrnr10 if buckets == 10 else self.size.mcrnr100
        model = self.model(opponent, buckets, self.size.observed)
        return self.response(f"MCRNR{buckets}-{opponent}", model, iterations)

    def match(self, name: str, player: Any, opponent: str, hands: int | None = None) -> MatchResult:
        """What a player (a strategy, or the name of a bot) wins from a bot; played once."""
        if hands is None:
            hands = self.size.poki if opponent == "poki" else self.size.sparbot

        def make() -> dict[str, Any]:
            what = f"{name} against {opponent}"
            self.tell(0.0, f"{what}: {hands:,} hands")
            one = self.bot(player) if isinstance(player, str) else player
            two = self.bot(opponent)
            return asdict(
                play_match(self.game(10), one, two, hands, MATCH_SEED, tell=self._about(what))
            )

        recipe = {"a": _who(player), "b": _who(opponent), "hands": hands, "seed": MATCH_SEED}
        found = self.store.value("match", recipe, make)
        return MatchResult(**{**found, "by_seat": tuple(found["by_seat"])})

    def _about(self, what: str) -> Tell:
        return lambda share, how: self.tell(share, f"{what}: {how}")


def _who(player: Any) -> dict[str, str]:
    """A player as part of a recipe. Bots have no settings: their code says all."""
    if isinstance(player, str):
        return {"bot": player}
    return {"game": player.game.fingerprint, "strategy": digest(player.probabilities)}


def cell(result: MatchResult) -> str:
    """A result with its 95% interval."""
    low, high = result.interval
    return f"{result.mean:+.3f} ± {(high - low) / 2:.3f}"


def difference(a: MatchResult, b: MatchResult) -> tuple[float, float]:
    """Mean difference of two results on the same deals, and twice its standard error as if they
    were independent."""
    return a.mean - b.mean, 2.0 * float(np.hypot(a.standard_error, b.standard_error))


def staged(tell: Tell, k: int, n: int) -> Tell:
    """Progress of stage k of n as a share of the whole."""
    return lambda share, what: tell((k + min(max(share, 0.0), 1.0)) / n, what)
