"""`Adaptive`: a bot that learns its opponent while playing.

`tracker.py` holds its knowledge and its decisions. It starts from an equilibrium and deviates as
evidence comes in; with a `learner` it starts from a uniform strategy, as in Figure 8. Its `budget`
is what deviating from the equilibrium may lose, in small bets: what was won and lost while other
arms play is added to it, and while it does not cover the largest loss of a hand only the
equilibrium plays. Nothing fills it up again, also not a change of the opponent.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from counterplay.core.base.errors import BadParameter, probability, real, whole_number
from counterplay.core.base.progress import ProgressCallback, no_progress
from counterplay.core.forms.game import Game
from counterplay.core.forms.registry import as_game, load
from counterplay.core.forms.strategy import Strategy
from counterplay.core.kernels.rng import check_seed, new_state, uniform
from counterplay.core.parallel.processes import never
from counterplay.core.responses.adaptive import TreeAdaptive
from counterplay.core.responses.standing import Standing
from counterplay.core.responses.tree_portfolio import TreePortfolio
from counterplay.poker.adaptive.bandit import GainEstimate
from counterplay.poker.adaptive.belief import (
    PROBING,
    OpponentBelief,
    arm_text,
    finding_text,
    spot_beliefs,
)
from counterplay.poker.adaptive.portfolio import GAME, MODELS
from counterplay.poker.adaptive.portfolio import portfolio as new_portfolio
from counterplay.poker.adaptive.portfolio_members import Portfolio
from counterplay.poker.adaptive.response import ResponseLearner
from counterplay.poker.adaptive.tracker import (
    OPPONENT,
    LearnerTracker,
    OpponentTracker,
    TrackerOptions,
)
from counterplay.poker.bots.bot import Bot, Ending, View
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.histories.parquet import read_parquet, write_parquet
from counterplay.poker.histories.records import DEALER, HandRecord
from counterplay.poker.holdem.bucket_replies import reply_value

ME = "adaptive"
BUDGET = 500.0  # small bets
P_MAX = 0.9
EVERY = 500  # hands
CHOOSE_EVERY = 25  # hands between two choices of the arm
LEARNER_ITERATIONS = 6_000_000  # of a `learner`, per 1,000 hands
MOST_LIKELY = 3  # hypotheses in its state
STREAM = 0x41646170  # of random numbers, separate from those of the arms


@dataclass(frozen=True)
class AdaptiveStanding(Standing):
    """The state of the adaptive player of hold'em."""

    estimates: tuple[GainEstimate, ...] = ()  # of all arms


