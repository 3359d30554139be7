"""Learning while playing: model and response are improved between blocks of hands, from nothing.

After every block the model is learnt again from all hands so far, as the player saw them, and the response goes on for some
iterations against it (`mcdbr`, Pconf from the number of observations, so that what was never seen is not believed). What was
learnt against older models fades: regrets and averages are halved at each new model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterplay.arena.deals import deal_block, play_state
from counterplay.arena.match import records
from counterplay.arena.referee import Played, play_hands, start_bots
from counterplay.base.errors import BadParameter
from counterplay.forms.game import Game
from counterplay.forms.restricted import data_biased_form
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.holdem.game import HoldemRules
from counterplay.opponents.hands import HandRecord, seen_by
from counterplay.opponents.model import learn_model
from counterplay.opponents.observe import observe
from counterplay.opponents.registry import as_bot
from counterplay.opponents.table import strategy_bot
from counterplay.responses.confidence import confidence
from counterplay.solvers.algorithms import new_solver

ME = "learner"
FADE = 0.5
Tell = Callable[[float, str], None]


@dataclass(frozen=True)
class Block:
    """What happened in one block of hands."""

    hands: int  # played so far, this block included
    won: float  # per hand in this block
    mean: float  # per hand so far
    standard_error: float  # of the mean
    iterations: int  # of the response, so far
    strategy: Strategy = field(repr=False)  # that was played in this block


class OnlineLearner:
    """A response in both seats to a model that changes. `p_max`: the most the model is believed."""

    def __init__(
        self, game: Game, *, p_max: float = 0.75, trust: str = "0-10-linear", kind: str = "tree", engine: str = "mccfr",
        threads: int = 1, seed: int = 0,
    ) -> None:  # fmt: skip
        if not isinstance(game.rules, HoldemRules):
            raise BadParameter(f"learning while playing is for hold'em, not for {game.name}")
        self.game, self.p_max, self.trust, self.kind = game, p_max, trust, kind
        self._fixed = Strategy.uniform(game).probabilities.copy()
        self._believed = np.zeros(game.n_infosets)
        self._solvers = [
            new_solver(
                game, engine, seed + seat, {"threads": threads} if threads > 1 else {},
                data_biased_form(game.form, self._fixed, 1 - seat, self._believed),
            )
            for seat in (0, 1)
        ]  # fmt: skip

    @property
    def iterations(self) -> int:
        return sum(solver.iterations for solver in self._solvers)

    def learn(self, hands: list[HandRecord], opponent: str) -> None:
        """A new model from all `hands`; what was learnt against the old one fades."""
        model = learn_model(observe(hands, opponent), self.game, opponent, self.kind)
        self.believe(model.strategy, confidence(model.observed, self.trust, self.p_max))

    def believe(self, model: Strategy, trust: np.ndarray) -> None:
        """Respond to this model from now on, believed so much at each information set."""
        self._fixed[:] = model.probabilities
        self._believed[:] = trust
        for solver in self._solvers:
            for name, table in solver.tables().items():
                if name.startswith(("regret", "strategy_sum")):
                    table *= FADE

    def think(self, iterations: int) -> None:
        """So many iterations, half in each seat."""
        for solver in self._solvers:
            solver.step(iterations // 2)

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
    tell: Tell = lambda share, what: None,
    **options: Any,
) -> Iterator[Block]:
    """Play `hands` hands against `opponent`, who keeps his memory; after each block of `every` learn and think.

    The button alternates. `relearn=False` keeps the model of the `learner` and only thinks on, as in Figure 8.
    """
    game = game if isinstance(game, Game) else load(game)
    if hands < every or every < 2:
        raise BadParameter(
            f"a block needs at least 2 hands and a match at least one block; got {hands} hands in blocks of {every}"
        )
    learner = learner or OnlineLearner(game, seed=seed, **options)
    foe = as_bot(opponent, tell)
    name = str(getattr(foe, "name", type(foe).__name__))
    state = play_state(seed, 0)
    seeds = int(state[0] >> np.uint64(1)), int(state[1] >> np.uint64(1))
    me = strategy_bot(learner.strategy(), ME)
    start_bots((me, foe), seeds)
    memory: list[HandRecord] = []
    won: list[float] = []
    for block in range(hands // every):
        strategy = learner.strategy()
        me.table = strategy_bot(strategy, ME).table
        played: list[Played] = []
        gained = play_hands((me, foe), deal_block(seed, block, every), block * every, False, played.append)
        won += gained.tolist()
        error = float(np.std(won, ddof=1) / np.sqrt(len(won)))
        yield Block(len(won), float(gained.mean()), float(np.mean(won)), error, learner.iterations, strategy)
        tell(len(won) / hands, f"{len(won):,} hands, {np.mean(won):+.3f} sb/h")
        if relearn:
            memory += [seen_by(record, ME) for record in records((ME, name), played, block * every)]
            learner.learn(memory, name)
        learner.think(iterations * every // 1_000)
