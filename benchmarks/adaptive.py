"""Winnings of the adaptive player from opponents without a prior model, and its targets.

python -m benchmarks.adaptive --seeds 10 --processes 16

Plays 20,000 hands against each opponent with each seed, and the equilibrium on the same cards.
Every match is a piece in a folder (--pieces); an interrupted command continues.
Writes benchmarks/adaptive.csv, a row for each claim, and adaptive_curve.csv, means by 500 hands.
Winnings are luck-adjusted (AIVAT), which leaves their mean as it is; intervals are 95%, over seeds.
`--field`: matches of 3,000 hands against a field of weak opponents instead (`adaptive_field.py`).
"""

from __future__ import annotations

import argparse
import multiprocessing
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import stdtrit

from benchmarks import adaptive_field
from benchmarks.measure import write_rows
from counterplay.core.evaluation.exact import best_response, expected_value
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.responses.safe import SafePlayer
from counterplay.poker.adaptive.player import Adaptive
from counterplay.poker.adaptive.portfolio import GAME, portfolio
from counterplay.poker.adaptive.portfolio_members import Portfolio
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.luck_adjustment import HandLuckAdjustment
from counterplay.poker.match.referee import PlayedHand, play_hands, start_bots
from counterplay.poker.players import bot

HANDS = 20_000
SWITCH = 5_000
FIRST_SEED = 100
SIMPLE = ("always-call", "always-raise", "uniform", "probe")
HERE = Path(__file__).parent
BEST_HANDS = 400_000


@dataclass(frozen=True)
class Case:
    """An opponent, and what the player knows of it."""

    name: str
    opponent: str
    without: tuple[str, ...] = ()
    probing: float = 0.0


CASES = (
    Case("poki, known", "poki"),
    Case("poki, unknown", "poki", ("poki",)),
    Case("poki, unknown, probing 2%", "poki", ("poki",), 0.02),
    Case("sparbot", "sparbot"),
    Case("sparbot, unknown", "sparbot", ("sparbot",)),
    *(Case(name, name) for name in SIMPLE),
    Case("switches", "switches"),
)


class Switcher:
    """Poki, and from hand 5,000 on always-raise."""

    name = "switches"

    def __init__(self) -> None:
        self._players = (bot("poki"), bot("always-raise"))
        self.start(0)

    def start(self, seed: int) -> None:
        self._hands = 0
        for player in self._players:
            player.start(seed)

    def seed(self, seed: int) -> None:
        self._hands += 1
        self._now.seed(seed)

    @property
    def _now(self) -> Any:
        return self._players[0 if self._hands <= SWITCH else 1]

    def new_hand(self, seat: int) -> None:
        self._now.new_hand(seat)

    def act(self, view: Any) -> str:
        return str(self._now.act(view))

    def end_hand(self, ending: Any) -> None:
        self._now.end_hand(ending)


def _opponent(name: str) -> Any:
    return Switcher() if name == "switches" else bot(name)


def _played(me: Any, opponent: Any, prior: Portfolio, seed: int, strategy: Any) -> np.ndarray:
    """float32[hands]: luck-adjusted winnings."""
    deals = session_deals(seed, 0, HANDS, HANDS)
    start_bots((me, opponent), deals.start_seeds)
    luck = HandLuckAdjustment(prior.game, opponent, HANDS)
    clean = np.empty(HANDS, dtype=np.float32)
    count = 0

    def keep(hand: PlayedHand) -> None:
        nonlocal count
        won = hand.won if hand.dealer == 0 else -hand.won
        clean[count] = luck.adjusted(strategy(), hand.dealer, hand.cards, hand.end, won)
        count += 1

    play_hands((me, opponent), deals, on_hand=keep)
    return clean


def piece(work: tuple[Case, int, Path]) -> None:
    """One match of the adaptive player, and one of the equilibrium on the same cards."""
    case, seed, path = work
    prior = portfolio()
    safe = prior.equilibrium
    known = prior.without(*case.without) if case.without else prior
    me = Adaptive(portfolio=known, seed=seed, probing=case.probing)
    held: list[Strategy] = []
    arms: list[int] = []

    class Watched:
        """The player; its strategy of the current hand is recorded."""

        name = me.name
        start, seed, act, end_hand = me.start, me.seed, me.act, me.end_hand

        @staticmethod
        def new_hand(seat: int) -> None:
            me.new_hand(seat)
            held[:] = [me.tracker.strategies[me._arm]]
            arms.append(me._arm)

    clean = _played(Watched, _opponent(case.opponent), known, seed, lambda: held[0])
    equilibrium = strategy_bot(safe, "equilibrium")
    clean_safe = _played(equilibrium, _opponent(case.opponent), known, seed, lambda: safe)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f"{path.stem}.part.npz")
    np.savez_compressed(
        part,
        clean=clean,
        clean_safe=clean_safe,
        arms=np.array(arms, dtype=np.int8),
        thinking=me.standing().thinking,
        changes=np.array(me.tracker.changes, dtype=np.int64),
        names=np.array(me.tracker.names),
    )
    part.rename(path)


