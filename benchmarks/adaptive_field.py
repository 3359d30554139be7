"""The adaptive player against a field of weak opponents, in matches of 3,000 hands.

python -m benchmarks.adaptive --field --first-seed 200 --seeds 10 --processes 16

The opponents are the types of `poker/adaptive/field.py`, as mistakes of the shipped strategy
`safe` with its 100 buckets, and Poki. The player's own types are mistakes of its equilibrium with
10 buckets. It plays every opponent twice: with his type among the types that it knows, and
without. The equilibrium plays him on the same cards. Every match is a piece in a folder (--pieces);
an interrupted command continues. Writes benchmarks/adaptive_field.csv, a row for each opponent and
a row for each claim. Winnings are luck-adjusted; intervals are 95%, over seeds.
"""

from __future__ import annotations

import multiprocessing
import time
from functools import cache, lru_cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.special import stdtrit

from benchmarks.measure import write_rows
from counterplay.core.forms.registry import load
from counterplay.poker.adaptive.field import TILTS, TYPES, TiltingBot, TypeBot
from counterplay.poker.adaptive.player import Adaptive
from counterplay.poker.adaptive.portfolio import GAME, MOST_MEMBERS, Portfolio, portfolio
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.holdem.bucket_pairs import matchups
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.luck_adjustment import ALL_FLOPS, HandLuckAdjustment
from counterplay.poker.match.referee import PlayedHand, play_hands, start_bots
from counterplay.poker.players import bot, find_strategy

HANDS, EARLY = 3_000, 300
WARM_UP = 100
STRENGTH = 0.6  # none that the player knows
BASE = "safe"
WITH, WITHOUT, SAFE = "with", "without", "equilibrium"
OPPONENTS = (*TYPES, TILTS, "poki")
HERE = Path(__file__).parent
#: Targets: times the equilibrium's winnings, mean over the field.
TIMES = {WITH: 1.6, WITHOUT: 1.35}
LOSS, POKI, THINKING = -0.02, 0.25, 10.0


class Piece(NamedTuple):
    """One match."""

    opponent: str
    player: str  # WITH, WITHOUT or SAFE
    seed: int
    hands: int
    path: Path


@cache
def _base() -> Any:
    return strategy_bot(find_strategy(BASE), BASE)


def opponent_of(name: str) -> Any:
    if name == "poki":
        return bot("poki")
    return TiltingBot(_base(), STRENGTH) if name == TILTS else TypeBot(_base(), name, STRENGTH)


@cache
def _every() -> Portfolio:
    """All responses; read once by each process."""
    return portfolio(members=None)


@lru_cache(maxsize=2)
def _known(without: str) -> Portfolio:
    return (_every().without(without) if without else _every()).pruned(MOST_MEMBERS)


def portfolio_for(opponent: str, player: str) -> Portfolio:
    """The portfolio with the type of an opponent, or chosen without it."""
    return _known(("maniac" if opponent == TILTS else opponent) if player == WITHOUT else "")


def play(work: Piece) -> dict[str, Any]:
    """Plays one match; its luck-adjusted winnings, hand by hand, and what the player learnt."""
    foe = opponent_of(work.opponent)
    known = portfolio_for(work.opponent, WITH if work.player == SAFE else work.player)
    me: Any = strategy_bot(known.equilibrium, SAFE)
    if work.player != SAFE:
        me = Adaptive(portfolio=known, seed=work.seed)
    deals = session_deals(work.seed, 0, work.hands, work.hands)
    start_bots((me, foe), deals.start_seeds)
    luck, clean = HandLuckAdjustment(known.game, foe, ALL_FLOPS), np.empty(work.hands)
    played: list[str] = []

    def keep(hand: PlayedHand) -> None:
        won = hand.won if hand.dealer == 0 else -hand.won
        strategy = known.equilibrium if work.player == SAFE else me.hand_strategy
        clean[len(played)] = luck.adjusted(strategy, hand.dealer, hand.cards, hand.end, won)
        played.append(SAFE if work.player == SAFE else me.tracker.names[me._arm])

    clocks = time.process_time(), time.perf_counter()
    raw = play_hands((me, foe), deals, on_hand=keep)
    facts: dict[str, Any] = {"raw": raw, "clean": clean, "played": np.array(played)}
    if work.player != SAFE:  # processor time: of the whole match, by the share of the time
        spent, took = time.process_time() - clocks[0], time.perf_counter() - clocks[1]
        facts["thinking"] = me.standing().thinking * spent / took
        facts["changes"] = np.array(me.tracker.changes, dtype=np.int64)
        facts["likely"] = np.array([f"{name} {x:.2f}" for name, x in me.tracker.likely[:3]])
    return facts


def piece(work: Piece) -> None:
    """Plays one match and writes its file."""
    facts = play(work)
    work.path.parent.mkdir(parents=True, exist_ok=True)
    part = work.path.with_name(f"{work.path.stem}.part.npz")
    np.savez_compressed(part, **facts)
    part.rename(work.path)


def _work(folder: Path, seeds: list[int], hands: int, opponents: list[str]) -> list[Piece]:
    return [
        Piece(name, player, seed, hands, folder / f"{name}-{player}-{seed}-{hands}.npz")
        for seed in seeds
        for name in opponents
        for player in (WITHOUT, WITH, SAFE)
    ]


