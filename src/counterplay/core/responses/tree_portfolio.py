"""The portfolio of the adaptive player of games with a tree (`adaptive.py`): known players, the
responses to them, and the equilibrium to start from."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

from counterplay.core.base.errors import BadParameter, BadStrategy, probability, shown, unknown
from counterplay.core.forms.capabilities import numbered
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game
from counterplay.core.forms.strategy import Strategy, check_same_game
from counterplay.core.games.players import UNIFORM, as_strategy
from counterplay.core.responses.respond import respond
from counterplay.core.responses.result import Response
from counterplay.core.responses.safe import central_equilibrium, check_safe
from counterplay.core.solvers.run import solve

TRUST = 0.75  # p of the responses
MOST_SLOTS, ENGINE = 3_000, "pcfr+"  # up to which linear programs solve a game; above
EQUILIBRIUM_ITERATIONS = 2_000


@dataclass(frozen=True)
class TreePortfolio:
    """Known players of a game with a tree, and the equilibrium to start from."""

    game: Game = field(repr=False)
    equilibrium: Strategy = field(repr=False)
    known: Mapping[str, Strategy]
    p: float = TRUST

    @property
    def names(self) -> list[str]:
        return list(self.known)

    @cached_property
    def members(self) -> dict[str, Response]:
        """The restricted Nash response to each known player, in both seats."""
        return {name: respond(self.game, one, p=self.p) for name, one in self.known.items()}

    def __getitem__(self, name: str) -> Response:
        self._check(name)
        return self.members[name]

    def without(self, *names: str) -> TreePortfolio:
        """The portfolio without these players."""
        for name in names:
            self._check(name)
        known = {name: one for name, one in self.known.items() if name not in names}
        return TreePortfolio(self.game, self.equilibrium, known, self.p)

    def _check(self, name: str) -> None:
        if name not in self.known:
            raise unknown("known player", name, self.names)


def tree_portfolio(
    game: Game | str,
    known: Any = (UNIFORM,),
    *,
    equilibrium: Strategy | None = None,
    p: float = TRUST,
) -> TreePortfolio:
    """Known players: strategies by name, or names and paths of players. `p`: the trust in each, of
    the responses to them."""
    game = as_game(game)
    check_safe(game)
    probability(p, "p")
    for player in (0, 1):
        if player not in game.form.owner:
            raise BadParameter(f"{game.name}: {numbered(player)} never acts; there is no opponent")
    if equilibrium is not None:
        check_same_game(game, equilibrium)
        if equilibrium.player is not None:
            raise BadStrategy("equilibrium: give a strategy of both players")
    given = known if isinstance(known, Mapping) else _named(known)
    players = {str(name): as_strategy(game, one) for name, one in given.items()}
    return TreePortfolio(game, equilibrium or tree_equilibrium(game), players, p)


def _named(known: Any) -> dict[str, Any]:
    """Players by the name of their file or folder, or by their word; objects by their place."""
    alone = isinstance(known, str | Path) or not isinstance(known, Iterable)
    named: dict[str, Any] = {}
    for k, one in enumerate([known] if alone else known, 1):
        word = str(one) if isinstance(one, str | Path) else f"player {k} of the portfolio"
        name = Path(word).stem if Path(word).suffix else word
        if named.setdefault(name, one) != one:
            raise BadParameter(
                f"two known players are called {shown(name)}; give them names, as {{'a': ..., "
                f"'b': ...}}"
            )
    return named


def tree_equilibrium(game: Game) -> Strategy:
    """A central equilibrium by linear programs, or in large games an approximate one."""
    key = "equilibrium of the adaptive player"
    if key not in game.cache:
        game.cache[key] = (
            central_equilibrium(game)
            if game.n_slots <= MOST_SLOTS
            else solve(game, ENGINE, iterations=EQUILIBRIUM_ITERATIONS).strategy
        )
    strategy: Strategy = game.cache[key]
    return strategy
