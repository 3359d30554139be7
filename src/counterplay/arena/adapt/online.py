"""The adaptive player against an opponent who is at hand, block by block: what it wins, with the
luck taken out as well, and what it thinks."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.arena.adapt.player import Adaptive, AdaptiveStanding
from counterplay.arena.amount import check_blocks
from counterplay.arena.deals import blocks, session
from counterplay.arena.log import new_log
from counterplay.arena.luck import RunningLuck
from counterplay.arena.referee import Played, bot_name, play_hands, start_bots
from counterplay.arena.result import Adjusted, estimate, half_width
from counterplay.arena.seats import check_betting, only_seat
from counterplay.arena.tally import tally
from counterplay.base.errors import BadStrategy, Interrupted
from counterplay.base.progress import Tell, untold
from counterplay.base.stopping import stop_signals
from counterplay.kernels.rng import check_seed
from counterplay.opponents.players import bot


@dataclass(frozen=True)
class AdaptiveBlock:
    """What happened in one block of hands, and what the player thinks after it."""

    hands: int  # played so far, this block included
    won: float  # per hand in this block
    mean: float  # per hand so far
    standard_error: float  # of the mean
    adjusted: Adjusted  # the same so far with luck taken out
    standing: AdaptiveStanding
    degrees: float = math.inf

    @property
    def interval(self) -> tuple[float, float]:
        """95% of such intervals hold what the strategies so far are worth, on average."""
        half = half_width(self.standard_error, self.degrees)
        return self.mean - half, self.mean + half


class _Watched:
    """The player, with what it plays in a hand written down before the hand is over."""

    def __init__(self, player: Adaptive) -> None:
        self.player = player
        self.name = player.name
        self.start, self.seed = player.start, player.seed
        self.act, self.end_hand = player.act, player.end_hand
        self.strategy = player.strategy

    def new_hand(self, seat: int) -> None:
        self.player.new_hand(seat)
        self.strategy = self.player.hand_strategy


def play_adaptive(
    opponent: Any,
    hands: int = 20_000,
    seed: int = 0,
    *,
    player: Adaptive,
    every: int = 1_000,
    log: str | Path | None = None,
    observer: str | None = None,
    tell: Tell = untold,
) -> Iterator[AdaptiveBlock]:
    """Play `hands` hands of an adaptive `player` against `opponent`, who keeps his memory; a block
    after each `every` of them.

    The button alternates. `log` and `observer` as in `play_match`, the player being "a". Ctrl-C
    gives the block so far and then raises a `KeyboardInterrupt`.
    """
    check_blocks(hands, every)
    check_seed(seed)
    target = new_log(log, observer)
    if target is not None:
        target.check()
    foe = bot(opponent, tell)
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
    me = _Watched(player)
    luck = RunningLuck(player.company.game, foe)
    start_bots((me, foe), session(seed, 0, 1).start_seeds)
    played: list[Played] = []
    won, clean = np.full((hands, 2), np.nan), np.full((hands, 2), np.nan)

    def keep(hand: Played) -> None:
        gained = hand.won if hand.dealer == 0 else -hand.won
        k = len(played), hand.dealer
        won[k] = gained
        clean[k] = luck.adjusted(me.strategy, hand.dealer, hand.cards, hand.end, gained)
        played.append(hand)

    found: AdaptiveBlock | None = None
    try:
        for number, n in blocks(hands, every):
            before = len(played)
            with stop_signals() as stop:
                gained = play_hands(
                    (me, foe), session(seed, number, n, every), keep=keep, stop=stop
                )
            so_far, fair = (estimate([tally(table[: len(played)])]) for table in (won, clean))
            if so_far is not None and fair is not None and len(played) > before:
                found = AdaptiveBlock(
                    len(played),
                    float(gained.mean()),
                    so_far.mean,
                    so_far.standard_error,
                    Adjusted.of(fair),
                    player.standing(),
                    so_far.degrees,
                )
                yield found
                tell(len(played) / hands, f"{len(played):,} hands, {fair.mean:+.3f} sb/h")
            if stop():
                raise Interrupted(found)
    finally:
        if target is not None and played:
            target.write(names, played)
