"""Matches: exact sanity checks, a plain-Python referee on the same deals and numbers, bots, logs, and mistakes."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.referee import play_hand
from support_holdem import NAME, policy_of, random_deals, seldom_folding

import counterplay as cp
from counterplay.arena import match as match_module
from counterplay.arena.deals import blocks, deal_block, play_state
from counterplay.arena.kernels import play_tables
from counterplay.arena.referee import play_session
from counterplay.base.errors import BadParameter, BadStrategy, UnknownName
from counterplay.holdem.betting import NO_FOLD, betting_tree
from counterplay.holdem.form import HAND_SIZE
from counterplay.kernels.rng import new_state, uniform
from counterplay.opponents.bot import Bot, Ending, View
from counterplay.opponents.hand_files import read_any, read_hands
from counterplay.opponents.table import strategy_bot

BOARD_SEEN = (0, 3, 4, 5)


@pytest.fixture(scope="module")
def game() -> cp.Game:
    return cp.load(NAME)


@pytest.fixture(scope="module")
def random10(game: cp.Game) -> cp.Strategy:
    return seldom_folding(game, 1)


@pytest.fixture(scope="module")
def random100() -> cp.Strategy:
    return seldom_folding(cp.load("holdem(buckets=100)"), 2)


class Slow:
    """A table that hides being one, so that the Python referee plays it."""

    def __init__(self, strategy: cp.Strategy, name: str = "slow") -> None:
        self.name = name
        self._bot = strategy_bot(strategy)

    def start(self, seed: int) -> None:
        self._bot.start(seed)

    def act(self, view: View) -> str:
        return self._bot.act(view)


class Caller:
    """The least a bot can be."""

    def act(self, view: View) -> str:
        return "call"


class Says(Bot):
    """Answers one word whatever happens."""

    name = "parrot"

    def __init__(self, word: Any) -> None:
        self.word = word

    def act(self, view: View) -> Any:
        return self.word


class Counter(Bot):
    """Remembers: raises in every third hand of a session, and notes what it saw."""

    name = "counter"

    def __init__(self) -> None:
        self.hands = 0
        self.views: list[View] = []
        self.endings: list[Ending] = []

    def start(self, seed: int) -> None:
        self.hands = 0

    def new_hand(self, seat: int) -> None:
        self.hands += 1

    def act(self, view: View) -> str:
        self.views.append(view)
        wanted = "raise" if self.hands % 3 == 0 else "fold" if self.hands % 7 == 0 else "call"
        return wanted if wanted in view.betting.actions() else "call"

    def end_hand(self, ending: Ending) -> None:
        self.endings.append(ending)


def exact(result: cp.MatchResult) -> cp.MatchResult:
    """Without the clock."""
    return replace(result, seconds=0.0)


# --- exact sanity checks


@pytest.mark.parametrize("hands", [2_000, 2_001])
def test_a_strategy_against_itself_in_duplicate_is_exactly_zero(hands: int, game: cp.Game, random10: cp.Strategy) -> None:
    """In the kernel, in the Python referee, and with one of each; an odd number of hands is a whole number of deals."""
    pairs = [(random10, random10), (Slow(random10), Slow(random10)), (random10, Slow(random10))]
    for a, b in pairs:
        result = cp.play_match(game, a, b, hands, seed=3)
        assert (result.mean, result.standard_error) == (0.0, 0.0)
        assert result.hands == hands + hands % 2
        assert result.by_seat[0] == -result.by_seat[1] != 0.0


def test_one_bot_object_in_both_seats_is_zero_too(game: cp.Game, random10: cp.Strategy) -> None:
    """The same player twice: whether it is one object or two must not matter."""
    for player in (strategy_bot(random10), Slow(random10)):
        result = cp.play_match(game, player, player, 1_000, seed=3)
        assert (result.mean, result.standard_error) == (0.0, 0.0)


def test_always_fold_loses_its_blinds(game: cp.Game) -> None:
    """Half a small bet as the dealer, one as the big blind against a raise: 0.75 over the seats."""
    for hands in (1_000, 120_000):  # the second needs two blocks
        result = cp.play_match(game, "always-fold", "always-raise", hands, seed=hands)
        assert (result.mean, result.standard_error, result.by_seat) == (-0.75, 0.0, (-0.5, -1.0))
        assert result.hands == hands
    assert cp.play_match(game, "always-raise", "always-fold", 1_000).mean == 0.75


def test_always_call_against_always_raise_is_even(game: cp.Game) -> None:
    """Seven small bets go in whoever deals: zero deal by deal in duplicate, zero in expectation otherwise."""
    twice = cp.play_match(game, "always-call", "always-raise", 10_000, seed=5)
    assert (twice.mean, twice.standard_error) == (0.0, 0.0)
    once = cp.play_match(game, "always-call", "always-raise", 200_000, seed=5, duplicate=False)
    assert once.hands == 200_000
    assert once.standard_error == pytest.approx(7 / math.sqrt(200_000), rel=0.05)  # ties take a few percent off
    assert abs(once.mean) < 5 * once.standard_error


def test_python_and_kernel_agree_where_nothing_is_drawn(game: cp.Game) -> None:
    """Deterministic players on the deals of one block: no random numbers, so both routes give the same result."""
    for b in ("always-raise", "always-fold"):
        for duplicate in (True, False):
            fast = cp.play_match(game, "always-call", b, 3_000, seed=8, duplicate=duplicate)
            slow = cp.play_match(game, Caller(), b, 3_000, seed=8, duplicate=duplicate)
            assert (fast.mean, fast.standard_error, fast.by_seat) == (slow.mean, slow.standard_error, slow.by_seat)


def test_the_same_seed_deals_the_same_cards_whoever_plays(game: cp.Game) -> None:
    """As above beyond the first block of either route: `deals.py` promises the cards by number, whoever plays."""
    fast = cp.play_match(game, "always-call", "always-raise", 12_000, seed=8)
    slow = cp.play_match(game, Caller(), "always-raise", 12_000, seed=8)
    assert fast.by_seat == slow.by_seat


# --- the plain-Python referee


def by_kernel(a: cp.Strategy, b: cp.Strategy, deals: np.ndarray, rng: np.ndarray, duplicate: bool) -> np.ndarray:
    won, ends = np.empty((len(deals), 2)), np.empty((len(deals), 2), dtype=np.int32)
    form = a.game.form
    scratch = np.zeros(HAND_SIZE, dtype=np.int64), np.zeros(2, dtype=np.int64)
    kept = np.empty(4, dtype=np.uint64)
    tables = strategy_bot(a).table, strategy_bot(b).table
    play_tables(betting_tree(), form.flops, form.next_boards, *tables, deals, *scratch, rng, kept, duplicate, won, ends)
    return won


def by_referee(a: Any, b: Any, deals: np.ndarray, rng: np.ndarray, duplicate: bool) -> np.ndarray:
    """What the first player wins in each deal as the dealer and as the big blind. `a` and `b`: policies."""
    won = np.full((len(deals), 2), np.nan)
    for k, cards in enumerate(deals.tolist()):
        kept = rng.copy()
        if duplicate or k % 2 == 0:
            won[k, 0] = play_hand((a, b), cards, lambda seat: uniform(rng))[0]
        if duplicate:
            rng[:] = kept
        if duplicate or k % 2 == 1:
            won[k, 1] = -play_hand((b, a), cards, lambda seat: uniform(rng))[0]
    return won


@pytest.mark.parametrize("duplicate", [True, False])
def test_two_tables_give_what_the_plain_referee_gives(duplicate: bool, random10: cp.Strategy, random100: cp.Strategy) -> None:
    """Strategies of 10 and of 100 buckets on a fixed list of deals with the same random numbers, deal by deal."""
    deals = random_deals(17, 1_500)
    ours = by_kernel(random10, random100, deals, new_state(6), duplicate)
    plain = by_referee(policy_of(random10, 10), policy_of(random100, 100), deals, new_state(6), duplicate)
    assert np.array_equal(ours, plain, equal_nan=True)
    assert len(np.unique(np.abs(ours[~np.isnan(ours)]))) > 20  # folds and showdowns of many sizes


def test_a_match_is_what_the_plain_referee_makes_of_its_deals(
    game: cp.Game, random10: cp.Strategy, random100: cp.Strategy
) -> None:
    """Mean, standard error and seats, from the deals and random numbers of the seed."""
    result = cp.play_match(game, random10, random100, 1_000, seed=21)
    won = by_referee(policy_of(random10, 10), policy_of(random100, 100), deal_block(21, 0, 500), play_state(21, 0), True)
    per_deal = won.mean(axis=1)
    assert result.mean == pytest.approx(per_deal.mean(), abs=1e-12)
    assert result.standard_error == pytest.approx(per_deal.std(ddof=1) / math.sqrt(500), rel=1e-12)
    assert result.by_seat == pytest.approx(won.mean(axis=0), abs=1e-12)
    low, high = result.interval
    assert (low + high) / 2 == pytest.approx(result.mean)
    assert (high - low) / 2 == pytest.approx(1.959964 * result.standard_error, rel=1e-6)
    assert f"{result.mean:+.4f}" in str(result)


@pytest.mark.parametrize("swap", [False, True])
def test_sessions_of_bots_give_what_the_plain_referee_gives(swap: bool, random10: cp.Strategy, random100: cp.Strategy) -> None:
    """The Python route: the button alternates, and every bot has its own random numbers, those of the seat it begins in."""
    deals, seeds = random_deals(18, 500), (5, 6)
    bots = strategy_bot(random10), strategy_bot(random100)
    ours = play_session(bots, deals, seeds, swap)
    policies = policy_of(random10, 10), policy_of(random100, 100)
    states = [new_state(seed) for seed in (seeds[::-1] if swap else seeds)]
    for k, cards in enumerate(deals.tolist()):
        dealer = (k + swap) % 2
        order = (dealer, 1 - dealer)

        def numbers(seat: int, order: tuple[int, int] = order) -> float:
            return float(uniform(states[order[seat]]))

        won, _ = play_hand((policies[dealer], policies[1 - dealer]), cards, numbers)
        assert ours[k] == (won if dealer == 0 else -won)


def test_the_error_is_that_of_the_deals_over_several_blocks(game: cp.Game, random10: cp.Strategy) -> None:
    other = seldom_folding(game, 9)
    for duplicate, hands in ((True, 120_000), (False, 60_001)):
        result = cp.play_match(game, random10, other, hands, seed=4, duplicate=duplicate)
        deals = hands // 2 if duplicate else hands
        parts = [
            by_kernel(random10, other, deal_block(4, number, n), play_state(4, number), duplicate) for number, n in blocks(deals)
        ]
        assert len(parts) > 1
        won = np.concatenate(parts)
        per_deal = np.nanmean(won, axis=1)
        assert result.hands == hands
        assert result.mean == pytest.approx(per_deal.mean(), abs=1e-12)
        assert result.standard_error == pytest.approx(per_deal.std(ddof=1) / math.sqrt(deals), rel=1e-12)
        assert result.by_seat == pytest.approx(np.nanmean(won, axis=0), abs=1e-12)


def test_duplicate_takes_luck_out(game: cp.Game, random10: cp.Strategy) -> None:
    """Against a caller most of the luck is in the cards: the error is smaller at the same number of hands."""
    errors = [
        cp.play_match(game, "always-raise", "uniform", 40_000, seed=2, duplicate=duplicate).standard_error
        for duplicate in (True, False)
    ]
    assert errors[0] < errors[1]


# --- deals and reproducibility


def test_deals_are_by_seed_and_block() -> None:
    deals = deal_block(3, 1, 400)
    assert deals.shape == (400, 9)
    assert all(len(set(row)) == 9 for row in deals.tolist())
    assert np.array_equal(deals[:100], deal_block(3, 1, 100))
    for other in (deal_block(4, 1, 400), deal_block(3, 0, 400), deal_block(3, 2, 400)):
        assert not np.array_equal(deals, other)
    assert [sum(n for _, n in blocks(deals, 10)) for deals in (1, 9, 10, 11, 100)] == [1, 9, 10, 11, 100]
    assert blocks(25, 10) == [(0, 10), (1, 10), (2, 5)]


def test_same_seed_same_result(game: cp.Game, random10: cp.Strategy, random100: cp.Strategy) -> None:
    for a, b in ((random10, random100), (Slow(random10), random100), (random10, Counter())):
        first, again, other = (cp.play_match(game, a, b, 1_200, seed=seed) for seed in (1, 1, 2))
        assert exact(first) == exact(again)
        assert first.mean != other.mean


def test_the_number_of_processes_does_not_matter(
    game: cp.Game, random10: cp.Strategy, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Small blocks, so that there are many: a bot that draws, one that remembers, and the log."""
    monkeypatch.setattr(match_module, "blocks", lambda deals, size=40: blocks(deals, size))
    results, logs = [], []
    for processes in (1, 2, 3):
        log = tmp_path / f"{processes}.parquet"
        results.append(exact(cp.play_match(game, Slow(random10), Counter(), 602, seed=1, processes=processes, log=log)))
        logs.append(read_hands(log).hands)
    assert results[0] == results[1] == results[2]
    assert logs[0] == logs[1] == logs[2]
    assert len(logs[0]) == 602


