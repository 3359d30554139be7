"""Game values from the values of flops: the sum over all flops, or an estimate from a sample.

The sum over all flops takes long, so finished flops are stored as a draft, and the same queries
continue from it. An estimate is a `FlopEstimate` from flops drawn in strata (the numbers of ranks
and suits they show), in proportion to their weight. Its interval is that of a stratified mean, with
the play before the flop fixed. A best response chooses that play on the flops drawn, which is
biased upwards; the bias is measured by choosing on one half of the flops and paying on the other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from counterplay.core.base.progress import ShareCallback
from counterplay.core.base.store import Piece, Slot, cached_store, digest, write_or_warn
from counterplay.core.evaluation.estimate import FlopEstimate, stratified_half
from counterplay.core.kernels.simd import LANES
from counterplay.core.parallel.processes import cores
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.holdem.table import Table
from counterplay.poker.vector.flop_values import PreparedQuery

RIVERS = 2_554_656  # that are not suit-isomorphic
SECONDS_PER_RIVER = 0.025  # for one query on one core: for the announced time
SAVE_EVERY = 16  # flops
#: Yields flops and their values for each query.
Traversal = Callable[[list[int]], Iterator[tuple[int, list[np.ndarray]]]]


def cpu_hours(queries: int) -> float:
    """Returns about how long all flops take on this machine's processors."""
    return RIVERS * queries * SECONDS_PER_RIVER / cores() / 3600


def sum_all_flops(
    queries: list[PreparedQuery], device: bool, progress: ShareCallback, traverse: Traversal
) -> list[float]:
    """Returns the exact game value of each query."""
    draft = flops_draft(queries, device) if queries[0].full else None
    totals, done = _read_draft(draft, queries)
    left = np.flatnonzero(~done).tolist()
    if not device and len(left) > 100:
        hours = cpu_hours(len(queries)) * len(left) / len(done)
        warnings.warn(
            f"traversing {len(left):,} flops takes about {hours:.0f} hours on {cores()} "
            "processors; finished flops are stored, and the same call continues from them",
            stacklevel=6,
        )
    try:
        for flop, values in traverse(left):
            for total, value, query in zip(totals, values, queries, strict=True):
                total += query.weight[flop] * value
            done[flop] = True
            progress(float(done.mean()))
            if not device and int(done.sum()) % SAVE_EVERY == 0:
                _write_draft(draft, totals, done)
    except BaseException:
        _write_draft(draft, totals, done)
        raise
    results = [query.game_value(total) for query, total in zip(queries, totals, strict=True)]
    if draft is not None:
        draft.remove()
    return results


def flops_draft(queries: list[PreparedQuery], device: bool) -> Slot:
    """Returns where the sums over finished flops are stored: under everything they depend on."""
    hashes: dict[int, str] = {}  # by identity, since most tables share their cards

    def hashed(table: Table) -> list[str]:
        arrays = (*table.cards, table.first_row, table.carry, table.policy)
        for array in arrays:
            if id(array) not in hashes:
                hashes[id(array)] = digest(array)
        return [hashes[id(array)] for array in arrays]

    def recipe(prepared: PreparedQuery) -> dict[str, Any]:
        by, alternative = prepared.query.by, prepared.query.alternative
        return {
            "player": prepared.player,
            "rules": repr(prepared.tree.rules),
            "deck": prepared.deck.tolist(),
            "precision": np.dtype(prepared.dtype).str,
            "against": hashed(prepared.query.against),
            "by": by and hashed(by),
            "alternative": alternative and [hashed(alternative.table), alternative.share],
        }

    store = cached_store("exact-values", "counterplay.poker.vector")
    backend = "cuda" if device else "cpu"
    return store.draft("flops", {"backend": backend, "queries": [recipe(q) for q in queries]})


def _read_draft(
    draft: Slot | None, queries: list[PreparedQuery]
) -> tuple[list[np.ndarray], np.ndarray]:
    """Returns the sums over finished flops for each query, and which flops are finished."""
    totals = [np.zeros((query.groups, N_HOLDINGS, LANES)) for query in queries]
    done = np.zeros(len(queries[0].flops), dtype=bool)
    size = sum(total.nbytes for total in totals) + (1 << 20)
    piece = None if draft is None else draft.read(most=size)
    if piece is None:
        return totals, done
    stored = [piece.arrays.get(f"total{k}", done) for k in range(len(totals))]
    marks = piece.arrays.get("done", totals[0])
    both = zip([*stored, marks], [*totals, done], strict=True)
    if all(one.shape == other.shape and one.dtype == other.dtype for one, other in both):
        return stored, marks
    return totals, done


