"""Logs as dealers, competitions and people leave them."""

from __future__ import annotations

import bz2
import gzip
import io
import tarfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from support.acpc import DATA
from support.command import Inside, facts_of
from support.hands import random_hands

from counterplay.core.base.errors import BadFile
from counterplay.poker.histories.acpc import read_acpc, write_acpc
from counterplay.poker.histories.parquet import write_parquet
from counterplay.poker.histories.read import read_hands
from counterplay.poker.histories.records import HandRecord

LOG = (DATA / "seed42.log").read_text()
HANDS = read_acpc(DATA / "seed42.log").hands
STATES = [line for line in LOG.splitlines() if line.startswith("STATE")]
SCORE = LOG.splitlines()[-1]
HEADER = "\n".join(LOG.splitlines()[:4])


def read(folder: Path, text: str, on_error: str = "refuse") -> list[HandRecord]:
    (folder / "a.log").write_text(text)
    return read_acpc(folder / "a.log", on_error).hands


def changed(change: Callable[[list[str]], list[str]], text: str = LOG) -> str:
    """The log with other fields in its STATE lines."""
    lines = [
        ":".join(change(line.split(":"))) if line.startswith("STATE") else line
        for line in text.splitlines()
    ]
    return "\n".join(lines) + "\n"


# 1
@pytest.mark.parametrize("stamp", [" # 1479132064.35", "\t# x", "  #  12:30:01|a"])
@pytest.mark.parametrize("score", [True, False])
def test_a_stamp_behind_a_line_is_no_part_of_a_name(
    stamp: str, score: bool, tmp_path: Path
) -> None:
    """On some lines or all, with a SCORE to compare with or without."""
    lines = LOG.splitlines() if score else LOG.splitlines()[:-1]
    for step in (1, 2):
        text = [f"{line}{stamp}" if k % step == 0 else line for k, line in enumerate(lines)]
        assert read(tmp_path, "\n".join(text)) == HANDS
    with pytest.raises(Exception, match="no room"):
        write_acpc(tmp_path / "b.log", [replace(HANDS[0], dealer="a # b")])


# 2
def test_a_match_that_was_aborted_and_started_again(tmp_path: Path) -> None:
    for between in (f"\n{HEADER}\n", "\n"):
        text = f"{HEADER}\n" + "\n".join(STATES[:20]) + between + "\n".join([*STATES, SCORE])
        assert read(tmp_path, text) == [*HANDS[:20], *HANDS]
    other = changed(lambda f: [*f[:5], "X|Y"], "\n".join(STATES[:7]))
    assert len(read(tmp_path, f"{other}{HEADER}\n" + "\n".join([*STATES, SCORE]))) == 57
    # what follows is another match, which is not the one that the score is of
    later = [line.replace(f"STATE:{k}:", f"STATE:{k + 70}:") for k, line in enumerate(STATES)]
    with pytest.raises(BadFile, match="the 30 hands above"):
        read(tmp_path, "\n".join([*later[:30], SCORE]))


def test_a_match_that_was_resumed(tmp_path: Path) -> None:
    """The header again, hand numbers go on, and the score is that of all."""
    text = "\n".join([HEADER, *STATES[:20], HEADER, *STATES[20:], SCORE])
    assert read(tmp_path, text) == HANDS
    with pytest.raises(BadFile, match="SCORE says"):
        read(tmp_path, "\n".join([HEADER, *STATES[:20], HEADER, *STATES[21:], SCORE]))


