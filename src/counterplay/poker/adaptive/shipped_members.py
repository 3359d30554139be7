"""The members that come with the package: robust responses to known players of the default
portfolio, trained by CFR-BR with adversary="real", each with its risk.

`members/index.json` lists them as `bots/strategies/index.json` does its strategies, and
`members/NAME.npz` has the probabilities of one in whole steps. `tools/train_members.py` writes
both."""

from __future__ import annotations

from functools import cache
from pathlib import Path

from counterplay.core.forms.game import Game
from counterplay.core.forms.strategy import Strategy
from counterplay.poker.bots.shipped import INDEX, ShippedStrategy, read_index, read_strategy

FOLDER = Path(__file__).parent / "members"


def entry_name(player: str) -> str:
    """The name in the index of the response to a known player: `maniac-85` for `maniac 85%`."""
    return player.replace(" ", "-").rstrip("%")


def shipped_members(game: Game, folder: Path = FOLDER) -> dict[str, ShippedStrategy]:
    """The entries of the responses for a game, by name; none where none are shipped."""
    if not (folder / INDEX).is_file():
        return {}
    return {one.name: one for one in read_index(folder / INDEX) if one.game == game.name}


def read_member(entry: ShippedStrategy, game: Game, folder: Path = FOLDER) -> Strategy:
    """The response of an entry; read once by each process."""
    return _read(folder / f"{entry.name}.npz", entry.sha256, game)


@cache
def _read(path: Path, sha256: str, game: Game) -> Strategy:
    return read_strategy(path, sha256, game)
