"""Learning while playing: model and response are improved between blocks of hands, from nothing.

After every block the model is learnt again from all hands so far, as the player saw them, and the
response goes on for some iterations against it (`mcdbr`, Pconf from the number of observations, so
that what was never seen is not believed). What was learnt against older models fades: at each new
model it counts for half.

The interval of a block's mean is about the luck of the cards: it holds what the strategies played
so far were worth, on average.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.arena.deals import blocks, session
from counterplay.arena.log import new_log, records
from counterplay.arena.match import check_hands
from counterplay.arena.referee import Played, play_hands, start_bots
from counterplay.arena.result import estimate, half_width
from counterplay.arena.seats import only_seat
from counterplay.arena.tally import tally
from counterplay.base.errors import BadParameter, BadStrategy, Interrupted
from counterplay.base.progress import Tell, untold
from counterplay.base.stopping import stop_signals
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.kernels.rng import check_seed
from counterplay.opponents.bots.registry import as_bot
from counterplay.opponents.bots.table import strategy_bot
from counterplay.opponents.hands.records import HandRecord, seen_by
from counterplay.opponents.models.model import learn_model
from counterplay.opponents.models.observe import check_limit, observe
from counterplay.responses.algorithms import RESPONSES
from counterplay.responses.confidence import confidence
from counterplay.responses.solver import ResponseSolver, engines_of

ME = "learner"
FADE = 0.5
ALGORITHM = RESPONSES["mcdbr"]
CHUNK_SECONDS = 0.2  # of thinking, between two looks whether to stop


def engines() -> tuple[str, ...]:
    """Solvers that can go on when the model has changed."""
    return engines_of(ALGORITHM)


@dataclass(frozen=True)
class Block:
    """What happened in one block of hands."""

    hands: int  # played so far, this block included
    won: float  # per hand in this block
    mean: float  # per hand so far
    standard_error: float  # of the mean
    iterations: int  # of the response, so far
    strategy: Strategy = field(repr=False)  # that was played in this block
    degrees: float = math.inf  # of freedom behind the standard error

    @property
    def interval(self) -> tuple[float, float]:
        """95% of such intervals hold what the strategies so far are worth, on average."""
        half = half_width(self.standard_error, self.degrees)
        return self.mean - half, self.mean + half


class OnlineLearner:
    """A response in both seats to a model that changes. `p_max`: the most the model is believed."""

    def __init__(
        self,
        game: Game,
        *,
        p_max: float = 0.75,
        trust: str = "0-10-linear",
        kind: str = "tree",
        engine: str = "mccfr",
        threads: int = 1,
        seed: int = 0,
    ) -> None:
        if not (game.abilities.bots and game.abilities.hands):
            raise BadParameter(f"learning while playing is for hold'em, not for {game.name}")
        check_limit(game)
        if engine not in engines():
            raise BadParameter(
                "learning while playing needs an engine that samples "
                f"({', '.join(engines())}), not {engine!r}"
            )
        self.game, self.p_max, self.trust, self.kind = game, p_max, trust, kind
        options = {"threads": threads} if threads > 1 else {}
        nothing, start = Strategy.uniform(game), int(check_seed(seed))
        self._solvers = [
            ResponseSolver(
                game, nothing, seat, 0.0, ALGORITHM.name, engine, (start + seat) % 2**64, options
            )
            for seat in (0, 1)
        ]

    @property
    def iterations(self) -> int:
        return sum(solver.engine.iterations for solver in self._solvers)

    def learn(self, hands: list[HandRecord], opponent: str) -> None:
        """A new model from all `hands`; what was learnt against the old one fades."""
        model = learn_model(observe(hands, opponent), self.game, opponent, self.kind)
        self.believe(model.strategy, confidence(model.observed, self.trust, self.p_max))

    def believe(self, model: Strategy, trust: np.ndarray) -> None:
        """Respond to this model from now on, believed so much at each information set."""
        for solver in self._solvers:
            solver.believe(model, trust)
            solver.fade(FADE)

    def think(self, iterations: int, stop: Callable[[], bool] = lambda: False) -> None:
        """So many iterations, half in each seat, or until somebody says stop."""
        for solver in self._solvers:
            left, chunk = iterations // 2, 1_000
            while left > 0 and not stop():
                before = time.perf_counter()
                solver.engine.step(min(chunk, left))
                left -= chunk
                chunk *= 2 if time.perf_counter() - before < CHUNK_SECONDS / 2 else 1

    def strategy(self) -> Strategy:
        one, two = (solver.strategy() for solver in self._solvers)
        return one.replace(two, 1)


def play_online(
    opponent: Any,
    hands: int = 20_000,
    seed: int = 0,
    *,
    game: Game | str = "holdem(buckets=10)",
    every: int = 1_000,
    iterations: int = 6_000_000,
    learner: OnlineLearner | None = None,
    relearn: bool = True,
    log: str | Path | None = None,
    observer: str | None = None,
    tell: Tell = untold,
    **options: Any,
) -> Iterator[Block]:
    """Play `hands` hands against `opponent`, who keeps his memory; after each block of `every`
    learn and think.

    The button alternates. `iterations`: per 1,000 hands. `relearn=False` keeps the model of the
    `learner` and only thinks on, as in Figure 8. `log` and `observer` as in `play_match`, the
    learner being "a". Ctrl-C gives the block so far and then raises a `KeyboardInterrupt`.
    """
    _check(hands, every, iterations)
    check_seed(seed)
    target = new_log(log, observer)
    game = game if isinstance(game, Game) else load(game)
    learner = learner or OnlineLearner(game, seed=seed, **options)
    if target is not None:
        target.check()
    foe = as_bot(opponent, tell)
    if only_seat(None, foe) is not None:
        raise BadStrategy(
            "a learner plays in both seats, and this opponent is a response for one; respond in "
            "both seats"
        )
    name = str(getattr(foe, "name", type(foe).__name__))
    names = (ME, name if name != ME else f"{name} (2)")
    me = strategy_bot(learner.strategy(), ME)
    if target is not None:
        target.check(names)
    start_bots((me, foe), session(seed, 0, 1).start_seeds)
    memory: list[HandRecord] = []
    played: list[Played] = []
    won = np.full((hands, 2), np.nan)
    found: Block | None = None
    try:
        for number, n in blocks(hands, every):
            strategy = learner.strategy()
            me.table = strategy_bot(strategy, ME).table
            before = len(played)
            with stop_signals() as stop:
                gained = play_hands(
                    (me, foe), session(seed, number, n, every), keep=played.append, stop=stop
                )
            k = np.arange(before, len(played))
            won[k, k & 1] = gained
            so_far = estimate([tally(won[: len(played)])])
            if so_far is not None and len(gained):
                found = Block(
                    len(played),
                    float(gained.mean()),
                    so_far.mean,
                    so_far.standard_error,
                    learner.iterations,
                    strategy,
                    so_far.degrees,
                )
                yield found
                tell(len(played) / hands, f"{len(played):,} hands, {so_far.mean:+.3f} {game.unit}")
            if not stop():
                with stop_signals() as stop:
                    if relearn:
                        memory += [
                            seen_by(record, ME)
                            for record in records(names, played[before:], before)
                        ]
                        learner.learn(memory, names[1])
                    learner.think(iterations * n // 1_000, stop)
            if stop():
                raise Interrupted(found)
    finally:
        if target is not None and played:
            target.write(names, played)


def _check(hands: int, every: int, iterations: int) -> None:
    check_hands(hands)
    if isinstance(every, bool) or not isinstance(every, int) or every < 2 or hands < every:
        raise BadParameter(
            f"a block needs at least 2 hands and a match at least one block; got {hands} hands in "
            f"blocks of {every!r}"
        )
    if isinstance(iterations, bool) or not isinstance(iterations, int) or iterations < 0:
        raise BadParameter(f"iterations must be a whole number from 0, not {iterations!r}")