# 3
def test_folders_and_packed_files(tmp_path: Path) -> None:
    folder = tmp_path / "logs"
    (folder / "deep").mkdir(parents=True)
    (folder / "2.log").write_text(LOG)
    (folder / "10.log.gz").write_bytes(gzip.compress(LOG.encode()))
    (folder / "deep" / "a.LOG.bz2").write_bytes(bz2.compress(LOG.encode()))
    write_parquet(folder / "a.parquet", HANDS)
    for name in ("2.err", "2.player1.std", "readme.txt"):  # as `play_match.pl` leaves them
        (folder / name).write_text("nothing")
    result = read_hands(folder)
    assert result.hands == 4 * HANDS
    for name in ("10.log.gz", "deep/a.LOG.bz2"):
        assert read_hands(folder / name).hands == HANDS
    two = gzip.compress(LOG.encode()) + gzip.compress(LOG.encode())
    (tmp_path / "two.gz").write_bytes(two)  # by content, two streams
    assert read_hands(tmp_path / "two.gz").hands == 2 * HANDS
    (folder / "3.log").write_text(f"{LOG}STATE:x\n")
    with pytest.raises(BadFile, match=r"3\.log:56: 2 parts"):
        read_hands(folder)
    some = read_hands(folder, "skip")
    assert (len(some), len(some.skipped)) == (250, 1)


def test_packed_files_that_are_damaged_or_too_large(tmp_path: Path) -> None:
    packed, path = gzip.compress(LOG.encode()), tmp_path / "a.log.gz"
    for data in (packed[:-20], packed[:100], packed[:50] + b"xxxx" + packed[54:], b"\x1f\x8b"):
        path.write_bytes(data)
        with pytest.raises(BadFile, match="damaged"):
            read_hands(path)
    path.write_bytes(gzip.compress(bytes(100_000_000), 1))
    with pytest.raises(BadFile, match="unpacks to more"):
        read_hands(path)
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:bz2") as archive:
        archive.add(DATA / "seed42.log", "a.log")
    path.write_bytes(buffer.getvalue())
    with pytest.raises(BadFile, match="an archive of files; unpack it"):
        read_hands(path)


# 4
@pytest.mark.parametrize("blind", [100, 2, 1, 0.5, 37])
def test_other_blinds(blind: float, tmp_path: Path, inside: Inside) -> None:
    """Enough hands tell their blinds; a few do not, and the message says what to do."""

    def scaled(values: str) -> str:
        return "|".join(f"{float(value) * blind / 10:g}" for value in values.split("|"))

    text = changed(lambda f: [*f[:4], scaled(f[4]), f[5]])
    text = text.replace("1360|-1360", scaled("1360|-1360"))
    assert read(tmp_path, text) == HANDS
    few = "\n".join(line for line in text.splitlines()[:7])
    with pytest.raises(BadFile, match=f"big_blind={blind:g}, --big-blind {blind:g}"):
        read(tmp_path, few)
    assert read_hands(tmp_path / "a.log", big_blind=blind).hands == HANDS[:3]
    done = inside(tmp_path, "model", "a.log", "--player", "Recorded")
    assert (done.returncode, "--big-blind" in done.stderr) == (2, True)


def test_one_wrong_amount_is_not_another_blind(tmp_path: Path) -> None:
    with pytest.raises(BadFile, match="the dealer won -6 small bets; by the rules"):
        read(tmp_path, LOG.replace(":30|-30:", ":60|-60:", 1))
    assert len(read(tmp_path, LOG.replace(":30|-30:", ":60|-60:", 1), "skip")) == 49


# 5
def test_blinds_that_are_not_reversed(tmp_path: Path) -> None:
    """Position 0 deals: the same hands, never with the seats swapped."""

    def turned(text: str) -> str:
        return "|".join(text.split("|")[::-1])

    def swap(fields: list[str]) -> list[str]:
        holes, *board = fields[3].split("/")
        return [
            *fields[:3],
            "/".join([turned(holes), *board]),
            turned(fields[4]),
            turned(fields[5]),
        ]

    text = changed(swap)
    for on_error in ("refuse", "skip"):
        assert read(tmp_path, text, on_error) == HANDS
        both = f"{LOG}{text}"
        assert read(tmp_path, both, on_error) == 2 * HANDS
    # one fold and many showdowns: too little to be sure, and nothing is taken
    shown = [k for k, hand in enumerate(HANDS) if hand.showdown]
    fold = next(k for k, hand in enumerate(HANDS) if not hand.showdown)
    lines = [line for line in text.splitlines() if line.startswith("STATE")]
    few = "\n".join(lines[k] for k in sorted([*shown, fold]))
    assert read(tmp_path, few, "skip") == []
    with pytest.raises(BadFile, match=r"position of the dealer is unknown|by the rules"):
        read(tmp_path, few)


