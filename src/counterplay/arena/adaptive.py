"""The adaptive player: model and response are improved between blocks of hands, from nothing.

After every block the model is learnt again from all hands so far, as the player saw them, and the
response goes on for some iterations against it (`mcdbr`, Pconf from the number of observations, so
that what was never seen is not believed). What was learnt against older models fades: at each new
model it counts for half.

`AdaptiveBot` is a bot like any other: whoever deals drives it, the referee of a match, a client of
the competition's dealer or a loop of your own.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np

from counterplay.base.errors import BadParameter, whole_number
from counterplay.forms.game import Game
from counterplay.forms.registry import load
from counterplay.forms.strategy import Strategy
from counterplay.kernels.rng import check_seed
from counterplay.opponents.bots.bot import Bot, Ending, View
from counterplay.opponents.bots.table import strategy_bot
from counterplay.opponents.hands.records import DEALER, HandRecord
from counterplay.opponents.models.model import learn_model
from counterplay.opponents.models.observe import check_limit, observe
from counterplay.responses.algorithms import RESPONSES
from counterplay.responses.confidence import confidence
from counterplay.responses.solver import ResponseSolver, engines_of

FADE = 0.5
ALGORITHM = RESPONSES["mcdbr"]
CHUNK_SECONDS = 0.2  # of thinking, between two looks whether to stop
EVERY = 1_000  # hands
THINKING = 6_000_000  # iterations per 1,000 hands
FOE = "opponent"  # what the player calls the other in his notes


def engines() -> tuple[str, ...]:
    """Solvers that can go on when the model has changed."""
    return engines_of(ALGORITHM)


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
        if not (game.can("bots") and game.can("hands")):
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
            solver.replace_model(model, trust)
            solver.discount(FADE)

    def think(self, iterations: int, stop: Callable[[], bool] = lambda: False) -> None:
        """So many iterations, half in each seat, or until somebody says stop."""
        left, chunk = iterations // 2, 1_000
        while left > 0 and not stop():
            before = time.perf_counter()
            for solver in self._solvers:
                solver.engine.step(min(chunk, left))
            left -= chunk
            chunk *= 2 if time.perf_counter() - before < CHUNK_SECONDS / 2 else 1

    def strategy(self) -> Strategy:
        one, two = (solver.strategy() for solver in self._solvers)
        return one.replace(two, 1)


class AdaptiveBot(Bot):
    """A player who learns the opponent while playing, by whomever the hands are dealt.

    After each `every` hands he learns from all he saw, and then thinks on, `iterations` per 1,000
    hands, for at most `seconds`. With 0 for `every` he does so only when `ponder` is called.
    `options` are those of `OnlineLearner`. `start` makes him forget, unless a `learner` was given.
    """

    name = "learner"

    def __init__(
        self,
        game: Game | str = "holdem(buckets=10)",
        *,
        every: int = EVERY,
        iterations: int = THINKING,
        seconds: float | None = None,
        relearn: bool = True,
        learner: OnlineLearner | None = None,
        **options: Any,
    ) -> None:
        check_block(every)
        check_iterations(iterations)
        if seconds is not None and not seconds > 0:
            raise BadParameter(f"seconds of thinking are above 0, not {seconds!r}")
        self._game = game if isinstance(game, Game) else load(game)
        self._given, self._options = learner is not None, options
        self._every, self._iterations, self._seconds = every, iterations, seconds
        self._relearn = relearn
        self.learner = learner or OnlineLearner(self._game, **options)
        self.memory: list[HandRecord] = []  # as he saw them
        self._thought = 0  # hands of `memory` that were thought about
        self.strategy = self.learner.strategy()  # that he plays
        self._table = strategy_bot(self.strategy, self.name)

    @property
    def forgets(self) -> bool:
        """Whether `start` makes him forget."""
        return not self._given

    def start(self, seed: int) -> None:
        if self.memory and not self._given:
            self.learner = OnlineLearner(self._game, **self._options)
        self.memory, self._thought = [], 0
        self._take()
        self._table.start(seed)

    def seed(self, seed: int) -> None:
        self._table.seed(seed)

    def new_hand(self, seat: int) -> None:
        if self._every and len(self.memory) - self._thought >= self._every:
            self.ponder()

    def act(self, view: View) -> str:
        return self._table.act(view)

    def end_hand(self, ending: Ending) -> None:
        self.memory.append(note_of(len(self.memory), ending, self.name, FOE))

    def ponder(self, stop: Callable[[], bool] = lambda: False) -> None:
        """Learn from all hands so far and think about them, or until somebody says stop."""
        new, self._thought = len(self.memory) - self._thought, len(self.memory)
        if self._relearn:
            self.learner.learn(self.memory, FOE)
        end = None if self._seconds is None else time.monotonic() + self._seconds
        self.learner.think(
            self._iterations * new // 1_000,
            lambda: stop() or (end is not None and time.monotonic() > end),
        )
        self._take()

    def _take(self) -> None:
        """Play what the learner has come to."""
        self.strategy = self.learner.strategy()
        self._table.table = strategy_bot(self.strategy, self.name).table


def note_of(number: int, ending: Ending, name: str, foe: str) -> HandRecord:
    """A hand as the player `name` saw it."""
    me, other = (name, ending.cards), (foe, ending.shown)
    dealer, blind = (me, other) if ending.seat == DEALER else (other, me)
    won = ending.won if ending.seat == DEALER else -ending.won
    return HandRecord(
        number,
        dealer[0],
        blind[0],
        ending.betting.history,
        ending.board,
        dealer[1],
        blind[1],
        won,
        name,
    )


def check_block(every: int) -> None:
    if isinstance(every, bool) or not isinstance(every, int) or every < 0 or every == 1:
        raise BadParameter(f"a block needs at least 2 hands, not {every!r}")


def check_iterations(iterations: int) -> None:
    whole_number(iterations, 0, None, "iterations")
