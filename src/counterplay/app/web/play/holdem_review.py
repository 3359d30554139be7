"""The review of a hold'em hand: the opponent's cards and probabilities, and the cost of moves.

The cost of a move is the value lost against a best response that knows the opponent's strategy and
sees what the person saw (`poker/holdem/best_action.py`). It is exact on the turn and the river, an
estimate from sampled turns and rivers on the flop, and not computed before the flop.
"""

from __future__ import annotations

from typing import Any

from counterplay.app.web.play.boards import who
from counterplay.app.web.play.holdem import HoldemHand, action_text, button_text
from counterplay.poker.betting.betting import LETTER, LIMIT, betting_tree
from counterplay.poker.bots.table import TableBot
from counterplay.poker.cards.cards import card_text
from counterplay.poker.holdem.best_action import BestActionSearch

FLOP = 1
SAMPLES = {FLOP: {3: 6, 4: 8}}  # on the flop: turns, and rivers after each of them
NOTE = (
    "Against a best response that knows the strategy: exact on the turn and the river, an estimate "
    "on the flop, not computed before it."
)
UNKNOWN_NOTE = "This bot does not reveal its probabilities, so the cost of moves is unknown."


def review(hand: HoldemHand, bot: Any) -> dict[str, Any]:
    """Every decision of a finished hand, the person's with its cost where that is known."""
    tree, steps, total = betting_tree(LIMIT), [], 0.0
    known = isinstance(bot, TableBot)
    for node, letter in zip(hand.nodes(), hand.moves(), strict=False):
        state, names = tree.states[node], tree.actions[node]
        chosen = names.index(LETTER[letter])
        step: dict[str, Any] = {
            "who": who(state.player(), hand.seat),
            "text": action_text(state, names[chosen]),
            "choices": [button_text(state, name) for name in names],
            "chosen": chosen,
        }
        if state.player() != hand.seat:
            step["shares"] = list(bot.shares(hand.bot_view(node)).values()) if known else None
        else:
            values = action_values(hand, bot, node) if known and state.round >= FLOP else None
            step["values"] = values
            step["cost"] = None if values is None else max(values) - values[chosen]
            total += step["cost"] or 0.0
        steps.append(step)
    held = [card_text(card) for card in hand.holding(1 - hand.seat)]
    return {
        "held": " ".join(held),
        "cards": held,
        "steps": steps,
        "cost": total,
        "exact": False,
        "note": NOTE if known else UNKNOWN_NOTE,
    }


def action_values(hand: HoldemHand, bot: TableBot, node: int) -> list[float]:
    """The value of each action at a decision of the person, from there on, in small bets."""
    state = betting_tree(LIMIT).states[node]
    own, samples = hand.holding(hand.seat), SAMPLES.get(state.round, {})
    search = BestActionSearch(bot.table, hand.seat, own, hand.nodes(), samples)
    return search.action_values(node, hand.cards[4 : 4 + state.on_board])
