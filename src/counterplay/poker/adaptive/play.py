"""`play_adaptive`: a match of the adaptive player, block by block, with its payoff, the
luck-adjusted payoff and its state.

The interval of a mean covers the average expected payoff of the strategies played so far.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, BadStrategy, Interrupted
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.kernels.rng import check_seed
from counterplay.core.match.kernels import tally
from counterplay.core.match.learning import AdaptiveBlock as AdaptiveBlock
from counterplay.core.match.learning import adaptive_blocks
from counterplay.core.match.play import blocks, check_hands
from counterplay.core.match.result import Adjusted, estimate
from counterplay.core.parallel.jobs import stop_signals
from counterplay.core.responses.adaptive import TreeAdaptive
from counterplay.poker.adaptive.player import Adaptive
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.luck_adjustment import HandLuckAdjustment
from counterplay.poker.match.match import check_betting, new_log, only_seat
from counterplay.poker.match.referee import PlayedHand, bot_name, play_hands, start_bots
from counterplay.poker.players import bot


def play_adaptive(
    opponent: Any,
    hands: int = 20_000,
    seed: int = 0,
    *,
    player: Adaptive | TreeAdaptive,
    every: int = 1_000,
    log: str | Path | None = None,
    observer: str | None = None,
    progress: ProgressCallback = no_progress,
    luck_adjusted: bool | None = None,
) -> Iterator[AdaptiveBlock]:
    """Plays `hands` hands of an adaptive `player` against `opponent` in one session; yields a block
    after each `every` of them.

    The button alternates. `log` and `observer` as in `play_match`, the player is "a".
    `luck_adjusted`: as there; by default if the player has a portfolio. Ctrl-C yields the block so
    far and then raises a `KeyboardInterrupt`.
    """
    check_hands(hands)
    if isinstance(every, bool) or not isinstance(every, int) or every < 2 or hands < every:
        raise BadParameter(
            f"a block needs at least 2 hands and a match at least one block; got {hands} hands in "
            f"blocks of {every!r}"
        )
    check_seed(seed)
    if isinstance(player, TreeAdaptive):
        if (log, observer) != (None, None):
            raise BadParameter(f"hands are logged in hold'em only, not in {player.game.name}")
        if luck_adjusted is False:
            raise BadParameter(f"in {player.game.name} every block is luck-adjusted")
        yield from _play_tree(player, opponent, hands, seed, every, progress)
        return
    target = new_log(log, observer)
    if target is not None:
        target.check()
    other = bot(opponent, progress)
    if only_seat(None, other) is not None:
        raise BadStrategy(
            "an adaptive player plays in both seats, and this opponent is a response for one; "
            "respond in both seats"
        )
    check_betting(player.betting, (other,))
    name = bot_name(other)
    names = (player.name, name if name != player.name else f"{name} (2)")
    if target is not None:
        target.check(names)
    if luck_adjusted is None:
        luck_adjusted = player.portfolio is not None
    adjustment = HandLuckAdjustment(player.game, other)
    unit = str(player.game.unit)
    start_bots((player, other), session_deals(seed, 0, 1).start_seeds)
    played: list[PlayedHand] = []
    won, adjusted = np.full((hands, 2), np.nan), np.full((hands, 2), np.nan)

    def record(hand: PlayedHand) -> None:
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
                gained = play_hands((player, other), deals, on_hand=record, stop=stop)
            so_far = estimate([tally(won[: len(played)])])
            luck_free = estimate([tally(adjusted[: len(played)])]) if luck_adjusted else None
            if so_far is not None and len(played) > before:
                block = AdaptiveBlock(
                    len(played),
                    float(gained.mean()),
                    so_far.mean,
                    so_far.standard_error,
                    None if luck_free is None else Adjusted.of(luck_free, unit),
                    player.standing(),
                    player.hand_strategy,
                    player.tracker.iterations,
                    so_far.degrees,
                    unit,
                )
                yield block
                mean = (luck_free or so_far).mean
                progress(len(played) / hands, f"{len(played):,} hands, {mean:+.3f} sb/h")
            if not stop():
                with stop_signals() as stop:
                    player.catch_up(stop)
            if stop():
                raise Interrupted(block)
    finally:
        if target is not None and played:
            target.write(names, played)


def _play_tree(
    player: TreeAdaptive,
    opponent: Any,
    hands: int,
    seed: int,
    every: int,
    progress: ProgressCallback,
) -> Iterator[AdaptiveBlock]:
    """`play_adaptive` in a game with a tree."""
    block: AdaptiveBlock | None = None
    with stop_signals() as stop:
        for block in adaptive_blocks(player, opponent, hands, seed, every, stop):
            yield block
            assert block.adjusted is not None
            mean = f"{block.hands:,} hands, {block.adjusted.mean:+.3f} {player.game.unit}"
            progress(block.hands / hands, mean)
        if stop():
            raise Interrupted(block)