def interval(values: np.ndarray) -> tuple[float, float]:
    """Mean over seeds and half of its 95% interval."""
    n = len(values)
    if n < 2:
        return float(values.mean()), float("inf")
    half = stdtrit(n - 1, 0.975) * values.std(ddof=1) / np.sqrt(n)
    return float(values.mean()), float(half)


class CaseResults:
    """The pieces of one case: float64[seeds, hands]."""

    def __init__(self, case: Case, seeds: list[int], folder: Path) -> None:
        pieces = [dict(np.load(_path(folder, case, seed))) for seed in seeds]
        self.clean, self.safe = (
            np.stack([p[name] for p in pieces]).astype(np.float64)
            for name in ("clean", "clean_safe")
        )
        self.thinking = float(np.mean([float(p["thinking"]) for p in pieces]))
        self.changes = [p["changes"].tolist() for p in pieces]
        self.mostly = _mostly(pieces)

    def over(self, low: int, high: int = HANDS) -> tuple[float, float]:
        return interval(self.clean[:, low:high].mean(axis=1))

    def gain(self, low: int = 0, high: int = HANDS) -> tuple[float, float]:
        """Over the equilibrium on the same cards."""
        return interval((self.clean - self.safe)[:, low:high].mean(axis=1))

    def worst_prefix(self) -> tuple[float, float, int]:
        """The least mean gain over a prefix of 2,000 hands or more, its interval, and where."""
        ahead = np.cumsum(self.clean - self.safe, axis=1) / np.arange(1, HANDS + 1)
        where = 2_000 + int(ahead.mean(axis=0)[2_000 - 1 :].argmin())
        return (*interval(ahead[:, where - 1]), where)


def _mostly(pieces: list[dict[str, Any]]) -> str:
    names = [str(name) for name in pieces[0]["names"]]
    arms = np.concatenate([p["arms"][-5_000:] for p in pieces])
    share = np.bincount(arms, minlength=len(names)) / len(arms)
    best = np.argsort(-share)[:2]
    return ", ".join(f"{names[k]} {share[k]:.0%}" for k in best if share[k] > 0.005)


def claims(results: dict[str, CaseResults], best: dict[str, float]) -> list[tuple[Any, ...]]:
    """(against, claim, must, mean, half, reached, remark)."""
    rows: list[tuple[Any, ...]] = []

    def add(case: str, what: str, must: float, value: tuple[float, float], note: str = "") -> None:
        rows.append((case, what, must, *value, "yes" if value[0] >= must else "no", note))

    for name, spans in (
        ("poki, known", ((5_000, 10_000, 0.40),)),
        ("poki, unknown", ((8_000, 10_000, 0.20), (15_000, 20_000, 0.30))),
        ("poki, unknown, probing 2%", ((8_000, 10_000, 0.20), (15_000, 20_000, 0.30))),
    ):
        if name not in results:
            continue
        one = results[name]
        *worst, where = one.worst_prefix()
        add(
            name,
            "worst prefix of 2,000 or more, less the equilibrium",
            -0.05,
            (worst[0], worst[1]),
            f"the first {where:,} hands",
        )
        for low, high, must in spans:
            add(name, f"hands {low:,}-{high:,}", must, one.over(low, high))
    for name in ("sparbot", "sparbot, unknown"):
        if name in results:
            add(name, "whole match, less the equilibrium", -0.02, results[name].gain())
    for name in SIMPLE:
        if name in results:
            add(
                name,
                "hands from 2,000 on",
                0.8 * best[name],
                results[name].over(2_000),
                f"best member {best[name]:+.3f}",
            )
    if "switches" in results:
        late = SWITCH + 4_000
        one, possible = results["switches"], best["always-raise"]
        firsts = [changes[0] - SWITCH for changes in one.changes if changes]
        note = f"noticed {len(firsts)} times of {len(one.changes)}, the change dated "
        note += f"{min(firsts, default=0):+d} to {max(firsts, default=0):+d} hands from it"
        add("switches", f"hands from {late:,} on", 0.8 * possible, one.over(late), note)
        add(
            "switches",
            "hands 5,000-6,000",
            0.8 * possible,
            one.over(SWITCH, SWITCH + 1_000),
            "not asked for",
        )
    return rows


