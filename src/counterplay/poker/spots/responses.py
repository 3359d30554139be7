"""`respond_to_locks`: what to do against a player who is believed to play as locks say.

A response is judged by two numbers. `payoff`: what it gets from a player who follows the locks and
is otherwise the worst for it. `risk`: how far below the value of the spot its worst case lies,
against a player who follows nothing. To follow a lock whose own trust is c is to play it with its
probabilities times c at least (Pconf of a data-biased response, Johanson & Bowling 2009).

At trust t the other player follows the locks with probability t, as a whole, and the responder does
not know whether (a restricted Nash response, Johanson, Zinkevich & Bowling 2007): the response has
the largest t · payoff + (1 - t) · worst case. So payoff and risk grow with the trust. At t = 1 this
is node locking, a best response in the locked game; at t = 0 an equilibrium; all up to the
exploitability at which solving stopped. With t as a factor of each Pconf instead, responses are
not the best in these two numbers, and they do not always grow.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from counterplay.core.base import memory
from counterplay.core.base.errors import (
    BadParameter,
    BadStrategy,
    positive,
    probability,
    real,
    shown,
    whole_number,
)
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.games.locks import read_locks
from counterplay.core.games.players import players_of
from counterplay.core.solvers.algorithms import new_solver
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.limits import Limits
from counterplay.core.solvers.run import run_solver
from counterplay.poker.spots.decisions import SpotForm
from counterplay.poker.spots.engine import (
    SpotTraversal,
    biased_form,
    new_tables,
    on_all_processors,
)
from counterplay.poker.spots.kernels import BEST
from counterplay.poker.spots.layout import SMALLER, TwofoldLayout
from counterplay.poker.spots.locks import LockedPlayer, locked_player

DEFAULT_PERCENT = 0.1  # of the pot, at which solving stops
MOST_ITERATIONS = 100_000
DEFAULT_TRUSTS = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)
HALVINGS = 6  # of the trust, for `max_risk`


@dataclass(frozen=True)
class LockedResponse:
    """A response to locks; numbers are chips per hand."""

    game: Game
    player: int  # the responder
    trust: float  # that the other player follows the locks
    payoff: float  # from a player who follows the locks, and is otherwise the worst
    worst_case: float  # from the worst of all players
    value: float  # of the spot to the responder
    exploitability: float  # of the solution, in the locked game
    strategy: Strategy = field(repr=False)  # for the responder; the other seat plays as locked

    @property
    def risk(self) -> float:
        """How far below the value of the spot the worst case is."""
        return max(self.value - self.worst_case, 0.0)

    @property
    def gain(self) -> float:
        """How far above the value of the spot the payoff is."""
        return self.payoff - self.value


class _LockedQuestion:
    """A spot with locks, its equilibrium, and how exactly games are solved."""

    def __init__(
        self, game: Game, locks: Any, percent: Any, progress: Callable[[str], None], options: Any,
        solution: Any = None, player: int | None = None, answers: int = 1,
    ) -> None:  # fmt: skip
        self.game, self.locked = game, check_locks(game, locks, player, answers)
        self.target = positive(percent, "percent") / 100 * game.rules.pot
        self.player, self.progress = 1 - self.locked.player, progress
        self.options = on_all_processors(options)
        layout = game.rules.layout
        self.doing = "solving the spot"
        if solution is not None:
            self.solution = players_of(game).strategy(solution)
            if self.solution.player is not None:
                raise BadStrategy("solution: give a strategy of both players")
        else:
            progress(self.doing)
            self.solution = self._solve(None)[0]
        own = self._least(self.solution, layout.form)
        other = self._least(self.solution, layout.form, self.locked.player)
        self.value, self.gap = (own - other) / 2.0, max(-own - other, 0.0)
        self.form = biased_form(layout, self.locked.bound(self.solution))

    def _solve_at(self, trust: float) -> tuple[Strategy, float]:
        """The solution of the game at a trust, and its exploitability there."""
        layout, player = self.game.rules.layout, self.locked.player
        if trust == 1.0:
            return self._solve(Problem(self.game, (layout, self.form, player)))
        both = TwofoldLayout(layout, player, trust)
        return self._solve(Problem(self.game, (both, both.locked_form(self.form), player)))

    def _solve(self, problem: Problem | None) -> tuple[Strategy, float]:
        solver = new_solver(self.game, "dcfr", 0, dict(self.options), problem)
        tell: Any = lambda progress: self.progress(self.doing)  # noqa: E731
        run = run_solver(solver, Limits(MOST_ITERATIONS, target=self.target, on_chunk=tell))
        return run.strategy, run.exploitability

    def _least(self, strategy: Strategy, form: SpotForm, player: int | None = None) -> float:
        """What a player's strategy gets at least from an opponent bound by the floors of `form`."""
        player = self.player if player is None else player
        layout, other = self.game.rules.layout, 1 - player
        traversal = SpotTraversal(layout, "double", 64, form)
        tables = [new_tables(layout, k, np.float64) for k in (0, 1)]
        own = layout.table(player, strategy.probabilities, np.float64)
        tables[player] = tables[player]._replace(source=own)
        return -traversal.value(other, (tables[0], tables[1]), BEST, locked=True)

    def at(self, trust: float) -> LockedResponse:
        """The response at a trust."""
        self.doing = f"trust {trust:.3g}"
        self.progress(self.doing)
        if trust == 0.0:
            strategy, gap = self.solution, self.gap
        else:
            strategy, gap = self._solve_at(trust)
        payoff = self._least(strategy, self.form)
        worst = self._least(strategy, self.game.rules.layout.form)
        meant = strategy.for_player(self.player)
        value = self.value
        return LockedResponse(self.game, self.player, trust, payoff, worst, value, gap, meant)


