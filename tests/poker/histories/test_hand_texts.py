"""Hands in the formats of others: ACPC logs and PHH, down to the line that is wrong."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from support.hands import random_hands

from counterplay.core.base.errors import BadFile
from counterplay.poker.cards.cards import cards
from counterplay.poker.histories.acpc import read_acpc, write_acpc
from counterplay.poker.histories.phh import read_phh, write_phh
from counterplay.poker.histories.records import HandRecord, cards_text, parse_cards, parse_holding

# Ann sits in position 0, the big blind, in the first hand and deals the second, which she folds on
# the flop.
ACPC = """# name/game/hands/seed example holdem.limit.2p.reverse_blinds.game 2 0
; another comment
STATE:0:rc/cc/crc/cc:KhTc|Qd9d/Kd7s3c/2h/8s:40|-40:Ann|Bob
STATE:1:crc/rf:8c3d|AhJs/4s4d9c:20|-20:Bob|Ann
SCORE:20|-20:Ann|Bob
"""

PHH = """# the big blind folds to a raise on the turn
variant = "FT"
antes = [0, 0]
blinds_or_straddles = [1, 2]  # reversed heads-up: p1 pays 2
small_bet = 2
big_bet = 4
starting_stacks = [100, 100]
actions = [
  "d dh p1 ????",
  "d dh p2 AcKd",
  "p2 cbr 4  # opens",
  "p1 cc",
  "d db 7h8d2c",
  "p1 cc",
  "p2 cbr 2",
  "p1 cc",
  "d db Ah",
  "p1 cbr 4",
  "p2 cbr 8",
  "",
  "p1 f",
]
hand = 7
players = ["Ann", "Bob"]
"""


def test_acpc_by_hand(tmp_path: Path) -> None:
    """40 chips are four small bets: two before the flop, one bet of two on the turn. Raises
    carry no size."""
    path = tmp_path / "match.log"
    path.write_text(ACPC)
    first, second = read_acpc(path)
    assert (first.dealer, first.big_blind, first.dealer_won, first.won("Ann")) == (
        "Bob",
        "Ann",
        -4.0,
        4.0,
    )
    assert first.big_blind_cards == tuple(cards("KhTc"))
    assert (second.dealer, second.won("Bob"), cards_text(second.board)) == ("Ann", 2.0, "4s4d9c")
    write_acpc(path, [first, second])
    assert [line for line in path.read_text().splitlines() if line[0] != "#"][
        :2
    ] == ACPC.splitlines()[2:4]
    assert "SCORE:-20|20:Bob|Ann" in path.read_text()
    path.write_bytes(ACPC.replace("\n", "\r\n").encode())
    assert read_acpc(path).hands == [first, second]


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("rc/cc/crc/cc", "rc/cc/crc/c", 3, "not a whole hand"),
        ("40|-40", "-40|40", 3, "by the rules it is -4"),
        ("40|-40", "40|-10", 3, "sum to zero"),
        ("40|-40", "x|-40", 3, "not numbers"),
        ("40|-40", "nan|nan", 3, "not numbers"),
        ("Qd9d", "QdQd", 3, "stands twice"),
        ("Qd9d", "QdXd", 3, "not a card"),
        ("Qd9d", "Qd", 3, "two cards"),
        ("/2h/8s", "/2h8s", 3, "flop/turn/river"),
        ("STATE:0", "STATE:zero", 3, "hand number"),
        ("STATE:1", "STAT:1", 4, "neither a hand"),
        (":Bob|Ann", "", 4, "5 parts"),
        ("Bob|Ann", "Bob", 4, "two, with |"),
        ("SCORE:20|-20", "SCORE:80|-80", 5, "SCORE says 80 for 'Ann'"),
        ("20|-20:Ann|Bob", "1", 5, "expected SCORE"),
    ],
)
def test_a_bad_acpc_line_is_named_and_refused_or_skipped(
    tmp_path: Path, old: str, new: str, line: int, why: str
) -> None:
    path, messages = tmp_path / "match.log", list[str]()
    path.write_text(ACPC.replace(old, new, 1))
    with pytest.raises(BadFile, match=why) as error:
        read_acpc(path)
    assert str(error.value).startswith(f"{path}:{line}: ")
    result = read_acpc(path, "skip", messages.append)
    assert len(result) == (2 if line == 5 else 1)
    assert result.skipped == messages == [str(error.value)]


def test_phh_by_hand(tmp_path: Path) -> None:
    path = tmp_path / "a.phh"
    path.write_text(PHH)
    (hand,) = read_phh(path)
    # p1 loses 2 (before the flop) + 1 (flop) + 2 (turn) small bets to the dealer p2
    assert hand == HandRecord(
        7, "Bob", "Ann", "rc/crc/rrf", parse_cards("7h8d2cAh"), parse_holding("AcKd"), None, 5.0
    )
    path.write_text(
        PHH.replace("[1, 2]", "[2, 1]")
        .replace('players = ["Ann", "Bob"]', "")
        .replace("hand = 7", 'hand = "x"')
    )
    assert read_phh(path).hands == [replace(hand, number=1, dealer="p2", big_blind="p1")]
    # a writer who lists the dealer first
    swapped = PHH.replace("p1", "p?").replace("p2", "p1").replace("p?", "p2")
    path.write_text(swapped)
    assert read_phh(path).hands == [replace(hand, dealer="Ann", big_blind="Bob")]


SHOWDOWN = PHH.replace('"p1 f",', '"p1 cc", "d db 3s", "p1 cc", "p2 cc", "p2 sm -", "p1 sm",')


def test_phh_showdowns(tmp_path: Path) -> None:
    """Who won: by a muck, the winnings, the stacks or the cards."""
    path = tmp_path / "a.phh"
    shown = SHOWDOWN.replace('"p1 sm"', '"p1 sm QsQd"')
    silent = SHOWDOWN.replace('"p2 sm -", "p1 sm",', "")
    for text, won in (
        (SHOWDOWN, 7.0),
        (shown, 7.0),
        (shown.replace("QsQd", "7s7d"), -7.0),
        (silent + "winnings = [14, 14]", 0.0),
        (silent + "winnings = [27, 0]", -7.0),  # one chip of rake
        (silent + "finishing_stacks = [86, 113]", 7.0),
    ):
        path.write_text(text)
        assert [hand.dealer_won for hand in read_phh(path)] == [won]
    for text, why in (
        (silent, "winner is unknown"),
        (shown + "winnings = [28, 0]", "by the chips"),
        (SHOWDOWN.replace("[100, 100]", "[100, 9]"), "all-in"),
        (shown.replace("QsQd", "AcQd"), "stands twice"),
        (shown.replace("p2 sm -", "p2 sm AcKh"), "player was dealt AcKd"),
    ):
        path.write_text(text)
        with pytest.raises(BadFile, match=why):
            read_phh(path)


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ('"FT"', '"NT"', 2, "variant 'NT'"),
        ("antes = [0, 0]", "antes = [0, 1]", 3, "antes"),
        ("[1, 2]", "[1, 3]", 4, "blinds"),
        ("[1, 2]", "[1, 2, 4]", 4, "2 numbers"),
        ("small_bet = 2", "small_bet = true", 5, "numbers"),
        ("[100, 100]", "[100, 1e400]", 0, ""),
        ("[100, 100]", f"[100, 1{'0' * 400}]", 7, "out of range"),
        ("p2 cbr 4", "p2 cbr 6", 11, "makes it 4"),
        ("p2 cbr 8", "p2 cbr many", 19, "makes it 8"),
        ('"p1 cc",\n  "p2 cbr 2"', '"p2 cc",\n  "p2 cbr 2"', 14, "other player"),
        ('"p1 cc",\n  "p2 cbr 2"', '"p1 f",\n  "p2 cbr 2"', 14, "no fold"),
        ("d db Ah", "d db Ac2c", 18, "5 cards on the board"),
        ("d db Ah", "d db 2c", 8, "stands twice"),
        ("d dh p2 AcKd", "d dh p2 Ac??", 8, "not a card"),
        ("p1 f", "p1 pb", 21, "not an action"),
        ("p1 f", "p1", 21, "not an action"),
        ('"p1 f",', '"p1 f", "p2 cc"', 21, "over"),
        ('"p1 f",', "", 8, "not finished"),
        ('"p1 f",', "3,", 8, "strings"),
        ("hand = 7", "hand = ", 23, "not valid TOML"),
        ('"Bob"', '"Ann"', 8, "both players"),
    ],
)
def test_a_bad_phh_hand_is_named_and_refused_or_skipped(
    tmp_path: Path, old: str, new: str, line: int, why: str
) -> None:
    path, messages = tmp_path / "a.phhs", list[str]()
    bad = PHH.replace(old, new, 1)
    assert bad != PHH
    path.write_text(f"[1]\n{PHH}[2]\n{bad}\n[3]\n{PHH}")
    if not why:  # a stack of infinity means unknown
        assert len(read_phh(path)) == 3
        return
    with pytest.raises(BadFile, match=why) as error:
        read_phh(path)
    before = 2 + PHH.count("\n")
    assert str(error.value).startswith(f"{path}:{before + line}: ")
    result = read_phh(path, "skip", messages.append)
    assert len(result) == 2
    assert result.skipped == messages == [str(error.value)]


def test_phh_twice_the_same_table(tmp_path: Path) -> None:
    (tmp_path / "a.phhs").write_text(f"# two\n\n[1]\n{PHH}\n[1]\n{PHH}")
    assert [
        message.split(": ")[1] for message in read_phh(tmp_path / "a.phhs", "skip").skipped
    ] == ["table [1] stands twice"]


def test_nested_toml_is_refused(tmp_path: Path) -> None:
    for depth, why in (
        (10_000, "not valid TOML"),
        (100_000, "100,004 characters; a hand has less than"),
    ):
        (tmp_path / "a.phh").write_text("a = " + "[" * depth)
        with pytest.raises(BadFile, match=rf"a\.phh:1: {why}"):
            read_phh(tmp_path / "a.phh")


@pytest.mark.slow  # `make test-slow` installs it
def test_pokerkit_reads_what_we_write(tmp_path: Path) -> None:
    pokerkit = pytest.importorskip("pokerkit")
    hands = random_hands(5, 60)
    write_phh(tmp_path / "a.phhs", hands)
    with open(tmp_path / "a.phhs", "rb") as file:
        for hand, history in zip(hands, pokerkit.HandHistory.load_all(file), strict=True):
            *_, state = history
            assert not state.status
            assert state.payoffs == [-2 * hand.dealer_won, 2 * hand.dealer_won]
