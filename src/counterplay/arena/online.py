"""Learning while playing, block by block, against an opponent who is at hand: `AdaptiveBot` with
a clock of its own, and what it wins.

The interval of a block's mean is about the luck of the cards: it holds what the strategies played
so far were worth, on average.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.arena.adaptive import (
    FADE,
    AdaptiveBot,
    OnlineLearner,
    check_iterations,
    engines,
)
from counterplay.arena.amount import check_blocks
from counterplay.arena.deals import blocks, session
from counterplay.arena.log import new_log
from counterplay.arena.referee import Played, bot_name, play_hands, start_bots
from counterplay.arena.result import estimate, half_width
from counterplay.arena.seats import only_seat
from counterplay.arena.tally import tally
from counterplay.base.errors import BadStrategy, Interrupted
from counterplay.base.progress import Tell, untold
from counterplay.base.stopping import stop_signals
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.games.registry import load
from counterplay.kernels.rng import check_seed
from counterplay.opponents.players import bot

__all__ = ["FADE", "Block", "OnlineLearner", "engines", "play_online"]
ME = AdaptiveBot.name


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
    check_blocks(hands, every)
    check_iterations(iterations)
    check_seed(seed)
    target = new_log(log, observer)
    game = game if isinstance(game, Game) else load(game)
    learner = learner or OnlineLearner(game, seed=seed, **options)
    if target is not None:
        target.check()
    foe = bot(opponent, tell)
    if only_seat(None, foe) is not None:
        raise BadStrategy(
            "a learner plays in both seats, and this opponent is a response for one; respond in "
            "both seats"
        )
    name = bot_name(foe)
    names = (ME, name if name != ME else f"{name} (2)")
    me = AdaptiveBot(game, every=0, iterations=iterations, relearn=relearn, learner=learner)
    if target is not None:
        target.check(names)
    start_bots((me, foe), session(seed, 0, 1).start_seeds)
    played: list[Played] = []
    won = np.full((hands, 2), np.nan)
    found: Block | None = None
    try:
        for number, n in blocks(hands, every):
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
                    me.strategy,
                    so_far.degrees,
                )
                yield found
                tell(len(played) / hands, f"{len(played):,} hands, {so_far.mean:+.3f} {game.unit}")
            if not stop():
                with stop_signals() as stop:
                    me.ponder(stop)
            if stop():
                raise Interrupted(found)
    finally:
        if target is not None and played:
            target.write(names, played)
