"""`Adaptive`: a player who starts from an equilibrium and moves away from it as evidence comes in.

A bot like any other: whoever deals drives it. What it knows and how it decides is in `mind.py`.
Its `budget` is what may be lost by leaving the equilibrium, in small bets: what was won while other
arms played, averaged over our possible holdings, is added to it, and when nothing is left the
equilibrium plays on alone until the opponent has changed.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.arena.adapt.bandit import Verdict
from counterplay.arena.adapt.learnt import LearntResponse
from counterplay.arena.adapt.mind import FOE, PROBING, Mind, MindOptions
from counterplay.arena.adapt.notes import finding_words
from counterplay.arena.adapt.portfolio import GAME, KNOWN, Portfolio, portfolio
from counterplay.arena.adaptive import check_iterations, note_of
from counterplay.base.errors import BadParameter, whole_number
from counterplay.base.progress import Tell, untold
from counterplay.forms.game import Game
from counterplay.forms.strategy import Strategy
from counterplay.kernels.rng import check_seed, new_state, uniform
from counterplay.opponents.bots.bot import Bot, Ending, View
from counterplay.opponents.bots.table import strategy_bot
from counterplay.opponents.hands.parquet import read_hands, write_hands
from counterplay.opponents.hands.records import HandRecord
from counterplay.opponents.models.observe import observe
from counterplay.solvers.base import probability, real

ME = "adaptive"
BUDGET = 500.0  # small bets
P_MAX = 0.9
EVERY = 1_000  # hands
EARLY = (60, 125, 250, 500)  # hands after which it learns besides
LOOK = 25  # hands between two choices of who plays
ITERATIONS = 150_000  # of the learnt response for each seat, at every learning
STREAM = 0x41646170  # of random numbers, apart from those of whoever plays the hand


@dataclass(frozen=True)
class AdaptiveStanding:
    """What an adaptive player thinks."""

    hands: int  # of this opponent
    playing: str
    why: str
    confirmed: tuple[str, ...]  # about the opponent, in words, the largest deviation first
    verdicts: tuple[Verdict, ...]  # of all arms
    budget: float  # small bets left
    changes: tuple[int, ...]  # hands at which the opponent became another
    thinking: float  # milliseconds per hand, on average


class Adaptive(Bot):
    """Plays an equilibrium until the evidence says otherwise.

    `company`: a `Portfolio`, or names of known players for `cp.portfolio`; made on first use and
    kept. `budget`: small bets that leaving the equilibrium may cost. `p_max`: the most a model is
    trusted. `every`: hands between two learnings, `iterations` of the response at each, for each
    seat, for at most `seconds`. `probing`: share of hands played without ever folding, to see more
    cards. `memory`: hands of an earlier match (`save`), which it knows from the start.
    """

    name = ME

    def __init__(
        self,
        game: Game | str = GAME,
        *,
        company: Portfolio | tuple[str, ...] = KNOWN,
        equilibrium: Strategy | None = None,
        budget: float = BUDGET,
        p_max: float = P_MAX,
        every: int = EVERY,
        iterations: int = ITERATIONS,
        seconds: float | None = None,
        probing: float = 0.0,
        memory: str | Path | None = None,
        seed: int = 0,
        tell: Tell = untold,
    ) -> None:
        if real(budget, "budget") < 0:
            raise BadParameter(f"a budget is 0 or more, not {budget!r}")
        probability(p_max, "p_max")
        if not 0.0 <= real(probing, "probing") < 1.0:
            raise BadParameter(f"probing is a share of hands below 1, not {probing!r}")
        whole_number(every, 1, None, "every")
        check_iterations(iterations)
        if seconds is not None and not real(seconds, "seconds") > 0:
            raise BadParameter(f"seconds of thinking are above 0, not {seconds!r}")
        if not isinstance(company, Portfolio):
            company = portfolio(game, company, equilibrium=equilibrium, tell=tell)
        self.company, self._every = company, every
        self.betting = company.game.rules.betting
        self._options = MindOptions(
            float(budget),
            float(p_max),
            iterations,
            seconds,
            float(probing),
            int(check_seed(seed)),
        )
        self._known = _records(memory) if memory is not None else []
        self._bots: list[Any] = []
        self._arm = 0
        self.start(0)

    def start(self, seed: int) -> None:
        """A new opponent: forget all but the memory that was given."""
        self.mind, self._arm = Mind(self.company, self._options), 0
        self.memory: list[HandRecord] = []
        self.seconds = 0.0  # of thinking
        self._learn_at = self._next_learning()
        for record in self._known:
            self._take_in(record, ending_of(record), None)
        if self._known:
            self._learn()
        self._sit()
        self.seed(seed)

    def seed(self, seed: int) -> None:
        self._rng = new_state(seed, STREAM)
        for bot in self._bots:
            bot.seed(seed)

    def new_hand(self, seat: int) -> None:
        self._mix = self.mind.mix
        self._arm = self.mind.playing
        if self._options.probing > 0 and uniform(self._rng) < self._options.probing:
            self._arm = self.mind.names.index(PROBING)

    def act(self, view: View) -> str:
        action: str = self._bots[self._arm].act(view)
        return action

    def end_hand(self, ending: Ending) -> None:
        before = time.perf_counter()
        self._take_in(note_of(len(self.memory), ending, ME, FOE), ending, self._mix)
        if self.mind.hands >= self._learn_at:
            self._learn()
            self._sit()
        elif self.mind.hands % LOOK == 0:
            self.mind.choose()
        self.seconds += time.perf_counter() - before

    def _take_in(self, record: HandRecord, ending: Ending, mix: np.ndarray | None) -> None:
        self.memory.append(record)
        hands = self.mind.hear(ending, mix)
        if hands is not None:
            self._another(hands)

    def _another(self, hands: int) -> None:
        """The opponent is another since so many of his hands: keep what is about the new one."""
        self.mind.start_anew(hands)
        for record in self.memory[self.mind.since :]:
            self.mind.hear(ending_of(record), None)
        self._learn()
        self._sit()

    def _learn(self) -> None:
        self.mind.learn(self.memory[self.mind.since :])
        self._learn_at = self._next_learning()

    def _next_learning(self) -> int:
        hands = self.mind.hands
        return next(
            (n for n in EARLY if hands < n < self._every), hands + self._every - hands % self._every
        )

    def _sit(self) -> None:
        """Bots of all arms."""
        bots = [strategy_bot(strategy, ME) for strategy in self.mind.strategies]
        for old, new in zip(self._bots, bots, strict=False):
            new._rng[:] = old._rng
        self._bots = bots

    def warm_up(self) -> None:
        """Learn a little from the hands so far, so that all is compiled, and forget them."""
        if self.memory:
            learner = LearntResponse(self.company.equilibrium, 0, P_MAX)
            learner.learn(observe(self.memory, FOE), self.mind.evidence[0])
            learner.think(2)
            self.company.worth(self.company.equilibrium)
        self.start(0)

    @property
    def strategy(self) -> Strategy:
        """What it plays now, but for probing."""
        return self.mind.strategies[self.mind.playing]

    @property
    def hand_strategy(self) -> Strategy:
        """What plays the hand that is on."""
        return self.mind.strategies[self._arm]

    def standing(self) -> AdaptiveStanding:
        """What it thinks, in words."""
        mind = self.mind
        return AdaptiveStanding(
            mind.hands,
            mind.names[mind.playing],
            _why(mind),
            tuple(finding_words(finding) for finding in mind.findings()),
            tuple(mind.verdicts),
            mind.bank,
            tuple(mind.changes),
            1e3 * self.seconds / max(len(self.memory), 1),
        )

    def save(self, path: str | Path) -> None:
        """Write what it remembers of the opponent it knows now (.parquet), for the next match."""
        hands = self.memory[self.mind.since :]
        if not hands:
            raise BadParameter("there is nothing to remember yet")
        write_hands(Path(path), hands)


def _why(mind: Mind) -> str:
    if not mind.verdicts:
        return "it has not learnt yet"
    best = max(mind.verdicts[1:], key=lambda one: one.gain, default=None)
    if mind.playing == 0:
        if mind.bank <= 0:
            return "the budget is used up"
        if best is None:
            return "there is nobody else"
        return (
            f"the best of the others, {best.name}, would win {best.gain:+.2f} ± {best.error:.2f} "
            f"sb/h more"
        )
    one = mind.verdicts[mind.playing]
    return f"it wins {one.gain:+.2f} ± {one.error:.2f} sb/h more than the equilibrium"


def ending_of(record: HandRecord) -> Ending:
    """What we saw of a hand that we played."""
    cards = record.cards(ME)
    assert cards is not None
    seat = record.seat(ME)
    shown = record.cards(FOE) if record.showdown else None
    return Ending(seat, cards, record.board, record.end, record.won(ME), shown)


def _records(path: str | Path) -> list[HandRecord]:
    """Hands of an earlier match, as the player saw them."""
    hands = read_hands(path).hands
    if not hands or any({hand.dealer, hand.big_blind} != {ME, FOE} for hand in hands):
        raise BadParameter(f"{path}: no memory of an adaptive player; `save` writes one")
    return hands
