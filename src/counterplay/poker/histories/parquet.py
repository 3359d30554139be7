"""Hands as one tidy Parquet table, a row per hand, and `read_any` for every format.

| column | type | |
|---|---|---|
| hand | int64 | number |
| dealer, big_blind | string | names |
| observer | string or null | through whose eyes |
| betting | string | letters f, c, r, with / between rounds |
| board | string | `Qs7d2c5h9s`, as far as dealt |
| dealer_cards, big_blind_cards | string or null | `AsKd` |
| dealer_won | float64 | in small bets |

The schema's metadata says `counterplay: hands`, the format's number, the caller's `metadata` as
JSON, and the SHA-256 of the whole file (taken with `NO_SUM` in its place). Before anything is read,
the sizes that the file declares are looked at.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from counterplay.core.base import memory
from counterplay.core.base.errors import BadFile, BadParameter, CounterplayError
from counterplay.core.base.files import FORMAT, warn_unchecked, write_bytes
from counterplay.poker.histories.acpc import read_acpc
from counterplay.poker.histories.folder import IN_FOLDERS, hand_files
from counterplay.poker.histories.packed import suffix_of
from counterplay.poker.histories.phh import read_phh
from counterplay.poker.histories.records import (
    HandRecord,
    Hands,
    Problems,
    Report,
    cards_text,
    file_bytes,
    parse_cards,
    parse_holding,
)

KIND = "hands"
MAGIC = b"PAR1"
CHECKSUM = "checksum"
NO_SUM = "the SHA-256 of this file, taken with this text in its place".center(64, "-")
HEADER = {"counterplay", "format", "metadata", CHECKSUM, "ARROW:schema"}
MOST_TEXT = 1000  # bytes of a name or another text
MOST_ROW_BYTES = 4 * MOST_TEXT  # of a hand, not compressed
MOST_ROWS_PER_BYTE = 8  # of the file: the dullest match has one
ROW_MEMORY = 1500  # bytes that a hand takes when it has been read
SCHEMA = pa.schema(
    [
        pa.field("hand", pa.int64(), nullable=False),
        pa.field("dealer", pa.string(), nullable=False),
        pa.field("big_blind", pa.string(), nullable=False),
        pa.field("observer", pa.string()),
        pa.field("betting", pa.string(), nullable=False),
        pa.field("board", pa.string(), nullable=False),
        pa.field("dealer_cards", pa.string()),
        pa.field("big_blind_cards", pa.string()),
        pa.field("dealer_won", pa.float64(), nullable=False),
    ]
)


def write_hands(
    path: Path | str, hands: Iterable[HandRecord], metadata: Mapping[str, Any] | None = None
) -> None:
    """All hands as one Parquet file, whole or not at all."""
    _write(Path(path), hands_table(hands), metadata or {})


def hands_table(hands: Iterable[HandRecord]) -> Any:
    """The hands as a `pyarrow.Table`, for whoever goes on with pandas or DuckDB."""
    rows = [
        (
            hand.number,
            hand.dealer,
            hand.big_blind,
            hand.observer,
            hand.betting,
            cards_text(hand.board),
            hand.dealer_cards and cards_text(hand.dealer_cards),
            hand.big_blind_cards and cards_text(hand.big_blind_cards),
            float(hand.dealer_won),
        )
        for hand in hands
    ]
    columns = zip(*rows, strict=True) if rows else [()] * len(SCHEMA)
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)],
        schema=SCHEMA,
    )


def _longest_text(table: Any) -> int:
    """Bytes of the longest name or other text of all hands."""
    lengths = [0]
    for column in table.columns:
        for chunk in column.chunks:
            texts = chunk.dictionary if pa.types.is_dictionary(column.type) else chunk
            if pa.types.is_string(texts.type):
                lengths.append(pc.max(pc.binary_length(texts)).as_py() or 0)
    return max(lengths)


def _write(path: Path, table: Any, metadata: Mapping[str, Any]) -> None:
    if _longest_text(table) > MOST_TEXT:
        raise BadParameter(f"cannot write {path}: a name is longer than {MOST_TEXT:,} bytes")
    try:
        text = json.dumps(dict(metadata))
    except (TypeError, ValueError) as error:
        raise BadParameter(f"metadata of {path} is not JSON ({error})") from None
    header = {"counterplay": KIND, "format": str(FORMAT), "metadata": text, CHECKSUM: NO_SUM}
    sink = pa.BufferOutputStream()
    with_header = table.replace_schema_metadata(header)
    pq.write_table(with_header, sink, compression="zstd", write_page_checksum=True)
    data = sink.getvalue().to_pybytes()
    write_bytes(path, _put(data, NO_SUM, hashlib.sha256(data).hexdigest()))


def _put(data: bytes, old: str, new: str) -> bytes:
    """The file with another checksum of the same length; the header stands at the end."""
    before, _, after = data.rpartition(old.encode())
    return before + new.encode() + after


def read_hands(path: Path | str, on_error: str = "refuse", report: Report | None = None) -> Hands:
    """What `write_hands` wrote, every hand checked against the rules. A damaged file is
    `BadFile` whatever `on_error` says."""
    path, problems, hands = Path(path), Problems(on_error, report), list[HandRecord]()
    table, metadata = _read(path)
    for number, row in enumerate(
        zip(*(column.to_pylist() for column in table.columns), strict=True), start=1
    ):
        try:
            hands.append(_hand(*row))
        except CounterplayError as error:
            problems.add(f"{path}: row {number}: {error}")
    return Hands(hands, problems.messages, metadata)


def _hand(
    number: int,
    dealer: str,
    blind: str,
    observer: str | None,
    betting: str,
    board: str,
    his: str | None,
    other: str | None,
    won: float,
) -> HandRecord:
    if board is None:
        raise BadParameter("board is null")
    holes = [None if hole is None else parse_holding(hole) for hole in (his, other)]
    return HandRecord(
        number, dealer, blind, betting, parse_cards(board), holes[0], holes[1], won, observer
    )


def _read(path: Path) -> tuple[Any, dict[str, Any]]:
    """The table, with the columns of `SCHEMA`, and the caller's metadata."""
    data = file_bytes(path)
    if data[:4] != MAGIC:
        raise BadFile(f"{path}: not a Parquet file")
    try:
        texts = [field.name for field in SCHEMA if field.type == pa.string()]
        file = pq.ParquetFile(
            pa.BufferReader(data), page_checksum_verification=True, read_dictionary=texts
        )
        header = {
            key.decode(): value.decode() for key, value in (file.metadata.metadata or {}).items()
        }
        _check_header(path, header)
        _check_sum(path, data, header)
        _check_sizes(path, file.metadata, len(data))
        table = (
            _check_texts(path, file.read(columns=SCHEMA.names)).select(SCHEMA.names).cast(SCHEMA)
        )
        table.validate(full=True)
        metadata = json.loads(header["metadata"])
    except CounterplayError:
        raise
    except Exception as error:  # a corrupt file can fail in many ways inside pyarrow
        lines = str(error).splitlines() or [type(error).__name__]
        raise BadFile(f"{path}: damaged, or not a table of hands ({lines[0][:100]})") from None
    if not isinstance(metadata, dict):
        raise BadFile(f"{path}: damaged (metadata)")
    if CHECKSUM not in header:
        warn_unchecked(path)
    return table, metadata


