"""The tendencies of a player in hand histories, as a sheet: shares with intervals and the mark of
an equilibrium, and the leaks by what they cost (`poker/models/tendencies.py`)."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from counterplay.app.web import strategies
from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ProgressCallback
from counterplay.core.parallel.background import BackgroundJob
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.models.tendencies import (
    Leak,
    Share,
    Tendency,
    TendencyCounts,
    leaks,
    tendencies,
)

MARK_HANDS, MARK_SEED = 20_000, 3  # of the equilibrium with itself
TRAINED = 0.85  # share of the whole until the equilibrium is there, the first time
SELF = "itself"


@dataclass(frozen=True)
class TendencySheet:
    """What a page shows of a player."""

    player: str
    hands: int
    won: float  # sb/h
    tendencies: list[Tendency]
    leaks: list[Leak]

    def facts(self) -> dict[str, Any]:
        return {
            "player": self.player,
            "hands": self.hands,
            "won": self.won,
            "mark_hands": MARK_HANDS,
            "tendencies": [
                {"name": one.name, "seat": one.seat, "mark": one.mark, **_share(one.found)}
                for one in self.tendencies
            ],
            "leaks": [
                {**leak._asdict(), "found": None, **_share(leak.found)} for leak in self.leaks
            ],
        }


def _share(share: Share) -> dict[str, float]:
    return share._asdict()


def tendency_sheet(job: BackgroundJob, hands: Iterable[Any], player: str) -> TendencySheet:
    """The sheet of a player."""
    hands = list(hands)
    tally = TendencyCounts(hands, player)
    if not tally.actions.any():
        raise BadParameter(f"{player!r} never had to act in these hands")
    equilibrium, usual = _equilibrium(job.progress)
    job.progress(0.9, "leaks")
    won = sum(hand.won(player) for hand in hands if player in (hand.dealer, hand.big_blind))
    found = leaks(tally, usual, equilibrium)
    return TendencySheet(player, tally.hands, won / tally.hands, tendencies(tally, usual), found)


_known: dict[
    str, tuple[Any, TendencyCounts]
] = {}  # the equilibrium and its own tendencies, by game


def _equilibrium(progress: ProgressCallback) -> tuple[Any, TendencyCounts]:
    from counterplay.poker.adaptive.portfolio import equilibrium_of

    if strategies.HOLDEM not in _known:
        progress(0.0, "an equilibrium, the first time only")
        game = strategies.open_game(strategies.HOLDEM)
        strategy = equilibrium_of(game, lambda share, what: progress(TRAINED * share, what))
        progress(TRAINED, "how the equilibrium plays")
        _known[strategies.HOLDEM] = strategy, _tally_of(strategy)
    return _known[strategies.HOLDEM]


@lru_cache(maxsize=2)
def _tally_of(strategy: Any) -> TendencyCounts:
    """The tendencies of a strategy in hands with itself."""
    from counterplay.core.match.play import play_match
    from counterplay.poker.bots.table import strategy_bot

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hands.parquet"
        players = strategy_bot(strategy, "one"), strategy_bot(strategy, SELF)
        options: dict[str, Any] = {"duplicate": False, "luck_adjusted": False, "log": path}
        play_match(strategy.game, *players, MARK_HANDS, MARK_SEED, **options)
        return TendencyCounts(read_parquet(path), SELF)
