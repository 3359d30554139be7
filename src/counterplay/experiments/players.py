"""The players of Tables 1 and 2 and Figure 8: trained, observed, modelled and matched once, and kept in the work folder.

MCCFR here is external sampling, which gets further in the same time than outcome sampling (Figure 4); the paper used outcome
sampling. What the paper calls MCRNR in hold'em is `mcdbr` with a constant Pconf of 0.75.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.arena.match import play_match
from counterplay.arena.result import MatchResult
from counterplay.base import files
from counterplay.base.errors import BadFile
from counterplay.experiments.base import Tell
from counterplay.experiments.training import trained, work_folder
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.opponents.hand_files import read_hands
from counterplay.opponents.model import OpponentModel, learn_model
from counterplay.opponents.observe import Observations, observe
from counterplay.opponents.registry import bot
from counterplay.responses.confidence import confidence
from counterplay.responses.respond import respond
from counterplay.responses.resume import resume_response
from counterplay.solvers.algorithms import new_solver

BOTS = ("poki", "sparbot")
RECREATED = "Poki and Sparbot here are re-creations from their published descriptions, not the commercial programs."
THREADS = 2  # part of what a trained strategy is
TRAINING_SEED, OBSERVING_SEED, MATCH_SEED = 1, 5, 11
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
    "quick": Sizes(20_000_000, 2_000_000, 1_500_000, 600_000, 500_000, 20_000, 80_000, 1_000_000, 100_000, 20_000),
    "paper": Sizes(
        1_000_000_000, 200_000_000, 200_000_000, 20_000_000, 40_000_000, 20_000, 1_000_000, 10_000_000, 5_000_000, 400_000
    ),
}


class Company:
    """Everything the tables need, each made on first use."""

    def __init__(self, scale: str, folder: Path, tell: Tell) -> None:
        self.size, self.folder, self.tell = SIZES[scale], folder, tell
        self._games: dict[int, Game] = {}
        self._bots: dict[str, Any] = {}
        self._models: dict[tuple[Any, ...], OpponentModel] = {}

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
        buckets, iterations, algorithm, options = {
            "MCTS10": (10, self.size.mcts, "mcts", {"c": 17.0}),
            "MCCFR10": (10, self.size.mccfr10, "mccfr-external", {}),
            "MCCFR100": (100, self.size.mccfr100, "mccfr-external", {}),
        }[name]
        solver = new_solver(self.game(buckets), algorithm, TRAINING_SEED, {**options, "threads": THREADS})
        return trained(solver, iterations, work_folder(self.folder, f"{name}-{iterations}"), self.tell, name)

    def observations(self, opponent: str, hands: int, partner: str = PARTNER) -> Observations:
        """`hands` hands against the partner, as he saw them."""
        path = work_folder(self.folder, f"hands-{partner}-{opponent}-{hands}.parquet")
        if not path.exists():
            self.tell(0.0, f"observing {opponent}: {hands:,} hands")
            player = partner if partner == PARTNER else self.equilibrium(partner)
            play_match(
                self.game(10), player, self.bot(opponent), hands, OBSERVING_SEED, duplicate=False, log=path, observer="a"
            )  # fmt: skip
        return observe(read_hands(path), opponent)

    def model(self, opponent: str, buckets: int, hands: int, kind: str = "tree", **options: Any) -> OpponentModel:
        partner = options.pop("partner", PARTNER)
        key = (opponent, buckets, hands, kind, partner, *options.items())
        if key not in self._models:
            seen = self.observations(opponent, hands, partner)
            self.tell(0.0, f"learning how {opponent} plays from {hands:,} hands")
            self._models[key] = learn_model(seen, self.game(buckets), opponent, kind, **options)
        return self._models[key]

    def response(
        self, name: str, model: OpponentModel, iterations: int, trust: str = "constant", algorithm: str = "mcdbr"
    ) -> Strategy:
        """A robust response in both seats. `trust`: "constant", or a kind of confidence by observations."""
        where = work_folder(self.folder, f"{name}-{iterations}")
        p: Any = P if trust == "constant" else confidence(model.observed, trust, P)

        def show(progress: Any) -> None:
            self.tell(
                progress.iterations / iterations,
                f"{name}: {progress.iterations / 1e6:.1f} of {iterations / 1e6:.1f} M iterations",
            )

        if (where / "seat1" / "checkpoint.npz").exists():
            return resume_response(where, iterations=iterations, on_chunk=show).strategy
        return respond(
            model.game, model.strategy, None, p, algorithm, engine="mccfr-external", iterations=iterations, seed=TRAINING_SEED,
            threads=THREADS, folder=where, on_chunk=show,
        ).strategy  # fmt: skip

    def mcrnr(self, buckets: int, opponent: str) -> Strategy:
        """MCRNR10 or MCRNR100 against an opponent: tree model from the observed hands, constant Pconf."""
        iterations = self.size.mcrnr10 if buckets == 10 else self.size.mcrnr100
        model = self.model(opponent, buckets, self.size.observed)
        return self.response(f"MCRNR{buckets}-{opponent}", model, iterations)

    def match(self, name: str, make: Callable[[], Any], opponent: str, hands: int | None = None) -> MatchResult:
        """What a player wins from a bot; played once."""
        if hands is None:
            hands = self.size.poki if opponent == "poki" else self.size.sparbot
        path = work_folder(self.folder, f"match-{name}-{opponent}-{hands}.json")
        try:
            found = files.read_json(path)
            return MatchResult(**{**found["result"], "by_seat": tuple(found["result"]["by_seat"])})
        except (BadFile, KeyError, TypeError):
            player = make()
            self.tell(0.0, f"{name} against {opponent}: {hands:,} hands")
            result = play_match(self.game(10), player, self.bot(opponent), hands, MATCH_SEED, tell=self._hands(name, opponent))
            files.write_json(path, {"result": json.loads(json.dumps(asdict(result)))})
            return result

    def _hands(self, name: str, opponent: str) -> Tell:
        return lambda share, what: self.tell(share, f"{name} against {opponent}: {what}")


def cell(result: MatchResult) -> str:
    """A result with its 95% interval."""
    low, high = result.interval
    return f"{result.mean:+.3f} ± {(high - low) / 2:.3f}"


def difference(a: MatchResult, b: MatchResult) -> tuple[float, float]:
    """Mean difference of two results on the same deals, and twice its standard error as if they were independent."""
    return a.mean - b.mean, 2.0 * float(np.hypot(a.standard_error, b.standard_error))


def staged(tell: Tell, k: int, n: int) -> Tell:
    """Progress of stage k of n as a share of the whole."""
    return lambda share, what: tell((k + min(max(share, 0.0), 1.0)) / n, what)
