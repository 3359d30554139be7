"""Files of poker sites: hands as their clients write them, and those that cannot be read."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.poker.histories.phh import read_phh
from counterplay.poker.histories.phh import write_phh as write
from counterplay.poker.histories.read import read_hands
from counterplay.poker.histories.sites import OTHERS, SITES, hand_of, site_of

FOLDED = """PokerStars Hand #27738502010: Hold'em Limit ($1/$2 USD) - 2009/05/02 6:06:25 ET
Table 'Ceres' 2-max Seat #2 is the button
Seat 1: a.b: c ($50 in chips)
Seat 2: bob ($41.20 in chips)
bob: posts small blind $0.50
a.b: c: posts big blind $1
*** HOLE CARDS ***
Dealt to bob [As Kd]
bob: raises $1 to $2
a.b: c: calls $1
*** FLOP *** [2c 3d 4h]
a.b: c: checks
bob: bets $1
bob said, "nice: folds"
a.b: c: folds
Uncalled bet ($1) returned to bob
bob collected $3.90 from pot
bob: shows [As Kd] (high card Ace)
*** SUMMARY ***
Total pot $4 | Rake $0.10
Board [2c 3d 4h]
Seat 1: a.b: c (big blind) folded on the Flop
Seat 2: bob (button) (small blind) collected ($3.90)
"""
SHOWN = """PokerStars Game #7: Hold'em Limit (10/20) - 2008/01/02 12:00:00
Table 'Play' 2-max (Play Money) Seat #1 is the button
Seat 1: me (500 in chips)
Seat 2: you (700 in chips)
me: posts small blind 5
you: posts big blind 10
*** HOLE CARDS ***
Dealt to me [Qs Qd]
me: calls 5
you: checks
*** FLOP *** [2c 3d 4h]
you: bets 10
me: calls 10
*** TURN *** [2c 3d 4h] [9s]
you: checks
me: bets 20
you: raises 20 to 40
me: calls 20
*** RIVER *** [2c 3d 4h 9s] [Jc]
you: checks
me: checks
*** SHOW DOWN ***
you: shows [Jh Js] (three of a kind, Jacks)
me: mucks hand
you collected 120 from pot
*** SUMMARY ***
Total pot 120 | Rake 0
Board [2c 3d 4h 9s Jc]
Seat 1: me (button) (small blind) mucked [Qs Qd]
Seat 2: you (big blind) showed [Jh Js] and won (120) with three of a kind, Jacks
"""


FULL_TILT = """Full Tilt Poker Game #9403951181: Table CR - tay (heads up) - $1/$2 - Limit Hold'em - 9:40:20 ET - 2008/12/09
Seat 1: K2 dream ($16.70)
Seat 2: rizk ($1,004)
rizk posts the small blind of $0.50
K2 dream posts the big blind of $1
5 seconds left to act
The button is in seat #2
*** HOLE CARDS ***
Dealt to rizk [Qs Qd]
rizk calls $0.50
K2 dream: folds, they said
K2 dream has 15 seconds left to act
K2 dream raises to $2
rizk calls $1
*** FLOP *** [2c 3d 4h]
K2 dream bets $1
rizk calls $1
*** TURN *** [2c 3d 4h] [9s]
K2 dream checks
rizk bets $2
K2 dream calls $2
*** RIVER *** [2c 3d 4h 9s] [Jc]
K2 dream checks
rizk checks
*** SHOW DOWN ***
K2 dream shows [Jh Js] three of a kind, Jacks
rizk mucks
K2 dream wins the pot ($9.50) with three of a kind, Jacks
*** SUMMARY ***
Total pot $10 | Rake $0.50
Board: [2c 3d 4h 9s Jc]
Seat 1: K2 dream (big blind) showed [Jh Js] and won ($9.50) with three of a kind, Jacks
Seat 2: rizk (small blind) mucked [Qs Qd] - a pair of Queens
"""  # noqa: E501


def test_full_tilt_writes_its_hands_in_another_way(tmp_path: Path) -> None:
    site = SITES[1]
    hand = hand_of(FULL_TILT, site)
    assert (hand.number, hand.dealer, hand.big_blind) == (9403951181, "rizk", "K2 dream")
    assert (hand.betting, hand.dealer_won, hand.observer) == ("crc/rc/crc/cc", -5.0, "rizk")
    assert None not in (hand.dealer_cards, hand.big_blind_cards)
    cut = FULL_TILT.replace("K2 dream shows", "K2 dream showed").replace("showed [", "held [")
    assert hand_of(cut, site).dealer_won == -5.0  # the pot decides
    path = tmp_path / "FT20081209.txt"
    path.write_text(FULL_TILT + "\n\n" + FULL_TILT.replace("- Limit", "- No Limit"))
    found = read_hands(path, on_error="skip")
    assert len(found) == 1
    assert "No Limit" in found.skipped[0]
    with pytest.raises(BadParameter, match="all-in"):
        hand_of(FULL_TILT.replace("bets $2", "bets $2, and is all in"), site)


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("***** Hand History for Game 4785867457 *****\n", "PartyPoker"),
        ("\ufeff***** 888poker Hand History for Game 655462938 *****\n", "888poker"),
        ("Winamax Poker - CashGame - HandId: #1 - Holdem no limit\n", "Winamax"),
        ("Stage #1571362962: Holdem  Normal $0.25/$0.50\n", "Absolute"),
        ('<?xml version="1.0"?>\n<session sessioncode="1">\n', "iPoker"),
    ],
)
def test_other_sites_are_refused_by_name(text: str, name: str, tmp_path: Path) -> None:
    path = tmp_path / "hands.txt"
    path.write_text(text)
    with pytest.raises(BadFile, match=name) as refused:
        read_hands(path)
    assert "PokerStars and Full Tilt" in str(refused.value)
    assert len(OTHERS) > 5
    assert site_of("nothing of the kind") is None


def test_a_file_of_many_hands_that_cannot_be_read_is_refused_soon(tmp_path: Path) -> None:
    """Lines are counted once, not from the start for each hand; the names of lines are right."""
    path, other = tmp_path / "hands.txt", FOLDED.replace("Hold'em Limit", "Hold'em No Limit")
    path.write_text("\n" + (other + "\n") * 12_000)
    before = time.process_time()
    found = read_hands(path, on_error="skip")
    assert time.process_time() - before < 5  # 0.2 s; counting anew takes minutes
    assert len(found) == 0
    lines = [int(message.split(":")[1]) for message in found.skipped[:3]]
    each = other.count("\n") + 1
    assert lines == [2, 2 + each, 2 + 2 * each]


def test_hands_are_read_as_played() -> None:
    one, two = hand_of(FOLDED), hand_of(SHOWN)
    assert (one.number, one.dealer, one.big_blind) == (27738502010, "bob", "a.b: c")
    assert (one.betting, one.dealer_won, one.observer) == ("rc/crf", 2.0, "bob")
    assert one.big_blind_cards is None
    assert (two.betting, two.dealer_won, two.observer) == ("cc/rc/crrc/cc", -6.0, "me")
    assert len(two.board) == 5
    assert None not in (two.dealer_cards, two.big_blind_cards)


def test_the_pot_decides_where_cards_stay_unknown() -> None:
    lines = [
        line
        for line in SHOWN.splitlines()
        if not line.startswith(("you: shows", "Dealt to", "Seat 2: you (big", "Seat 1: me (but"))
    ]
    hand = hand_of("\n".join(lines))
    assert (hand.dealer_won, hand.observer, hand.big_blind_cards) == (-6.0, None, None)
    split = "\n".join([*lines, "me collected 60 from pot"])
    assert hand_of(split).dealer_won == 0.0
    nobody = "\n".join(line for line in lines if "collected" not in line)
    with pytest.raises(BadParameter, match="nobody collected"):
        hand_of(nobody)


def test_a_file_with_other_hands_in_between(tmp_path: Path) -> None:
    other = FOLDED.replace("Hold'em Limit ($1/$2 USD)", "Hold'em No Limit ($0.5/$1 USD)")
    path = tmp_path / "HH20090502.txt"
    path.write_bytes(
        ("\ufeff" + "\n\n".join([FOLDED, other, SHOWN])).replace("\n", "\r\n").encode()
    )
    found = read_hands(path, on_error="skip")
    assert [hand.number for hand in found] == [27738502010, 7]
    assert "No Limit" in found.skipped[0]
    assert "what can: two-player Hold'em Limit" in found.skipped[0]
    with pytest.raises(BadFile, match="No Limit"):
        read_hands(path)
    write(tmp_path / "again.phhs", found.hands)
    assert [h.betting for h in read_phh(tmp_path / "again.phhs")] == [h.betting for h in found]


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        ("bob: bets $1\n", "bob: bets $1 and is all-in\n", "all-in"),
        ("a.b: c: checks", "bob: checks", "out of turn"),
        ("a.b: c: checks", "a.b: c: folds", "not legal"),
        ("a.b: c: folds\n", "", "not finished"),
        ("Seat 1: a.b: c", "Seat 3: dd ($5 in chips)\nSeat 1: a.b: c", "players at the table: 3"),
        ("Seat #2 is", "Seat #5 is", "players at the table"),
        ("($41.20 in chips)", "($41.20 in chips) is sitting out", "players at the table: 1"),
        ("[2c 3d 4h]", "[2c 2c 4h]", "twice"),
        ("[As Kd]", "[Xs Kd]", "Xs"),
        ("($1/$2 USD)", "($1/$3 USD)", "1 and 3"),
    ],
)
def test_what_cannot_be_read_is_said_in_a_sentence(old: str, new: str, why: str) -> None:
    with pytest.raises(BadParameter, match=why) as refused:
        hand_of(FOLDED.replace(old, new))
    assert len(str(refused.value)) < 250
    with pytest.raises(BadParameter):
        hand_of(FOLDED + "x" * 20_000)


def test_tables_stakes_and_names_as_they_occur(tmp_path: Path) -> None:
    """Who sits out is no player; stakes in thousands; home games; names in Windows' code page."""
    away = "Seat 4: zed ($9 in chips) is sitting out\nSeat 6: y ($9 in chips) out of hand (moved)\n"
    whole = hand_of(FOLDED)
    for old, new in (
        ("bob: posts small blind", away + "bob: posts small blind"),
        ("($1/$2 USD)", "($1,000/$2,000 USD)"),
        ("PokerStars Hand #27738502010:", "PokerStars Home Game Hand #27738502010: {Club #1} "),
    ):
        assert hand_of(FOLDED.replace(old, new)) == whole
    path = tmp_path / "old.txt"
    path.write_bytes(FOLDED.replace("bob", "J\u00fcrgen").encode("cp1252"))
    assert read_hands(path).hands[0].dealer == "J\u00fcrgen"


@pytest.mark.parametrize(
    "data", [b"", b"a,b,c\n1,2,3\n", b"PK\x03\x04" + b"\0" * 90, b"\x89PNG\r\n\xff"]
)
def test_a_text_of_no_known_kind_is_refused_with_what_can_be_read(
    data: bytes, tmp_path: Path
) -> None:
    path = tmp_path / "hands.txt"
    path.write_bytes(data)
    with pytest.raises(BadFile, match="no hand history that Counterplay knows") as refused:
        read_hands(path, on_error="skip")
    assert all(name in str(refused.value) for name in ("PHH", "ACPC", "PokerStars", "Full Tilt"))


@pytest.mark.slow
def test_pokerkit_reads_no_limit_game_of_a_site() -> None:
    """So its parsers would add nothing: what we say of them in `sites.py`."""
    pokerkit = pytest.importorskip("pokerkit")
    parsers = pokerkit.notation.REParser.__subclasses__()
    assert len(parsers) >= 6
    assert {variant for parser in parsers for variant in parser.VARIANTS.values()} == {"NT"}
