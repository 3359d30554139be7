"""Values in hold'em by walking its boards (`poker/vector/`): all flops, or a sample of them.

A strategy that sees buckets plays the real game, so a best response here knows its cards: the
exploitability of Johanson et al. 2011. With `flops=40` only some flops are walked, drawn by their
weight in strata (how many ranks and suits they show), and the answer is a `FlopEstimate`. Its
interval is that of the strata's means, with the play before the flop as it is. A best response
chooses that play by the flops drawn, which makes it look too good; how much is measured by choosing
on one half of the flops and paying on the other.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, unknown, whole_number
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.base.store import Piece, Slot, cached_store, digest, write_or_warn
from counterplay.core.evaluation.estimate import FlopEstimate, stratified_half
from counterplay.core.forms.game import Evaluator, Game, Payoff
from counterplay.core.forms.strategy import Mixture, Strategy
from counterplay.core.kernels.simd import LANES
from counterplay.core.parallel.processes import cores
from counterplay.core.parallel.ray_cluster import Cluster, current
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.holdem.table import Table, strategy_table
from counterplay.poker.vector.flops import (
    BACKENDS,
    BoardQuestion,
    Instead,
    Prepared,
    check_streets,
    on_device,
    on_processors,
)
from counterplay.poker.vector.suit_symmetry import check_suits

FLOPS, RIVERS = 1_755, 2_554_656  # up to suits
SECONDS_PER_RIVER = 0.025  # of one player, on one processor: for the time that is announced
LEAST_FLOPS = 12
OPTIONS = ("backend", "flops", "seed", "progress")  # of a walk
KEEP_EVERY = 16  # flops
FLOPS_SENT = 2  # to a worker of a cluster at once
Walked = Iterator[tuple[int, list[np.ndarray]]]
Walk = Callable[[list[int]], Walked]


class ValueAsked(NamedTuple):
    """What `player` gets from the table `against`, or `instead`, with the table `by`, or at best
    (None)."""

    player: int
    against: Table
    by: Table | None = None
    instead: Instead | None = None


def values_by_board(
    game: Game,
    questions: Sequence[ValueAsked],
    backend: str = "auto",
    flops: int | None = None,
    seed: int = 0,
    progress: ShareCallback = no_progress,
) -> list[float]:
    """The answer to each question: a number, or an estimate when `flops` is given."""
    mixed = any(asked.instead is not None for asked in questions)
    device = check_walk(game, backend, flops, seed, questions=len(questions), mixed=mixed)
    for asked in questions:
        for table in (asked.against, asked.by or asked.against):
            check_suits(table.cards)
    prepared = [_prepared(game, asked) for asked in questions]
    walk = partial(_walk, prepared, device)
    cluster = None if device else current()
    if cluster is not None and all(_can_be_sent(game, asked) for asked in questions):
        walk = partial(_walk_far, cluster, game, questions)
    if flops is None:
        return _all_flops(prepared, device, progress, walk)
    return _some_flops(prepared, flops, seed, progress, walk)


def _prepared(game: Game, asked: ValueAsked) -> Prepared:
    tree, deck = game.rules.tree, game.rules.view.deck
    return Prepared(BoardQuestion(tree, asked.player, asked.against, asked.by, deck, asked.instead))


def check_walk(
    game: Game,
    backend: str = "auto",
    flops: int | None = None,
    seed: int = 0,
    progress: ShareCallback = no_progress,
    *,
    questions: int,
    mixed: bool = False,
) -> bool:
    """Whether so many questions are walked on a device; `BadParameter` for what cannot be done,
    before any work."""
    if backend not in BACKENDS:
        raise BadParameter(f"backend must be one of {', '.join(BACKENDS)}, not {backend!r}")
    for name, number in (("flops", flops), ("seed", seed)):
        if number is not None:
            whole_number(number, None, None, name)
    if flops is not None and flops < LEAST_FLOPS:
        raise BadParameter(f"an estimate needs at least {LEAST_FLOPS} flops, not {flops}")
    if seed < 0:
        raise BadParameter(f"seed must be at least 0, not {seed}")
    check_streets(game.rules.tree)
    full = game.rules.view.deck.full
    device = full and _on_device(backend, mixed)
    if flops is None and not device and full and backend != "cpu":
        hours = _hours(questions)
        raise BadParameter(
            f"without a CUDA device all flops take about {hours:.0f} hours on {cores()} processors "
            "(backend=cpu does it, keeps what is done and goes on with the same call); flops=40 "
            f"gives an estimate in about {60 * hours * 40 / FLOPS:.0f} minutes; in a command "
            "--backend cpu and --flops 40"
        )
    return device


def _on_device(backend: str, mixed: bool) -> bool:
    if backend == "cuda" and mixed:
        raise BadParameter("a mixture is walked on processors; use backend=cpu")
    if backend == "cpu" or mixed:
        return False
    from counterplay.core.kernels.device import cupy

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


def _can_be_sent(game: Game, asked: ValueAsked) -> bool:
    """Whether every table sees the game's own cards, which each machine has."""
    tables = [asked.against, asked.by or asked.against]
    tables += [asked.instead.table] if asked.instead is not None else []
    return all(table.cards is game.form.cards for table in tables)


