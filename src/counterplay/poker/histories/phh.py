"""Files in the poker hand history format (PHH): TOML, a hand per .phh file, or tables [1], [2], ...
in a .phhs file.

Which hands fit, and how their fields are understood, is said in `phh_hand`. A file is cut at its
tables before it is parsed, so that one bad hand does not take the others with it, and so that
messages can name the line.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterable
from itertools import accumulate
from pathlib import Path

from counterplay.core.base.errors import BadParameter, CounterplayError
from counterplay.core.base.files import write_text
from counterplay.poker.histories.folder import hand_files
from counterplay.poker.histories.packed import suffix_of
from counterplay.poker.histories.phh_hand import BadHand, Fields, fields_of, hand_from
from counterplay.poker.histories.records import HandRecord, Hands, Problems, Report, file_bytes
from counterplay.poker.histories.sealed import check_seals, sealed

MOST_IN_HAND = 20_000  # characters
ONE, MANY = ".phh", ".phhs"
TABLE = re.compile(r"^[ \t]*\[[ \t]*([\w\"'-]+)[ \t]*\][ \t]*(?:#.*)?\r?$", re.MULTILINE)


class _BadToml(CounterplayError):
    """Text that is not TOML; `at` is the offset."""

    def __init__(self, what: str, at: int) -> None:
        super().__init__(what)
        self.at = at


def read_phh(path: Path | str, on_error: str = "refuse", report: Report | None = None) -> Hands:
    """The hands of a .phh or .phhs file, or of all in a folder and below, in the order of their
    names (2 before 10)."""
    path, problems, hands = Path(path), Problems(on_error, report), list[HandRecord]()
    for file in _files(path):
        data = file_bytes(file)
        check_seals(file, data)
        text = data.decode("utf-8", "surrogateescape").removeprefix("\ufeff")
        tables = set[str]()
        for first_line, block in _blocks(text, suffix_of(file) == MANY):
            fields: Fields = {}
            try:
                fields, table = _parse(block)
                if table in tables:
                    raise _BadToml(f"table [{table}] stands twice", 0)
                tables.add(table)
                hands.append(hand_from(fields, len(hands) + len(problems.messages) + 1))
            except CounterplayError as error:
                line = first_line + block.count("\n", 0, _offset(block, fields, error))
                problems.add(f"{file}:{line}: {error}")
    return Hands(hands, problems.messages)


def _files(path: Path) -> list[Path]:
    return hand_files(path, (ONE, MANY)) if path.is_dir() else [path]


def _blocks(text: str, many: bool) -> list[tuple[int, str]]:
    """(first line, text) of each hand. What stands before the first table is a hand of its own,
    unless it is only comments."""
    starts = [found.start() for found in TABLE.finditer(text)]
    blocks = [
        text[start:end] for start, end in zip([0, *starts], [*starts, len(text)], strict=True)
    ]
    first_lines = accumulate((block.count("\n") for block in blocks[:-1]), initial=1)
    numbered = list(zip(first_lines, blocks, strict=True))
    only_comments = all(
        not line.strip() or line.lstrip().startswith("#") for line in blocks[0].splitlines()
    )
    return numbered[1:] if only_comments and (starts or many) else numbered


def _parse(block: str) -> tuple[Fields, str]:
    """The fields of a hand and the name of its table, if it has one."""
    if len(block) > MOST_IN_HAND:  # TOML can be made to take very long
        raise _BadToml(f"{len(block):,} characters; a hand has less than {MOST_IN_HAND:,}", 0)
    try:
        block.encode()
        data = tomllib.loads(block)
    except UnicodeEncodeError as error:
        raise _BadToml("not UTF-8 text", error.start) from None
    except (ValueError, RecursionError) as error:
        found = re.search(r"at line (\d+)", str(error))
        before = block.split("\n")[: int(found[1]) - 1] if found else []
        what = re.sub(r" \(at [^()]*\)$", "", str(error).splitlines()[0])[:100]
        raise _BadToml(f"not valid TOML: {what}", sum(len(line) + 1 for line in before)) from None
    if len(data) == 1:
        [(name, inner)] = data.items()
        if isinstance(inner, dict):
            return inner, name
    return data, ""


def _offset(block: str, fields: Fields, error: CounterplayError) -> int:
    """Where in the text of a hand the error is: its field, or its action."""
    if isinstance(error, _BadToml):
        return error.at
    key = error.field if isinstance(error, BadHand) else "actions"
    found = re.search(rf"^[ \t]*{key}[ \t]*=", block, re.MULTILINE)
    at = start = found.start() if found else 0
    if isinstance(error, BadHand) and error.action is not None:
        for action in fields["actions"][: error.action + 1]:
            at = block.find(action, start)
            if at < 0:  # written with escapes
                return start
            start = at + len(action)
    return at


def write_phh(path: Path | str, hands: Iterable[HandRecord]) -> None:
    """A .phh file of one hand or a .phhs file of any number; a small bet is 2 chips."""
    path, hands = Path(path), list(hands)
    many = path.suffix.lower() == MANY
    if not many and len(hands) != 1:
        raise BadParameter(
            f"{path}: a .phh file holds one hand; give {len(hands)} hands a name that ends with "
            f".phhs"
        )
    texts = [
        f"[{k}]\n{_toml(hand)}" if many else _toml(hand) for k, hand in enumerate(hands, start=1)
    ]
    write_text(path, sealed("\n".join(texts)))


def phh_block(hand: HandRecord, number: int) -> str:
    """Table [number] of a .phhs file with its checksum; such pieces one after the other are a
    file."""
    return sealed(f"[{number}]\n{_toml(hand)}")


def _toml(hand: HandRecord) -> str:
    """JSON is TOML here: names are printable, numbers are whole."""
    return "".join(
        f"{key} = {json.dumps(value, ensure_ascii=False)}\n"
        for key, value in fields_of(hand).items()
    )
