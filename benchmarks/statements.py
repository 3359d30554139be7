"""Whether what the adaptive player says of its opponent is true.

python -m benchmarks.statements --matches 40 --processes 16

The opponents have one known leak each: the types of `poker/adaptive/field.py`, as mistakes of the
player's own equilibrium, and the equilibrium itself, which has none. The equilibrium plays a match
against them, and the adaptive player sees every hand as its own. After each `STEP` hands its
statements are read. A leak is named by a statement about an action that the type takes more or less
often, on a street where it does. A statement is false if the true frequency of the action, that of
the opponent's strategy at the decisions that were seen, is outside of the interval, or not on the
side of the equilibrium that is stated.

python -m benchmarks.statements --rules --processes 16

A dozen players by rules, who do not change: alarms of a change, and what the adaptive player wins
from hand 5,000 on, in parts of what a response to a model of 20,000 watched hands wins.

Writes benchmarks/statements.csv and benchmarks/rules.csv.
"""

from __future__ import annotations

import argparse
import csv
import multiprocessing
import tempfile
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from benchmarks.measure import write_rows
from counterplay.core.forms.strategy import Strategy
from counterplay.core.match.play import play_match
from counterplay.core.responses.evidence import Deviation
from counterplay.core.responses.respond import respond
from counterplay.poker.adaptive.belief import N_SPOTS, OPENING, spot_of
from counterplay.poker.adaptive.field import STRENGTHS, TYPES, Shift, type_strategy
from counterplay.poker.adaptive.player import Adaptive
from counterplay.poker.adaptive.portfolio import GAME, equilibrium_of
from counterplay.poker.adaptive.portfolio_members import Portfolio
from counterplay.poker.adaptive.tracker import OpponentTracker
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.referee import play_hands, start_bots
from counterplay.poker.models.model import learn_model
from counterplay.poker.models.observe import observe
from counterplay.poker.models.predict import Predictor

HANDS, STEP = 1_000, 100
FIRST_SEED = 500
NOBODY = "no leak"
HERE = Path(__file__).parent
RULE_HANDS, FROM, WATCHED = 8_000, 5_000, 20_000
RESPONSE: dict[str, Any] = {"p": 0.9, "engine": "mccfr-external", "iterations": 400_000, "seed": 1}


class Statements(NamedTuple):
    """What was said in one match."""

    named_at: int  # hands, to the next STEP; 0 if the leak was not named
    said: int  # different statements
    false: int  # of these


class Watcher(Bot):
    """Plays a strategy, and shows every hand to an adaptive player and to the truth."""

    name = "watcher"

    def __init__(self, safe: Strategy, truth: Strategy) -> None:
        self._bot = strategy_bot(safe)
        tracker = Adaptive(portfolio=Portfolio(safe.game, safe, ())).tracker
        assert isinstance(tracker, OpponentTracker)
        self.tracker = tracker
        self._predictor = Predictor(safe.game, [truth])
        self._spot = spot_of(safe.game.rules.tree)
        self._n, self._shares = np.zeros(N_SPOTS), np.zeros((N_SPOTS, 3))

    def seed(self, seed: int) -> None:
        self._bot.seed(seed)

    def act(self, view: View) -> str:
        return self._bot.act(view)

    def end_hand(self, ending: Ending) -> None:
        self.tracker.update(ending, None)
        line, predicted, _ = self._predictor.predict(ending)
        np.add.at(self._n, self._spot[line.node], 1.0)
        np.add.at(self._shares, self._spot[line.node], predicted[:, :, 0])

    def holds(self, said: Deviation) -> bool:
        """Whether a statement is true."""
        true = self._shares[said.group, said.action] / self._n[said.group]
        side = (true > said.expected) == (said.share > said.expected)
        return bool(side and abs(said.share - true) <= said.half)


def names(said: Deviation, moves: Iterable[Shift]) -> bool:
    """Whether a statement is about what a type does."""
    street = 0 if said.group == OPENING else said.group // 4
    more = said.share > said.expected
    return any(
        street in move.streets and said.action == (move.target if more else move.source)
        for move in moves
    )


