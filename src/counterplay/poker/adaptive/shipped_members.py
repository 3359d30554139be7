"""What comes with the package for the default portfolio: its equilibrium, and robust responses to
known players, both trained by CFR-BR with adversary="real", each with its risk from a sample of
flops.

`members/index.json` lists them as `bots/strategies/index.json` does its strategies, and
`members/NAME.npz` has the probabilities of one in whole steps. `tools/train_members.py` writes
both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from pathlib import Path

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.bots.shipped import INDEX, ShippedStrategy, read_index, read_strategy

FOLDER = Path(__file__).parent / "members"
EQUILIBRIUM = "equilibrium"


@dataclass(frozen=True, repr=False)
class ShippedMember(ShippedStrategy):
    """An entry of the index."""

    plus_minus: float  # half the 95% interval of its exploitability, in mb/g
    flops: int  # of the sample

    @property
    def risk(self) -> str:
        """The exploitability, as text that says how it is known."""
        return f"{self.mb_per_game:.0f} ± {self.plus_minus:.0f} mb/g (95%), from {self.flops} flops"


def entry_name(player: str) -> str:
    """The name in the index of the response to a known player: `maniac-85` for `maniac 85%`."""
    return player.replace(" ", "-").rstrip("%")


def shipped_members(game: Game, folder: Path = FOLDER) -> dict[str, ShippedMember]:
    """The entries for a game, by name; none where none are shipped."""
    if not (folder / INDEX).is_file():
        return {}
    entries = read_index(folder / INDEX, ShippedMember)
    return {one.name: one for one in entries if one.game == game.name}


def shipped_equilibrium(game: Game) -> Strategy | None:
    """The equilibrium for a game, if one is shipped."""
    entry = shipped_members(game).get(EQUILIBRIUM)
    return None if entry is None else read_member(entry, game)


def read_member(entry: ShippedMember, game: Game, folder: Path = FOLDER) -> Strategy:
    """The strategy of an entry; read once by each process."""
    return _read(folder / f"{entry.name}.npz", entry.sha256, game)


@cache
def _read(path: Path, sha256: str, game: Game) -> Strategy:
    return read_strategy(path, sha256, game)
