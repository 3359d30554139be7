"""Game values from the values of flops: the sum over all flops, or an estimate from a sample.

The sum over all flops takes long, so finished flops are stored as a draft, and the same queries
continue from it. An estimate is a `FlopEstimate` from flops drawn in strata (the numbers of ranks
and suits they show), in proportion to their weight. Its interval is that of a stratified mean, with
the play before the flop fixed. A best response chooses that play on the flops drawn, which is
biased upwards; the bias is measured by choosing on one half of the flops and paying on the other.
`control_variate` narrows the interval by another player's values on the same flops, whose value
over all flops is known.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.progress import ShareCallback
from counterplay.core.base.store import Piece, Slot, Store, cached_store, digest, write_or_warn
from counterplay.core.evaluation.estimate import Drawn, FlopEstimate
from counterplay.core.kernels.simd import LANES
from counterplay.core.parallel.processes import cores
from counterplay.poker.betting.betting import UNIT
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.vector.flop_values import Played, PreparedQuery
from counterplay.poker.vector.policy import VectorPolicy

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
    named = have_names(queries)
    draft = flops_draft(queries, device) if queries[0].full and named else None
    totals, done = _read_draft(draft, queries)
    left = np.flatnonzero(~done).tolist()
    if not device and len(left) > 100:
        hours = cpu_hours(len(queries)) * len(left) / len(done)
        kept = "finished flops are stored, and the same call continues from them"
        if not named:
            kept = "nothing is stored, since a policy without a version has no name"
        warnings.warn(
            f"traversing {len(left):,} flops takes about {hours:.0f} hours on {cores()} "
            f"processors; {kept}",
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


def have_names(queries: Sequence[PreparedQuery]) -> bool:
    """Returns whether values can be stored: a function has no hash, unless its author names a
    version."""
    return all(one.version for query in queries for one in query.query.policies)


def flop_store() -> Store:
    """Returns the store of values of flops."""
    return cached_store("exact-values", "counterplay.poker.vector")


def flops_draft(queries: list[PreparedQuery], device: bool) -> Slot:
    """Returns where the sums over finished flops are stored: under everything they depend on."""
    return flop_store().draft("flops", flops_recipe(queries, device))


def flops_recipe(queries: list[PreparedQuery], device: bool) -> dict[str, Any]:
    """Returns everything that values of flops depend on."""
    hashes: dict[int, str] = {}  # by identity, since most tables share their cards

    def hashed(table: Played) -> list[str]:
        if isinstance(table, VectorPolicy):
            return ["policy", table.name, table.version]
        cards = (array for array in table.cards if array is not None)
        arrays = (*cards, table.first_row, table.carry, table.policy)
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

    return {"backend": "cuda" if device else "cpu", "queries": [recipe(q) for q in queries]}


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


class FlopSample(NamedTuple):
    """The value of a query in a sample of flops. `flops`: for each stratum what the query would be
    worth if every flop were like one drawn, with the play before the flop fixed (float64[drawn]),
    and its share of all flops; the value is their mean. `excess`: by how much a best response that
    chooses on one half of the flops and is paid on the other has less."""

    value: float
    excess: float
    flops: list[tuple[np.ndarray, float]]
    drawn: bytes = b""  # the numbers of these flops

    def estimate(self, fitted: int = 0) -> FlopEstimate:
        """Returns the value with its interval, after fitting so many coefficients."""
        size = sum(len(values) for values, _ in self.flops)
        drawn = Drawn(self.drawn, tuple(self.flops), fitted)
        return FlopEstimate(self.value, drawn.half(), max(self.excess, 0.0), size, drawn, UNIT[-1])

    def plus(self, other: FlopSample, factor: float = 1.0) -> FlopSample:
        """Returns the sum with a multiple of another one on the same flops."""
        both = zip(self.flops, other.flops, strict=True)
        return FlopSample(
            self.value + factor * other.value,
            self.excess + factor * other.excess,
            [(values + factor * others, share) for (values, share), (others, _) in both],
            self.drawn,
        )


def control_variate(
    samples: Sequence[FlopSample], known: Sequence[FlopSample], exact: float
) -> FlopEstimate:
    """Returns the sum of `samples`, corrected by what the sum of `known`, of a player on the same
    flops, is off its `exact` value: X - c (Y - exact), with the c that leaves the least variance
    (the combined regression estimate of a stratified sample), which costs a degree of freedom.
    Choosing before the flop makes both too high, so the bias mostly goes, too."""
    one, other = _sum(samples), _sum(known)
    shared = within = 0.0
    for (values, share), (others, _) in zip(one.flops, other.flops, strict=True):
        (_, between), (_, spread) = share**2 * np.cov(values, others) / len(values)
        shared, within = shared + float(between), within + float(spread)
    factor = shared / within if within > 0.0 else 1.0
    return one.plus(other, -factor).estimate(fitted=1) + factor * exact


def _sum(samples: Sequence[FlopSample]) -> FlopSample:
    total = samples[0]
    for sample in samples[1:]:
        total = total.plus(sample)
    return total


def sample_flops(
    queries: list[PreparedQuery], n: int, seed: int, progress: ShareCallback, traverse: Traversal
) -> list[FlopSample]:
    """Returns the value of each query in a sample of n flops."""
    drawn = draw_flops(queries[0], n, seed)
    flops = sorted({int(flop) for members, _ in drawn for flop in members})
    values: dict[int, list[np.ndarray]] = {}
    for flop, of_queries in traverse(flops):
        values[flop] = of_queries
        progress(len(values) / len(flops))
    samples, numbers = [], np.concatenate([members for members, _ in drawn]).tobytes()
    for k, query in enumerate(queries):
        strata = [
            (np.array([values[int(flop)][k] for flop in members]), share)
            for members, share in drawn
        ]
        samples.append(flop_sample(query, strata)._replace(drawn=numbers))
    return samples


def flop_sample(query: PreparedQuery, strata: list[tuple[np.ndarray, float]]) -> FlopSample:
    """Returns a sample from the values of the flops drawn in each stratum and its share."""
    weight = float(query.weight.sum())

    def total(parts: list[np.ndarray]) -> np.ndarray:
        means = [
            weight * share * values.mean(axis=0)
            for values, (_, share) in zip(parts, strata, strict=True)
        ]
        return np.asarray(np.sum(means, axis=0))

    whole = total([values for values, _ in strata])
    value = query.game_value(whole)
    single = [  # linear in one flop's values, with the play before the flop fixed
        (np.array([query.payoff(weight * part, whole) for part in values]), share)
        for values, share in strata
    ]
    halves = [[values[k::2] for values, _ in strata] for k in (0, 1)]
    crossed = [query.payoff(total(halves[1 - k]), total(halves[k])) for k in (0, 1)]
    return FlopSample(value, value - float(np.mean(crossed)) if query.best else 0.0, single)


def stored_flops(queries: list[PreparedQuery], device: bool, traverse: Traversal) -> Traversal:
    """Returns a traversal that reads the values of flops from the cache folder, or puts them there:
    for a player that others are measured beside, and for policies that are slow to ask."""
    recipe = flops_recipe(queries, device)
    shape = {f"value{k}": (query.groups, N_HOLDINGS, LANES) for k, query in enumerate(queries)}

    def slot(flop: int) -> Slot:
        return flop_store().slot("flop", {**recipe, "flop": flop})

    def read_or_traverse(flops: list[int]) -> Iterator[tuple[int, list[np.ndarray]]]:
        missing = []
        for flop in flops:
            piece = slot(flop).read()
            if piece is not None and {k: v.shape for k, v in piece.arrays.items()} == shape:
                yield flop, [piece.arrays[name] for name in shape]
            else:
                missing.append(flop)
        for flop, values in traverse(missing) if missing else ():
            arrays = dict(zip(shape, values, strict=True))
            write_or_warn(slot(flop), Piece(None, arrays), f"flop {flop} stays")
            yield flop, values

    return read_or_traverse