def statements(
    safe: Strategy, truth: Strategy, moves: Iterable[Shift], seed: int, hands: int = HANDS
) -> Statements:
    """What is said in a match against `truth`."""
    watcher, foe = Watcher(safe, truth), strategy_bot(truth)
    deals = session_deals(seed, 0, hands, hands)
    start_bots((watcher, foe), deals.start_seeds)
    found = Statements(0, 0, 0)
    verdicts: dict[tuple[int, int], bool] = {}
    for first in range(0, hands, STEP):
        part = session_deals(seed, first // STEP, STEP, STEP)
        play_hands((watcher, foe), part)
        for said in watcher.tracker.findings():
            key = said.group, said.action
            verdicts[key] = verdicts.get(key, True) and watcher.holds(said)
            if not found.named_at and names(said, moves):
                found = found._replace(named_at=first + STEP)
    return found._replace(said=len(verdicts), false=sum(not holds for holds in verdicts.values()))


@cache
def _safe() -> Strategy:
    return equilibrium_of(GAME)


def _match(work: tuple[str, float, int]) -> Statements:
    """One match against a leak."""
    name, strength, seed = work
    truth = _safe() if name == NOBODY else type_strategy(_safe(), name, strength)
    return statements(_safe(), truth, TYPES.get(name, ()), seed)


def leak_rows(pool: Any, matches: int, strength: float) -> list[tuple[Any, ...]]:
    """A row for each leak, and one for all of them."""
    rows, every = [], []
    for name in (*TYPES, NOBODY):
        seeds = range(FIRST_SEED, FIRST_SEED + matches)
        found = pool.map(_match, [(name, strength, seed) for seed in seeds], 1)
        every += found
        rows.append((name, *_counted(found, name != NOBODY)))
        print(*rows[-1], flush=True)
    return [*rows, ("all", *_counted(every, False))]


def _counted(found: list[Statements], leak: bool) -> tuple[Any, ...]:
    """matches, named, the median hand, statements, matches without a false one."""
    at = [one.named_at for one in found if one.named_at]
    named = (len(at), int(np.median(at)) if at else "") if leak else ("", "")
    said = sum(one.said for one in found)
    return len(found), *named, said, sum(one.false == 0 for one in found)


@cache
def _rule_bot(name: str) -> Any:
    from tests.support.rule_bots import rule_bot

    return rule_bot(name)


def offline(safe: Strategy, name: str) -> float:
    """What a response to a model of WATCHED hands against the equilibrium wins."""
    game, foe = safe.game, _rule_bot(name)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "hands.parquet"
        log: dict[str, Any] = {"log": path, "observer": "a", "luck_adjusted": False}
        play_match(game, safe, foe, WATCHED, 5, processes=1, duplicate=False, **log)
        model = learn_model(observe(read_parquet(path), name), game, name, "frequency")
    answer = respond(game, model.strategy, algorithm="mcdbr", **RESPONSE).strategy
    won = play_match(game, answer, foe, WATCHED, 6, processes=1, luck_adjusted=False)
    return float(won.mean)


def rule_row(name: str) -> tuple[Any, ...]:
    """name, alarms, what is won from hand FROM on, its half interval, that of the offline way."""
    safe = _safe()
    me, foe = Adaptive(portfolio=Portfolio(safe.game, safe, ()), seed=1), _rule_bot(name)
    start_bots((me, foe), (1, 2))
    won = play_hands((me, foe), session_deals(1, 0, RULE_HANDS, RULE_HANDS))[FROM:]
    half = 1.96 * float(won.std()) / len(won) ** 0.5
    numbers = float(won.mean()), half, offline(safe, name)
    return name, len(me.tracker.changes), *(round(x, 4) for x in numbers)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--matches", type=int, default=40)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--strength", type=float, default=STRENGTHS[-1])
    parser.add_argument("--rules", action="store_true", help="players by rules, who do not change")
    parser.add_argument("--players", default="", help="with --rules: these; the other rows stay")
    options = parser.parse_args()
    _safe()  # is there before processes share the work
    with multiprocessing.get_context("spawn").Pool(options.processes) as pool:
        if options.rules:
            write_rules(pool, options.players)
            return
        header = ("leak", "matches", "named", "median_hands", "statements", "nothing_false")
        found = leak_rows(pool, options.matches, options.strength)
        write_rows(HERE / "statements.csv", header, found)


def write_rules(pool: Any, players: str) -> None:
    """Plays the players by rules, or these; the other rows stay."""
    from tests.support.rule_bots import RULES

    path, header = HERE / "rules.csv", ("player", "alarms", "won", "half_interval", "offline")
    with path.open(encoding="utf-8") as lines:
        rows = {row[0]: tuple(row) for row in list(csv.reader(lines))[1:]}
    for row in pool.imap(rule_row, players.split(",") if players else list(RULES)):
        rows[row[0]] = row
        print(*row, flush=True)
        write_rows(path, header, [rows[one] for one in RULES if one in rows])


if __name__ == "__main__":
    main()
