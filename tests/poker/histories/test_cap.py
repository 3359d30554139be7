"""A bet beyond the cap is called so, with the way to leave such hands out."""

from __future__ import annotations

from pathlib import Path

import pytest

import counterplay as cp
from counterplay.poker.histories.records import betting_error


@pytest.mark.parametrize("betting", ["rrrrc/cc", "rc/rrrrrc"])
def test_the_cap_is_named(betting: str) -> None:
    said = betting_error(betting)
    assert "beyond the cap of 4 on a street" in said
    assert "--on-error skip" in said


def test_other_mistakes_are_not() -> None:
    assert "cap" not in betting_error("cc/f")


def test_in_a_file(tmp_path: Path) -> None:
    log = tmp_path / "match.log"
    good = "STATE:0:f:KhTc|Qd9d:5|-5:Ann|Bob\n"
    log.write_text(good + "STATE:1:rrrrf:KhTc|Qd9d:-40|40:Ann|Bob\n")
    with pytest.raises(cp.CounterplayError, match=r"match.log:2: .*cap of 4.*--on-error skip"):
        cp.read_hands(log)
    assert len(cp.read_hands(log, on_error="skip")) == 1
