"""Winnings of the re-created bots beside the published ones of the originals (Billings et al. 2003;
2004 results). Beyond the article."""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

from counterplay.app.reproduction.harness.base import (
    Experiment,
    Outcome,
    ResultTable,
    source_version,
)
from counterplay.app.reproduction.harness.judge import Interval
from counterplay.app.reproduction.harness.store import PieceStore
from counterplay.app.reproduction.holdem_runs import bot_job
from counterplay.core.base.progress import ProgressCallback, stage
from counterplay.core.forms.registry import load
from counterplay.core.match.play import play_match
from counterplay.core.parallel.jobs import Job
from counterplay.poker.players import bot

MATCH_SEED = 11
RATE = 4_500  # hands a second of one process against Poki; a hundred times as many without


class Band(NamedTuple):
    player: str
    opponent: str
    low: float  # published, sb/h
    high: float
    source: str
    hands: dict[str, int]  # duplicate hands, by scale
    fitted: bool = False  # Poki's constants were chosen by its winnings from this opponent

    def published(self) -> str:
        both = f"{self.low:+.3f} to {self.high:+.3f}"
        text = f"{self.low:+.3f}" if self.low == self.high else both
        return text + (" (fitted)" if self.fitted else "")

    def off_by(self, won: float) -> float:
        """Distance from the band; 0 inside."""
        return won - min(max(won, self.low), self.high)

    def seconds(self, scale: str) -> float:
        slow = "poki" in (self.player, self.opponent)
        return 5.0 + self.hands[scale] / RATE / (1 if slow else 100)


FEW, MANY = {"quick": 12_000, "paper": 300_000}, {"quick": 1_000_000, "paper": 20_000_000}
YEARS = "2004 and IJCAI 2003"
BANDS = (
    Band("poki", "always-call", 0.510, 0.537, YEARS, FEW, True),
    Band("poki", "always-raise", 2.139, 2.285, YEARS, FEW, True),
    Band("sparbot", "always-call", 0.474, 0.474, "2004; PsOpti2 +.505, PsOpti1 +.546", MANY),
    Band("sparbot", "always-raise", 1.354, 1.354, "2004; PsOpti2 +.319, PsOpti1 +.635", MANY),
    Band("sparbot", "poki", 0.045, 0.093, "PsOpti2 2003, Sparbot 2004", FEW),
)
HEADER = (
    "player opponent published_low published_high sb_per_hand standard_error low high hands "
    "difference fitted"
)


def _match(band: Band, scale: str, store: PieceStore, progress: ProgressCallback) -> dict[str, Any]:
    hands = band.hands[scale]

    def make() -> dict[str, Any]:
        players = [bot(name, progress) for name in (band.player, band.opponent)]
        match = (load("holdem(buckets=10)"), *players, hands, MATCH_SEED)
        result = play_match(*match, progress=progress, processes=1, luck_adjusted=False)
        low, high = result.interval
        numbers = {"mean": result.mean, "error": result.standard_error, "low": low, "high": high}
        return {**numbers, "hands": hands}

    recipe = {"players": [band.player, band.opponent], "hands": hands, "seed": MATCH_SEED}
    recipe["code"] = source_version(_match)
    return dict(store.value("bots", recipe, make))


def run(scale: str, store: PieceStore, progress: ProgressCallback) -> Outcome:
    rows, lines = [], []
    for k, band in enumerate(BANDS):
        won = _match(band, scale, store, stage(progress, k, len(BANDS)))
        off = band.off_by(won["mean"])
        ours = Interval(won["mean"], won["low"], won["high"])
        who = [band.player, band.opponent]
        rows.append([*who, band.published(), str(ours), f"{off:+.3f}", band.source])
        numbers = (ours.value, won["error"], ours.low, ours.high, won["hands"], off, band.fitted)
        lines.append((*who, band.low, band.high, *numbers))
    header = ["player", "opponent", "published", "ours (95%)", "off by", "source"]
    setting = {"hands": [band.hands[scale] for band in BANDS]}
    shown = ([ResultTable("sb/h", header, rows)], [FITTED])
    return EXPERIMENT.outcome(scale, store.folder, [], setting, HEADER, lines, *shown)


def _jobs(scale: str, store: PieceStore) -> list[Job]:
    first = {name: bot_job(name) for name in ("poki", "sparbot")}

    def job(band: Band) -> Job:
        players = (band.player, band.opponent)
        after = tuple(first[name].name for name in players if name in first)
        work = partial(_match, band, scale, store)
        return Job(" against ".join(players), work, band.seconds(scale), 1, after)

    return [*first.values(), *map(job, BANDS)]


TITLE = "Beyond the article: the re-created bots beside the published figures"
FITTED = "Poki's guessed constants were chosen by the two bands marked (fitted)."
SECONDS = {"quick": 8, "paper": 120}  # on two cores
STORY = """

The bots of the article are commercial programs; these are re-creations from published
descriptions. The table has what the originals were reported to win, and what the re-creations
win."""
EXPERIMENT = Experiment("bots", TITLE, run, SECONDS, _jobs, order=20, priority=21, story=STORY)
