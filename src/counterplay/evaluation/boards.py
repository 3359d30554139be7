"""Values in hold'em by walking its boards (`holdem/walk/`): all flops, or a sample of them.

A strategy that sees buckets plays the real game, so a best response here knows its cards: the
exploitability of Johanson et al. 2011. With `flops=40` only some flops are walked, drawn by their
weight in strata (how many ranks and suits they show), and the answer is a `FlopEstimate`. Its
interval is that of the strata's means, with the play before the flop as it is. A best response
chooses that play by the flops drawn, which makes it look too good; how much is measured by choosing
on one half of the flops and paying on the other.
"""

from __future__ import annotations

import hashlib
import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from pathlib import Path

import numpy as np

from counterplay.base import files
from counterplay.base.errors import BadFile, BadParameter
from counterplay.base.processors import cores
from counterplay.base.progress import TellShare, untold
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.holdem.cards import N_HOLDINGS
from counterplay.holdem.table import Table, strategy_table
from counterplay.holdem.walk.flops import (
    BACKENDS,
    BoardQuestion,
    Prepared,
    on_device,
    on_processors,
)
from counterplay.holdem.walk.shape import LANES
from counterplay.holdem.walk.suits import check_suits
from counterplay.kernels.jit import cache_root

FLOPS, RIVERS = 1_755, 2_554_656  # up to suits
SECONDS_PER_RIVER = 0.025  # of one player, on one processor: for the time that is announced
LEAST_FLOPS = 12
KEEP_EVERY = 16  # flops
KIND = "flops walked"


class FlopEstimate(float):
    """A number from a sample of flops. `error`: half its 95% interval. `bias`: by how much a best
    response's choice before the flop makes it too high, as measured. `flops`: how many were
    walked."""

    error: float
    bias: float
    flops: int

    def __new__(cls, value: float, error: float, bias: float, flops: int) -> FlopEstimate:
        made = super().__new__(cls, value)
        made.error, made.bias, made.flops = error, bias, flops
        return made

    def __repr__(self) -> str:
        return f"{float(self):.6g} ± {self.error:.2g} (95%, from {self.flops} flops)"

    __str__ = __repr__


