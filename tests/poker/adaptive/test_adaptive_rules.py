"""The adaptive player against players by rules, who do not change: no alarm, and most of what the
offline way wins. `python -m benchmarks.statements --rules` plays all of them in full."""

from __future__ import annotations

from functools import cache
from pathlib import Path

import pytest
from support.arena import holdem
from support.rule_bots import RULES, rule_bot

import counterplay as cp
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.referee import play_hands, start_bots
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import observe

HANDS, WATCHED = 8_000, 20_000


@cache
def equilibrium() -> cp.Strategy:
    return cp.solve(holdem(), "mccfr-external", iterations=400_000, seed=1).strategy


def offline(name: str, path: Path) -> float:
    """What a response to a model of 20,000 hands against the equilibrium wins."""
    game, safe = holdem(), equilibrium()
    options = {"log": path, "observer": "a", "duplicate": False, "luck_adjusted": False}
    cp.play_match(game, safe, rule_bot(name), WATCHED, 5, processes=1, **options)
    model = learn_model(observe(read_parquet(path), name), game, name, "frequency")
    answer = cp.respond(
        game, model.strategy, p=0.9, algorithm="mcdbr", engine="mccfr-external",
        iterations=400_000, seed=1,
    )  # fmt: skip
    return cp.play_match(game, answer.strategy, rule_bot(name), WATCHED, 6).mean


@pytest.mark.slow
@pytest.mark.parametrize("name", ["river-folder", "nit"])
def test_no_alarm_and_most_of_the_offline_winnings(name: str, tmp_path: Path) -> None:
    me = cp.Adaptive(portfolio=cp.Portfolio(holdem(), equilibrium(), ()), seed=1)
    foe = rule_bot(name)
    start_bots((me, foe), (1, 2))
    won = play_hands((me, foe), session_deals(1, 0, HANDS, HANDS))[5_000:]
    assert me.standing().changes == ()
    noise = 2.0 * won.std() / len(won) ** 0.5
    assert won.mean() + noise >= 0.7 * offline(name, tmp_path / "hands.parquet")


class Watcher(Bot):
    """Plays the equilibrium, and looks for a change of the opponent."""

    name = "watcher"

    def __init__(self) -> None:
        self._bot = strategy_bot(equilibrium())
        self.tracker = cp.Adaptive(portfolio=cp.Portfolio(holdem(), equilibrium(), ())).tracker
        self.alarms = 0

    def seed(self, seed: int) -> None:
        self._bot.seed(seed)

    def act(self, view: View) -> str:
        return self._bot.act(view)

    def end_hand(self, ending: Ending) -> None:
        self.alarms += self.tracker.update(ending, self.tracker.mix) is not None


@pytest.mark.slow
@pytest.mark.parametrize("name", RULES)
def test_no_player_by_rules_seems_to_change(name: str) -> None:
    watcher, foe = Watcher(), rule_bot(name)
    start_bots((watcher, foe), (1, 2))
    play_hands((watcher, foe), session_deals(2, 0, HANDS, HANDS))
    assert watcher.alarms == 0