def _walk_far(
    cluster: Cluster, game: Game, questions: Sequence[ValueAsked], flops: list[int]
) -> Walked:
    """The same by a cluster, a few flops at a time."""
    pieces = [flops[k : k + FLOPS_SENT] for k in range(0, len(flops), FLOPS_SENT)]
    light = [_with_cards(asked, None) for asked in questions]
    for found in cluster.spread(_walk_piece, pieces, (game, light), _prepare_far):
        yield from found


def _prepare_far(sent: tuple[Game, list[ValueAsked]]) -> list[Prepared]:
    game, light = sent
    return [_prepared(game, _with_cards(asked, game.form.cards)) for asked in light]


def _walk_piece(prepared: list[Prepared], flops: list[int]) -> list[tuple[int, list[np.ndarray]]]:
    return list(on_processors(prepared, flops, 1))


def _with_cards(asked: ValueAsked, cards: Any) -> ValueAsked:
    """The same question with tables that see these cards; of arrays copies, which can be
    written."""

    def change(table: Table) -> Table:
        arrays = (table.first_row, table.carry, table.policy)
        return Table(cards, *(np.array(array) for array in arrays))

    return asked._replace(
        against=change(asked.against),
        by=None if asked.by is None else change(asked.by),
        instead=asked.instead and asked.instead._replace(table=change(asked.instead.table)),
    )


def _all_flops(
    prepared: list[Prepared], device: bool, progress: ShareCallback, walk: Walk
) -> list[float]:
    """Every flop; what is done is stored, so that the same question goes on where it stopped."""
    draft = flops_draft(prepared, device) if prepared[0].question.deck.full else None
    totals, done = _read_flops(draft, prepared)
    left = np.flatnonzero(~done).tolist()
    if not device and len(left) > 100:
        hours = _hours(len(prepared)) * len(left) / len(done)
        warnings.warn(
            f"walking {len(left):,} flops takes about {hours:.0f} hours on {cores()} processors; "
            "finished flops are kept, and the same call goes on with them",
            stacklevel=5,
        )
    try:
        for flop, found in walk(left):
            for total, values, q in zip(totals, found, prepared, strict=True):
                total += q.weight[flop] * values
            done[flop] = True
            progress(float(done.mean()))
            if not device and int(done.sum()) % KEEP_EVERY == 0:
                _write_flops(draft, totals, done)
    except BaseException:
        _write_flops(draft, totals, done)
        raise
    answers = [q.answer(total) for q, total in zip(prepared, totals, strict=True)]
    if draft is not None:
        draft.remove()
    return answers


def flops_draft(prepared: list[Prepared], device: bool) -> Slot:
    """Where the sums over the flops that are done are stored: under everything that they depend
    on."""
    known: dict[int, str] = {}  # by identity, since most tables see the same cards

    def hashed(table: Table) -> list[str]:
        arrays = (*table.cards, table.first_row, table.carry, table.policy)
        for array in arrays:
            if id(array) not in known:
                known[id(array)] = digest(array)
        return [known[id(array)] for array in arrays]

    def asked(q: Prepared) -> dict[str, Any]:
        by, instead = q.question.by, q.question.instead
        return {
            "player": q.player,
            "rules": repr(q.question.tree.rules),
            "deck": q.deck.tolist(),
            "precision": np.dtype(q.dtype).str,
            "against": hashed(q.question.against),
            "by": by and hashed(by),
            "instead": instead and [hashed(instead.table), instead.share],
        }

    recipe = {"backend": "cuda" if device else "cpu", "questions": [asked(q) for q in prepared]}
    store = cached_store("exact-values", __name__, "counterplay.poker.vector")
    return store.draft("flops", recipe)


def _read_flops(
    draft: Slot | None, prepared: list[Prepared]
) -> tuple[list[np.ndarray], np.ndarray]:
    """Sums over the flops that are done, of each question, and which these are."""
    totals = [np.zeros((q.groups, N_HOLDINGS, LANES)) for q in prepared]
    done = np.zeros(len(prepared[0].flops), dtype=bool)
    size = sum(total.nbytes for total in totals) + (1 << 20)
    piece = None if draft is None else draft.read(most=size)
    if piece is None:
        return totals, done
    stored = [piece.arrays.get(f"total{k}", done) for k in range(len(totals))]
    marks = piece.arrays.get("done", totals[0])
    pairs = zip([*stored, marks], [*totals, done], strict=True)
    if all(one.shape == other.shape and one.dtype == other.dtype for one, other in pairs):
        return stored, marks
    return totals, done


