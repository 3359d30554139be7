"""What moves in hold'em cost.

From the flop on the cost of a move is the value lost against a best response that knows the
opponent's strategy and sees what the person saw (`poker/holdem/holdings.py`): exact on the turn and
the river, an estimate from sampled turns and rivers on the flop, with its interval. A model of a
program, once it was learnt, stands in for it. Before the flop it is what a move loses where a
shipped equilibrium plays both seats from there on (`poker/match/rollouts.py`), whoever the opponent
is.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, lru_cache
from typing import Any

from counterplay.app.web.strategies import default_bot
from counterplay.poker.betting.betting import LIMIT, betting_tree
from counterplay.poker.bots import shipped
from counterplay.poker.bots.table import TableBot
from counterplay.poker.cards.cards import holding
from counterplay.poker.holdem.holdings import BestActionSearch
from counterplay.poker.holdem.table import Table, strategy_table
from counterplay.poker.match.referee import bot_name
from counterplay.poker.match.rollouts import RolloutValues, rollout_values

SAMPLES = {1: {3: 16, 4: 8}}  # on the flop: turns, and rivers after each of them
ROLLOUTS = 200_000
AFTER = (
    "From the flop on, in small bets: what is lost against a best response that knows the "
    "strategy, exactly on the turn and the river; on the flop an estimate from sixteen turns with "
    "eight rivers each, the same after every action. "
)
PREFLOP = (
    "Before the flop: what is lost where {name}, a shipped equilibrium, plays both seats from then "
    "on, estimated from 200,000 deals. ± is half a 95% interval."
)
PROGRAM = (
    "{name} is a program: what it would have done with other cards is not known, so moves from "
    "the flop on are weighed only by a model of it. "
)
LEARNS = "{name} learns; moves are weighed by the strategy that it played in this hand. "
MODELLED = "{name} is a program; a model of it, learnt from hands, stands in for it. "


def note(bot: Any, weighed: bool, street: int, learns: bool = False) -> str:
    """What the costs of a review are, of a hand that came to a street; `weighed`: whether moves
    from the flop on are; `learns`: whether `bot` is what somebody who learns played."""
    name, after = bot_name(bot), AFTER
    if not isinstance(bot, TableBot):
        after = MODELLED.format(name=name) + AFTER if weighed else PROGRAM.format(name=name)
    if learns:
        after = LEARNS.format(name=name) + AFTER
    return (after if street else "") + PREFLOP.format(name=default_bot())


def action_values(
    bot: TableBot,
    seat: int,
    own: tuple[int, int],
    path: list[int],
    board: tuple[int, ...],
    chosen: int = 0,
) -> tuple[list[float] | None, float | None]:
    """The value of each action at the last node of `path`, from there on, in small bets, of a best
    response in `seat`, and half the 95% interval of what `chosen` costs where that is estimated;
    None where the opponent's strategy never gets there."""
    node = path[-1]
    state = betting_tree(LIMIT).states[node]
    dealt = board[: state.on_board]
    search = BestActionSearch(bot.table, seat, own, path, SAMPLES.get(state.round, {}))
    if not search.reach(node, dealt).any():
        return None, None
    values = search.action_values(node, dealt)
    return values, search.within(node, dealt, best_other(values, chosen), chosen)


def best_other(values: Sequence[float], chosen: int) -> int:
    """The best action but the chosen one, with which it is compared."""
    return max((k for k in range(len(values)) if k != chosen), key=lambda k: values[k])


def starting_hand(own: tuple[int, int]) -> int:
    """The number of one holding that stands for all which are the same before the flop."""
    low, high = sorted(card & ~3 for card in own)
    return holding((low | (own[0] & 3 != own[1] & 3), high))


@lru_cache(maxsize=1_000)
def equilibrium_values(path: tuple[int, ...], own: int) -> RolloutValues | None:
    """What each action before the flop is worth with a holding where a shipped equilibrium plays
    both seats; None where it never comes there."""
    table = _equilibrium_table(default_bot())
    return rollout_values(betting_tree(LIMIT), table, table, list(path), (), own, ROLLOUTS)


@cache
def _equilibrium_table(name: str) -> Table:
    return strategy_table(next(one for one in shipped.strategies() if one.name == name).strategy)
