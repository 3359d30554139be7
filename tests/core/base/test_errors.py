"""The one check of whole numbers."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from counterplay.core.base.errors import BadParameter, whole_number


@pytest.mark.parametrize(
    ("value", "low", "high", "sentence"),
    [
        (0, 1, 9, "x must be a whole number from 1 to 9, not 0"),
        (10, 1, 9, "x must be a whole number from 1 to 9, not 10"),
        (True, 0, 9, "x must be a whole number from 0 to 9, not True"),
        (2.0, 1, None, "x must be a whole number of at least 1, not 2.0"),
        ("2", None, None, "x must be a whole number, not '2'"),
        (None, None, None, "x must be a whole number, not None"),
        (np.int64(2), 1, 9, "x must be a whole number"),
        (-1, 0, 10**9, "x must be a whole number from 0 to 1,000,000,000, not -1"),
    ],
)
def test_what_is_no_such_whole_number(
    value: Any, low: int | None, high: int | None, sentence: str
) -> None:
    with pytest.raises(BadParameter, match=re.escape(sentence)):
        whole_number(value, low, high, "x")


def test_one_that_is_too_long_to_write() -> None:
    with pytest.raises(BadParameter, match="from 1 to 9, not a int that is too long"):
        whole_number(10**5000, 1, 9, "x")


def test_what_is_one() -> None:
    assert whole_number(3, 3, 3, "x") == 3
    assert whole_number(-(10**30), None, None, "x") == -(10**30)
    assert whole_number(0, 0, None, "x") == 0
