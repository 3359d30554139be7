"""`holdem(buckets=10)`: two-player limit Texas Hold'em with real cards and abstract strategies.

The game is a betting tree (`poker/betting`: ACPC limit rules) and a card abstraction
(`poker/abstraction`: buckets of effective hand strength, or others). An information set has the
current bucket alone, so there is no perfect recall unless the buckets are nested. Payoffs are in
small bets.

`BettingGame` is its form for sampling kernels. All cards are dealt at the start; buckets are looked
up when a street is reached. An information set is a decision of the betting tree and the acting
player's bucket: a row (`row_of`).
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from importlib import import_module
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from counterplay.core.base.errors import BadParameter
from counterplay.core.base.progress import ProgressCallback, no_progress, part
from counterplay.core.base.store import cache_root
from counterplay.core.forms import access
from counterplay.core.forms.access import answers, lane_chance
from counterplay.core.forms.capabilities import SAMPLING_ONLY
from counterplay.core.forms.registry import GameSpec
from counterplay.core.kernels.intrinsics import prefetch
from counterplay.core.kernels.jit import ZERO, index, jit
from counterplay.poker.abstraction.abstraction import (
    ABSTRACTIONS,
    Buckets,
    CardAbstraction,
    Cards,
    bucket_shares,
    cards_of,
    check_filled,
    make_abstraction,
)
from counterplay.poker.abstraction.numbered import DEFAULT_KIND
from counterplay.poker.betting.betting import (
    LIMIT,
    NO_FOLD,
    UNIT,
    BettingRules,
    BettingTree,
    PublicNodes,
    action_slots,
    betting_tree,
    buckets_at,
    first_rows,
    first_slots,
    row_of,
)
from counterplay.poker.cards import strength
from counterplay.poker.cards.deal import (
    DERIVED,
    UNKNOWN,
    Deal,
    bucket_at,
    compare,
    deal_on,
    deals_on,
    draw,
    find_board,
    holding_of,
)

#: Buckets after the flop from which public chance sampling converges faster than external sampling
#: (`benchmarks/public.csv`).
MANY_BUCKETS = 50


class BettingGame(NamedTuple):
    """n public nodes, m information sets."""

    nodes: PublicNodes
    cards: Cards
    first_row: np.ndarray  # int32[n]: see `row_of`
    first: np.ndarray  # int32[m + 1]
    owner: np.ndarray  # int8[m]
    passive: np.ndarray  # int16[m]
    on_board: int  # cards of the board at a showdown

    @property
    def n_nodes(self) -> int:
        """Number of public nodes."""
        return len(self.nodes.player)


def betting_game(
    tree: BettingTree, cards: Cards, counts: tuple[int, ...], on_board: int = LIMIT.board[-1]
) -> BettingGame:
    """Returns the form of a card abstraction with `counts` buckets on the streets."""
    nodes, n = tree.nodes, buckets_at(tree, counts)
    return BettingGame(
        nodes,
        cards,
        first_rows(tree, counts),
        first_slots(tree, counts),
        np.repeat(nodes.player[nodes.node], n),
        np.repeat(nodes.passive, n),
        on_board,
    )


@answers(access.chance_buffer, BettingGame)
def _chance_buffer(form: Any) -> Any:
    return np.empty(len(form.cards.deck) + DERIVED, dtype=np.int64)


@answers(access.lane_buffer, BettingGame)
def _lane_buffer(form: Any, many: int) -> Any:
    return np.empty(many * (len(form.cards.deck) + DERIVED), dtype=np.int64)


@answers(access.chance_workspace, BettingGame)
def _chance_on(form: Any, buffer: Any) -> Any:
    one = len(form.cards.deck) + DERIVED
    return (deal_on if len(buffer) == one else deals_on)(buffer, form.cards.deck)


@answers(lane_chance, BettingGame)
def _chance_in(form: Any, chance: Any, lane: Any) -> Any:
    return Deal(
        chance.deck[lane],
        chance.bucket[lane],
        chance.winner[lane],
        chance.masks[lane],
        chance.board[lane],
        chance.permutation[lane],
        chance.holding[lane],
    )


@jit(inline=True)
def _look_up(cards: Any, chance: Deal, street: Any) -> None:
    """Fills both players' buckets of a street and prefetches those of the next street, so that
    memory latency overlaps with the betting."""
    board = chance.board[ZERO]
    for player in range(index(2)):
        holding = holding_of(chance, player, False) if street == 0 else chance.holding[player]
        before = chance.bucket[index(max(street - 1, 0)), player]
        chance.bucket[index(street), player] = bucket_at(cards, street, board, holding, before)
    if street < 3:
        board = find_board(cards, chance, street + 1)
        for player in range(index(2)):
            holding = holding_of(chance, player, True)
            chance.holding[player] = holding
            if street < 2:
                prefetch(cards.early, index(board), index(holding))
            else:
                prefetch(cards.river_entry, index(board - len(cards.early)), index(holding))


@answers(access.start, BettingGame)
def _start(form: Any, chance: Any, rng: Any) -> Any:
    draw(chance, rng)
    return ZERO


@answers(access.start_lane, BettingGame)
def _start_in(form: Any, chance: Any, lane: Any, rng: Any) -> Any:
    draw(lane_chance(form, chance, lane), rng)
    return ZERO


@answers(access.prefetch_node, BettingGame)
def _ask_node(form: Any, chance: Any, node: Any) -> Any:
    return None  # the betting tree stays in the cache


@answers(access.child, BettingGame)
def _child(form: Any, chance: Any, node: Any, action: Any, rng: Any) -> Any:
    return index(form.nodes.first_child[node]) + action


@answers(access.player_at, BettingGame)
def _player_at(form: Any, chance: Any, node: Any) -> Any:
    return form.nodes.player[node]


@answers(access.infoset_at, BettingGame)
def _infoset_at(form: Any, chance: Any, node: Any) -> Any:
    street, player = np.int64(form.nodes.street[node]), index(form.nodes.player[node])
    if chance.bucket[index(street), player] == UNKNOWN:
        _look_up(form.cards, chance, street)
    return index(row_of(form.first_row, node, chance.bucket[index(street), player]))


@answers(access.lane_infoset, BettingGame)
def _infoset_in(form: Any, chance: Any, lane: Any, node: Any) -> Any:
    street, player = np.int64(form.nodes.street[node]), index(form.nodes.player[node])
    if chance.bucket[lane, index(street), player] == UNKNOWN:
        _look_up(form.cards, lane_chance(form, chance, lane), street)
    return index(row_of(form.first_row, node, chance.bucket[lane, index(street), player]))


@answers(access.utility, BettingGame)
def _utility(form: Any, chance: Any, node: Any, player: Any) -> Any:
    stake = form.nodes.stake[node]
    folded = form.nodes.folded[node]
    if folded != NO_FOLD:
        won = -1 if folded == player else 1
    else:
        if chance.winner[ZERO] == UNKNOWN:
            compare(chance, form.on_board)
        won = chance.winner[ZERO] if player == 0 else -chance.winner[ZERO]
    return stake * won


class HoldemRules:
    """Rules of hold'em with a form of their own; the tables are loaded or built on first use.

    Betting may end before the river; at a showdown the rest of the board is dealt.
    """

    n_players = 2
    zero_sum = True
    #: `boards`: vector-form traversal of the public tree; `bots`: matches on dealt cards; `hands`:
    #: hand histories, and models learnt from them; `grid`: pictures of starting hands
    capabilities = replace(SAMPLING_ONLY, also=frozenset({"boards", "bots", "hands", "grid"}))
    evaluator = "boards"
    forgotten = "their earlier buckets"
    unit = UNIT
    seats = ("dealer", "big blind")
    players = "counterplay.poker.players:HoldemResolver"  # in a higher layer

    def __init__(self, abstraction: CardAbstraction, betting: BettingRules = LIMIT) -> None:
        if betting.board != LIMIT.board[: betting.n_streets]:
            raise BadParameter(
                f"hold'em has boards of {LIMIT.board} cards, one for each street and in that "
                f"order; got {betting.board}"
            )
        self.abstraction, self.betting = abstraction, betting

    def match_runner(self) -> Any:
        """Returns the class that plays matches on real cards, from a higher layer."""
        return import_module("counterplay.poker.match.match").HoldemMatch

    def cfr_br(self, game: Any, settings: Any, restriction: Any) -> Any:
        """Returns the engine of CFR-BR, from a higher layer."""
        engine = import_module("counterplay.poker.vector.cfr_br").HoldemCfrBr
        return engine(game, settings, restriction)

    @property
    def tree(self) -> BettingTree:
        return betting_tree(self.betting)

    @property
    def sampler(self) -> str:
        """Name of the default sampling solver."""
        many = max(self.abstraction.counts[1:]) >= MANY_BUCKETS
        return "mccfr-public" if many else "mccfr-external"

    @property
    def depth(self) -> int:
        return self.tree.depth

    @property
    def buckets(self) -> Buckets:
        return _made(self.abstraction, self.betting, self.on_board, cache_root())[0]

    def prepare(self, progress: ProgressCallback = no_progress) -> None:
        """Builds the tables of the cards; the first time that takes minutes with some buckets."""
        strength.strengths(lambda share, what: progress(0.2 * share, what))
        self.abstraction.buckets(part(progress, 0.2, 0.95, "card tables"))
        self.form()
        progress(1.0, "card tables")

    def bucket_shares(self) -> tuple[np.ndarray, ...]:
        """Returns the frequency of each bucket, by street: float64[buckets] each."""
        return _shares(self.abstraction, self.betting, cache_root())

    @property
    def on_board(self) -> int:
        """Cards of the board at a showdown."""
        return LIMIT.board[-1]

    def form(self) -> BettingGame:
        return _made(self.abstraction, self.betting, self.on_board, cache_root())[1]

    def slots(self) -> np.ndarray:
        """Returns int64[information sets, 3]: slot of fold, call and raise, -1 where illegal."""
        return _slots(self.betting, self.abstraction.counts)

    def labels(self) -> tuple[list[str], list[str]]:
        infosets: list[str] = []
        slots: list[str] = []
        tree = self.tree
        counts = buckets_at(tree, self.abstraction.counts).tolist()
        for node, n in zip(tree.nodes.node.tolist(), counts, strict=True):
            history = tree.histories[node] or "start"
            infosets += [f"{history} bucket {bucket}" for bucket in range(n)]
            slots += tree.actions[node] * n
        return infosets, slots

    def draw_grid(self, strategy: Any) -> Any:
        """Returns a figure of the strategy's starting hands."""
        from counterplay.poker.holdem.grid import draw_grid

        return draw_grid(strategy)

    def grid_html(self, strategy: Any) -> str:
        """Returns the starting hands as HTML for a notebook."""
        from counterplay.poker.holdem.grid import grid_html

        return grid_html(strategy)

    def key(self) -> bytes:
        betting = "" if self.betting == LIMIT else f" {self.betting}"
        return f"holdem {self.abstraction.key} ehs {strength.VERSION}{betting}".encode()