def test_progress_reaches_one(game: cp.Game) -> None:
    for a in ("always-call", Caller()):
        heard: list[float] = []
        cp.play_match(game, a, "always-raise", 300, tell=lambda share, what, heard=heard: heard.append(share))
        assert heard == sorted(heard)
        assert heard[-1] == 1.0


# --- bots


def test_a_bot_needs_nothing_but_act(game: cp.Game) -> None:
    result = cp.play_match(game, Caller(), "always-raise", 400, seed=1)
    assert result.mean == 0.0
    assert (result.a, result.b) == ("Caller", "always-raise")
    two = cp.play_match(game, Caller(), Caller(), 400, seed=1)
    assert two.a != two.b


@pytest.mark.parametrize(
    ("word", "legal"), [("bet", "fold, call, raise"), ("check", "fold, call, raise"), (None, "fold, call, raise"), (2, "legal")]
)
def test_an_illegal_answer_names_the_bot_and_what_is_legal(word: Any, legal: str, game: cp.Game) -> None:
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


def test_an_illegal_answer_in_a_worker_process(game: cp.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_module, "blocks", lambda deals, size=40: blocks(deals, size))

    class Late(Counter):
        name = "late"

        def act(self, view: View) -> str:
            return "call" if self.hands < 30 else "sing"

    with pytest.raises(cp.CounterplayError, match="late answered 'sing'"):
        cp.play_match(game, Late(), Caller(), 400, processes=2)