def _half(values: np.ndarray) -> float:
    """Half the 95% interval of the mean over seeds."""
    n = len(values)
    return float(stdtrit(n - 1, 0.975) * values.std(ddof=1) / n**0.5) if n > 1 else float("nan")


class FieldResults:
    """The pieces that are there: float64[seeds, hands] by opponent and player."""

    def __init__(self, work: list[Piece]) -> None:
        self.clean: dict[tuple[str, str], np.ndarray] = {}
        self.thinking: dict[tuple[str, str], float] = {}
        for name, player in dict.fromkeys((one.opponent, one.player) for one in work):
            paths = [one.path for one in work if (one.opponent, one.player) == (name, player)]
            pieces = [dict(np.load(path)) for path in paths]
            self.clean[name, player] = np.stack([one["clean"] for one in pieces])
            spent = [float(one["thinking"]) for one in pieces if "thinking" in one]
            self.thinking[name, player] = float(np.mean(spent)) if spent else 0.0
        self.opponents = list(dict.fromkeys(name for name, _ in self.clean))

    def gain(self, name: str, player: str, hands: int | None = None) -> np.ndarray:
        """float64[seeds]: winnings above the equilibrium's on the same cards."""
        ahead = self.clean[name, player] - self.clean[name, SAFE]
        gain: np.ndarray = ahead[:, :hands].mean(axis=1)
        return gain

    def mean(self, player: str) -> float:
        """Winnings, mean over the types of the field."""
        return float(np.mean([self.clean[name, player].mean() for name in self.field]))

    @property
    def field(self) -> list[str]:
        return [name for name in self.opponents if name != "poki"]


def field_rows(found: FieldResults) -> list[tuple[Any, ...]]:
    """(against, claim, must, mean, half_interval, reached, remark)."""
    rows: list[tuple[Any, ...]] = []

    def add(who: str, what: str, must: float | str, mean: float, half: float, note: str) -> None:
        reached = "" if isinstance(must, str) else "yes" if mean >= must else "no"
        rows.append((who, what, must, round(mean, 4), round(half, 4), reached, note))

    for player in (WITH, WITHOUT):
        what = f"{player} his type"
        times = found.mean(player) / found.mean(SAFE)
        note = f"{found.mean(player):+.3f} for {found.mean(SAFE):+.3f} sb/h"
        add(
            "the field",
            f"times the equilibrium's winnings, {what}",
            TIMES[player],
            times,
            0.0,
            note,
        )
        early = np.mean([found.gain(name, player, EARLY) for name in found.field], axis=0)
        what_early = f"first {EARLY} hands less the equilibrium, {what}"
        add("the field", what_early, 0.0, float(early.mean()), _half(early), "")
        least = min(found.field, key=lambda name: float(found.gain(name, player).mean()))
        gain = found.gain(least, player)
        worst = f"worst opponent, less the equilibrium, {what}"
        add("the field", worst, LOSS, float(gain.mean()), _half(gain), least)
    if "poki" in found.opponents:
        won = found.clean["poki", WITHOUT].mean(axis=1)
        note = f"equilibrium {found.clean['poki', SAFE].mean():+.3f}"
        add("poki", "whole match, unknown", POKI, float(won.mean()), _half(won), note)
    n = len(next(iter(found.clean.values())))
    add("the field", "seeds", "", float(n), 0.0, f"{len(found.opponents)} opponents")
    slowest = max(found.thinking, key=lambda key: found.thinking[key])
    note = f"{slowest[0]}, {slowest[1]} his type"
    add("the field", "thinking, ms per hand", -THINKING, -found.thinking[slowest], 0.0, note)
    for name in found.opponents:
        for player in (WITH, WITHOUT):
            gain, won = found.gain(name, player), found.clean[name, player]
            note = f"{won.mean():+.3f} for {found.clean[name, SAFE].mean():+.3f} sb/h"
            what = f"less the equilibrium, {player} his type"
            add(name, what, "", float(gain.mean()), _half(gain), note)
    return rows


def main(options: Any) -> None:
    """Plays the matches whose pieces are missing, then writes the table."""
    seeds = list(range(options.first_seed, options.first_seed + options.seeds))
    opponents = options.cases.split(";") if options.cases else list(OPPONENTS)
    folder = options.pieces.with_name("adaptive_field.pieces")
    work = _work(folder, seeds, options.hands, opponents)
    missing = [one for one in work if not one.path.is_file()]
    started = time.time()
    if missing:
        portfolio(members=None, progress=lambda share, what: print(f"{share:4.0%} {what}"))
        game = load(GAME)
        opponent_of(opponents[0])  # tables are there before processes share the work
        matchups(game.rules.abstraction, game.form.cards, whole=True)
        print(f"portfolio after {time.time() - started:.0f} s", flush=True)
    short = Piece("maniac", WITH, 0, WARM_UP, Path())  # compiles the kernels of every process
    with multiprocessing.get_context("spawn").Pool(options.processes, play, (short,)) as pool:
        for k, _ in enumerate(pool.imap_unordered(piece, missing), 1):
            print(f"{k} of {len(missing)} after {time.time() - started:.0f} s", flush=True)
    rows = field_rows(FieldResults(work))
    header = ("against", "claim", "must", "mean", "half_interval", "reached", "remark")
    write_rows(HERE / "adaptive_field.csv", header, rows)
    for row in rows:
        print(" | ".join(str(x) for x in row))