def tree_claims() -> list[tuple[Any, ...]]:
    """A best response to the player's current strategy, hand after hand, in Kuhn and Leduc."""
    rows = []
    for name, budget, hands in (("kuhn", 0.5, 2_000), ("leduc", 2.0, 300)):
        game = load(name)
        for seat in (0, 1):
            lost = worst_case_loss(game, seat, budget, hands)
            rows.append(
                (
                    f"best response, {name}, player {seat + 1}",
                    f"total loss in {hands:,} hands, expected",
                    -budget,
                    -lost,
                    0.0,
                    "yes" if lost <= budget + 1e-6 else "no",
                    "at least minus the budget",
                )
            )
    return rows


def worst_case_loss(game: Any, seat: int, budget: float, hands: int, seed: int = 1) -> float:
    """Expected loss below the value of the game to an opponent who always best-responds."""
    player = SafePlayer(game, seat, budget=budget)
    rng = np.random.default_rng(seed)
    lost = 0.0
    for _ in range(hands):
        answer = best_response(game, player.strategy, 1 - seat).strategy
        assert answer is not None
        pair = answer.replace(player.strategy, seat)
        lost += player.value - float(expected_value(game, pair)[seat])
        player.play(answer, rng)
    return lost


def _path(folder: Path, case: Case, seed: int) -> Path:
    return folder / f"{case.name.replace(', ', '-').replace(' ', '-').replace('%', '')}-{seed}.npz"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--cases", default="", help="names, by ;")
    parser.add_argument("--pieces", type=Path, default=HERE / "adaptive.pieces")
    parser.add_argument("--out", type=Path, default=HERE / "adaptive.csv")
    parser.add_argument("--field", action="store_true", help="the field of weak opponents")
    parser.add_argument("--first-seed", type=int, default=FIRST_SEED)
    parser.add_argument("--hands", type=int, default=adaptive_field.HANDS, help="with --field")
    options = parser.parse_args()
    if options.field:
        adaptive_field.main(options)
        return
    cases = [case for case in CASES if not options.cases or case.name in options.cases.split(";")]
    seeds = list(range(options.first_seed, options.first_seed + options.seeds))
    started = time.time()
    prior = portfolio(GAME, progress=lambda share, what: print(f"{share:4.0%} {what}"))
    HandLuckAdjustment(prior.game, bot("poki"), HANDS).adjusted(
        prior.equilibrium, 0, tuple(range(9)), 1, 0.0
    )  # tables are there before processes share the work
    print(f"portfolio after {time.time() - started:.0f} s", flush=True)
    work = [(case, seed, _path(options.pieces, case, seed)) for seed in seeds for case in cases]
    work = [one for one in work if not one[2].is_file()]
    context = multiprocessing.get_context("spawn")
    with context.Pool(options.processes, maxtasksperchild=4) as pool:
        for k, _ in enumerate(pool.imap_unordered(piece, work), 1):
            print(f"{k} of {len(work)} matches after {time.time() - started:.0f} s", flush=True)
    results = {case.name: CaseResults(case, seeds, options.pieces) for case in cases}
    best = {
        name: max(
            play_match(prior.game, member.strategy, name, BEST_HANDS, 1, luck_adjusted=False).mean
            for member in prior.members
        )
        for name in SIMPLE
    }
    rows = [*claims(results, best), *tree_claims()]
    for name, one in results.items():
        rows.append(
            (
                name,
                "thinking, ms per hand, one processor",
                -10.0,
                -one.thinking,
                0.0,
                "yes" if one.thinking <= 10.0 else "no",
                f"last 5,000 hands: {one.mostly}",
            )
        )
        rows.append(
            (
                name,
                "whole match",
                "",
                *one.over(0),
                "",
                f"equilibrium {interval(one.safe.mean(axis=1))[0]:+.3f}",
            )
        )
    header = ("against", "claim", "must", "mean", "half_interval", "reached", "remark")
    rounded = [tuple(round(x, 4) if isinstance(x, float) else x for x in row) for row in rows]
    write_rows(options.out, header, rounded)
    curve = [
        (
            name,
            low + 500,
            *(
                round(x, 4)
                for x in (
                    *one.over(low, low + 500),
                    interval(one.safe[:, low : low + 500].mean(axis=1))[0],
                )
            ),
        )
        for name, one in results.items()
        for low in range(0, HANDS, 500)
    ]
    write_rows(
        options.out.with_name(f"{options.out.stem}_curve.csv"),
        ("against", "hands", "adaptive", "half_interval", "equilibrium"),
        curve,
    )
    for row in rounded:
        print(" | ".join(str(x) for x in row))


if __name__ == "__main__":
    main()