def test_what_bots_see(random10: cp.Strategy) -> None:
    """Own cards, the board so far, legal actions; at the end the other's cards at a showdown only; winnings sum to zero."""

    class Watcher(Counter):
        def __init__(self, strategy: cp.Strategy) -> None:
            super().__init__()
            self.inner = strategy_bot(strategy)

        def act(self, view: View) -> str:
            self.views.append(view)
            return self.inner.act(view)

    deals = random_deals(4, 400)
    bots = Watcher(random10), Watcher(random10)
    won = play_session(bots, deals, (1, 2), False)
    assert all(len(bot.endings) == bot.hands == len(deals) for bot in bots)
    shown = 0
    for k, (one, two, cards) in enumerate(zip(bots[0].endings, bots[1].endings, deals.tolist(), strict=True)):
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
            assert view.betting.history == match_module.betting_histories()[view.node]


def test_a_saved_strategy_plays_from_its_path(game: cp.Game, random10: cp.Strategy, tmp_path: Path) -> None:
    random10.save(tmp_path / "mine.npz")
    result = cp.play_match(game, tmp_path / "mine.npz", str(tmp_path / "mine.npz"), 500, seed=1)
    assert result.mean == 0.0
    assert result.a == "mine"


# --- logs


@pytest.mark.parametrize("duplicate", [True, False])
def test_logs_agree_with_the_result(duplicate: bool, game: cp.Game, random10: cp.Strategy, tmp_path: Path) -> None:
    log = tmp_path / "hands.parquet"
    result = cp.play_match(game, Slow(random10), Counter(), 300, seed=7, duplicate=duplicate, log=log)
    hands = read_hands(log).hands
    assert len(hands) == result.hands == 300
    assert [hand.number for hand in hands] == list(range(300))
    assert sum(hand.won("slow") for hand in hands) / 300 == pytest.approx(result.mean, abs=1e-12)
    assert sum(hand.won("counter") for hand in hands) / 300 == pytest.approx(-result.mean, abs=1e-12)
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
def test_an_observer_sees_no_folded_cards(observer: str, game: cp.Game, random10: cp.Strategy, tmp_path: Path) -> None:
    log = tmp_path / "hands.parquet"
    cp.play_match(game, Slow(random10), Counter(), 300, seed=7, log=log, observer=observer)
    hands = read_hands(log).hands
    me, other = ("slow", "counter") if observer == "a" else ("counter", "slow")
    assert {hand.observer for hand in hands} == {me}
    assert all(hand.cards(me) is not None for hand in hands)
    assert all((hand.cards(other) is not None) == hand.showdown for hand in hands)
    assert {hand.showdown for hand in hands} == {True, False}


