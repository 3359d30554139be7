"""Public chance sampling (Johanson, Bard, Lanctot, Gibson & Bowling 2012): only the board is
sampled, and the public tree of hold'em is traversed in vector form.

Symbols: r_I → `regret`, s_I → `strategy_sum`, π_-i → `Reach`, σ → `work.policy`. An iteration draws
a board and traverses the betting once with a number for every holding of each player: r̃(I, a) = Σ_h
π_-i (v(h, a) - v(h)) over the holdings h of the bucket, s_I[a] += Σ_h π_i σ(I, a). Both players are
updated. Deviations: the average is weighted by the iteration (`averaging="linear"`) by default.
Restricted games: the model's reach is a third vector, and its coin is not sampled. Of RNR the model
may have another card abstraction, whose buckets are looked up beside the players' own.

With a `tilt` what is won counts 1 + tilt times and what is lost once, by folds as by showdowns, and
both players know: the game is tilted, and not its strategies, which are those of the ordinary one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter, one_of, real, shown
from counterplay.core.forms.game import Game
from counterplay.core.forms.restricted import DataBiasedForm, OtherModel, RestrictedForm
from counterplay.core.kernels.device import Device
from counterplay.core.kernels.jit import prepare
from counterplay.core.parallel.pool import TOLERANT, Worker, WorkerPool
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.sampling import SamplingSolver
from counterplay.poker.cards.deal import draw
from counterplay.poker.vector.board import Board, fill_board, new_board
from counterplay.poker.vector.holding_classes import BoardSource
from counterplay.poker.vector.public_sampling_cuda import DevicePool, check_batch
from counterplay.poker.vector.public_traversal import FollowedRows, Iteration, traverse_board
from counterplay.poker.vector.public_tree import streets_of, with_tilt
from counterplay.poker.vector.public_values import (
    InfosetRows,
    Restriction,
    TraversalWorkspace,
    form_counts,
    new_traversal_workspace,
)

AVERAGING = ("linear", "uniform")
BACKENDS = ("cpu", "cuda")
BATCH = 16  # boards in an iteration on a device: see benchmarks/batches.csv
NEW_DEVICE: Callable[[], Any] = Device
DTYPE = np.float32  # of a traversal; the tables are in double precision
MOST_TILT = 30.0  # half precision has room for what classes win
UNRESTRICTED = Restriction(-1, False, np.array([1.0, 0.0], dtype=DTYPE), np.zeros(0), np.zeros(0))


class PublicWorkspace(NamedTuple):
    """The workspace of one thread."""

    board: Board
    model_board: Board  # with the buckets of a model of another card abstraction
    work: TraversalWorkspace


class PublicSampling(SamplingSolver):
    """`averaging`: weight of iteration t in the average strategy, t ("linear") or 1 ("uniform").
    `backend`: "cpu", or "cuda" for a device, where an iteration is a `batch` of boards. `tilt`:
    what is won counts 1 + `tilt` times for both players."""

    name = "mccfr-public"
    early = TOLERANT
    other_models = True  # of other card abstractions, for RNR
    summary = "public chance sampling: hold'em in vector form, all holdings of a board at once"

    @classmethod
    def plays(cls, game: Game) -> bool:
        return game.can("boards")

    def __init__(
        self,
        problem: Problem,
        seed: int,
        *,
        averaging: str = "linear",
        threads: int = 1,
        backend: str = "cpu",
        batch: int = BATCH,
        tilt: float = 0.0,
    ) -> None:
        game = problem.game
        if not self.plays(game):
            raise BadParameter(
                f"{self.name} traverses the boards of hold'em, and {game.name} has none; use "
                "another algorithm"
            )
        if game.rules.betting.n_streets != 4:
            raise BadParameter(f"{self.name} needs betting on all four streets")
        self._tilt = check_tilt(tilt)
        self._streets = streets_of(game.rules.tree, DTYPE)
        self._counts = game.rules.abstraction.counts
        nodes = game.rules.tree.nodes
        self._decisions = np.bincount(nodes.street[nodes.node], minlength=4)
        self._linear = one_of(averaging, AVERAGING, "averaging") == AVERAGING[0]
        self._restricted_form, self._of_form = None, UNRESTRICTED
        options: dict[str, Any] = {"averaging": averaging}
        if self._tilt != 0.0:
            self._streets = tuple(with_tilt(street, self._tilt) for street in self._streets)
            options |= {"tilt": self._tilt}
        self._batch = check_batch(batch)
        self._device = one_of(backend, BACKENDS, "backend") == "cuda"
        if self._device:
            options |= {"backend": backend, "batch": batch}
            if threads != 1:
                raise BadParameter(
                    "with backend=cuda all processors deal boards; leave out threads"
                )
        super().__init__(problem, seed, threads, **options)

    def _new_pool(self, workers: list[Worker]) -> WorkerPool:
        if not self._device:
            return super()._new_pool(workers)
        rows = InfosetRows(self.game.form.first_row, self.game.form.first)
        boards, device = self._board_source(), NEW_DEVICE()
        return DevicePool(workers[0], rows, self._streets, self._counts, boards, device, self._tilt)

    def _board_source(self) -> BoardSource:
        cards, model = self.game.form.cards, other_model(self.form)
        other = () if model is None else (model.form.cards, form_counts(model.form))
        return BoardSource(cards, cards.deck, self._counts, self._batch, *other)

    def _new_workspace(self) -> PublicWorkspace:
        model = other_model(self.form)
        counts = self._counts if model is None else form_counts(model.form)
        most = tuple(map(max, self._counts, counts))
        work = new_traversal_workspace(self._streets, most, DTYPE, self._tilt)
        return PublicWorkspace(new_board(self._counts), new_board(counts), work)

    def change_problem(self, problem: Problem) -> None:
        before, after = other_model(self.form), other_model(problem.form)
        super().change_problem(problem)
        if getattr(before, "form", None) is getattr(after, "form", None):
            return
        for worker in self._pool.workers:
            worker.workspace = self._workspace_on(worker.buffer)
        if isinstance(self._pool, DevicePool):
            self._pool.source = self._board_source()

    def _play(
        self, worker: Worker, done: int, n: int, stride: int, scale: float
    ) -> tuple[int, int]:
        """Calls the kernels from Python for each board, so that one compiled traversal serves all
        card abstractions."""
        streets, form = self._streets, self.game.form
        rows, restriction = InfosetRows(form.first_row, form.first), self._restriction
        board, model_board, work = worker.workspace
        other, model = other_model(self.form), FollowedRows(rows, board)
        if other is not None:
            model = FollowedRows(InfosetRows(other.form.first_row, other.form.first), model_board)
        chance = worker.chance if restriction.restricted < 0 else worker.chance.inner
        left = len(chance.deck) - 7
        regret_weight = scale / (left * (left - 1) // 2)  # per possible holding of the opponent
        if isinstance(self._pool, DevicePool):
            return n, self._play_batches(self._pool, done, n, regret_weight)
        if n == 0:
            prepare(draw, chance, worker.rng)
            prepare(fill_board, form.cards, chance, len(streets), board)
            if other is not None:
                prepare(fill_board, other.form.cards, chance, len(streets), model_board)
            nothing = Iteration(rows, worker.tables, restriction, 0.0, 0.0, model)
            prepare(traverse_board, streets, board, nothing, work)
        updated = 0
        for t in range(done + 1, done + 1 + n * stride, stride):
            draw(chance, worker.rng)
            fill_board(form.cards, chance, len(streets), board)
            if other is not None:
                fill_board(other.form.cards, chance, len(streets), model_board)
            weights = regret_weight, float(t) if self._linear else 1.0
            iteration = Iteration(rows, worker.tables, restriction, *weights, model)
            traverse_board(streets, board, iteration, work)
            updated += int(self._decisions @ board.n_buckets)
        return n, updated

    def _play_batches(self, pool: DevicePool, done: int, n: int, regret_weight: float) -> int:
        pool.restrict(self._restriction, other_model(self.form))
        updated = 0
        if n == 0:  # compiles and loads everything: an update of weight 0 changes no number
            for boards in pool.source.batches(self.seed, 0, 0):
                pool.update(boards, 0.0, 0.0)
            pool.device.wait()
        else:
            for t, boards in enumerate(
                pool.source.batches(self.seed, done + 1, done + n), done + 1
            ):
                pool.update(boards, regret_weight, float(t) if self._linear else 1.0)
                updated += int(self._decisions @ boards.buckets.sum(axis=0))
            pool.device.wait()  # so that the measured time includes the work
        return updated

    @property
    def _restriction(self) -> Restriction:
        if self._restricted_form is not self.form:
            self._restricted_form, self._of_form = self.form, restriction_of(self.form)
        return self._of_form


def restriction_of(form: Any) -> Restriction:
    """Returns the restriction of a form, or `UNRESTRICTED`."""
    if isinstance(form, RestrictedForm):
        share = np.array([1.0 - form.p, form.p], dtype=DTYPE)
        model = other_model(form)
        fixed = (form.fixed if model is None else model.policy).copy()
        return UNRESTRICTED._replace(
            restricted=form.restricted, per_hand=True, share=share, fixed=fixed
        )
    if isinstance(form, DataBiasedForm):
        return UNRESTRICTED._replace(
            restricted=form.restricted, fixed=form.fixed.copy(), confidence=form.confidence.copy()
        )
    return UNRESTRICTED


def other_model(form: Any) -> OtherModel | None:
    """Returns the model of a restricted form if it has another card abstraction."""
    model = getattr(form, "fixed", None)
    return model if isinstance(model, OtherModel) else None


def check_tilt(tilt: Any) -> float:
    """`tilt` as a number from -1, at which nothing is won, to `MOST_TILT`."""
    if not -1.0 <= real(tilt, "tilt") <= MOST_TILT:
        raise BadParameter(f"tilt must be from -1 to {MOST_TILT:g}, not {shown(tilt)}")
    return float(tilt)


SOLVER = PublicSampling