def _write_draft(draft: Slot | None, totals: list[np.ndarray], done: np.ndarray) -> None:
    if draft is not None and done.any():
        arrays = {f"total{k}": total for k, total in enumerate(totals)}
        piece = Piece(None, {**arrays, "done": done})
        write_or_warn(draft, piece, "the flops that are done stay")


def flop_strata(flops: np.ndarray) -> np.ndarray:
    """Returns int64[f]: the stratum of each flop, by its numbers of ranks and of suits."""
    ranks, suits = np.sort(flops // 4, axis=1), np.sort(flops % 4, axis=1)
    stratum: np.ndarray = 3 * (np.diff(ranks, axis=1) > 0).sum(axis=1)
    stratum += (np.diff(suits, axis=1) > 0).sum(axis=1)
    return stratum


def draw_flops(query: PreparedQuery, n: int, seed: int) -> list[tuple[np.ndarray, float]]:
    """Returns for each stratum the flops drawn, with replacement by their weight, and its share of
    all flops. At least two flops of each stratum, the others in proportion to the shares."""
    rng = np.random.default_rng(seed)
    stratum, weight = flop_strata(query.flops), query.weight.astype(np.float64)
    strata = np.unique(stratum)
    shares = np.array([weight[stratum == one].sum() for one in strata]) / weight.sum()
    counts = np.full(len(strata), 2)
    while counts.sum() < n:
        counts[np.argmax(shares / counts)] += 1
    drawn = []
    for one, share, count in zip(strata, shares, counts, strict=True):
        members = np.flatnonzero(stratum == one)
        probability = weight[members] / weight[members].sum()
        drawn.append((rng.choice(members, size=count, p=probability), float(share)))
    return drawn


def sample_flops(
    queries: list[PreparedQuery], n: int, seed: int, progress: ShareCallback, traverse: Traversal
) -> list[float]:
    """Returns an estimate of the game value of each query from n flops."""
    drawn = values_of_drawn(queries, n, seed, progress, traverse)
    return [estimate(query, strata) for query, strata in zip(queries, drawn, strict=True)]


def values_of_drawn(
    queries: list[PreparedQuery], n: int, seed: int, progress: ShareCallback, traverse: Traversal
) -> list[list[tuple[np.ndarray, float]]]:
    """Returns for each query the values of n drawn flops by stratum, and the strata's shares."""
    drawn = draw_flops(queries[0], n, seed)
    flops = sorted({int(flop) for members, _ in drawn for flop in members})
    values: dict[int, list[np.ndarray]] = {}
    for flop, of_queries in traverse(flops):
        values[flop] = of_queries
        progress(len(values) / len(flops))
    return [
        [(np.array([values[int(flop)][k] for flop in members]), share) for members, share in drawn]
        for k in range(len(queries))
    ]


def estimate(query: PreparedQuery, strata: list[tuple[np.ndarray, float]]) -> FlopEstimate:
    """Returns an estimate from the values of the flops drawn in each stratum and its share."""
    whole = _total(query, strata)
    value = query.game_value(whole)
    halves = [_total(query, [(values[k::2], share) for values, share in strata]) for k in (0, 1)]
    crossed = [query.payoff(halves[1 - k], halves[k]) for k in (0, 1)]
    bias = max(value - float(np.mean(crossed)), 0.0) if query.best else 0.0
    drawn = sum(len(values) for values, _ in strata)
    return FlopEstimate(value, stratified_half(payoffs_of_flops(query, strata)), bias, drawn)


def payoffs_of_flops(
    query: PreparedQuery, strata: list[tuple[np.ndarray, float]]
) -> list[tuple[np.ndarray, float]]:
    """Returns for each stratum the payoff if every flop were like one that was drawn, and its
    share. The play before the flop is that of the whole sample, so their mean is the estimate."""
    weight, whole = float(query.weight.sum()), _total(query, strata)
    return [
        (np.array([query.payoff(weight * part, whole) for part in values]), share)
        for values, share in strata
    ]


def _total(query: PreparedQuery, strata: list[tuple[np.ndarray, float]]) -> np.ndarray:
    """Returns the values summed over all flops, estimated from those drawn."""
    weight = float(query.weight.sum())
    return np.asarray(
        np.sum([weight * share * values.mean(axis=0) for values, share in strata], axis=0)
    )
