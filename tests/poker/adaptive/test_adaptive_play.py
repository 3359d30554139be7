"""The adaptive player as a bot that anybody deals to."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from support.acpc import between
from support.arena import from_nothing, holdem

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.poker.acpc.player import AcpcPlayer
from counterplay.poker.match.deals import session_deals
from counterplay.poker.match.referee import play_hands, start_bots

OPTIONS: dict[str, Any] = {"kind": "frequency", "iterations": 20_000}


def learner(**options: Any) -> cp.Adaptive:
    return cp.Adaptive(holdem(), learner={"kind": "frequency"}, **options)


@pytest.mark.slow
def test_whoever_deals_it_plays_as_in_learning_while_playing() -> None:
    """Three blocks by the referee, hand after hand, and three of `play_adaptive`: the same
    strategies at the end of each, and the same winnings."""
    found = list(from_nothing("probe", 60, 3, game=holdem(), every=20, **OPTIONS))
    me = learner(every=20, seed=3, iterations=20_000)
    foe = cp.bot("probe")
    start_bots((me, foe), session_deals(3, 0, 1).start_seeds)
    for number, block in enumerate(found):
        won = play_hands((me, foe), session_deals(3, number, 20, 20))
        assert won.mean() == block.won
        assert np.array_equal(me.strategy.probabilities, block.strategy.probabilities)
    assert [len(me.memory), me.tracker.iterations] == [60, 800]


@pytest.mark.slow
def test_over_the_protocol() -> None:
    me = learner(every=20, seconds=5.0, iterations=20_000)
    result = between(cp.MatchPlan(("one", "two"), 50, 1), me, "probe")
    assert result.hands == len(me.memory) == 50
    assert me.tracker.iterations == 800
    assert {hand.observer for hand in me.memory} == {"adaptive"}
    shown = [hand.cards("opponent") is not None for hand in me.memory]
    assert shown == [hand.showdown for hand in me.memory]


def test_it_forgets_when_it_is_started_and_thinks_no_longer_than_it_may() -> None:
    me = learner(every=0, iterations=10**12, seconds=0.05)
    fresh = me.strategy.probabilities.copy()
    start_bots((me, cp.bot("probe")), (1, 2))
    play_hands((me, cp.bot("probe")), session_deals(1, 0, 10))
    me.learn()
    assert not np.array_equal(me.strategy.probabilities, fresh)
    me.start(1)
    assert np.array_equal(me.strategy.probabilities, fresh)
    assert me.memory == []


def test_getting_warm_leaves_nothing_behind() -> None:
    """What is played before a dealer is there is forgotten with the first hand."""
    first = "MATCHSTATE:1:0::|2hAc"
    for make in (
        lambda: cp.bot("uniform"),
        lambda: learner(every=20, iterations=100),
    ):
        cold, warm = AcpcPlayer(make(), 9), AcpcPlayer(make(), 9)
        warm.warm_up()
        assert (cold.respond(first), warm.hands, warm.won) == (warm.respond(first), 0, 0.0)
    assert warm.bot.memory == []
    assert np.array_equal(warm.bot.strategy.probabilities, cold.bot.strategy.probabilities)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"every": 1}, "at least 2"),
        ({"every": 2.5}, "at least 2"),
        ({"iterations": -1}, "iterations"),
        ({"seconds": 0}, "seconds"),
        ({"game": "kuhn"}, "not for kuhn"),
    ],
)
def test_adaptive_mistakes(options: dict[str, Any], words: str) -> None:
    with pytest.raises(BadParameter, match=words):
        cp.Adaptive(**{"game": holdem(), "learner": {}, **options})