@lru_cache(maxsize=3)
def _made(
    abstraction: CardAbstraction, betting: BettingRules, on_board: int, folder: Path
) -> tuple[Buckets, BettingGame]:
    """Returns buckets and form, which are large, never change, and are shared by all games of the
    same abstraction."""
    buckets = abstraction.buckets()
    check_filled(buckets, abstraction.counts)
    cards = cards_of(buckets, abstraction.deck)
    return buckets, betting_game(betting_tree(betting), cards, abstraction.counts, on_board)


@lru_cache(maxsize=3)
def _shares(
    abstraction: CardAbstraction, betting: BettingRules, folder: Path
) -> tuple[np.ndarray, ...]:
    buckets, form = _made(abstraction, betting, LIMIT.board[-1], folder)
    shares = tuple(bucket_shares(buckets, form.cards, abstraction.counts))
    for share in shares:
        share.setflags(write=False)
    return shares


@lru_cache(maxsize=3)
def _slots(betting: BettingRules, counts: tuple[int, ...]) -> np.ndarray:
    slots = action_slots(betting_tree(betting), counts)
    slots.setflags(write=False)
    return slots


def _make(
    buckets: int | None = None,
    kind: str = DEFAULT_KIND[LIMIT.board[-1]],
    preflop: int | None = None,
    flop: int | None = None,
    turn: int | None = None,
    river: int | None = None,
) -> Any:
    numbers = {"buckets": buckets, "preflop": preflop, "flop": flop, "turn": turn, "river": river}
    return HoldemRules(make_abstraction(kind, numbers, LIMIT.board[-1]))


GAME = GameSpec(
    "holdem",
    _make,
    f"two-player limit Texas Hold'em, real cards seen through buckets (the paper's: 10 and 100); "
    f"kinds: {', '.join(ABSTRACTIONS.listing())}",
    (
        "holdem(buckets=10)",
        "holdem(buckets=100,kind=percentile)",
        "holdem(preflop=50,flop=20,turn=20,river=10)",
        "holdem(buckets=100,kind=emd)",
        "holdem(buckets=3,kind=nested)",
        "holdem(kind=sparbot)",
    ),
    arguments=lambda rules: rules.abstraction.arguments,
)