def _check_header(path: Path, header: dict[str, str]) -> None:
    if "counterplay" not in header:
        raise BadFile(f"{path}: a Parquet file, but not one of Counterplay's")
    if header["counterplay"] != KIND:
        raise BadFile(f"{path}: holds a {header['counterplay']}, expected {KIND}")
    version = header.get("format", "")
    if not (
        version.isascii() and version.isdecimal() and 0 < len(version) < 10 and int(version) >= 1
    ):
        raise BadFile(f"{path}: damaged (format {version!r})")
    if int(version) > FORMAT:
        raise BadFile(
            f"{path}: written by a newer version of Counterplay (format {version}, this one reads "
            f"{FORMAT})"
        )


def _check_sum(path: Path, data: bytes, header: dict[str, str]) -> None:
    if not set(header) <= HEADER:  # as where the name of the checksum is damaged
        raise BadFile(f"{path}: damaged (unknown metadata)")
    found = header.get(CHECKSUM)
    if found is not None and hashlib.sha256(_put(data, found, NO_SUM)).hexdigest() != found:
        raise BadFile(f"{path}: damaged (its checksum does not fit)")


def _check_sizes(path: Path, metadata: Any, size: int) -> None:
    """A few bytes can stand for millions of rows, or for one text of gigabytes."""
    rows = metadata.num_rows
    declared = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    if rows > MOST_ROWS_PER_BYTE * size or declared > MOST_ROW_BYTES * (rows + 100):
        raise BadFile(
            f"{path}: {size:,} bytes that claim to be {rows:,} hands and {declared:,} bytes; no "
            f"match is like that"
        )
    memory.require(rows * ROW_MEMORY, f"{path} with {rows:,} hands")