@pytest.mark.parametrize("suffix", [".parquet", ".log", ".phhs"])
def test_the_suffix_of_a_log_says_its_format(suffix: str, game: cp.Game, tmp_path: Path) -> None:
    """As `play_match` says: Parquet, .phhs, or .log for ACPC. What it wrote can be read by that name, or it is refused."""
    log = tmp_path / f"hands{suffix}"
    try:
        result = cp.play_match(game, Caller(), "always-raise", 20, seed=7, log=log)
    except BadParameter as error:
        assert "parquet" in str(error)  # noqa: PT017  refusing a suffix clearly would be as good
        assert suffix != ".parquet"
        return
    hands = read_any(log).hands
    assert len(hands) == 20
    assert sum(hand.won("Caller") for hand in hands) == pytest.approx(20 * result.mean)


# --- other games


@pytest.mark.parametrize("duplicate", [True, False])
@pytest.mark.parametrize("name", ["kuhn", "leduc"])
def test_matches_of_small_games_agree_with_the_exact_value(name: str, duplicate: bool) -> None:
    small = cp.load(name)
    a, b = cp.Strategy.random(small, 1), cp.Strategy.random(small, 2)
    result = cp.play_match(small, a, b, 200_000, seed=5, duplicate=duplicate)
    values = cp.expected_value(small, b.replace(a, 0))[0], cp.expected_value(small, b.replace(a, 1))[1]
    assert abs(result.mean - np.mean(values)) < 5 * result.standard_error
    for seat in (0, 1):  # payoffs are at most 13 (Leduc); half of the hands are played in each seat
        spread = (2 if name == "kuhn" else 13) / math.sqrt(100_000)
        assert abs(result.by_seat[seat] - values[seat]) < 5 * spread
    assert cp.play_match(small, a, a, 2_000, seed=5).mean == 0.0
    assert exact(result) == exact(cp.play_match(name, a, b, 200_000, seed=5, duplicate=duplicate))


