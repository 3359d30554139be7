"""Hand records that obey the rules, and files of them: Parquet, every format there and back,
damage."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from support.hands import random_hands, read_or_refusal
from support.holdem import TREE

from counterplay.core.base.errors import BadFile, BadParameter
from counterplay.poker.cards.cards import N_CARDS, cards
from counterplay.poker.histories.acpc import read_acpc, write_acpc
from counterplay.poker.histories.parquet import hands_table, read_parquet, write_parquet
from counterplay.poker.histories.phh import read_phh, write_phh
from counterplay.poker.histories.read import read_hands
from counterplay.poker.histories.records import (
    HandHistories,
    HandRecord,
    observed_by,
    parse_holding,
    settle,
)

SHOWN = HandRecord(
    0,
    "A",
    "B",
    "cc/cc/cc/cc",
    tuple(cards("2c7d9hJsQc")),
    parse_holding("AsAd"),
    parse_holding("KsKd"),
    dealer_won=1.0,
)
FOLDED = replace(SHOWN, betting="rrf", board=(), dealer_won=-2.0)


def test_payoffs_by_hand() -> None:
    """Amounts in small bets: blinds 1/2 and 1, bets 1, 1, 2, 2."""
    aces, kings, board = SHOWN.dealer_cards, SHOWN.big_blind_cards, SHOWN.board
    assert settle("f", (), None, None) == -0.5
    assert settle("rf", (), None, None) == 1.0
    assert settle("rrf", (), None, None) == -2.0
    assert settle("cc/rf", board[:3], None, None) == -1.0
    assert settle("rrrc/rrrrc/rrrrc/rrrrc", board, aces, kings) == 24.0
    assert settle("rrrc/rrrrc/rrrrc/rrrrc", board, kings, aces) == -24.0
    assert settle("cc/cc/cc/rc", board, aces, None) is None
    tie = tuple(cards("AsKsQsJsTs"))
    assert settle("cc/cc/cc/cc", tie, kings, (0, 1)) == 0.0


def test_every_end_of_the_betting_tree_is_a_record() -> None:
    rng = np.random.default_rng(0)
    deal = tuple(int(card) for card in rng.permutation(N_CARDS)[:9])
    holes = (deal[0], deal[1]), (deal[2], deal[3])
    ends = [state for state in TREE.states if state.over]
    assert len(ends) == 10_206
    for state in ends:
        board = deal[4 : 4 + TREE.rules.board[state.round]]
        won = settle(state.history, board, *holes)
        assert won is not None
        record = HandRecord(0, "A", "B", state.history, board, *holes, won)
        assert record.end is state
        assert record.won("A") == -record.won("B") == won
        assert abs(won) in (0.0, min(state.paid))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"number": -1}, "hand number"),
        ({"number": True}, "hand number"),
        ({"big_blind": "A"}, "both players are called"),
        ({"dealer": ""}, "not a name"),
        ({"dealer": "x\n"}, "not a name"),
        ({"betting": "cc/cc/cc/c"}, "not a whole hand"),
        ({"betting": "cc/f"}, "letter 4 is 'f'; legal after 'cc/': c"),
        ({"betting": "rrrrc"}, "letter 4 is 'r'"),
        ({"betting": "cccc"}, "/ is missing after 'cc'"),
        ({"betting": "ff"}, "goes on after"),
        ({"betting": "cc/cc/cc/cc/"}, "goes on after"),
        ({"betting": None}, "betting"),
        ({"board": ()}, "needs 5"),
        ({"board": None}, "needs 5"),
        ({"board": (0, 1, 2, 3, 52)}, "from 0 to 51"),
        ({"board": (0, 1, 2, 3, 3)}, "stands twice"),
        ({"board": (0, 1, 2, 3, 51)}, "As stands twice"),
        ({"dealer_cards": (51,)}, "two cards"),
        ({"dealer_cards": [51, 49]}, "tuples"),
        ({"dealer_won": -1.0}, "by the rules it is 1"),
        ({"dealer_won": float("nan")}, "by the rules"),
        ({"dealer_won": "1"}, "not a number"),
        ({"dealer_cards": None, "dealer_won": 3.0}, "-1 or 0 or 1"),
        ({"observer": "C"}, "neither"),
        ({"observer": "A", "dealer_cards": None}, "cards of the observer 'A' must be known"),
        (
            {"observer": "A", "betting": "rrf", "board": (), "dealer_won": -2.0},
            "cannot know the opponent's cards",
        ),
    ],
)
def test_illegal_records_are_refused(change: dict[str, object], message: str) -> None:
    with pytest.raises(BadParameter, match=message):
        replace(SHOWN, **change)


def test_seen_by_hides_what_was_folded() -> None:
    assert observed_by(SHOWN, "B") == replace(SHOWN, observer="B")
    assert observed_by(FOLDED, "A").big_blind_cards is None
    assert observed_by(FOLDED, "A").dealer_cards == FOLDED.dealer_cards
    assert observed_by(FOLDED, "B").dealer_cards is None
    assert observed_by(observed_by(FOLDED, "A"), "A") == observed_by(FOLDED, "A")
    with pytest.raises(BadParameter, match="recorded by"):
        observed_by(observed_by(SHOWN, "A"), "B")
    with pytest.raises(BadParameter, match="did not play"):
        observed_by(SHOWN, "C")
    for hand in random_hands(1):
        view = observed_by(hand, hand.dealer)
        assert (view.big_blind_cards is None) == hand.betting.endswith("f")
        assert view.cards(hand.dealer) == hand.dealer_cards


@pytest.mark.parametrize("seed", range(3))
def test_round_trips(tmp_path: Path, seed: int) -> None:
    hands = random_hands(seed)
    assert {len(hand.board) for hand in hands} == set(TREE.rules.board)
    mixed = [
        observed_by(hand, hand.dealer if hand.number % 3 else hand.big_blind)
        if hand.number % 2
        else hand
        for hand in hands
    ]
    unseen = [replace(hand, dealer_cards=None, big_blind_cards=None) for hand in hands]
    for some in (hands, mixed, unseen, []):
        write_parquet(tmp_path / "a.parquet", some, {"seed": seed})
        assert read_parquet(tmp_path / "a.parquet") == HandHistories(some, [], {"seed": seed})
        write_phh(tmp_path / "a.phhs", some)
        assert read_hands(tmp_path / "a.phhs").hands == some
        for chips in (10, 1, 0.5):
            write_acpc(tmp_path / "a.log", some, big_blind=chips)
            assert read_acpc(tmp_path / "a.log", big_blind=chips).hands == [
                replace(hand, observer=None) for hand in some
            ]
    views = [observed_by(hand, "Ann") for hand in hands]
    write_acpc(tmp_path / "a.log", views)
    assert read_acpc(tmp_path / "a.log", observer="Ann").hands == views


def test_read_any_by_suffix_and_by_content(tmp_path: Path) -> None:
    hands = random_hands(4, 20)
    write_parquet(tmp_path / "a.parquet", hands)
    write_acpc(tmp_path / "a.log", hands)
    write_phh(tmp_path / "a.phhs", hands)
    for name in ("a.parquet", "a.log", "a.phhs"):
        assert read_hands(tmp_path / name).hands == hands
        (tmp_path / "plain").write_bytes((tmp_path / name).read_bytes())
        assert read_hands(str(tmp_path / "plain")).hands == hands
    for k in (2, 10, 1):
        write_phh(tmp_path / "folder" / "x" / f"{k}.phh", [replace(hands[0], number=k)])
    assert [hand.number for hand in read_hands(tmp_path / "folder")] == [1, 2, 10]
    (tmp_path / "plain").write_text("hello")
    (tmp_path / "empty").mkdir()
    for missing, why in (
        ("plain", "no hand history"),
        ("empty", "no .phh, .phhs, .log or .parquet file"),
        ("nothing", "no such file"),
        ("nothing.log", "no such"),
    ):
        with pytest.raises(BadFile, match=why) as error:
            read_hands(tmp_path / missing)
        assert missing in str(error.value)


def test_wrong_arguments(tmp_path: Path) -> None:
    write_acpc(tmp_path / "a.log", [SHOWN])
    for reader in (read_acpc, read_phh, read_parquet):
        with pytest.raises(BadParameter, match="on_error"):
            reader(tmp_path / "a.log", on_error="ignore")
    with pytest.raises(BadParameter, match="big_blind"):
        read_acpc(tmp_path / "a.log", big_blind=0)
    with pytest.raises(BadParameter, match="no room"):
        write_acpc(tmp_path / "b.log", [replace(SHOWN, dealer="a|b")])
    with pytest.raises(BadParameter, match="one hand"):
        write_phh(tmp_path / "b.phh", [SHOWN, SHOWN])
    with pytest.raises(BadParameter, match="not JSON"):
        write_parquet(tmp_path / "b.parquet", [SHOWN], {"x": object()})
    assert [file.name for file in tmp_path.iterdir()] == ["a.log"]


def test_foreign_and_newer_tables(tmp_path: Path) -> None:
    table = hands_table(random_hands(6, 5))
    path = tmp_path / "a.parquet"
    ours = {"counterplay": "hands", "format": "1", "metadata": "{}"}
    for header, columns, why in (
        ({}, table, "not one of Counterplay's"),
        (ours | {"counterplay": "strategy"}, table, "holds a strategy"),
        (ours | {"format": "2"}, table, "newer version"),
        (ours | {"format": "x"}, table, "damaged"),
        (ours | {"metadata": "[]"}, table, "metadata"),
        (ours | {"metadata": "{"}, table, "damaged"),
        (ours, table.drop_columns(["betting"]), "betting"),
        (ours, table.set_column(0, "hand", pa.array(["x"] * 5)), "damaged"),
        (ours, table.set_column(8, "dealer_won", pa.array([99.0] * 5)), "row 1: the dealer won 99"),
        (ours, table.set_column(5, "board", pa.array(["2c"] * 5)), "row 1: board of 1"),
    ):
        pq.write_table(columns.replace_schema_metadata(header), path)
        with pytest.raises(BadFile, match=why) as error:
            read_parquet(path)
        assert str(error.value).startswith(str(path))
    assert len(read_parquet(path, "skip").skipped) == 5


def test_damage_to_a_table_is_noticed(tmp_path: Path) -> None:
    """Cut short or with one byte changed: `BadFile`, or the very same hands if the byte carried
    nothing."""
    hands, path = random_hands(7, 50), tmp_path / "a.parquet"
    write_parquet(path, hands)
    data, rng = path.read_bytes(), np.random.default_rng(0)
    for k in rng.integers(0, len(data), 300):
        for damaged in (
            data[:k],
            data[:k] + bytes([data[k] ^ int(rng.integers(1, 256))]) + data[k + 1 :],
        ):
            path.write_bytes(damaged)
            result = read_or_refusal(read_parquet, path)
            assert str(path) in result if isinstance(result, str) else result.hands == hands


@settings(max_examples=60)
@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"PAR1", b"STATE:0:f:|:", b"[1]\nvariant = 'FT'\n", b"actions = ["]),
)
def test_random_bytes_never_give_a_traceback(
    tmp_path_factory: pytest.TempPathFactory, tail: bytes, head: bytes
) -> None:
    path = tmp_path_factory.mktemp("bytes") / "x"
    path.write_bytes(head + tail)
    for reader in (read_acpc, read_phh, read_parquet, read_hands):
        for on_error in ("refuse", "skip"):
            result = read_or_refusal(reader, path, on_error)
            assert str(path) in result if isinstance(result, str) else result.hands == []
