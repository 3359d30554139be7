"""The known player beside which others are measured on a sample of flops: a shipped strategy, whose
exploitability was measured over every board."""

from __future__ import annotations

import numpy as np

from counterplay.core.forms.game import Game
from counterplay.core.parallel.processes import cores
from counterplay.poker.betting.betting import LIMIT
from counterplay.poker.bots.shipped import strategies
from counterplay.poker.holdem.table import Table, strategy_table
from counterplay.poker.vector.evaluation import FLOPS, KnownPlayer, check_traversal
from counterplay.poker.vector.flop_sums import cpu_hours

#: Half an interval in mb/g to announce, from 24 flops: alone, as the players on 48 flops in
#: benchmarks/cfr_br.csv; beside a known player, as p = 0 in benchmarks/holdem_frontier.csv.
ANNOUNCED_FLOPS, ALONE, BESIDE = 24, 30.0, 21.0


def known_player(game: Game, player: object) -> KnownPlayer | None:
    """A shipped strategy beside which another player of limit hold'em is measured: of the same game
    if there is one, else one whose tables are ready or take seconds, as those of the first do;
    never the player itself."""
    if game.rules.tree.rules != LIMIT or not game.rules.abstraction.deck.full:
        return None
    first, *_ = shipped = strategies()
    for one in sorted(shipped, key=lambda one: one.game != game.name):
        if one.game != game.name and one != first and not one.prepared:
            continue
        known = strategy_table(one.strategy)
        if not (isinstance(player, Table) and np.array_equal(known.policy, player.policy)):
            return KnownPlayer(one.name, known, one.exploitability)
    return None


def announcement(
    game: Game, backend: str, flops: int, queries: int, known: KnownPlayer | None
) -> str:
    """The time and the width of an estimate of the exploitability, as a sentence."""
    time = _time(game, backend, flops, queries, known)
    half = (BESIDE if known else ALONE) * (ANNOUNCED_FLOPS / flops) ** 0.5
    beside = f" beside {known.name}, whose values are stored for the next time," if known else ""
    return (
        f"{flops} flops{beside} take {time}; expect about ± {half:.0f} mb/g (95%) for a player "
        "near equilibrium, several times that for a weak one. Ctrl-C stops."
    )


def announcement_of_many(
    game: Game, backend: str, flops: int, queries: int, known: KnownPlayer | None
) -> str:
    """The time of several estimates of responses, with so many queries in all, as a sentence."""
    beside = f" beside {known.name}" if known else ""
    time = _time(game, backend, flops, queries, known)
    return f"all measurements on {flops} flops{beside} take at most {time}. Ctrl-C stops."


def _time(game: Game, backend: str, flops: int, queries: int, known: KnownPlayer | None) -> str:
    if check_traversal(game, backend, flops, queries=queries):
        return "seconds to minutes on a device"
    minutes = 60 * cpu_hours(queries + 2 * (known is not None)) * flops / FLOPS
    return f"about {max(minutes, 1.0):.0f} minutes on {cores()} processors"
