"""Copies of a player that are asked beside it: their shares in the place of its probabilities."""

from __future__ import annotations

import random
import threading
from itertools import product
from typing import Any

import numpy as np
import pytest

import counterplay as cp
from counterplay.poker.betting.betting import ACTIONS
from counterplay.poker.bots.bot import Bot
from counterplay.poker.exam.candidate import Candidate, two_of
from counterplay.poker.exam.holdem import exam, played_blocks, played_samples

VIEW = cp.view("", "AhKd")
CALL, RAISE = ACTIONS.index("call"), ACTIONS.index("raise")


class Moods(Bot):
    """Is careful or wild for a whole hand, and then draws."""

    name = "moods"

    def seed(self, seed: int) -> None:
        self._random = random.Random(seed)
        self.share = self._random.choice([0.1, 0.9])

    def act(self, view: cp.View) -> str:
        return "raise" if self._random.random() < self.share else "call"


def hands_of(candidate: Candidate, n: int, decisions: int = 2) -> np.ndarray:
    """bool[n, decisions]: whether it raised."""
    raised = np.zeros((n, decisions), dtype=bool)
    for k in range(n):
        candidate.seed(1_000 + k)
        candidate.new_hand(0)
        raised[k] = [candidate.act(VIEW) == "raise" for _ in range(decisions)]
    return raised


def test_their_shares_have_the_mean_of_its_actions() -> None:
    """After every past of the hand, also of a player whose draws belong together: who raised once
    is wild, and most copies of it raised too. Those who did not are asked no more."""
    one, other = Moods(), [Moods() for _ in range(4)]
    candidate = Candidate(one, other)
    raised = hands_of(candidate, 6_000)
    told = np.array(candidate.told)
    assert told.shape == (6_000, 2, 3)
    assert np.allclose(told.sum(axis=2), 1.0)
    luck = raised - told[:, :, RAISE]
    assert abs(luck[:, 0].mean()) < 4.0 * luck[:, 0].std() / np.sqrt(6_000)
    for first in (False, True):
        later = luck[raised[:, 0] == first, 1]
        assert abs(later.mean()) < 4.0 * later.std() / np.sqrt(len(later))
        assert abs(raised[raised[:, 0] == first, 1].mean() - 0.5) > 0.25  # 0.82 and 0.18


def test_the_luck_of_the_draw_shrinks_with_their_number() -> None:
    """Of one draw that shares an even chance with so many copies a fifth of the variance stays."""
    candidate = Candidate(Moods(), [Moods() for _ in range(4)])
    hands_of(candidate, 4_000, 1)
    share = np.array(candidate.told)[:, 0, RAISE]
    assert share.var() == pytest.approx(0.25 / 5, rel=0.1)


def test_by_enumeration_the_mean_stays() -> None:
    """The bot and two copies with a coin each at two decisions, all 64 outcomes: the mean of what
    the draw was worth more than their shares is 0 at each decision, whatever an action is worth."""

    class Coins(Bot):
        def __init__(self, coins: tuple[int, int]) -> None:
            self.coins, self.at = coins, 0

        def act(self, view: cp.View) -> str:
            self.at += 1
            return ("call", "raise")[self.coins[self.at - 1]]

    total = dict.fromkeys([(), (0,), (1,)], 0.0)
    for coins in product(product((0, 1), repeat=2), repeat=3):
        one, *others = (Coins(pair) for pair in coins)
        candidate = Candidate(one, others)
        candidate.new_hand(0)
        for past in ((), coins[0][:1]):
            won = candidate.act(VIEW) == "raise"
            total[past] += won - candidate.told[-1][-1][RAISE]
    assert all(abs(value) < 1e-12 for value in total.values())


def test_what_the_player_does_is_the_same_with_and_without_copies() -> None:
    plain, beside = Candidate(Moods()), Candidate(Moods(), [Moods(), Moods()])
    assert np.array_equal(hands_of(plain, 50), hands_of(beside, 50))
    assert plain.told[0] == []
    assert not plain.known
    assert beside.known
    first, again = beside.told.copy(), Candidate(Moods(), [Moods(), Moods()])
    hands_of(again, 50)
    assert np.array_equal(first, again.told)


