"""Bots in matches: what they see, what they may answer, and logs of what they played."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.arena import Caller, Counter, Says, Slow
from support.holdem import TREE

import counterplay as cp
from counterplay.core.base.errors import BadParameter
from counterplay.core.match import play as match_module
from counterplay.core.match.play import blocks
from counterplay.poker.betting.betting import NO_FOLD
from counterplay.poker.bots.bot import View
from counterplay.poker.bots.table import strategy_bot
from counterplay.poker.histories.parquet import read_parquet
from counterplay.poker.histories.read import read_hands
from counterplay.poker.match.deals import deal_block, session_deals
from counterplay.poker.match.referee import play_session

BOARD_SEEN = (0, 3, 4, 5)


# --- bots


def test_a_bot_needs_nothing_but_act(game: cp.Game) -> None:
    result = cp.play_match(game, Caller(), "always-raise", 400, seed=1)
    assert result.mean == 0.0
    assert (result.a, result.b) == ("Caller", "always-raise")
    two = cp.play_match(game, Caller(), Caller(), 400, seed=1)
    assert two.a != two.b


@pytest.mark.parametrize(
    ("word", "legal"),
    [
        ("bet", "fold, call, raise"),
        ("check", "fold, call, raise"),
        (None, "fold, call, raise"),
        (2, "legal"),
    ],
)
def test_an_illegal_answer_names_the_bot_and_what_is_legal(
    word: Any, legal: str, game: cp.Game
) -> None:
    with pytest.raises(cp.CounterplayError, match="parrot") as error:
        cp.play_match(game, Says(word), Caller(), 10)
    assert legal in str(error.value)
    assert repr(word) in str(error.value)


def test_an_illegal_fold_and_an_illegal_fifth_bet(game: cp.Game) -> None:
    """A fold without a bet, and a raise over four bets."""
    with pytest.raises(cp.CounterplayError, match="'c'; legal are call, raise"):
        cp.play_match(game, "always-call", Says("fold"), 10)
    with pytest.raises(cp.CounterplayError, match="'rrr'; legal are fold, call"):
        cp.play_match(game, Says("raise"), Says("raise"), 10)


def test_an_illegal_answer_in_a_worker_process(
    game: cp.Game, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(match_module, "blocks", lambda deals, size=40: blocks(deals, size))

    class Late(Counter):
        name = "late"

        def act(self, view: View) -> str:
            return "call" if self.hands < 30 else "sing"

    with pytest.raises(cp.CounterplayError, match="late answered 'sing'"):
        cp.play_match(game, Late(), Caller(), 400, processes=2)


def test_what_bots_see(random10: cp.Strategy) -> None:
    """Own cards, the board so far, legal actions; at the end the other's cards at a showdown
    only; winnings sum to zero."""

    class Watcher(Counter):
        def __init__(self, strategy: cp.Strategy) -> None:
            super().__init__()
            self.inner = strategy_bot(strategy)

        def act(self, view: View) -> str:
            self.views.append(view)
            return self.inner.act(view)

    played = session_deals(4, 0, 400)
    deals = played.cards
    bots = Watcher(random10), Watcher(random10)
    won = play_session(bots, played, False)
    assert all(len(bot.endings) == bot.hands == len(deals) for bot in bots)
    shown = 0
    for k, (one, two, cards) in enumerate(
        zip(bots[0].endings, bots[1].endings, deals.tolist(), strict=True)
    ):
        assert (one.seat, two.seat) == (k % 2, 1 - k % 2)
        assert one.won == -two.won == won[k]
        assert one.betting == two.betting
        assert one.betting.over
        for mine, other in ((one, two), (two, one)):
            assert mine.cards == tuple(cards[2 * mine.seat : 2 * mine.seat + 2])
            assert mine.board == tuple(cards[4 : 4 + BOARD_SEEN[mine.betting.round]])
            assert mine.shown == (other.cards if mine.betting.folded == NO_FOLD else None)
        if one.betting.folded != NO_FOLD:
            loser = one if one.seat == one.betting.folded else two
            assert loser.won == -min(one.betting.paid)
        shown += one.shown is not None
    assert 0 < shown < len(deals)
    for bot in bots:
        for view in bot.views:
            assert view.betting.player() == view.seat
            assert len(view.board) == BOARD_SEEN[view.betting.round]
            assert view.betting.history == TREE.histories[view.node]


def test_a_saved_strategy_plays_from_its_path(
    game: cp.Game, random10: cp.Strategy, tmp_path: Path
) -> None:
    random10.save(tmp_path / "mine.npz")
    result = cp.play_match(game, tmp_path / "mine.npz", str(tmp_path / "mine.npz"), 500, seed=1)
    assert result.mean == 0.0
    assert result.a == "mine"


# --- logs


@pytest.mark.parametrize("duplicate", [True, False])
def test_logs_agree_with_the_result(
    duplicate: bool, game: cp.Game, random10: cp.Strategy, tmp_path: Path
) -> None:
    log = tmp_path / "hands.parquet"
    result = cp.play_match(
        game, Slow(random10), Counter(), 300, seed=7, duplicate=duplicate, log=log
    )
    hands = read_parquet(log).hands
    assert len(hands) == result.hands == 300
    assert [hand.number for hand in hands] == list(range(300))
    assert sum(hand.won("slow") for hand in hands) / 300 == pytest.approx(result.mean, abs=1e-12)
    assert sum(hand.won("counter") for hand in hands) / 300 == pytest.approx(
        -result.mean, abs=1e-12
    )
    for seat, name in enumerate(("slow", "counter")):
        as_dealer = [hand.won("slow") for hand in hands if hand.dealer == name]
        assert len(as_dealer) == 150
        assert np.mean(as_dealer) == pytest.approx(result.by_seat[seat], abs=1e-12)
    dealt = deal_block(7, 0, 150 if duplicate else 300).tolist()
    for hand, cards in zip(hands, dealt, strict=False):
        assert (hand.dealer_cards, hand.big_blind_cards) == (tuple(cards[:2]), tuple(cards[2:4]))
        assert hand.board == tuple(cards[4 : 4 + len(hand.board)])
        assert hand.observer is None
    if duplicate:  # the same cards again, the other one dealing
        for first, again in zip(hands[:150], hands[150:], strict=True):
            assert first.dealer_cards == again.dealer_cards
            assert first.dealer == again.big_blind


@pytest.mark.parametrize("observer", ["a", "b"])
def test_an_observer_sees_no_folded_cards(
    observer: str, game: cp.Game, random10: cp.Strategy, tmp_path: Path
) -> None:
    log = tmp_path / "hands.parquet"
    cp.play_match(game, Slow(random10), Counter(), 300, seed=7, log=log, observer=observer)
    hands = read_parquet(log).hands
    me, other = ("slow", "counter") if observer == "a" else ("counter", "slow")
    assert {hand.observer for hand in hands} == {me}
    assert all(hand.cards(me) is not None for hand in hands)
    assert all((hand.cards(other) is not None) == hand.showdown for hand in hands)
    assert {hand.showdown for hand in hands} == {True, False}


@pytest.mark.parametrize("suffix", [".parquet", ".log", ".phhs"])
def test_the_suffix_of_a_log_says_its_format(suffix: str, game: cp.Game, tmp_path: Path) -> None:
    """As `play_match` says: Parquet, .phhs, or .log for ACPC. What it wrote can be read by that
    name, or it is refused."""
    log = tmp_path / f"hands{suffix}"
    try:
        result = cp.play_match(game, Caller(), "always-raise", 20, seed=7, log=log)
    except BadParameter as error:
        assert "parquet" in str(error)  # noqa: PT017  refusing a suffix clearly would be as good
        assert suffix != ".parquet"
        return
    hands = read_hands(log).hands
    assert len(hands) == 20
    assert sum(hand.won("Caller") for hand in hands) == pytest.approx(20 * result.mean)