# 6
@pytest.mark.parametrize("fixed", [False, True])
def test_two_players_of_one_name(fixed: bool, tmp_path: Path) -> None:
    """They change seats after every hand, unless the score says that they did not."""
    text = changed(lambda f: [*f[:5], "Me|Me"])
    total = 1360.0
    if fixed:
        total = 10 * sum(-hand.dealer_won for hand in HANDS)
    text = text.replace("1360|-1360:Recorded|Example", f"{total:g}|{-total:g}:Me|Me")
    result = read(tmp_path, text)
    assert {hand.dealer for hand in result} == ({"Me (2)"} if fixed else {"Me", "Me (2)"})
    assert 10 * sum(hand.won("Me") for hand in result) == total
    if not fixed:
        assert [hand.won("Me") for hand in result] == [hand.won("Recorded") for hand in HANDS]
    with pytest.raises(BadFile, match="SCORE says"):
        read(tmp_path, text.replace(f"{total:g}|{-total:g}", "70|-70"))


@pytest.mark.parametrize("code", ["utf-8-sig", "utf-16", "utf-16-be"])
def test_a_byte_order_mark(code: str, tmp_path: Path) -> None:
    mark = "\ufeff" if code == "utf-16-be" else ""
    (tmp_path / "a.log").write_bytes(f"{mark}{LOG}".encode(code))
    assert read_hands(tmp_path / "a.log").hands == HANDS
    some = random_hands(3, 20)
    write_acpc(tmp_path / "b.log", some)
    (tmp_path / "c.log").write_bytes(b"\xef\xbb\xbf" + (tmp_path / "b.log").read_bytes())
    assert read_hands(tmp_path / "c.log").hands == some  # checksum and all


# 7
@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "STATE:0:cr300c/cc/cc/cc:KhTc|Qd9d/Kd7s3c/2h/8s:300|-300:A|B",
            "has sizes, as in no-limit",
        ),
        ("STATE:0:r250f:KhTc|Qd9d:-100|100:A|B", "has sizes, as in no-limit"),
        ("STATE:0:fcc/cc:KhTc|Qd9d|2c2d/Kd7s3c:-5|0|5:A|B|C", "a hand of 3 players"),
        ("SCORE:10|-5|-5:A|B|C", "a SCORE of 3 players"),
    ],
)
def test_other_games_are_called_so(line: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(BadFile, match=words) as error:
        read(tmp_path, f"{line}\n")
    assert "only two-player limit hold'em is read" in str(error.value)
    assert read(tmp_path, f"{line}\n{LOG}", "skip") == HANDS


# 8
def test_hands_without_a_decision_are_counted(tmp_path: Path, inside: Inside) -> None:
    """All hands of the file, and how many of them asked him nothing."""
    hands = [
        *HANDS,
        *(
            HandRecord(50 + k, "Example", "Recorded", "f", (), (0, 1), (2, 3), -0.5)
            for k in range(4)
        ),
    ]
    write_parquet(tmp_path / "h.parquet", hands)
    options = ("--game", "holdem(buckets=1)", "--kind", "frequency", "--json")
    facts = facts_of(inside(tmp_path, "model", "h.parquet", "--player", "Recorded", *options))
    idle = sum(hand.betting == "f" and hand.big_blind == "Recorded" for hand in hands)
    assert (facts["hands"], facts["skipped"]) == (54, 0)
    assert facts["hands_without_a_decision"] == idle >= 4
    observed = inside(tmp_path, "model", "h.parquet", "--player", "Recorded", *options[:-1]).stdout
    assert "54" in observed.splitlines()[1]
