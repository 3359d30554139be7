"""The adaptive player against an opponent who is at hand, block by block: what it wins, with the
luck taken out as well, and what it thinks.

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

from counterplay.core.base.errors import BadParameter, BadStrategy, Interrupted
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.rng import check_seed
from counterplay.core.match.play import blocks, check_hands
from counterplay.core.match.result import Adjusted, estimate, half_width
from counterplay.core.match.tally import tally
from counterplay.core.parallel.jobs import stop_signals
from counterplay.poker.adaptive.player import Adaptive, AdaptiveStanding
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.log import new_log
from counterplay.poker.match.luck_adjustment import HandLuckAdjustment
from counterplay.poker.match.players import check_betting, only_seat
from counterplay.poker.match.referee import PlayedHand, bot_name, play_hands, start_bots
from counterplay.poker.players import bot


@dataclass(frozen=True)
class AdaptiveBlock:
    """What happened in one block of hands, and what the player thinks after it."""

    hands: int  # played so far, this block included
    won: float  # per hand in this block
    mean: float  # per hand so far
    standard_error: float  # of the mean
    adjusted: Adjusted | None  # the same so far with luck taken out, where that is done
    standing: AdaptiveStanding
    strategy: Strategy = field(repr=False)  # that played the last hand
    iterations: int  # of the learnt response, in both seats, so far
    degrees: float = math.inf  # of freedom behind the standard error

    @property
    def interval(self) -> tuple[float, float]:
        """95% of such intervals hold what the strategies so far are worth, on average."""
        half = half_width(self.standard_error, self.degrees)
        return self.mean - half, self.mean + half


def play_adaptive(
    opponent: Any,
    hands: int = 20_000,
    seed: int = 0,
    *,
    player: Adaptive,
    every: int = 1_000,
    log: str | Path | None = None,
    observer: str | None = None,
    progress: ProgressCallback = no_progress,
    luck_adjusted: bool | None = None,
) -> Iterator[AdaptiveBlock]:
    """Play `hands` hands of an adaptive `player` against `opponent`, who keeps his memory; a block
    after each `every` of them.

    The button alternates. `log` and `observer` as in `play_match`, the player being "a".
    `luck_adjusted`: as there; by default where the player has a portfolio. Ctrl-C gives the block
    so far and then raises a `KeyboardInterrupt`.
    """
    check_blocks(hands, every)
    check_seed(seed)
    target = new_log(log, observer)
    if target is not None:
        target.check()
    foe = bot(opponent, progress)
    if only_seat(None, foe) is not None:
        raise BadStrategy(
            "an adaptive player plays in both seats, and this opponent is a response for one; "
            "respond in both seats"
        )
    check_betting(player.betting, (foe,))
    name = bot_name(foe)
    names = (player.name, name if name != player.name else f"{name} (2)")
    if target is not None:
        target.check(names)
    if luck_adjusted is None:
        luck_adjusted = player.portfolio is not None
    adjustment = HandLuckAdjustment(player.game, foe)
    start_bots((player, foe), session_deals(seed, 0, 1).start_seeds)
    played: list[PlayedHand] = []
    won, adjusted = np.full((hands, 2), np.nan), np.full((hands, 2), np.nan)

    def keep(hand: PlayedHand) -> None:
        gained = hand.won if hand.dealer == 0 else -hand.won
        k = len(played), hand.dealer
        won[k] = gained
        if luck_adjusted:
            adjusted[k] = adjustment.adjusted(
                player.hand_strategy, hand.dealer, hand.cards, hand.end, gained
            )
        played.append(hand)

    block: AdaptiveBlock | None = None
    try:
        for number, n in blocks(hands, every):
            before = len(played)
            with stop_signals() as stop:
                deals = session_deals(seed, number, n, every)
                gained = play_hands((player, foe), deals, keep=keep, stop=stop)
            so_far = estimate([tally(won[: len(played)])])
            clean = estimate([tally(adjusted[: len(played)])]) if luck_adjusted else None
            if so_far is not None and len(played) > before:
                block = AdaptiveBlock(
                    len(played),
                    float(gained.mean()),
                    so_far.mean,
                    so_far.standard_error,
                    None if clean is None else Adjusted.of(clean),
                    player.standing(),
                    player.hand_strategy,
                    player.tracker.iterations,
                    so_far.degrees,
                )
                yield block
                mean = (clean or so_far).mean
                progress(len(played) / hands, f"{len(played):,} hands, {mean:+.3f} sb/h")
            if not stop():
                with stop_signals() as stop:
                    player.catch_up(stop)
            if stop():
                raise Interrupted(block)
    finally:
        if target is not None and played:
            target.write(names, played)


def check_blocks(hands: int, every: int) -> None:
    check_hands(hands)
    if isinstance(every, bool) or not isinstance(every, int) or every < 2 or hands < every:
        raise BadParameter(
            f"a block needs at least 2 hands and a match at least one block; got {hands} hands in "
            f"blocks of {every!r}"
        )
