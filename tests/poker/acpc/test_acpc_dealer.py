"""Our dealer beside the competition's: cards, logs, messages and mistakes, as recorded."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from support.acpc import DATA, dealt, replay, without_times

from counterplay.core.base.errors import BadParameter
from counterplay.poker.acpc.plan import MatchPlan
from counterplay.poker.acpc.protocol import CHUNK, acpc_cards
from counterplay.poker.betting.betting import Betting
from counterplay.poker.cards.cards import card_text
from counterplay.poker.histories.acpc import read_acpc


def shown(cards: list[int]) -> str:
    """A deal as a log shows it."""
    text = [card_text(card) for card in cards]
    board = f"{''.join(text[4:7])}/{text[7]}/{text[8]}"
    return f"{text[2]}{text[3]}|{text[0]}{text[1]}/{board}"


@pytest.mark.parametrize(
    ("seed", "hands"),
    [
        (1, ["8s2h|Kd5c/7hAdTd/4s/Kc", "JsKs|Qs8d/Qd7s9d/Ac/Td", "5s6c|2c5d/4c4hKc/Qh/Jd"]),
        (42, ["7d3d|2hAc/5sKs7s/9s/6h", "9h6s|3d3h/5s3s8h/9d/5c", "4d6c|QsJh/3c9sJc/2d/Ts"]),
    ],
)
def test_the_same_seed_gives_the_cards_of_the_competitions_dealer(
    seed: int, hands: list[str]
) -> None:
    assert [shown(cards) for cards in acpc_cards(seed, 3).tolist()] == hands
    assert np.array_equal(acpc_cards(seed + 2**32, 3), acpc_cards(seed, 3))


def test_two_hundred_deals_of_a_log() -> None:
    cards = acpc_cards(1, 200).tolist()
    hands = read_acpc(DATA / "seed1-head.log").hands
    for hand, dealt_cards in zip(hands, cards, strict=True):
        assert hand.dealer_cards == tuple(dealt_cards[:2])
        assert hand.big_blind_cards == tuple(dealt_cards[2:4])
        assert hand.board == tuple(dealt_cards[4 : 4 + len(hand.board)])


def test_deals_do_not_depend_on_how_many_are_asked_for() -> None:
    many = acpc_cards(3, CHUNK + 7)
    assert np.array_equal(many[:5], acpc_cards(3, 5))
    assert all(len(set(deal)) == 9 for deal in many.tolist())
    for seed, hands in ((-1, 5), (True, 5), ("x", 5), (1, 0), (1, 2.5)):
        with pytest.raises(BadParameter, match="whole number"):
            acpc_cards(seed, hands)


def by_log(seat: int, name: str) -> list[str]:
    """What a seat says and hears in the hands of a log that all fit `acpc_cards`."""
    talk = ["< VERSION:2.0.0"]
    for hand in read_acpc(DATA / name).hands:
        position = (hand.number + seat) % 2
        own = hand.big_blind_cards if position == 0 else hand.dealer_cards
        other = hand.dealer_cards if position == 0 else hand.big_blind_cards
        assert own is not None
        assert other is not None
        state = Betting()
        letters = hand.betting.replace("/", "")
        for letter in [*letters, ""]:
            board = [card_text(card) for card in hand.board[: state.on_board]]
            streets = ["".join(board[:3]), *board[3:]] if board else []
            mine = "".join(card_text(card) for card in own)
            his = "".join(card_text(card) for card in other)
            his = his if state.over and state.folded < 0 else ""
            holes = f"{mine}|{his}" if position == 0 else f"{his}|{mine}"
            cards = "/".join([holes, *streets])
            line = f"MATCHSTATE:{position}:{hand.number}:{state.history}:{cards}"
            talk.append(f"> {line}")
            if letter:
                if 1 - state.player() == position:
                    talk.append(f"< {line}:{letter}")
                state = state.child({"f": "fold", "c": "call", "r": "raise"}[letter])
    return talk


def test_a_recorded_match_again(tmp_path: Path) -> None:
    """Both seats say what they said: every byte of the log and of the first seat's transcript is
    the same."""
    recorded = (DATA / "seed42-seat1.txt").read_text().splitlines()
    one = [line.removesuffix("\\r\\n") for line in recorded]
    assert by_log(0, "seed42.log") == one
    log, account = tmp_path / "new" / "t50.log", tmp_path / "t50.err"
    plan = MatchPlan(("Recorded", "Example"), 50, 42, name="t50", log=log, transcript=account)
    result = dealt(plan, replay(one), replay(by_log(1, "seed42.log")))
    assert log.read_bytes() == (DATA / "seed42.log").read_bytes()
    assert (result.a, result.hands, result.mean * 50) == ("Recorded", 50, pytest.approx(136))
    heard = [
        line[5:] for line in without_times(account.read_text()).splitlines() if line[:4] == "TO 1"
    ]
    assert heard == [line[2:] for line in one if line[0] == ">"]