class Adaptive(Bot):
    """Plays an equilibrium until there is evidence for another strategy.

    `portfolio`: a `Portfolio`, or names of known players for `cp.portfolio`; made on first use and
    cached. `budget`: small bets that deviating from the equilibrium may cost. `p_max`: the largest
    trust in a model. `every`: hands between two updates. `probing`: share of hands played without
    ever folding, to see more cards. `memory`: hands of an earlier match (`save`), known from the
    start.

    `learner`: start from a uniform strategy, as in Figure 8, without a portfolio. After each
    `every` hands (with 0 only by a call of `learn`) a model is learnt from all of them, and the
    response to it is trained for `iterations` per 1,000 hands (by default 6 million), for at most
    `seconds`. Options of a
    `ResponseLearner` (`{"kind": "frequency"}`, `{}`), new at each `start`; or a `ResponseLearner`,
    which is kept. `relearn=False` keeps its model and only improves the response.

    Of a game with a tree, such as "leduc", `Adaptive` is a `TreeAdaptive`, exact and with a budget
    in the unit of the game (`core/responses/adaptive.py`); its options are `portfolio`,
    `equilibrium`, `budget` and `memory`.
    """

    name = ME

    def __new__(cls, game: Game | str = GAME, **options: Any) -> Any:
        """The adaptive player of the game."""
        known = options.get("portfolio")
        if isinstance(known, TreePortfolio) and game == GAME:
            game = known.game
        elif game != GAME:
            game = as_game(game)
        if isinstance(game, str) or game.can("bots"):
            return super().__new__(cls)
        return TreeAdaptive(game, **options)

    def __init__(
        self,
        game: Game | str = GAME,
        *,
        portfolio: Portfolio | TreePortfolio | tuple[str, ...] = MODELS,
        equilibrium: Strategy | None = None,
        learner: ResponseLearner | Mapping[str, Any] | None = None,
        budget: float = BUDGET,
        p_max: float = P_MAX,
        every: int = EVERY,
        iterations: int | None = None,
        seconds: float | None = None,
        probing: float = 0.0,
        relearn: bool = True,
        memory: str | Path | None = None,
        seed: int = 0,
        progress: ProgressCallback = no_progress,
    ) -> None:
        if real(budget, "budget") < 0:
            raise BadParameter(f"a budget is 0 or more, not {budget!r}")
        probability(p_max, "p_max")
        if not 0.0 <= real(probing, "probing") < 1.0:
            raise BadParameter(f"probing is a share of hands below 1, not {probing!r}")
        if learner is None and (iterations, seconds) != (None, None):
            raise BadParameter("iterations and seconds are those of a learner; leave them out")
        iterations = LEARNER_ITERATIONS if iterations is None else iterations
        whole_number(iterations, 0, None, "iterations")
        if seconds is not None and not real(seconds, "seconds") > 0:
            raise BadParameter(f"seconds must be above 0, not {seconds!r}")
        if learner is None:
            whole_number(every, 1, None, "every")
        elif type(every) is not int or every < 0 or every == 1:
            raise BadParameter(f"a block needs at least 2 hands, not {every!r}")
        if learner is None and not relearn:
            raise BadParameter("relearn needs a learner; give one, or leave it out")
        if learner is not None and (
            portfolio is not MODELS
            or equilibrium
            or (budget, p_max, probing) != (BUDGET, P_MAX, 0.0)
        ):
            raise BadParameter(
                "portfolio, equilibrium, budget, p_max and probing are for a player without a "
                "learner, which starts from a uniform strategy"
            )
        shares = float(p_max), every, iterations, seconds, float(probing)
        self._options = TrackerOptions(float(budget), *shares, int(check_seed(seed)), relearn)
        self.portfolio: Portfolio | None = None
        self._learner = learner
        if isinstance(learner, ResponseLearner):
            self.game = learner.game
        elif learner is not None:
            self.game = game if isinstance(game, Game) else load(game)
        else:
            if isinstance(portfolio, TreePortfolio):
                raise BadParameter(f"a portfolio of {portfolio.game.name} cannot play hold'em")
            if not isinstance(portfolio, Portfolio):
                options: dict[str, Any] = {"equilibrium": equilibrium, "progress": progress}
                made = new_portfolio(game, portfolio, **options)
                assert isinstance(made, Portfolio)  # `__new__` takes games with a tree
                portfolio = made
            self.portfolio, self.game = portfolio, portfolio.game
        self.tracker = self._new_tracker()
        self.betting = self.game.rules.betting
        self._known = _records(memory) if memory is not None else []
        self.memory: list[HandRecord] = []  # as the player saw them
        self._bots: list[Any] = []
        self._risk: tuple[Strategy | None, int] = None, 0  # of a strategy, mb/g
        self.start(0)

    def _new_tracker(self) -> OpponentTracker | LearnerTracker:
        if self.portfolio is not None:
            return OpponentTracker(self.portfolio, self._options)
        learner = self._learner
        if not isinstance(learner, ResponseLearner):
            learner = ResponseLearner(self.game, **{"seed": self._options.seed, **(learner or {})})
        return LearnerTracker(learner, self._options)

    @property
    def forgets(self) -> bool:
        """Whether `start` resets it; a `ResponseLearner` of the caller is kept."""
        return not isinstance(self._learner, ResponseLearner)

    def start(self, seed: int) -> None:
        """Resets the player for a new opponent; keeps only the given `memory`."""
        if self.memory or not self.forgets:
            self.tracker = self._new_tracker()
        self.memory, self._arm = [], 0
        self.seconds = 0.0  # of computation
        self._learn_at = self.tracker.next_learning()
        for record in self._known:
            self._observe(record, ending_of(record), None)
        if self._known:
            self.learn()
        self._new_bots()
        self.hand_strategy = self.strategy  # of the current or the last hand
        self.seed(seed)

    def seed(self, seed: int) -> None:
        self._rng = new_state(seed, STREAM)
        for bot in self._bots:
            bot.seed(seed)

    def new_hand(self, seat: int) -> None:
        self.catch_up()
        self._mix = self.tracker.mix
        self._arm = self.tracker.playing
        probing = self._options.probing
        if probing > 0 and uniform(self._rng) < probing and self._mix[-1] > 0:
            self._arm = self.tracker.names.index(PROBING)
        self.hand_strategy = self.tracker.strategies[self._arm]

    def act(self, view: View) -> str:
        action: str = self._bots[self._arm].act(view)
        return action

    def end_hand(self, ending: Ending) -> None:
        before = time.perf_counter()
        self._observe(_record_of(len(self.memory), ending), ending, self._mix)
        if not self.tracker.deferred and self.tracker.hands >= self._learn_at:
            self.learn()
        elif self.tracker.hands % CHOOSE_EVERY == 0:
            self.tracker.choose()
        self.seconds += time.perf_counter() - before

    def _observe(self, record: HandRecord, ending: Ending, mix: np.ndarray | None) -> None:
        self.memory.append(record)
        before = self.tracker.update(ending, mix)
        if before is not None:  # the opponent has changed: only the hands after that count
            assert isinstance(self.tracker, OpponentTracker)
            self.tracker.restart_at(before)
            for record in self.memory[self.tracker.since :]:
                self.tracker.update(ending_of(record), None)
            self.learn()

    def catch_up(self, stop: Callable[[], bool] = never) -> None:
        """Runs a deferred update, until it is done or `stop` returns True."""
        if self.tracker.deferred and self.tracker.hands >= self._learn_at:
            before = time.perf_counter()
            self.learn(stop)
            self.seconds += time.perf_counter() - before

    def learn(self, stop: Callable[[], bool] = never) -> None:
        """Updates model and response from all hands of this opponent; a learner until `stop`."""
        self.tracker.learn(self.memory[self.tracker.since :], stop)
        self._learn_at = self.tracker.next_learning()
        self._new_bots()

    def _new_bots(self) -> None:
        """New bots for all arms, with the random states of the old ones."""
        bots = [strategy_bot(strategy, ME) for strategy in self.tracker.strategies]
        for old, new in zip(self._bots, bots, strict=False):
            new._rng[:] = old._rng
        self._bots = bots

    def warm_up(self) -> None:
        """Runs a short update on the hands so far to compile the kernels, then resets."""
        if self.memory and self.forgets:
            self.tracker.warm_up(self.memory)
        self.start(0)

    @property
    def strategy(self) -> Strategy:
        """The strategy of the current arm, without probing."""
        return self.tracker.strategies[self.tracker.playing]

    def standing(self) -> AdaptiveStanding:
        """The state of the player."""
        tracker = self.tracker
        return AdaptiveStanding(
            hands=tracker.hands,
            playing=tracker.names[tracker.playing],
            why=tracker.why(),
            confirmed=tuple(finding_text(finding) for finding in tracker.findings()),
            likely=tuple(tracker.likely[:MOST_LIKELY]),
            budget=tracker.budget_left,
            changes=tuple(tracker.changes),
            thinking=1e3 * self.seconds / max(len(self.memory), 1),
            advice=self._advice(),
            estimates=tuple(tracker.estimates),
        )

    def _advice(self) -> str:
        """What it does about the opponent, and what that risks; nothing for a learner."""
        tracker = self.tracker
        if not isinstance(tracker, OpponentTracker):
            return ""
        strategy, playing = tracker.strategies[tracker.playing], tracker.names[tracker.playing]
        answers = "" if tracker.playing == 0 else " in answer to what it has seen"
        for member in tracker.portfolio.members:
            if member.strategy is strategy and member.risk:
                loses = f"it loses {member.risk}, to somebody who knows it"
                return f"play {arm_text(playing)}{answers}; {loses}"
        if self._risk[0] is not strategy:
            won = 1e3 * max(reply_value(self.game, strategy.probabilities), 0.0)
            self._risk = strategy, round(won / 10.0) * 10
        return (
            f"play {arm_text(playing)}{answers}; it loses about {self._risk[1]:,} mb/g or more to "
            f"somebody who knows it"
        )

    def belief(self) -> OpponentBelief | None:
        """What it believes about the opponent now; None for a learner."""
        tracker = self.tracker
        if not isinstance(tracker, OpponentTracker):
            return None
        equilibrium, model = tracker.portfolio.equilibrium, tracker.model
        endings = [ending_of(record) for record in self.memory[tracker.since :]]
        return OpponentBelief(
            tracker.hypotheses[tracker.prior],
            tracker.learnt_from,
            self._learn_at,
            model,
            equilibrium,
            spot_beliefs(endings, equilibrium, model),
        )

    def save(self, path: str | Path) -> None:
        """Writes the hands of the current opponent (.parquet), the `memory` of a later match."""
        hands = self.memory[self.tracker.since :]
        if not hands:
            raise BadParameter("there are no hands to save yet")
        write_parquet(Path(path), hands)


def _record_of(number: int, ending: Ending) -> HandRecord:
    """A hand as the player saw it."""
    me, other = (ME, ending.cards), (OPPONENT, ending.shown)
    dealer, blind = (me, other) if ending.seat == DEALER else (other, me)
    won = ending.won if ending.seat == DEALER else -ending.won
    history, board = ending.betting.history, ending.board
    return HandRecord(number, dealer[0], blind[0], history, board, dealer[1], blind[1], won, ME)


def ending_of(record: HandRecord) -> Ending:
    """The end of a recorded hand as the player saw it."""
    cards = record.cards(ME)
    assert cards is not None
    seat = record.seat(ME)
    shown = record.cards(OPPONENT) if record.showdown else None
    return Ending(seat, cards, record.board, record.end, record.won(ME), shown)


def _records(path: str | Path) -> list[HandRecord]:
    """Hands of an earlier match, as the player saw them."""
    hands = read_parquet(path).hands
    if not hands or any({hand.dealer, hand.big_blind} != {ME, OPPONENT} for hand in hands):
        raise BadParameter(f"{path}: no memory of an adaptive player; `save` writes one")
    return hands
