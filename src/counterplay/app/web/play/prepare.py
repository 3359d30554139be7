"""What is done before the first hand of hold'em: the tables of the opponent, and a hand that nobody
sees, so that every kernel of playing, luck adjustment and review is compiled or loaded."""

from __future__ import annotations

from functools import partial
from typing import Any

from counterplay.app.web.play.holdem import HoldemHand, HoldemSource, luck_adjustment_of
from counterplay.app.web.strategies import BOT, HoldemOpponents
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.base.store import Piece, Slot, Store, cache_root, write_or_warn
from counterplay.core.base.version import PACKAGE, hash_files
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.cards.deal import N_DEALT

TABLES, PLAYED = 0.9, 0.95  # shares of the whole at which these are done
COMPILING = "compiling, the first time only"


def prepare_opponent(
    bots: HoldemOpponents, key: str, progress: ProgressCallback = no_progress
) -> None:
    """Builds the tables of an opponent, and plays a hand against it."""
    whole = partial(_first_part, progress)
    name = key.removeprefix(BOT)
    if key.startswith(BOT) and name in BOTS:
        BOTS[name].prepare(whole)
    else:
        bots.prepare_cards(key, whole)
    progress(TABLES, COMPILING)
    warm_up(bots.get(key), progress)


def warm_up(bot: Any, progress: ProgressCallback = no_progress) -> None:
    """Plays a hand to its end against a bot, which forgets it. The first time with this code also
    what a table computes later, its luck adjustment and review, so that nothing compiles then."""
    luck = luck_adjustment_of(bot)
    source = HoldemSource(bot, luck)
    source.forget()
    hand = source.new_hand(0, range(N_DEALT))
    while not hand.over:
        hand.advance()
        if not hand.over:
            hand.act(_quiet_move(hand))
    mark = _compiled_mark(bot)
    if mark.read() is None:
        progress(PLAYED, COMPILING)
        luck.prepare()
        hand.adjusted()
        hand.review()
        write_or_warn(mark, Piece(None, {}), "that the kernels are compiled stays")
    source.forget()
    progress(1.0, "ready")


def _compiled_mark(bot: Any) -> Slot:
    """The file that says that everything was compiled for a kind of bot, with all sources as they
    are; to find out which of them it needs would take longer than to read them."""
    code = hash_files(sorted(PACKAGE.rglob("*.py")), PACKAGE)
    store = Store(cache_root() / "store" / "compiled", code)
    return store.slot("compiled", {"bot": type(bot).__name__})


def _quiet_move(hand: HoldemHand) -> int:
    """Checking or calling, which comes to a showdown."""
    return next(k for k, choice in enumerate(hand.choices()) if choice.key == "c")


def _first_part(progress: ProgressCallback, share: float, what: str) -> None:
    progress(TABLES * share, what)
