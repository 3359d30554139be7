"""Matches that are resumed from their logs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from support.acpc import hosted
from support.arena import Counter, exact, holdem

import counterplay as cp
from counterplay.core.base.errors import CounterplayError
from counterplay.poker.acpc.dealer import Dealer
from counterplay.poker.acpc.plan import MatchPlan, past_states
from counterplay.poker.acpc.server import AcpcSeat, LocalPlayer, deal_acpc
from counterplay.poker.histories.acpc import read_acpc

NAMES = ("one", "two")
HANDS, SEED = 12, 5


def planned(folder: Path, transcript: bool = True, **more: Any) -> MatchPlan:
    account = folder / "m.err" if transcript else None
    return MatchPlan(NAMES, HANDS, SEED, log=folder / "m.log", transcript=account, **more)


def hands_of(log: Path) -> list[str]:
    return [line for line in log.read_text().splitlines() if line[0] != "#"]


def players(
    one: Callable[[], Any] = lambda: "uniform", two: Callable[[], Any] = lambda: "probe"
) -> tuple[LocalPlayer, LocalPlayer]:
    return LocalPlayer(one(), 11), LocalPlayer(two(), 11)


def copied(whole: MatchPlan, folder: Path, hands: int, lines: int = 0) -> MatchPlan:
    """The files of a match that was killed after so many hands and lines of its transcript."""
    assert whole.log is not None
    assert whole.transcript is not None
    folder.mkdir()
    plan = planned(folder, transcript=lines > 0, resume=True)
    assert plan.log is not None
    log = whole.log.read_bytes().split(b"\n")
    plan.log.write_bytes(b"\n".join([*log[: 4 + hands], log[4 + hands][:30]]))
    if plan.transcript is not None:
        account = whole.transcript.read_bytes().split(b"\n")
        plan.transcript.write_bytes(b"\n".join([*account[:lines], account[lines][:40]]))
    return plan


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> MatchPlan:
    plan = planned(tmp_path_factory.mktemp("whole"))
    hosted(plan, players())
    return plan


# --- resumed


def test_a_match_that_is_resumed_is_the_match_that_was_not_interrupted(
    whole: MatchPlan, tmp_path: Path
) -> None:
    """Wherever it was killed, at every third line of the transcript: the same hands and score, in
    mid-hand too, though bots draw random numbers. The files end in half a line."""
    assert whole.log is not None
    assert whole.transcript is not None
    account = whole.transcript.read_text().splitlines()
    expected = hands_of(whole.log)
    result = None
    for lines in range(5, len(account) - 2, 3):
        ends = [line for line in account[:lines] if line[:4] == "TO 1" and over(line)]
        plan = copied(whole, tmp_path / str(lines), len(ends), lines)
        again = hosted(plan, players())
        assert plan.log is not None
        assert hands_of(plan.log) == expected
        assert exact(again) == exact(result or again)
        assert len(read_acpc(plan.log).hands) == HANDS
        result = again
    assert result is not None
    assert (result.hands, result.stopped) == (HANDS, False)


def over(line: str) -> bool:
    betting = line.split(":")[3]
    return betting.endswith("f") or (betting.count("/") == 3 and betting.endswith(("cc", "rc")))


def test_the_first_state_after_resuming_is_the_last_one_before(
    whole: MatchPlan, tmp_path: Path
) -> None:
    """With the transcript, though in mid-hand: nothing is asked or told again."""
    assert whole.transcript is not None
    account = whole.transcript.read_text().splitlines()
    middle = 0
    for lines in range(8, len(account) - 2, 5):
        sent = [line for line in account[:lines] if line[:2] == "TO"]
        hands = sum(line[:4] == "TO 1" and over(line) for line in sent)
        if hands == HANDS:
            break
        plan = copied(whole, tmp_path / str(lines), hands, lines)
        hosted(plan, players())
        assert plan.transcript is not None
        again = plan.transcript.read_text().rpartition("STARTED")[2]
        first = next(line for line in again.splitlines() if line[:2] == "TO")
        hand, betting = first.split(":")[2:4]
        if over(sent[-1]):
            assert (int(hand), betting) == (hands, "")
        else:
            assert [hand, betting] == sent[-1].split(":")[2:4]
            middle += betting != ""
    assert middle > 10


@pytest.mark.parametrize("hands", [0, 1, 7, HANDS - 1, HANDS])
def test_from_the_log_alone_the_interrupted_hand_is_dealt_again(
    hands: int, whole: MatchPlan, tmp_path: Path
) -> None:
    plan = copied(whole, tmp_path / "cut", hands)
    if hands == HANDS:  # all but the score
        result = deal_acpc(plan, (AcpcSeat("one", None), AcpcSeat("two", None)))
        assert result.hands == HANDS
    else:
        hosted(plan, players())
    assert plan.log is not None
    assert whole.log is not None
    assert hands_of(plan.log) == hands_of(whole.log)
    assert plan.log.read_text().count("# name/game/hands/seed") == 2
    with pytest.raises(CounterplayError, match="the match is over"):
        hosted(plan, players())


def test_a_match_is_resumed_twice_and_behind_another(whole: MatchPlan, tmp_path: Path) -> None:
    assert whole.log is not None
    plan = copied(whole, tmp_path / "cut", 3)
    assert plan.log is not None
    text = plan.log.read_text()
    plan.log.write_text(whole.log.read_text() + text.rpartition("\n")[0] + "\n" + whole.header)
    hosted(plan, players())
    found = hands_of(plan.log)
    assert found == 2 * hands_of(whole.log)


def test_time_counts_on(whole: MatchPlan, tmp_path: Path) -> None:
    """Of the transcript: what a player has used is used, but for comments."""
    plan = copied(whole, tmp_path / "cut", 0, 7)
    assert plan.transcript is not None
    account = plan.transcript.read_bytes().rpartition(b"\n")[0] + b"\n"
    at = float(account[account.index(b"TO 2 at ") :].split()[3])
    later = f"FROM 2 at {at + 5:.6f} MATCHSTATE:nonsense\r\nFROM 2 at {at + 7:.6f} # hm\r\n"
    for text in (account, account.replace(b"\r", b"")):
        plan.transcript.write_bytes(text + later.encode())
        clock = Dealer(plan)._clock
        assert (clock.used[0], clock.used[1]) == (0.0, pytest.approx(5.0, abs=1e-3))
        assert clock._in_hand == clock.used
    plan.transcript.write_bytes((whole.header + later).encode())  # an answer to nothing
    assert Dealer(plan)._clock.used == [0.0, 0.0]


def changed(old: str, new: str) -> Callable[[str], str]:
    def change(text: str) -> str:
        assert old in text
        return text.replace(old, new, 1)

    return change


@pytest.mark.parametrize(
    ("change", "more", "words"),
    [
        (lambda text: text, {"seed": 6}, r"--hands 12 --seed 5, not with .* --seed 6$"),
        (lambda text: text, {"hands": 13}, "--hands 12 --seed 5, not with"),
        (lambda text: text, {"name": "final"}, "--name match .* --name final"),
        (lambda text: text, {"names": ("one", "three")}, "hand 0 has other players"),
        (lambda text: text, {"names": ("two", "one")}, "hand 0 has other players"),
        (lambda text: text, {"fixed_seats": True}, "hand 1 has other players"),
        (lambda text: "", {}, "no match of"),
        (changed("holdem.limit", "holdem.nolimit"), {}, "no match of holdem.limit"),
        (changed("STATE:3:", "STATE:4:"), {}, ":8: hand 4 after 3 hands"),
        (changed("STATE:3:", "STATE:0:"), {}, r"hand 4 after 1 hands"),
        (changed("STATE:3:", "STATS:3:"), {}, r"m\.log:8: neither a hand"),
        (changed("|", ""), {}, r"m\.log:5: "),
        (lambda text: text + "SCORE:0|0:one|two\n", {}, "the match is over"),
        (lambda text: text + "\x00\xff\n", {}, r"m\.log:10: "),
    ],
)
def test_logs_of_other_matches_and_damaged_ones_are_refused(
    change: Callable[[str], str],
    more: dict[str, Any],
    words: str,
    whole: MatchPlan,
    tmp_path: Path,
) -> None:
    """In one sentence, and they are left as they are."""
    plan = copied(whole, tmp_path / "cut", 5)
    assert plan.log is not None
    text = plan.log.read_text()
    text = change(text[: text.rindex("\n") + 1])
    plan.log.write_text(text)
    with pytest.raises(CounterplayError, match=words):
        Dealer(replace(plan, **more))
    assert plan.log.read_text() == text


def test_other_cards_or_results_are_refused(whole: MatchPlan, tmp_path: Path) -> None:
    plan = copied(whole, tmp_path / "cut", 5)
    assert plan.log is not None
    text = plan.log.read_text()
    state = hands_of(plan.log)[2]
    _, _, betting, cards, values, names = state.split(":")
    swapped = "|".join(reversed(values.split("|")))
    for what, new in (
        ("cards", [betting, cards[2:4] + cards[:2] + cards[4:], values, names]),
        ("winnings", [betting, cards, swapped if swapped != values else "1|-1", names]),
    ):
        plan.log.write_text(text.replace(state, ":".join(["STATE", "2", *new])))
        with pytest.raises(CounterplayError, match=f"hand 2 has other {what} than in this match"):
            Dealer(plan)


def test_transcripts_of_other_matches_are_refused(whole: MatchPlan, tmp_path: Path) -> None:
    assert whole.transcript is not None
    account = whole.transcript.read_text()
    plan = copied(whole, tmp_path / "cut", 2, 8)
    assert plan.transcript is not None
    for text, words in (
        (account, "goes on to hand 11, but the log has 2 hands"),
        (account.replace("seed match", "seed other", 1), "--name other"),
        ("nothing of ours\n", "no match of"),
    ):
        plan.transcript.write_text(text)
        with pytest.raises(CounterplayError, match=words):
            Dealer(plan)
    plan = copied(whole, tmp_path / "cards", 0, 8)
    assert plan.transcript is not None
    text = plan.transcript.read_text()
    own = text[text.index("MATCHSTATE:1:0::|") :][17:21]
    plan.transcript.write_text(text.replace(own, own[2:] + own[:2]), newline="")
    with pytest.raises(CounterplayError, match="hand 0 has other cards than in this match"):
        Dealer(plan)
    plan.transcript.write_text("")  # none
    Dealer(plan).close()


def test_a_plan_to_resume_needs_a_log(tmp_path: Path) -> None:
    with pytest.raises(CounterplayError, match="resumed from its log: --log FILE"):
        MatchPlan(NAMES, 5, resume=True)
    with pytest.raises(CounterplayError, match="leave out --append"):
        MatchPlan(NAMES, 5, resume=True, log=tmp_path / "m.log", append=True)
    with pytest.raises(CounterplayError, match="no such file"):
        Dealer(MatchPlan(NAMES, 5, resume=True, log=tmp_path / "m.log"))
    assert list(tmp_path.iterdir()) == []


# --- memory


def test_a_player_remembers_the_hands_of_the_log(tmp_path: Path) -> None:
    """One that counts hands plays on as if nothing had happened; it sees nothing that it did not
    see before."""
    whole = planned(tmp_path)
    before = players(Counter, lambda: "probe")
    hosted(whole, before)
    plan = copied(whole, tmp_path / "cut", 5, 60)
    assert plan.log is not None
    after = players(Counter, lambda: "probe")
    after[0].player.replay(past_states(plan.log, "one"))
    hosted(plan, after)
    assert whole.log is not None
    assert hands_of(plan.log) == hands_of(whole.log)
    for guest in (before[0].player, after[0].player):
        assert guest.hands >= HANDS - 1
    assert after[0].player.bot.views == before[0].player.bot.views
    assert after[0].player.bot.endings == before[0].player.bot.endings


def test_a_player_in_the_dealers_process_remembers_too(tmp_path: Path) -> None:
    """As Poki does, who counts what its opponent has done."""

    def seats() -> tuple[AcpcSeat, AcpcSeat]:
        made: Any = Counter()
        return AcpcSeat("one", None, (made, 11)), AcpcSeat("two", None, ("probe", 11))

    whole = planned(tmp_path)
    deal_acpc(whole, seats())
    for lines in (0, 60):
        plan = copied(whole, tmp_path / f"cut{lines}", 5, lines)
        deal_acpc(plan, seats())
        assert plan.log is not None
        assert whole.log is not None
        assert hands_of(plan.log) == hands_of(whole.log)


@pytest.mark.slow
def test_an_adaptive_player_goes_on(tmp_path: Path) -> None:
    """With the model and the response that it had: every hand of the rest is the same."""

    def adaptive() -> cp.Adaptive:
        return cp.Adaptive(holdem(), learner={"kind": "frequency"}, every=4, iterations=2_000)

    whole = planned(tmp_path)
    lived = players(adaptive)
    hosted(whole, lived)
    plan = copied(whole, tmp_path / "cut", 9)
    assert plan.log is not None
    assert whole.log is not None
    resumed = players(adaptive)
    resumed[0].player.replay(past_states(plan.log, "one"))
    assert (resumed[0].player.hands, len(resumed[0].player.bot.memory)) == (9, 9)
    hosted(plan, resumed)
    assert hands_of(plan.log) == hands_of(whole.log)
    one, two = (player[0].player.bot for player in (lived, resumed))
    assert one.memory == two.memory
    assert np.array_equal(one.strategy.probabilities, two.strategy.probabilities)
    fresh = players(adaptive)[0].player.bot
    assert not np.array_equal(one.strategy.probabilities, fresh.strategy.probabilities)


def test_a_past_of_somebody_else_is_refused(whole: MatchPlan, tmp_path: Path) -> None:
    assert whole.log is not None
    with pytest.raises(CounterplayError, match="'three' is neither of "):
        past_states(whole.log, "three")
    hidden = tmp_path / "h.log"
    hidden.write_text("STATE:0:f:7d3d|:5|-5:one|two\n")
    assert past_states(hidden, "one") == ["MATCHSTATE:0:0::7d3d|", "MATCHSTATE:0:0:f:7d3d|"]
    with pytest.raises(CounterplayError, match="the cards of 'two' in hand 0 are missing"):
        past_states(hidden, "two")
