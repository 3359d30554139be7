"""CFR-BR (Johanson, Bard, Burch & Bowling 2012): CFR against an opponent that best-responds.

The learner in each seat is a run of its own: in every iteration the opponent's best response to its
current strategy is computed, and the learner's regrets are those against that response. The
learner's average converges to an equilibrium, or, if only the learner has an abstraction, to the
least exploitable strategy of the abstraction. Symbols are those of `cfr.py`. Deviations: linear
weights in the average by default, and regret matching+ where no boards are sampled (where they are,
it learns more slowly).

Rules with an engine of their own name it in a method `cfr_br`: in hold'em the learner has a card
abstraction and its opponent has none (`poker/vector/cfr_br.py`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

from counterplay.core.base.errors import BadParameter, flag, one_of, whole_number
from counterplay.core.forms.game import Game
from counterplay.core.forms.sequence import (
    FullWidthForm,
    best_reply,
    payoff_gradient,
    plan_from_policy,
)
from counterplay.core.kernels.jit import jit
from counterplay.core.parallel.jobs import map_in_threads
from counterplay.core.solvers.base import Problem, Solver
from counterplay.core.solvers.cfr_kernels import (
    CFRVariant,
    RegretTables,
    average_strategy,
    new_tables,
    update_player,
)

AVERAGING = ("linear", "uniform")
BACKENDS = ("cpu", "cuda")
AUTO = "auto"
SEATS = 2
FIELDS = ("regret", "strategy_sum", "policy", "plan")  # that are saved
#: What another problem starts with: this share of the regrets, which keeps the current strategies
#: and lets them change soon; an empty average; tables of other names as they are.
KEPT = {"regret": 0.1, "trunk": 0.1, "strategy_sum": 0.0}


class CfrBrSettings(NamedTuple):
    """The options of a run."""

    plus: bool
    ramp: int
    linear: bool
    threads: int
    backend: str
    seed: int

    def weights(self, t: int) -> tuple[float, float]:
        """Returns the weights of iteration t in the regrets and in the average."""
        return float(min(t, self.ramp)), float(t) if self.linear else 1.0


class CfrBrEngine(Protocol):
    """The traversal and the tables of a run."""

    def run(self, done: int, n: int) -> int:
        """Runs iterations done + 1 .. done + n; returns the number of nodes touched."""

    def tables(self) -> dict[str, np.ndarray]:
        """The learnt arrays."""

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        """Restores what `tables` returned."""

    def average(self) -> np.ndarray:
        """float64[n_slots]: the average strategy before normalisation."""

    def current(self) -> np.ndarray:
        """float64[n_slots]: the strategy of the next iteration before normalisation."""


class _Reply(NamedTuple):
    """Workspace of a best response: s slots."""

    payoff: np.ndarray  # float64[s + 1]
    policy: np.ndarray  # float64[s]
    plan: np.ndarray  # float64[s + 1]


@jit
def _iterations(
    form: FullWidthForm, player: int, own: RegretTables, reply: _Reply, variant: CFRVariant,
    done: int, n: int,
) -> None:  # fmt: skip
    """Iterations done + 1 .. done + n of the learner in one seat."""
    other = 1 - player
    for t in range(done + 1, done + n + 1):
        payoff_gradient(form, other, own.plan, reply.payoff)
        plex = form.two if player == 0 else form.one
        best_reply(plex, reply.payoff, reply.policy)
        plan_from_policy(plex, reply.policy, reply.plan)
        payoff_gradient(form, player, reply.plan, own.payoff)
        update_player(form.one if player == 0 else form.two, own, variant, t)


class SequenceFormCfrBr:
    """CFR-BR on a full-width form: both players have all information."""

    def __init__(self, game: Game, form: FullWidthForm, settings: CfrBrSettings) -> None:
        if settings.backend != "cpu":
            raise BadParameter(
                f"cfr-br runs on a device in hold'em alone; for {game.name} leave out backend"
            )
        self._game, self._form, self._threads = game, form, settings.threads
        self._ramp = settings.ramp
        self._variants = [  # during the ramp t / (t + 1) of earlier regrets is kept
            CFRVariant(
                kept, -np.inf if settings.plus else kept, float(settings.linear), False, False
            )
            for kept in (1.0, np.inf)
        ]
        self._tables = new_tables(form, self._variants[0])
        n = [int(side.first[-1]) for side in (form.two, form.one)]
        self._replies = [_Reply(np.empty(k + 1), np.empty(k), np.empty(k + 1)) for k in n]

    def run(self, done: int, n: int) -> int:
        run_seats(self._threads, lambda player: self._run_seat(player, done, n))
        return n * self._game.n_nodes

    def _run_seat(self, player: int, done: int, n: int) -> None:
        own, reply = self._tables[player], self._replies[player]
        rising = min(max(self._ramp - 1 - done, 0), n)
        first, then = self._variants
        _iterations(self._form, player, own, reply, first, done, rising)
        _iterations(self._form, player, own, reply, then, done + rising, n - rising)

    def tables(self) -> dict[str, np.ndarray]:
        return {
            f"{name}{k}": getattr(tables, name)
            for k, tables in enumerate(self._tables, 1)
            for name in FIELDS
        }

    def restore(self, saved: Mapping[str, np.ndarray]) -> None:
        for name, array in self.tables().items():
            array[:] = saved[name]

    def average(self) -> np.ndarray:
        return average_strategy(self._form, self._tables)

    def current(self) -> np.ndarray:
        return np.concatenate([tables.policy for tables in self._tables])


def run_seats(threads: int, run: Any, seats: Sequence[int] = range(SEATS)) -> None:
    """Calls `run` for each seat, in two threads if there are as many: seats share no slot."""
    if threads > 1:
        map_in_threads(run, seats, SEATS)
        return
    for player in seats:
        run(player)


def _check_hidden(game: Game) -> None:
    """`BadParameter` for a game of perfect information."""
    tree = game.tree
    if int((tree.player >= 0).sum()) == game.n_infosets:
        raise BadParameter(
            f"{game.name} has no hidden cards: every player knows the history at each decision, "
            f"and cfr-br is for games with hidden information; use cfr+"
        )


class CfrBr(Solver):
    """`plus`: regret matching+, or plain; "auto": plain where boards are sampled; `ramp`: the
    weight of iteration t in the regrets is t up to this one, then constant, so that a long run
    forgets its beginning; `averaging`: its weight in the average, t ("linear") or 1 ("uniform");
    `current`: the strategy is the current one, not the average; `threads`: 1, or 2 for one a seat;
    `backend`: "cpu", or in hold'em "cuda" for a device."""

    name = "cfr-br"
    summary = "CFR-BR: regret matching against a best response; in hold'em without its abstraction"
    sampled = False

    def __init__(
        self,
        problem: Problem,
        seed: int,
        *,
        plus: bool | str = AUTO,
        ramp: int = 1,
        averaging: str = "linear",
        current: bool = False,
        threads: int = 1,
        backend: str = "cpu",
    ) -> None:
        game = problem.game
        plus = not self.draws(game) if plus == AUTO else flag(plus, "plus")
        given: dict[str, Any] = {"plus": plus, "averaging": averaging}
        linear = one_of(averaging, AVERAGING, "averaging") == AVERAGING[0]
        self._current = flag(current, "current")
        where = {"backend": one_of(backend, BACKENDS, "backend")} if backend != "cpu" else {}
        whole_number(threads, 1, SEATS, "threads")
        more: dict[str, Any] = {"current": True} if current else {}
        more |= {"ramp": whole_number(ramp, 1, None, "ramp")} if ramp != 1 else {}
        more |= {"threads": threads} if threads > 1 else {}
        super().__init__(problem, seed, **given, **more, **where)
        if game.n_players != SEATS:
            raise BadParameter(
                f"{self.name} is for two players, and {game.name} has {game.n_players}"
            )
        self._settings = CfrBrSettings(plus, ramp, linear, threads, backend, self.seed)
        self._begin(1)

    def _new_engine(self) -> CfrBrEngine:
        game, settings = self.game, self._settings
        if self.draws(game):
            engine: CfrBrEngine = game.rules.cfr_br(game, settings, self.problem.restriction)
            return engine
        form = self.problem.sequence_form
        _check_hidden(game)
        return SequenceFormCfrBr(game, form, settings)

    def change_problem(self, problem: Problem) -> None:
        """Where boards are sampled: begins again from the current strategies, with other boards.
        Without trust in a model it begins from nothing: what was learnt against one leaves risks
        that are slow to unlearn."""
        if not self.draws(self.game):
            super().change_problem(problem)
        saved, self.problem = self.tables(), problem
        self._begin(self._problems + 1)
        restricted = problem.restriction
        if restricted is None or restricted.trust.any():
            self._engine.restore(
                {name: KEPT.get(name.rstrip("0123456789"), 1.0) * saved[name] for name in saved}
            )
        self.counters[:] = 0

    def _begin(self, number: int) -> None:
        """Makes the engine of the `number`th problem, which draws boards of its own."""
        self._problems, seed = number, self.seed
        if number > 1:
            seed = int(np.random.SeedSequence((self.seed, number)).generate_state(1)[0])
        self._settings = self._settings._replace(seed=seed)
        self._engine = self._new_engine()

    def arrays(self) -> dict[str, np.ndarray]:
        more = {"problems": np.array([self._problems])} if self._problems > 1 else {}
        return {**super().arrays(), **more}

    @classmethod
    def draws(cls, game: Game) -> bool:
        return hasattr(game.rules, "cfr_br")

    def _run(self, n: int) -> int:
        return self._engine.run(self.iterations, n)

    def tables(self) -> dict[str, np.ndarray]:
        return self._engine.tables()

    def restore(self, saved: Mapping[str, np.ndarray], source: str) -> None:
        number = int(saved["problems"][0]) if "problems" in saved else 1
        if number != self._problems:
            self._begin(number)
        super().restore(saved, source)
        self._engine.restore(saved)

    def weights(self) -> np.ndarray:
        return self._engine.current() if self._current else self._engine.average()


SOLVER = CfrBr
