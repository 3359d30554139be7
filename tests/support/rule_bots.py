"""A dozen players by rules, without memory: they do not change. Most are deterministic."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from counterplay.poker.bots.bot import Bot, View

Rule = Callable[["RuleBot", View], str]


class RuleBot(Bot):
    """Plays a rule; an action that is not legal becomes a call."""

    def __init__(self, name: str, rule: Rule) -> None:
        self.name, self._rule = name, rule
        self.rng = np.random.default_rng(0)

    def start(self, seed: int) -> None:
        self.rng = np.random.default_rng(seed)

    def act(self, view: View) -> str:
        action = self._rule(self, view)
        return action if action in view.betting.actions() else "call"

    def often(self, share: float) -> bool:
        return bool(self.rng.random() < share)


def ranks(view: View) -> tuple[int, int]:
    low, high = sorted(card // 4 for card in view.cards)
    return low, high


def paired(view: View) -> bool:
    """A pair or better that uses an own card."""
    every = [card // 4 for card in (*view.cards, *view.board)]
    return any(every.count(card // 4) > 1 for card in view.cards)


def facing(view: View) -> bool:
    return "fold" in view.betting.actions()


def good(view: View) -> bool:
    low, high = ranks(view)
    return paired(view) or (not view.board and (high >= 11 or low >= 8))


def river_folder(bot: RuleBot, view: View) -> str:
    if view.betting.round == 3 and facing(view) and bot.often(0.85):
        return "fold"
    return "raise" if good(view) and bot.often(0.5) else "call"


def nit(bot: RuleBot, view: View) -> str:
    low, high = ranks(view)
    if not view.board:
        return "raise" if low == high or low >= 9 else "fold"
    return "raise" if paired(view) else "fold"


def pair_raiser(bot: RuleBot, view: View) -> str:
    return "raise" if paired(view) else "call"


def maniac(bot: RuleBot, view: View) -> str:
    return "raise" if bot.often(0.8) else "call"


def station(bot: RuleBot, view: View) -> str:
    return "call"


def raiser(bot: RuleBot, view: View) -> str:
    return "raise"


def fit_or_fold(bot: RuleBot, view: View) -> str:
    """Sees every flop, and goes on with a pair only."""
    if not view.board:
        return "call"
    return "raise" if paired(view) else "fold"


def loose_passive(bot: RuleBot, view: View) -> str:
    weak = view.betting.round >= 2 and not paired(view) and ranks(view)[1] < 10
    return "fold" if facing(view) and weak else "call"


def never_bluffs(bot: RuleBot, view: View) -> str:
    if good(view):
        return "raise" if bot.often(0.7) else "call"
    return "fold" if facing(view) and view.board and bot.often(0.5) else "call"


def flop_folder(bot: RuleBot, view: View) -> str:
    if view.betting.round == 1 and facing(view) and not paired(view):
        return "fold"
    return "raise" if good(view) else "call"


def dice(bot: RuleBot, view: View) -> str:
    options = view.betting.actions()
    return str(options[int(bot.rng.integers(len(options)))])


def position(bot: RuleBot, view: View) -> str:
    """Raises as the dealer, and plays pairs only as the big blind."""
    if view.seat == 0:
        return "raise"
    return "call" if paired(view) or not view.board else "fold"


def three_bets(bot: RuleBot, view: View) -> str:
    """Raises twice in a street with a good hand, and else folds to a second bet."""
    if good(view):
        return "raise"
    return "fold" if view.betting.bets >= 2 else "call"


RULES: dict[str, Rule] = {
    "river-folder": river_folder,
    "nit": nit,
    "pair-raiser": pair_raiser,
    "maniac": maniac,
    "station": station,
    "raiser": raiser,
    "fit-or-fold": fit_or_fold,
    "loose-passive": loose_passive,
    "never-bluffs": never_bluffs,
    "flop-folder": flop_folder,
    "dice": dice,
    "position": position,
    "three-bets": three_bets,
}


def rule_bot(name: str) -> RuleBot:
    return RuleBot(name, RULES[name])
