"""The list of long tests names tests that there are."""

from __future__ import annotations

from pathlib import Path

HERE = Path(__file__).parent


def test_every_long_test_is_there() -> None:
    head, *lines = (HERE / "slow.txt").read_text().splitlines()
    assert head.startswith("#")
    assert len(set(lines)) == len(lines)
    for line in lines:
        file, name = line.split("::")
        assert f"def {name.split('[')[0]}(" in (HERE.parent / file).read_text(), line
