"""Public chance sampling (Johanson, Bard, Lanctot, Gibson & Bowling 2012): only the board is
sampled, and hold'em is walked by it (`holdem/walk/`).

Symbols: r_I → `regret`, s_I → `strategy_sum`, π_-i → `Reach`, σ → `work.policy`. An iteration draws
a board and walks the betting once with a number for every holding of each player: r̃(I, a) = Σ_h
π_-i (v(h, a) - v(h)) over the holdings h of the bucket, s_I[a] += Σ_h π_i σ(I, a). Both players are
updated. Deviations: the average is weighted by the iteration (`averaging="linear"`) unless asked
otherwise. Restricted games: the model's reach is one more number, and nothing is drawn.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.forms.game import Game
from counterplay.forms.restricted import DataBiasedForm, RestrictedForm
from counterplay.holdem.cards import HOLDING_CARDS
from counterplay.holdem.deal import draw
from counterplay.holdem.form import BettingGame
from counterplay.holdem.walk.board import Board, fill_board, new_board
from counterplay.holdem.walk.shape import streets_of
from counterplay.kernels.jit import jit
from counterplay.solvers.base import one_of
from counterplay.solvers.public_walk import Ties, Work, new_work, walk_board
from counterplay.solvers.sampling import SamplingSolver
from counterplay.solvers.teams import Worker

AVERAGING = ("linear", "uniform")
DTYPE = np.float32  # of one walk; what is learnt is kept in double precision


#: Lower and higher card of every holding.
_LOW, _HIGH = (np.ascontiguousarray(HOLDING_CARDS[:, k], dtype=np.int64) for k in (0, 1))


class Tables(NamedTuple):
    """What is learned: s slots."""

    regret: np.ndarray  # float64[s]
    strategy_sum: np.ndarray  # float64[s]


class Scratch(NamedTuple):
    """What one thread works with."""

    board: Board
    work: Work


@jit
def public_sampling(
    streets: Any,
    decisions: np.ndarray,
    form: Any,
    low: np.ndarray,
    high: np.ndarray,
    chance: Any,
    tables: Tables,
    board: Board,
    work: Work,
    ties: Ties,
    rng: np.ndarray,
    done: int,
    n: int,
    stride: int,
    scale: float,
    linear: bool,
) -> int:
    """n iterations numbered done + 1, done + 1 + stride, ..., regrets counting `scale` times.
    Changes `tables`, scratch and `rng`; returns the information sets met."""
    met = 0
    t = done + 1
    for _ in range(n):
        draw(chance, rng)
        fill_board(form.cards, low, high, chance, len(streets), board)
        left = len(chance.deck) - 7
        opponents = left * (left - 1) // 2  # holdings that one of his can meet
        walk_board(
            streets,
            board,
            form,
            tables,
            ties,
            scale / opponents,
            float(t) if linear else 1.0,
            work,
        )
        for s in range(len(streets)):
            met += decisions[s] * board.n_buckets[s]
        t += stride
    return met


class PublicSampling(SamplingSolver):
    """`averaging`: how much iteration t counts in the average strategy, t ("linear") or 1
    ("uniform")."""

    name = "mccfr-public"
    summary = "public chance sampling: hold'em by the board, all holdings at once"

    def __init__(
        self,
        game: Game,
        seed: int,
        form: Any = None,
        *,
        averaging: str = "linear",
        threads: int = 1,
    ) -> None:
        if not isinstance(game.form, BettingGame):
            raise BadParameter(
                f"{self.name} walks hold'em by the board, and {game.name} has none; use another "
                f"algorithm"
            )
        self._streets = streets_of(game.rules.tree, DTYPE)
        self._counts = game.rules.view.counts
        nodes = game.rules.tree.nodes
        self._decisions = np.bincount(nodes.street[nodes.node], minlength=4)
        self._linear = one_of(averaging, AVERAGING, "averaging") == AVERAGING[0]
        tables = Tables(np.zeros(game.n_slots), np.zeros(game.n_slots))
        super().__init__(game, seed, form, tables, threads, averaging=averaging)

    def _new_scratch(self) -> Scratch:
        return Scratch(new_board(self._counts), new_work(self._streets, self._counts, DTYPE))

    def play(self, worker: Worker, done: int, n: int, stride: int, scale: float) -> int:
        tied = self._form is not self.game.form and not isinstance(self._form, BettingGame)
        return int(
            public_sampling(
                self._streets,
                self._decisions,
                self.game.form,
                _LOW,
                _HIGH,
                worker.chance.inner if tied else worker.chance,
                worker.tables,
                worker.scratch.board,
                worker.scratch.work,
                ties_of(self._form),
                worker.rng,
                done,
                n,
                stride,
                scale,
                self._linear,
            )
        )


def ties_of(form: Any, dtype: Any = DTYPE) -> Ties:
    """What a form says of a model."""
    nothing = np.zeros(0)
    if isinstance(form, RestrictedForm):
        share = np.array([1.0 - form.p, form.p], dtype=dtype)
        return Ties(form.restricted, True, share, form.fixed, nothing)
    share = np.array([1.0, 0.0], dtype=dtype)
    if isinstance(form, DataBiasedForm):
        return Ties(form.restricted, False, share, form.fixed, form.confidence)
    return Ties(-1, False, share, nothing, nothing)


SOLVER = PublicSampling