def _write_flops(draft: Slot | None, totals: list[np.ndarray], done: np.ndarray) -> None:
    if draft is not None and done.any():
        arrays = {f"total{k}": total for k, total in enumerate(totals)}
        piece = Piece(None, {**arrays, "done": done})
        write_or_warn(draft, piece, "the flops that are done stay")


def _hours(questions: int) -> float:
    """How long all flops take on processors, about."""
    return RIVERS * questions * SECONDS_PER_RIVER / cores() / 3600


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
    prepared: list[Prepared], n: int, seed: int, progress: ShareCallback, walk: Walk
) -> list[float]:
    drawn = draw_flops(prepared[0], n, seed)
    wanted = sorted({int(flop) for members, _ in drawn for flop in members})
    found: dict[int, list[np.ndarray]] = {}
    for flop, values in walk(wanted):
        found[flop] = values
        progress(len(found) / len(wanted))
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
    single = [  # linear in one flop's values, with the play before the flop
        (np.array([prepared.paid(every * part, whole) for part in values]), share)
        for values, share in strata
    ]
    halves = [
        [values[k::2] for values, _ in strata] for k in (0, 1)
    ]  # chosen by one half, paid by the other
    crossed = [prepared.paid(total(halves[1 - k]), total(halves[k])) for k in (0, 1)]
    bias = max(value - float(np.mean(crossed)), 0.0) if prepared.best else 0.0
    walked = sum(len(values) for values, _ in strata)
    return FlopEstimate(value, stratified_half(single), bias, walked)


def seat_of(strategy: Strategy | Mixture | Table) -> tuple[Table, Instead | None]:
    """A strategy, or the table of a bot, as the walk reads it."""
    if isinstance(strategy, Table):
        return strategy, None
    if isinstance(strategy, Strategy):
        return strategy_table(strategy), None
    other = Instead(strategy_table(strategy.other), 1.0 - strategy.weight)
    return strategy_table(strategy.one), other


def best_values(
    game: Game,
    strategy: Strategy | Mixture | Table,
    players: Sequence[int] = (0, 1),
    **options: Any,
) -> list[float]:
    """What each of `players` gets at best against the other, in one walk."""
    table, instead = seat_of(strategy)
    return values_by_board(
        game, [ValueAsked(player, table, None, instead) for player in players], **options
    )


def value_by_board(game: Game, strategy: Strategy | Mixture | Table, **options: Any) -> float:
    """What the first player gets where both play `strategy`."""
    table, instead = seat_of(strategy)
    tables = [table] if instead is None else [table, instead.table]
    shares = [1.0] if instead is None else [1.0 - instead.share, instead.share]
    found = values_by_board(game, [ValueAsked(0, table, by, instead) for by in tables], **options)
    return sum(value * share for value, share in zip(found, shares, strict=True))


class BoardEvaluator(Evaluator):
    """By vector-form traversal of the public tree, board by board."""

    name = "boards"
    how = (
        "is measured by walking its boards, which takes long; say how: measure={'flops': 40} for "
        "an estimate, {'backend': 'cuda'} exactly; in a command --flops 40 or --backend cuda"
    )

    def check(self, options: Mapping[str, Any] | None, payoffs: int) -> bool:
        if options is None:
            return False
        strange = [name for name in options if name not in OPTIONS]
        if strange:
            raise unknown("option of measure", strange[0], OPTIONS)
        check_walk(self.game, **options, questions=payoffs)
        return True

    def value(self, strategy: Strategy | Mixture, **options: Any) -> np.ndarray:
        value = value_by_board(self.game, strategy, **options)
        return np.array([value, -value], dtype=object if options.get("flops") else None)

    def best_response(
        self, strategy: Strategy | Mixture, player: int, **options: Any
    ) -> tuple[float, None]:
        return best_values(self.game, strategy, [player], **options)[0], None

    def exploitability(self, strategy: Strategy | Mixture, **options: Any) -> float:
        return sum(best_values(self.game, strategy, **options))

    def payoffs(self, asked: Sequence[Payoff], **options: Any) -> list[float]:
        tables = {
            id(one): strategy_table(one) for ask in asked for one in ask[1:] if one is not None
        }
        questions = [
            ValueAsked(
                one.player,
                tables[id(one.against)],
                None if one.by is None else tables[id(one.by)],
            )
            for one in asked
        ]
        return values_by_board(self.game, questions, **options)


EVALUATOR = BoardEvaluator