def test_a_player_without_random_numbers_of_its_own_agrees_with_its_copies() -> None:
    class Fixed(Bot):
        def __init__(self) -> None:
            self._random = random.Random(3)

        def act(self, view: cp.View) -> str:
            return self._random.choice(["call", "raise"])

    lane, _ = two_of(Fixed(), 5)
    raised = hands_of(lane, 30)
    assert np.array_equal(np.array(lane.told)[:, :, RAISE], raised)


def test_illegal_answers_and_errors_of_copies() -> None:
    class Odd(Bot):
        name = "odd"

        def __init__(self, answer: Any = "raise") -> None:
            self.answer = answer

        def act(self, view: cp.View) -> str:
            return str(self.answer) if self.answer else 1 / 0  # type: ignore[return-value]

    candidate = Candidate(Odd(), [Odd("all-in"), Odd()])
    candidate.new_hand(0)
    assert candidate.act(VIEW) == "raise"
    assert candidate.told[-1][0] == pytest.approx([0.0, 1 / 3, 2 / 3])
    assert candidate.illegal == 0  # the player's own are counted
    assert len(candidate.seconds) == 1
    candidate = Candidate(Odd(), [Odd(0)])
    candidate.new_hand(0)
    with pytest.raises(cp.CounterplayError, match="odd"):
        candidate.act(VIEW)


def test_they_see_the_hand_and_are_closed() -> None:
    heard: list[tuple[str, Any]] = []

    class Listening(Moods):
        def new_hand(self, seat: int) -> None:
            heard.append(("new", seat))

        def end_hand(self, ending: cp.Ending) -> None:
            heard.append(("end", ending.won))

        def close(self) -> None:
            heard.append(("close", 0))

    candidate = Candidate(Listening(), [Listening(), Listening()])
    candidate.start(1)
    candidate.new_hand(1)
    candidate.end_hand(cp.ending("f", 1, "AhKd"))
    candidate.close()
    assert heard == [("new", 1)] * 3 + [("end", 0.5)] * 3 + [("close", 0)] * 3


class Locked(Bot):
    """Has what cannot be copied, as clients of services do."""

    name = "locked"

    def __init__(self) -> None:
        self.lock = threading.Lock()

    def act(self, view: cp.View) -> str:
        with self.lock:
            return "call"


def test_a_player_that_cannot_be_copied_is_made_again() -> None:
    first, second = two_of(Locked(), 2, Locked)
    assert first.bot is not second.bot
    assert first.bot.lock is not second.bot.lock
    first.new_hand(0)
    assert first.act(VIEW) == "call"
    one = Locked()
    for make in (None, lambda: one):
        with pytest.raises(cp.CounterplayError, match="locked cannot be copied"):
            two_of(one, 0, make)


@pytest.mark.parametrize(
    ("player", "copies", "says"),
    [
        ("always-call", 2, "says its probabilities"),
        ("acpc:cat", 2, "players in Python"),
        (Moods(), -1, "copies"),
        (Moods(), 10_000, "copies"),
    ],
)
def test_mistakes_get_a_sentence(player: Any, copies: int, says: str) -> None:
    with pytest.raises(cp.CounterplayError, match=says):
        exam(player, ["always-call"], 60, copies=copies)


@pytest.mark.slow
def test_copies_take_out_the_luck_of_its_own_mixing() -> None:
    """Against a caller a raise is worth as much as a call to a player who has not looked at its
    cards: its value is 0."""

    class Blind(Moods):
        def act(self, view: cp.View) -> str:
            return super().act(view) if "raise" in view.betting.actions() else "call"

    opponent, deals = cp.bot("always-call"), 400
    spread = []
    for copies in (0, 12):
        lanes = two_of(Blind(), copies)
        samples = np.concatenate([part for _, part in played_samples(lanes, opponent, deals, 3)])
        assert abs(samples.mean()) < 4.0 * samples.std() / np.sqrt(deals)
        spread.append(samples.std())
    assert spread[1] < 0.9 * spread[0]  # cards and the opponent's draws are the rest
    raw, told = next(played_blocks(two_of(Blind(), 3), opponent, 10, 4))
    assert told is not None
    assert told.shape[:2] == raw.won.shape
