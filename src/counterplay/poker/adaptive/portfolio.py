"""`portfolio`: an equilibrium and robust responses to a set of known players, cached.

A model is the strategy of a simple bot, a model learnt from hands that `probe` played against a bot
(Poki from its showdowns, Sparbot with all cards), a saved model, or a strategy. Each gets a
data-biased response in both seats. The results are in the store (`core/base/store.py`), in the
cache folder or in `folder`.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from counterplay.core.base.errors import BadParameter, unknown
from counterplay.core.base.progress import ProgressCallback, no_progress, part
from counterplay.core.base.store import Piece, Store, cache_root, digest
from counterplay.core.base.version import code_version
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.games.players import as_strategy
from counterplay.core.match.play import play_match
from counterplay.core.responses.respond import respond
from counterplay.core.solvers.limits import Progress
from counterplay.core.solvers.run import solve
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.bots.shipped import least_exploitable
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.holdem.bucket_pairs import can_pair, value_against
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import check_limit, observe
from counterplay.poker.players import kind_of

#: The players of a portfolio by default.
MODELS = ("always-call", "always-fold", "always-raise", "poki", "probe", "sparbot", "uniform")
GAME = "holdem(buckets=10)"
#: Iterations of external sampling, per seat.
EQUILIBRIUM_ITERATIONS, RESPONSE_ITERATIONS = 4_000_000, 400_000
ENGINE = "mccfr-external"
TRUST = 0.75  # Pconf
SEED = 1
OBSERVED = 40_000  # hands with `probe`
PARTNER, OBSERVING_SEED = "probe", 5
ALL_CARDS = ("sparbot",)  # observed with all cards: its strategy is a table
#: Code that registries load without an import.
REGISTERED = ("counterplay.core.solvers", "counterplay.core.responses", "counterplay.poker")


@dataclass(frozen=True)
class PortfolioMember:
    """A known player, and the response to it."""

    name: str
    model: Strategy = field(repr=False)
    strategy: Strategy = field(repr=False)


@dataclass(frozen=True)
class Portfolio:
    """An equilibrium and responses to known players, all strategies of one game."""

    game: Game = field(repr=False)
    equilibrium: Strategy = field(repr=False)
    members: tuple[PortfolioMember, ...]

    def __getitem__(self, name: str) -> PortfolioMember:
        for member in self.members:
            if member.name == name:
                return member
        raise unknown("member", name, [member.name for member in self.members])

    def without(self, *names: str) -> Portfolio:
        """The portfolio without these members."""
        for name in names:
            self[name]
        others = tuple(member for member in self.members if member.name not in names)
        return replace(self, members=others)

    def values(self, model: Strategy) -> dict[str, float]:
        """The approximate payoff of the equilibrium and of each member against a strategy
        (`poker/holdem/bucket_pairs.py`)."""
        strategies = {"equilibrium": self.equilibrium}
        strategies |= {member.name: member.strategy for member in self.members}
        return {
            name: value_against(self.game, one.probabilities, model.probabilities)
            for name, one in strategies.items()
        }


def portfolio(
    game: Game | str = GAME,
    models: Iterable[str] | Mapping[str, Strategy] | str | Path = MODELS,
    *,
    equilibrium: Strategy | None = None,
    p: float = TRUST,
    iterations: int = RESPONSE_ITERATIONS,
    folder: str | Path | None = None,
    progress: ProgressCallback = no_progress,
) -> Portfolio:
    """Responses to `models`: names of bots and paths of saved models, a folder of them, or
    strategies by name. `equilibrium`: by default a shipped strategy of the game, or trained. `p`:
    Pconf; `iterations`: per seat. The results are cached in `folder`; `progress(share, what)` is
    called while they are computed."""
    game = game if isinstance(game, Game) else load(game)
    check_limit(game)
    if not can_pair(game):
        raise BadParameter(
            f"a portfolio is for hold'em with few buckets, such as {GAME}, not for {game.name}"
        )
    if equilibrium is not None:
        check_same_game(game, equilibrium)
    maker = _Maker(game, _store(folder), progress)
    named = _models(models)
    equilibrium = equilibrium or least_exploitable(game) or maker.equilibrium(len(named))
    members = []
    for k, (name, strategy) in enumerate(named.items()):
        maker.part = (k + 1) / (len(named) + 1), 1 / (len(named) + 1)
        model = maker.model(name, strategy)
        response = maker.response(name, model, p, iterations)
        members.append(PortfolioMember(_short(name), model, response))
    return Portfolio(game, equilibrium, tuple(members))


def model_of(
    name: str, game: Game | str = GAME, progress: ProgressCallback = no_progress
) -> Strategy:
    """The strategy that a portfolio takes for a known player: that of a simple bot, or a model
    learnt from hands that `probe` plays against a program. It is cached as in `portfolio`."""
    game = game if isinstance(game, Game) else load(game)
    return _Maker(game, _store(None), progress).model(name, None)


def _store(folder: str | Path | None) -> Store:
    root = Path(folder) if folder is not None else cache_root() / "store" / "portfolio"
    return Store(root, code_version(__name__, *REGISTERED))


def _short(name: str) -> str:
    return Path(name).stem if name.endswith(".json") else name


def _models(models: Any) -> dict[str, Strategy | None]:
    """The strategies of the models by name; None for names and paths."""
    if isinstance(models, Mapping):
        return dict(models)
    if isinstance(models, str | Path) and Path(models).is_dir():
        paths = sorted(str(path) for path in Path(models).glob("*.json"))
        if not paths:
            raise BadParameter(f"no model (.json) in the folder {models}")
        return dict.fromkeys(paths)
    if isinstance(models, str | Path):
        models = [str(models)]
    names = [str(name) for name in models]
    for name in names:
        if name == "adaptive" or kind_of(name) is None:
            raise unknown("model", name, [*MODELS, "the path of a saved model or strategy"])
    return dict.fromkeys(names)


class _Maker:
    """Computes the strategies that are not in the store yet."""

    def __init__(self, game: Game, store: Store, progress: ProgressCallback) -> None:
        self._game, self._store, self._progress = game, store, progress
        self.part = (0.0, 1.0)  # start of the current step, and its share of the whole

    def equilibrium(self, others: int) -> Strategy:
        self.part = (0.0, 1 / (others + 1))
        recipe = {"engine": ENGINE, "iterations": EQUILIBRIUM_ITERATIONS, "seed": SEED}

        def make() -> Strategy:
            limit: dict[str, Any] = {"iterations": EQUILIBRIUM_ITERATIONS, "seed": SEED}
            return solve(self._game, ENGINE, on_chunk=report, **limit).strategy

        def report(at: Progress) -> None:
            self._report(at.iterations / EQUILIBRIUM_ITERATIONS, "equilibrium")

        return self._stored("equilibrium", recipe, make)

    def model(self, name: str, strategy: Strategy | None) -> Strategy:
        """The strategy of a player: given, loaded, or learnt from observed hands."""
        if strategy is not None:
            check_same_game(self._game, strategy)
            return strategy
        if kind_of(name) != "name":
            return as_strategy(self._game, name)
        spec = BOTS.find(name)
        if spec.strategy is not None:
            return spec.strategy(self._game)
        recipe = {"of": name, "by": PARTNER, "hands": OBSERVED, "seed": OBSERVING_SEED}
        recipe["all cards"] = name in ALL_CARDS
        return self._stored("model", recipe, lambda: self._observed(name))

    def _observed(self, name: str) -> Strategy:
        self._report(0.1, f"watching {name}: {OBSERVED:,} hands")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "hands.parquet"
            log: dict[str, Any] = {"log": path, "observer": None if name in ALL_CARDS else "a"}
            share = part(self._report, 0.1, 0.4, f"watching {name}: {OBSERVED:,} hands")
            log["progress"] = lambda done, what: share(done)
            options = {"duplicate": False, "luck_adjusted": False, **log}
            play_match(self._game, PARTNER, name, OBSERVED, OBSERVING_SEED, **options)
            seen = observe(read_parquet(path), name)
        self._report(0.4, f"learning how {name} plays")
        return learn_model(seen, self._game, name, "frequency").strategy

    def response(self, name: str, model: Strategy, p: float, iterations: int) -> Strategy:
        options: dict[str, Any] = {"engine": ENGINE, "p": p, "iterations": iterations, "seed": SEED}

        def make() -> Strategy:
            self._report(0.5, f"response to {_short(name)}")
            found = respond(self._game, model, algorithm="mcdbr", **options).strategy
            assert isinstance(found, Strategy)  # mixtures are for a limit on exploitability
            return found

        return self._stored("response", {"to": digest(model.probabilities), **options}, make)

    def _stored(self, kind: str, recipe: dict[str, Any], make: Callable[[], Strategy]) -> Strategy:
        def piece() -> Piece:
            return Piece(None, {"probabilities": make().probabilities})

        recipe = {**recipe, "game": self._game.fingerprint}
        stored = self._store.piece(kind, recipe, piece, "the portfolio stays")
        return Strategy(self._game, stored.arrays["probabilities"])

    def _report(self, share: float, what: str) -> None:
        begin, size = self.part
        self._progress(begin + share * size, what)
