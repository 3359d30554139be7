"""`ResponseSolver`: the response of one seat to a model, by a transform of the game
(`RestrictedGame`) and a solver of the transformed game, the engine.

`respond`, `frontier`, `resume_response` and the adaptive player use it. A run folder also holds
`model.npz` and `trust.npz` (`RestrictedGame.save`, `load_model`), which a resumed run needs.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base import files
from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.core.evaluation.exact import form_exploitability
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import recorded_game
from counterplay.core.forms.restricted import (
    OtherModel,
    RestrictedPlayer,
    data_biased_form,
    data_biased_sequence_form,
    restricted_form,
    restricted_sequence_form,
    several_restricted_form,
)
from counterplay.core.forms.sequence import SequenceForm, player_infosets
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.parallel.full_width import Replies
from counterplay.core.responses.algorithms import (
    ResponseAlgorithm,
    Trust,
    default_engine,
    faces_real_adversary,
    response_algorithm,
    takes_other_models,
    trust_array,
    trust_length,
)
from counterplay.core.solvers import folder as run_folder
from counterplay.core.solvers.algorithms import ALGORITHMS, new_solver
from counterplay.core.solvers.base import Problem, Solver


def engines_of(algorithm: ResponseAlgorithm) -> tuple[str, ...]:
    """The solvers that can be the engine of `algorithm`."""
    return tuple(name for name, kind in ALGORITHMS.items() if kind.sampled == algorithm.sampled)


def check_engine(game: Game, algorithm: ResponseAlgorithm, engine: Any) -> str:
    """The name of `engine`, by default that of `default_engine`."""
    name = str(ALGORITHMS.find(engine or default_engine(game, algorithm), "engine").name)
    if name not in engines_of(algorithm):
        fitting = ", ".join(engines_of(algorithm))
        raise BadParameter(f"{algorithm.name} needs one of the engines {fitting}, not {name}")
    return name


class RestrictedGame(Problem):
    """The game in which the opponent of `player` follows a model with probability p."""

    def __init__(
        self, game: Game, model: Strategy, player: int, p: Trust, algorithm: ResponseAlgorithm
    ) -> None:
        trust = trust_array(model, p, algorithm)
        full = _full_width(game, model, 1 - player, trust, algorithm)
        sampled = _sampled(game, model, player, trust, algorithm)
        super().__init__(game, sampled if algorithm.sampled else full)
        self._model, self._trust, self._player, self._full = model, trust, player, full
        p_of_game = float(trust[0]) if algorithm.once else None
        self.restriction = RestrictedPlayer(model, 1 - player, trust, p_of_game)
        #: Whether a policy of the restricted player leaves out the part that follows the model.
        self._free_part_only = algorithm.sampled and not algorithm.once
        self.setting = {
            "response": algorithm.name,
            "player": player,
            "p": float(trust[0]) if np.ndim(p) == 0 else _digest(trust),
            "model": digest_of(model),
        }

    def measure(self, policy: np.ndarray, replies: Replies | None = None) -> float:
        """Exploitability of a policy in the restricted game; NaN where that has no tree."""
        if self._full is None:
            return math.nan
        if self._free_part_only:
            restricted = 1 - self._player
            side, slots = self._full[restricted], self.game.slots(restricted)
            free = np.maximum(1.0 - np.add.reduceat(side.floor, side.first[:-1]), 0.0)
            policy = policy.copy()
            policy[slots] = side.floor + np.repeat(free, np.diff(side.first)) * policy[slots]
        return form_exploitability(self._full, policy, replies)

    def complete(self, learnt: Strategy) -> Strategy:
        """The response in its seat, the model in the other seat."""
        profile = profile_of(self.game, self._model)
        return profile.replace(learnt, self._player).for_player(self._player)

    def save(self, folder: Path) -> None:
        """Writes the model and the trust into a run folder."""
        self._model.save(folder / "model.npz")
        files.write_arrays(folder / "trust.npz", "trust", {"p": self._trust}, {})


def profile_of(game: Game, model: Strategy) -> Strategy:
    """What a response leaves to the other seat: the model; uniform play if the model has another
    card abstraction."""
    return model if model.game.fingerprint == game.fingerprint else Strategy.uniform(game)


class ResponseSolver:
    """Solves for the response of `player` to a model of its opponent."""

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
        self._new: Callable[[Problem], Solver] = partial(
            new_solver, game, name, seed, dict(options or {})
        )
        self.engine = self._new(self._problem(model, p))

    def _problem(self, model: Strategy, p: Trust) -> RestrictedGame:
        return RestrictedGame(self.game, model, self.player, p, self.algorithm)

    def replace_model(self, model: Strategy, trust: Trust) -> None:
        """Replaces the model and p. A sampling engine keeps its regrets and average strategy, one
        with a real adversary its regrets; another full-width engine starts again, since its state
        belongs to the old game."""
        real = faces_real_adversary(self.game, self.engine.name)
        if not takes_other_models(self.game, self.algorithm.name, self.engine.name):
            check_same_game(self.game, model)
        problem = self._problem(model, trust)
        if self.algorithm.sampled or real:
            self.engine.change_problem(problem)
        else:
            self.engine = self._new(problem)

    def discount(self, factor: float) -> None:
        """Multiplies the weight of all iterations so far by `factor`."""
        self.engine.discount(factor)

    def strategy(self) -> Strategy:
        """The response so far; the model in the other seat."""
        return self.engine.strategy()


def _sampled(
    game: Game, model: Strategy, player: int, trust: np.ndarray, algorithm: ResponseAlgorithm
) -> Any:
    """The restricted game as a form for sampling; None for full-width algorithms."""
    if not algorithm.sampled:
        return None
    if game.n_players > 2:
        p, players = float(trust[0]), game.n_players
        return several_restricted_form(game.form, model.played, player, p, players)
    restricted = 1 - player
    if algorithm.once:
        own = model.game.fingerprint == game.fingerprint
        fixed = model.played if own else OtherModel(model.game.form, model.played)
        return restricted_form(game.form, fixed, restricted, float(trust[0]))
    return data_biased_form(game.form, model.played, restricted, trust)


def _full_width(
    game: Game, model: Strategy, restricted: int, trust: np.ndarray, algorithm: ResponseAlgorithm
) -> SequenceForm | None:
    """The restricted game as a sequence form; None where the game has no tree."""
    if not game.capabilities.full_width or game.n_players > 2:
        return None
    if algorithm.once:
        return restricted_sequence_form(
            game.sequence_form, model.plan(restricted), restricted, float(trust[0])
        )
    low, high = player_infosets(game.form, restricted)
    fixed = model.probabilities[game.slots(restricted)]
    return data_biased_sequence_form(game.sequence_form, fixed, restricted, trust[low:high])


def digest_of(model: Strategy) -> str:
    """A checksum of a model."""
    return _digest(*(getattr(model, name) for name in model._arrays))


def _digest(*arrays: np.ndarray) -> str:
    return hashlib.sha256(b"".join(array.tobytes() for array in arrays)).hexdigest()[:16]


def load_model(
    folder: Path, game: Game | None
) -> tuple[Game, dict[str, Any], Strategy, np.ndarray]:
    """Game, configuration, model and trust array of the response in `folder`."""
    config = run_folder.read_config(folder)
    if "response" not in config:
        raise BadFile(f"{folder}: a run of `solve`, not of `respond`")
    number = type(config.get("p")) in (int, float)
    if (
        type(config["response"]) is not str
        or type(config.get("player")) is not int
        or not (number or type(config.get("p")) is str)
    ):
        raise BadFile(f"{folder / 'config.json'}: damaged")
    path = folder / "model.npz"
    if files.read_header(path, "strategy").get("game") == config["game"]:
        model = Strategy.load(path, game)
        game = model.game
    else:
        model, game = Strategy.load(path), game or recorded_game(config["game"], folder)
    if not 0 <= config["player"] < game.n_players:
        raise BadFile(f"{folder / 'config.json'}: damaged")
    arrays, _ = files.read_arrays(folder / "trust.npz", "trust")
    trust = arrays.get("p")
    if trust is None or trust.shape != (trust_length(model),) or trust.dtype != np.float64:
        raise BadFile(f"{folder / 'trust.npz'}: does not fit {model.game.name}")
    return game, config, model, trust