def values_by_board(
    game: Game,
    questions: Sequence[tuple[int, Table, Table | None]],
    backend: str = "auto",
    flops: int | None = None,
    seed: int = 0,
    tell: TellShare = untold,
) -> list[float]:
    """What each player gets from a table, with another or (None) at best: numbers, or estimates
    when `flops` is given."""
    if backend not in BACKENDS:
        raise BadParameter(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    if flops is not None and (isinstance(flops, bool) or not isinstance(flops, int)):
        raise BadParameter(f"flops must be a whole number, not {flops!r}")
    if flops is not None and flops < LEAST_FLOPS:
        raise BadParameter(f"an estimate needs at least {LEAST_FLOPS} flops, not {flops}")
    rules = game.rules
    for _, against, by in questions:
        check_suits(against.cards)
        if by is not None:
            check_suits(by.cards)
    prepared = [
        Prepared(BoardQuestion(rules.tree, player, against, by, rules.view.deck))
        for player, against, by in questions
    ]
    device = _on_device(backend, prepared)
    if flops is None and not device and prepared[0].question.deck.full and backend != "cpu":
        hours = _hours(len(prepared))
        raise BadParameter(
            f"without a CUDA device all flops take about {hours:.0f} hours on {cores()} processors "
            "(backend=cpu does it, keeps what is done and goes on with the same call); flops=40 "
            f"gives an estimate in about {60 * hours * 40 / FLOPS:.0f} minutes; in a command "
            "--backend cpu and --flops 40"
        )
    if flops is None:
        return _all_flops(prepared, device, tell)
    return _some_flops(prepared, device, flops, seed, tell)


def _on_device(backend: str, prepared: list[Prepared]) -> bool:
    if backend == "cpu" or not all(q.question.deck.full for q in prepared):
        return False
    from counterplay.holdem.walk.cuda import cupy

    try:
        cupy()
        return True
    except BadParameter:
        if backend == "cuda":
            raise
        return False


def _walk(
    prepared: list[Prepared], device: bool, flops: list[int]
) -> Iterator[tuple[int, list[np.ndarray]]]:
    """Flops with the values of every question."""
    if device and not all(q.sees_as(prepared[0]) for q in prepared):  # a listing is of two tables
        for row in zip(*(on_device([q], flops) for q in prepared), strict=True):
            yield row[0][0], [values for _, (values,) in row]
    else:
        yield from (on_device if device else on_processors)(prepared, flops)


def _all_flops(prepared: list[Prepared], device: bool, tell: TellShare) -> list[float]:
    """Every flop; what is done is kept, so that the same question goes on where it stopped."""
    store = _Store(prepared)
    totals, done = store.read()
    left = np.flatnonzero(~done).tolist()
    if not device and len(left) > 100:
        hours = _hours(len(prepared)) * len(left) / len(done)
        warnings.warn(
            f"walking {len(left):,} flops takes about {hours:.0f} hours on {cores()} processors; "
            "finished flops are kept, and the same call goes on with them",
            stacklevel=5,
        )
    try:
        for flop, found in _walk(prepared, device, left):
            for total, values, q in zip(totals, found, prepared, strict=True):
                total += q.weight[flop] * values
            done[flop] = True
            tell(float(done.mean()))
            if not device and int(done.sum()) % KEEP_EVERY == 0:
                store.write(totals, done)
    except BaseException:
        store.write(totals, done)
        raise
    answers = [q.answer(total) for q, total in zip(prepared, totals, strict=True)]
    store.remove()
    return answers


def _hours(questions: int) -> float:
    """How long all flops take on processors, about."""
    return RIVERS * questions * SECONDS_PER_RIVER / cores() / 3600


class _Store:
    """Sums over the flops that are done, in the cache folder; none for short decks."""

    def __init__(self, prepared: list[Prepared]) -> None:
        self._prepared = prepared
        digest = hashlib.sha256()
        for q in prepared:
            digest.update(f"{q.player} {q.best} {q.question.tree.rules} {q.deck.tolist()}".encode())
            for table in (q.question.against, q.question.by or q.question.against):
                for array in (table.first_row, table.carry, table.policy, table.cards.preflop):
                    digest.update(np.ascontiguousarray(array).data)
                for array in (
                    table.cards.early[::97],
                    table.cards.river,
                    table.cards.river_entry[::997],
                ):
                    digest.update(np.ascontiguousarray(array).data)
        self._path: Path | None = None
        if prepared[0].question.deck.full:
            self._path = cache_root() / "holdem" / "exact" / f"{digest.hexdigest()[:24]}.npz"

    def read(self) -> tuple[list[np.ndarray], np.ndarray]:
        totals = [np.zeros((q.groups, N_HOLDINGS, LANES)) for q in self._prepared]
        done = np.zeros(len(self._prepared[0].flops), dtype=bool)
        if self._path is None or not self._path.exists():
            return totals, done
        with suppress(BadFile):
            kept, _ = files.read_arrays(self._path, KIND)
            found = [kept.get(f"total{k}") for k in range(len(totals))]
            fits = all(
                array is not None and array.shape == total.shape
                for array, total in zip(found, totals, strict=True)
            )
            if fits and kept["done"].shape == done.shape:
                return [np.array(array) for array in found], kept["done"].astype(bool)
        return totals, done

    def write(self, totals: list[np.ndarray], done: np.ndarray) -> None:
        if self._path is None or not done.any():
            return
        with suppress(OSError):
            self._path.parent.mkdir(parents=True, exist_ok=True)
            arrays = {f"total{k}": total for k, total in enumerate(totals)}
            files.write_arrays(self._path, KIND, {**arrays, "done": done}, {})

    def remove(self) -> None:
        if self._path is not None:
            self._path.unlink(missing_ok=True)


def strata_of(flops: np.ndarray) -> np.ndarray:
    """int64[f]: flops by the ranks and suits they show: 1 to 3 of each."""
    ranks, suits = np.sort(flops // 4, axis=1), np.sort(flops % 4, axis=1)
    kind: np.ndarray = 3 * (np.diff(ranks, axis=1) > 0).sum(axis=1)
    kind += (np.diff(suits, axis=1) > 0).sum(axis=1)
    return kind


def draw_flops(prepared: Prepared, n: int, seed: int) -> list[tuple[np.ndarray, float]]:
    """For each stratum the flops drawn, with replacement by their weight, and its share of all
    flops. At least two of each, the others by share."""
    rng = np.random.default_rng(seed)
    stratum, weight = strata_of(prepared.flops), prepared.weight.astype(np.float64)
    kinds = np.unique(stratum)
    shares = np.array([weight[stratum == kind].sum() for kind in kinds]) / weight.sum()
    counts = np.full(len(kinds), 2)
    while counts.sum() < n:
        counts[np.argmax(shares / counts)] += 1
    drawn = []
    for kind, share, count in zip(kinds, shares, counts, strict=True):
        members = np.flatnonzero(stratum == kind)
        chance = weight[members] / weight[members].sum()
        drawn.append((rng.choice(members, size=count, p=chance), float(share)))
    return drawn


def _some_flops(
    prepared: list[Prepared], device: bool, n: int, seed: int, tell: TellShare
) -> list[float]:
    drawn = draw_flops(prepared[0], n, seed)
    wanted = sorted({int(flop) for members, _ in drawn for flop in members})
    found: dict[int, list[np.ndarray]] = {}
    for flop, values in _walk(prepared, device, wanted):
        found[flop] = values
        tell(len(found) / len(wanted))
    answers: list[float] = []
    for k, q in enumerate(prepared):
        by_stratum = [
            (np.array([found[int(flop)][k] for flop in members]), share) for members, share in drawn
        ]
        answers.append(_estimate(q, by_stratum))
    return answers


def _estimate(prepared: Prepared, strata: list[tuple[np.ndarray, float]]) -> FlopEstimate:
    """From values of the flops drawn, and the share of each stratum."""
    every = float(prepared.weight.sum())

    def total(parts: list[np.ndarray]) -> np.ndarray:
        means = [
            every * share * values.mean(axis=0)
            for values, (_, share) in zip(parts, strata, strict=True)
        ]
        return np.asarray(np.sum(means, axis=0))

    whole = total([values for values, _ in strata])
    value = prepared.answer(whole)
    error = 0.0
    for values, share in strata:  # linear in one flop's values, with the play before the flop
        single = [prepared.paid(every * part, whole) for part in values]
        error += share**2 * float(np.var(single, ddof=1)) / len(single)
    halves = [
        [values[k::2] for values, _ in strata] for k in (0, 1)
    ]  # chosen by one half, paid by the other
    crossed = [prepared.paid(total(halves[1 - k]), total(halves[k])) for k in (0, 1)]
    bias = max(value - float(np.mean(crossed)), 0.0) if prepared.best else 0.0
    walked = sum(len(values) for values, _ in strata)
    return FlopEstimate(value, 1.96 * float(np.sqrt(error)), bias, walked)


def table_of(strategy: Strategy) -> Table:
    """A strategy as the walk reads it."""
    return strategy_table(strategy)


def add(values: Sequence[float], sign: float = 1.0) -> float:
    """Their sum; an estimate where they are estimates, of the same flops: errors add up."""
    total = sign * sum(float(value) for value in values)
    parts = [value for value in values if isinstance(value, FlopEstimate)]
    if not parts:
        return total
    error, bias = sum(part.error for part in parts), sum(part.bias for part in parts)
    return FlopEstimate(total, error, bias, parts[0].flops)
