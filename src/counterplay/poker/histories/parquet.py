"""Hand histories as one tidy Parquet table, a row per hand.

| column | type | |
|---|---|---|
| hand | int64 | number |
| dealer, big_blind | string | names |
| observer | string or null | player whose information it holds |
| betting | string | letters f, c, r, with / between rounds |
| board | string | `Qs7d2c5h9s`, as far as dealt |
| dealer_cards, big_blind_cards | string or null | `AsKd` |
| dealer_won | float64 | in small bets |

The schema's metadata holds `counterplay: hands`, the number of the format, the caller's `metadata`
as JSON, and the SHA-256 of the whole file (computed with `NO_CHECKSUM` in its place). The declared
sizes of a file are checked before its content is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from counterplay.core.base import memory
from counterplay.core.base.errors import BadFile, BadParameter, CounterplayError
from counterplay.core.base.files import FORMAT, check_format, warn_unchecked, write_bytes
from counterplay.poker.histories.records import (
    ErrorCallback,
    HandHistories,
    HandRecord,
    ReadErrors,
    cards_text,
    file_bytes,
    parse_cards,
    parse_holding,
)

KIND = "hands"
MAGIC = b"PAR1"
CHECKSUM = "checksum"
NO_CHECKSUM = "the SHA-256 of this file, taken with this text in its place".center(64, "-")
HEADER = {"counterplay", "format", "metadata", CHECKSUM, "ARROW:schema"}
MAX_TEXT = 1000  # bytes of a name or another text
MAX_ROW_BYTES = 4 * MAX_TEXT  # of an uncompressed hand
MAX_ROWS_PER_BYTE = 8  # of the file; the most repetitive match has one
ROW_MEMORY = 1500  # bytes of a hand in memory
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


def write_parquet(
    path: Path | str, hands: Iterable[HandRecord], metadata: Mapping[str, Any] | None = None
) -> None:
    """Writes all hands to one Parquet file, atomically."""
    table = hands_table(hands)
    if _longest_text(table) > MAX_TEXT:
        raise BadParameter(f"cannot write {path}: a name is longer than {MAX_TEXT:,} bytes")
    try:
        text = json.dumps(dict(metadata or {}))
    except (TypeError, ValueError) as error:
        raise BadParameter(f"metadata of {path} is not JSON ({error})") from None
    header = {"counterplay": KIND, "format": str(FORMAT), "metadata": text, CHECKSUM: NO_CHECKSUM}
    sink = pa.BufferOutputStream()
    with_header = table.replace_schema_metadata(header)
    pq.write_table(with_header, sink, compression="zstd", write_page_checksum=True)
    data = sink.getvalue().to_pybytes()
    digest = hashlib.sha256(data).hexdigest()
    write_bytes(Path(path), _replace_checksum(data, NO_CHECKSUM, digest))


def hands_table(hands: Iterable[HandRecord]) -> Any:
    """The hands as a `pyarrow.Table`, for use with pandas or DuckDB."""
    rows = []
    for hand in hands:
        names = hand.number, hand.dealer, hand.big_blind, hand.observer
        pairs = (hand.dealer_cards, hand.big_blind_cards)
        holdings = [pair and cards_text(pair) for pair in pairs]
        cards = cards_text(hand.board), *holdings
        rows.append((*names, hand.betting, *cards, float(hand.dealer_won)))
    columns = zip(*rows, strict=True) if rows else [()] * len(SCHEMA)
    return pa.table(
        [pa.array(column, kind) for column, kind in zip(columns, SCHEMA.types, strict=True)],
        schema=SCHEMA,
    )


def _longest_text(table: Any) -> int:
    """Bytes of the longest text in the table."""
    lengths = [0]
    for column in table.columns:
        for chunk in column.chunks:
            texts = chunk.dictionary if pa.types.is_dictionary(column.type) else chunk
            if pa.types.is_string(texts.type):
                lengths.append(pc.max(pc.binary_length(texts)).as_py() or 0)
    return max(lengths)


def _replace_checksum(data: bytes, old: str, new: str) -> bytes:
    """The file with another checksum of the same length; the header is at the end of the file."""
    before, _, after = data.rpartition(old.encode())
    return before + new.encode() + after


def read_parquet(
    path: Path | str, on_error: str = "refuse", report: ErrorCallback | None = None
) -> HandHistories:
    """Reads what `write_parquet` wrote and checks every hand against the rules. A damaged file
    raises `BadFile` for either value of `on_error`."""
    path, errors, hands = Path(path), ReadErrors(on_error, report), list[HandRecord]()
    table, metadata = _read(path)
    rows = zip(*(column.to_pylist() for column in table.columns), strict=True)
    for number, row in enumerate(rows, start=1):
        try:
            hands.append(_record(row))
        except CounterplayError as error:
            errors.add(f"{path}: row {number}: {error}")
    return HandHistories(hands, errors.messages, metadata)


def _record(row: tuple[Any, ...]) -> HandRecord:
    """The hand of a row, in the order of `SCHEMA`."""
    number, dealer, big_blind, observer, betting, board, *holdings, won = row
    if board is None:
        raise BadParameter("board is null")
    one, two = (None if cards is None else parse_holding(cards) for cards in holdings)
    return HandRecord(
        number, dealer, big_blind, betting, parse_cards(board), one, two, won, observer
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
        table = file.read(columns=SCHEMA.names)
        longest = _longest_text(table)  # while equal texts are stored once
        if longest > MAX_TEXT:
            raise BadFile(f"{path}: damaged (a text of {longest:,} bytes in a hand)")
        table = table.select(SCHEMA.names).cast(SCHEMA)
        table.validate(full=True)
        metadata = json.loads(header["metadata"])
    except CounterplayError:
        raise
    except Exception as error:  # pyarrow raises many kinds of errors on corrupt files
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
    is_number = version.isascii() and version.isdecimal() and len(version) < 10
    check_format(int(version) if is_number else version, f"{path}: ")


def _check_sum(path: Path, data: bytes, header: dict[str, str]) -> None:
    if not set(header) <= HEADER:  # includes a damaged name of the checksum
        raise BadFile(f"{path}: damaged (unknown metadata)")
    checksum = header.get(CHECKSUM)
    if checksum is not None:
        blank = _replace_checksum(data, checksum, NO_CHECKSUM)
        if hashlib.sha256(blank).hexdigest() != checksum:
            raise BadFile(f"{path}: damaged (its checksum does not fit)")


def _check_sizes(path: Path, metadata: Any, size: int) -> None:
    """Refuses a small file that declares millions of rows or gigabytes of text."""
    rows = metadata.num_rows
    declared = sum(metadata.row_group(k).total_byte_size for k in range(metadata.num_row_groups))
    if rows > MAX_ROWS_PER_BYTE * size or declared > MAX_ROW_BYTES * (rows + 100):
        raise BadFile(
            f"{path}: {size:,} bytes that claim to be {rows:,} hands and {declared:,} bytes; no "
            f"match is like that"
        )
    memory.require(rows * ROW_MEMORY, f"{path} with {rows:,} hands")