def check_locks(
    game: Game, locks: Any, player: int | None = None, answers: int = 1
) -> LockedPlayer:
    """The player of locks in a spot, to which `player` responds; `BadParameter` names what is wrong
    with them. `answers`: how many there will be, which need memory."""
    if not isinstance(game, Game) or not game.can("spots"):
        raise BadParameter("locks are of spots; make one with cp.spot")
    if not game.zero_sum:
        raise BadParameter("the risk of a response is known without rake; leave out rake")
    other = None if player is None else 1 - whole_number(player, 0, 1, "player")
    layout = game.rules.layout
    needed = 2 * layout.bytes_needed("double") + (answers + 2) * layout.form_bytes
    memory.require(needed, "answering these locks", SMALLER)
    found = locked_player(game.rules, read_locks(locks), other)
    found.bound(Strategy.uniform(game))
    return found


def respond_to_locks(
    game: Game,
    locks: Any,
    *,
    trust: float | None = None,
    max_risk: float | None = None,
    player: int | None = None,
    percent: float = DEFAULT_PERCENT,
    progress: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> LockedResponse:
    """The response to a player who is believed to play as `locks` say: texts such as "bet 10 fold
    0.7", a file (TOML), or a mapping of the same shape.

    `trust` (1): the probability that the other player follows the locks. Or `max_risk`: the largest
    trust, within 1/64, whose response loses at most so many chips per hand to any opponent,
    compared with the value of the spot; it must be more than the solution of the spot loses, which
    `percent` limits. `player`: who responds, where the locks are of both.
    `percent`: the exploitability, in percent of the pot, at which solving stops. Other options are
    those of `dcfr`.
    """
    if trust is not None and max_risk is not None:
        raise BadParameter("give either trust or max_risk, which chooses it")
    question = _LockedQuestion(game, locks, percent, progress, options, player=player)
    if max_risk is None:
        return question.at(1.0 if trust is None else probability(trust, "trust"))
    most = real(max_risk, "max_risk")
    if most < 0:
        raise BadParameter(f"max_risk must be at least 0, not {max_risk!r}")
    best = question.at(1.0)
    if best.risk <= most:
        return best
    low, high, best = 0.0, 1.0, question.at(0.0)
    if best.risk > most:
        raise BadParameter(
            f"even the equilibrium found risks {best.risk:.3g} chips per hand, more than {most:g}; "
            f"allow more, or solve to less than {percent:g} percent of the pot"
        )
    for _ in range(HALVINGS):
        middle = (low + high) / 2.0
        found = question.at(middle)
        if found.risk <= most:
            low, best = middle, found
        else:
            high = middle
    return best


def lock_frontier(
    game: Game,
    locks: Any,
    trusts: Collection[float] = DEFAULT_TRUSTS,
    *,
    percent: float = DEFAULT_PERCENT,
    solution: Any = None,
    player: int | None = None,
    progress: Callable[[str], None] = lambda text: None,
    **options: Any,
) -> list[LockedResponse]:
    """The responses to locks at several trusts: payoff against risk. `solution`: of the spot, if it
    is solved already, a strategy or a run."""
    if isinstance(trusts, str) or not isinstance(trusts, Collection) or not trusts:
        raise BadParameter(f"trusts: numbers from 0 to 1, as (0.5, 1.0), not {shown(trusts)}")
    checked = [probability(trust, "trusts") for trust in trusts]
    answers = len(checked)
    question = _LockedQuestion(game, locks, percent, progress, options, solution, player, answers)
    return [question.at(trust) for trust in checked]