# --- mistakes


def bad(call: Callable[[], Any], *words: str, kind: type[Exception] = cp.CounterplayError) -> None:
    with pytest.raises(kind) as error:
        call()
    for word in words:
        assert word in str(error.value)


@pytest.mark.parametrize("hands", [0, 1, -4, 2.5, "many", True, None, 10**10])
def test_bad_numbers_of_hands(hands: Any, game: cp.Game) -> None:
    bad(lambda: cp.play_match(game, "always-call", "always-raise", hands), "hands", repr(hands), kind=BadParameter)


@pytest.mark.parametrize("seed", [-1, 1.5, "x", None, True, 2**64])
def test_bad_seeds(seed: Any, game: cp.Game) -> None:
    bad(lambda: cp.play_match(game, "always-call", "always-raise", 10, seed), "seed", kind=BadParameter)
    kuhn = cp.load("kuhn")
    bad(lambda: cp.play_match(kuhn, cp.Strategy.uniform(kuhn), cp.Strategy.uniform(kuhn), 10, seed), "seed", kind=BadParameter)


def test_bad_players(game: cp.Game, random10: cp.Strategy, tmp_path: Path) -> None:
    bad(lambda: cp.play_match(game, "always-cal", "probe", 10), "did you mean 'always-call'", kind=UnknownName)
    bad(lambda: cp.play_match(game, "probe", "nowhere/run.npz", 10), "nowhere/run.npz", "always-call")
    bad(lambda: cp.play_match(game, 7, "probe", 10), "act(view)", kind=BadParameter)
    bad(lambda: cp.play_match(game, None, "probe", 10), "act(view)", kind=BadParameter)
    kuhn = cp.load("kuhn")
    bad(lambda: cp.play_match(game, cp.Strategy.uniform(kuhn), "probe", 10), "kuhn", kind=BadStrategy)
    bad(lambda: cp.play_match(kuhn, random10, cp.Strategy.uniform(kuhn), 10), "holdem", kind=BadStrategy)
    bad(lambda: cp.play_match(kuhn, cp.Strategy.uniform(kuhn), "probe", 10), kind=BadStrategy)
    three = cp.load("kuhn(players=3)")
    bad(lambda: cp.play_match(three, cp.Strategy.uniform(three), cp.Strategy.uniform(three), 10), "two players")
    (tmp_path / "noise").write_bytes(b"nothing to see")
    bad(lambda: cp.play_match(game, tmp_path / "noise", "probe", 10), "noise")


def test_bad_options(game: cp.Game, tmp_path: Path) -> None:
    kuhn = cp.load("kuhn")
    uniform_kuhn = cp.Strategy.uniform(kuhn)
    bad(lambda: cp.play_match(kuhn, uniform_kuhn, uniform_kuhn, 10, log=tmp_path / "x.parquet"), "hold'em", kind=BadParameter)
    bad(lambda: cp.play_match(game, "probe", "probe", 10, observer="c"), "observer", "'c'", kind=BadParameter)
    bad(lambda: cp.play_match("holdme", "probe", "probe", 10), "holdem", kind=UnknownName)
    (tmp_path / "file").write_text("precious")
    bad(lambda: cp.play_match(game, "probe", "probe", 10, log=tmp_path / "file" / "x.parquet"), "file")
    assert (tmp_path / "file").read_text() == "precious"


@pytest.mark.parametrize("processes", [-1, 1.5, "two"])
def test_bad_numbers_of_processes(processes: Any, game: cp.Game, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(match_module, "blocks", lambda deals, size=40: blocks(deals, size))
    bad(lambda: cp.play_match(game, Caller(), "probe", 200, processes=processes), "processes", kind=BadParameter)
