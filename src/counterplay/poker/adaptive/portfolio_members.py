"""`Portfolio`: an equilibrium, known players, and robust responses to some of them."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from counterplay.core.base.errors import unknown
from counterplay.core.base.progress import ShareCallback, no_progress
from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.core.parallel.jobs import map_in_threads
from counterplay.core.parallel.processes import cores
from counterplay.poker.adaptive.field import TYPES
from counterplay.poker.holdem.bucket_pairs import value_against
from counterplay.poker.holdem.bucket_replies import action_values
from counterplay.poker.models.predict import Predictor

LEAST_GAIN = 0.01  # sb/h


@dataclass(frozen=True)
class PortfolioPlayer:
    """A player that the opponent may be, or may resemble."""

    name: str
    model: Strategy = field(repr=False)


@dataclass(frozen=True)
class PortfolioMember(PortfolioPlayer):
    """A known player, and the response to it."""

    strategy: Strategy = field(repr=False)
    risk: str = ""  # its exploitability, where it was measured


@dataclass(frozen=True)
class Portfolio:
    """An equilibrium, known players, and responses to some of them: the members. All strategies are
    of one game. `known`: by default the players of the members."""

    game: Game = field(repr=False)
    equilibrium: Strategy = field(repr=False)
    members: tuple[PortfolioMember, ...]
    known: tuple[PortfolioPlayer, ...] = ()
    table: np.ndarray | None = field(default=None, repr=False)  # `gains`, where computed before

    def __getitem__(self, name: str) -> PortfolioMember:
        for member in self.members:
            if member.name == name:
                return member
        raise unknown("member", name, [member.name for member in self.members])

    @property
    def players(self) -> tuple[PortfolioPlayer, ...]:
        return self.known or self.members

    @property
    def names(self) -> list[str]:
        """Of the known players, each type of the field once."""
        return list(dict.fromkeys(_family(player.name) for player in self.players))

    @cached_property
    def gains(self) -> np.ndarray:
        """float64[members, 1 + players]: what each member wins more than the equilibrium from the
        equilibrium and from each known player (`poker/holdem/bucket_pairs.py`)."""
        return self._measured_gains() if self.table is None else self.table

    def _measured_gains(self, progress: ShareCallback = no_progress) -> np.ndarray:
        """`gains`, computed now."""
        own = [self.equilibrium, *(member.strategy for member in self.members)]
        other = [self.equilibrium, *(player.model for player in self.players)]
        pairs = [(one, two) for one in own for two in other]
        found = map_in_threads(lambda pair: self._value(*pair), pairs, cores(), progress)
        table = np.array(found).reshape(len(own), -1)
        gains: np.ndarray = table[1:] - table[0]
        return gains

    def _value(self, strategy: Strategy, model: Strategy) -> float:
        return value_against(self.game, strategy.probabilities, model.probabilities)

    @cached_property
    def action_values(self) -> np.ndarray:
        """float64[n, b, 1 + members]: what the equilibrium and each member win from the equilibrium
        after each action (`poker/holdem/bucket_replies.py`)."""
        own = [self.equilibrium, *(member.strategy for member in self.members)]
        return action_values(
            self.game, [one.probabilities for one in own], self.equilibrium.probabilities
        )[0]

    @cached_property
    def predictor(self) -> Predictor:
        """Of the equilibrium and the known players."""
        models = [self.equilibrium, *(player.model for player in self.players)]
        return Predictor(self.game, models)

    def without(self, *names: str) -> Portfolio:
        """The portfolio without these players: names of players, or of types of the field."""
        for name in names:
            if not any(name in (player.name, _family(player.name)) for player in self.players):
                raise unknown("player", name, self.names)

        def stays(player: PortfolioPlayer) -> bool:
            return not {player.name, _family(player.name)} & set(names)

        rows = [k for k, member in enumerate(self.members) if stays(member)]
        columns = [k for k, player in enumerate(self.players) if stays(player)]
        table = None if self.table is None else self.table[rows][:, [0, *(k + 1 for k in columns)]]
        return replace(
            self,
            members=tuple(self.members[k] for k in rows),
            known=tuple(self.players[k] for k in columns),
            table=table,
        )

    def pruned(self, most: int) -> Portfolio:
        """The portfolio with `most` members at most; all players stay known.

        Members are taken one by one, each time the one that adds most to the sum over all players
        of what the best member so far wins from them above the equilibrium. What is won from a
        player counts in units of the root of the most that any member wins from him. The sum is
        submodular, so that the result is within 1 - 1/e of the best choice.
        """
        gains = np.maximum(self.gains[:, 1:], 0.0)
        gains = gains / np.sqrt(np.maximum(gains.max(axis=0, initial=0.0), LEAST_GAIN))
        chosen: list[int] = []
        best = np.zeros(gains.shape[1])
        while len(chosen) < min(most, len(self.members)):
            adds = np.maximum(gains - best, 0.0).sum(axis=1)
            adds[chosen] = -1.0
            chosen.append(int(adds.argmax()))
            best = np.maximum(best, gains[chosen[-1]])
        members = tuple(self.members[k] for k in sorted(chosen))
        return replace(self, members=members, known=self.players, table=self.gains[sorted(chosen)])

    def values(self, model: Strategy) -> dict[str, float]:
        """The approximate payoff of the equilibrium and of each member against a strategy
        (`poker/holdem/bucket_pairs.py`)."""
        strategies = {"equilibrium": self.equilibrium}
        strategies |= {member.name: member.strategy for member in self.members}
        return {name: self._value(one, model) for name, one in strategies.items()}


def _family(name: str) -> str:
    """The type of a player of the field, without its strength."""
    family = name.partition(" ")[0]
    return family if family in TYPES else name
