"""Public chance sampling (Johanson, Bard, Lanctot, Gibson & Bowling 2012): only the board is
sampled, and hold'em is walked by it (`poker/vector/`).

Symbols: r_I → `regret`, s_I → `strategy_sum`, π_-i → `Reach`, σ → `work.policy`. An iteration draws
a board and walks the betting once with a number for every holding of each player: r̃(I, a) = Σ_h
π_-i (v(h, a) - v(h)) over the holdings h of the bucket, s_I[a] += Σ_h π_i σ(I, a). Both players are
updated. Deviations: the average is weighted by the iteration (`averaging="linear"`) unless asked
otherwise. Restricted games: the model's reach is one more number, and nothing is drawn.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.forms.game import Game
from counterplay.core.forms.restricted import DataBiasedForm, RestrictedForm
from counterplay.core.kernels.device import Device
from counterplay.core.kernels.jit import jit
from counterplay.core.parallel.pool import TOLERANT, Worker, WorkerPool
from counterplay.core.solvers.base import Problem, one_of
from counterplay.core.solvers.sampling import SamplingSolver
from counterplay.poker.cards.cards import HOLDING_CARDS
from counterplay.poker.cards.deal import draw
from counterplay.poker.vector.board import Board, fill_board, new_board
from counterplay.poker.vector.cuda_boards import BoardSource
from counterplay.poker.vector.public_sampling_cuda import DevicePool, check_batch
from counterplay.poker.vector.public_traversal import walk_board
from counterplay.poker.vector.public_tree import streets_of
from counterplay.poker.vector.public_workspace import BoardWork, Rows, Ties, new_work

AVERAGING = ("linear", "uniform")
BACKENDS = ("cpu", "cuda")
BATCH = 16  # boards of an iteration on a device: see benchmarks/batches.csv
NEW_DEVICE: Callable[[], Any] = Device
DTYPE = np.float32  # of one walk; what is learnt is kept in double precision


#: Lower and higher card of every holding.
_LOW, _HIGH = (np.ascontiguousarray(HOLDING_CARDS[:, k], dtype=np.int64) for k in (0, 1))


NO_TIES = Ties(-1, False, np.array([1.0, 0.0], dtype=DTYPE), np.zeros(0), np.zeros(0))


class PublicTables(NamedTuple):
    """The tables of public chance sampling: s slots."""

    regret: np.ndarray  # float64[s]
    strategy_sum: np.ndarray  # float64[s]


class BoardWorkspace(NamedTuple):
    """The workspace of one thread."""

    board: Board
    work: BoardWork


@jit
def deal_board(form: Any, chance: Any, streets: int, board: Board, rng: np.ndarray) -> None:
    """A random board, and what is to be known of it."""
    draw(chance, rng)
    fill_board(form.cards, _LOW, _HIGH, chance, streets, board)


class PublicSampling(SamplingSolver):
    """`averaging`: how much iteration t counts in the average strategy, t ("linear") or 1
    ("uniform"). `backend`: "cpu", or "cuda" for a device, where an iteration is a `batch` of
    boards."""

    name = "mccfr-public"
    early = TOLERANT
    summary = "public chance sampling: hold'em by the board, all holdings at once"

    @classmethod
    def plays(cls, game: Game) -> bool:
        return game.can("boards")

    def __init__(
        self,
        game: Game,
        seed: int,
        problem: Problem | None = None,
        *,
        averaging: str = "linear",
        threads: int = 1,
        backend: str = "cpu",
        batch: int = BATCH,
    ) -> None:
        if not self.plays(game):
            raise BadParameter(
                f"{self.name} walks hold'em by the board, and {game.name} has none; use another "
                f"algorithm"
            )
        if game.rules.betting.n_streets != 4:
            raise BadParameter(f"{self.name} needs betting on all four streets")
        self._streets = streets_of(game.rules.tree, DTYPE)
        self._counts = game.rules.view.counts
        nodes = game.rules.tree.nodes
        self._decisions = np.bincount(nodes.street[nodes.node], minlength=4)
        self._linear = one_of(averaging, AVERAGING, "averaging") == AVERAGING[0]
        self._tied_form, self._tied = None, NO_TIES
        options: dict[str, Any] = {"averaging": averaging}
        self._batch = check_batch(batch)
        self._device = one_of(backend, BACKENDS, "backend") == "cuda"
        if self._device:
            options |= {"backend": backend, "batch": batch}
            if threads != 1:
                raise BadParameter("with backend=cuda every processor deals; leave out threads")
        super().__init__(game, seed, problem, threads, **options)

    def _new_tables(self, infosets: int, slots: int) -> PublicTables:
        return PublicTables(np.zeros(slots), np.zeros(slots))

    def _new_pool(self, workers: list[Worker]) -> WorkerPool:
        if not self._device:
            return super()._new_pool(workers)
        form = self.game.form
        boards = BoardSource(form.cards, form.cards.deck, self._counts, self._batch)
        rows = Rows(form.first_row, form.first)
        return DevicePool(workers[0], rows, self._streets, self._counts, boards, NEW_DEVICE())

    def _new_workspace(self) -> BoardWorkspace:
        return BoardWorkspace(new_board(self._counts), new_work(self._streets, self._counts, DTYPE))

    def _play(
        self, worker: Worker, done: int, n: int, stride: int, scale: float
    ) -> tuple[int, int]:
        """From Python, board by board: kernels of one type serve all views of the cards."""
        streets, form = self._streets, self.game.form
        rows, ties = Rows(form.first_row, form.first), self._ties
        board, work = worker.workspace.board, worker.workspace.work
        chance = worker.chance if ties.restricted < 0 else worker.chance.inner
        left = len(chance.deck) - 7
        regrets = scale / (left * (left - 1) // 2)  # per holding that one of his can meet
        if isinstance(self._pool, DevicePool):
            return n, self._play_batches(self._pool, done, n, regrets)
        met = 0
        for t in range(done + 1, done + 1 + n * stride, stride):
            deal_board(form, chance, len(streets), board, worker.rng)
            average = float(t) if self._linear else 1.0
            walk_board(streets, board, rows, worker.tables, ties, regrets, average, work)
            met += int(self._decisions @ board.n_buckets)
        return n, met

    def _play_batches(self, pool: DevicePool, done: int, n: int, regrets: float) -> int:
        pool.tie(self._ties)
        met = 0
        if n > 0:
            for t, boards in enumerate(
                pool.source.batches(self.seed, done + 1, done + n), done + 1
            ):
                pool.update(boards, regrets, float(t) if self._linear else 1.0)
                met += int(self._decisions @ boards.buckets.sum(axis=0))
            pool.device.wait()  # so that seconds are those of the work
        return met

    @property
    def _ties(self) -> Ties:
        if self._tied_form is not self._form:
            self._tied_form, self._tied = self._form, ties_of(self._form)
        return self._tied


def ties_of(form: Any) -> Ties:
    """What a form says of a model."""
    if isinstance(form, RestrictedForm):
        share = np.array([1.0 - form.p, form.p], dtype=DTYPE)
        return NO_TIES._replace(
            restricted=form.restricted, once=True, share=share, fixed=form.fixed.copy()
        )
    if isinstance(form, DataBiasedForm):
        return NO_TIES._replace(
            restricted=form.restricted, fixed=form.fixed.copy(), confidence=form.confidence.copy()
        )
    return NO_TIES


SOLVER = PublicSampling
