"""`ResponseSolver`: one seat's answer to a model. A transform of the game and a solver on it, its
engine.

`believe` replaces the model, `fade` lets the engine forget. `respond`, the frontier, resuming and
play online all use it.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np

from counterplay.base.errors import BadParameter
from counterplay.evaluation.exact import form_exploitability
from counterplay.forms.game import Game
from counterplay.forms.keyed import KeyedStrategy
from counterplay.forms.restricted import (
    data_biased_form,
    data_biased_sequence_form,
    restricted_form,
    restricted_sequence_form,
)
from counterplay.forms.sequence import SequenceForm, player_infosets
from counterplay.forms.strategy import Strategy, check_same_game
from counterplay.parallel.full_width import Replies
from counterplay.responses.algorithms import (
    ResponseAlgorithm,
    default_engine,
    response_algorithm,
)
from counterplay.responses.folder import save_model
from counterplay.responses.trust import Trust, trust_array
from counterplay.solvers.algorithms import ALGORITHMS, new_solver
from counterplay.solvers.base import Solver


def engines_of(algorithm: ResponseAlgorithm) -> tuple[str, ...]:
    """The solvers that can run inside `algorithm`."""
    return tuple(name for name, kind in ALGORITHMS.items() if kind.sampled == algorithm.sampled)


def check_engine(game: Game, algorithm: ResponseAlgorithm, engine: Any) -> str:
    """The name of the engine: as asked for, or the one there is for this game."""
    name = str(ALGORITHMS.find(engine or default_engine(game, algorithm), "engine").name)
    if name not in engines_of(algorithm):
        fitting = ", ".join(engines_of(algorithm))
        raise BadParameter(f"{algorithm.name} needs one of the engines {fitting}, not {name}")
    return name


class ResponseSolver:
    """The answer of `player` in a game in which his opponent is tied to a model."""

    engine: Solver

    def __init__(
        self,
        game: Game,
        model: Strategy,
        player: int,
        p: Trust,
        algorithm: str,
        engine: str | None = None,
        seed: int = 0,
        options: Mapping[str, Any] | None = None,
    ) -> None:
        game.check_player(player)
        self.game, self.player = game, player
        self.algorithm = response_algorithm(algorithm)
        name = check_engine(game, self.algorithm, engine)
        self._new: Callable[[Any], Solver] = partial(
            new_solver, game, name, seed, dict(options or {})
        )
        self._take(model, p, self._new)

    def believe(self, model: Strategy, trust: Trust) -> None:
        """Respond to this model from now on, trusted so far.

        An engine that samples goes on with what it has learnt. One at full width begins anew, since
        what it has learnt belongs to the old game.
        """
        check_same_game(self.game, model)
        self._take(model, trust, self._change if self.algorithm.sampled else self._new)

    def fade(self, factor: float) -> None:
        """From now on what was learnt counts for this share."""
        self.engine.fade(factor)

    def strategy(self) -> Strategy:
        """The answer so far; the model in the other seat."""
        return self.engine.strategy()

    def _take(self, model: Strategy, p: Trust, on: Callable[[Any], Solver]) -> None:
        """Have an engine `on` the game restricted to `model`, and tell it what it is about."""
        trust = trust_array(model, p, self.algorithm)
        full = self._full_width(model, trust)
        engine = on(self._sampled(model, trust) if self.algorithm.sampled else full)
        if full is not None:
            only_free = self.algorithm.sampled and not self.algorithm.once
            engine.measure = partial(
                _gap,
                full,
                self.game.slots(1 - self.player),
                1 - self.player,
                only_free,
                engine.replies,
            )
        engine.complete = partial(_beside, model, self.player)
        engine.keep = partial(save_model, model, trust)
        engine.setting = {
            "response": self.algorithm.name,
            "player": self.player,
            "p": float(trust[0]) if np.ndim(p) == 0 else _digest(trust),
            "model": _digest(*_arrays_of(model)),
        }
        self.engine = engine

    def _change(self, form: Any) -> Solver:
        self.engine.change_form(form)
        return self.engine

    def _sampled(self, model: Strategy, trust: np.ndarray) -> Any:
        """The restricted game as a form for sampling."""
        fixed, restricted = model.played, 1 - self.player
        if self.algorithm.once:
            return restricted_form(self.game.form, fixed, restricted, float(trust[0]))
        return data_biased_form(self.game.form, fixed, restricted, trust)

    def _full_width(self, model: Strategy, trust: np.ndarray) -> SequenceForm | None:
        """The restricted game as a sequence form; None where the game has none and none is
        needed."""
        game, restricted = self.game, 1 - self.player
        if self.algorithm.sampled and not game.abilities.full_width:
            return None
        if self.algorithm.once:
            return restricted_sequence_form(
                game.sequence_form, model.plan(restricted), restricted, float(trust[0])
            )
        low, high = player_infosets(game.form, restricted)
        fixed = model.probabilities[game.slots(restricted)]
        return data_biased_sequence_form(game.sequence_form, fixed, restricted, trust[low:high])


def _arrays_of(model: Strategy) -> tuple[np.ndarray, ...]:
    """What a strategy is known by."""
    if isinstance(model, KeyedStrategy):
        return model.keys, model.counts, model.probabilities
    return (model.probabilities,)


def _digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def _beside(model: Strategy, player: int, response: Strategy) -> Strategy:
    """`response` in its seat, the model in the other."""
    return model.replace(response, player).for_player(player)


def _gap(
    full: SequenceForm,
    slots: slice,
    restricted: int,
    only_free: bool,
    replies: Replies | None,
    policy: np.ndarray,
) -> float:
    """Exploitability of a policy in the restricted game; `only_free`: it leaves out the model's
    share of his behaviour."""
    if only_free:
        side = full[restricted]
        free = np.maximum(1.0 - np.add.reduceat(side.floor, side.first[:-1]), 0.0)
        policy = policy.copy()
        policy[slots] = side.floor + np.repeat(free, np.diff(side.first)) * policy[slots]
    return form_exploitability(full, policy, replies)