def _check_texts(path: Path, table: Any) -> Any:
    """The table while equal texts are still kept once: none may be long."""
    longest = _longest_text(table)
    if longest > MOST_TEXT:
        raise BadFile(f"{path}: damaged (a text of {longest:,} bytes in a hand)")
    return table


class HandLog:
    """Hands of a match as they are played; goes on after those already in the file. Use it in a
    `with`.

    A kill at any moment leaves a whole file with the hands of the last save. Saves are made after
    `every` hands and then whenever the log has grown by a half, so that their cost stays
    proportional to the match. Leaving the `with` saves, after an error too.
    """

    def __init__(
        self, path: Path | str, metadata: Mapping[str, Any] | None = None, every: int = 10_000
    ) -> None:
        if every < 1:
            raise BadParameter(f"every must be at least 1, got {every}")
        self.path, self.every, self.metadata = Path(path), every, dict(metadata or {})
        self._tables = [SCHEMA.empty_table()]
        self._fresh: list[HandRecord] = []  # not yet in `_tables`
        if self.path.exists():
            table, old = _read(self.path)
            self._tables, self.metadata = [table], old | self.metadata
        self._saved = len(self) - len(self._fresh)

    def __len__(self) -> int:
        return sum(len(table) for table in self._tables) + len(self._fresh)

    def append(self, hand: HandRecord) -> None:
        self._fresh.append(hand)
        if len(self._fresh) >= self.every:
            self._pack()
            if len(self) - self._saved >= self._saved // 2:
                self.save()

    def save(self) -> None:
        self._pack()
        _write(self.path, pa.concat_tables(self._tables).combine_chunks(), self.metadata)
        self._saved = len(self)

    def _pack(self) -> None:
        self._tables.append(hands_table(self._fresh))
        self._fresh = []

    def __enter__(self) -> HandLog:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.save()


def read_any(
    path: Path | str,
    on_error: str = "refuse",
    report: Report | None = None,
    big_blind: float | None = None,
) -> Hands:
    """Hands in any known format: by suffix (.parquet, .phh, .phhs, .log and .txt for ACPC; .gz and
    .bz2 of these), else by content; or all such files of a folder, but .txt.

    `big_blind`: chips in an ACPC log, where its hands do not tell.
    """
    path = Path(path)
    if not path.is_dir():
        return _read_file(path, on_error, report, big_blind)
    read = [_read_file(file, on_error, report, big_blind) for file in hand_files(path)]
    return Hands(
        [hand for found in read for hand in found.hands],
        [message for found in read for message in found.skipped],
    )


def _read_file(path: Path, on_error: str, report: Report | None, big_blind: float | None) -> Hands:
    kind = suffix_of(path)
    if kind not in (*IN_FOLDERS, ".txt"):
        kind = _kind(path)
    if kind == ".parquet":
        return read_hands(path, on_error, report)
    if kind in (".phh", ".phhs"):
        return read_phh(path, on_error, report)
    return read_acpc(path, on_error, report, big_blind)


def _kind(path: Path) -> str:
    """The suffix that would be right, by the content."""
    data = file_bytes(path)
    if data.startswith(MAGIC):
        return ".parquet"
    if re.search(rb"^[ \t]*variant[ \t]*=", data, re.MULTILINE):
        return ".phhs"
    if re.search(rb"^STATE:", data, re.MULTILINE):
        return ".log"
    raise BadFile(f"{path}: no hand history that Counterplay knows (Parquet, ACPC log, PHH)")
