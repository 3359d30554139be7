"""What takes long is made once."""

from __future__ import annotations

from pathlib import Path

import pytest
from counterplay.base.kept import Kept, Write

from counterplay.base.errors import BadFile
from counterplay.base.progress import Tell


class Counted(Kept[str]):
    """A text, and how often it was read and made."""

    def __init__(self) -> None:
        super().__init__("the texts stay", self.read, self.make)
        self.reads = self.makes = 0

    def read(self, place: Path) -> str | None:
        self.reads += 1
        return place.read_text() if place.exists() else None

    def make(self, tell: Tell) -> tuple[str, Write]:
        self.makes += 1
        return "made", self.write

    def write(self, place: Path) -> None:
        if not place.parent.exists():
            raise BadFile(f"cannot write {place}")
        place.write_text("written")


def test_made_once_then_from_disk_then_from_memory(tmp_path: Path) -> None:
    place, told = tmp_path / "a", []
    kept = Counted()
    assert kept.at(place, lambda share, what: told.append(share)) == "written"  # as read back
    assert told == [0.99, 1.0]
    assert kept.at(place) == "written"
    assert (kept.reads, kept.makes) == (2, 1)
    later = Counted()
    assert [later.at(place), later.at(place)] == ["written"] * 2
    assert (later.reads, later.makes) == (1, 0)
    assert later.at(tmp_path / "b") == "written"  # another place is another thing
    assert later.makes == 1


def test_what_cannot_be_written_stays_in_memory(tmp_path: Path) -> None:
    place = tmp_path / "nowhere" / "a"
    kept = Counted()
    with pytest.warns(UserWarning, match="the texts stay in memory: cannot write"):
        assert kept.at(place) == "made"
    assert kept.at(place) == "made"
    assert kept.makes == 1
