"""The adaptive player against a field of weak opponents, in matches of 3,000 hands.

python -m benchmarks.adaptive --field --first-seed 200 --seeds 10 --processes 16

The opponents are the types of `poker/adaptive/field.py`, as mistakes of the shipped strategy
`safe` with its 100 buckets, and Poki. The player's own types are mistakes of its equilibrium with
10 buckets. It plays every opponent twice: with his type among the types that it knows, and
without. The equilibrium plays him on the same cards. Every match is a piece in a folder (--pieces);
an interrupted command continues, and `--cases poki --seeds 20` adds matches against one opponent.
Writes benchmarks/adaptive_field.csv from all that are there, a row for each opponent and a row for
each claim. Winnings are luck-adjusted; intervals are 95%, over the matches of each opponent.
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
from counterplay.poker.adaptive.portfolio import GAME, portfolio
from counterplay.poker.adaptive.portfolio_members import Portfolio
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
PLAYERS = (WITHOUT, WITH, SAFE)
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
def _default() -> Portfolio:
    """Read once by each process."""
    return portfolio()


@lru_cache(maxsize=2)
def _known(without: str) -> Portfolio:
    return _default().without(without) if without else _default()


def portfolio_for(opponent: str, player: str) -> Portfolio:
    """The default portfolio, or without the type of an opponent and the response to him."""
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
    play_hands((me, foe), deals, on_hand=keep)
    facts: dict[str, Any] = {"clean": clean.astype(np.float32), "played": np.array(played)}
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
        for player in PLAYERS
    ]


def _half(matches: list[np.ndarray]) -> float:
    """Half the 95% interval of a mean over opponents, each with his matches."""
    free = sum(len(one) - 1 for one in matches)
    if min(len(one) for one in matches) < 2:
        return float("nan")
    variance = sum(one.var(ddof=1) / len(one) for one in matches) / len(matches) ** 2
    return float(stdtrit(free, 0.975) * variance**0.5)


class FieldResults:
    """The matches that are there, with as many seeds for each opponent as were played with him:
    float64[seeds, hands] by opponent and player."""

    def __init__(self, folder: Path, hands: int) -> None:
        self.clean: dict[tuple[str, str], np.ndarray] = {}
        self.thinking: dict[tuple[str, str], float] = {}
        self.opponents = []
        for name in OPPONENTS:
            paths = {player: _paths(folder, name, player, hands) for player in PLAYERS}
            seeds = sorted(set.intersection(*(set(found) for found in paths.values())))
            if not seeds:
                continue
            self.opponents.append(name)
            for player, found in paths.items():
                pieces = [dict(np.load(found[seed])) for seed in seeds]
                clean = np.stack([one["clean"] for one in pieces])
                self.clean[name, player] = clean.astype(np.float64)
                spent = [float(one["thinking"]) for one in pieces if "thinking" in one]
                self.thinking[name, player] = float(np.mean(spent)) if spent else 0.0

    def won(self, name: str, player: str) -> np.ndarray:
        """float64[seeds]: winnings."""
        won: np.ndarray = self.clean[name, player].mean(axis=1)
        return won

    def gain(self, name: str, player: str, hands: int | None = None) -> np.ndarray:
        """float64[seeds]: winnings above the equilibrium's on the same cards."""
        ahead = self.clean[name, player] - self.clean[name, SAFE]
        gain: np.ndarray = ahead[:, :hands].mean(axis=1)
        return gain

    def mean(self, player: str) -> float:
        """Winnings, mean over the types of the field."""
        return float(np.mean([self.clean[name, player].mean() for name in self.field]))

    def times(self, player: str) -> tuple[float, float]:
        """Winnings in parts of the equilibrium's, and half the interval (delta method)."""
        times = self.mean(player) / self.mean(SAFE)
        off = [self.won(name, player) - times * self.won(name, SAFE) for name in self.field]
        return times, _half(off) / abs(self.mean(SAFE))

    @property
    def field(self) -> list[str]:
        return [name for name in self.opponents if name != "poki"]


def _paths(folder: Path, name: str, player: str, hands: int) -> dict[int, Path]:
    """The pieces of one opponent and one player by seed."""
    found = folder.glob(f"{name}-{player}-*-{hands}.npz")
    return {int(path.stem.split("-")[-2]): path for path in found}


def field_rows(found: FieldResults) -> list[tuple[Any, ...]]:
    """(against, claim, must, mean, half_interval, reached, remark)."""
    rows: list[tuple[Any, ...]] = []

    def add(who: str, what: str, must: float | str, mean: float, half: float, note: str) -> None:
        reached = "" if isinstance(must, str) else "yes" if mean >= must else "no"
        rows.append((who, what, must, round(mean, 4), round(half, 4), reached, note))

    for player in (WITH, WITHOUT) if found.field else ():
        what = f"{player} his type"
        times, half = found.times(player)
        note = f"{found.mean(player):+.3f} for {found.mean(SAFE):+.3f} sb/h"
        claim = f"times the equilibrium's winnings, {what}"
        add("the field", claim, TIMES[player], times, half, note)
        early = [found.gain(name, player, EARLY) for name in found.field]
        mean = float(np.mean([one.mean() for one in early]))
        what_early = f"first {EARLY} hands less the equilibrium, {what}"
        add("the field", what_early, 0.0, mean, _half(early), "")
        least = min(found.field, key=lambda name: float(found.gain(name, player).mean()))
        gain = found.gain(least, player)
        worst = f"worst opponent, less the equilibrium, {what}"
        add("the field", worst, LOSS, float(gain.mean()), _half([gain]), least)
    if "poki" in found.opponents:
        won = found.won("poki", WITHOUT)
        note = f"equilibrium {found.clean['poki', SAFE].mean():+.3f}"
        add("poki", "whole match, unknown", POKI, float(won.mean()), _half([won]), note)
    slowest = max(found.thinking, key=lambda key: found.thinking[key])
    note = f"{slowest[0]}, {slowest[1]} his type"
    add("the field", "thinking, ms per hand", -THINKING, -found.thinking[slowest], 0.0, note)
    for name in found.opponents:
        for player in (WITH, WITHOUT):
            gain, won = found.gain(name, player), found.won(name, player)
            played = f"{len(won)} match{'es' if len(won) > 1 else ''}"
            note = f"{won.mean():+.3f} for {found.clean[name, SAFE].mean():+.3f} sb/h, {played}"
            what = f"less the equilibrium, {player} his type"
            add(name, what, "", float(gain.mean()), _half([gain]), note)
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
        portfolio()
        game = load(GAME)
        opponent_of(opponents[0])  # tables are there before processes share the work
        matchups(game.rules.abstraction, game.form.cards, whole=True)
        print(f"portfolio after {time.time() - started:.0f} s", flush=True)
    short = Piece("maniac", WITH, 0, WARM_UP, Path())  # compiles the kernels of every process
    with multiprocessing.get_context("spawn").Pool(options.processes, play, (short,)) as pool:
        for k, _ in enumerate(pool.imap_unordered(piece, missing), 1):
            print(f"{k} of {len(missing)} after {time.time() - started:.0f} s", flush=True)
    rows = field_rows(FieldResults(folder, options.hands))
    header = ("against", "claim", "must", "mean", "half_interval", "reached", "remark")
    write_rows(HERE / "adaptive_field.csv", header, rows)
    for row in rows:
        print(" | ".join(str(x) for x in row))
