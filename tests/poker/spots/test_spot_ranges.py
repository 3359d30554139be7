"""The notation of ranges."""

from __future__ import annotations

import numpy as np
import pytest

from counterplay.core.base.errors import BadParameter
from counterplay.poker.cards.cards import N_HOLDINGS
from counterplay.poker.spots.ranges import holding_text, parse_range, parse_ranges, range_text


@pytest.mark.parametrize(
    ("text", "holdings"),
    [
        ("QQ", 6), ("22+", 78), ("TT-77", 24), ("77-TT", 24), ("AKs", 4), ("AKo", 12), ("AK", 16),
        ("KA", 16), ("A2s+", 48), ("KTo+", 36), ("A5s-A2s", 16), ("T9s-65s", 20), ("AhKh", 1),
        ("KhAh", 1), ("random", N_HOLDINGS), ("22+,A2s+,KTo+", 78 + 48 + 36), ("qq, aks", 10),
    ],
)  # fmt: skip
def test_a_text_names_holdings(text: str, holdings: int) -> None:
    assert int((parse_range(text, "range") > 0).sum()) == holdings


def test_weights_and_repetitions() -> None:
    weights = parse_range("random:0.25,AKs:0.5,AhKh:0", "range")
    by_name = {holding_text(h): weights[h] for h in range(N_HOLDINGS)}
    assert (by_name["2d2c"], by_name["AsKs"], by_name["AhKh"]) == (0.25, 0.5, 0.0)
    same = parse_range({"random": 0.25, "AKs": 0.5, "AhKh": 0}, "range")
    np.testing.assert_array_equal(weights, same)


@pytest.mark.parametrize("text", ["22+,A2s+,KTo+:0.5", "random", "random:0.3", "AhKh:0.125,QQ"])
def test_a_range_is_read_back_from_its_text(text: str) -> None:
    weights = parse_range(text, "range")
    np.testing.assert_array_equal(parse_range(range_text(weights), "range"), weights)
    np.testing.assert_array_equal(parse_range(weights, "range"), weights)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "the range is empty"), ("QQ,,KK", "empty part"), ("QQ:2", "weight of QQ"),
        ("QQ:x", "weight of QQ"), ("QQ:nan", "weight of QQ"), ("QQ:0", "the range is empty"),
        ("AhAh", "same card twice"), ("QQs", "neither suited"), ("AKx", "cannot read 'AKx'"),
        ("TT+-77", "cannot read"), ("TT-A7s", "different kinds"), ("A5s-A2o", "different kinds"),
        ("A5s-K2s", "different kinds"), ("7" * 200_000, "characters"),
    ],
)  # fmt: skip
def test_a_bad_text_is_one_sentence(text: str, problem: str) -> None:
    with pytest.raises(BadParameter, match=problem) as error:
        parse_range(text, "ranges: player 1")
    assert str(error.value).startswith("ranges: player 1:")


@pytest.mark.parametrize("given", ["QQ", ("QQ",), None, ("QQ", 3), ("QQ", [1.0]), 7])
def test_ranges_are_two(given: object) -> None:
    with pytest.raises(BadParameter, match=r"^ranges"):
        parse_ranges(given)
