"""`spot(board='QsJh2c',pot=20,stacks=90,ranges=('22+,A2s+','random'))`: a position of hold'em after
the flop as a game.

Player 1 acts first on every street. Payoffs are chips, from an even split of the pot at the start,
so that both players' values sum to zero (to minus the rake where there is one). Nothing is
abstracted: an information set is a history of the betting, a board and a holding.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from counterplay.core.base import memory
from counterplay.core.base.errors import BadParameter, flag, one_of, shown
from counterplay.core.forms.capabilities import SAMPLING_ONLY
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import GAMES, GameSpec
from counterplay.core.parallel.full_width import ComputeOptions
from counterplay.core.solvers.base import Problem
from counterplay.core.solvers.cfr_kernels import CFRVariant
from counterplay.poker.spots.betting import DECISION, DEFAULT_CAP, sizes_text, spot_betting
from counterplay.poker.spots.cards import board_text, parse_board
from counterplay.poker.spots.deals import SpotGame, spot_game
from counterplay.poker.spots.layout import SMALLER, SpotLayout
from counterplay.poker.spots.ranges import holding_text, parse_ranges, range_text

DEFAULT_BETS = "50,100"
MOST_LABELS = 5_000_000


class SpotRules:
    """Rules of a spot, with a form of their own."""

    n_players = 2
    capabilities = replace(SAMPLING_ONLY, exact=True, also=frozenset({"spots"}))
    evaluator = "spots"
    players = "counterplay.poker.spots.locks:SpotPlayers"
    perfect_recall = True
    solver = "dcfr"  # by default
    unit = ("chips", "hand", "chips/h")
    seats = ("out of position", "in position")

    def __init__(
        self,
        board: str = "QsJh2c5d8s",
        pot: float = 20.0,
        stacks: Any = None,
        ranges: Any = ("random", "random"),
        bets: Any = None,
        raises: Any = None,
        cap: int | None = DEFAULT_CAP,
        min_bet: float = 0.0,
        limit: bool = False,
        rake: float = 0.0,
        rake_cap: float | None = None,
        symmetric: bool = True,
    ) -> None:
        if bets is None and limit:
            raise BadParameter("bets: limit betting needs the size of a bet in chips")
        if stacks is None and not limit:
            raise BadParameter("stacks: give the chips that each player still has, such as 90")
        bets = DEFAULT_BETS if bets is None else bets
        self.board = parse_board(board)
        self.betting = spot_betting(
            6 - len(self.board), pot, stacks, bets, raises, cap, min_bet, limit, rake, rake_cap
        )
        self.weights = parse_ranges(ranges)
        self.symmetric = flag(symmetric, "symmetric")
        self.zero_sum = self.betting.rake == 0.0
        self.layout  # noqa: B018 - checks that the ranges can meet and the tree ends

    @cached_property
    def layout(self) -> SpotLayout:
        """The spot as arrays."""
        return SpotLayout(self.betting, self.board, self.weights, self.symmetric)

    def __getstate__(self) -> dict[str, Any]:
        """Without the arrays, which another process builds again."""
        return {name: value for name, value in vars(self).items() if name != "layout"}

    @property
    def pot(self) -> float:
        """The chips in the pot at the start."""
        return self.betting.pot

    @property
    def payoff_range(self) -> float:
        """What a target without a unit is a share of: the pot."""
        return self.betting.pot

    @property
    def depth(self) -> int:
        """Decisions in the longest history."""
        histories = self.layout.named.history
        ends = (text.replace("/", "-").strip("-").split("-") for text in histories if text)
        return max(len(end) for end in ends)

    def regret_minimiser(
        self, variant: CFRVariant, compute: ComputeOptions, problem: Problem
    ) -> Any:
        """Returns the engine of CFR in vector form. `problem.form`: a layout, its form with locks,
        and whose they are; `problem.restriction`: the restricted player of a response."""
        from counterplay.poker.spots.device import DeviceSpotRegrets
        from counterplay.poker.spots.engine import SpotRegrets, restricted_spot

        on_device = one_of(compute.backend, ("cpu", "cuda"), "backend") == "cuda"
        engine = DeviceSpotRegrets if on_device else SpotRegrets
        if problem.restriction is not None:
            layout, form = restricted_spot(self.layout, problem.restriction)
            return engine(layout, variant, compute, form, problem.restriction.player)
        layout, *locked = problem.form if problem.transformed else (self.layout,)
        return engine(layout, variant, compute, *locked)

    def form(self) -> SpotGame:
        memory.require(self.layout.making_bytes, "a strategy of this spot", SMALLER)
        return spot_game(self.layout)

    def labels(self) -> tuple[list[str], list[str]]:
        layout = self.layout
        if sum(layout.n_slots) > MOST_LABELS:
            raise BadParameter(
                f"this spot has {sum(layout.n_slots):,} slots, too many to be named one by one; "
                f"look at one history: cp.spot_view, counterplay show --betting"
            )
        infosets, slots = [], []
        for player in (0, 1):
            names = [holding_text(h) for h in layout.sides[player].holding.tolist()]
            for k, _, (boards, _, _) in layout.blocks(player):
                for board in self.boards_at(k):
                    infosets += [f"{self.history(k)} {board} {name}" for name in names]
                slots += layout.named.actions[k] * (boards * len(names))
        return infosets, slots

    def boards_at(self, node: int) -> list[str]:
        """Returns the boards of a node as texts."""
        layout = self.layout
        first = int(layout.boards.first[layout.tree.street[node]])
        rows = layout.boards.dealt[first:][: int(layout.n_boards[node])]
        return [board_text(row) for row in rows]

    def history(self, node: int) -> str:
        """Returns the betting before a node as a text; `start` before the first action."""
        return self.layout.named.history[node] or "start"

    def nodes(self) -> dict[str, int]:
        """Returns the decision nodes by history."""
        kinds = self.layout.tree.kind
        return {self.history(int(k)): int(k) for k in np.flatnonzero(kinds == DECISION)}

    def key(self) -> bytes:
        return f"spot {self.arguments}".encode()

    @cached_property
    def arguments(self) -> str:
        """The arguments in the name of the game."""
        betting, limit = self.betting, self.betting.limit
        bets = sizes_text(betting.bets, limit)
        raises = sizes_text(betting.raises, limit)
        ranges = tuple(range_text(weights) for weights in self.weights)
        parts = [f"board={board_text(self.board)!r}", f"pot={betting.pot!r}"]
        if np.isfinite(betting.stack):
            parts.append(f"stacks={betting.stack!r}")
        parts += [f"ranges={ranges!r}", f"bets={bets!r}"]
        parts += [f"raises={raises!r}"] * (raises != bets)
        parts += [f"cap={betting.cap}"] * (betting.cap != DEFAULT_CAP)
        parts += [f"min_bet={betting.min_bet!r}"] * (betting.min_bet != 0)
        parts += ["limit=True"] * limit
        parts += [f"rake={betting.rake!r}"] * (betting.rake != 0)
        parts += [f"rake_cap={betting.rake_cap!r}"] * bool(np.isfinite(betting.rake_cap))
        parts += ["symmetric=False"] * (not self.symmetric)
        return ",".join(parts)


GAME = GameSpec(
    "spot",
    SpotRules,
    "a position of hold'em after the flop, any board, ranges, stacks and bet sizes",
    (
        "spot(board='QsJh2c5d8s',pot=20,stacks=90,ranges=('22+,A2s+,KTo+:0.5','random'),bets='50,100')",
    ),
    arguments=lambda rules: rules.arguments,
)


def spot(
    board: str,
    pot: float,
    stacks: Any = None,
    ranges: Any = ("random", "random"),
    bets: Any = None,
    limit: bool = False,
    *,
    raises: Any = None,
    cap: int | None = DEFAULT_CAP,
    min_bet: float = 0.0,
    rake: float = 0.0,
    rake_cap: float | None = None,
    symmetric: bool = True,
) -> Game:
    """A position of hold'em as a game: `cp.spot("Qs Jh 2c", pot=20, stacks=90, ranges=("22+,A2s+",
    "random"), bets="50,100")`. Player 1 acts first; the street on the board begins.

    `ranges`: one for each player, such as "22+,A2s+,KTo+:0.5,AhKh". `stacks`: chips behind.
    `bets`: percent of the pot, `allin` is one, for all streets or each ("flop: 33; turn: 50,100;
    river: 75,allin"), with a bar for two players ("50 | 33,75"); `raises`: the same of the pot
    after the call (default: as bets). `cap`: bets and raises of a street at most, None for any
    number. `min_bet`: chips; a raise is at least as large as the one before. `limit`: `bets` are
    chips. `rake`: a share of the pot, `rake_cap` chips at most. `symmetric`: suits that board and
    ranges do not tell apart are treated alike.
    """
    for name, value in (("board", board), ("pot", pot)):
        if value is None:
            raise BadParameter(f"{name}: give one, not {shown(value)}")
    spec = GAMES["spot"]
    given = {
        "board": board, "pot": pot, "stacks": stacks, "ranges": ranges, "bets": bets,
        "raises": raises, "cap": cap, "min_bet": min_bet, "limit": limit, "rake": rake,
        "rake_cap": rake_cap, "symmetric": symmetric,
    }  # fmt: skip
    return Game(*spec.bind((), given))
