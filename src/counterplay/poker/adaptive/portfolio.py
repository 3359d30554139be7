"""`portfolio`: an equilibrium and robust responses to known players, cached.

The known players are bots and a field of weak players (`field.py`). A model is the strategy of a
simple bot, a model learnt from hands that `probe` played against a bot (Poki from its showdowns,
Sparbot with all cards), a saved model, or a strategy. Each gets a data-biased response in both
seats, and of all responses those are kept that win most from all players. The results are in the
store (`core/base/store.py`), in the cache folder or in `folder`. The members of the default
portfolio come with the package (`shipped_members.py`).
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, unknown, whole_number
from counterplay.core.base.progress import ProgressCallback, no_progress, part
from counterplay.core.base.store import Piece, Store, cache_root, digest
from counterplay.core.base.version import code_version
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import load
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.games.players import UNIFORM, as_strategy
from counterplay.core.match.play import play_match
from counterplay.core.parallel.jobs import map_in_threads
from counterplay.core.parallel.processes import cores
from counterplay.core.responses.respond import respond
from counterplay.core.responses.tree_portfolio import TreePortfolio, tree_portfolio
from counterplay.core.solvers.limits import Progress
from counterplay.core.solvers.run import solve
from counterplay.poker.adaptive.field import STRENGTHS, TYPES, type_name, type_strategy
from counterplay.poker.adaptive.portfolio_members import Portfolio, PortfolioMember, PortfolioPlayer
from counterplay.poker.adaptive.shipped_members import (
    entry_name,
    read_member,
    shipped_equilibrium,
    shipped_members,
)
from counterplay.poker.bots.registry import BOTS
from counterplay.poker.bots.shipped import least_exploitable
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.holdem.bucket_pairs import can_pair
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import check_limit, observe
from counterplay.poker.players import kind_of

#: The players of a portfolio by default: bots, and the field of weak players.
BOT_MODELS = ("always-call", "always-fold", "always-raise", "poki", "probe", "sparbot", "uniform")
MODELS = (*BOT_MODELS, *TYPES)
MOST_MEMBERS = 8
WEAKEST = STRENGTHS[0]  # types so weak have no response of their own
GAME = "holdem(buckets=10)"
#: Iterations of external sampling, per seat.
EQUILIBRIUM_ITERATIONS, RESPONSE_ITERATIONS = 4_000_000, 200_000
ENGINE = "mccfr-external"
TRUST = 0.75  # Pconf
SEED = 1
OBSERVED = 40_000  # hands with `probe`
PARTNER, OBSERVING_SEED = "probe", 5
ALL_CARDS = ("sparbot",)  # observed with all cards: its strategy is a table
KNOWN_FROM, RESPONSES_FROM, GAINS_FROM = 0.15, 0.45, 0.85  # parts of the work
#: Code that registries load without an import.
REGISTERED = ("counterplay.core.solvers", "counterplay.core.responses", "counterplay.poker")


def portfolio(
    game: Game | str = GAME,
    models: Iterable[str] | Mapping[str, Strategy] | str | Path = MODELS,
    *,
    members: int | None = MOST_MEMBERS,
    equilibrium: Strategy | None = None,
    p: float = TRUST,
    iterations: int = RESPONSE_ITERATIONS,
    folder: str | Path | None = None,
    progress: ProgressCallback = no_progress,
) -> Portfolio | TreePortfolio:
    """A `Portfolio`, of responses to `models`: names of bots, of types of weak players (`field.py`)
    and paths of saved models, a folder of them, or strategies by name. `members`: responses that
    are kept (`Portfolio.pruned`), None for all. `equilibrium`: by default a shipped strategy of the
    game, or trained. `p`: Pconf; `iterations`: per seat. With the default models, equilibrium, p
    and iterations the members are those that come with the package, if they are enough. The results
    are cached in `folder`; `progress(share, what)` is called while they are computed.

    Of a game with a tree, such as "kuhn", a `TreePortfolio` (`core/responses/tree_portfolio.py`):
    the known players, by default `uniform`, with their exact responses. Its options are `models`,
    `equilibrium` and `p`."""
    game = game if isinstance(game, Game) else load(game)
    if not game.can("bots"):
        if (members, iterations, folder) != (MOST_MEMBERS, RESPONSE_ITERATIONS, None):
            raise BadParameter(
                f"members, iterations and folder are for hold'em, not for {game.name}"
            )
        words = (UNIFORM,) if models is MODELS else models
        return tree_portfolio(game, words, equilibrium=equilibrium, p=p)
    check_limit(game)
    if not can_pair(game):
        raise BadParameter(
            f"a portfolio is for hold'em with few buckets, such as {GAME}, not for {game.name}"
        )
    if members is not None:
        whole_number(members, 0, None, "members")
    if equilibrium is not None:
        check_same_game(game, equilibrium)
    as_shipped = (models, equilibrium, p, iterations) == (MODELS, None, TRUST, RESPONSE_ITERATIONS)
    maker = _Maker(game, _store(folder), progress)
    named = _models(models)
    equilibrium = equilibrium or _shipped_equilibrium(game) or maker.equilibrium()
    known = maker.known(named, equilibrium)
    found = _shipped(game, known) if as_shipped else []
    if members is None or members > len(found):
        weak = {type_name(name, WEAKEST) for name in TYPES}
        answered = [player for player in known if player.name not in weak]
        found = maker.members(answered, p, iterations)
    every = Portfolio(game, equilibrium, tuple(found), tuple(known))
    if members is None or (members >= len(found) and not as_shipped):
        return every
    return replace(every, table=maker.table(every)).pruned(members)


def _shipped_equilibrium(game: Game) -> Strategy | None:
    return least_exploitable(game) or shipped_equilibrium(game)


def _shipped(game: Game, known: list[PortfolioPlayer]) -> list[PortfolioMember]:
    """The responses that come with the package."""
    entries = shipped_members(game)
    return [
        PortfolioMember(player.name, player.model, read_member(entry, game), entry.risk)
        for player in known
        if (entry := entries.get(entry_name(player.name))) is not None
    ]


def model_of(
    name: str, game: Game | str = GAME, progress: ProgressCallback = no_progress
) -> Strategy:
    """The strategy that a portfolio takes for a known player: that of a simple bot, or a model
    learnt from hands that `probe` plays against a program. It is cached as in `portfolio`."""
    game = game if isinstance(game, Game) else load(game)
    return _Maker(game, _store(None), progress).model(name, None)


def learnt_model(name: str, game: Game | str = GAME) -> Strategy | None:
    """The model of a program that `model_of` has learnt before, if there is one."""
    game = game if isinstance(game, Game) else load(game)
    maker = _Maker(game, _store(None), no_progress)
    if name not in BOTS or BOTS[name].strategy is not None:
        return None
    piece = maker.stored("model", maker.recipe(name))
    return None if piece is None else Strategy(game, piece.arrays["probabilities"])


def equilibrium_of(game: Game | str = GAME, progress: ProgressCallback = no_progress) -> Strategy:
    """The equilibrium that a portfolio takes: a shipped strategy of the game, or one that is
    trained the first time and cached."""
    game = game if isinstance(game, Game) else load(game)
    return _shipped_equilibrium(game) or _Maker(game, _store(None), progress).equilibrium()


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
        if name in TYPES:
            continue
        if name == "adaptive" or kind_of(name) is None:
            raise unknown("model", name, [*MODELS, "the path of a saved model or strategy"])
    return dict.fromkeys(names)


class _Maker:
    """Computes the strategies that are not in the store yet."""

    def __init__(self, game: Game, store: Store, progress: ProgressCallback) -> None:
        self._game, self._store, self._progress = game, store, progress
        self.part = (0.0, 1.0)  # start of the current step, and its share of the whole
        self._said = 0.0, ""

    def equilibrium(self) -> Strategy:
        self.part = (0.0, KNOWN_FROM)
        recipe = {"engine": ENGINE, "iterations": EQUILIBRIUM_ITERATIONS, "seed": SEED}

        def make() -> Strategy:
            limit: dict[str, Any] = {"iterations": EQUILIBRIUM_ITERATIONS, "seed": SEED}
            return solve(self._game, ENGINE, on_chunk=report, **limit).strategy

        def report(at: Progress) -> None:
            self._report(at.iterations / EQUILIBRIUM_ITERATIONS, "equilibrium")

        return self._stored("equilibrium", recipe, make)

    def known(self, named: dict[str, Strategy | None], base: Strategy) -> list[PortfolioPlayer]:
        """The players; each type of the field, made from `base`, at all its strengths."""
        players = []
        for k, (name, strategy) in enumerate(named.items()):
            size = (RESPONSES_FROM - KNOWN_FROM) / len(named)
            self.part = KNOWN_FROM + k * size, size
            if name in TYPES and strategy is None:
                for strength in STRENGTHS:
                    made = type_strategy(base, name, strength)
                    players.append(PortfolioPlayer(type_name(name, strength), made))
            else:
                players.append(PortfolioPlayer(_short(name), self.model(name, strategy)))
        return players

    def members(
        self, players: list[PortfolioPlayer], p: float, iterations: int
    ) -> list[PortfolioMember]:
        """The responses to these players, computed in threads."""
        self.part = RESPONSES_FROM, GAINS_FROM - RESPONSES_FROM

        def work(player: PortfolioPlayer) -> PortfolioMember:
            found = self.response(player.model, p, iterations)
            return PortfolioMember(player.name, player.model, found)

        what = "responses to known players"
        self._report(0.0, what)
        return map_in_threads(work, players, cores(), lambda share: self._report(share, what))

    def table(self, every: Portfolio) -> np.ndarray:
        """The gains of all members."""
        self.part = GAINS_FROM, 1.0 - GAINS_FROM
        what = "what each response wins from each player"
        strategies = [every.equilibrium, *(player.model for player in every.players)]
        strategies += [member.strategy for member in every.members]
        recipe = {"of": digest(*(one.probabilities for one in strategies))}

        def make() -> Piece:
            found = every._measured_gains(lambda share: self._report(share, what))
            return Piece(None, {"gains": found})

        recipe["game"] = self._game.fingerprint
        return self._store.piece("gains", recipe, make, "the portfolio stays").arrays["gains"]

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
        return self._stored("model", self.recipe(name), lambda: self._observed(name))

    def recipe(self, name: str) -> dict[str, Any]:
        """What a learnt model depends on."""
        recipe = {"of": name, "by": PARTNER, "hands": OBSERVED, "seed": OBSERVING_SEED}
        return {**recipe, "all cards": name in ALL_CARDS}

    def stored(self, kind: str, recipe: dict[str, Any]) -> Piece | None:
        """What was computed before, if it is there."""
        return self._store.slot(kind, {**recipe, "game": self._game.fingerprint}).read()

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

    def response(self, model: Strategy, p: float, iterations: int) -> Strategy:
        options: dict[str, Any] = {"engine": ENGINE, "p": p, "iterations": iterations, "seed": SEED}

        def make() -> Strategy:
            found = respond(
                self._game, model, algorithm="mcdbr", on_chunk=lambda _: self._still(), **options
            ).strategy
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
        self._said = begin + share * size, what
        self._still()

    def _still(self) -> None:
        """Reports the same again, so that it can be stopped."""
        self._progress(*self._said)
